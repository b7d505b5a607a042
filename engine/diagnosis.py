"""Call a mistake by its name, and only when it is certain.

A wrong function is compared with every named misconception of its item on all the inputs
of the first batches of all its checks. A name is given only when every single reply
agrees; if two names fit, both are shown.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from checks.contract import MODULES, SIGNATURES, Signature
from checks.expect import Failure, changed
from checks.misconception import Misconception, misconceptions_in
from checks.subject import InProcess, Raised
from engine.corpus import RecordedCall
from engine.judge import Judgement, returned
from engine.records import SEVERITY, Diagnosis, Outcome
from engine.rubric import Item

ALIKE = 1e-4  # relative: misconceptions differ from each other by far more, rounding by far less
WRONG = {Outcome.BROKEN, Outcome.RAISED}


class Diagnostician:
    """Remembers what each misconception answers, so that a class of students costs no more than one."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str, bytes], Any] = {}

    def diagnose(self, items: Sequence[Item], judgement: Judgement) -> dict[str, Diagnosis]:
        """Return the mistake of each item that has one with a name."""
        outcomes = {verdict.check: verdict.outcome for verdict in judgement.verdicts}
        found: dict[str, Diagnosis] = {}
        for item in items:
            worst = max((outcomes[check.id] for check in item.checks), key=SEVERITY.__getitem__)
            tried = [pair for check in item.checks for pair in judgement.replies.get(check.id, ())]
            if worst in WRONG and tried:
                answers = [(call, _student_answer(call, reply, SIGNATURES[item.id])) for call, reply in tried]
                fitting = self.fitting(item.id, answers)
                if fitting:
                    found[item.id] = Diagnosis("; or ".join(m.name for m in fitting), " ".join(m.why for m in fitting))
        return found

    def fitting(self, item: str, answers: Sequence[tuple[RecordedCall, Any]]) -> list[Misconception]:
        """Return the misconceptions that agree with every one of these answers."""
        signature = SIGNATURES[item]
        return [
            misconception
            for misconception in misconceptions().get(item, ())
            if all(_alike(given, self.answer(misconception, signature, call)) for call, given in answers)
        ]

    def answer(self, misconception: Misconception, signature: Signature, call: RecordedCall) -> Any:
        """Return what the misconception answers to a recorded call."""
        key = (misconception.of, misconception.name, call.payload)
        if key not in self._answers:
            subject = InProcess(misconception.function, signature)
            self._answers[key] = _outcome_of(lambda: subject.with_arguments(*call.arguments), call)
        return self._answers[key]


@cache
def misconceptions() -> Mapping[str, list[Misconception]]:
    """Return the named mistakes by item."""
    found: dict[str, list[Misconception]] = {}
    for stem in MODULES:
        for misconception in misconceptions_in(importlib.import_module(f"checks.misconceptions.{stem}")):
            found.setdefault(misconception.of, []).append(misconception)
    return found


def _student_answer(call: RecordedCall, reply: dict[str, Any], signature: Signature) -> Any:
    def accept() -> tuple[Any, Any]:
        value = signature.accept(returned(reply), call.arguments)
        return value, reply.get("arguments") or call.arguments

    return _outcome_of(accept, call)


def _outcome_of(ask: Any, call: RecordedCall) -> Any:
    """Return results, or the failure's kind: comparable between a student and a misconception."""
    try:
        value, after = ask()
    except Raised:
        return "raised"
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
    if isinstance(first, str) or isinstance(second, str):
        return type(first) is type(second) and bool(first == second)
    return len(first) == len(second) and all(_close(a, b) for a, b in zip(first, second, strict=True))


def _close(first: Any, second: Any) -> bool:
    if first.shape != second.shape:
        return False
    with np.errstate(invalid="ignore"):
        finite = second[np.isfinite(second)]
        scale = max(1e-3, float(np.abs(finite).max(initial=0.0)))
        return bool(np.allclose(first, second, rtol=ALIKE, atol=ALIKE * scale, equal_nan=True))
