"""The class at a glance: scores, hardest items, named mistakes, and the map of items and submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from statistics import quantiles

from jinja2 import Template
from markupsafe import Markup

from engine.records import ItemResult, Outcome, Status, SubmissionResult
from engine.report.environment import LETTERS, environment

HARDEST = 10
MISTAKES = 15  # shown at once; the others unfold
BINS = 10
NOT_ASKED = "·"


@dataclass(frozen=True, slots=True)
class Column:
    """One item of the map; `starts` marks the first of its group."""

    id: str
    group: str
    name: str
    starts: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What the overview needs of one submission: without its items, of which a letter each is kept."""

    result: SubmissionResult
    items: tuple[str, ...]
    letters: str
    diagnoses: frozenset[str]


@dataclass(frozen=True, slots=True)
class Row:
    """One submission of the map: a letter per column, and the numbers of its mistakes."""

    href: str
    result: SubmissionResult
    percent: str
    cells: Markup
    mistakes: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """One diagnosis, where it was made and by whom."""

    name: str
    items: tuple[str, ...]
    submissions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hard:
    """One item, the share of its points that the class got, and how many hold it."""

    id: str
    percent: int
    held: int
    judged: int


@dataclass(frozen=True, slots=True)
class Bin:
    """How many scores lie between two shares of the points; heights are in percent of the fullest bin."""

    label: str
    count: int
    height: int
    final: int  # the height of those that are final


@dataclass(slots=True)
class Tally:
    """What became of one item in the whole class, judged results only."""

    got: Fraction = Fraction(0)
    of: Fraction = Fraction(0)
    held: int = 0
    judged: int = 0


class Overview:
    """Everything an overview tells, gathered submission by submission; a few hundred bytes are kept of each."""

    def __init__(self) -> None:
        self._seen: list[Seen] = []
        self._kinds: dict[str, str] = {}  # of every item, in the order in which they first appear
        self._ids: dict[tuple[str, ...], tuple[str, ...]] = {}  # so that a class of one rubric has its ids once
        self._made: dict[str, tuple[dict[str, None], dict[str, None]]] = {}  # by whom and where, by diagnosis
        self._tallies: dict[str, Tally] = {}

    def add(self, result: SubmissionResult) -> None:
        """Take in one more submission."""
        ids = tuple(item.id for item in result.items)
        for item in result.items:
            self._kinds[item.id] = item.kind
            self._count(item)
            if item.diagnosis:
                who, where = self._made.setdefault(item.diagnosis, ({}, {}))
                who[result.id] = None
                where[item.id] = None
        self._seen.append(
            Seen(
                result=replace(result, items=(), problems=(), output="", adjustments=()),
                items=self._ids.setdefault(ids, ids),
                letters="".join(LETTERS[item.outcome] for item in result.items),
                diagnoses=frozenset(item.diagnosis for item in result.items if item.diagnosis),
            )
        )

    def _count(self, item: ItemResult) -> None:
        if item.score is not None and item.max_score and item.outcome is not Outcome.MANUAL:
            tally = self._tallies.setdefault(item.id, Tally())
            tally.got += item.score
            tally.of += item.max_score
            tally.held += item.outcome is Outcome.HELD
            tally.judged += 1

    def pieces(self, *, rubric: str, seed: int, title: str, href: Callable[[str], str]) -> Iterator[str]:
        """Yield the overview of a class; `href` is where the page of a submission is."""
        columns = self._columns()
        mistakes = self._mistakes()
        numbers = {mistake.name: number for number, mistake in enumerate(mistakes)}
        results = [seen.result for seen in self._seen]
        final = _shares(result for result in results if result.status is Status.GRADED)
        shares = _shares(results)
        yield from _template().generate(
            title=title,
            rubric=rubric,
            seed=seed,
            columns=columns,
            groups=Counter(column.group for column in columns),
            rows=(_row(seen, columns, numbers, href(seen.result.id)) for seen in self._seen),
            submissions=len(results),
            withheld=[result.id for result in results if result.status is Status.WITHHELD],
            waiting=[result.id for result in results if result.status is Status.WAITING],
            counts=Counter(result.status.value for result in results),
            late=sum(result.late for result in results),
            href=href,
            bins=_bins(shares, final),
            scored=len(shares),
            open=len(shares) - len(final),
            middle=_middle(shares),
            mistakes=mistakes,
            mistakes_shown=MISTAKES,
            hardest=self._hardest(),
        )
        yield "\n"

    def _columns(self) -> list[Column]:
        groups: dict[str, list[str]] = {}
        for name, kind in self._kinds.items():
            groups.setdefault(group_of(name, kind), []).append(name)
        return [
            Column(id=name, group=group, name=name.removeprefix(f"{group}."), starts=number == 0)
            for group, several in groups.items()
            for number, name in enumerate(several)
        ]

    def _mistakes(self) -> list[Mistake]:
        mistakes = [
            Mistake(name=name, items=tuple(where), submissions=tuple(who)) for name, (who, where) in self._made.items()
        ]
        return sorted(mistakes, key=lambda mistake: (-len(mistake.submissions), mistake.name))

    def _hardest(self) -> list[Hard]:
        """Return the items on which the class lost the largest share of the points."""
        lost = sorted((tally.got / tally.of, name) for name, tally in self._tallies.items() if tally.got < tally.of)
        # Rounded down: an item that somebody lost points on never shows as 100 %.
        return [
            Hard(id=name, percent=int(100 * share), held=self._tallies[name].held, judged=self._tallies[name].judged)
            for share, name in lost[:HARDEST]
        ]


