"""Take everything away from a worker but computing: rlimits, capabilities, Landlock, seccomp.

The zygote prepares a `Lockdown` once; every worker it forks enters it before a
student's first line runs. A step that fails ends the worker: there is no half
locked state to continue in.

Landlock is called by number through ctypes. The PyPI package `landlock` is an
unfinished development release that drags pydantic into the zygote, and the
three calls are smaller than that dependency.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import errno
import functools
import os
import stat
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMES_ONLY = "/"  # a readable path that ends with it may be listed, and what lies below it stays unreadable


class LockdownError(Exception):
    """A worker that could not be locked down; it must not run student code."""


class Limits(NamedTuple):
    """What a worker may use before the kernel stops it."""

    memory_bytes: int  # all private writable memory, what was inherited from the zygote included
    cpu_seconds: int
    file_bytes: int  # the largest file it can write, in its scratch folder or as captured output
    open_files: int


# --- Landlock ---------------------------------------------------------------------------------------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_ASK_VERSION = 1
_PATH_BENEATH = 1
_WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(1, 6))
_MAKE_DIR, _MAKE_REGULAR, _REFER, _TRUNCATE = 1 << 7, 1 << 8, 1 << 13, 1 << 14
_USE = (
    _READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE
    | _MAKE_REGULAR | _REMOVE_FILE | _MAKE_DIR | _REMOVE_DIR | _REFER
)  # fmt: skip
# Rights are bits in the order the kernel learned them, so a version knows the lowest so many:
# 1 the first thirteen, 2 REFER, 3 TRUNCATE, 5 IOCTL_DEV. Version 4 added TCP, 6 the scopes.
_FILE_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11


def _landlock_ruleset(readable: Sequence[str], scratch: str | None) -> int:
    """Return the file descriptor of a ruleset: read `readable`, use `scratch`, write to /dev/null, nothing else."""
    version = _system(_CREATE_RULESET, None, 0, _ASK_VERSION, failure="this kernel has no Landlock")
    file_rights = (1 << _FILE_RIGHTS_BY_VERSION.get(version, 16)) - 1
    handled = (
        file_rights,
        _BIND_AND_CONNECT_TCP if version >= 4 else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    # An older kernel accepts the longer struct as long as what it does not know is zero.
    attributes = struct.pack("=QQQ", *handled)
    ruleset = _system(_CREATE_RULESET, attributes, len(attributes), 0, failure="Landlock made no ruleset")
    for path in readable:
        _grant(ruleset, path, _READ_DIR if path.endswith(NAMES_ONLY) else _READ_FILE | _READ_DIR)
    _grant(ruleset, os.devnull, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & file_rights)  # where prints are sent to vanish
    if scratch is not None:
        _grant(ruleset, scratch, _USE & file_rights)
    return ruleset


def _grant(ruleset: int, path: str, rights: int) -> None:
    """Add a rule for a path; one that cannot be opened gets none and stays closed."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE  # the kernel refuses a folder's rights on a file
        rule = struct.pack("=Qi", rights, place)
        _system(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0, failure=f"Landlock took no rule for {path}")
    finally:
        os.close(place)


# --- seccomp ----------------------------------------------------------------------------------------------------------

# What CPython, NumPy and torch call once they are imported, and what files in a scratch folder need (Landlock says
# where). Anything not named fails with EPERM, so a kernel that learns new calls grants none of them. Not
# here although harmless-looking: sendmsg and recvmsg pass descriptors, rt_sigqueueinfo is a kill, chdir and epoll are
# not needed.
_ALLOWED = """
    read readv pread64 preadv write writev recvfrom close close_range lseek dup dup2 dup3
    stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getcwd getdents64
    mprotect munmap mremap brk madvise membarrier
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack
    futex set_robust_list get_robust_list rseq arch_prctl sched_yield sched_getaffinity getcpu
    time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep times
    poll ppoll select pselect6 pause restart_syscall exit exit_group
    getrandom getpid getppid gettid getuid geteuid getgid getegid getresuid getresgid getgroups
    getrlimit getrusage uname sysinfo
    pwrite64 pwritev ftruncate fsync fdatasync mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2
"""

