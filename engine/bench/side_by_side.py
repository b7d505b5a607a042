"""Every way to grade, on the same submissions by the same checks, taking turns in one run.

The machine may be shared and noisy, so what counts are the ratios, taken round by round, with their spread.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from engine.bench.isolation import Floor, Isolated
from engine.bench.peers import DRAWN, TYPICAL, Graded, NotInstalled, Peer, disagreements, laid_over, peers, whole
from engine.records import GraderFault
from engine.verify import EXAMPLES, FOUNDATION

ROUNDS = 5
OURS = 3  # ways that stay warm between submissions, and come first
RIGHT = 4  # submissions in a round of the typical assignment: peers that grade several at once start only once
MODULE = "attention.py"
PLAIN = Path(__file__).resolve().parent / "plain_attention.txt"  # a right submission as most would write it
MISTAKES = ("attention_without_scale", "softmax_over_the_wrong_axis")  # in NumPy: peers hand nobody tensors


@dataclass(frozen=True, slots=True)
class Assignment:
    """What every way grades: right submissions are measured, wrong ones must be refused for the same checks."""

    title: str
    checks: Sequence[str]
    right: Sequence[Path]
    wrong: Sequence[Path]
    with_peers: bool = True


@dataclass(frozen=True, slots=True)
class Measured:
    """One way to grade, round by round: seconds for one submission."""

    name: str
    version: str
    seconds: tuple[float, ...]
    core_seconds: tuple[float, ...]
    peak_memory_mib: float

    def times(self, other: Measured) -> tuple[float, float, float]:
        """Return how many times the other's seconds this one takes: the median of the rounds, the least, the most."""
        ratios = [mine / theirs for mine, theirs in zip(self.seconds, other.seconds, strict=True)]
        return statistics.median(ratios), min(ratios), max(ratios)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All ways on one assignment; the first is ours."""

    title: str
    ways: tuple[Measured, ...]
    absent: tuple[str, ...]  # peers that could not be installed, and why


def compared(place: Path, rounds: int = ROUNDS, told: Callable[[str], None] = lambda _: None) -> list[Comparison]:
    """Measure a typical assignment and the whole syllabus; environments of peers are kept in `place`."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        plain = [_alone(PLAIN, folder / f"plain-{number}") for number in range(RIGHT)]
        other = [_alone(EXAMPLES / FOUNDATION / MODULE, folder / f"other-{number}") for number in range(RIGHT)]
        for mistake in MISTAKES:
            (folder / mistake).mkdir()
        wrong = [
            _alone(laid_over(mistake, folder / mistake) / MODULE, folder / f"only-{mistake}") for mistake in MISTAKES
        ]
        everything = whole()
        assignments = [
            Assignment(f"{len(TYPICAL)} properties of attention, {DRAWN} examples each", TYPICAL, plain, wrong),
            Assignment("The same, by a student who arranges the formulas otherwise", TYPICAL, other, wrong, False),
            Assignment(f"The whole syllabus, {len(everything)} properties", everything, [EXAMPLES / FOUNDATION], []),
        ]
        return [_comparison(each, place, rounds, told) for each in assignments]


def report(comparisons: Sequence[Comparison]) -> str:
    """Return the figures as people read them."""
    return "\n\n".join(f"{each.title}\n{_table(each)}" for each in comparisons)


def _table(comparison: Comparison) -> str:
    ours, *_ = comparison.ways
    lines = [f"{'':<32} {'seconds':>8} {'spread of rounds':>18} {'core s':>8} {'MiB':>6}   times ours (least to most)"]
    for way in comparison.ways:
        middle, least, most = way.times(ours)
        spread = f"{min(way.seconds):.2f} to {max(way.seconds):.2f}"
        lines.append(
            f"{way.name:<32} {statistics.median(way.seconds):>8.2f} {spread:>18}"
            f" {statistics.median(way.core_seconds):>8.2f} {way.peak_memory_mib:>6.0f}"
            f"   {middle:.2f} ({least:.2f} to {most:.2f})"
        )
    return "\n".join([*lines, *comparison.absent])


def _alone(file: Path, folder: Path) -> Path:
    """Make a submission of one file: whoever grades one function should not have to import all of a course."""
    folder.mkdir()
    (folder / MODULE).write_bytes(file.read_bytes())
    return folder


def _comparison(assignment: Assignment, place: Path, rounds: int, told: Callable[[str], None]) -> Comparison:
    told(assignment.title)
    tried: dict[str, Graded] = {}
    with _prepared(assignment, place, told) as (ways, absent):
        for way in ways if assignment.wrong else ways[:OURS]:  # once, so that all are warm; a peer starts anew anyway
            told(f"warming {way.name}")
            tried[way.name] = way.grade([assignment.right[0], *assignment.wrong])
        _require_equal_strength(tried, assignment)
        taken: list[dict[str, Graded]] = []
        for number in range(rounds):
            taken.append({way.name: way.grade(assignment.right) for way in ways})
            seconds = ", ".join(f"{name} {graded.seconds:.2f} s" for name, graded in taken[-1].items())
            told(f"round {number + 1} of {rounds}: {seconds}")
            _require_equal_strength(taken[-1], replace(assignment, wrong=()))
        measured = [
            Measured(
                way.name,
                way.version,
                tuple(each[way.name].seconds for each in taken),
                tuple(each[way.name].core_seconds for each in taken),
                max(each[way.name].peak_memory_mib for each in taken),
            )
            for way in ways
        ]
    return Comparison(assignment.title, tuple(measured), tuple(absent))


@contextmanager
def _prepared(
    assignment: Assignment, place: Path, told: Callable[[str], None]
) -> Iterator[tuple[list[Peer], list[str]]]:
    """Make every way ready for an assignment; a peer that cannot be installed is told, not left out silently."""
    ours = [Isolated(closer=False), Isolated(closer=True)]
    ways: list[Peer] = []
    absent = []
    try:
        every: list[Peer] = [*ours, Floor(), *(peers(place) if assignment.with_peers else ())]
        for way in every:
            told(f"preparing {way.name}")
            try:
                way.prepare(assignment.checks, DRAWN)
                ways.append(way)
            except NotInstalled as why:
                absent.append(f"{way.name} is absent: {why}")
        yield ways, absent
    finally:
        for each in ours:
            each.close()


def _require_equal_strength(said: Mapping[str, Graded], assignment: Assignment) -> None:
    """Refuse to compare ways that do not say the same of the same submissions."""
    different = disagreements(said)
    if different:
        raise GraderFault(f"the ways differ, so there is nothing to compare: {'; '.join(different)}")
    failed = next(iter(said.values())).failed
    if failed[assignment.right[0].name] or not all(failed[each.name] for each in assignment.wrong):
        raise GraderFault("a right submission was refused, or a wrong one accepted")
