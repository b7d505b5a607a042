"""Tolerances: right answers in single precision are inside, an error of a thousandth never is."""

import numpy as np
import pytest

from checks.contract import SIGNATURES, signature_of
from checks.expect import Failure
from checks.subject import InProcess
from engine.corpus import draw, reference_module
from engine.rubric import all_checks
from engine.truth import Truth

AGREEMENTS = [
    check
    for check in all_checks().values()
    if check.id.endswith("agrees_with_definition") and not SIGNATURES[check.of].makes_object
]


def recorded(check):
    (recording,) = draw([check], number=3, examples=40)
    return recording.examples


def arrays(value):
    if isinstance(value, tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from arrays(part)
    else:
        yield value


def single(value):
    if isinstance(value, np.ndarray):
        return value.astype(np.float32) if value.dtype.kind == "f" else value
    if isinstance(value, float):
        return np.float32(value)
    if isinstance(value, list | tuple):
        return type(value)(single(entry) for entry in value)
    if isinstance(value, dict):
        return {key: single(entry) for key, entry in value.items()}
    return value


@pytest.mark.parametrize("check", AGREEMENTS, ids=lambda check: check.of)
def test_the_reference_in_single_precision_agrees_with_itself(check):
    module, name = check.of.split(".")
    function = getattr(reference_module(check.of), name)
    subject = InProcess(lambda *arguments: function(*single(arguments)), signature_of(module, name))
    for example in recorded(check):
        handed = {name: subject, "truth": Truth(reference_module(check.of))}
        check.body(**handed, **example.drawn)


@pytest.mark.parametrize("check", AGREEMENTS, ids=lambda check: check.of)
def test_an_error_of_a_thousandth_of_the_largest_entry_never_passes(check):
    if SIGNATURES[check.of].steps:
        pytest.skip("whole numbers and copies have no small errors")
    module, name = check.of.split(".")
    function = getattr(reference_module(check.of), name)

    def off(value):
        if isinstance(value, tuple | list):
            return tuple(off(part) for part in value)
        if isinstance(value, dict):
            return {key: off(part) for key, part in value.items()}
        value = np.array(value, dtype=float)
        finite = np.isfinite(value)
        value[finite] += 1e-3 * max(1.0, np.abs(value[finite]).max(initial=0.0))
        return value

    subject = InProcess(lambda *arguments: off(function(*arguments)), signature_of(module, name))
    for example in recorded(check):
        if not any(np.isfinite(array).any() for call in example.calls for array in arrays(call.returned)):
            continue  # an infinite cost has no small error either
        with pytest.raises(Failure):
            check.body(**{name: subject, "truth": Truth(reference_module(check.of))}, **example.drawn)