_MAP_SHARED, _MAP_GROWSDOWN, _MAP_HUGETLB = 0x1, 0x100, 0x40000
_UNCOUNTED_MEMORY = _MAP_SHARED | _MAP_GROWSDOWN | _MAP_HUGETLB  # RLIMIT_DATA does not see these
_CREATE_OR_TRUNCATE = os.O_CREAT | os.O_TRUNC  # before version 3 Landlock lets a reader truncate
_UNNAMED = getattr(os, "O_TMPFILE", 0) & ~getattr(os, "O_DIRECTORY", 0)  # would be seen by nobody who counts files
_CLONE_VM, _CLONE_THREAD, _CLONE_ANY_NAMESPACE = 0x100, 0x10000, 0x7E020000
_DUPLICATE_AND_FLAGS = (0, 1, 2, 3, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
_ASK_TERMINAL_AND_INHERIT = (0x5401, 0x5450, 0x5451)  # TCGETS (isatty), FIONCLEX, FIOCLEX
_PR_SET_NAME, _PR_SET_VMA = 15, 0x53564D41
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_INSTRUCTION_BYTES = 8
_NOBODY = 0x5EC0DE5A  # larger than any pid
_NOBODY_BYTES = struct.pack("=I", _NOBODY)


class _Program(ctypes.Structure):
    """The kernel's struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


@contextlib.contextmanager
def _libraries_by_name() -> Iterator[None]:
    """Make `find_library` answer without running ldconfig or gcc, which bubblewrap's empty root does not have."""
    original = ctypes.util.find_library
    ctypes.util.find_library = lambda name: "libseccomp.so.2" if name == "seccomp" else None
    try:
        yield
    finally:
        ctypes.util.find_library = original


def _import_seccomp() -> Any:
    try:
        with _libraries_by_name():
            import pyseccomp  # Linux only; the module itself must import anywhere
    except (ImportError, OSError, RuntimeError) as error:
        raise LockdownError(f"libseccomp cannot be loaded: {error}") from error
    return pyseccomp


def _seccomp_program() -> bytes:
    """Return the filter as the kernel's own program, with `_NOBODY` where a worker writes its pid.

    Compiled in the zygote: doing it in each worker costs more than everything else in `Lockdown.enter`.
    """
    seccomp = _import_seccomp()
    masked, equal = seccomp.MASKED_EQ, seccomp.EQ
    syscalls = seccomp.SyscallFilter(defaction=seccomp.ERRNO(errno.EPERM))

    def allow(name: str, *conditions: tuple[int, ...], action: int = seccomp.ALLOW) -> None:
        if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) >= 0:  # negative: this architecture has no such call
            syscalls.add_rule(action, name, *(seccomp.Arg(*condition) for condition in conditions))

    for name in _ALLOWED.split():
        allow(name)
    allow("mmap", (3, masked, _UNCOUNTED_MEMORY, 0))
    for name, flags in (("open", 1), ("openat", 2)):
        allow(name, (flags, masked, os.O_ACCMODE | _CREATE_OR_TRUNCATE | _UNNAMED, os.O_RDONLY))
        for to_write in (os.O_WRONLY, os.O_RDWR):
            allow(name, (flags, masked, os.O_ACCMODE | _UNNAMED, to_write))
    allow("clone", (0, masked, _CLONE_THREAD | _CLONE_VM | _CLONE_ANY_NAMESPACE, _CLONE_THREAD | _CLONE_VM))
    # Its flags lie behind a pointer, which a filter cannot follow; "no such call" makes glibc fall back to clone.
    allow("clone3", action=seccomp.ERRNO(errno.ENOSYS))
    allow("sendto", (4, equal, 0))  # no address: only to the peer of the socket it was born with
    allow("prlimit64", (0, equal, 0), (2, equal, 0))  # its own limits, to read
    for command in _DUPLICATE_AND_FLAGS:
        allow("fcntl", (1, equal, command))
    for request in _ASK_TERMINAL_AND_INHERIT:
        allow("ioctl", (1, equal, request))
    for option in (_PR_SET_NAME, _PR_SET_VMA):  # names of threads and of memory, nothing that acts
        allow("prctl", (0, equal, option))
    allow("tgkill", (0, equal, _NOBODY))  # abort() signals itself; nobody else may be signalled
    with os.fdopen(os.memfd_create("seccomp"), "w+b") as file:
        syscalls.export_bpf(file)
        file.seek(0)
        program = file.read()
    if program.count(_NOBODY_BYTES) != 1:
        raise LockdownError("libseccomp compiled the filter in a form we cannot put a pid into")
    return program


