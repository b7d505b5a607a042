"""The reference agrees with torch, with a slow and obvious loop, and with what the sheet says about padding."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 -- torch's own name for it

from reference import averaging
from reference.averaging import deep_averaging_network

BATCH, N, VOCABULARY, E, CLASSES = 3, 5, 11, 4, 2
WIDTHS = [[CLASSES], [7, CLASSES], [7, 6, CLASSES]]
TIGHT: Any = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def a_network(rng: np.random.Generator, widths: list[int], padding: int = 0) -> tuple[Any, Any, Any]:
    ids = rng.integers(0, VOCABULARY, size=(BATCH, N))
    ids[:, 1] = padding
    ends = [E, *widths]
    layers = [(rng.normal(size=(a, b)), rng.normal(size=b)) for a, b in zip(ends, widths, strict=False)]
    return ids, rng.normal(size=(VOCABULARY, E)), layers


@pytest.mark.parametrize("padding", [0, 4, -1])
@pytest.mark.parametrize("widths", WIDTHS, ids=len)
def test_it_agrees_with_a_loop(rng: np.random.Generator, widths: list[int], padding: int) -> None:
    ids, embeddings, layers = a_network(rng, widths, padding)
    got = deep_averaging_network(ids, embeddings, layers, padding)
    assert got.shape == (BATCH, CLASSES)
    for row, logits in zip(ids.tolist(), got, strict=True):
        words = [word for word in row if word != padding]
        x = [math.fsum(embeddings[word, c] for word in words) / len(words) for c in range(E)]
        for depth, (W, b) in enumerate(layers):
            x = [math.fsum(x[r] * W[r, c] for r in range(len(x))) + b[c] for c in range(len(b))]
            x = x if depth == len(layers) - 1 else [math.tanh(value) for value in x]
        np.testing.assert_allclose(logits, x, **TIGHT)


@pytest.mark.parametrize("padding", [0, 4])
@pytest.mark.parametrize("widths", WIDTHS, ids=len)
def test_it_agrees_with_torchs_embedding_bag_and_linear_layers(
    rng: np.random.Generator, widths: list[int], padding: int
) -> None:
    ids, embeddings, layers = a_network(rng, widths, padding)
    ids[1] = padding  # torch's bag without words is zero as well
    table = torch.from_numpy(embeddings)
    x = F.embedding_bag(torch.from_numpy(ids), table, mode="mean", padding_idx=padding)
    for depth, (W, b) in enumerate(layers):
        x = F.linear(torch.tanh(x) if depth else x, torch.from_numpy(W).T, torch.from_numpy(b))
    np.testing.assert_allclose(deep_averaging_network(ids, embeddings, layers, padding), x, **TIGHT)


def test_order_of_words_and_padding_do_not_matter(rng: np.random.Generator) -> None:
    ids, embeddings, layers = a_network(rng, [7, CLASSES])
    want = deep_averaging_network(ids, embeddings, layers)
    np.testing.assert_allclose(deep_averaging_network(ids[:, ::-1], embeddings, layers), want, **TIGHT)
    padded = np.insert(ids, [0, 2, 2, N], 0, axis=1)
    np.testing.assert_allclose(deep_averaging_network(padded, embeddings, layers), want, **TIGHT)


@pytest.mark.parametrize("padding", [-1, VOCABULARY, 1000, -100])
def test_the_padding_id_may_lie_outside_the_vocabulary(rng: np.random.Generator, padding: int) -> None:
    ids, embeddings, layers = a_network(rng, [7, CLASSES])
    renamed = np.where(ids == 0, padding, ids)
    want = deep_averaging_network(ids, embeddings, layers)
    np.testing.assert_array_equal(deep_averaging_network(renamed, embeddings, layers, padding), want)


def test_a_row_of_padding_only_averages_to_zero(rng: np.random.Generator) -> None:
    _, embeddings, layers = a_network(rng, [7, CLASSES])
    (W1, b1), (W2, b2) = layers
    assert W1.shape == (E, 7)
    got = deep_averaging_network(np.full((1, N), 4), embeddings, layers, 4)
    np.testing.assert_allclose(got, [np.tanh(b1) @ W2 + b2], **TIGHT)


def test_whatever_the_padding_row_holds_is_not_used(rng: np.random.Generator) -> None:
    ids, embeddings, layers = a_network(rng, [CLASSES])
    want = deep_averaging_network(ids, embeddings, layers)
    embeddings[0] = np.nan
    np.testing.assert_array_equal(deep_averaging_network(ids, embeddings, layers), want)


def test_a_single_layer_has_no_tanh() -> None:
    logits = deep_averaging_network([[1, 2]], [[0.0], [100.0], [300.0]], [([[2.0]], [1.0])])
    np.testing.assert_array_equal(logits, [[401.0]])


# dtypes: the judge reads the truth in extended precision


def cast(dtype: type, divisor: float) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(1)
    ids, embeddings, layers = a_network(rng, [7, CLASSES])
    return (
        ids,
        np.round(embeddings * 16).astype(dtype) / dtype(divisor),
        [tuple(np.round(part * 16).astype(dtype) / dtype(divisor) for part in layer) for layer in layers],
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_the_floating_dtype_is_kept(dtype: type) -> None:
    assert deep_averaging_network(*cast(dtype, 16)).dtype == np.dtype(dtype)


def test_integers_become_float64() -> None:
    assert deep_averaging_network([[1, 0]], [[1], [2]], [([[3]], [4])]).dtype == np.dtype(np.float64)


def test_extended_precision_is_not_lost_on_the_way() -> None:
    """Inputs that float64 cannot hold give results that float64 cannot hold, and close to float64's."""
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    got, rounded = deep_averaging_network(*cast(np.longdouble, 7)), deep_averaging_network(*cast(np.float64, 7))
    assert (got != got.astype(np.float64)).any()
    np.testing.assert_allclose(got.astype(np.float64), rounded, rtol=1e-11, atol=1e-13)


def test_arguments_are_not_modified() -> None:
    ids, embeddings, layers = cast(np.float64, 16)
    for array in (ids, embeddings, *(part for layer in layers for part in layer)):
        array.setflags(write=False)
    deep_averaging_network(ids, embeddings, layers)


def test_the_module_holds_the_contracts_function_with_its_signature() -> None:
    names = [
        name
        for name, function in inspect.getmembers(averaging, inspect.isfunction)
        if not name.startswith("_") and function.__module__ == averaging.__name__
    ]
    assert names == ["deep_averaging_network"]
    parameters = inspect.signature(deep_averaging_network).parameters.values()
    shown = [p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters]
    assert shown == ["ids", "embeddings", "layers", "padding=0"]
