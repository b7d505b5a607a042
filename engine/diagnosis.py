"""Call a mistake by its name, and only when it is certain.

A wrong function is compared with every named misconception of its item on all the inputs
of the first batches of all its checks. A name is given only when every single reply
agrees; if two names fit, both are shown.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from checks.expect import Failure
from checks.misconception import Misconception, misconceptions_in
from checks.signatures import SIGNATURES, Signature
from checks.subject import InProcess, Raised
from engine.corpus import RecordedCall
from engine.judge import Judgement, returned
from engine.records import SEVERITY, Outcome
from engine.rubric import CODE_MODULES, Item

ALIKE = 1e-4  # relative: misconceptions differ from each other by far more, rounding by far less
WRONG = {Outcome.BROKEN, Outcome.RAISED}


class Diagnostician:
    """Remembers what each misconception answers, so that a class of students costs no more than one."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str, bytes], Any] = {}

    def diagnose(self, items: Sequence[Item], judgement: Judgement) -> dict[str, str]:
        """Return the name of the mistake for each item that has one."""
        outcomes = {verdict.check: verdict.outcome for verdict in judgement.verdicts}
        names: dict[str, str] = {}
        for item in items:
            worst = max((outcomes[check.id] for check in item.checks), key=SEVERITY.__getitem__)
            if worst in WRONG:
                fitting = [m.name for m in misconceptions().get(item.id, ()) if self._fits(m, item, judgement)]
                if fitting:
                    names[item.id] = "; or ".join(fitting)
        return names

    def _fits(self, misconception: Misconception, item: Item, judgement: Judgement) -> bool:
        signature = SIGNATURES[item.id]
        tried = [pair for check in item.checks for pair in judgement.replies.get(check.id, ())]
        return bool(tried) and all(
            _alike(_student_answer(signature, call, reply), self._answer(misconception, signature, call))
            for call, reply in tried
        )

    def _answer(self, misconception: Misconception, signature: Signature, call: RecordedCall) -> Any:
        key = (misconception.of, misconception.name, call.payload)
        if key not in self._answers:
            subject = InProcess(misconception.function, signature)
            self._answers[key] = _outcome_of(lambda: subject.with_arguments(*call.arguments), call)
        return self._answers[key]


@cache
def misconceptions() -> Mapping[str, list[Misconception]]:
    """Return the named mistakes by item."""
    found: dict[str, list[Misconception]] = {}
    for stem in CODE_MODULES:
        for misconception in misconceptions_in(importlib.import_module(f"checks.misconceptions.{stem}")):
            found.setdefault(misconception.of, []).append(misconception)
    return found


def _student_answer(signature: Signature, call: RecordedCall, reply: dict[str, Any]) -> Any:
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
    results = list(value) if isinstance(value, tuple) else [value]
    return results + [entry for entry in after if isinstance(entry, np.ndarray)] if call.keep else results


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
