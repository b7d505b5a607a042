"""Which walls this machine offers, and the command that starts a zygote behind them.

Judge side, trusted. Each worker locks itself down (engine/worker/lockdown.py); where
there is bubblewrap, the zygote they come from also lives in an empty file system
without network, among no processes but its own.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from engine.worker.lockdown import NAMES_ONLY, REHEARSAL, kernel_support

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

ROOT = Path(__file__).resolve().parents[1]

# In a plain install these lie in site-packages, beside NumPy, and the reference is among them.
_OURS = {"reference", "checks", "engine", "formulas", "submissions", "grader.py"}
_OURS_PREFIXES = ("proofmark", "__editable__")

_SYSTEM = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/alternatives",  # Debian's libblas.so.3 leads through it
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/dev/null",
    "/dev/urandom",
    # torch asks both which instructions and how many cores there are, and complains on stderr without an answer.
    "/proc/cpuinfo",
    "/sys/devices/system/cpu",
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_TMP_BYTES = 64 << 20
SCRATCH = "/tmp/proofmark-scratch"  # noqa: S108 - inside bubblewrap, in the zygote's own /tmp
_MOST_LINKS = 40  # where the kernel gives up too


class Tier(StrEnum):
    """What stands between student code and this machine, best first."""

    BUBBLEWRAP = "bubblewrap+landlock+seccomp"
    KERNEL = "landlock+seccomp"
    NONE = "none"


@functools.cache
def probe() -> Tier:
    """Return the best tier that really works here: a process was locked down behind it."""
    if sys.platform != "linux":
        return Tier.NONE
    if shutil.which("bwrap"):
        command = zygote_command(Tier.BUBBLEWRAP, ["-I", "-B", "-c", REHEARSAL, str(ROOT), *_package_folders()], ROOT)
        # Our own interpreter, our own code.
        trial = subprocess.run(command, capture_output=True, check=False, timeout=60)  # noqa: S603
        if trial.returncode == 0:
            return Tier.BUBBLEWRAP
    return Tier.NONE if kernel_support() else Tier.KERNEL


def readable_paths() -> list[str]:
    """Return what a worker may read: the interpreter, the system's libraries, the packages, nothing of ours.

    A path that ends with "/" may be listed only. Imports need that of a folder that holds our packages among others,
    and there the others are named one by one.
    """
    ours = _Ours(_our_places())
    folders = [
        sysconfig.get_path("stdlib"),
        *(
            str(Path(prefix) / library)
            for prefix in (sys.base_prefix, sys.base_exec_prefix)
            for library in ("lib", sys.platlibdir)
        ),
        *_SYSTEM,
        *_package_folders(),
    ]
    paths = [path for folder in folders for path in _around(folder, ours)]
    if sys.prefix != sys.base_prefix:
        paths.append(str(Path(sys.prefix) / "pyvenv.cfg"))
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]  # noqa: PTH110 - Path drops the final "/"


def zygote_environment(scratch: str = SCRATCH) -> dict[str, str]:
    """Return the whole environment of a zygote: none of the judge's is handed down."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        # A zygote that ever ran several threads leaves forked workers waiting for the ones they did not inherit.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def zygote_command(
    tier: Tier, python_arguments: list[str], worker_root: Path, scratch_bytes: int = _TMP_BYTES
) -> list[str]:
    """Return the command that starts the interpreter behind `tier`; `worker_root` holds the engine package.

    Only bubblewrap sets the environment itself, and makes the scratch folder; otherwise start it with
    `zygote_environment(scratch)` and a folder of your own.
    """
    python = [sys.executable, *python_arguments]
    if tier is not Tier.BUBBLEWRAP:
        return python
    environment = [word for name, value in zygote_environment().items() for word in ("--setenv", name, value)]
    devices = [word for device in _DEVICES for word in ("--dev-bind", device, device)]
    engine = worker_root / "engine"
    visible = [
        *(path for path in readable_paths() if not path.endswith(NAMES_ONLY) and path not in _DEVICES),
        sys.executable,
        str(engine / "__init__.py"),
        str(engine / "worker"),
    ]
    return [
        shutil.which("bwrap") or "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--clearenv",
        *environment,
        # Before the rest: an interpreter or a project under /tmp is mounted onto it.
        "--size",
        str(_TMP_BYTES),
        "--tmpfs",
        "/tmp",  # noqa: S108 - inside the sandbox, its own
        "--size",
        str(scratch_bytes),
        "--tmpfs",
        SCRATCH,
        *_mounts(visible),
        *devices,
        "--remount-ro",
        "/",
        "--chdir",
        "/tmp",  # noqa: S108
        "--",
        *python,
    ]


