"""The checks of gates hold for what is right, in single precision too, and catch every named mistake."""

from __future__ import annotations

import copy
import importlib.util
import warnings
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from checks import gates as checks_of_gates
from checks.check import Check, checks_in
from checks.contract import SIGNATURES
from checks.expect import Expected, Failure, changed
from checks.misconception import Misconception, misconceptions_in
from checks.misconceptions import gates as wrong_gates
from checks.subject import InProcess
from engine.corpus import Example, Recording, draw
from engine.verify import first_calls, holds
from reference import gates as right_gates

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
CHECKS = checks_in(checks_of_gates)
MISCONCEPTIONS = misconceptions_in(wrong_gates)
ITEMS = sorted({check.of for check in CHECKS})


@cache
def recordings(number: int = 0) -> dict[str, Recording]:
    """Draw every check; this raises unless the reference holds."""
    return {recording.check.id: recording for recording in draw(CHECKS, number=number, examples=100)}


def of_item(item: str) -> list[Recording]:
    return [recording for recording in recordings().values() if recording.check.of == item]


def holds_for(check: Check, example: Example, function: Callable[..., Any]) -> bool:
    return holds(check, example, lambda _name: function)


def test_every_function_of_the_contract_has_checks_and_misconceptions() -> None:
    named = {item for item in SIGNATURES if item.startswith("gates.")}
    assert set(ITEMS) == named
    assert {each.of for each in MISCONCEPTIONS} == named


def test_the_reference_holds_on_other_seeds() -> None:
    draw(CHECKS, number=1, examples=15)
    draw(CHECKS, number=2, examples=15)


def test_only_agreement_needs_the_truth() -> None:
    assert {check.id.rsplit(".", 1)[1] for check in CHECKS if check.needs_truth} == {"agrees_with_definition"}


