"""Start a zygote, the warm process workers are forked from, and do not wait for it.

Judge side, trusted, and quick to import: `check` starts a zygote as soon as it knows what is to be run, and imports
NumPy and the checks while the zygote does its own importing on another core.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine import cache, sandbox
from engine.begun import Written
from engine.records import Submission
from engine.worker.lockdown import Limits

BOOTSTRAP = "import sys; sys.path.insert(0, sys.argv[3]); from engine.worker.zygote import main; main()"
FOLDERS = "proofmark-"  # with the judge's process: whose scratch folders lie in the temporary folder
END_SECONDS = 5


class Launched:
    """A zygote that was started; it says that it is ready, or why not, on the socket `control`."""

    def __init__(self, tier: sandbox.Tier, limits: Limits, *, with_torch: bool, rehearse: bool = False) -> None:
        self.tier = tier
        self.limits = limits
        self.with_torch = with_torch
        self._scratch = _Folder(sandbox.SCRATCH if tier is sandbox.Tier.BUBBLEWRAP else None)
        self.control, theirs = socket.socketpair()
        config = {
            "paths": [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")],
            "readable": sandbox.readable_paths(),
            "torch": with_torch,
            "locked": tier is not sandbox.Tier.NONE,
            "rehearse": rehearse,
            "scratch": self._scratch.path,
            "limits": limits._asdict(),
        }
        arguments = ["-P", "-s", "-c", BOOTSTRAP, str(theirs.fileno()), json.dumps(config), str(sandbox.ROOT)]
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and bubblewrap
                sandbox.zygote_command(tier, arguments, sandbox.ROOT, limits.file_bytes),
                pass_fds=[theirs.fileno()],
                env=sandbox.zygote_environment(self._scratch.path),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL if rehearse else None,  # that it cannot be is no news to anybody who reads
                start_new_session=True,  # Ctrl-C is for the judge
            )

    def close(self) -> None:
        """Let the zygote end: it returns when its control socket closes."""
        self.control.close()
        try:
            self.process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._scratch.close()


@contextmanager
def ahead(submission: Submission, rubric: Path) -> Iterator[Launched | None]:
    """Start a zygote for a submission before anybody knows what works on this machine, and end it after the block.

    It is to try its own lock-down and to refuse if that fails. None is started where none is wanted yet: nothing is
    begun, or the rubric, which says what a worker may use, was never read before.
    """
    written = Written(submission.sources)
    limits = _known_limits(rubric) if written.begun else None
    launched = None
    if limits is not None:
        launched = Launched(_hoped_for(), limits, with_torch=written.mentions_torch, rehearse=True)
    try:
        yield launched
    finally:
        if launched is not None:
            launched.close()


def remember_limits(rubric: bytes, limits: Limits) -> None:
    """Keep what a rubric's workers may use for whoever starts a zygote before the rubric is read."""
    cache.store(_limits_name(rubric), tuple(limits))


def _known_limits(rubric: Path) -> Limits | None:
    try:
        known = cache.load(_limits_name(rubric.read_bytes()))
    except OSError:
        return None  # whoever reads the rubric will say so
    return None if known is None else Limits(*known)


def _limits_name(rubric: bytes) -> str:
    return f"limits-{hashlib.sha256(rubric).hexdigest()[:16]}"


def _hoped_for() -> sandbox.Tier:
    """Return the best tier there could be on this machine. Whether it works, `sandbox.probe` or a zygote finds out."""
    if sys.platform != "linux":
        return sandbox.Tier.NONE
    return sandbox.Tier.BUBBLEWRAP if shutil.which("bwrap") else sandbox.Tier.KERNEL


class _Folder:
    """A zygote's scratch folder: bubblewrap makes one inside, otherwise it is a temporary one of ours."""

    def __init__(self, made_inside: str | None) -> None:
        self._ours = None
        if made_inside is None:
            _remove_orphaned_folders()
            self._ours = Path(tempfile.mkdtemp(prefix=f"{FOLDERS}{os.getpid()}-"))
        self.path: str = made_inside or str(self._ours)

    def close(self) -> None:
        """Remove it, if it is ours; the zygote left it empty unless it was killed."""
        if self._ours is not None:
            _remove_folder(self._ours)
            self._ours = None


def _remove_orphaned_folders() -> None:
    """Remove the folders of judges that were killed before they could do it themselves."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*-*"):
        judge = folder.name.removeprefix(FOLDERS).split("-", 1)[0]
        with suppress(FileNotFoundError):  # another judge was quicker
            if judge.isdecimal() and folder.stat().st_uid == os.getuid() and not _is_alive(int(judge)):
                _remove_folder(folder)


def _remove_folder(folder: Path) -> None:
    from engine.worker.scratch import Scratch  # behind bubblewrap nobody here needs it

    Scratch(str(folder), 0).empty()
    folder.rmdir()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
