"""docs/growth.md: what was measured on classes of growing size, and what a simulation makes of it for larger ones."""

from __future__ import annotations

import os
import random
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.bench.costs import sleeping, small_item, whole_syllabus
from engine.bench.growth import ITEM, Asked, Grown, grown, measured
from engine.bench.markdown import table, table_of_growth
from engine.bench.simulation import Cluster, Costs, Simulated, scenarios, simulate
from engine.records import UsageError

CHECKED = 1_000  # submissions in the runs a simulation is held against
GIGABYTE = 1e9
WIDTH = 120


@dataclass(frozen=True, slots=True)
class Held:
    """A real run beside its simulation."""

    what: str
    seconds: float  # from the first judge's start to the last result kept
    simulated: float

    @property
    def error(self) -> float:
        """How far the simulation is off, as a share of the truth."""
        return self.simulated / self.seconds - 1


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything the page says."""

    runs: tuple[Grown, ...]
    costs: Costs
    held: tuple[Held, ...]
    simulated: tuple[Simulated, ...]


def figures() -> Figures:
    """Measure, hold the simulation against real runs, and simulate."""
    runs = grown()
    costs = whole_syllabus()
    return Figures(tuple(runs), costs, tuple(held_against_runs(costs)), tuple(scenarios(costs)))


def held_against_runs(costs: Costs, count: int = CHECKED) -> list[Held]:
    """Grade a class with one judge, simulate it with as many as there are cores, and grade it so."""
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="held-") as folder:
        one, many = (measured(Asked(count, jobs=jobs), Path(folder)) for jobs in (1, cores))
    return [compared(one, many, costs), beside_dask(costs)]


def beside_dask(costs: Costs, count: int = 200, judges: int = 3) -> Held:
    """Simulate workers of Dask's that sleep, and let them: what is handed out, kept and waited for is real."""
    drawn = random.Random(0)  # noqa: S311 - nothing secret
    naps = [drawn.uniform(0.1, 0.5) for _ in range(count)]
    with tempfile.TemporaryDirectory(prefix="dask-") as folder:
        seconds = sleeping(naps, judges, costs.gradebook, Path(folder))
    alike = replace(costs, judging=tuple(naps), drawing=0.0, starting=0.0, lost=0.0)
    what = f"{count} naps of 0.1 s to 0.5 s, {judges} workers of Dask's"
    return Held(what, seconds, simulate(alike, count, Cluster(machines=1, cores=judges)).judged)


def compared(one: Grown, many: Grown, costs: Costs) -> Held:
    """Simulate a run of several judges from a run of one, and lay it beside the real one."""
    local = Cluster(machines=1, cores=many.asked.jobs, is_local=True)
    told = simulate(small_item(one, costs), many.asked.submissions, local)
    begun = many.each[0] - sum(one.each[1:]) / len(one.each[1:])  # forking the judges, which a simulation leaves out
    what = f"{many.asked.submissions} submissions, one small item, {many.asked.jobs} judges"
    return Held(what, many.judging - max(0.0, begun), told.judged)


# ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────────


def page(figures: Figures) -> str:
    """Return docs/growth.md."""
    parts = (
        "# Growth",
        _text(
            "What grading costs as a class grows, and what it would cost at a hundred thousand.",
            "All of this page is written from what was measured and simulated;",
            "`engine/bench/growth.py`, `costs.py` and `simulation.py` say how.",
        ),
        *_measured(figures.runs),
        *_costs(figures.costs),
        *_simulated(figures),
        *_limits(figures),
    )
    return "\n\n".join(parts) + "\n"


def write(figures: Figures, folder: Path) -> None:
    """Write docs/growth.md."""
    try:
        (folder / "growth.md").write_text(page(figures), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from None


def _text(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), WIDTH, break_long_words=False, break_on_hyphens=False)