# --- rlimits, capabilities, and what prctl sets -----------------------------------------------------------------------

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 4, 24, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SIGKILL = 9
_CAP_SETPCAP = 8
_CAPABILITY_HEADER = struct.pack("=Ii", 0x20080522, 0)  # version 3, this process

_GRAIN = 16 << 20  # precision to which the address space is measured
_SLACK = 256 << 20  # libraries that are loaded later, and thread stacks' guard pages
# All processes and threads of the user count here, a desktop's too: a limit near what a worker needs would stop
# honest threads. Fork is denied anyway and memory bounds the threads; this only ends a runaway loop.
_THREADS_OF_THE_USER = 4096


def _address_space() -> int:
    """Return how many bytes of address space this process has, by asking which limit lets it map one page more.

    There is no /proc inside bubblewrap to read it from.
    """
    import mmap  # with resource, Unix only
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)

    def suffices(grains: int) -> bool:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (grains * _GRAIN, hard))
            mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ).close()
        except (OSError, MemoryError):
            return False
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        return True

    most = (1 << 47 if hard == resource.RLIM_INFINITY else hard) // _GRAIN
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if suffices(middle):
            high = middle
        else:
            low = middle + 1
    return low * _GRAIN


def _set_limits(limits: Limits, address_space: int) -> None:
    import resource  # Unix only

    def limit(what: int, soft: int, hard: int | None = None) -> None:
        ceiling = resource.getrlimit(what)[1]
        if ceiling == resource.RLIM_INFINITY:
            ceiling = sys.maxsize
        hard = min(soft if hard is None else hard, ceiling)
        resource.setrlimit(what, (min(soft, hard), hard))

    limit(resource.RLIMIT_AS, address_space + limits.memory_bytes + _SLACK)
    limit(resource.RLIMIT_DATA, limits.memory_bytes)
    # The first second over sends SIGXCPU, which can be ignored; the next sends SIGKILL.
    limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1)
    limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    limit(resource.RLIMIT_NOFILE, limits.open_files)
    limit(resource.RLIMIT_NPROC, _THREADS_OF_THE_USER)
    for none_at_all in (
        resource.RLIMIT_CORE,
        resource.RLIMIT_MEMLOCK,
        resource.RLIMIT_MSGQUEUE,
        resource.RLIMIT_RTPRIO,
    ):
        limit(none_at_all, 0)


def _capabilities() -> tuple[int, ...]:
    sets = ctypes.create_string_buffer(24)  # effective, permitted, inheritable, and their upper halves
    _checked(_libc().capget(_CAPABILITY_HEADER, sets), "capabilities cannot be read")
    return struct.unpack("=6I", sets.raw)


