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
DIFFERENT = 1e-3  # of the largest entry: the checks pass no error of that size, and rounding makes none

BASIS = (
    "It returned one thing when called first and another when the same call was repeated in a fresh process: "
    "the answer depends on {}."
)
UNKNOWN, ORDER, CHANCE = "the order of calls, on time or on chance", "the calls made before it", "time or on chance"


class Difference(NamedTuple):
    """A call that was answered in two ways."""

    asked: Asked
    first: str
    again: str


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
        """Return the answers to calls: values, the sentence of a failure, or None."""
        replies = asked_again(self._submission, asked, self._zygotes, self._budget, number=number)
        return [_taken(each, reply) for each, reply in zip(asked, replies, strict=True)]


def held_again(
    judgement: Judgement, recordings: Sequence[Recording], submission: Submission, zygotes: Zygotes, budget: Budget
) -> list[Verdict]:
    """Return the verdicts, with checks broken that held on answers a function does not give again."""
    asked: list[Asked] = []
    for item, group in groupby(recordings, key=lambda recording: recording.check.of):
        kept = [judgement.asked.get(recording.check.id, []) for recording in group]
        asked += sampled([each for several in kept for each in several]) if item not in LEFT_TO_CHANCE else []
    if not asked:
        return judgement.verdicts
    witness = _Witness(submission, zygotes, budget)
    again = witness.backwards(asked, number=0)
    found: dict[tuple[str, str], Difference] = {}
    for each, answer in zip(asked, again, strict=True):
        difference = _difference(each, answer)
        if difference is not None:
            found.setdefault((each.item, each.function), difference)
    if not found:
        return judgement.verdicts
    causes = _causes(asked, again, witness)
    return [
        _doubted(verdict, recording, found, causes)
        for verdict, recording in zip(judgement.verdicts, recordings, strict=True)
    ]


def _causes(asked: Sequence[Asked], again: Sequence[Any], witness: _Witness) -> dict[int, str]:
    """Return what the answers to calls depend on, where that can be told.

    Two processes asked the same in the same order, with other random numbers: if they differ, it is time or chance. If
    they agree and a third, asked in another order, does not, it is the order.
    """
    same_way = witness.backwards(asked, number=1)
    other_way = witness.forwards(asked, number=1)
    causes = {}
    for each, first, second, third in zip(asked, again, same_way, other_way, strict=True):
        if second is None or third is None:
            continue
        if not _alike(each, first, second):
            causes[id(each)] = CHANCE
        elif not _alike(each, first, third):
            causes[id(each)] = ORDER
    return causes


def _doubted(
    verdict: Verdict, recording: Recording, found: dict[tuple[str, str], Difference], causes: dict[int, str]
) -> Verdict:
    check = recording.check
    differences = [found[check.of, name] for name in check.functions if (check.of, name) in found]
    if verdict.outcome is not Outcome.HELD or not differences:
        return verdict
    asked, first, again = differences[0]
    lines = [str(Call(call.function, call.arguments)) for call in asked.calls]
    text = "\n".join([*(f"model = {line}" for line in lines[:-1]), lines[-1]])
    told = Counterexample(text, f"{first}\n{again} when asked again", "the same every time")
    return replace(
        verdict, outcome=Outcome.BROKEN, message=BASIS.format(causes.get(id(asked), UNKNOWN)), counterexample=told
    )


def _taken(asked: Asked, reply: dict[str, Any] | None) -> Any:
    """Return a reply's value as the contract takes it, the sentence of its failure, or None for no answer."""
    if reply is None:
        return None
    call = asked.calls[-1]
    try:
        return _signature(asked).accept(returned(reply), call.arguments, call.shapes)
    except Exhausted:  # memory is a matter of the machine
        return None
    except Failure as failure:
        return failure


def _difference(asked: Asked, answer: Any) -> Difference | None:
    if answer is None or _alike(asked, asked.value, answer):
        return None
    if isinstance(answer, Failure):
        return Difference(asked, shown(asked.value, DIGITS), answer.sentence)
    for first, again in zip(_parts(asked.value), _parts(answer), strict=True):
        if not _close(first, again, 0.0):
            return Difference(asked, *shown_apart(first, again))
    raise AssertionError("two answers differ in none of their parts")


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