@cache
def _template() -> Template:
    return environment().get_template("overview.html")


def group_of(name: str, kind: str) -> str:
    """Return the module of an item; written answers are together."""
    return name.rpartition(".")[0] if kind == "code" else "answers"


def grouped(items: Iterable[ItemResult]) -> list[tuple[str, list[ItemResult]]]:
    """Return items by module, the written answers together; groups in the order in which they first appear."""
    groups: dict[str, list[ItemResult]] = {}
    for item in items:
        groups.setdefault(group_of(item.id, item.kind), []).append(item)
    return list(groups.items())


def _row(seen: Seen, columns: Sequence[Column], numbers: Mapping[str, int], href: str) -> Row:
    found = dict(zip(seen.items, seen.letters, strict=True))
    share = _share(seen.result)
    return Row(
        href=href,
        result=seen.result,
        percent="–" if share is None else str(int(100 * share)),
        cells=_cells([found.get(column.id, NOT_ASKED) for column in columns], columns),
        mistakes=" ".join(map(str, sorted(numbers[name] for name in seen.diagnoses))),
    )


def _cells(letters: Sequence[str], columns: Sequence[Column]) -> Markup:
    """Return the cells of a row: a class of five hundred has fifty thousand, so each is a letter and a class."""
    cells = (
        f'<td class="{letter.lower()}{" starts" if column.starts else ""}">{letter}</td>'
        for letter, column in zip(letters, columns, strict=True)
    )
    return Markup("".join(cells))  # noqa: S704 - our own letters


def _share(result: SubmissionResult) -> Fraction | None:
    return None if result.score is None or not result.max_score else result.score / result.max_score


def _shares(results: Iterable[SubmissionResult]) -> list[Fraction]:
    """Return the shares of the points, lowest first, of those that have a score."""
    return sorted(share for share in map(_share, results) if share is not None)


def _bins(shares: Sequence[Fraction], final: Sequence[Fraction]) -> list[Bin]:
    # The last one holds full marks and what a bonus adds to them.
    every, closed = (Counter(max(0, min(BINS - 1, int(share * BINS))) for share in each) for each in (shares, final))
    fullest = max(every.values(), default=1)
    width = 100 // BINS
    return [
        Bin(
            label=f"{width * n} to {width * (n + 1)} %",
            count=every[n],
            height=100 * every[n] // fullest,
            final=100 * closed[n] // fullest,
        )
        for n in range(BINS)
    ]


def _middle(shares: Sequence[Fraction]) -> tuple[int, int, int] | None:
    """Return the quartiles in percent; None where there are no scores."""
    if not shares:
        return None
    first, middle, third = quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else [shares[0]] * 3
    return round(100 * first), round(100 * middle), round(100 * third)
