"""What the pages of the benchmark are written with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.bench.growth import Grown

GROWN = ("submissions", "judges", "inputs a check", "ms judging", "ms writing", "MiB, command", "MiB, all processes")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; all columns but the first are numbers.

    >>> print(table(["way", "seconds"], [["ours", "0.1"]]))
    | way | seconds |
    | --- | ---: |
    | ours | 0.1 |
    """
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def table_of_growth(runs: Iterable[Grown]) -> str:
    """Return what classes took."""
    rows = [
        (
            f"{run.asked.submissions:,}",
            str(run.asked.jobs),
            str(run.asked.examples),
            f"{1000 * run.judging / run.asked.submissions:.0f}",
            f"{1000 * run.writing / run.asked.submissions:.0f}",
            f"{run.main:.0f}",
            f"{run.tree:.0f}",
        )
        for run in runs
    ]
    return table(GROWN, rows)
