"""The page: one HTML file with its style inside, no scripts and no network, the same bytes for the same results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from engine import feedback
from engine.records import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.records import CheckResult, CheckText, ItemResult, SubmissionResult

PRINTED_LINES = 100
MESSAGE_LINES = 60
HARDEST = 10

# One letter each, so that the overview can be read without its colours.
LETTERS = {
    Outcome.HELD: "H",
    Outcome.BROKEN: "B",
    Outcome.RAISED: "R",
    Outcome.TIMED_OUT: "T",
    Outcome.MISSING: "M",
    Outcome.BLOCKED: "K",
    Outcome.MANUAL: "W",
    Outcome.UNJUDGED: "U",
}

STATUS_WORDS = {
    Status.GRADED: "graded",
    Status.WITHHELD: "withheld until staff look at it",
    Status.WAITING: "waits for a person",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One item of the overview; `starts` marks the first of its group."""

    id: str
    group: str
    name: str
    starts: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One submission of the overview, with a cell per column; `None` where it was not asked."""

    anchor: str
    result: SubmissionResult
    cells: tuple[ItemResult | None, ...]
    tally: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """One diagnosis, where it was made and by how many submissions."""

    name: str
    items: tuple[str, ...]
    submissions: int


@dataclass(frozen=True, slots=True)
class Hard:
    """One item, the share of its points that the class got, and how many hold it."""

    id: str
    percent: int
    held: int
    judged: int


def render(  # noqa: PLR0913 - everything the page says is handed in by name
    results: Iterable[SubmissionResult],
    *,
    rubric: str,
    seed: int,
    texts: Mapping[str, CheckText],
    title: str,
    behind: Mapping[str, Iterable[tuple[str, str]]],
) -> str:
    """Return the page for a class, submissions in the order of their ids; `behind` are the proofs of each item."""
    ordered = sorted(results, key=lambda result: result.id)
    columns = _columns(ordered)
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=title,
            rubric=rubric,
            seed=seed,
            texts=texts,
            behind=behind,
            columns=columns,
            groups=[(group, len(list(same))) for group, same in groupby(columns, key=lambda column: column.group)],
            rows=[_row(number, result, columns) for number, result in enumerate(ordered, start=1)],
            statuses=_statuses(ordered),
            median=_median(ordered),
            mistakes=_mistakes(ordered),
            hardest=_hardest(ordered),
            letters=LETTERS,
        )
        + "\n"
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    environment.globals.update(
        bounded=lambda text, lines: "\n".join(feedback.bounded(text, lines=lines)),
        check_words=feedback.check_words,
        evidence=lambda example: "\n".join(feedback.evidence(example)),
        hinted=feedback.HINTED,
        item_words=feedback.item_words,
        message=_message,
        message_lines=MESSAGE_LINES,
        no_text=feedback.NO_TEXT,
        number=feedback.number,
        points=feedback.points,
        printed_lines=PRINTED_LINES,
        shared_message=_shared_message,
        status_words=STATUS_WORDS,
        words=feedback.WORDS,
    )
    return environment


def _finalized(value: Any) -> Any:
    """Make every string of the page visible, in one place that no expression of the template can forget."""
    if isinstance(value, str) and not isinstance(value, Markup):  # markup is a macro's, and came this way before
        return feedback.visible(value)
    return value


def _columns(ordered: Sequence[SubmissionResult]) -> list[Column]:
    kinds: dict[str, str] = {}
    for result in ordered:
        for item in result.items:
            kinds.setdefault(item.id, item.kind)
    columns: list[Column] = []
    for item_id, kind in kinds.items():
        # Code is grouped by module; the bare id of an answer by the table it came from.
        group, _, name = item_id.rpartition(".") if kind == "code" else (kind, "", item_id)
        starts = not columns or columns[-1].group != group
        columns.append(Column(id=item_id, group=group, name=name, starts=starts))
    return columns


def _row(number: int, result: SubmissionResult, columns: Sequence[Column]) -> Row:
    items = {item.id: item for item in result.items}
    counts = Counter(item.outcome for item in result.items)
    tally = ", ".join(f"{counts[outcome]} {feedback.WORDS[outcome]}" for outcome in LETTERS if counts[outcome])
    cells = tuple(items.get(column.id) for column in columns)
    return Row(anchor=f"submission-{number}", result=result, cells=cells, tally=tally)


def _statuses(ordered: Sequence[SubmissionResult]) -> str:
    counts = Counter(result.status for result in ordered)
    return ", ".join(f"{counts[status]} {status.value}" for status in Status if counts[status])


def _median(ordered: Sequence[SubmissionResult]) -> str:
    """Return the middle share of the points; a score that is not final is no part of it."""
    shares = [
        result.score / result.max_score
        for result in ordered
        if result.status is Status.GRADED and result.score is not None and result.max_score
    ]
    return f"{round(100 * median(shares))} %" if shares else "–"


def _mistakes(ordered: Sequence[SubmissionResult]) -> list[Mistake]:
    made: dict[str, tuple[set[str], dict[str, None]]] = {}
    for result in ordered:
        for item in result.items:
            if item.diagnosis:
                who, where = made.setdefault(item.diagnosis, (set(), {}))
                who.add(result.id)
                where[item.id] = None
    mistakes = [Mistake(name=name, items=tuple(where), submissions=len(who)) for name, (who, where) in made.items()]
    return sorted(mistakes, key=lambda mistake: (-mistake.submissions, mistake.name))


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


def _message(check: CheckResult) -> str:
    """Return what is said about a check; staff read this page, so our own failure is shown whole."""
    said = feedback.check_message(check)
    if check.verdict.outcome is Outcome.UNJUDGED and check.verdict.message:
        return f"{said}\n{check.verdict.message}"
    return said


def _shared_message(item: ItemResult) -> str:
    """Return the one reason why no check of an item could hold, to be told once; empty if there are several."""
    reasons = {(check.verdict.outcome, _message(check)) for check in item.checks}
    alike = len(item.checks) > 1 and len(reasons) == 1 and not any(c.verdict.counterexample for c in item.checks)
    return _message(item.checks[0]) if alike and item.outcome is not Outcome.HELD else ""
