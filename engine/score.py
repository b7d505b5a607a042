"""Verdicts to points: exact fractions, nothing guessed, nothing of ours counted against a student."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from engine.records import (
    SEVERITY,
    CheckResult,
    Diagnosis,
    ItemResult,
    Outcome,
    Status,
    Submission,
    SubmissionResult,
    Verdict,
)  # fmt: skip
from engine.rubric import Item, Rubric


def score(
    submission: Submission, rubric: Rubric, verdicts: Sequence[Verdict], diagnoses: Mapping[str, Diagnosis], output: str
) -> SubmissionResult:
    """Give each verdict its points and add them up."""
    by_check = {verdict.check: verdict for verdict in verdicts}
    items = tuple(_item_result(item, by_check, diagnoses.get(item.id)) for item in rubric.items)
    total = _sum([item.score for item in items])
    outcomes = {item.outcome for item in items}
    status = Status.GRADED
    if Outcome.UNJUDGED in outcomes:
        status = Status.WITHHELD
    elif Outcome.MANUAL in outcomes:
        status = Status.WAITING
    return SubmissionResult(
        id=submission.id,
        status=status,
        score=total,
        max_score=sum((item.max_score for item in items), Fraction(0)),
        items=items,
        problems=submission.problems,
        students=submission.students,
        late=submission.late,
        handed_in=submission.handed_in,
        output=output,
    )


def _item_result(item: Item, verdicts: Mapping[str, Verdict], diagnosis: Diagnosis | None) -> ItemResult:
    checks = tuple(_check_result(verdicts[check.id], item) for check in item.checks)
    return ItemResult(
        id=item.id,
        kind=item.kind,
        outcome=max((result.verdict.outcome for result in checks), key=SEVERITY.__getitem__),
        score=_sum([result.score for result in checks]),
        max_score=item.points,
        checks=checks,
        diagnosis=diagnosis.name if diagnosis else "",
        explanation=diagnosis.why if diagnosis else "",
    )


def _check_result(verdict: Verdict, item: Item) -> CheckResult:
    worth = item.worth[verdict.check]
    part = verdict.share if worth.partial and verdict.outcome is Outcome.BROKEN else Fraction(0)
    earned: Fraction | None = worth.points * (1 if verdict.outcome is Outcome.HELD else part)
    if verdict.outcome is Outcome.UNJUDGED:
        earned = None
    return CheckResult(verdict, earned, worth.points, worth.visibility, worth.bonus)


def _sum(scores: Sequence[Fraction | None]) -> Fraction | None:
    """Add up; one withheld part withholds the whole."""
    total = Fraction(0)
    for part in scores:
        if part is None:
            return None
        total += part
    return total