def _drop_capabilities() -> None:
    """Leave no capability in any set; the user id stays, or root could not read an interpreter in its own home."""
    held = _capabilities()
    if held[0] & (1 << _CAP_SETPCAP):
        for capability in range(64):
            if _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
                if ctypes.get_errno() == errno.EINVAL:
                    break  # one past the last this kernel knows
                _fail("the capability bounding set cannot be dropped")
    _control(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    if any(held):
        _checked(_libc().capset(_CAPABILITY_HEADER, bytes(24)), "capabilities cannot be dropped")
    if any(_capabilities()):
        raise LockdownError("capabilities are still held after they were dropped")


# --- the interface ----------------------------------------------------------------------------------------------------


class Lockdown:
    """What a worker enters: built once in the zygote from the paths that stay `readable` and a folder to write in.

    A path that does not exist is skipped; one that ends with "/" may only be listed. Build it after the zygote's last
    import: the address space of that moment is what workers get in addition to their memory.
    """

    def __init__(self, readable: Sequence[str], scratch: str | None = None) -> None:
        if sys.platform != "linux":
            raise LockdownError(f"Landlock and seccomp are Linux's; this is {sys.platform}")
        self._zygote = os.getpid()
        self._instructions = _seccomp_program()
        self._address_space = _address_space()
        self._ruleset = _landlock_ruleset(readable, scratch)

    def enter(self, limits: Limits) -> None:
        """Lock this process down for good; raise `LockdownError` unless every step succeeded."""
        try:
            self._enter(limits)
        except (OSError, ValueError) as error:
            raise LockdownError(f"a limit or the seccomp filter was refused: {error}") from error

    def _enter(self, limits: Limits) -> None:
        # Landlock and seccomp bind the calling thread only. Unsharing a thread group changes nothing in a process
        # of one thread and fails in any other.
        _checked(_libc().unshare(_CLONE_THREAD), "a worker must have one thread when it is locked down")
        _set_limits(limits, self._address_space)
        _drop_capabilities()
        _control(_PR_SET_DUMPABLE, 0)
        # After the capabilities: a change of credentials resets it.
        _control(_PR_SET_PDEATHSIG, _SIGKILL)
        if os.getppid() != self._zygote:
            raise LockdownError("the zygote died first, or this is not a child of the process that built the lockdown")
        _control(_PR_SET_NO_NEW_PRIVS, 1)
        _system(_RESTRICT_SELF, self._ruleset, 0, failure="Landlock did not restrict this process")
        os.close(self._ruleset)
        instructions = self._instructions.replace(_NOBODY_BYTES, struct.pack("=I", os.getpid()))
        program = _Program(len(instructions) // _INSTRUCTION_BYTES, instructions)
        _control(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; end now if it already has."""
    if sys.platform == "linux":
        _control(_PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


REHEARSAL = "import sys; sys.path[:0] = sys.argv[1:]; from engine.worker.lockdown import rehearse; rehearse()"


def rehearse() -> None:
    """Lock a child down and let it try what must fail; exit with the reason on stderr if anything does not hold."""
    try:
        rehearsed(Lockdown([]))
    except LockdownError as error:
        sys.exit(str(error))


def rehearsed(lockdown: Lockdown) -> None:
    """Let a child enter a lock-down and try what must fail; raise LockdownError if anything does not hold."""
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            lockdown.enter(Limits(memory_bytes=1 << 30, cpu_seconds=10, file_bytes=1 << 20, open_files=64))
            _expect_denied("list the root folder", lambda: list(Path("/").iterdir()))
            _expect_denied("fork", os.fork)
            status = 0
        except Exception as error:  # noqa: BLE001 - whatever it is, this child must go no further than here
            os.write(told, str(error).encode())
        finally:
            os._exit(status)
    os.close(told)
    with os.fdopen(heard, "rb") as reader:
        why = reader.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    if status:
        raise LockdownError(why or f"the rehearsal ended with status {os.waitstatus_to_exitcode(status)}")


def kernel_support() -> str:
    """Return "" if a process can really be locked down here, else one sentence that says what is missing."""
    import subprocess  # the judge asks; a worker has no use for it

    if sys.platform != "linux":
        return f"Landlock and seccomp need Linux; this is {sys.platform}."
    # A process of its own: forking here would copy the judge's threads' locks.
    root = str(Path(__file__).resolve().parents[2])
    trial = subprocess.run(  # noqa: S603 - our own interpreter and our own code
        [sys.executable, "-I", "-B", "-c", REHEARSAL, root, *sys.path],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if trial.returncode == 0:
        return ""
    return f"A process cannot be locked down here: {' '.join(trial.stderr.split()) or trial.returncode}."


# --- calling the kernel -----------------------------------------------------------------------------------------------


@functools.cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    library.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
    return library


def _fail(what: str) -> NoReturn:
    raise LockdownError(f"{what} ({os.strerror(ctypes.get_errno())})")


def _checked(result: int, failure: str) -> int:
    if result < 0:
        _fail(failure)
    return result


def _system(number: int, *arguments: int | bytes | None, failure: str) -> int:
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_libc().syscall(ctypes.c_long(number), *wide), failure)


def _control(option: int, *values: int) -> None:
    padded = (*values, 0, 0, 0, 0)[:4]  # the kernel refuses some options unless the rest is zero
    _checked(_libc().prctl(option, *padded), f"prctl {option} was refused")


def _expect_denied(what: str, attempt: Any) -> None:
    try:
        attempt()
    except PermissionError:
        return
    raise LockdownError(f"a locked-down process could still {what}")
