"""A locked-down worker can compute and nothing else, whoever runs it.

This file is also the hostile program. Its source is sent to a judge (another user's, if need be), which starts a
zygote; the zygote forks one worker per attempt below, and pytest reads what became of each.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import functools
import importlib
import inspect
import json
import mmap
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.worker.lockdown import Limits, Lockdown, LockdownError, kernel_support

if TYPE_CHECKING:
    from collections.abc import Callable

    Attempt = Callable[["Case"], Any]

GENEROUS = Limits(memory_bytes=1 << 30, cpu_seconds=20, file_bytes=1 << 20, open_files=64)
NOBODY = 65534
DENIED = {errno.EPERM, errno.EACCES}
BOOTSTRAP = """
import json, sys, types
request = json.loads(sys.argv[1])
sys.path[:0] = request["path"]
sys.modules["attempts"] = module = types.ModuleType("attempts")
source = sys.stdin.read()
exec(compile(source, "attempts", "exec"), module.__dict__)
getattr(module, request["play"])(request, source)
"""


class Case:
    """What a worker holds when it is locked down: an open folder, a socket, its captured output, a scratch folder.

    `victim` is a file it may read and tries to change: of no worth where only the lock-down protects it.
    """

    def __init__(self, root: str, victim: str, scratch: str) -> None:
        self.root, self.victim, self.scratch = Path(root), Path(victim), Path(scratch)
        self.folder = os.open(root, os.O_RDONLY)
        self.here, self.there = socket.socketpair()
        self.output = os.memfd_create("output", os.MFD_ALLOW_SEALING)
        fcntl.fcntl(self.output, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)


def system_call(name: str, *arguments: int) -> None:
    """Call libc past Python's own checks."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*(ctypes.c_long(argument) for argument in arguments)) == -1:
        raise OSError(ctypes.get_errno(), name)


def change_limit() -> None:
    """Ask past `resource`, which turns the kernel's refusal into a ValueError."""
    wish = (ctypes.c_ulong * 2)(*resource.getrlimit(resource.RLIMIT_CPU))
    system_call("setrlimit", resource.RLIMIT_CPU, ctypes.addressof(wish))


# --- what must be denied ----------------------------------------------------------------------------------------------