def expected_of(recording: Recording) -> list[Expected]:
    truths = [value for example in recording.examples for _, value in example.truths]
    return [part for value in truths for part in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("item", ITEMS)
def test_margins_are_far_below_an_error_of_a_thousandth(item: str) -> None:
    for wanted in expected_of(recordings()[f"{item}.agrees_with_definition"]):
        assert wanted.margin <= 3e-4 * np.abs(wanted.value).max()  # a state can cancel to a hundredth of its terms


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize(
    "spoil", [lambda value: value + 1e-3, lambda value: value * (1 + 1e-3)], ids=["added", "times"]
)
def test_an_error_of_a_thousandth_does_not_agree(item: str, spoil: Callable[[Any], Any]) -> None:
    function = getattr(right_gates, item.removeprefix("gates."))

    def off(*arguments: Any) -> Any:
        value = function(*arguments)
        return tuple(spoil(part) for part in value) if isinstance(value, tuple) else spoil(value)

    recording = recordings()[f"{item}.agrees_with_definition"]
    zero = [all(not wanted.value.any() for wanted in expected_of(_alone(recording, e))) for e in recording.examples]
    passed = [holds_for(recording.check, example, off) for example in recording.examples]
    assert [p for p, z in zip(passed, zero, strict=True) if not z and p] == []


def _alone(recording: Recording, example: Example) -> Recording:
    return Recording(recording.check, recording.number, 1, (example,))


# Inputs


def drawn_arguments(item: str) -> list[tuple[Any, ...]]:
    return [example.drawn["arguments"] for example in recordings()[f"{item}.agrees_with_definition"].examples]


def test_the_sigmoid_sees_every_kind_of_shape() -> None:
    shapes = {x.shape for (x,) in drawn_arguments("gates.sigmoid")}
    assert {(), (1,), (1, 4), (4, 1), (2, 3)} <= shapes


@pytest.mark.parametrize("item", ["gates.gru_cell", "gates.lstm_cell"])
def test_cells_see_sizes_of_one_and_never_equal_sizes(item: str) -> None:
    sizes = {(len(x), len(h)) for x, h, *_ in drawn_arguments(item)}
    assert all(d != h for d, h in sizes)
    assert {1} == {d for d, _ in sizes} & {h for _, h in sizes} & {1}
    assert any(h.any() for _, h, *_ in drawn_arguments(item))


@pytest.mark.parametrize("item", ["gates.lstm_weight_gradient", "gates.rnn_gradient_norms"])
def test_sequences_see_one_step_and_many_and_never_equal_sizes(item: str) -> None:
    sizes = {(*xs.shape, len(h0)) for xs, h0, *_ in drawn_arguments(item)}
    assert all(len(set(each)) == 3 for each in sizes)
    assert {1, 3, 4, 5} <= {T for T, *_ in sizes}
    assert any(d == 1 for _, d, _ in sizes)
    assert any(h == 1 and T > 2 for T, _, h in sizes)


def test_no_check_changes_what_was_drawn() -> None:
    for recording in recordings().values():
        function = getattr(right_gates, recording.check.of.removeprefix("gates."))
        for example in recording.examples[:10]:
            before = copy.deepcopy(example.drawn)
            holds_for(recording.check, example, function)
            assert repr(before) == repr(example.drawn)


# What comes back may be anything


def filled(arguments: tuple[Any, ...], item: str, value: float) -> Any:
    shapes: Any = SIGNATURES[item].shapes(arguments)
    parts = [np.full(shape, value) for shape in shapes]
    return tuple(parts) if len(parts) > 1 else parts[0]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e307, -1e307, 0.0, 1e-320])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_raises_nothing_but_failure(check: Check, value: float) -> None:
    """Warnings are errors here: a body that divides by what a student returned must expect the worst."""

    def constant(*arguments: Any) -> Any:
        return filled(arguments, check.of, value)

    name = check.of.removeprefix("gates.")
    subject = InProcess(constant, SIGNATURES[check.of])
    for example in recordings()[check.id].examples[:5]:
        remembered = iter(example.truths)
        truth = type("Truth", (), {name: staticmethod(lambda *_: next(remembered)[1])})  # noqa: B023 -- used at once
        handed = {name: subject} | ({"truth": truth} if check.needs_truth else {})
        try:
            check.body(**handed, **example.drawn)
        except Failure:
            continue


# What is right passes, in single precision as well


def narrowed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.float32)
    return {key: narrowed(entry) for key, entry in value.items()} if isinstance(value, dict) else value


def as_tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    return {key: as_tensors(entry) for key, entry in value.items()} if isinstance(value, dict) else value


def as_arrays(value: Any) -> Any:
    return tuple(part.numpy() for part in value) if isinstance(value, tuple) else value.numpy()


def example_function(folder: str, name: str) -> Callable[..., Any]:
    path = EXAMPLES / folder / "gates.py"
    spec = importlib.util.spec_from_file_location(f"example_{folder}_gates", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, name)
    return function


def in_single_precision(name: str) -> Callable[..., Any]:
    return lambda *arguments: getattr(right_gates, name)(*map(narrowed, arguments))


def in_numpy(name: str) -> Callable[..., Any]:
    return example_function("right_numpy", name)


def in_torch(name: str) -> Callable[..., Any]:
    function = example_function("right_torch", name)
    return lambda *arguments: as_arrays(function(*map(as_tensors, arguments)))


def in_single_precision_torch(name: str) -> Callable[..., Any]:
    function = example_function("right_torch", name)
    return lambda *arguments: as_arrays(function(*[as_tensors(narrowed(each)) for each in arguments]))


@pytest.mark.parametrize("written", [in_single_precision, in_numpy, in_torch, in_single_precision_torch])
@pytest.mark.parametrize("item", ITEMS)
def test_right_implementations_pass_every_check(item: str, written: Callable[[str], Callable[..., Any]]) -> None:
    function = written(item.removeprefix("gates."))
    for recording in of_item(item):
        if recording.check.id.endswith("leaves_arguments_alone"):
            continue  # what these wrappers hand on is a copy
        for example in recording.examples[:40]:
            assert holds_for(recording.check, example, function), recording.check.id


