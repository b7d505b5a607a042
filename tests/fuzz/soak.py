"""Grade a large class in one real run and watch what it takes: `make soak`, or

    python -m tests.fuzz.soak --submissions 100 1000

The class is made of the examples, each copy with a line of its own so that no two are alike, and one submission in twenty
is hostile (tests/hostile: those that run into a time limit in the proportion they have there). Five times a second
/proc is asked for the memory, descriptors and processes of the whole run; what is left when it has ended is counted.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

from engine.bench.growth import copied, spread
from engine.bench.processes import below, kibibytes, processes

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "submissions" / "examples"
HOSTILE = ROOT / "tests" / "hostile"
HOSTILE_SHARE = 0.05
INTERVAL = 0.2
MARKS = (0.1, 0.5, 1.0)  # shares of the class after which the main process is measured
SHARED_MEMORY = Path("/dev/shm")
PR_SET_CHILD_SUBREAPER = 36


# ── the class ─────────────────────────────────────────────────────────────────────────────────────────────────────


def build(folder: Path, count: int, *, hostile_share: float = HOSTILE_SHARE) -> None:
    """Write `count` submissions, the hostile ones spread over all of them."""
    hostile = hostile_ones(round(count * hostile_share))
    good = list(
        islice(cycle(spread(sorted(path for path in EXAMPLES.iterdir() if path.is_dir()))), count - len(hostile))
    )
    every = max(1, count // max(1, len(hostile)))
    for number in range(count):
        source = hostile.pop() if hostile and number % every == every - 1 else (good or hostile).pop()
        target = folder / f"{number:04}_{source.name}"
        copied(source, target, number)


def hostile_ones(count: int) -> list[Path]:
    """Choose hostile submissions: as many that run out of time, and as many others, as there are of each in all."""
    expected = tomllib.loads((HOSTILE / "expected.toml").read_text(encoding="utf-8"))
    known = sorted(path for path in HOSTILE.iterdir() if path.name in expected and any(path.glob("*.py")))
    slow = [path for path in known if "timed_out" in expected[path.name].get("outcome", "")]
    quick = [path for path in known if path not in slow]
    share = max(1, round(count * len(slow) / len(known))) if slow and count else 0
    return [*islice(cycle(slow), share), *islice(cycle(spread(quick)), count - share)]


# ── what /proc says ───────────────────────────────────────────────────────────────────────────────────────────────


def descriptors(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def entries(folder: Path) -> int:
    return sum(1 for _ in folder.rglob("*"))


@dataclass(slots=True)
class Figures:
    """The largest of everything that was seen in one run."""

    submissions: int
    seconds: float = 0.0
    peaks: Counter[str] = field(default_factory=Counter)
    marks: dict[float, float] = field(default_factory=dict)  # MiB of the main process, by share of the class graded
    left: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    code: int = 0

    def note(self, **seen: float) -> None:
        for name, value in seen.items():
            self.peaks[name] = max(self.peaks[name], round(value))


# ── one run ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Run:
    """One run of the real command on a class, with temporary folder and cache of its own."""

    def __init__(self, base: Path, options: list[str]) -> None:
        self._options = options
        self._temporary, self._base = base / "tmp", base
        self._temporary.mkdir(exist_ok=True)
        self._environment = {**os.environ, "TMPDIR": str(self._temporary), "XDG_CACHE_HOME": str(base / "cache")}

    def graded(self, count: int) -> Figures:
        """Build a class, grade it, and return what that took."""
        course, out = self._base / f"class-{count}", self._base / f"graded-{count}"
        course.mkdir()
        build(course, count)
        figures = Figures(count)
        shared, before = set(SHARED_MEMORY.iterdir()), set(_children())
        started = time.monotonic()
        with (self._base / f"stderr-{count}").open("wb") as errors:
            command = [sys.executable, str(ROOT / "grader.py"), "grade", str(course), "--out", str(out), *self._options]
            process = subprocess.Popen(
                command, env=self._environment, stdout=subprocess.DEVNULL, stderr=errors, cwd=ROOT
            )
            while process.poll() is None:
                self._sample(process.pid, out, figures, shared)
                time.sleep(INTERVAL)
        figures.seconds = time.monotonic() - started
        figures.code = process.returncode
        time.sleep(0.5)  # what was told to end may still be ending
        figures.left["processes"] = len(set(_children()) - before)
        figures.left["temporary files"] = entries(self._temporary)
        figures.left["shared memory"] = len(set(SHARED_MEMORY.iterdir()) - shared)
        figures.outcomes = _outcomes(out / "results.json")
        return figures

    def _sample(self, pid: int, out: Path, figures: Figures, shared: set[Path]) -> None:
        tree = below(pid)
        own = kibibytes(pid, "status", "VmRSS") / 1024
        figures.note(
            rss=sum(kibibytes(each, "status", "VmRSS") for each in tree) / 1024,
            pss=sum(kibibytes(each, "smaps_rollup", "Pss") for each in tree) / 1024,
            main=own,
            main_descriptors=descriptors(pid),
            descriptors=sum(descriptors(each) for each in tree),
            processes=len(tree),
            temporary=entries(self._temporary),
            shared=len(set(SHARED_MEMORY.iterdir()) - shared),
        )
        done = _graded_so_far(out) / figures.submissions
        for mark in MARKS:
            if own and done >= mark:
                figures.marks.setdefault(mark, own)


def _graded_so_far(out: Path) -> int:
    file = out / "gradebook.sqlite"
    if not file.exists():
        return 0
    try:
        book = sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=1)
        try:
            return int(book.execute("SELECT count(*) FROM results").fetchone()[0])
        finally:
            book.close()
    except sqlite3.Error:  # it is being made
        return 0


def _outcomes(results: Path) -> Counter[str]:
    submissions = json.loads(results.read_text(encoding="utf-8"))["submissions"] if results.exists() else []
    return Counter(submission["status"] for submission in submissions)


def _children() -> Iterator[int]:
    return (pid for pid, parent in processes().items() if parent == os.getpid())


# ── the table ─────────────────────────────────────────────────────────────────────────────────────────────────────

ROWS: dict[str, Callable[[Figures], float]] = {
    "seconds": lambda f: f.seconds,
    "seconds per submission": lambda f: f.seconds / f.submissions,
    "peak memory, whole run, PSS MiB": lambda f: f.peaks["pss"],
    "peak memory, whole run, RSS MiB": lambda f: f.peaks["rss"],
    "peak memory, main process, MiB": lambda f: f.peaks["main"],
    **{f"main process after {mark:.0%}, MiB": lambda f, mark=mark: f.marks.get(mark, 0.0) for mark in MARKS},
    "peak descriptors, main process": lambda f: f.peaks["main_descriptors"],
    "peak descriptors, whole run": lambda f: f.peaks["descriptors"],
    "peak processes": lambda f: f.peaks["processes"],
    "peak temporary files": lambda f: f.peaks["temporary"],
    "peak entries in shared memory": lambda f: f.peaks["shared"],
    "processes left": lambda f: f.left["processes"],
    "temporary files left": lambda f: f.left["temporary files"],
    "shared memory left": lambda f: f.left["shared memory"],
    "scores withheld": lambda f: f.outcomes["withheld"],
    "exit code": lambda f: f.code,
}  # fmt: skip


def table(runs: list[Figures]) -> str:
    """Return the figures, a column for each run, and the last column over the first."""
    head = ["", *(f"{run.submissions:,}" for run in runs), "ratio" if len(runs) > 1 else ""]
    lines = [head]
    for name, figure in ROWS.items():
        values = [figure(run) for run in runs]
        ratio = f"{values[-1] / values[0]:.2f}" if len(runs) > 1 and values[0] else ""
        lines.append(
            [
                name,
                *(f"{value:,.2f}" if isinstance(value, float) and value < 10 else f"{value:,.0f}" for value in values),
                ratio,
            ]
        )
    return "\n".join(f"{first:36}" + "".join(f"{cell:>12}" for cell in cells) for first, *cells in lines)


def main() -> int:
    """Run and report; the exit code is 1 if anything was left behind or anybody's score withheld."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--only", default="attention")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--examples", type=int, default=25)
    parser.add_argument("--keep", type=Path, help="a new folder for the classes and all that was written")
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(
        PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0
    )  # whoever outlives the run becomes our child, and is seen
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        base = given.keep or Path(folder)
        base.mkdir(parents=True, exist_ok=True)
        run = Run(base, ["--only", given.only, "--jobs", str(given.jobs), "--examples", str(given.examples)])
        run.graded(2)  # draws the inputs, once for all
        runs = []
        for count in given.submissions:
            runs.append(run.graded(count))
            print(
                f"{count} submissions: {dict(runs[-1].outcomes)} in {runs[-1].seconds:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    print(table(runs))
    faults = [
        each for each in runs if each.code or any(each.left.values()) or sum(each.outcomes.values()) != each.submissions
    ]
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
