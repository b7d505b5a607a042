"""`grader bench`: how quick we are, beside everybody else, and docs/performance.md, written from what was measured."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.bench import growth, side_by_side, startup
from engine.bench.growth import Asked, Grown
from engine.bench.markdown import table, table_of_growth
from engine.bench.picture import Plot, drawn
from engine.bench.side_by_side import Comparison
from engine.bench.startup import NUMPY, Start
from engine.records import UsageError

PICTURE = Path("pictures") / "performance.svg"


@dataclass(frozen=True, slots=True)
class Performance:
    """Everything that was measured in one run."""

    rounds: int
    comparisons: tuple[Comparison, ...]
    starts: tuple[Start, ...]
    runs: tuple[Grown, ...]


def measured(rounds: int, peers: Path, told: Callable[[str], None]) -> Performance:
    """Measure all ways to grade, what a student waits for, and what grows with a class."""
    comparisons = side_by_side.compared(peers.resolve(), rounds, told)
    told("starting")
    starts = startup.startup(rounds)
    told("growing")
    runs = growth.grown(told=lambda run: told(growth.report([run])))
    return Performance(rounds, tuple(comparisons), tuple(starts), tuple(runs))


def report(told: Performance) -> str:
    """Return the figures as people read them."""
    return "\n\n".join([side_by_side.report(told.comparisons), startup.report(told.starts), growth.report(told.runs)])


def write(told: Performance, folder: Path) -> None:
    """Write the page and its picture."""
    try:
        (folder / PICTURE).parent.mkdir(parents=True, exist_ok=True)
        (folder / PICTURE).write_text(drawn(_plots(told.runs)), encoding="utf-8")
        (folder / "performance.md").write_text(page(told), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from None


def page(told: Performance) -> str:
    """Return docs/performance.md."""
    parts = [
        HEAD.format(rounds=told.rounds, machine=f"{platform.system()}, Python {platform.python_version()}"),
        *(f"### {each.title}\n\n{_compared(each)}" for each in told.comparisons),
        READING,
        STARTING.format(table=_started(told.starts)),
        GROWING.format(picture=PICTURE, table=table_of_growth(told.runs)),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _compared(comparison: Comparison) -> str:
    ours = comparison.ways[0]
    rows = []
    for way in comparison.ways:
        middle, least, most = way.times(ours)
        version = "" if way.version == ours.version else f" {way.version}"
        seconds = f"{statistics.median(way.seconds):.2f} ({min(way.seconds):.2f} to {max(way.seconds):.2f})"
        rows.append((
            f"{way.name}{version}", seconds, f"{statistics.median(way.core_seconds):.2f}",
            f"{way.peak_memory_mib:.0f}", f"**{middle:.1f}** ({least:.1f} to {most:.1f})",
        ))  # fmt: skip
    head = ("", "seconds a submission", "of processor time", "MiB, largest process", "times ours")
    return "\n".join([table(head, rows), *(f"\n{why}" for why in comparison.absent)])


def _started(starts: Sequence[Start]) -> str:
    base = next(start for start in starts if start.name == NUMPY)
    rows = []
    for start in starts:
        middle, least, most = start.times(base)
        first = f"{start.median:.2f} ({start.spread[0]:.2f} to {start.spread[1]:.2f})"
        rows.append((f"`{start.name}`", first, f"{statistics.median(start.whole):.2f}",
                     f"{middle:.1f} ({least:.1f} to {most:.1f})"))  # fmt: skip
    return table(("", "seconds to the first line", "to the end", "times `import numpy`"), rows)


def _plots(runs: Sequence[Grown]) -> list[Plot]:
    def series(of: Callable[[Asked], int], kept: Callable[[Asked], bool]) -> list[tuple[float, float]]:
        return sorted((of(run.asked), 1000 * run.judging / run.asked.submissions) for run in runs if kept(run.asked))

    middle = growth.MIDDLE
    return [
        Plot("ms a submission, by class", "submissions",
             series(lambda each: each.submissions, lambda each: each == Asked(each.submissions)), is_log=True),
        Plot("ms a submission, by inputs", "inputs a check",
             series(lambda each: each.examples, lambda each: each == Asked(middle, examples=each.examples))),
        Plot("ms a submission, by judges", "judges (two cores)",
             series(lambda each: each.jobs, lambda each: each == Asked(middle, jobs=each.jobs))),
    ]  # fmt: skip


HEAD = """
# Performance

What grading costs, measured by `make bench`, which also wrote this page ({machine}, two shared cores). The machine
is noisy, so the ways take turns in one run, {rounds} rounds of them, and what counts are the ratios, taken round by
round: the median, and in brackets the least and the most.

## Side by side

Every way tries the very same checks of `checks/` on the same submissions, with the same seed, the same truth and
one thread a library, and before anything is measured they must all fail the same wrong submissions for the same
checks. Proofmark and the floor replay inputs that were drawn once for the assignment; the others draw them with
Hypothesis for every submission, which is what a course that writes properties does with them. Otter is called by
its API, several submissions in one process, which is quicker than `otter run`; nbgrader grades all submissions with
one command. "Verdicts" are what the others give, too; `grade` also proves what can be proved and counts operations.
"""

READING = """
**How to read it.** The floor is the student's code and the checks' own work, without any wall: nobody who calls the
functions as often can be much quicker. On the whole syllabus half of our time is the student's own code (a character
model, two neural bigrams and a transformer are trained; [profile](profile.md)). Every way has to run it, so the ratios
there are bounded by it: a grader that cost nothing at all would have no thirtyfold lead either. For the typical
assignment they are what isolation and drawing anew make of them. A student who arranges the formulas as the reference
does gets, to the last bit, the reference's results, and is judged quicker: the second table is one who does not.
"""

STARTING = """
## First feedback

What a student waits for, on a warm disk.

{table}
"""

GROWING = """
## As a class grows

The real command on copies of the examples, one small item, the start of the command not counted in "judging".
[Where the time goes](profile.md) has a page of its own; [growth](growth.md) goes on from here to 100,000 submissions
on many machines.

![Cost of a submission against the size of the class, the inputs of a check, and the number of judges]({picture})

{table}
"""