def _list(*points: Sequence[str]) -> str:
    wrapped = (
        textwrap.fill(" ".join(each), WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
        for each in points
    )
    return "\n".join(wrapped)


def _measured(runs: Sequence[Grown]) -> list[str]:
    return [
        "## Measured: one small item",
        _text(
            f"The real command, `--only {ITEM}`, on copies of the examples, no two alike.",
            "Milliseconds are of the clock, for each submission; memory is the most there was at any moment,",
            "in the command's own process and in all of them (what they share counted once).",
        ),
        table_of_growth(runs),
        _text(
            "Sources wait on disk until they are judged, each result is in the gradebook before the next is begun,",
            "and all outputs are made from there in one pass: of each submission some kilobytes stay in memory,",
            "its rows of the table and of the overview. In a small class the start of the command weighs more.",
        ),
    ]


def _costs(costs: Costs) -> list[str]:
    rows = [
        ("judging one submission, mean", f"{costs.mean:.2f} s"),
        ("the quickest and the slowest", f"{min(costs.judging):.2f} s, {max(costs.judging):.2f} s"),
        ("taking one in", f"{1000 * costs.taking_in:.1f} ms"),
        ("drawing the inputs, once a machine", f"{costs.drawing:.1f} s"),
        ("starting one judge", f"{costs.starting:.1f} s"),
        ("handing out one task (Dask)", f"{1000 * costs.handing_out:.1f} ms"),
        ("keeping one result", f"{1000 * costs.keeping:.1f} ms"),
        ("writing the outputs of one", f"{1000 * costs.writing:.0f} ms"),
        ("its part of the gradebook", f"{costs.gradebook / 1000:.0f} KB"),
        ("its outputs", f"{costs.outputs / 1000:.0f} KB"),
    ]
    return ["## Measured: the whole syllabus, one submission", table(("what", "takes"), rows)]


def _simulated(figures: Figures) -> list[str]:
    costs = figures.costs
    rows = [
        (
            f"{each.submissions:,}",
            str(each.cluster.machines),
            f"{each.seconds / 3600:.2f}",
            f"{each.judged / 3600:.2f}",
            f"{each.core_hours:,.0f}",
            f"{each.busy:.0%}",
            f"{each.scheduler:.0%}",
            f"{each.gradebook:.0%}",
            each.bottleneck,
        )
        for each in figures.simulated
    ]
    counts = dict.fromkeys(each.submissions for each in figures.simulated)
    disk = [
        (f"{count:,}", f"{count * costs.gradebook / GIGABYTE:.1f}", f"{count * costs.outputs / GIGABYTE:.1f}")
        for count in counts
    ]
    held = [
        (each.what, f"{each.seconds:.1f} s", f"{each.simulated:.1f} s", f"{each.error:+.0%}") for each in figures.held
    ]
    head = (
        "submissions", "machines", "hours", "of them judging", "core hours", "judges busy", "scheduler", "gradebook",
        "it waits for",
    )  # fmt: skip
    return [
        "## Simulated: the whole syllabus on many machines",
        _text(
            f"Machines of {figures.simulated[0].cluster.cores} cores as fast as the one that was measured,",
            "one judge a core, `grade --cluster` ([many machines](clusters.md)).",
            "Judging times are drawn from the measured sample;",
            f"a judge is lost {costs.lost:g} times an hour, and its submission judged again by another.",
            "The shares are of the time of judging: how long each is busy.",
        ),
        table(head, rows),
        "Disk, in GB:",
        table(("submissions", "gradebook", "results.json and report"), disk),
        "The simulation beside real runs, the time in which judges are at work:",
        table(("run", "real", "simulated", "error"), held),
    ]


def _limits(figures: Figures) -> list[str]:
    costs = figures.costs
    serial = costs.taking_in + costs.writing
    largest = max(figures.simulated, key=lambda each: (each.submissions, each.cluster.machines))
    without = simulate(replace(costs, lost=0.0), largest.submissions, largest.cluster)
    return [
        "## Where it stops scaling",
        _list(
            (
                f"One command takes {1000 * serial:.0f} ms for each submission before and after the judging,",
                "nearly all of it for the report.",
                f"With more than {costs.mean / serial:.0f} judges that is the larger part.",
            ),
            (
                f"The gradebook keeps a result in {1000 * costs.keeping:.1f} ms,",
                f"the scheduler hands out a task in {1000 * costs.handing_out:.1f} ms:",
                f"they keep up with {costs.mean / costs.keeping:,.0f}",
                f"and {costs.mean / costs.handing_out:,.0f} judges.",
            ),
            (
                f"Judges that are lost cost {max(0.0, largest.judged / without.judged - 1):.1%} of the time",
                f"with {largest.submissions:,} submissions on {largest.cluster.machines} machines.",
            ),
            (
                "Opening a gradebook reads all of it, to find damage:",
                "seconds at 5,000 submissions, minutes at 100,000.",
            ),
            (
                "The overview has a row for each submission, about 3 KB:",
                "with tens of thousands a browser is slow to open it.",
            ),
        ),
        _text(
            "What to do: grade each assignment, or each group of some thousands, into a folder of its own (`--out`).",
            "Several commands on one scheduler share its judges; each has its own gradebook and report,",
            "and what one command does alone is divided by their number.",
        ),
    ]