def _package_folders() -> list[str]:
    """Return where packages are imported from: PYTHONPATH's folders too, if they are site-packages of some kind."""
    return [entry for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}]


def _our_places() -> frozenset[Path]:
    """Return every file and folder of ours that lies inside, or around, something a worker may read."""
    libraries = [*(Path(place) for place in ("/usr/lib", "/usr/local/lib")), Path(sys.base_prefix) / "lib"]
    folders = {Path(entry).resolve() for entry in _package_folders()}
    folders.update(folder.resolve() for library in libraries for folder in library.glob("python3*/*-packages"))
    found = {
        place
        for folder in folders
        if folder.is_dir()
        for entry in _children(str(folder))
        if entry.name in _OURS or entry.name.startswith(_OURS_PREFIXES)
        for place in (Path(entry.path), Path(entry.path).resolve())
    }
    return frozenset(found if ROOT in folders else found | {ROOT})


class _Ours:
    """Our files and folders, by what the start of a path is: hundreds of packages are asked about, one by one."""

    def __init__(self, places: Collection[Path]) -> None:
        self.places = frozenset(map(str, places))
        self._around = frozenset(str(folder) for place in places for folder in (place, *place.parents))

    def lie_in(self, folder: str) -> bool:
        """Return whether some of it lies in a folder, or is it."""
        return folder in self._around


def _around(place: str, ours: _Ours) -> Iterator[str]:
    """Yield `place`, or its parts if some of what lies below is ours."""
    real = os.path.realpath(place)
    if ours.lie_in(real):
        yield from _parts(real, ours)
    else:
        yield place


def _parts(real: str, ours: _Ours) -> Iterator[str]:
    """Yield the parts of a folder, given without links, that are not ours."""
    if real in ours.places:
        return
    yield real + NAMES_ONLY
    for child in _children(real):
        if child.is_symlink():
            # Opening a link opens its target, which nobody granted if it lies elsewhere.
            target = Path(child.path).resolve()
            if target.is_relative_to(real) and not ours.lie_in(str(target)) and child.path not in ours.places:
                yield child.path
        elif ours.lie_in(child.path):
            yield from _parts(child.path, ours)
        else:
            yield child.path


def _children(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.path)
    except PermissionError:
        return []  # what the judge cannot list, its workers cannot import


def _mounts(visible: list[str]) -> list[str]:
    """Return bubblewrap's arguments that show `visible` at the same paths, links on the way included.

    An interpreter in a virtual environment is a chain of links: each must exist inside, and its end must be mounted.
    """
    links: dict[str, str] = {}
    target_of = functools.cache(_target)  # many paths have their first folders in common
    ends = {_follow(path, links, target_of) for path in visible}
    shown = sorted(
        (end for end in ends if os.path.exists(end) and ends.isdisjoint(_folders_of(end))),  # noqa: PTH110
        key=lambda end: end.split("/"),
    )
    mounts = [word for end in shown for word in ("--ro-bind", end, end)]
    for link, target in links.items():
        if not {link, *_folders_of(link)} & set(shown):
            mounts += ["--symlink", target, link]
    return mounts


def _folders_of(path: str) -> Iterator[str]:
    """Yield every folder that an absolute path lies in."""
    while path != "/":
        path = path[: path.rindex("/")] or "/"
        yield path


def _target(path: str) -> str | None:
    """Return the words of a link; None if it is none. A path made of them would be normalised."""
    return os.readlink(path) if os.path.islink(path) else None  # noqa: PTH114, PTH115


def _follow(path: str, links: dict[str, str], target_of: Callable[[str], str | None]) -> str:
    """Return the file or folder at the end of `path`, and note in `links` each link that leads there."""
    here, hops = "", 0
    ahead = os.path.abspath(path).split("/")[:0:-1]  # noqa: PTH100 - resolve() would hide the links
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            here = here.rpartition("/")[0]
            continue
        step = f"{here}/{part}"
        target = target_of(step)
        if target is None:
            here = step
            continue
        hops += 1
        if hops > _MOST_LINKS:
            return step  # a loop: nothing is at its end
        links[step] = target
        if target.startswith("/"):
            here = ""
        ahead += reversed(target.split("/"))
    return here or "/"
