"""PrairieLearn's results.json for an external grader. Students see it at once, so hidden checks are folded into one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from engine.exports.record import Asked, Export, as_json, one_each, unfinished
from engine.exports.seen import carrier, for_students, looks_like, title_of, told
from engine.feedback import NO_TEXT, points, remarks, visible
from engine.records import CheckResult, ItemResult, Outcome, SubmissionResult

LARGEST = 1_000_000  # bytes
LONGEST_OUTPUTS = (10_000, 2_000, 500, 100, 0)  # characters per test, tried until the file is small enough


def prairielearn(asked: Asked) -> Export:
    """Return a results.json per submission; one without a final score is not gradable, which costs no attempt."""
    left_out = [f"{result.id}: {why}" for result in asked.results if (why := _no_score(result))]
    return Export(one_each({result.id: _bounded(result, asked) for result in asked.results}), left_out)


def _no_score(result: SubmissionResult) -> str:
    return unfinished(result) or ("" if result.max_score > 0 else "there are no points to be had")


def _bounded(result: SubmissionResult, asked: Asked) -> dict[str, Any]:
    why = _no_score(result)
    if why:
        return {"gradable": False, "format_errors": [f"{why[0].upper()}{why[1:]}."]}
    if result.problems and all(item.outcome is Outcome.MISSING for item in result.items):
        return {"gradable": False, "format_errors": [visible(problem) for problem in result.problems]}
    return next(
        record
        for longest in LONGEST_OUTPUTS
        if len(as_json(record := _results(for_students(result), asked, longest)).encode()) <= LARGEST or not longest
    )


def _results(result: SubmissionResult, asked: Asked, longest: int) -> dict[str, Any]:
    assert result.score is not None, "a withheld score is not gradable"
    share = result.score / result.max_score
    return {
        "gradable": True,
        "score": float(min(max(share, Fraction(0)), Fraction(1))),  # whatever a bonus or a penalty made of it
        "message": points(result.score, result.max_score),
        "output": "\n".join(
            [*map(visible, remarks(result)), *(f"Problem: {visible(problem)}" for problem in result.problems)]
        )[: LONGEST_OUTPUTS[0]],
        "tests": [_test(check, item, asked, longest) for item in result.items for check in item.checks],
    }


def _test(check: CheckResult, item: ItemResult, asked: Asked, longest: int) -> dict[str, Any]:
    assert check.score is not None, "a withheld score is not gradable"
    text = asked.texts.get(check.verdict.check, NO_TEXT)
    said = told(check, text)
    return {
        "name": title_of(check),
        "description": text.claim,
        "points": float(check.score),
        "max_points": float(check.max_score),
        "message": looks_like(item) if check is carrier(item) else "",
        "output": said if len(said) <= longest else f"{said[:longest]} …",
    }
