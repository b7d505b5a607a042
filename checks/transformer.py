"""What every right transformer.py does.

Inputs are designed for the mistakes they must expose: sizes pairwise different, gamma and
beta drawn apart for each norm, biases that are not zero, weights of both signs, and rows
whose variance is about as small as eps, where alone it shows where and how large eps is.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from hypothesis import strategies as st

from checks import inputs
from checks.check import check, given
from checks.expect import call, expect_close, expect_finite
from checks.inputs import Array, Draw
from checks.standard import agreement, unmodified

EPS = 1e-5  # the contract's default

# ------------------------------------------------------------------------- layer norm


def spread_out(x: Array, limit: float) -> Array:
    """Add a ramp to every row whose entries lie close together: normalising one enlarges its rounding."""
    if x.shape[-1] == 1:
        return x  # the only entry is its own mean, without rounding
    ramp = limit / 2 * np.arange(x.shape[-1])
    return np.where(np.ptp(x, axis=-1, keepdims=True) < limit / 4, x + ramp, x)


@cache
def rows(shape: tuple[int, ...], limit: float) -> st.SearchStrategy[Array]:
    """Draw rows that differ within themselves: standard deviation at least a fifteenth of `limit`, or width one."""
    return inputs.grid(shape, limit=limit).map(lambda x: spread_out(x, limit))


@st.composite
def norms(draw: Draw) -> tuple[Any, ...]:
    """Draw rows of one to four dimensions, with a large variance or one as small as eps; with eps or without."""
    shapes = [(3,), (4,), (3, 1), (1, 4), (2, 3), (3, 4), (5, 2), (2, 3, 4), (3, 1, 5), (4, 2, 3), (2, 3, 1, 4)]
    shape = draw(st.sampled_from(shapes))
    x = draw(rows(shape, draw(st.sampled_from([2.0, 8.0, 2.0**-6, 2.0**-8]))))
    eps = draw(st.sampled_from([None, None, 1e-3, 0.25, 1e-6]))
    gamma, beta = draw(inputs.grid(shape[-1:])), draw(inputs.grid(shape[-1:]))
    return (x, gamma, beta) if eps is None else (x, gamma, beta, eps)


@st.composite
def wide_rows(draw: Draw) -> tuple[Array, Array, Array]:
    """Draw a matrix with a variance of 0.4 or more in every row, so that eps hardly counts."""
    n, d = draw(inputs.sizes(2, among=(2, 3, 4, 5)))
    return draw(rows((n, d), 8.0)), draw(inputs.grid((d,))), draw(inputs.grid((d,)))


@st.composite
def wide_rows_and_shifts(draw: Draw) -> tuple[Array, Array, Array, Array]:
    x, gamma, beta = draw(wide_rows())
    return x, gamma, beta, draw(inputs.grid((len(x), 1), limit=8))


@st.composite
def wide_rows_and_scales(draw: Draw) -> tuple[Array, Array, Array, Array]:
    x, gamma, beta = draw(wide_rows())
    scales = draw(st.lists(st.sampled_from([2.0, 1.0, 8.0, 1024.0, 2.0**20]), min_size=len(x), max_size=len(x)))
    return x, gamma, beta, np.array(scales)[:, None]


@st.composite
def narrow_rows(draw: Draw) -> tuple[Any, ...]:
    """Draw a matrix whose variance is about as large as eps, and perhaps an eps."""
    n, d = draw(inputs.sizes(2, among=(2, 3, 4, 5)))
    eps = draw(st.sampled_from([None, 1e-3, 1e-4]))
    x = draw(rows((n, d), 2.0**-6 if eps else 2.0**-8))
    return (x, np.ones(d), np.zeros(d)) if eps is None else (x, np.ones(d), np.zeros(d), eps)


@st.composite
def batched_rows(draw: Draw) -> tuple[Array, Array, Array]:
    """Draw a batch of sequences: three axes, of which only the last is normalised."""
    batch, n, d = draw(inputs.sizes(3, among=(2, 3, 4)))
    return draw(rows((batch, n, d), 2.0)), draw(inputs.grid((d,))), draw(inputs.grid((d,)))


@st.composite
def constant_rows(draw: Draw) -> tuple[Array, Array, Array]:
    n, d = draw(st.sampled_from([(1, 2), (2, 3), (3, 2), (1, 4), (3, 5), (4, 3)]))
    return np.repeat(draw(inputs.grid((n, 1))), d, axis=1), draw(inputs.grid((d,))), draw(inputs.grid((d,)))


layer_norm_agrees = agreement(
    of="transformer.layer_norm",
    arguments=norms(),
    claim="The result is (x - mean) / sqrt(var + eps), times gamma, plus beta;"
    " mean and population variance are taken over the last axis.",
    hint="Try rows with a small variance. Where does eps go? What do you divide the squared deviations by, d or d-1?",
)

layer_norm_leaves_arguments_alone = unmodified(of="transformer.layer_norm", arguments=norms())


@check(
    of="transformer.layer_norm",
    claim="With gamma = 1 and beta = 0 every row has mean 0 and variance 1, up to eps.",
    hint="The variance is the mean of d squared deviations; np.var does that, torch.var and torch.std divide by d-1.",
)
@given(case=wide_rows())
def rows_have_mean_zero_and_variance_one(layer_norm: Any, case: tuple[Array, Array, Array]) -> None:
    """Compare the variance with 1: it is var / (var + eps), which is less by eps / 0.4 = 2.5e-5 at most."""
    x = case[0]
    one, zero = np.ones(x.shape[-1]), np.zeros(x.shape[-1])
    with np.errstate(all="ignore"):
        normalised = layer_norm(x, one, zero)
        mean, variance = normalised.mean(axis=-1), normalised.var(axis=-1)
    expect_close(call("layer_norm", x, one, zero, then=".mean(axis=-1)"), got=mean, want=np.zeros(len(x)), scale=2.0)
    expect_close(call("layer_norm", x, one, zero, then=".var(axis=-1)"), got=variance, want=np.ones(len(x)), scale=8.0)


@check(
    of="transformer.layer_norm",
    claim="Adding one number to every entry of a row leaves that row's result unchanged.",
    hint="The row's mean takes the number away again. Over which axis do you take the mean?",
)
@given(case=wide_rows_and_shifts())
def shift_of_a_row_cancels(layer_norm: Any, case: tuple[Array, Array, Array, Array]) -> None:
    x, gamma, beta, shift = case
    about, same_as = call("layer_norm", x + shift, gamma, beta), call("layer_norm", x, gamma, beta)
    got, want = layer_norm(x + shift, gamma, beta), layer_norm(x, gamma, beta)
    expect_close(about, got=got, want=want, scale=8.0, same_as=same_as)


@check(
    of="transformer.layer_norm",
    claim="Multiplying a row by a number above 1 leaves its result unchanged, up to eps / (2 var) of itself.",
    hint="The standard deviation grows with the row. Do you divide by it, or by the variance, and over which axis?",
)
@given(case=wide_rows_and_scales())
def scale_of_a_row_cancels(layer_norm: Any, case: tuple[Array, Array, Array, Array]) -> None:
    """Compare up to eps: 1/sqrt(1 + eps/var) is within eps/(2 var) of 1.

    Here var >= 0.4 and a normalised entry times gamma is at most 4, so eps accounts for 5e-5.
    """
    x, gamma, beta, scale = case
    about, same_as = call("layer_norm", scale * x, gamma, beta), call("layer_norm", x, gamma, beta)
    got, want = layer_norm(scale * x, gamma, beta), layer_norm(x, gamma, beta)
    expect_close(about, got=got, want=want, scale=8.0, same_as=same_as)


@check(
    of="transformer.layer_norm",
    claim="eps is added to the variance, under the root: with gamma = 1 and beta = 0 the result's variance is"
    " var / (var + eps).",
    hint="sqrt(var) + eps is another number than sqrt(var + eps). The default is 1e-5; elsewhere it is another one.",
)
@given(case=narrow_rows())
def eps_is_added_to_the_variance(layer_norm: Any, case: tuple[Any, ...]) -> None:
    x, eps = case[0], case[3] if len(case) > 3 else EPS
    variance = x.var(axis=-1)
    with np.errstate(all="ignore"):
        got = layer_norm(*case).var(axis=-1)
    expect_close(call("layer_norm", *case, then=".var(axis=-1)"), got=got, want=variance / (variance + eps), scale=4.0)


@check(
    of="transformer.layer_norm",
    claim="Each row is normalised alone: its result does not depend on the other rows or on the batch.",
    hint="Mean and variance run over the last axis only, with keepdims=True. Over axis 0 it is batch normalisation.",
)
@given(case=batched_rows())
def rows_are_normalised_alone(layer_norm: Any, case: tuple[Array, Array, Array]) -> None:
    x, gamma, beta = case
    together = layer_norm(x, gamma, beta)
    alone = layer_norm(x[-1:, -1:], gamma, beta)
    about, same_as = call("layer_norm", *case, then="[-1:, -1:]"), call("layer_norm", x[-1:, -1:], gamma, beta)
    expect_close(about, got=together[-1:, -1:], want=alone, scale=8.0, same_as=same_as)


@check(
    of="transformer.layer_norm",
    claim="gamma multiplies and beta is added, entry by entry, after the normalisation.",
    hint="gamma and beta have one entry per column. Are both used, in this order, and after the division?",
)
@given(case=wide_rows())
def gamma_scales_and_beta_shifts(layer_norm: Any, case: tuple[Array, Array, Array]) -> None:
    x, gamma, beta = case
    plain = x, np.ones_like(gamma), np.zeros_like(beta)
    with np.errstate(all="ignore"):
        want = layer_norm(*plain) * gamma + beta
    same_as = call("layer_norm", *plain, then=" * gamma + beta")
    expect_close(call("layer_norm", *case), got=layer_norm(*case), want=want, scale=4.0, same_as=same_as)


@check(
    of="transformer.layer_norm",
    claim="A row of equal entries gives beta: nothing deviates from the mean, and eps keeps the division defined.",
    hint="If you see nan, you divided 0 by 0. What is eps for?",
)
@given(case=constant_rows())
def constant_rows_give_beta(layer_norm: Any, case: tuple[Array, Array, Array]) -> None:
    """Allow 2.4e-4: in single precision a mean may be off by 1e-7, and sqrt(eps) enlarges that 316 times."""
    x, _, beta = case
    expect_close(call("layer_norm", *case), got=layer_norm(*case), want=np.broadcast_to(beta, x.shape), scale=16.0)


# ------------------------------------------------------------------ feed-forward network


@st.composite
def networks(draw: Draw, *, plain: bool = False) -> tuple[Array, ...]:
    """Draw inputs, two matrices and two biases; length, width and hidden width pairwise different."""
    n, d, m = draw(inputs.sizes(3))
    batch = () if plain else draw(inputs.batches())
    X = draw(inputs.grid((*batch, n, d), limit=4))
    W1, b1 = draw(inputs.grid((d, m), limit=1)), draw(inputs.grid((m,)))
    return X, W1, b1, draw(inputs.grid((m, d), limit=1)), draw(inputs.grid((d,)))


@st.composite
def networks_and_inputs(draw: Draw) -> tuple[Array, ...]:
    X, W1, b1, W2, b2 = draw(networks(plain=True))
    return X, draw(inputs.grid(X.shape, limit=4)), W1, b1, W2, b2


feed_forward_agrees = agreement(
    of="transformer.feed_forward",
    arguments=networks(),
    claim="The output is ReLU(X W1 + b1) W2 + b2.",
    hint="Which activation, where does it stand, and is each bias added on its own side of it?",
)

feed_forward_leaves_arguments_alone = unmodified(of="transformer.feed_forward", arguments=networks())


@check(
    of="transformer.feed_forward",
    claim="It acts on each position alone: row i of the output is the output for row i.",
    hint="The matrices act on the last axis. Nothing may be summed or normalised over positions.",
)
@given(case=networks(plain=True))
def positions_are_transformed_alone(feed_forward: Any, case: tuple[Array, ...]) -> None:
    X, *parameters = case
    together = feed_forward(X, *parameters)
    alone = feed_forward(X[-1:], *parameters)
    about, same_as = call("feed_forward", *case, then="[-1:]"), call("feed_forward", X[-1:], *parameters)
    expect_close(about, got=together[-1:], want=alone, scale=64.0, same_as=same_as)


@check(
    of="transformer.feed_forward",
    claim="Hidden units whose input is negative are silent: where all are, the output is b2.",
    hint="ReLU is exactly 0 for negative inputs; GELU, leaky ReLU and the like are not.",
)
@given(case=networks(plain=True))
def negative_units_are_silent(feed_forward: Any, case: tuple[Array, ...]) -> None:
    X, W1, _, W2, b2 = case
    low = -1.0 - (np.abs(X) @ np.abs(W1)).max(axis=0)  # every unit of every row is at -1 or below
    about = call("feed_forward", X, W1, low, W2, b2)
    expect_close(about, got=feed_forward(X, W1, low, W2, b2), want=np.broadcast_to(b2, X.shape), scale=2.0)


@check(
    of="transformer.feed_forward",
    claim="Hidden units whose input is positive pass it on: where all are, the output half-way between two inputs"
    " is half-way between their outputs.",
    hint="ReLU bends at 0 and nowhere else, and there is no activation on the output.",
)
@given(case=networks_and_inputs())
def positive_units_are_linear(feed_forward: Any, case: tuple[Array, ...]) -> None:
    X, Y, W1, _, W2, b2 = case
    high = 1.0 + (np.maximum(np.abs(X), np.abs(Y)) @ np.abs(W1)).max(axis=0)
    parameters = W1, high, W2, b2
    with np.errstate(all="ignore"):
        want = (feed_forward(X, *parameters) + feed_forward(Y, *parameters)) / 2
    about = call("feed_forward", (X + Y) / 2, *parameters)
    got = feed_forward((X + Y) / 2, *parameters)
    expect_close(about, got=got, want=want, scale=64.0, sentence="The output is not half-way between the two.")


@check(
    of="transformer.feed_forward",
    claim="Doubling the input and both biases doubles the output.",
    hint="ReLU(2 x) = 2 ReLU(x). Smooth activations bend, so they do not have this law.",
)
@given(case=networks(plain=True))
def doubling_doubles(feed_forward: Any, case: tuple[Array, ...]) -> None:
    X, W1, b1, W2, b2 = case
    doubled = 2 * X, W1, 2 * b1, W2, 2 * b2
    with np.errstate(all="ignore"):
        want = 2 * feed_forward(*case)
    same_as = call("feed_forward", *case, then=" * 2")
    expect_close(call("feed_forward", *doubled), got=feed_forward(*doubled), want=want, scale=64.0, same_as=same_as)


@check(
    of="transformer.feed_forward",
    claim="Inputs in the millions give finite outputs.",
    hint="max(x, 0) cannot overflow. Is there an exp in your activation?",
)
@given(case=networks(plain=True))
def feed_forward_survives_extreme_inputs(feed_forward: Any, case: tuple[Array, ...]) -> None:
    X, *parameters = case
    large = 2.0**20 * X
    expect_finite(call("feed_forward", large, *parameters), got=feed_forward(large, *parameters))


# --------------------------------------------------------------------- transformer layer

Layer = tuple[Array, dict[str, Array]]

# Three columns or more: two numbers normalise to 1 and -1 whatever they are.
SIZES = sorted((s for s in permutations((1, 2, 3, 4, 5), 3) if s[1] >= 3), key=lambda s: (sum(s), s))


@st.composite
def layers(draw: Draw, *, limits: tuple[float, ...] = (2.0,), fewest: int = 1, plain: bool = False) -> Layer:
    """Draw a sequence and a layer; all projections apart, two norms with a gamma and a beta of their own."""
    n, d, m = draw(st.sampled_from([size for size in SIZES if size[0] >= fewest]))
    batch = () if plain else draw(inputs.batches())
    X = draw(rows((*batch, n, d), draw(st.sampled_from(limits))))
    square, vector = inputs.grid((d, d), limit=0.5), inputs.grid((d,), limit=0.5)
    params = {"W_q": 2 * draw(square), "W_k": 2 * draw(square), "W_v": draw(square)}
    params |= {"W1": draw(inputs.grid((d, m), limit=1)), "b1": draw(inputs.grid((m,), limit=1))}
    params |= {"W2": draw(inputs.grid((m, d), limit=0.5)), "b2": draw(vector)}
    for which in ("1", "2"):
        params |= {f"gamma{which}": 1.25 + draw(vector), f"beta{which}": draw(vector)}
    return X, params


# A variance as small as eps shows which eps the norms have.
any_limit = (2.0, 2.0, 2.0**-7)


@st.composite
def post_norm_arguments(draw: Draw) -> tuple[Any, ...]:
    X, params = draw(layers(limits=any_limit))
    return (X, params) if draw(st.booleans()) else (X, params, False)


@st.composite
def arguments_of_both(draw: Draw) -> tuple[Any, ...]:
    X, params = draw(layers(limits=any_limit))
    return X, params, draw(st.booleans())


@st.composite
def layers_and_order(draw: Draw) -> tuple[Any, ...]:
    X, params = draw(layers(fewest=2, plain=True))
    return X, params, draw(st.booleans()), draw(inputs.orders(len(X)))


@st.composite
def layers_and_shifts(draw: Draw) -> tuple[Any, ...]:
    X, params = draw(layers(plain=True))
    return X, params, draw(inputs.grid((len(X), 1), limit=4))


@st.composite
def batched_layers(draw: Draw) -> tuple[Any, ...]:
    """Draw a batch of two sequences or three, of another length than two or three."""
    X, params = draw(layers(plain=True))
    others = [draw(rows(X.shape, 2.0)) for _ in range(2 if len(X) != 3 else 1)]
    return np.stack([X, *others]), params, draw(st.booleans())


def with_silent_parts(params: dict[str, Array]) -> dict[str, Array]:
    """Return the layer with attention and network giving zero: nothing is left but residuals and norms."""
    return params | {name: np.zeros_like(params[name]) for name in ("W_v", "W2", "b2")}


def with_plain_norms(params: dict[str, Array]) -> dict[str, Array]:
    """Return the layer with gamma = 1 and beta = 0 in both norms."""
    one, zero = np.ones_like(params["gamma1"]), np.zeros_like(params["beta1"])
    return params | {"gamma1": one, "beta1": zero, "gamma2": one, "beta2": zero}


def standardised(X: Array) -> Array:
    result: Array = (X - X.mean(axis=-1, keepdims=True)) / X.std(axis=-1, keepdims=True)
    return result


transformer_layer_agrees = agreement(
    of="transformer.transformer_layer",
    arguments=post_norm_arguments(),
    claim="By default each norm comes after its residual: O1 = LN1(SA(X) + X), output LN2(FFN(O1) + O1).",
    hint="Go through S2 eq. 5 from the inside: what enters the attention, what is added to it, and which norm follows?",
)

transformer_layer_leaves_arguments_alone = unmodified(of="transformer.transformer_layer", arguments=arguments_of_both())


@check(
    of="transformer.transformer_layer",
    claim="With norm_first=True each part reads a normalised input and adds its output to the residual:"
    " X1 = X + SA(LN1(X)), output X1 + FFN(LN2(X1)).",
    hint="What is added to is never normalised, and no norm follows at the end.",
)
@given(case=layers(limits=any_limit))
def pre_norm_agrees_with_definition(transformer_layer: Any, truth: Any, case: Layer) -> None:
    about = call("transformer_layer", *case, True)
    expect_close(about, got=transformer_layer(*case, True), want=truth.transformer_layer(*case, True))


@check(
    of="transformer.transformer_layer",
    claim="Pre-norm: when attention and network give zero (W_v, W2 and b2 are 0) the residual passes X through.",
    hint="X itself is added at the end, not a normalised X. There is no norm after the last sum.",
)
@given(case=layers())
def pre_norm_passes_the_input_through(transformer_layer: Any, case: Layer) -> None:
    X, params = case[0], with_silent_parts(case[1])
    expect_close(call("transformer_layer", X, params, True), got=transformer_layer(X, params, True), want=X, scale=4.0)


@check(
    of="transformer.transformer_layer",
    claim="Post-norm: when attention and network give zero, gamma is 1 and beta 0, the rows of X come out normalised.",
    hint="Both residuals must be there: without them nothing but zeros is left to normalise.",
)
@given(case=layers())
def post_norm_normalises_the_residual(transformer_layer: Any, case: Layer) -> None:
    """Compare up to eps: four times X has a variance of 0.4 or more, so eps takes 2e-5 of an entry at most."""
    X, params = 4 * case[0], with_plain_norms(with_silent_parts(case[1]))
    about = call("transformer_layer", X, params)
    expect_close(about, got=transformer_layer(X, params), want=standardised(X), scale=8.0)


@check(
    of="transformer.transformer_layer",
    claim="Post-norm: the second norm comes last, so gamma2 multiplies its result and beta2 is added to it.",
    hint="Does the second norm use gamma2 and beta2, and does anything happen after it?",
)
@given(case=layers())
def post_norm_ends_with_the_second_norm(transformer_layer: Any, case: Layer) -> None:
    X, params = case
    plain = params | {"gamma2": np.ones_like(params["gamma2"]), "beta2": np.zeros_like(params["beta2"])}
    with np.errstate(all="ignore"):
        want = transformer_layer(X, plain) * params["gamma2"] + params["beta2"]
    about, same_as = call("transformer_layer", X, params), call("transformer_layer", X, plain, then=" * gamma2 + beta2")
    expect_close(about, got=transformer_layer(X, params), want=want, scale=8.0, same_as=same_as)


@check(
    of="transformer.transformer_layer",
    claim="Pre-norm: the network's output is added last, so doubling W2 and b2 doubles what they add.",
    hint="After X1 + FFN(LN2(X1)) nothing follows. A norm after the sum belongs to the end of the whole model.",
)
@given(case=layers())
def pre_norm_ends_with_the_residual(transformer_layer: Any, case: Layer) -> None:
    X, params = case
    without, doubled = (params | {name: factor * params[name] for name in ("W2", "b2")} for factor in (0.0, 2.0))
    with np.errstate(all="ignore"):
        want = 2 * transformer_layer(X, params, True) - transformer_layer(X, without, True)
    about = call("transformer_layer", X, doubled, True)
    got = transformer_layer(X, doubled, True)
    expect_close(about, got=got, want=want, scale=32.0, sentence="W2 and b2 doubled do not add twice as much.")


@check(
    of="transformer.transformer_layer",
    claim="Pre-norm: adding one number to every entry of a row of X adds it to that row of the output, and no more.",
    hint="The norms hide the number from attention and network; the residual carries it. Do queries, keys, values and"
    " the network all read a normalised input?",
)
@given(case=layers_and_shifts())
def pre_norm_carries_a_shift(transformer_layer: Any, case: tuple[Any, ...]) -> None:
    X, params, shift = case
    with np.errstate(all="ignore"):
        want = transformer_layer(X, params, True) + shift
    about = call("transformer_layer", X + shift, params, True)
    same_as = call("transformer_layer", X, params, True, then=f" + {shift.tolist()}")
    expect_close(about, got=transformer_layer(X + shift, params, True), want=want, scale=32.0, same_as=same_as)


@check(
    of="transformer.transformer_layer",
    claim="Without positions, reordering the inputs reorders the outputs in the same way.",
    hint="Attention sees a set, norms and network see one position each. Is there a mask, or a norm over positions?",
)
@given(case=layers_and_order())
def layer_has_no_positions(transformer_layer: Any, case: tuple[Any, ...]) -> None:
    X, params, norm_first, order = case
    about = call("transformer_layer", X[order], params, norm_first)
    got = transformer_layer(X[order], params, norm_first)
    same_as = call("transformer_layer", X, params, norm_first, then=f"[{order.tolist()}]")
    want = transformer_layer(X, params, norm_first)[order]
    expect_close(about, got=got, want=want, scale=32.0, same_as=same_as)


@check(
    of="transformer.transformer_layer",
    claim="Batch dimensions are independent: batch b of the output is the output for batch b.",
    hint="Transpose the last two axes of the keys only, and normalise over the last axis only.",
)
@given(case=batched_layers())
def layer_batches_are_independent(transformer_layer: Any, case: tuple[Any, ...]) -> None:
    X, params, norm_first = case
    together = transformer_layer(X, params, norm_first)
    alone = transformer_layer(X[-1], params, norm_first)
    about, same_as = call("transformer_layer", *case, then="[-1]"), call("transformer_layer", X[-1], params, norm_first)
    expect_close(about, got=together[-1], want=alone, scale=32.0, same_as=same_as)


@check(
    of="transformer.transformer_layer",
    claim="Scores in the thousands give finite outputs, in both variants.",
    hint="If you see nan, exp overflowed: subtract the largest score of each row before you exponentiate.",
)
@given(case=layers(plain=True), norm_first=st.booleans())
def layer_survives_extreme_scores(transformer_layer: Any, case: Layer, norm_first: bool) -> None:
    large = 64.0 * np.eye(case[0].shape[-1])  # the score of a row with itself is 4096 |x|² / sqrt(d)
    X, params = 4 * case[0], with_plain_norms(case[1]) | {"W_q": large, "W_k": large}
    about = call("transformer_layer", X, params, norm_first)
    expect_finite(about, got=transformer_layer(X, params, norm_first))
