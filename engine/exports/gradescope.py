"""Gradescope's results.json: a test per check, hidden ones shown when marks are published."""

from __future__ import annotations

from typing import Any

from engine.exports.record import Asked, Export, one_each, withheld
from engine.exports.seen import carrier, is_public, looks_like, title_of, told
from engine.feedback import NO_TEXT, remarks, visible
from engine.records import CheckResult, ItemResult, Outcome, Status, SubmissionResult

# Not "hidden": such tests are never shown, and Gradescope means them for tests without points.
VISIBILITY = {"public": "visible", "hidden": "after_published"}


def gradescope(asked: Asked) -> Export:
    """Return a results.json per submission. A withheld one has none: Gradescope knows no other way to give no score."""
    records = {
        result.id: None if result.status is Status.WITHHELD or result.score is None else _results(result, asked)
        for result in asked.results
    }
    return Export(one_each(records), withheld(asked.results))


def _results(result: SubmissionResult, asked: Asked) -> dict[str, Any]:
    assert result.score is not None, "a withheld score has no record"
    tests = [
        _test(check, item, f"{number}.{place}", asked)
        for number, item in enumerate(result.items, start=1)
        for place, check in enumerate(item.checks, start=1)
    ]
    return {
        "score": float(result.score),
        "output": _output(result),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {
            "submission": result.id,
            "status": result.status.value,
            "max_score": float(result.max_score),
            "rubric": asked.rubric,
            "seed": asked.seed,
        },
    }


def _output(result: SubmissionResult) -> str:
    lines = [*map(visible, remarks(result)), *(f"Problem: {visible(problem)}" for problem in result.problems)]
    if result.status is Status.WAITING:
        lines.append("Some answers wait for a person: they are not part of this score yet.")
    if any(not is_public(check) for item in result.items for check in item.checks):
        lines.append("More is checked than is shown here; the rest is shown when marks are published.")
    return "\n".join(lines)


def _test(check: CheckResult, item: ItemResult, number: str, asked: Asked) -> dict[str, Any]:
    outcome = check.verdict.outcome
    test: dict[str, Any] = {"name": title_of(check), "number": number}
    if outcome is not Outcome.MANUAL and check.score is not None:  # what waits for a person is not a zero
        test |= {"score": float(check.score), "max_score": float(check.max_score)}
        test["status"] = "passed" if outcome is Outcome.HELD else "failed"
    name = looks_like(item) if check is carrier(item) else ""
    said = told(check, asked.texts.get(check.verdict.check, NO_TEXT))
    return test | {
        "output": "\n\n".join(filter(None, [said, name])),
        "tags": [item.id],
        "visibility": VISIBILITY["public" if is_public(check) else "hidden"],
        "extra_data": {"outcome": outcome.value, "proved": check.verdict.proved},
    }
