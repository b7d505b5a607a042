"""What students may see before marks are published: of hidden checks their number and points, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from engine.feedback import HINTED, check_feedback, check_message, check_words, one_line, visible
from engine.records import (
    SEVERITY,
    CheckResult,
    CheckText,
    ItemResult,
    Outcome,
    SubmissionResult,
    Verdict,
)  # fmt: skip

HIDDEN, HIDDEN_BONUS = "hidden_checks", "hidden_bonus_checks"  # stand for all hidden checks of an item


def for_students(result: SubmissionResult) -> SubmissionResult:
    """Return the result with the hidden checks of each item folded into one that tells nothing of them."""
    return replace(result, items=tuple(_folded_item(item) for item in result.items))


def is_public(check: CheckResult) -> bool:
    """Return whether students may see a check before marks are published."""
    return check.visibility == "public"


def title_of(check: CheckResult) -> str:
    """Return a check's name, with the word where it counts on top."""
    return f"{check.verdict.check} (bonus)" if check.bonus else check.verdict.check


def has_failed(check: CheckResult) -> bool:
    """Return whether code or an answer was tried and did not hold."""
    return check.verdict.outcome in HINTED


def told(check: CheckResult, text: CheckText) -> str:
    """Return what is said about one check below its name: the claim, what became of it, where to look."""
    if check.verdict.outcome is Outcome.HELD:
        return "\n\n".join(filter(None, [text.claim, f"{check_words(check)}.".capitalize(), check_message(check)]))
    _name_and_points, _, block = check_feedback(check, text).partition("\n")
    return block.strip("\n")


def looks_like(item: ItemResult) -> str:
    """Return the name of the mistake as a sentence, if it has one."""
    if not item.diagnosis:
        return ""
    return f"This looks like: {one_line(item.diagnosis).rstrip('.')}. {visible(item.explanation)}".rstrip()


def carrier(item: ItemResult) -> CheckResult | None:
    """Return the check that the name of the mistake is told with: a failed one, a public one if there is one."""
    return min(filter(has_failed, item.checks), key=lambda check: not is_public(check), default=None)


def _folded_item(item: ItemResult) -> ItemResult:
    public = [check for check in item.checks if is_public(check)]
    hidden = [check for check in item.checks if not is_public(check) and not check.bonus]
    bonus = [check for check in item.checks if not is_public(check) and check.bonus]
    folded = [_folded(f"{item.id}.{name}", some) for name, some in ((HIDDEN, hidden), (HIDDEN_BONUS, bonus)) if some]
    # A name that only a hidden check supports would tell what that check found.
    named = any(map(has_failed, public))
    return replace(
        item,
        checks=(*public, *folded),
        diagnosis=item.diagnosis if named else "",
        explanation=item.explanation if named else "",
    )


def _folded(name: str, hidden: Sequence[CheckResult]) -> CheckResult:
    scores = [check.score for check in hidden]
    known = [score for score in scores if score is not None]
    held = sum(check.verdict.outcome is Outcome.HELD for check in hidden)
    return CheckResult(
        Verdict(
            name,
            max((check.verdict.outcome for check in hidden), key=SEVERITY.__getitem__),
            message=f"{held} of {len(hidden)} hidden checks held.",
        ),
        sum(known, Fraction(0)) if len(known) == len(scores) else None,
        sum((check.max_score for check in hidden), Fraction(0)),
        "public",
        hidden[0].bonus,
    )
