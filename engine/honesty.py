"""Whether the same call gets the same answer: a few calls are repeated in a fresh worker, in the opposite order.

A check that held says something about a function only if the function is one. What depends on the calls before, on
the clock or on chance is not, and a submission that knows how it is asked gains nothing by it. Two answers count as
the same if both could be right: values as the contract takes them, up to the rounding that input allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from checks.contract import SIGNATURES, signature_of
from checks.expect import DIGITS, Call, Failure, shown, shown_apart
from checks.subject import Kept
from engine.corpus import Recording, has_reference, reference_module
from engine.judge import Asked, Exhausted, Judgement, asked_again, returned, sampled
from engine.records import Counterexample, Outcome, Submission, Verdict
from engine.truth import expected
from engine.workers import Budget, Zygotes

# Where the contract leaves something to chance: first weights, the order of training. Learning makes a large difference
# of a last bit, so what was learned is not compared either.
LEFT_TO_CHANCE = frozenset(
    {
        "language_model.train_neural_bigram",
        "language_model.neural_log_probs",
        "language_model.char_model",
        "transformer.CausalLM",
    }
)
SHARE = 10  # repeating may take a tenth of the time a submission has
LONGEST = 300  # characters of a failure that are shown
DIFFERENT = 1e-3  # of the largest entry: the checks pass no error of that size, and rounding makes none

BASIS = (
    "It returned one thing when called first and another when the same call was repeated in a fresh process: "
    "the answer depends on {}."
)
UNKNOWN, ORDER, CHANCE = "the order of calls, on time or on chance", "the calls made before it", "time or on chance"


class Difference(NamedTuple):
    """A call that was answered in two ways, as far as it is known why."""

    place: int  # among the calls asked
    first: str
    again: str
    cause: str = UNKNOWN


class _Witness:
    """Asks one submission again."""

    def __init__(self, submission: Submission, zygotes: Zygotes, budget: Budget) -> None:
        self._submission = submission
        self._zygotes = zygotes
        self._budget = replace(budget, submission_seconds=budget.submission_seconds / SHARE)

    def backwards(self, asked: Sequence[Asked], number: int) -> list[Any]:
        """Return the answers to calls made from the last to the first, in the order of the calls."""
        return self.forwards(asked[::-1], number)[::-1]

    def forwards(self, asked: Sequence[Asked], number: int) -> list[Any]:
        """Return the answers to calls: values, failures, or None."""
        replies = asked_again(self._submission, asked, self._zygotes, self._budget, number=number)
        return [_taken(each, reply) for each, reply in zip(asked, replies, strict=True)]


def held_again(
    judgement: Judgement, recordings: Sequence[Recording], submission: Submission, zygotes: Zygotes, budget: Budget
) -> list[Verdict]:
    """Return the verdicts, with checks broken that held on answers a function does not give again."""
    asked: list[Asked] = []
    for item, group in groupby(recordings, key=lambda recording: recording.check.of):
        kept = [each for recording in group for each in judgement.asked.get(recording.check.id, [])]
        asked += sampled(kept) if item not in LEFT_TO_CHANCE else []
    if not asked:
        return judgement.verdicts
    with np.errstate(all="ignore"):  # the numbers are a student's
        found = _differences(asked, _Witness(submission, zygotes, budget))
    return [
        _doubted(verdict, recording, asked, found)
        for verdict, recording in zip(judgement.verdicts, recordings, strict=True)
    ]


def _differences(asked: Sequence[Asked], witness: _Witness) -> dict[tuple[str, str], Difference]:
    """Return the first call of each item's function that was answered in two ways, and why if that can be told.

    Two processes asked the same in the same order, with other random numbers: if they differ, it is time or chance. If
    they agree and a third, asked in another order, does not, it is the order.
    """
    again = witness.backwards(asked, number=0)
    found: dict[tuple[str, str], Difference] = {}
    for place, (each, answer) in enumerate(zip(asked, again, strict=True)):
        if answer is not None and not _alike(each, each.value, answer):
            found.setdefault((each.item, each.function), Difference(place, *_shown(each.value, answer)))
    if not found:
        return found
    same_way, other_way = witness.backwards(asked, number=1), witness.forwards(asked, number=1)
    for key, difference in found.items():
        each, answer = asked[difference.place], again[difference.place]
        second, third = same_way[difference.place], other_way[difference.place]
        if second is not None and not _alike(each, answer, second):
            found[key] = difference._replace(cause=CHANCE)
        elif second is not None and third is not None and not _alike(each, answer, third):
            found[key] = difference._replace(cause=ORDER)
    return found


def _doubted(
    verdict: Verdict, recording: Recording, asked: Sequence[Asked], found: dict[tuple[str, str], Difference]
) -> Verdict:
    check = recording.check
    differences = [found[check.of, name] for name in check.functions if (check.of, name) in found]
    if verdict.outcome is not Outcome.HELD or not differences:
        return verdict
    place, first, again, cause = differences[0]
    *makers, last = [str(Call(call.function, call.arguments)) for call in asked[place].calls]
    text = "\n".join([*(f"model = {maker}" for maker in makers), last])
    told = Counterexample(text, f"{first}\n{again} when asked again", "the same every time")
    return Verdict(check.id, Outcome.BROKEN, verdict.examples, BASIS.format(cause), told)


def _taken(asked: Asked, reply: dict[str, Any] | None) -> Any:
    """Return a reply's value as the contract takes it, its failure, or None for no answer."""
    if reply is None:
        return None
    call = asked.calls[-1]
    try:
        return _signature(asked).accept(returned(reply), call.arguments, call.shapes)
    except Exhausted:  # memory is a matter of the machine
        return None
    except Failure as failure:
        return failure


