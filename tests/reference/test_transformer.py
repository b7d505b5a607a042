"""The reference agrees with torch, with slow and obvious loops, with exact arithmetic, and with the sheet."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 -- torch's own name for it

from reference import transformer
from reference.attention import self_attention
from reference.transformer import feed_forward, layer_norm, transformer_layer

# Sizes are pairwise different: equal ones hide transposes and wrong axes.
BATCH, N, D, M = 2, 4, 6, 5
TIGHT: Any = {"rtol": 1e-12, "atol": 1e-12}
BATCHES = [(), (1,), (BATCH,), (BATCH, 3)]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def tensor(x: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x, dtype=np.float64))


def a_layer(rng: np.random.Generator, d: int = D, m: int = M) -> dict[str, Any]:
    shapes = {"W_q": (d, d), "W_k": (d, d), "W_v": (d, d), "W1": (d, m), "b1": (m,), "W2": (m, d), "b2": (d,)}
    shapes |= {"gamma1": (d,), "beta1": (d,), "gamma2": (d,), "beta2": (d,)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


# layer norm


@pytest.mark.parametrize("batch", [*BATCHES, (N,), (1, 1)])
@pytest.mark.parametrize("eps", [None, 1e-5, 1e-3, 0.5])
@pytest.mark.parametrize("scale", [1e-3, 1, 1e4])
def test_layer_norm_agrees_with_torch(
    rng: np.random.Generator, batch: tuple[int, ...], eps: float | None, scale: float
) -> None:
    x, (gamma, beta) = rng.normal(size=(*batch, D)) * scale + scale, rng.normal(size=(2, D))
    more = () if eps is None else (eps,)
    want = F.layer_norm(tensor(x), (D,), tensor(gamma), tensor(beta), *more)  # torch's default eps is the contract's
    np.testing.assert_allclose(layer_norm(x, gamma, beta, *more), want, rtol=1e-11, atol=1e-11)


def test_layer_norm_is_exact_where_the_root_is_rational() -> None:
    # The variance of 0 and 6 over d = 2 is 9 (over d-1 it would be 18), and sqrt(9 + 16) = 5; outside, 3 + 16 = 19.
    want = [float(Fraction(-3, 5) * 10 + 1), float(Fraction(3, 5) * 100 + 2)]
    np.testing.assert_allclose(layer_norm([0, 6], [10, 100], [1, 2], 16.0), want, rtol=1e-15)


@pytest.mark.parametrize("scale", [2.0**-9, 1.0, 2.0**12])
def test_layer_norm_is_right_to_the_last_bits(rng: np.random.Generator, scale: float) -> None:
    x = np.round(rng.normal(size=7) * 16) / 16 * scale
    with mpmath.workdps(60):
        numbers = [mpmath.mpf(float(entry)) for entry in x]
        mean = mpmath.fsum(numbers) / 7
        root = mpmath.sqrt(mpmath.fsum((number - mean) ** 2 for number in numbers) / 7 + mpmath.mpf(1e-5))
        truth = [float((number - mean) / root) for number in numbers]
    np.testing.assert_allclose(layer_norm(x, np.ones(7), np.zeros(7)), truth, rtol=1e-14)


def test_layer_norm_without_eps_is_equation_6_of_the_sheet(rng: np.random.Generator) -> None:
    x, (gamma, beta) = rng.normal(size=(N, D)), rng.normal(size=(2, D))
    for row, got in zip(x, layer_norm(x, gamma, beta, 0.0), strict=True):
        mu = math.fsum(row) / D
        sigma = math.sqrt(math.fsum((entry - mu) ** 2 for entry in row) / D)
        want = [(row[j] - mu) / sigma * gamma[j] + beta[j] for j in range(D)]
        np.testing.assert_allclose(got, want, **TIGHT)


def test_layer_norm_gives_mean_zero_and_variance_one_and_cancels_shift_and_scale(rng: np.random.Generator) -> None:
    x, one, zero = rng.normal(size=(N, D)) * 100, np.ones(D), np.zeros(D)
    normalised = layer_norm(x, one, zero)
    np.testing.assert_allclose(normalised.mean(axis=-1), 0, atol=1e-12)
    variance = x.var(axis=-1)
    np.testing.assert_allclose(normalised.var(axis=-1), variance / (variance + 1e-5), **TIGHT)
    moved = layer_norm(x * rng.uniform(1, 9, size=(N, 1)) + rng.normal(size=(N, 1)), one, zero)
    bound = 1e-5 / (2 * variance.min()) * np.abs(normalised).max()
    np.testing.assert_allclose(moved, normalised, rtol=0, atol=bound + 1e-12)


def test_a_row_of_equal_entries_and_a_row_of_one_entry_give_beta() -> None:
    np.testing.assert_array_equal(layer_norm(np.full((2, 3), 7.0), [1, 2, 3], [4, 5, 6]), [[4, 5, 6]] * 2)
    np.testing.assert_array_equal(layer_norm([[7.0], [8.0]], [2], [3]), [[3], [3]])


# feed-forward network


@pytest.mark.parametrize("batch", BATCHES)
def test_feed_forward_agrees_with_torch(rng: np.random.Generator, batch: tuple[int, ...]) -> None:
    p = a_layer(rng)
    X = rng.normal(size=(*batch, N, D))
    hidden = F.relu(F.linear(tensor(X), tensor(p["W1"].T), tensor(p["b1"])))
    want = F.linear(hidden, tensor(p["W2"].T), tensor(p["b2"]))
    np.testing.assert_allclose(feed_forward(X, p["W1"], p["b1"], p["W2"], p["b2"]), want, **TIGHT)


def test_feed_forward_is_exact_on_whole_numbers(rng: np.random.Generator) -> None:
    X, W1, b1 = (rng.integers(-9, 10, size=shape) for shape in [(N, D), (D, M), (M,)])
    W2, b2 = rng.integers(-9, 10, size=(M, D)), rng.integers(-9, 10, size=D)
    got = feed_forward(X, W1, b1, W2, b2)
    for i in range(N):
        hidden = [max(0, sum(int(X[i, k]) * int(W1[k, j]) for k in range(D)) + int(b1[j])) for j in range(M)]
        want = [sum(hidden[j] * int(W2[j, c]) for j in range(M)) + int(b2[c]) for c in range(D)]
        assert got[i].tolist() == want


def test_feed_forward_acts_on_each_position_alone(rng: np.random.Generator) -> None:
    X, p = rng.normal(size=(N, D)), a_layer(rng)
    network = p["W1"], p["b1"], p["W2"], p["b2"]
    np.testing.assert_allclose(feed_forward(X, *network), [feed_forward(x, *network) for x in X], **TIGHT)


# transformer layer


def torch_layer(p: dict[str, Any], *, norm_first: bool) -> torch.nn.TransformerEncoderLayer:
    """Return torch's layer with one head and our weights; its output projection and the biases we lack do nothing."""
    d, m = p["W1"].shape
    layer = torch.nn.TransformerEncoderLayer(
        d, 1, m, dropout=0.0, activation="relu", batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    values = {
        "self_attn.in_proj_weight": np.concatenate([p["W_q"].T, p["W_k"].T, p["W_v"].T]),
        "self_attn.in_proj_bias": np.zeros(3 * d),
        "self_attn.out_proj.weight": np.eye(d),
        "self_attn.out_proj.bias": np.zeros(d),
        "linear1.weight": p["W1"].T,
        "linear1.bias": p["b1"],
        "linear2.weight": p["W2"].T,
        "linear2.bias": p["b2"],
        "norm1.weight": p["gamma1"],
        "norm1.bias": p["beta1"],
        "norm2.weight": p["gamma2"],
        "norm2.bias": p["beta2"],
    }
    layer.load_state_dict({name: tensor(value) for name, value in values.items()})  # strict: no weight is forgotten
    return layer.eval()


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch", [(), (1,), (BATCH,)])
@pytest.mark.parametrize("scale", [1e-3, 1, 10])
def test_transformer_layer_agrees_with_torchs(
    rng: np.random.Generator, batch: tuple[int, ...], norm_first: bool, scale: float
) -> None:
    X, p = rng.normal(size=(*batch, N, D)) * scale, a_layer(rng)
    with torch.no_grad():
        want = torch_layer(p, norm_first=norm_first)(tensor(X))
    np.testing.assert_allclose(transformer_layer(X, p, norm_first), want, rtol=1e-9, atol=1e-9)


def test_post_norm_is_equation_5_of_the_sheet_and_the_default(rng: np.random.Generator) -> None:
    X, p = rng.normal(size=(N, D)), a_layer(rng)
    O1 = layer_norm(self_attention(X, p["W_q"], p["W_k"], p["W_v"]) + X, p["gamma1"], p["beta1"])
    O2 = layer_norm(feed_forward(O1, p["W1"], p["b1"], p["W2"], p["b2"]) + O1, p["gamma2"], p["beta2"])
    np.testing.assert_allclose(transformer_layer(X, p), O2, **TIGHT)
    np.testing.assert_array_equal(transformer_layer(X, p), transformer_layer(X, p, norm_first=False))


@pytest.mark.parametrize("batch", BATCHES)
def test_with_zero_weights_the_residual_passes_the_input_through(
    rng: np.random.Generator, batch: tuple[int, ...]
) -> None:
    X, p = rng.normal(size=(*batch, N, D)), a_layer(rng)
    p |= {name: np.zeros_like(p[name]) for name in ("W_q", "W_k", "W_v", "W1", "b1", "W2", "b2")}
    np.testing.assert_array_equal(transformer_layer(X, p, norm_first=True), X)
    want = layer_norm(layer_norm(X, p["gamma1"], p["beta1"]), p["gamma2"], p["beta2"])
    np.testing.assert_array_equal(transformer_layer(X, p), want)


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformer_layer_is_permutation_equivariant(rng: np.random.Generator, norm_first: bool) -> None:
    X, p = rng.normal(size=(BATCH, N, D)), a_layer(rng)
    order = rng.permutation(N)
    moved = transformer_layer(X[:, order], p, norm_first)
    np.testing.assert_allclose(moved, transformer_layer(X, p, norm_first)[:, order], rtol=1e-10, atol=1e-10)


def test_pre_norm_carries_a_shift_of_a_row_to_the_output(rng: np.random.Generator) -> None:
    X, p, shift = rng.normal(size=(N, D)), a_layer(rng), rng.normal(size=(N, 1))
    moved = transformer_layer(X + shift, p, norm_first=True)
    np.testing.assert_allclose(moved, transformer_layer(X, p, norm_first=True) + shift, rtol=1e-10, atol=1e-10)


# dtypes: the judge reads the truth in extended precision

LAYER = {name: value.shape for name, value in a_layer(np.random.default_rng(0)).items()}
SHAPES: dict[str, list[Any]] = {
    "layer_norm": [(N, D), (D,), (D,), 1e-3],
    "feed_forward": [(BATCH, N, D), (D, M), (M,), (M, D), (D,)],
    "transformer_layer": [(BATCH, N, D), LAYER],
}


def filled(shapes: Any, make: Any) -> Any:
    if isinstance(shapes, dict):
        return {name: make(shape) for name, shape in shapes.items()}
    return make(shapes) if isinstance(shapes, tuple) else shapes


def called(name: str, make: Any) -> Any:
    return getattr(transformer, name)(*[filled(shapes, make) for shapes in SHAPES[name]])


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_the_floating_dtype_is_kept(rng: np.random.Generator, name: str, dtype: type) -> None:
    assert called(name, lambda shape: np.asarray(rng.normal(size=shape), dtype=dtype)).dtype == dtype


@pytest.mark.parametrize("name", SHAPES)
def test_integers_become_float64(rng: np.random.Generator, name: str) -> None:
    assert called(name, lambda shape: rng.integers(-3, 4, size=shape)).dtype == np.float64


@pytest.mark.parametrize("name", SHAPES)
def test_extended_precision_is_not_lost_on_the_way(name: str) -> None:
    """Inputs that float64 cannot hold give results that float64 cannot hold, and close to float64's."""
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    wide, narrow = np.random.default_rng(1), np.random.default_rng(1)
    got = called(name, lambda shape: np.asarray(wide.normal(size=shape), dtype=np.longdouble) / 7)
    rounded = called(
        name, lambda shape: (np.asarray(narrow.normal(size=shape), dtype=np.longdouble) / 7).astype(np.float64)
    )
    assert (got != got.astype(np.float64)).any()
    np.testing.assert_allclose(got.astype(np.float64), rounded, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_arguments_are_not_modified(rng: np.random.Generator, name: str) -> None:
    def locked(shape: tuple[int, ...]) -> Any:
        array = rng.normal(size=shape)
        array.setflags(write=False)
        return array

    called(name, locked)


def test_the_module_holds_the_contracts_functions_with_its_signatures() -> None:
    contract = {
        "layer_norm": "x, gamma, beta, eps=1e-05",
        "feed_forward": "X, W1, b1, W2, b2",
        "transformer_layer": "X, params, norm_first=False",
    }
    got = {}
    for name, function in inspect.getmembers(transformer, inspect.isfunction):
        if not name.startswith("_") and function.__module__ == transformer.__name__:
            parameters = inspect.signature(function).parameters.values()
            got[name] = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters)
    assert got == contract
