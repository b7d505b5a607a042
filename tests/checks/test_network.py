"""The checks of network.py: the reference holds, also in single precision; mistakes are caught and told apart."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest

from checks import network as laws
from checks.check import Check, checks_in
from checks.contract import SIGNATURES
from checks.expect import Expected, Failure, changed
from checks.misconception import Misconception, misconceptions_in
from checks.misconceptions import network as wrong
from checks.subject import InProcess
from engine.corpus import Recording, draw
from engine.verify import Report, _mistakes, holds
from reference import network as right

CHECKS = checks_in(laws)
ITEMS = sorted({check.of for check in CHECKS})
MISCONCEPTIONS = misconceptions_in(wrong)


@cache
def recordings() -> dict[str, Recording]:
    """Draw every check once; that raises unless the reference holds on all of them."""
    return {recording.check.id: recording for recording in draw(CHECKS, number=0, examples=100)}


@cache
def report() -> Report:
    """Try every misconception of the module on its checks, as `grader verify` does."""
    found = Report()
    _mistakes(found, list(recordings().values()))
    return found


def held(check: Check, function: Callable[..., Any]) -> bool:
    return all(holds(check, example, lambda _: function) for example in recordings()[check.id].examples)


def reference(check: Check) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(right, check.of.split(".", 1)[1])
    return function


def converted(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return the value with `change` applied to each of its arrays and numbers."""
    if isinstance(value, dict):
        return {key: converted(each, change) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(converted(each, change) for each in value)
    return change(value)


def every_truth(recording: Recording) -> Iterator[Expected]:
    found: list[Expected] = []
    for example in recording.examples:
        for _, wanted in example.truths:
            converted(wanted, found.append)
    yield from found


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_reference_holds(check: Check) -> None:
    assert recordings()[check.id].examples
    assert held(check, reference(check))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_single_precision_is_good_enough(check: Check) -> None:
    def single(value: Any) -> Any:
        return value.astype(np.float32) if isinstance(value, np.ndarray) else value

    assert held(check, lambda *arguments: reference(check)(*converted(arguments, single)))


@pytest.mark.parametrize("item", ITEMS)
def test_an_error_of_a_thousandth_does_not_pass(item: str) -> None:
    (check,) = (check for check in CHECKS if check.id == f"{item}.agrees_with_definition")
    function = reference(check)
    assert not held(check, lambda *arguments: converted(function(*arguments), lambda x: x * (1 + 1e-3)))
    assert not held(check, lambda *arguments: converted(function(*arguments), lambda x: x + 1e-3))


def test_margins_are_far_below_what_must_never_pass() -> None:
    """Relative to the value, or to a hundredth where the value is smaller than that."""
    for recording in recordings().values():
        for expected in every_truth(recording):
            finite = expected.value[np.isfinite(expected.value)]
            assert expected.margin < 1e-4 * max(0.02, np.abs(finite).max(initial=0.0))


def test_every_item_has_its_standard_checks_and_laws_that_need_no_reference() -> None:
    for item in ITEMS:
        names = {check.id.rsplit(".", 1)[1]: check for check in CHECKS if check.of == item}
        assert names["agrees_with_definition"].needs_truth
        assert {"agrees_with_definition", "leaves_arguments_alone"} < set(names)
        assert sum(not check.needs_truth for check in names.values()) >= 5


def test_a_law_asks_for_the_function_of_its_own_item_only() -> None:
    assert all(check.functions == (check.of.split(".", 1)[1],) for check in CHECKS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_leaves_its_inputs_alone(check: Check) -> None:
    for example in recordings()[check.id].examples[:10]:
        before = copy.deepcopy(example.drawn)
        holds(check, example, lambda _: reference(check))
        assert not changed(before, example.drawn)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e150])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_survives_whatever_numbers_come_back(check: Check, value: float) -> None:
    signature = SIGNATURES[check.of]

    def full(shape: Any) -> Any:
        return {key: full(each) for key, each in shape.items()} if isinstance(shape, dict) else np.full(shape, value)

    def filled(*arguments: Any) -> Any:
        results = tuple(full(shape) for shape in signature.shapes(arguments))
        return results if len(results) > 1 else results[0]

    subject = InProcess(filled, signature)
    for example in recordings()[check.id].examples[:5]:
        handed: dict[str, Any] = dict.fromkeys(check.functions, subject)
        if check.needs_truth:
            handed["truth"] = _Remembered(example.truths)
        with suppress(Failure):
            check.body(**handed, **example.drawn)  # a warning is an error here


