"""What a class costs as it grows: the real command on 10 to 5,000 submissions, time and memory watched from outside.

The submissions are copies of the examples, each with a line of its own so that no two are alike. One small item is
graded: what is asked here is what grows with the class, not what a check takes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from engine.bench.processes import below, kibibytes
from engine.cache import ROOT
from engine.records import GraderFault
from engine.verify import EXAMPLES

COUNTS = (10, 100, 1_000, 5_000)
JOBS = (1, 2)
EXAMPLES_PER_CHECK = (25, 50, 100, 200)
ITEM = "attention.softmax"
MODULE = "attention.py"  # only examples that have it are worth grading
MIDDLE = 1_000  # submissions, where it is not their number that changes: the start of the command should not weigh
INTERVAL = 0.25  # seconds between two looks at memory
MEBIBYTE = 1024  # KiB


@dataclass(frozen=True, slots=True)
class Asked:
    """One run of the real command."""

    submissions: int
    jobs: int = 2
    examples: int = 25
    only: str = ITEM  # nothing: the whole syllabus


@dataclass(frozen=True, slots=True)
class Grown:
    """What one run took."""

    asked: Asked
    seconds: float  # of the whole command
    beginning: float  # until the first is begun: importing, taking in, and looking for known results
    judging: float  # until the last is judged and kept
    writing: float  # the rest: results.json, the table, the report
    each: tuple[float, ...]  # seconds between one result and the next
    main: float  # MiB, the most the command itself had
    tree: float  # MiB, the most of it and all its judges and workers; what they share counts once
    written: int  # bytes of results.json, the table and the report
    kept: int  # bytes of the gradebook

    @property
    def per_submission(self) -> float:
        """Seconds of the whole command for each submission, starting included."""
        return self.seconds / self.asked.submissions


def grown(
    counts: Sequence[int] = COUNTS,
    jobs: Sequence[int] = JOBS,
    examples: Sequence[int] = EXAMPLES_PER_CHECK,
    told: Callable[[Grown], None] = lambda _: None,
) -> list[Grown]:
    """Measure classes of these sizes, then a middle one with these numbers of judges, and of inputs per check."""
    runs = [Asked(count) for count in counts]
    runs += [Asked(MIDDLE, jobs=number) for number in jobs]
    runs += [Asked(MIDDLE, examples=number) for number in examples]
    found = []
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        for asked in dict.fromkeys(runs):
            found.append(measured(asked, Path(folder)))
            told(found[-1])
    return found


def measured(asked: Asked, folder: Path) -> Grown:
    """Build a class in `folder`, grade it there, and return what that took; inputs are drawn before."""
    name = f"{asked.submissions}-{asked.jobs}-{asked.examples}"
    course, out = folder / f"class-{name}", folder / f"graded-{name}"
    build(course, asked.submissions, whole=not asked.only)
    first = folder / f"first-{name}"
    shutil.copytree(next(course.iterdir()), first)
    try:
        run_on(first, folder / f"drawn-{name}", asked, folder)
        return run_on(course, out, asked, folder)
    finally:
        for place in (course, first, out, folder / f"drawn-{name}"):
            shutil.rmtree(place, ignore_errors=True)


def run_on(course: Path, out: Path, asked: Asked, folder: Path) -> Grown:
    """Run the command and watch it; progress as lines of JSON tells when each result was there."""
    command = [sys.executable, str(ROOT / "grader.py"), "grade", str(course), "--out", str(out), "--jobs"]
    command += [str(asked.jobs), "--examples", str(asked.examples), "--progress", "json"]
    command += ["--only", asked.only] if asked.only else []
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    log = out.with_suffix(".log")
    main = tree = 0
    begun = time.time()
    with log.open("wb") as errors:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors, cwd=ROOT)  # noqa: S603
        while process.poll() is None:
            main = max(main, kibibytes(process.pid, "status", "VmHWM"))
            tree = max(tree, sum(kibibytes(each, "smaps_rollup", "Pss") for each in below(process.pid)))
            time.sleep(INTERVAL)
    ended = time.time()
    if process.returncode:
        raise GraderFault(f"exit code {process.returncode}: {log.read_text(encoding='utf-8')[-500:]}")
    moments = [json.loads(line)["seconds"] for line in log.read_text(encoding="utf-8").splitlines() if line[:1] == "{"]
    last = log.stat().st_mtime  # the last line is that of the last result
    gradebook = sum(path.stat().st_size for path in out.glob("gradebook.sqlite*"))
    return Grown(
        asked=asked,
        seconds=ended - begun,
        beginning=last - begun - moments[-1],
        judging=moments[-1],
        writing=ended - last,
        each=tuple(later - earlier for earlier, later in zip([0.0, *moments], moments, strict=False)),
        main=main / MEBIBYTE,
        tree=tree / MEBIBYTE,
        written=sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) - gradebook,
        kept=gradebook,
    )


# ── the class ─────────────────────────────────────────────────────────────────────────────────────────────────────


def build(folder: Path, count: int, *, whole: bool = False) -> None:
    """Write a class of copies of the examples; a whole one has the right file wherever an example has none."""
    folder.mkdir()
    known = sorted(path for path in EXAMPLES.iterdir() if (path / MODULE).exists() or (whole and path.is_dir()))
    right = EXAMPLES / "right_numpy"
    for number, source in enumerate(islice(cycle(spread(known)), count)):
        copied(source, folder / f"{number:06}_{source.name}", number, under=right if whole else None)


def copied(source: Path, target: Path, number: int, under: Path | None = None) -> None:
    """Copy a submission, laid over another if one is given, so that its content is that of no other copy."""
    for layer in (under, source) if under else (source,):
        shutil.copytree(layer, target, dirs_exist_ok=True)
    for script in target.rglob("*.py"):
        with script.open("ab") as file:
            file.write(f"\n# copy {number}\n".encode())


def spread(paths: Sequence[Path]) -> list[Path]:
    """Return the paths in an order of which every beginning is a fair choice."""
    return [paths[number * 89 % len(paths)] for number in range(len(paths))] if len(paths) % 89 else list(paths)


# ── the table ─────────────────────────────────────────────────────────────────────────────────────────────────────


def report(runs: Iterable[Grown]) -> str:
    """Return the figures as people read them."""
    head = ("submissions", "jobs", "inputs", "seconds", "each, ms", "writing, ms each", "main, MiB", "tree, MiB", "MB")
    lines = ["  ".join(head)]
    for run in runs:
        count = run.asked.submissions
        cells = (
            f"{count:,}", str(run.asked.jobs), str(run.asked.examples), f"{run.seconds:.1f}",
            f"{1000 * run.judging / count:.0f}", f"{1000 * run.writing / count:.1f}", f"{run.main:.0f}",
            f"{run.tree:.0f}", f"{(run.written + run.kept) / 1e6:.1f}",
        )  # fmt: skip
        lines.append("  ".join(f"{cell:>{len(name)}}" for cell, name in zip(cells, head, strict=True)))
    return "\n".join(lines)
