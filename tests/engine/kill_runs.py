"""Kill real runs at random moments, resume them, and hold what they leave against an uninterrupted run: `make kills`.

Every file of an output folder must be the same, byte for byte; no result may be graded twice; no process may outlive
the one that was killed, and no temporary file the run that was resumed. Kills are spread over the whole duration, and
every third waits until outputs are written, which takes too little time to be hit by chance.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from engine.cache import code_digest

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ["--only", "attention.softmax", "--examples", "10", "--jobs", "2"]
PHASES = ("starting", "judging", "all judged", "writing", "all written")
KILLS_IN_A_ROW = (1, 1, 2, 3)
GONE_SECONDS = 2.0  # for the processes of a killed run to be gone; they take milliseconds
PR_SET_CHILD_SUBREAPER = 36


class Ground:
    """A folder with a copy of the project, a class to grade, and a cache and a temporary folder of its own."""

    def __init__(self, folder: Path, submissions: int, *, bubblewrap: bool) -> None:
        self.folder, self.submissions = folder, submissions
        self.project, self.course, self.temporary = folder / "project", folder / "class", folder / "tmp"
        for name in ("engine", "checks", "formulas", "reference"):
            shutil.copytree(ROOT / name, self.project / name)
        shutil.copy(ROOT / "grader.py", self.project)
        samples = sorted(path.parent for path in (ROOT / "submissions" / "examples").glob("*/attention.py"))
        step = len(samples) // submissions
        for number, sample in enumerate(samples[: step * submissions : step]):
            shutil.copytree(sample, self.course / sample.name)
            if number % 2:
                with (self.course / sample.name / "attention.py").open("a", encoding="utf-8") as file:
                    file.write("\nprint('imported')\n")
        self.temporary.mkdir()
        known = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "proofmark" / code_digest()
        if known.exists():
            shutil.copytree(known, folder / "cache" / "proofmark" / known.name)
        path = os.environ["PATH"] if bubblewrap else ""  # without it the second tier is the best there is
        self.environment = {
            **os.environ, "PATH": path, "XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(self.temporary),
        }  # fmt: skip

    def start(self, out: Path) -> subprocess.Popen:
        command = [sys.executable, self.project / "grader.py", "grade", self.course, "--out", out, *OPTIONS]
        with (self.folder / "stderr").open("wb") as errors:
            return subprocess.Popen(
                list(map(str, command)), env=self.environment, cwd=self.folder, stderr=errors,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=_as_from_a_terminal,  # noqa: PLW1509 - no threads
            )  # fmt: skip

    def said(self) -> str:
        return (self.folder / "stderr").read_text(encoding="utf-8", errors="replace").strip()[-2000:]

    def temporary_files(self) -> list[str]:
        left = [*self.temporary.iterdir(), *(self.folder / "cache").rglob("*.unfinished")]
        return [str(path.relative_to(self.folder)) for path in left]


class Run:
    """One grader at work."""

    def __init__(self, ground: Ground, out: Path) -> None:
        self.ground, self.out, self.begun = ground, out, time.time()
        self.process = ground.start(out)

    def has_written(self, name: str) -> bool:
        path = self.out / name
        return path.exists() and path.stat().st_mtime > self.begun

    def is_writing(self) -> bool:
        return self.has_written(".results.json.unfinished") or self.has_written("results.json")

    def wait_until(self, moment: float | None) -> None:
        """Wait so many seconds, or until it writes its outputs, or until it has ended."""
        while self.process.poll() is None and (time.time() < self.begun + moment if moment else not self.is_writing()):
            time.sleep(0.0005)

    def phase(self, complete: Iterable[str]) -> str:
        """Say how far it was when it was killed, from what it left."""
        lock = self.out / "gradebook.lock"
        if not lock.exists() or lock.read_text() != f"{self.process.pid}\n":
            return PHASES[0]
        if len(results(self.out)) < self.ground.submissions:
            return PHASES[1]
        if not self.is_writing():
            return PHASES[2]
        return PHASES[4] if all(map(self.has_written, complete)) else PHASES[3]


class Uninterrupted:
    """What a run leaves when nobody disturbs it, and how long it takes."""

    def __init__(self, ground: Ground) -> None:
        out = ground.folder / "uninterrupted"
        for _ in range(2):  # the first one draws the inputs and proves what the report tells
            shutil.rmtree(out, ignore_errors=True)
            run = Run(ground, out)
            if run.process.wait() != 0:
                sys.exit(f"the run that was not disturbed failed:\n{ground.said()}")
            self.seconds = time.time() - run.begun
        self.files = files(out)
        written = [(out / name).stat().st_mtime for name in self.files]
        self.until_written = min(written) - run.begun
        self.writing = max(written) - min(written)


class Campaign:
    """Kills until there are enough, and everything that was not as it must be."""

    def __init__(self, ground: Ground, chance: random.Random, number: signal.Signals) -> None:
        self.ground, self.chance, self.signal = ground, chance, number
        self.truth = Uninterrupted(ground)
        self.phases: Counter[str] = Counter()
        self.problems: list[str] = []
        self.runs = 0
        self.slowest_end = 0.0

    @property
    def kills(self) -> int:
        return self.phases.total()

    def trial(self, moments: list[float | None]) -> None:
        """Grade into a new folder, killed at each of the moments, then in peace; None stands for while it writes."""
        out = self.ground.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        known: dict[str, int] = {}
        for moment in moments:
            run = Run(self.ground, out)
            if not self.killed(run, moment):
                break
            self.phases[run.phase(self.truth.files)] += 1
            rows = results(out)
            if any(rows.get(name) != row for name, row in known.items()):
                self.problem("a result that was kept is gone or was graded again")
            known = rows
        else:
            self.runs += 1
            if self.ground.start(out).wait() != 0:
                self.problem(f"the resumed run failed: {self.ground.said()}")
        self.compare(out, known)

    def killed(self, run: Run, moment: float | None) -> bool:
        """Kill a run at the moment; return whether there was still something to kill."""
        self.runs += 1
        run.wait_until(moment)
        if moment is None:
            time.sleep(self.chance.uniform(0, self.truth.writing))
        asked = time.monotonic()
        run.process.send_signal(self.signal)
        code = run.process.wait()
        if code == 0:
            return False
        self.slowest_end = max(self.slowest_end, time.monotonic() - asked)
        if code not in (-self.signal, 128 + self.signal):
            self.problem(f"exit code {code} after {self.signal.name}: {self.ground.said()}")
        if "Traceback" in self.ground.said():
            self.problem(f"a traceback: {self.ground.said()}")
        left = left_after(GONE_SECONDS)
        if left:
            self.problem(f"processes left: {left}")
        return True

    def compare(self, out: Path, known: dict[str, int]) -> None:
        got, rows = files(out), results(out)
        different = sorted(
            name for name in got.keys() | self.truth.files if got.get(name) != self.truth.files.get(name)
        )
        if different:
            self.problem(f"not as in the uninterrupted run: {different}")
        if len(rows) != self.ground.submissions or any(rows.get(name) != row for name, row in known.items()):
            self.problem(f"{len(rows)} results for {self.ground.submissions} submissions, or one was graded again")
        if self.ground.temporary_files():
            self.problem(f"temporary files left: {self.ground.temporary_files()}")

    def problem(self, sentence: str) -> None:
        self.problems.append(f"after kill {self.kills}: {sentence}")
        print(f"PROBLEM {self.problems[-1]}", flush=True)


def moments(chance: random.Random, seconds: float, count: int) -> list[float | None]:
    """Return `count` moments in random order: spread evenly over the duration, each third one while outputs are written."""
    spread = [seconds * (place + chance.random()) / count for place in range(count)]
    mixed = [None if place % 3 == 2 else moment for place, moment in enumerate(spread)]
    chance.shuffle(mixed)
    return mixed


def files(out: Path) -> dict[str, bytes]:
    """Return every file of an output folder but the gradebook and its lock."""
    paths = [path for path in out.rglob("*") if path.is_file()]
    own = ("gradebook.sqlite", "gradebook.lock")
    return {str(path.relative_to(out)): path.read_bytes() for path in paths if path.name not in own}


def results(out: Path) -> dict[str, int]:
    """Return which submissions have a result, and in which row; looked up in a copy, so that nothing is recovered here."""
    with tempfile.TemporaryDirectory() as folder:
        for path in out.glob("gradebook.sqlite*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, folder)
        with contextlib.closing(sqlite3.connect(Path(folder) / "gradebook.sqlite")) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'results'").fetchone():
                return {}
            return dict(connection.execute("SELECT id, rowid FROM results"))


def left_after(seconds: float, before: dict[int, str] | None = None) -> list[str]:
    """Return the processes that are still there, less those from before; whoever outlives its parent becomes our child."""
    deadline = time.monotonic() + seconds
    while (left := living_descendants().items() - (before or {}).items()) and time.monotonic() < deadline:
        time.sleep(0.005)
    for process, _ in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return [command for _, command in left]


def living_descendants() -> dict[int, str]:
    """Return every process below this one that is not dead, with its command."""
    parents, commands = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, parent = (folder / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[:2]
            command = (folder / "cmdline").read_text(errors="replace")[:80].replace("\0", " ")
            if state not in "ZX":  # only now: it may have gone while we read
                parents[int(folder.name)] = int(parent)
                commands[int(folder.name)] = command
    ours, grown = {os.getpid()}, True
    while grown:
        below = {process for process, parent in parents.items() if parent in ours} - ours
        ours |= below
        grown = bool(below)
    return {process: commands[process] for process in ours - {os.getpid()}}


def _as_from_a_terminal() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts us in the background ignores it


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--signal", choices=["KILL", "INT", "TERM"], default="KILL")
    parser.add_argument("--without-bubblewrap", action="store_true", help="the second tier of the lock-down")
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        ground = Ground(Path(folder), given.submissions, bubblewrap=not given.without_bubblewrap)
        campaign = Campaign(ground, chance, signal.Signals[f"SIG{given.signal}"])
        truth = campaign.truth
        times = f"{truth.seconds:.2f} s, outputs at {truth.until_written:.2f} s within {truth.writing:.3f} s"
        print(f"uninterrupted: {times}; {ground.said()}", flush=True)
        planned: list[float | None] = []
        while campaign.kills < given.kills:
            planned = planned or moments(chance, truth.seconds, given.kills - campaign.kills)
            number = chance.choice(KILLS_IN_A_ROW)
            campaign.trial(planned[:number])
            planned = planned[number:]
            print(f"{campaign.kills} kills, {len(campaign.problems)} problems", file=sys.stderr, flush=True)
    for name in PHASES:
        print(f"{campaign.phases[name]:5} kills while {name}")
    print(
        f"{campaign.kills} kills of {campaign.runs} runs by {campaign.signal.name}; "
        f"slowest end {campaign.slowest_end:.3f} s; {len(campaign.problems)} problems"
    )
    return 1 if campaign.problems else 0


if __name__ == "__main__":
    sys.exit(main())
