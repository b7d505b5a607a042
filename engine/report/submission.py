"""One submission's page: every item with what was claimed, what was found, and the lines it was found in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from engine import feedback
from engine.records import CheckResult, CheckText, Excerpt, ItemResult, Outcome, SubmissionResult
from engine.report.environment import LETTERS, environment
from engine.report.formula import KINDS, as_read
from engine.report.overview import grouped
from engine.report.plots import plot

PRINTED_LINES = 100
MESSAGE_LINES = 60


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The submission before or after this one."""

    id: str
    href: str


def render(
    result: SubmissionResult,
    *,
    texts: Mapping[str, CheckText],
    title: str,
    behind: Mapping[str, Iterable[tuple[str, str]]],
    neighbours: tuple[Neighbour | None, Neighbour | None],
) -> str:
    """Return the page of one submission; `behind` are the proofs of each item."""
    counts = Counter(item.outcome for item in result.items)
    return (
        _templates()
        .get_template("submission.html")
        .render(
            title=title,
            result=result,
            groups=grouped(result.items),
            tally=[(outcome, counts[outcome]) for outcome in LETTERS if counts[outcome]],
            texts=texts,
            behind=behind,
            before=neighbours[0],
            after=neighbours[1],
        )
        + "\n"
    )


@cache
def _templates() -> Environment:
    return environment(
        bounded=lambda text, lines: "\n".join(feedback.bounded(text, lines=lines)),
        check_points=feedback.check_points,
        check_words=feedback.check_words,
        entry=_entry,
        evidence=lambda example: "\n".join(feedback.evidence(example)),
        formulas=_formulas,
        hinted=feedback.HINTED,
        item_points=feedback.item_points,
        item_words=feedback.item_words,
        message=_message,
        message_lines=MESSAGE_LINES,
        no_text=feedback.NO_TEXT,
        numbers=_numbers,
        pictured_check=_pictured_check,
        plot=plot,
        printed_lines=PRINTED_LINES,
        quoted=lambda name: quote(feedback.visible(name)),
        remarks=feedback.remarks,
        shared_message=_shared_message,
        shows_answer=_shows_answer,
    )


@lru_cache(maxsize=4096)  # what holds for one holds for most of the class, word for word
def _entry(check: CheckResult, text: CheckText, told_before: bool, pictured: bool) -> Markup:
    """Return what is said about one check; `told_before`: its message is the whole item's."""
    module: Any = _templates().get_template("check.html").module
    return module.entry(check, text, told_before, pictured)  # type: ignore[no-any-return]


def _numbers(excerpt: Excerpt) -> str:
    """Return the numbers of the lines, one below the other."""
    count = excerpt.text.count("\n") + 1
    return "\n".join(map(str, range(excerpt.first, excerpt.first + count)))


def _pictured_check(item: ItemResult) -> CheckResult | None:
    """Return the first check with a picture: one is enough, the others would show the same mistake again."""
    found = (check for check in item.checks if check.verdict.counterexample and plot(check.verdict.counterexample))
    return next(found, None)


def _shows_answer(item: ItemResult) -> bool:
    """Return whether the answer is shown; free text that waits for a person is part of what that person is told."""
    return bool(item.written) and not (item.kind == "text" and item.outcome is Outcome.MANUAL)


def _formulas(item: ItemResult) -> list[tuple[str, Markup | None]]:
    """Return the lines of a written answer, each with how it was read."""
    if item.kind not in KINDS:
        return []
    (excerpt,) = item.written
    return [(line, as_read(item.id, number, line)) for number, line in enumerate(excerpt.text.split("\n"))]


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