@pytest.mark.parametrize(
    "squash",
    [
        lambda x: (1 + np.tanh(x / 2)) / 2,
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x: 1 - 1 / (1 + np.exp(x)),
        lambda x: np.exp(-np.logaddexp(np.float32(0), -x)),
    ],
    ids=["tanh", "plain", "mirrored", "logarithm"],
)
@pytest.mark.parametrize("item", ITEMS)
def test_every_right_formula_of_the_sigmoid_passes_in_single_precision(
    item: str, squash: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = item.removeprefix("gates.")
    monkeypatch.setattr(right_gates, "sigmoid", lambda x: squash(np.asarray(x)))
    function = in_single_precision(name)
    with np.errstate(all="ignore"):
        for recording in of_item(item):
            if not recording.check.id.endswith("leaves_arguments_alone"):
                assert all(holds_for(recording.check, example, function) for example in recording.examples)


# What is wrong is caught, by its own name


def answers(mistake: Misconception) -> list[Any]:
    """Return what a mistake does on the first calls of every check of its item."""
    subject = InProcess(mistake.function, SIGNATURES[mistake.of])
    found: list[Any] = []
    for recording in of_item(mistake.of):
        for call in first_calls(recording):
            try:
                value, after = subject.with_arguments(*call.arguments)
            except Failure as failure:
                found.append(failure.sentence)
                continue
            parts = list(value) if isinstance(value, tuple) else [value]
            if call.keep:
                parts.append(np.array([changed(a, b) for a, b in zip(call.arguments, after, strict=True)], dtype=float))
            found.append(parts)
    return found


def alike(first: Any, second: Any) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return bool(type(first) is type(second) and first == second)
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
        for a, b in zip(first, second, strict=True)
    )


@pytest.mark.parametrize("mistake", MISCONCEPTIONS, ids=lambda each: f"{each.of}: {each.name}")
def test_a_misconception_fails_a_check(mistake: Misconception) -> None:
    assert any(
        not holds_for(recording.check, example, mistake.function)
        for recording in of_item(mistake.of)
        for example in recording.examples
    )


PUBLIC_GAPS = {"new cell in the forget gate's derivative"}  # shows only where all gates move at once


@pytest.mark.parametrize("mistake", MISCONCEPTIONS, ids=lambda each: f"{each.of}: {each.name}")
def test_a_misconception_fails_a_check_that_needs_no_reference(mistake: Misconception) -> None:
    caught = any(
        not holds_for(recording.check, example, mistake.function)
        for recording in of_item(mistake.of)
        if not recording.check.needs_truth
        for example in recording.examples
    )
    assert caught == (mistake.name not in PUBLIC_GAPS)


@pytest.mark.parametrize("item", ITEMS)
def test_no_two_misconceptions_do_the_same(item: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        done = {mistake.name: answers(mistake) for mistake in MISCONCEPTIONS if mistake.of == item}
    same = [
        (first, second)
        for first, second in combinations(done, 2)
        if all(alike(a, b) for a, b in zip(done[first], done[second], strict=True))
    ]
    assert same == []


def test_every_misconception_says_why_and_has_a_name_of_its_own() -> None:
    names = [(each.of, each.name) for each in MISCONCEPTIONS]
    assert len(names) == len(set(names))
    assert all(each.why.endswith(".") for each in MISCONCEPTIONS)


def test_conventions_of_other_libraries_are_called_by_their_name() -> None:
    why = {(each.of.removeprefix("gates."), each.name): each.why for each in MISCONCEPTIONS}
    assert "torch's and Keras' GRU update" in why["gru_cell", "z and 1-z swapped"]
    assert "reset_after=False" in why["gru_cell", "reset gate applied before the matrix"]
    assert "unit_forget_bias" in why["lstm_cell", "forget gate with a bias of 1"]