def _shown(first: Any, again: Any) -> tuple[str, str]:
    """Write two answers so that they can be told apart: the part of them that differs."""
    if isinstance(again, Failure):
        return shown(first, DIGITS), again.sentence[:LONGEST]
    pairs = zip(_parts(first), _parts(again), strict=True)
    one, other = next(pair for pair in pairs if not _close(*pair, 0.0))
    return shown_apart(one, other)


def _alike(asked: Asked, first: Any, again: Any) -> bool:
    """Return whether two answers to a call are the same, as far as rounding allows."""
    if isinstance(first, Failure) or isinstance(again, Failure):
        return isinstance(first, Failure) and isinstance(again, Failure)
    pairs = list(zip(_parts(first), _parts(again), strict=True))
    if all(_close(one, other, 0.0) for one, other in pairs):
        return True
    margins = _margins(asked)
    return len(margins) == len(pairs) and all(
        _close(one, other, 2 * margin) for (one, other), margin in zip(pairs, margins, strict=True)
    )


def _margins(asked: Asked) -> list[float]:
    """Return how far right answers to this very call may lie from the truth, where there is one to compare with."""
    call = asked.calls[-1]
    signature = _signature(asked)
    if not has_reference() or signature.id not in SIGNATURES or any(isinstance(each, Kept) for each in call.arguments):
        return []
    truth = expected(getattr(reference_module(asked.item), call.function), signature, call.arguments)
    return [part.margin for part in _parts(truth)]


def _signature(asked: Asked) -> Any:
    return signature_of(asked.item.split(".", 1)[0], asked.function)


def _parts(value: Any) -> Iterator[Any]:
    """Yield the arrays of a result in order."""
    if isinstance(value, tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _parts(part)
    else:
        yield value


def _close(first: Any, again: Any, margin: float) -> bool:
    if isinstance(first, str) or isinstance(again, str):
        return bool(first == again)
    if first.shape != again.shape:
        return False
    finite = np.isfinite(first) & np.isfinite(again)
    if not np.array_equal(first[~finite], again[~finite], equal_nan=True):
        return False
    one, other = first[finite], again[finite]
    scale = max(np.abs(one).max(initial=0.0), np.abs(other).max(initial=0.0))
    return bool((np.abs(one - other) <= max(DIFFERENT * scale, margin)).all())
