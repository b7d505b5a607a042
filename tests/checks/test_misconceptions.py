"""Every misconception is wrong, no two are the same, and each example commits the one it is named after."""

from __future__ import annotations

import copy
import importlib.util
import tomllib
import warnings
from functools import cache
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from checks.misconception import Misconception, misconceptions_in
from checks.misconceptions import attention as wrong_attention
from reference import attention as right_attention

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
EXPECTED = {
    name: row
    for name, row in tomllib.loads((EXAMPLES / "expected.toml").read_text()).items()
    if (EXAMPLES / name / "attention.py").exists()
}
MISCONCEPTIONS = misconceptions_in(wrong_attention)
FUNCTIONS = sorted({each.of for each in MISCONCEPTIONS})
PAIRS = {"attention.dot_product_attention", "attention.additive_attention", "attention.head_queries"}
SAMPLES = 80


# Inputs inside the contract's domain. Sizes are drawn apart more often than not, and now and then
# equal or one, because some mistakes show only there.


class Draw:
    """A source of sizes, grids of sixteenths, and masks."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        # Most inputs are small; some have ties; some push the scores into the thousands.
        self.scale = self.rng.choice([0.5, 1.0, 1.0, 30.0, 100.0])
        self.whole = self.rng.random() < 0.3

    def sizes(self, count: int) -> Any:
        if self.rng.random() < 0.15:
            return [int(self.rng.integers(1, 4))] * count
        if self.rng.random() < 0.3:
            return self.rng.integers(1, 6, size=count).tolist()
        return self.rng.permutation(np.arange(2, 2 + count)).tolist()

    def batch(self) -> tuple[int, ...]:
        options: list[tuple[int, ...]] = [(), (), (1,), (2,), (7,), (3, 2), (1, 4)]
        return options[self.rng.integers(len(options))]

    def grid(self, *shape: int, scale: float | None = None) -> Any:
        values = self.rng.normal(size=shape) * (self.scale if scale is None else scale)
        if self.whole:
            return np.clip(np.round(values), -2, 2)
        return np.round(values * 16) / 16

    def mask(self, batch: tuple[int, ...], n: int, m: int) -> Any:
        lead = batch if self.rng.random() < 0.5 else ()
        kind = self.rng.integers(6)
        if kind < 2:
            return None
        finite = self.grid(*lead, n, m, scale=3.0) if kind in {3, 5} else np.zeros((*lead, n, m))
        if kind == 4:
            return finite + np.triu(np.full((n, m), -np.inf), k=1)
        if kind == 3:
            return finite
        hidden = self.rng.random((*lead, n, m)) < 0.4
        hidden[..., np.arange(n), self.rng.integers(m, size=n)] = False  # no row is hidden whole
        return np.where(hidden, -np.inf, finite)


def softmax_arguments(draw: Draw) -> tuple[Any, ...]:
    shape = [(5,), (1,), (1, 4), (3, 1), (2, 5), (4, 4), (4, 3), (2, 3, 4), (1, 3, 1)][draw.rng.integers(9)]
    scale = draw.rng.choice([1.0, 3.0, 300.0, 5000.0])
    x = draw.grid(*shape, scale=scale)
    axis = int(draw.rng.integers(-len(shape), len(shape)))
    return (x,) if draw.rng.random() < 0.4 else (x, axis)


def dot_product_arguments(draw: Draw) -> tuple[Any, ...]:
    n, d, v = draw.sizes(3)
    return draw.grid(d), draw.grid(n, d), draw.grid(n, v)


def scaled_arguments(draw: Draw) -> tuple[Any, ...]:
    n, m, d, v = draw.sizes(4)
    batch = draw.batch()
    arrays = draw.grid(*batch, n, d), draw.grid(*batch, m, d), draw.grid(*batch, m, v)
    return *arrays, draw.mask(batch, n, m)


def self_arguments(draw: Draw) -> tuple[Any, ...]:
    n, d, h = draw.sizes(3)
    batch = draw.batch()
    weights = [draw.grid(d, h, scale=1.0) for _ in range(3)]
    return draw.grid(*batch, n, d), *weights, draw.mask(batch, n, n)


def heads_arguments(draw: Draw) -> tuple[Any, ...]:
    heads, n, d, h = draw.sizes(4)
    batch = draw.batch()
    weights = [draw.grid(heads, d, h, scale=1.0) for _ in range(3)]
    return draw.grid(*batch, n, d), *weights, draw.grid(heads * h, d, scale=1.0), draw.mask(batch, n, n)


def relative_arguments(draw: Draw) -> tuple[Any, ...]:
    n, d, v = draw.sizes(3)
    return draw.grid(n, d), draw.grid(n, d), draw.grid(n, v), draw.grid(2 * n - 1)


def argmax_arguments(draw: Draw) -> tuple[Any, ...]:
    n, m, d, v = draw.sizes(4)
    return draw.grid(n, d), draw.grid(m, d), draw.grid(m, v)


def field_arguments(draw: Draw) -> tuple[Any, ...]:
    return int(draw.rng.integers(1, 9)), int(draw.rng.integers(1, 30))


def additive_arguments(draw: Draw) -> tuple[Any, ...]:
    n, a, b, k = draw.sizes(4)
    matrices = draw.grid(k, a, scale=0.5), draw.grid(k, b, scale=0.5)
    return draw.grid(a, scale=1.0), draw.grid(n, b, scale=1.0), *matrices, draw.grid(k) * 10


def rnn_arguments(draw: Draw) -> tuple[Any, ...]:
    T, d, h = draw.sizes(3)
    return draw.grid(T, d, scale=1.0), draw.grid(h, scale=1.0), draw.grid(h, d, scale=1.0), draw.grid(h, h, scale=1.0)


def projection_arguments(draw: Draw) -> tuple[Any, ...]:
    d = int(draw.rng.integers(2, 7))
    m = int(draw.rng.integers(1, d))
    return (np.linalg.qr(draw.rng.normal(size=(d, m)))[0],)


def query_arguments(draw: Draw) -> tuple[Any, ...]:
    (d,) = draw.sizes(1)
    k_a, k_b = draw.rng.normal(size=(2, d))
    return k_a, k_b, float(draw.rng.choice([0.5, 3.0, 25.0, 1e4]))


ARGUMENTS: dict[str, Callable[[Draw], tuple[Any, ...]]] = {
    "softmax": softmax_arguments,
    "dot_product_attention": dot_product_arguments,
    "scaled_dot_product_attention": scaled_arguments,
    "causal_mask": lambda draw: (int(draw.rng.integers(1, 8)),),
    "self_attention": self_arguments,
    "multi_head_attention": heads_arguments,
    "relative_bias_attention": relative_arguments,
    "argmax_attention": argmax_arguments,
    "receptive_field": field_arguments,
    "additive_attention": additive_arguments,
    "attentive_rnn": rnn_arguments,
    "projection_matrix": projection_arguments,
    "averaging_query": query_arguments,
    "head_queries": query_arguments,
}


@cache
def samples(item: str) -> list[tuple[Any, ...]]:
    return [ARGUMENTS[item.removeprefix("attention.")](Draw(seed)) for seed in range(SAMPLES)]


# What a call did: raised, or returned arrays and perhaps wrote into its arguments.


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        return function(*[torch.from_numpy(a.copy()) if isinstance(a, np.ndarray) else a for a in arguments])

    return call


def behaviour(item: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    given = copy.deepcopy(arguments)
    try:
        with warnings.catch_warnings(action="ignore"):
            returned = function(*given)
    except Exception:  # noqa: BLE001 -- whatever a wrong function raises is its behaviour
        return ("raised",)
    parts = returned if isinstance(returned, tuple) else (returned,)
    if len(parts) == 2 and item not in PAIRS:
        parts = parts[:1]  # the contract accepts (output, weights) where it asks for the output
    arrays = tuple(np.asarray(part, dtype=np.float64) for part in parts)
    written = any(
        isinstance(before, np.ndarray) and not np.array_equal(before, after, equal_nan=True)
        for before, after in zip(arguments, given, strict=True)
    )
    return "returned", written, *arrays


def alike(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    if one[:2] != other[:2] or len(one) != len(other):
        return False
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)
        for a, b in zip(one[2:], other[2:], strict=True)
    )


def all_alike(some: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> bool:
    return all(alike(one, other) for one, other in zip(some, others, strict=True))


@cache
def right(item: str) -> list[tuple[Any, ...]]:
    function = getattr(right_attention, item.removeprefix("attention."))
    return [behaviour(item, function, arguments) for arguments in samples(item)]


@cache
def wrong(item: str) -> dict[str, list[tuple[Any, ...]]]:
    return {
        each.name: [behaviour(item, each.function, arguments) for arguments in samples(item)]
        for each in MISCONCEPTIONS
        if each.of == item
    }


def test_the_reference_answers_every_sample() -> None:
    for item in FUNCTIONS:
        assert all(done[:2] == ("returned", False) for done in right(item))
        assert all(np.isfinite(done[2]).all() for done in right(item) if item != "attention.causal_mask")


def test_every_function_of_the_module_has_misconceptions() -> None:
    assert set(FUNCTIONS) == {f"attention.{name}" for name in ARGUMENTS}


@pytest.mark.parametrize("each", MISCONCEPTIONS, ids=lambda each: f"{each.of}: {each.name}")
def test_a_misconception_differs_from_the_reference(each: Misconception) -> None:
    assert not all_alike(wrong(each.of)[each.name], right(each.of))


@pytest.mark.parametrize("item", FUNCTIONS)
def test_no_two_misconceptions_of_one_function_have_one_name(item: str) -> None:
    assert len(wrong(item)) == sum(each.of == item for each in MISCONCEPTIONS)


@pytest.mark.parametrize("item", FUNCTIONS)
def test_no_two_misconceptions_of_one_function_are_the_same(item: str) -> None:
    known = wrong(item)
    assert [pair for pair in combinations(known, 2) if all_alike(known[pair[0]], known[pair[1]])] == []


@pytest.mark.parametrize("each", MISCONCEPTIONS, ids=lambda each: f"{each.of}: {each.name}")
def test_the_words_of_a_misconception_fit_the_report(each: Misconception) -> None:
    assert each.name == each.name.strip().rstrip(".")
    assert each.why.endswith(".")
    assert "  " not in each.why


def test_misconceptions_are_listed_in_the_order_of_their_definition() -> None:
    lines = [each.function.__wrapped__.__code__.co_firstlineno for each in MISCONCEPTIONS]  # type: ignore[attr-defined]
    assert lines == sorted(lines)


def test_a_misconception_belongs_to_the_module_that_defines_it() -> None:
    importer = ModuleType("importer")
    importer.__dict__["borrowed"] = MISCONCEPTIONS[0]
    assert misconceptions_in(importer) == []


# The examples: what a student hands in must behave as the misconception it is diagnosed with.


def loaded(name: str) -> ModuleType:
    path = EXAMPLES / name / "attention.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def graded(module: ModuleType, item: str) -> list[tuple[Any, ...]]:
    """Call with arrays, and with tensors if that raises and the module uses torch, as the contract says."""
    function = getattr(module, item.removeprefix("attention."))
    done = [behaviour(item, function, arguments) for arguments in samples(item)]
    if not hasattr(module, "torch"):
        return done
    return [
        behaviour(item, on_tensors(function), arguments) if got == ("raised",) else got
        for arguments, got in zip(samples(item), done, strict=True)
    ]


def test_every_example_of_attention_is_expected() -> None:
    assert sorted(EXPECTED) == sorted(path.parent.name for path in EXAMPLES.glob("*/attention.py"))


@pytest.mark.parametrize("item", FUNCTIONS)
@pytest.mark.parametrize("name", [name for name, row in EXPECTED.items() if row["outcome"] == "held"])
def test_a_right_example_agrees_with_the_reference(name: str, item: str) -> None:
    assert all_alike(graded(loaded(name), item), right(item))


@pytest.mark.parametrize("name", [name for name, row in EXPECTED.items() if row["outcome"] != "held"])
def test_a_wrong_example_commits_its_misconception_and_no_other(name: str) -> None:
    row = EXPECTED[name]
    done = graded(loaded(name), row["item"])
    assert [each for each, known in wrong(row["item"]).items() if all_alike(known, done)] == [row["diagnosis"]]
    assert row["outcome"] == ("raised" if ("raised",) in done else "broken")