class _Remembered:
    def __init__(self, truths: Any) -> None:
        self._values = iter(truths)

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments: next(self._values)[1]


# inputs


def calls_of(item: str) -> list[tuple[Any, ...]]:
    """Return the arguments of the agreement's calls."""
    examples = recordings()[f"{item}.agrees_with_definition"].examples
    return [call.arguments for example in examples for call in example.calls]


def test_targets_are_one_hot_in_some_inputs_and_spread_in_others() -> None:
    targets = [y for _, y in calls_of("network.softmax_cross_entropy") if y.size > 1]
    assert any((y == 1).any() for y in targets)
    assert any((y > 0).all() for y in targets)
    assert any((y == 0).any() and not (y == 1).any() for y in targets)
    assert all(y.sum() == 1 for y in targets)


def test_sizes_are_pairwise_different_and_one_is_among_them() -> None:
    sizes = [(*X.shape, *params["W2"].shape) for X, _, params in calls_of("network.forward_backward")]
    assert all(len(set(each)) == 4 for each in sizes)
    assert {position for each in sizes for position, size in enumerate(each) if size == 1} == {0, 1, 2, 3}


def test_no_weight_and_no_bias_is_zero_and_both_signs_occur() -> None:
    for key in ("W1", "b1", "W2", "b2"):
        arrays = [params[key] for *_, params in calls_of("network.forward_backward")]
        assert all(array.all() for array in arrays)
        assert any((array < 0).any() and (array > 0).any() for array in arrays)


def test_ordinary_logits_do_not_overflow_in_single_precision() -> None:
    for item in ITEMS:
        for recording in recordings().values():
            name = recording.check.id
            if recording.check.of != item or "survives" in name or "finite" in name or "theta" in name:
                continue
            for example in recording.examples:
                for call in example.calls:
                    assert _largest_logit(call.arguments) < 88  # exp(88) is the end of float32


def _largest_logit(arguments: tuple[Any, ...]) -> float:
    *_, params = arguments
    if not isinstance(params, dict):
        return float(np.abs(arguments[0]).max())
    reach = np.abs(arguments[0] @ params["W1"] + params["b1"]).max()
    return float(max(reach, (np.abs(params["W2"]).sum(axis=0) + np.abs(params["b2"])).max()))


def test_saturated_cases_are_saturated() -> None:
    for example in recordings()["network.forward_backward.saturated_units_learn_nothing"].examples:
        X, _, params = example.drawn["case"]
        assert np.abs(X @ params["W1"] + params["b1"]).min() >= 30
    for example in recordings()["network.forward_backward.cost_is_finite_at_saturated_logits"].examples:
        X, _, params = example.drawn["case"]
        assert np.abs(X @ params["W1"]).min() >= 1000
        assert right.forward(X, params).min() == 0.0


def test_a_cost_that_is_not_finite_fails_its_own_check_only() -> None:
    (mistake,) = (each for each in MISCONCEPTIONS if each.name == "cost not finite at saturated logits")
    failed = [check.id for check in CHECKS if check.of == mistake.of and not held(check, mistake.function)]
    assert failed == ["network.forward_backward.cost_is_finite_at_saturated_logits"]


def test_a_gradient_consistent_with_a_wrong_cost_fails() -> None:
    """Sum in place of mean, in both: every difference quotient of the student's own cost agrees."""
    (mistake,) = (each for each in MISCONCEPTIONS if each.name == "summed where the mean is asked")
    failed = [
        check.id.rsplit(".", 1)[1] for check in CHECKS if check.of == mistake.of and not held(check, mistake.function)
    ]
    assert "gradients_are_the_slope_of_the_cost" not in failed
    assert {"cost_is_the_mean_cross_entropy", "output_layer_gradients_agree", "every_sample_twice"} <= set(failed)


# misconceptions


def test_every_mistake_is_caught_and_taken_for_no_other() -> None:
    assert report().problems == []
    assert report().named == len(MISCONCEPTIONS)


@pytest.mark.parametrize("item", ITEMS)
def test_every_function_has_misconceptions_with_names_of_their_own(item: str) -> None:
    names = [mistake.name for mistake in MISCONCEPTIONS if mistake.of == item]
    assert len(set(names)) == len(names) >= 12


@pytest.mark.parametrize("mistake", MISCONCEPTIONS, ids=lambda mistake: f"{mistake.of}: {mistake.name}")
def test_the_words_of_a_misconception_fit_the_report(mistake: Misconception) -> None:
    assert mistake.name == mistake.name.strip().rstrip(".")
    assert mistake.why.endswith(".")
    assert "  " not in mistake.why
