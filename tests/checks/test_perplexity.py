"""The checks of perplexity.py: the reference holds, also in single precision; mistakes are caught and told apart."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest

from checks import perplexity as laws
from checks.check import Check, checks_in
from checks.contract import SIGNATURES
from checks.expect import Expected, Failure, changed
from checks.misconception import Misconception, misconceptions_in
from checks.misconceptions import perplexity as wrong
from checks.subject import InProcess
from engine.corpus import Recording, draw
from engine.verify import Report, _mistakes, first_calls, holds
from reference import perplexity as right

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


def first(check: str) -> list[tuple[Any, ...]]:
    return [call.arguments for call in first_calls(recordings()[f"perplexity.{check}"])]


def test_probabilities_sum_to_exactly_one_in_both_precisions() -> None:
    for p, *_ in first("entropy.agrees_with_definition") + first("entropy_rate.agrees_with_definition"):
        assert p.sum() == 1.0
        assert p.astype(np.float32).sum(dtype=np.float32) == 1.0
        assert np.array_equal(p.astype(np.float32), p)
    for m, p, *_ in first("cross_entropy.agrees_with_definition"):
        assert m.sum() == p.sum() == 1.0


def test_zeros_are_present_in_some_inputs_and_absent_in_others() -> None:
    assert all((p > 0).all() for p, *_ in first("entropy.agrees_with_definition"))
    assert any((p == 0).any() for p, *_ in first("entropy.impossible_outcomes_add_nothing"))
    assert any((m == 0).any() for m, *_ in first("cross_entropy.agrees_with_definition"))
    assert any((m > 0).all() for m, *_ in first("cross_entropy.agrees_with_definition"))
    assert all(((p == 0) & (m > 0)).any() for m, p, *_ in first("cross_entropy.excluded_outcome_costs_infinity"))


@pytest.mark.parametrize("item", ["entropy", "cross_entropy", "entropy_rate", "perplexity"])
def test_the_base_is_left_out_now_and_then(item: str) -> None:
    calls = first(f"{item}.agrees_with_definition")
    full = len(SIGNATURES[f"perplexity.{item}"].parameters)
    assert {len(call) for call in calls} == {full - 1, full}


def test_languages_come_with_an_axis_per_word_and_as_a_list() -> None:
    calls = first("entropy_rate.agrees_with_definition")
    assert any(p.ndim == n > 1 for p, n, *_ in calls)
    assert any(p.ndim == 1 < n for p, n, *_ in calls)


def test_the_convention_for_zeros_fails_its_own_check_only() -> None:
    (mistake,) = (each for each in MISCONCEPTIONS if (each.of, each.name) == ("perplexity.entropy", "0·log 0 is nan"))
    failed = [check.id for check in CHECKS if check.of == mistake.of and not held(check, mistake.function)]
    assert failed == ["perplexity.entropy.impossible_outcomes_add_nothing"]


@pytest.mark.parametrize("item", ["perplexity", "sequence_perplexity"])
def test_an_underflow_fails_its_own_check_only(item: str) -> None:
    of, name = f"perplexity.{item}", "product underflows on long text"
    (mistake,) = (each for each in MISCONCEPTIONS if (each.of, each.name) == (of, name))
    failed = [check.id for check in CHECKS if check.of == mistake.of and not held(check, mistake.function)]
    assert len(failed) == 1
    assert "survives" in failed[0]


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
