"""The reference agrees with torch, with slow and obvious loops, with exact arithmetic, and with the sheets' facts."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 -- torch's own name for it

from reference import attention
from reference.attention import (
    additive_attention,
    argmax_attention,
    attentive_rnn,
    averaging_query,
    causal_mask,
    dot_product_attention,
    head_queries,
    multi_head_attention,
    projection_matrix,
    receptive_field,
    relative_bias_attention,
    scaled_dot_product_attention,
    self_attention,
    softmax,
)

# Sizes are pairwise different: equal ones hide transposes and wrong axes.
BATCH, HEADS, N, M, D, H, V = 2, 3, 4, 5, 6, 7, 8
TIGHT: Any = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def tensor(x: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x, dtype=np.float64))


def a_mask(rng: np.random.Generator, *shape: int) -> Any:
    mask = np.where(rng.random(shape) < 0.4, -np.inf, rng.normal(size=shape))
    mask[..., 0] = 0.0  # no row is hidden whole
    return mask


def exact_softmax(row: Any) -> list[Any]:
    """Return softmax in 60 digits, without the shift: nothing overflows there."""
    with mpmath.workdps(60):
        powers = [mpmath.exp(mpmath.mpf(float(x))) for x in row]
        return [power / mpmath.fsum(powers) for power in powers]


# softmax


@pytest.mark.parametrize("scale", [1, 1e2, 1e4])
@pytest.mark.parametrize("axis", [-3, -2, -1, 0, 1, 2])
def test_softmax_agrees_with_torch(rng: np.random.Generator, axis: int, scale: float) -> None:
    x = rng.normal(size=(BATCH, N, D)) * scale
    np.testing.assert_allclose(softmax(x, axis=axis), torch.softmax(tensor(x), dim=axis), **TIGHT)


@pytest.mark.parametrize("scale", [1, 30, 1e4])
def test_softmax_is_right_to_the_last_bits(rng: np.random.Generator, scale: float) -> None:
    x = np.round(rng.normal(size=7) * scale * 16) / 16
    truth = [float(p) for p in exact_softmax(x)]
    np.testing.assert_allclose(softmax(x), truth, rtol=1e-14, atol=0)


def test_softmax_in_extended_precision_is_better_than_float64(rng: np.random.Generator) -> None:
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    x = np.round(rng.normal(size=7) * 16) / 16
    got = softmax(x.astype(np.longdouble))
    with mpmath.workdps(60):
        errors = [
            abs(mpmath.mpf(np.format_float_scientific(g, precision=25)) / t - 1)
            for g, t in zip(got, exact_softmax(x), strict=True)
        ]
    assert max(errors) < 1e-18


def test_softmax_is_a_distribution_and_shift_invariant_per_row(rng: np.random.Generator) -> None:
    x = rng.normal(size=(N, D)) * 100
    p = softmax(x)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=-1), 1, **TIGHT)
    np.testing.assert_allclose(softmax(x + rng.normal(size=(N, 1))), p, rtol=1e-9)


def test_softmax_of_ratios_is_exact_arithmetic() -> None:
    weights = [1, 2, 5, 8]
    truth = [float(Fraction(w, sum(weights))) for w in weights]
    np.testing.assert_allclose(softmax(np.log(weights)), truth, rtol=1e-15)


# attention with queries, keys and values


def test_dot_product_attention_agrees_with_a_loop(rng: np.random.Generator) -> None:
    q, keys, values = rng.normal(size=D), rng.normal(size=(N, D)), rng.normal(size=(N, V))
    weights = exact_softmax([math.fsum(q[c] * keys[i, c] for c in range(D)) for i in range(N)])
    context = [math.fsum(float(weights[i]) * values[i, c] for i in range(N)) for c in range(V)]
    got_context, got_weights = dot_product_attention(q, keys, values)
    np.testing.assert_allclose(got_context, context, **TIGHT)
    np.testing.assert_allclose(got_weights, [float(w) for w in weights], **TIGHT)


def test_one_dominant_key_copies_its_value(rng: np.random.Generator) -> None:
    values = rng.normal(size=(3, V))
    context, _ = dot_product_attention(np.array([100.0, 0, 0]), np.eye(3), values)
    np.testing.assert_allclose(context, values[0], **TIGHT)


@pytest.mark.parametrize("batch", [(), (1,), (BATCH,), (BATCH, 3)])
@pytest.mark.parametrize("masked", [None, "shared", "batched"])
@pytest.mark.parametrize("scale", [1, 100])
def test_scaled_attention_agrees_with_torch(
    rng: np.random.Generator, batch: tuple[int, ...], masked: str | None, scale: float
) -> None:
    Q, K, values = (rng.normal(size=(*batch, *tail)) for tail in [(N, D), (M, D), (M, V)])
    Q = Q * scale
    mask = None if masked is None else a_mask(rng, *(batch if masked == "batched" else ()), N, M)
    want = F.scaled_dot_product_attention(
        tensor(Q), tensor(K), tensor(values), attn_mask=None if mask is None else tensor(mask)
    )
    np.testing.assert_allclose(scaled_dot_product_attention(Q, K, values, mask), want, rtol=1e-10, atol=1e-12)


def test_scaled_attention_is_the_per_query_form_with_the_query_divided_by_the_root_of_its_width(
    rng: np.random.Generator,
) -> None:
    Q, K, values = rng.normal(size=(N, D)), rng.normal(size=(M, D)), rng.normal(size=(M, V))
    want = [dot_product_attention(q / math.sqrt(D), K, values)[0] for q in Q]
    np.testing.assert_allclose(scaled_dot_product_attention(Q, K, values), want, **TIGHT)


def test_the_mask_is_added_after_the_scaling() -> None:
    output = scaled_dot_product_attention(np.zeros((1, 4)), np.zeros((2, 4)), np.eye(2), np.log([[1.0, 3.0]]))
    np.testing.assert_allclose(output, [[0.25, 0.75]], **TIGHT)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_causal_mask_entry_by_entry(n: int) -> None:
    mask = causal_mask(n)
    assert mask.shape == (n, n)
    assert mask.dtype == np.float64
    for i, j in product(range(n), repeat=2):
        assert mask[i, j] == (0 if j <= i else -np.inf)


def test_with_the_causal_mask_an_output_ignores_later_inputs(rng: np.random.Generator) -> None:
    X, (W_q, W_k, W_v) = rng.normal(size=(N, D)), rng.normal(size=(3, D, H))
    before = self_attention(X, W_q, W_k, W_v, causal_mask(N))
    X[2] += 1
    after = self_attention(X, W_q, W_k, W_v, causal_mask(N))
    np.testing.assert_array_equal(before[:2], after[:2])
    assert not np.allclose(before[2:], after[2:])


def test_self_attention_is_permutation_equivariant(rng: np.random.Generator) -> None:
    X, weights = rng.normal(size=(BATCH, N, D)), rng.normal(size=(3, D, H))
    order = rng.permutation(N)
    np.testing.assert_allclose(
        self_attention(X[:, order], *weights), self_attention(X, *weights)[:, order], rtol=1e-10, atol=1e-12
    )


# several heads


@pytest.mark.parametrize("batch", [(), (1,), (BATCH,), (BATCH, 5)])
@pytest.mark.parametrize("masked", [None, "shared", "batched"])
def test_multi_head_attention_is_the_sum_over_heads(
    rng: np.random.Generator, batch: tuple[int, ...], masked: str | None
) -> None:
    X, (W_q, W_k, W_v) = rng.normal(size=(*batch, N, D)), rng.normal(size=(3, HEADS, D, H))
    W_o = rng.normal(size=(HEADS * H, D))
    mask = None if masked is None else a_mask(rng, *(batch if masked == "batched" else ()), N, N)
    want = sum(self_attention(X, W_q[i], W_k[i], W_v[i], mask) @ W_o[i * H : (i + 1) * H] for i in range(HEADS))
    got = multi_head_attention(X, W_q, W_k, W_v, W_o, mask)
    assert got.shape == X.shape
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def test_multi_head_attention_agrees_with_torchs_module(rng: np.random.Generator) -> None:
    width = 4  # torch has heads * h = d
    d = HEADS * width
    X, (W_q, W_k, W_v) = rng.normal(size=(BATCH, N, d)), rng.normal(size=(3, HEADS, d, width))
    W_o = rng.normal(size=(d, d))
    module = torch.nn.MultiheadAttention(d, HEADS, bias=False, batch_first=True, dtype=torch.float64)
    packed = np.concatenate([np.concatenate(list(W), axis=1).T for W in (W_q, W_k, W_v)])
    with torch.no_grad():
        module.in_proj_weight.copy_(tensor(packed))
        module.out_proj.weight.copy_(tensor(W_o.T))
        want, _ = module(tensor(X), tensor(X), tensor(X), attn_mask=tensor(causal_mask(N)))
    got = multi_head_attention(X, W_q, W_k, W_v, W_o, causal_mask(N))
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


# the sheets' other attentions


def test_relative_bias_attention_agrees_with_a_loop(rng: np.random.Generator) -> None:
    Q, K, values = (rng.normal(size=shape) for shape in [(N, D), (N, D), (N, V)])
    bias = rng.normal(size=2 * N - 1)
    for i, got in enumerate(relative_bias_attention(Q, K, values, bias)):
        weights = exact_softmax([float(Q[i] @ K[j]) + bias[i - j + N - 1] for j in range(N)])
        want = [math.fsum(float(weights[j]) * values[j, c] for j in range(N)) for c in range(V)]
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


def test_a_bias_of_position_products_equals_attention_on_concatenated_embeddings(rng: np.random.Generator) -> None:
    # Positions on a line have products that depend on i-j if the query's part is (i, 1) and the key's (1, -j).
    Q, K, values = rng.normal(size=(N, D)), rng.normal(size=(N, D)), rng.normal(size=(N, V))
    positions, ones = np.arange(float(N)), np.ones(N)
    q_all = np.column_stack([Q, positions, ones])
    k_all = np.column_stack([K, ones, -positions])
    want = [dot_product_attention(q, k_all, values)[0] for q in q_all]
    bias = np.arange(float(2 * N - 1)) - (N - 1)
    np.testing.assert_allclose(relative_bias_attention(Q, K, values, bias), want, rtol=1e-10, atol=1e-12)


def test_argmax_attention_copies_the_first_best_value(rng: np.random.Generator) -> None:
    Q, K = rng.integers(-1, 2, size=(20, 2)), rng.integers(-1, 2, size=(M, 2))
    values = rng.normal(size=(M, V))
    for q, got in zip(Q, argmax_attention(Q, K, values), strict=True):
        scores = [int(q @ k) for k in K]
        np.testing.assert_array_equal(got, values[scores.index(max(scores))])


@pytest.mark.parametrize(("heads", "levels"), [(1, 1), (1, 3), (2, 2), (3, 2)])
def test_receptive_field_is_what_a_stack_of_layers_reaches(heads: int, levels: int) -> None:
    # Each head of level l copies the value (head + 1) * (heads + 1)^l positions back and the residual keeps the
    # own, so no two ways lead to one input and the last position reaches as many inputs as there are ways.
    n = (heads + 1) ** levels
    reached = [{i} for i in range(n)]
    for level in range(levels):
        steps = [(head + 1) * (heads + 1) ** level for head in range(heads)]
        sources = []
        for step in steps:
            shift = np.eye(n, k=-step)
            shift[:step, 0] = 1  # the first positions look at position 0
            copied = argmax_attention(shift, np.eye(n), np.arange(float(n))[:, np.newaxis])
            sources.append(copied[:, 0].astype(int))
        reached = [reached[i].union(*(reached[source[i]] for source in sources)) for i in range(n)]
    assert len(reached[-1]) == receptive_field(heads, levels) == n


def test_receptive_field_is_exact_at_any_size() -> None:
    assert receptive_field(9, 100) == 10**100
    assert receptive_field(3, 0) == 1
    assert type(receptive_field(np.int64(9), np.int64(30))) is int  # type: ignore[arg-type]
    assert receptive_field(np.int64(9), np.int64(30)) == 10**30  # type: ignore[arg-type]


def test_additive_attention_agrees_with_a_loop(rng: np.random.Generator) -> None:
    q, states = rng.normal(size=D), rng.normal(size=(N, H))
    W1, W2, v = rng.normal(size=(V, D)), rng.normal(size=(V, H)), rng.normal(size=V)
    weights = exact_softmax([float(v @ np.tanh(W1 @ q + W2 @ states[i])) for i in range(N)])
    context = [math.fsum(float(weights[i]) * states[i, c] for i in range(N)) for c in range(H)]
    got_context, got_weights = additive_attention(q, states, W1, W2, v)
    np.testing.assert_allclose(got_context, context, **TIGHT)
    np.testing.assert_allclose(got_weights, [float(w) for w in weights], **TIGHT)


def test_attentive_rnn_agrees_with_a_loop(rng: np.random.Generator) -> None:
    xs, h0 = rng.normal(size=(M, D)), rng.normal(size=H)
    W, U = rng.normal(size=(H, D)), rng.normal(size=(H, H))
    h = [h0]
    for t in range(1, M + 1):
        s = np.tanh(W @ xs[t - 1] + U @ h[t - 1])
        weights = [float(p) for p in exact_softmax([s @ h[j] for j in range(1, t)])]
        h.append(s + sum((w * h[j] for w, j in zip(weights, range(1, t), strict=True)), np.zeros(H)))
    np.testing.assert_allclose(attentive_rnn(xs, h0, W, U), h[1:], rtol=1e-10, atol=1e-12)


def test_the_first_state_of_the_attentive_rnn_is_the_plain_recurrences(rng: np.random.Generator) -> None:
    xs, h0 = rng.normal(size=(1, D)), rng.normal(size=H)
    W, U = rng.normal(size=(H, D)), rng.normal(size=(H, H))
    np.testing.assert_allclose(attentive_rnn(xs, h0, W, U), [np.tanh(W @ xs[0] + U @ h0)], **TIGHT)
    assert attentive_rnn(xs[:0], h0, W, U).shape == (0, H)


# queries and projections made by hand


def test_the_projection_keeps_the_span_and_sends_the_complement_to_zero(rng: np.random.Generator) -> None:
    basis = np.linalg.qr(rng.normal(size=(D, D)))[0]
    A, B = basis[:, :2], basis[:, 2:]
    P = projection_matrix(A)
    np.testing.assert_allclose(P @ A, A, **TIGHT)
    np.testing.assert_allclose(P @ B, 0, **TIGHT)  # the sheet's line M v_b = v_b is wrong
    np.testing.assert_allclose(P @ P, P, **TIGHT)
    np.testing.assert_array_equal(P, P.T)
    assert np.linalg.matrix_rank(P) == 2


@pytest.mark.parametrize("scale", [1.0, 5.0, 40.0])
def test_the_averaging_query_gives_the_syllabus_weight(scale: float) -> None:
    n = 6
    _, weights = dot_product_attention(averaging_query(np.eye(n)[1], np.eye(n)[4], scale), np.eye(n), np.eye(n))
    with mpmath.workdps(30):
        power = mpmath.exp(scale)
        want = float(power / (2 * power + n - 2))
    np.testing.assert_allclose(weights[[1, 4]], want, rtol=1e-14)


def test_two_heads_copy_one_value_each() -> None:
    values = np.arange(12.0).reshape(4, 3)
    outputs = [dot_product_attention(q, np.eye(4), values)[0] for q in head_queries(np.eye(4)[0], np.eye(4)[2], 60.0)]
    np.testing.assert_allclose(outputs, values[[0, 2]], **TIGHT)


# dtypes: the judge reads the truth in extended precision

SHAPES: dict[str, list[Any]] = {
    "softmax": [(N, D)],
    "dot_product_attention": [(D,), (N, D), (N, V)],
    "scaled_dot_product_attention": [(BATCH, N, D), (BATCH, M, D), (BATCH, M, V), (N, M)],
    "self_attention": [(BATCH, N, D), (D, H), (D, H), (D, H), (N, N)],
    "multi_head_attention": [(BATCH, N, D), *[(HEADS, D, H)] * 3, (HEADS * H, D), (BATCH, N, N)],
    "relative_bias_attention": [(N, D), (N, D), (N, V), (2 * N - 1,)],
    "argmax_attention": [(N, D), (M, D), (M, V)],
    "additive_attention": [(D,), (N, H), (V, D), (V, H), (V,)],
    "attentive_rnn": [(M, D), (H,), (H, D), (H, H)],
    "projection_matrix": [(D, 2)],
    "averaging_query": [(D,), (D,), 3.0],
    "head_queries": [(D,), (D,), 3.0],
}


def called(name: str, dtype: type) -> list[Any]:
    rng = np.random.default_rng(1)
    arguments = [
        np.round(rng.normal(size=shape) * 16).astype(dtype) / dtype(16) if isinstance(shape, tuple) else shape
        for shape in SHAPES[name]
    ]
    if np.issubdtype(dtype, np.integer):
        arguments = [a.astype(dtype) if isinstance(a, np.ndarray) else a for a in arguments]
    returned = getattr(attention, name)(*arguments)
    return list(returned) if isinstance(returned, tuple) else [returned]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_the_floating_dtype_is_kept(name: str, dtype: type) -> None:
    assert {result.dtype for result in called(name, dtype)} == {np.dtype(dtype)}


@pytest.mark.parametrize("name", SHAPES)
def test_integers_become_float64(name: str) -> None:
    assert {result.dtype for result in called(name, np.int64)} == {np.dtype(np.float64)}


@pytest.mark.parametrize("name", SHAPES)
def test_extended_precision_is_not_lost_on_the_way(name: str) -> None:
    """Inputs that float64 cannot hold give results that float64 cannot hold, and close to float64's."""
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    rng = np.random.default_rng(1)
    wide = [rng.normal(size=s).astype(np.longdouble) / 7 if isinstance(s, tuple) else s for s in SHAPES[name]]
    narrow = [a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in wide]
    function = getattr(attention, name)
    got, rounded = np.concatenate([np.ravel(part) for part in function(*wide)]), function(*narrow)
    assert (got != got.astype(np.float64)).any()
    np.testing.assert_allclose(
        got.astype(np.float64), np.concatenate([np.ravel(part) for part in rounded]), rtol=1e-11, atol=1e-13
    )


