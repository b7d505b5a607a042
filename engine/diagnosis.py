"""Call a mistake by its name, and only when it is certain.

A wrong function is compared with every named misconception of its item on all the inputs
of the first batches of all its checks. A name is given only when every single reply
agrees; if two names fit, both are shown. Where none does, the mistake may be one of a
function this one is built on, or there may be two at once (engine/compound.py).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from checks.contract import FILES, signature_of
from checks.expect import Failure, changed
from checks.misconception import Misconception, functions_of, misconceptions_in
from checks.subject import InProcess, Kept, Raised
from engine.corpus import RecordedCall, has_reference, reference_module
from engine.judge import Judgement, returned, said
from engine.records import SEVERITY, Diagnosis, Outcome
from engine.rubric import Item
from engine.worker import tools

ALIKE = 1e-4  # relative: misconceptions differ from each other by far more, rounding by far less
WRONG = {Outcome.BROKEN, Outcome.RAISED}
MOST_NAMES = 2  # of pairs that fit: more of them would be a guess


class Diagnostician:
    """Remembers what each misconception answers, so that a class of students costs no more than one."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Answers] = {}

    def diagnose(self, items: Sequence[Item], judgement: Judgement) -> dict[str, Diagnosis]:
        """Return the mistake of each item that has one with a name."""
        if not has_reference():  # most misconceptions are the reference with one thing wrong
            return {}
        outcomes = {verdict.check: verdict.outcome for verdict in judgement.verdicts}
        found: dict[str, Diagnosis] = {}
        for item in items:
            worst = max((outcomes[check.id] for check in item.checks), key=SEVERITY.__getitem__)
            if worst not in WRONG:
                continue
            answers = {
                check.id: _student_answers(item.id, judgement.replies.get(check.id, [])) for check in item.checks
            }
            fitting = self.fitting(item.id, answers) or self._compound(item.id, answers)
            if not fitting:
                # Another mistake beside it, at extreme values above all, hides the first one's name: look at the
                # definition alone, unless the submission agrees with that.
                agreement = [check for check in answers if "agrees" in check and outcomes[check] in WRONG]
                fitting = self.fitting(item.id, {check: answers[check] for check in agreement})
            if fitting:
                found[item.id] = Diagnosis("; or ".join(m.name for m in fitting), " ".join(m.why for m in fitting))
        return found

    def fitting(self, item: str, answers: Mapping[str, Sequence[tuple[RecordedCall, Any]]]) -> list[Misconception]:
        """Return the misconceptions that agree with every one of these answers, given by check."""
        if not any(answers.values()):
            return []
        return [mistake for mistake in misconceptions().get(item, ()) if self._fits(mistake, answers)]

    def _compound(self, item: str, answers: Mapping[str, Sequence[tuple[RecordedCall, Any]]]) -> list[Misconception]:
        """Return a mistake the function inherits, or else two that it makes at once, if just a few fit every answer."""
        from engine.compound import inherited, pairs

        if not any(answers.values()):
            return []
        for possible in (inherited, pairs):
            fitting = [mistake for mistake in possible(item, misconceptions()) if self._fits(mistake, answers)]
            if fitting:
                return fitting if len(fitting) <= MOST_NAMES else []
        return []

    def _fits(self, mistake: Misconception, answers: Mapping[str, Sequence[tuple[RecordedCall, Any]]]) -> bool:
        same = 0
        for check, pairs in answers.items():
            own = self._known.setdefault((mistake.of, mistake.name, check), Answers(mistake))
            for position, (call, given) in enumerate(pairs):
                answer = own.answer(call, position)
                if not _alike(given, answer):
                    return False
                same += not isinstance(given, Raised) or given.sentence == answer.sentence
        return same > 0  # two functions that fail on everything, each in its own way, have nothing in common


class Answers:
    """What a misconception answers to the recorded calls of one check.

    In their order: an object made by one call may be asked for by the next.
    """

    def __init__(self, mistake: Misconception) -> None:
        self._module = mistake.of.split(".", 1)[0]
        self._function = functions_of(mistake, reference_module(mistake.of), tools)
        self._known: list[Any] = []
        self._objects: dict[int, Any] = {}

    def answer(self, call: RecordedCall, position: int) -> Any:
        """Return the answer to the call at this position; positions are asked from zero up."""
        if position == len(self._known):
            self._known.append(_outcome_of(lambda: self._called(call), call))
        return self._known[position]

    def _called(self, call: RecordedCall) -> tuple[Any, Any]:
        subject = InProcess(self._function(call.function), signature_of(self._module, call.function))
        given = [Kept(each.number, self._objects.get(each.number)) if isinstance(each, Kept) else each
                 for each in call.arguments]  # fmt: skip
        value, after = subject.with_arguments(*given)
        if call.store is not None:
            self._objects[call.store] = value.value
            value = ()
        return value, after


@cache
def misconceptions() -> Mapping[str, list[Misconception]]:
    """Return the named mistakes by item."""
    found: dict[str, list[Misconception]] = {}
    for stem in FILES:
        for misconception in misconceptions_in(importlib.import_module(f"checks.misconceptions.{stem}")):
            found.setdefault(misconception.of, []).append(misconception)
    return found


def _student_answers(item: str, pairs: Sequence[tuple[RecordedCall, dict[str, Any]]]) -> list[tuple[RecordedCall, Any]]:
    module = item.split(".", 1)[0]

    def accepted(call: RecordedCall, kept: dict[str, Any]) -> tuple[Any, Any]:
        reply = said(call, kept)
        value = signature_of(module, call.function).accept(returned(reply), call.arguments, call.shapes)
        return () if call.store is not None else value, reply.get("arguments") or call.arguments

    return [(call, _outcome_of(partial(accepted, call, reply), call)) for call, reply in pairs]


def _outcome_of(ask: Any, call: RecordedCall) -> Any:
    """Return results, or the failure's kind: comparable between a student and a misconception."""
    try:
        value, after = ask()
    except Raised as raised:
        return raised
    except Failure as failure:
        return failure.sentence
    results = list(_arrays(value))
    if call.keep:  # which arguments a call changed counts; what it left in them is the student's own affair
        pairs = zip(call.arguments, after, strict=False)
        results.append(np.array([changed(old, new) for old, new in pairs], dtype=np.float64))
    return results


def _arrays(value: Any) -> Iterator[Any]:
    """Yield the arrays of a result in order."""
    if isinstance(value, tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _arrays(part)
    else:
        yield value


def _alike(first: Any, second: Any) -> bool:
    if isinstance(first, Raised) or isinstance(second, Raised):  # the same mistake may fail with another message
        return isinstance(first, Raised) and isinstance(second, Raised)
    if isinstance(first, str) or isinstance(second, str):
        return type(first) is type(second) and bool(first == second)
    return len(first) == len(second) and all(_close(a, b) for a, b in zip(first, second, strict=True))


def _close(first: Any, second: Any) -> bool:
    if isinstance(first, str) or isinstance(second, str):  # a function that returns text
        return type(first) is type(second) and bool(first == second)
    if first.shape != second.shape:
        return False
    with np.errstate(invalid="ignore"):
        finite = second[np.isfinite(second)]
        scale = max(1e-3, float(np.abs(finite).max(initial=0.0)))
        return bool(np.allclose(first, second, rtol=ALIKE, atol=ALIKE * scale, equal_nan=True))
