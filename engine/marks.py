"""A person's marks for what waits for one: read from a file, kept in the gradebook, laid over the machine's results.

A mark belongs to one submission as it was handed in; another version of it waits anew. What the machine has judged is
never changed by a mark, however late it comes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path

from engine.records import (
    SEVERITY,
    CheckResult,
    ItemResult,
    Outcome,
    Status,
    SubmissionResult,
    UsageError,
)  # fmt: skip

COLUMNS = ("submission", "item", "score", "comment")
LONGEST_COMMENT = 2_000


@dataclass(frozen=True, slots=True)
class Mark:
    """What a person gave for the part of an item that waited for one."""

    submission: str
    item: str
    score: Fraction
    comment: str = ""


def read_marks(path: Path) -> Iterator[Mark | str]:
    """Read a file of marks; a row that cannot be used is given as a sentence in its place."""
    try:
        with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
            rows = csv.DictReader(file)
            missing = [name for name in COLUMNS[:3] if name not in (rows.fieldnames or ())]
            if missing:
                raise UsageError(f"{path} has no column {missing[0]!r}; its first line is {', '.join(COLUMNS)}")
            for number, row in enumerate(rows, start=2):
                yield _mark(row, f"{path.name}, line {number}")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except csv.Error as error:
        raise UsageError(f"{path} is not a table of marks: {error}") from error


def _mark(row: Mapping[str, str | None], place: str) -> Mark | str:
    submission, item = ((row.get(name) or "").strip() for name in COLUMNS[:2])
    if not submission or not item:
        return f"{place}: a mark needs a submission and an item"
    try:
        score = Fraction((row.get("score") or "").strip())
    except (ValueError, ZeroDivisionError):
        return f"{place}: {row.get('score')!r} is not a number of points"
    return Mark(submission, item, score, (row.get("comment") or "").strip()[:LONGEST_COMMENT])


def refusal(mark: Mark, results: Mapping[str, SubmissionResult]) -> str:
    """Say why a mark cannot be taken, or nothing if it can."""
    result = results.get(mark.submission)
    if result is None:
        near = get_close_matches(mark.submission, results, n=1, cutoff=0.6)
        return f"there is no submission {mark.submission!r}" + (f"; did you mean {near[0]}?" if near else "")
    item = next((item for item in result.items if item.id == mark.item), None)
    if item is None:
        near = get_close_matches(mark.item, [item.id for item in result.items], n=1, cutoff=0.6)
        return f"{mark.submission}: there is no item {mark.item!r}" + (f"; did you mean {near[0]}?" if near else "")
    most = sum((check.max_score for check in item.checks if _waits(check)), Fraction(0))
    if not any(map(_waits, item.checks)):
        return f"{mark.submission}: {mark.item} does not wait for a person; its outcome is {item.outcome}"
    if not 0 <= mark.score <= most:
        return f"{mark.submission}: {mark.item} takes 0 to {float(most):g} points, not {float(mark.score):g}"
    return ""


def with_marks(result: SubmissionResult, marks: Mapping[str, Mark]) -> SubmissionResult:
    """Return the result with these marks, by item, laid over what waited for a person."""
    if not marks:
        return result
    items = tuple(_marked(item, marks[item.id]) if item.id in marks else item for item in result.items)
    scores = [item.score for item in items]
    known = [score for score in scores if score is not None]
    status = result.status
    if status is Status.WAITING and not any(item.outcome is Outcome.MANUAL for item in items):
        status = Status.GRADED
    total = sum(known, Fraction(0)) if len(known) == len(scores) else None
    return replace(result, items=items, score=total, status=status)


def _waits(check: CheckResult) -> bool:
    return check.verdict.outcome is Outcome.MANUAL


def _marked(item: ItemResult, mark: Mark) -> ItemResult:
    left = mark.score
    checks = []
    for check in item.checks:
        if _waits(check):
            earned = min(left, check.max_score)
            left -= earned
            outcome = Outcome.HELD if earned == check.max_score else Outcome.BROKEN
            message = mark.comment or "Marked by a person."
            checks.append(
                replace(check, score=earned, verdict=replace(check.verdict, outcome=outcome, message=message))
            )
        else:
            checks.append(check)
    scores = [check.score for check in checks]
    total = None if None in scores else sum((score for score in scores if score is not None), Fraction(0))
    worst = max((check.verdict.outcome for check in checks), key=SEVERITY.__getitem__)
    return replace(item, checks=tuple(checks), score=total, outcome=worst)