HOSTILE: dict[str, Attempt] = {
    "fork": lambda _: os.fork(),
    "spawn": lambda _: os.posix_spawn(sys.executable, ["python"], {}),
    "subprocess": lambda _: subprocess.run([sys.executable, "-V"], check=False),
    "exec": lambda _: os.execv(sys.executable, ["python", "-V"]),
    "unshare": lambda _: system_call("unshare", 0x10000000),
    "ipv4 socket": lambda _: socket.socket(socket.AF_INET),
    "ipv6 socket": lambda _: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
    "unix socket": lambda _: socket.socket(socket.AF_UNIX),
    "netlink socket": lambda _: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "socketpair": lambda _: socket.socketpair(),
    "send a descriptor": lambda case: socket.send_fds(case.here, [b"x"], [case.output]),
    "receive a descriptor": lambda case: socket.recv_fds(case.here, 1, 1),
    "read the reference": lambda case: (case.root / "reference/attention.py").read_text(),
    "read the project": lambda case: (case.root / "pyproject.toml").read_text(),
    "read the engine": lambda case: (case.root / "engine/records.py").read_text(),
    "list the project": lambda case: list(case.root.iterdir()),
    "list an open folder": lambda case: os.open(".", os.O_RDONLY, dir_fd=case.folder),
    "read in an open folder": lambda case: os.open("pyproject.toml", os.O_RDONLY, dir_fd=case.folder),
    "list the root": lambda _: list(Path("/").iterdir()),
    "list processes": lambda _: list(Path("/proc").iterdir()),
    "list homes": lambda _: list(Path("/home").iterdir()),
    "read own memory map": lambda _: Path("/proc/self/maps").read_text(),
    "read the environment of the zygote": lambda _: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "read users": lambda _: Path("/etc/passwd").read_text(),
    "write to tmp": lambda _: Path("/tmp/proofmark-escape").write_text("x"),
    "write to a package": lambda case: case.victim.write_text("x"),
    "truncate a package": lambda case: os.open(case.victim, os.O_RDONLY | os.O_TRUNC),
    "truncate by path": lambda case: os.truncate(case.victim, 0),
    "truncate its output": lambda case: (os.write(case.output, b"x"), os.ftruncate(case.output, 0)),
    "link the reference into its scratch folder": lambda case: os.link(case.victim, case.scratch / "link"),
    "lead a link out of its scratch folder": lambda case: (case.scratch / "link").symlink_to("/etc/passwd"),
    "move a package into its scratch folder": lambda case: case.victim.rename(case.scratch / "mine"),
    "leave its scratch folder": lambda case: (case.scratch / "../proofmark-escape").write_text("x"),
    "remove its scratch folder": lambda case: case.scratch.rmdir(),
    "a file without a name": lambda case: os.open(case.scratch, os.O_TMPFILE | os.O_RDWR),
    "a pipe in its scratch folder": lambda case: os.mkfifo(case.scratch / "pipe"),
    "a socket in its scratch folder": lambda case: socket.socket(socket.AF_UNIX).bind(str(case.scratch / "socket")),
    "chmod": lambda case: case.victim.chmod(0o777),
    "remove": lambda case: case.victim.unlink(),
    "rename": lambda case: case.victim.rename("/tmp/proofmark-escape"),
    "mkdir": lambda _: Path("/tmp/proofmark-escape").mkdir(),
    "symlink": lambda _: Path("/tmp/proofmark-escape").symlink_to("/"),
    "kill the zygote": lambda _: os.kill(os.getppid(), signal.SIGCONT),
    "kill everybody": lambda _: os.kill(-1, signal.SIGCONT),
    "signal a thread of the zygote": lambda _: system_call("tgkill", os.getppid(), os.getppid(), signal.SIGCONT),
    "pidfd": lambda _: os.pidfd_open(os.getppid()),
    "ptrace": lambda _: system_call("ptrace", 16, os.getppid(), 0, 0),
    "read the zygote's memory": lambda _: system_call("process_vm_readv", os.getppid(), 0, 0, 0, 0, 0),
    "shared memory": lambda _: mmap.mmap(-1, 4096),
    "memory that grows down": lambda _: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100),
    "memfd": lambda _: os.memfd_create("x"),
    "System V memory": lambda _: system_call("shmget", 0, 4096, 0o600),
    "change a limit": lambda _: change_limit(),
    "another core": lambda _: os.sched_setaffinity(0, {0}),
    "more priority": lambda _: os.setpriority(os.PRIO_PROCESS, 0, -1),
    "another user": lambda _: os.setuid(NOBODY),
    "another personality": lambda _: system_call("personality", 0x0040000),
    "dump itself": lambda _: system_call("prctl", 4, 1, 0, 0, 0),
    "inotify": lambda _: system_call("inotify_init1", 0),
    "io_uring": lambda _: system_call("syscall", 425, 1, 0),
    "push to a terminal": lambda case: system_call("ioctl", case.here.fileno(), 0x5412, 0),
}


# --- what must still work ---------------------------------------------------------------------------------------------


