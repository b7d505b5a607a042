"""The checks of averaging.py: the reference holds, mistakes are caught and told apart, inputs show what they must."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from checks import averaging as laws
from checks.check import Check, checks_in
from checks.contract import SIGNATURES
from checks.expect import Failure, changed
from checks.misconception import Misconception, misconceptions_in
from checks.misconceptions import averaging as wrong
from checks.subject import InProcess, Raised
from engine.corpus import Recording, draw
from engine.verify import first_calls, holds
from reference import averaging as right

CHECKS = checks_in(laws)
ITEMS = sorted({check.of for check in CHECKS})
MISCONCEPTIONS = misconceptions_in(wrong)


@cache
def recordings() -> dict[str, Recording]:
    """Draw every check once; that raises unless the reference holds on all of them."""
    return {recording.check.id: recording for recording in draw(CHECKS, number=0, examples=100)}


def recorded(item: str) -> list[Recording]:
    return [recording for recording in recordings().values() if recording.check.of == item]


def held(check: Check, function: Callable[..., Any]) -> bool:
    return all(holds(check, example, lambda _: function) for example in recordings()[check.id].examples)


def reference(item: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(right, item.split(".", 1)[1])
    return function


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_reference_holds(check: Check) -> None:
    assert recordings()[check.id].examples
    assert held(check, reference(check.of))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_single_precision_is_good_enough(check: Check) -> None:
    function = reference(check.of)

    def single(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(single(entry) for entry in value)
        return value.astype(np.float32) if getattr(value, "dtype", None) == np.float64 else value

    def in_single_precision(*arguments: Any) -> Any:
        result = function(*map(single, arguments))
        assert result.dtype == np.float32
        return result

    assert held(check, in_single_precision)


def test_every_item_has_its_standard_checks_and_laws_that_need_no_reference() -> None:
    for item in ITEMS:
        names = {check.id.rsplit(".", 1)[1]: check for check in CHECKS if check.of == item}
        assert names["agrees_with_definition"].needs_truth
        assert "leaves_arguments_alone" in names
        assert [name for name, check in names.items() if check.needs_truth] == ["agrees_with_definition"]


def test_a_law_asks_for_the_function_of_its_own_item_only() -> None:
    assert all(check.functions == (check.of.split(".", 1)[1],) for check in CHECKS)


def test_margins_are_far_below_what_must_never_pass() -> None:
    for recording in recordings().values():
        for example in recording.examples:
            for _, expected in example.truths:
                assert expected.margin < 1e-4 * max(1.0, np.abs(expected.value).max())


@pytest.mark.parametrize("item", ITEMS)
def test_an_error_of_a_thousandth_does_not_pass(item: str) -> None:
    function = reference(item)
    check = next(check for check in CHECKS if check.id == f"{item}.agrees_with_definition")
    assert not held(check, lambda *arguments: function(*arguments) * (1 + 1e-3))


# inputs


def asked() -> list[tuple[Any, ...]]:
    return [
        (*call.arguments, 0)[:4]  # the padding id is 0 where none is given
        for recording in recordings().values()
        for example in recording.examples
        for call in example.calls
    ]


def test_ids_lie_in_the_vocabulary_or_are_padding() -> None:
    for words, embeddings, _, padding in asked():
        assert words.dtype == np.int64
        assert words.ndim == embeddings.ndim == 2
        assert (((words >= 0) & (words < len(embeddings))) | (words == padding)).all()


def test_layers_fit_together() -> None:
    for _, embeddings, layers, _ in asked():
        below = embeddings.shape[1]
        for W, b in layers:
            assert W.shape == (below, len(b))
            below = len(b)


def test_rows_of_padding_only_are_asked_for_by_their_own_check_alone() -> None:
    for recording in recordings().values():
        empty = [
            bool((words == padding).all(axis=1).any())
            for example in recording.examples
            for words, _, _, padding in [(*call.arguments, 0)[:4] for call in example.calls]
        ]
        assert any(empty) == recording.check.id.endswith("padding_only_averages_to_zero")


def test_networks_are_asked_for_where_mistakes_show() -> None:
    (recording,) = [recording for recording in recordings().values() if recording.check.needs_truth]
    calls = [call.arguments for call in first_calls(recording)]
    assert {len(call[2]) for call in calls} == {1, 2, 3}
    assert {len(call) for call in calls} == {3, 4}
    assert {call[3] for call in calls if len(call) == 4} == {0, 1, 3}
    between = [
        any(0 in row[np.flatnonzero(row)[0] : np.flatnonzero(row)[-1]] for row in call[0])
        for call in calls
        if len(call) == 3
    ]
    assert any(between)  # padding between words
    assert any(call[1][0].any() for call in calls)  # an embedding of padding that is not zero
    assert any(len(call[0]) == 1 for call in calls)
    assert any(len(call[2][-1][1]) == 1 for call in calls)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_leaves_its_inputs_alone(check: Check) -> None:
    for example in recordings()[check.id].examples[:10]:
        before = copy.deepcopy(example.drawn)
        holds(check, example, lambda _: reference(check.of))
        assert not changed(before, example.drawn)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e150])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_survives_whatever_numbers_come_back(check: Check, value: float) -> None:
    signature = SIGNATURES[check.of]

    def filled(*arguments: Any) -> Any:
        (shape,) = signature.shapes(arguments)
        assert isinstance(shape, tuple)
        return np.full(shape, value)

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


# misconceptions


def ids(mistakes: list[Misconception]) -> list[str]:
    return [f"{mistake.of}: {mistake.name}" for mistake in mistakes]


@pytest.mark.parametrize("mistake", MISCONCEPTIONS, ids=ids(MISCONCEPTIONS))
def test_every_mistake_is_caught(mistake: Misconception) -> None:
    assert not all(held(recording.check, mistake.function) for recording in recorded(mistake.of))


def answers(mistake: Misconception) -> list[Any]:
    """Return what the mistake does on the calls a diagnosis looks at."""
    subject = InProcess(mistake.function, SIGNATURES[mistake.of])
    return [answer(subject, call) for recording in recorded(mistake.of) for call in first_calls(recording)]


def answer(subject: InProcess, call: Any) -> Any:
    try:
        value, after = subject.with_arguments(*call.arguments)
    except Raised:
        return "raised"
    except Failure as failure:
        return failure.sentence
    return value, call.keep and changed(call.arguments, after)


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return type(one) is type(other) and bool(one == other)
    close = partial(np.allclose, rtol=1e-4, atol=1e-4, equal_nan=True)
    return one[1] == other[1] and close(one[0], other[0])


@pytest.mark.parametrize("item", ITEMS)
def test_no_two_mistakes_of_one_function_are_the_same(item: str) -> None:
    known = {mistake.name: answers(mistake) for mistake in MISCONCEPTIONS if mistake.of == item}
    assert len(known) == sum(mistake.of == item for mistake in MISCONCEPTIONS) > 0
    same = [pair for pair in combinations(known, 2) if all(map(alike, known[pair[0]], known[pair[1]]))]
    assert same == []


@pytest.mark.parametrize("mistake", MISCONCEPTIONS, ids=ids(MISCONCEPTIONS))
def test_the_words_of_a_misconception_fit_the_report(mistake: Misconception) -> None:
    assert mistake.name == mistake.name.strip().rstrip(".")
    assert mistake.why.endswith(".")
    assert "  " not in mistake.why