def test_the_scale_is_rounded_to_extended_precision() -> None:
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    one = np.longdouble(1)
    Q, K = np.array([[one, one, one]]), np.array([[one, one, one], [0, 0, 0]])
    (weights,) = scaled_dot_product_attention(Q, K, np.eye(2, dtype=np.longdouble))
    with mpmath.workdps(60):
        truth = 1 / (1 + mpmath.exp(-mpmath.sqrt(3)))
        got = mpmath.mpf(np.format_float_scientific(weights[0], precision=25))
        assert abs(got / truth - 1) < 1e-18


@pytest.mark.parametrize("name", SHAPES)
def test_arguments_are_not_modified(name: str) -> None:
    rng = np.random.default_rng(2)
    arguments = [rng.normal(size=shape) if isinstance(shape, tuple) else shape for shape in SHAPES[name]]
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            argument.setflags(write=False)
    getattr(attention, name)(*arguments)


def test_the_module_holds_the_contracts_functions_with_its_signatures() -> None:
    contract = """
    softmax(x, axis=-1)
    dot_product_attention(q, K, V)
    scaled_dot_product_attention(Q, K, V, mask=None)
    causal_mask(n)
    self_attention(X, W_q, W_k, W_v, mask=None)
    multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None)
    relative_bias_attention(Q, K, V, bias)
    argmax_attention(Q, K, V)
    receptive_field(heads, levels)
    additive_attention(q, H, W1, W2, v)
    attentive_rnn(xs, h0, W, U)
    projection_matrix(A)
    averaging_query(k_a, k_b, scale)
    head_queries(mu_a, mu_b, scale)
    """
    got = {}
    for name, function in inspect.getmembers(attention, inspect.isfunction):
        if not name.startswith("_") and function.__module__ == attention.__name__:
            parameters = inspect.signature(function).parameters.values()
            got[name] = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters)
    want = dict(line.strip().rstrip(")").split("(") for line in contract.strip().splitlines())
    assert got == want