def threads(_: Case) -> int:
    found: list[int] = []
    several = [threading.Thread(target=found.append, args=(number,)) for number in range(8)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    return len(found)


def lazy_import(_: Case) -> bool:
    assert "tabnanny" not in sys.modules
    return bool(importlib.import_module("tabnanny"))


def compiled_lazy_import(_: Case) -> bool:
    assert "_zoneinfo" not in sys.modules
    return bool(importlib.import_module("_zoneinfo"))


def numpy_algebra(_: Case) -> bool:
    import numpy as np

    matrix = np.random.default_rng().normal(size=(64, 64))
    left, values, right = np.linalg.svd(matrix)
    return bool(np.allclose(left @ np.diag(values) @ right, matrix))


def torch_training(_: Case) -> bool:
    import torch

    weight = torch.randn(32, 32, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=0.1)
    losses = []
    for _step in range(3):
        optimizer.zero_grad()
        loss = (weight @ weight).square().mean()
        torch.autograd.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return losses[2] < losses[0]


def torch_layers(_: Case) -> list[int]:
    import torch

    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return list(layer(torch.zeros(1, 3, 8)).shape)


def own_source(_: Case) -> bool:
    return "def loads" in inspect.getsource(json)


def talk(case: Case) -> str:
    case.here.sendall(b"question")
    os.write(case.there.fileno(), b"answer")
    return (case.there.recv(100) + case.here.recv(100)).decode()


def print_something(case: Case) -> int:
    os.dup2(case.output, 1)
    print("hello", flush=True)
    return os.fstat(1).st_size


def clocks(_: Case) -> bool:
    time.sleep(0.001)
    return time.time() > 0 and time.localtime().tm_year > 2000


def capabilities(_: Case) -> str:
    sets = ctypes.create_string_buffer(24)
    header = ctypes.create_string_buffer((0x20080522).to_bytes(4, "little") + bytes(4), 8)
    with contextlib.suppress(OSError):  # it may not even ask
        system_call("capget", ctypes.addressof(header), ctypes.addressof(sets))
    return sets.raw.hex().strip("0")


def scratch_files(case: Case) -> list[str]:
    """Write, move, read and remove, as code that keeps a table or a plot in a file does."""
    folder = case.scratch / "tables"
    folder.mkdir()
    (folder / "new.txt").write_text("kept")
    (folder / "new.txt").rename(case.scratch / "old.txt")
    with tempfile.TemporaryFile("w+") as file:
        file.write("temporary")
        file.seek(0)
        texts = [(case.scratch / "old.txt").read_text(), file.read()]
    folder.rmdir()
    (case.scratch / "old.txt").unlink()
    return texts


def silence(_: Case) -> int:
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        return print("not seen") or 1


HONEST: dict[Attempt, Any] = {
    threads: 8,
    lazy_import: True,
    compiled_lazy_import: True,
    numpy_algebra: True,
    torch_training: True,
    torch_layers: [1, 3, 8],
    own_source: True,
    talk: "questionanswer",
    print_something: 6,
    clocks: True,
    capabilities: "",
    scratch_files: ["kept", "temporary"],
    silence: 1,
}


# --- where limits end it ----------------------------------------------------------------------------------------------


def too_much_memory(_: Case) -> None:
    bytearray(2 << 30)


def too_large_array(_: Case) -> None:
    import numpy as np

    np.ones(1 << 28)


def too_much_memory_in_pieces(_: Case) -> None:
    hoard = []
    while True:
        hoard.append(mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def too_long_output(case: Case) -> None:
    os.lseek(case.output, 2 << 20, os.SEEK_SET)
    os.write(case.output, b"x")


def too_large_file(case: Case) -> None:
    (case.scratch / "large").write_bytes(bytes(GENEROUS.file_bytes + 1))


def too_many_files(case: Case) -> None:
    while True:
        os.dup(case.output)


def endless(_: Case) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        pass


def give_up(_: Case) -> None:
    os.abort()


def out_of_line(_: Case) -> None:
    ctypes.string_at(0)


BOUNDED: dict[Attempt, list[Any]] = {
    too_much_memory: ["raised", "MemoryError", None],
    too_large_array: ["raised", "MemoryError", None],
    too_much_memory_in_pieces: ["raised", "OSError", errno.ENOMEM],
    too_long_output: ["raised", "OSError", errno.EFBIG],
    too_large_file: ["raised", "OSError", errno.EFBIG],
    too_many_files: ["raised", "OSError", errno.EMFILE],
    endless: ["signal", signal.SIGKILL],
    give_up: ["signal", signal.SIGABRT],
    out_of_line: ["signal", signal.SIGSEGV],
}


# --- the play: judge, zygote, workers ---------------------------------------------------------------------------------


def perform(act: Callable[[], Any]) -> list[Any]:
    """Run `act` in a child and return what became of it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            outcome = ["value", act()]
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the outcome
            outcome = ["raised", type(error).__name__, getattr(error, "errno", None)]
        os.write(writer, json.dumps(outcome).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(said) if said else ["signal", os.WTERMSIG(status)]


def zygote(request: dict[str, Any], _source: str) -> None:
    """Warm up as a zygote does, then let a worker try each attempt."""
    seen = view(request)  # before torch, which adds to the environment
    import torch

    torch.set_num_threads(1)
    torch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()
    sys.stdout.write(json.dumps({"view": seen, "attempts": attempts(request)}))


def attempts(request: dict[str, Any]) -> dict[str, list[Any]]:
    in_bubblewrap = request["tier"].startswith("bubblewrap")
    victim = json.__file__ if in_bubblewrap else request["victim"]  # there the mount is read-only anyway
    scratch = request["scratch"]
    tempfile.tempdir = scratch  # in earnest the environment says so from the start
    lockdown = Lockdown([*request["readable"], victim], scratch)

    def act(attempt: Attempt, limits: Limits) -> Any:
        case = Case(request["root"], victim, scratch)
        lockdown.enter(limits)
        return attempt(case)

    named = HOSTILE | {each.__name__: each for each in [*HONEST, *BOUNDED]}
    results = {
        name: perform(functools.partial(act, attempt, GENEROUS._replace(cpu_seconds=1 if attempt is endless else 20)))
        for name, attempt in named.items()
    }

    def with_a_second_thread() -> None:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        lockdown.enter(GENEROUS)

    results["grandchild"] = perform(lambda: perform(lambda: lockdown.enter(GENEROUS)))
    results["two threads"] = perform(with_a_second_thread)
    return results


def view(request: dict[str, Any]) -> dict[str, Any]:
    """Return what the zygote itself sees, before any lock-down."""
    seen: dict[str, Any] = {
        "environment": dict(os.environ),
        "interfaces": [name for _, name in socket.if_nameindex()],
        "pid": os.getpid(),
        "root": sorted(path.name for path in Path("/").iterdir()),
        "proc": sorted(path.name for path in Path("/proc").iterdir()),
        "project": sorted(str(path) for path in Path(request["root"]).glob("*/*")),
    }
    with os.fdopen(request["descriptor"], "w") as inherited:
        inherited.write("from inside")
    for name, path, size in (("writes root", "/x", 1), ("writes tmp", "/tmp/x", 1), ("floods tmp", "/tmp/x", 65 << 20)):
        if request["tier"].startswith("bubblewrap"):
            try:
                Path(path).write_bytes(bytes(size))
                seen[name] = "done"
            except OSError as error:
                seen[name] = errno.errorcode[error.errno or 0]
            if Path(path).exists():
                Path(path).unlink()  # torch wants room there
    return seen


def judge(request: dict[str, Any], source: str) -> None:
    """Start the zygote behind the tier asked for, as the user this process runs as."""
    from engine import sandbox

    reader, writer = os.pipe()
    handle, victim = tempfile.mkstemp()
    os.close(handle)
    scratch = tempfile.mkdtemp()
    inside = {
        **request,
        "play": "zygote",
        "path": [str(sandbox.ROOT), *sys.path],
        "readable": sandbox.readable_paths(),
        "descriptor": writer,
        "victim": victim,
        "scratch": sandbox.SCRATCH if request["tier"].startswith("bubblewrap") else scratch,
    }
    command = sandbox.zygote_command(
        sandbox.Tier(request["tier"]), ["-s", "-P", "-B", "-c", BOOTSTRAP, json.dumps(inside)], sandbox.ROOT
    )
    run = subprocess.run(
        command,
        input=source,
        env=sandbox.zygote_environment(),
        pass_fds=[writer],
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(writer)
    Path(victim).unlink()
    shutil.rmtree(scratch)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    if run.returncode:
        sys.exit(f"the zygote failed: {run.stderr}")
    print(json.dumps({**json.loads(run.stdout), "descriptor": said, "complaints": run.stderr, "command": command}))


USERS = ["who runs the tests", "an ordinary user"]


def outcomes(user: str, tier: str) -> dict[str, Any]:
    """Return what became of every attempt behind `tier`, with everything run as `user`."""
    play = run_play(user, tier)
    assert play.returncode == 0, play.stderr
    return json.loads(play.stdout)  # type: ignore[no-any-return]


@functools.cache  # a play that failed is not run again for each test either
def run_play(user: str, tier: str) -> subprocess.CompletedProcess[str]:
    missing = kernel_support()
    if missing:
        pytest.skip(missing)
    identity: dict[str, Any] = {}
    interpreter = sys.executable
    if user == "an ordinary user":
        if os.getuid() != 0:
            pytest.skip("the tests themselves run as an ordinary user")
        identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        interpreter = interpreter_for_nobody(identity)
    root = str(Path(__file__).resolve().parents[2])
    request = {"play": "judge", "path": [root], "root": root, "tier": tier}
    return subprocess.run(
        [interpreter, "-c", BOOTSTRAP, json.dumps(request)],
        input=Path(__file__).read_text(encoding="utf-8"),
        env={"PYTHONPATH": package_path(), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **identity,
    )


def package_path() -> str:
    return os.pathsep.join(entry for entry in sys.path if entry.endswith("-packages"))


def interpreter_for_nobody(identity: dict[str, Any]) -> str:
    """Return an interpreter of our version that user can run: a pyenv under /root is closed to it."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        with contextlib.suppress(OSError):
            command = [candidate, "-c", "import numpy, pytest, pyseccomp"]
            settings = {"env": {"PYTHONPATH": package_path()}, "cwd": "/", **identity}
            if subprocess.run(command, capture_output=True, check=False, **settings).returncode == 0:
                return candidate
    pytest.skip(f"no {version} with our packages is open to user {NOBODY}")


# --- the tests --------------------------------------------------------------------------------------------------------


@pytest.fixture(params=USERS)
def results(request: pytest.FixtureRequest) -> dict[str, list[Any]]:
    return outcomes(request.param, "landlock+seccomp")["attempts"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("attempt", HOSTILE)
def test_is_denied(results: dict[str, list[Any]], attempt: str) -> None:
    kind, what, number = [*results[attempt], None][:3]
    assert kind == "raised", f"{attempt}: {what}"
    assert number in DENIED, f"{attempt}: {what} {number}"


@pytest.mark.parametrize("attempt", HONEST, ids=lambda attempt: attempt.__name__)
def test_still_works(results: dict[str, list[Any]], attempt: Attempt) -> None:
    assert results[attempt.__name__] == ["value", HONEST[attempt]]


@pytest.mark.parametrize("attempt", BOUNDED, ids=lambda attempt: attempt.__name__)
def test_is_ended_by_its_limit(results: dict[str, list[Any]], attempt: Attempt) -> None:
    assert results[attempt.__name__] == BOUNDED[attempt]


def test_refuses_a_process_the_zygote_did_not_fork(results: dict[str, list[Any]]) -> None:
    assert results["grandchild"] == ["value", ["raised", LockdownError.__name__, None]]


def test_refuses_a_process_with_two_threads(results: dict[str, list[Any]]) -> None:
    assert results["two threads"] == ["raised", LockdownError.__name__, None]
