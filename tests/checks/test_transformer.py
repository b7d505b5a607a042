"""The checks of transformer.py hold where they must, catch what they must, and draw what they say they draw."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from checks import transformer
from checks.check import Check, checks_in
from checks.contract import SIGNATURES
from checks.expect import Failure, changed
from checks.misconception import Misconception, misconceptions_in
from checks.misconceptions import transformer as wrong_transformer
from checks.subject import InProcess
from engine.corpus import Example, RecordedCall, Recording, draw
from engine.verify import first_calls
from reference import transformer as right_transformer

FUNCTIONS = ("layer_norm", "feed_forward", "transformer_layer")
CHECKS = [check for check in checks_in(transformer) if check.of.split(".")[1] in FUNCTIONS]
MISCONCEPTIONS = [each for each in misconceptions_in(wrong_transformer) if each.of.split(".")[1] in FUNCTIONS]
EXAMPLES = 30  # the first batch of 25 calls is what a diagnosis looks at


@cache
def recorded(check_id: str) -> Recording:
    """Draw a check's examples once; raises unless the reference holds."""
    (check,) = [check for check in CHECKS if check.id == check_id]
    return draw([check], number=0, examples=EXAMPLES)[0]


def recordings(item: str) -> list[Recording]:
    return [recorded(check.id) for check in CHECKS if check.of == item]


class Remembered:
    """The recorded truths of an example, in the order they were asked for."""

    def __init__(self, example: Example) -> None:
        self._values = iter(example.truths)

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments: next(self._values)[1]


def run(check: Check, example: Example, function: Callable[..., Any]) -> None:
    """Run a check's body as the judge does: warnings about a student's numbers are no news."""
    handed: dict[str, Any] = dict.fromkeys(check.functions, InProcess(function, SIGNATURES[check.of]))
    if check.needs_truth:
        handed["truth"] = Remembered(example)
    with np.errstate(all="ignore"):
        check.body(**handed, **example.drawn)


def in_single_precision(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.float32)
    if isinstance(value, dict):
        return {key: in_single_precision(entry) for key, entry in value.items()}
    return value


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_reference_holds_whatever_the_seed(check: Check) -> None:
    for number in range(1, 4):
        assert draw([check], number=number, examples=20)[0].examples


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_right_function_in_single_precision_holds(check: Check) -> None:
    function = getattr(right_transformer, check.of.split(".")[1])
    for example in recorded(check.id).examples:
        run(check, example, lambda *arguments: function(*map(in_single_precision, arguments)))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_margins_stay_far_below_the_error_that_must_not_pass(check: Check) -> None:
    for example in recorded(check.id).examples:
        for _, truth in example.truths:
            assert truth.margin < 1e-4 * max(1.0, float(np.abs(truth.value).max()))


def test_only_agreement_needs_the_reference() -> None:
    needing = [check.id.split(".", 1)[1] for check in CHECKS if check.needs_truth]
    assert needing == [
        "layer_norm.agrees_with_definition",
        "feed_forward.agrees_with_definition",
        "transformer_layer.agrees_with_definition",
        "transformer_layer.pre_norm_agrees_with_definition",
    ]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e308, 0.0])
def test_a_body_raises_nothing_but_failure_and_leaves_its_inputs_alone(check: Check, number: float) -> None:
    for example in recorded(check.id).examples[:10]:
        before = copy.deepcopy(example.drawn)
        try:
            run(check, example, lambda x, *_rest: np.full(np.shape(x), number))
        except Failure as failure:
            assert failure.sentence  # noqa: PT017 -- a failure is one of two right outcomes
        np.testing.assert_equal(example.drawn, before)


# What the inputs must look like to expose what they are for.


def rows_of(strategy_examples: Iterator[Any]) -> Iterator[Any]:
    for x in strategy_examples:
        yield from np.reshape(x, (-1, x.shape[-1]))


def test_wide_rows_have_the_variance_that_the_bounds_assume() -> None:
    for name in ("rows_have_mean_zero_and_variance_one", "shift_of_a_row_cancels", "scale_of_a_row_cancels"):
        examples = recorded(f"transformer.layer_norm.{name}").examples
        assert min(row.var() for row in rows_of(example.drawn["case"][0] for example in examples)) >= 0.4


def test_some_rows_have_a_variance_as_small_as_eps() -> None:
    examples = recorded("transformer.layer_norm.agrees_with_definition").examples
    variances = [
        row.var() for row in rows_of(e.drawn["arguments"][0] for e in examples if len(e.drawn["arguments"]) == 3)
    ]
    assert any(1e-6 < variance < 1e-5 for variance in variances)
    assert any(1e-5 < variance < 3e-4 for variance in variances)
    assert any(variance > 0.1 for variance in variances)


@pytest.mark.parametrize("name", ["agrees_with_definition", "pre_norm_agrees_with_definition"])
def test_some_layers_have_a_variance_as_small_as_eps(name: str) -> None:
    drawn = [next(iter(e.drawn.values())) for e in recorded(f"transformer.transformer_layer.{name}").examples]
    assert any(row.var() < 1e-4 for row in rows_of(arguments[0] for arguments in drawn))
    assert any(row.var() > 0.1 for row in rows_of(arguments[0] for arguments in drawn))
    assert all(len({X.shape[-2], X.shape[-1], len(params["b1"])}) == 3 for X, params, *_ in drawn)


# Mistakes


@cache
def catches(check_id: str, each: Misconception) -> bool:
    recording = recorded(check_id)
    for example in recording.examples:
        try:
            run(recording.check, example, each.function)
        except Failure:
            return True
    return False


def answer(each: Misconception, call: RecordedCall) -> Any:
    """Return what a diagnosis compares: the result, which arguments were written to, or how it failed."""
    try:
        value, after = InProcess(each.function, SIGNATURES[each.of]).with_arguments(*call.arguments)
    except Failure as failure:
        return failure.sentence
    return value, call.keep and any(changed(old, new) for old, new in zip(call.arguments, after, strict=True))


@cache
def answers(each: Misconception) -> list[Any]:
    return [answer(each, call) for recording in recordings(each.of) for call in first_calls(recording)]


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return bool(isinstance(one, str) and isinstance(other, str) and one == other)
    return one[1] == other[1] and np.allclose(one[0], other[0], rtol=1e-4, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("each", MISCONCEPTIONS, ids=lambda each: f"{each.of}: {each.name}")
def test_every_misconception_is_caught(each: Misconception) -> None:
    assert any(catches(recording.check.id, each) for recording in recordings(each.of))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_two_misconceptions_agree_on_what_a_diagnosis_looks_at(name: str) -> None:
    named = [each for each in MISCONCEPTIONS if each.of == f"transformer.{name}"]
    for one, other in combinations(named, 2):
        same = all(alike(a, b) for a, b in zip(answers(one), answers(other), strict=True))
        assert not same, f"{one.name!r} and {other.name!r}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_misconceptions_and_every_check_catches_one(name: str) -> None:
    named = [each for each in MISCONCEPTIONS if each.of == f"transformer.{name}"]
    assert len({each.name for each in named}) == len(named) >= 20
    for recording in recordings(f"transformer.{name}"):
        assert any(catches(recording.check.id, each) for each in named), recording.check.id
