"""The class at a glance: scores, hardest items, named mistakes, and the map of items and submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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


def render(
    ordered: Sequence[SubmissionResult], *, rubric: str, seed: int, title: str, href: Callable[[str], str]
) -> str:
    """Return the overview of a class; `href` is where the page of a submission is."""
    columns = _columns(ordered)
    mistakes = _mistakes(ordered)
    numbers = {mistake.name: number for number, mistake in enumerate(mistakes)}
    final = _shares(result for result in ordered if result.status is Status.GRADED)
    shares = _shares(ordered)
    return (
        _template().render(
            title=title,
            rubric=rubric,
            seed=seed,
            columns=columns,
            groups=Counter(column.group for column in columns),
            rows=[_row(result, columns, numbers, href(result.id)) for result in ordered],
            counts=Counter(result.status.value for result in ordered),
            late=sum(result.late for result in ordered),
            href=href,
            bins=_bins(shares, final),
            scored=len(shares),
            open=len(shares) - len(final),
            middle=_middle(shares),
            mistakes=mistakes,
            mistakes_shown=MISTAKES,
            hardest=_hardest(ordered),
        )
        + "\n"
    )


@cache
def _template() -> Template:
    return environment().get_template("overview.html")


def _columns(ordered: Sequence[SubmissionResult]) -> list[Column]:
    items = {item.id: item for result in ordered for item in result.items}
    return [
        Column(id=item.id, group=group, name=item.id.removeprefix(f"{group}."), starts=number == 0)
        for group, several in grouped(items.values())
        for number, item in enumerate(several)
    ]


def grouped(items: Iterable[ItemResult]) -> list[tuple[str, list[ItemResult]]]:
    """Return items by module, the written answers together; groups in the order in which they first appear."""
    groups: dict[str, list[ItemResult]] = {}
    for item in items:
        group = item.id.rpartition(".")[0] if item.kind == "code" else "answers"
        groups.setdefault(group, []).append(item)
    return list(groups.items())


def _row(result: SubmissionResult, columns: Sequence[Column], numbers: Mapping[str, int], href: str) -> Row:
    found = {item.id: LETTERS[item.outcome] for item in result.items}
    share = _share(result)
    return Row(
        href=href,
        result=result,
        percent="–" if share is None else str(int(100 * share)),
        cells=_cells([found.get(column.id, NOT_ASKED) for column in columns], columns),
        mistakes=" ".join(sorted({str(numbers[item.diagnosis]) for item in result.items if item.diagnosis}, key=int)),
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


def _mistakes(ordered: Sequence[SubmissionResult]) -> list[Mistake]:
    made: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for result in ordered:
        for item in result.items:
            if item.diagnosis:
                who, where = made.setdefault(item.diagnosis, ({}, {}))
                who[result.id] = None
                where[item.id] = None
    mistakes = [Mistake(name=name, items=tuple(where), submissions=tuple(who)) for name, (who, where) in made.items()]
    return sorted(mistakes, key=lambda mistake: (-len(mistake.submissions), mistake.name))


def _hardest(ordered: Sequence[SubmissionResult]) -> list[Hard]:
    """Return the items on which the class lost the largest share of the points, judged results only."""
    judged: dict[str, list[ItemResult]] = {}
    for result in ordered:
        for item in result.items:
            if item.score is not None and item.max_score and item.outcome is not Outcome.MANUAL:
                judged.setdefault(item.id, []).append(item)
    shares = []
    for name, items in judged.items():
        got = sum((item.score or Fraction(0) for item in items), Fraction(0))
        share = got / sum((item.max_score for item in items), Fraction(0))
        if share < 1:
            held = sum(item.outcome is Outcome.HELD for item in items)
            # Rounded down: an item that somebody lost points on never shows as 100 %.
            shares.append((share, name, Hard(id=name, percent=int(100 * share), held=held, judged=len(items))))
    return [hard for _, _, hard in sorted(shares, key=lambda entry: entry[:2])[:HARDEST]]
