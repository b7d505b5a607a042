"""What every right attention.py does.

Inputs are designed for the mistakes they must expose: sizes pairwise different, keys and
values drawn apart, every projection drawn apart, unequal rows, masks sometimes there and
sometimes not, single elements and batches of one among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from checks import inputs
from checks.check import check, given
from checks.expect import call, expect, expect_close, expect_finite
from checks.inputs import Array, Draw
from checks.standard import agreement, unmodified

BIG = 1e4

# ---------------------------------------------------------------------------- softmax


@st.composite
def softmax_arguments(draw: Draw) -> tuple[Any, ...]:
    """Draw logits of one to three dimensions, with an axis or without."""
    shape = draw(st.sampled_from([(1,), (3,), (2, 3), (3, 2), (1, 4), (4, 1), (2, 3, 4), (3, 1, 2), (1, 1)]))
    logits = draw(inputs.grid(shape, limit=8))
    axis = draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    return (logits,) if axis is None else (logits, axis)


@st.composite
def rows_of_logits(draw: Draw) -> Array:
    """Draw a matrix of logits with at least two rows and two columns."""
    rows, columns = draw(inputs.sizes(2, among=(2, 3, 4, 5)))
    logits: Array = draw(inputs.grid((rows, columns), limit=8))
    return logits


@st.composite
def spread_logits(draw: Draw) -> Array:
    """Draw logits up to ten thousand in size, different ones at least 78 apart."""
    rows, columns = draw(inputs.sizes(2, among=(1, 2, 3, 4)))
    logits: Array = draw(inputs.grid((rows, columns), limit=8)) * (BIG / 8)
    return logits


softmax_agrees = agreement(
    of="attention.softmax",
    arguments=softmax_arguments(),
    claim="softmax(x)_i = exp(x_i) / sum_j exp(x_j), along the given axis (the last one by default).",
    hint="Write down one row by hand. Which axis does your sum run over, and is `axis` used everywhere?",
)

softmax_leaves_arguments_alone = unmodified(of="attention.softmax", arguments=softmax_arguments())


@check(
    of="attention.softmax",
    claim="Every entry is positive and every row sums to 1.",
    hint="Divide each row by its own sum. `keepdims=True` keeps the sum in a shape that divides row by row.",
)
@given(logits=rows_of_logits())
def rows_sum_to_one(softmax: Any, logits: Array) -> None:
    weights = softmax(logits)
    expect(call("softmax", logits), holds=bool((weights > 0).all()), gave=weights, expected="positive entries")
    expect_close(call("softmax", logits, then=".sum(axis=-1)"), got=weights.sum(axis=-1), want=np.ones(len(logits)))


@st.composite
def logits_and_shifts(draw: Draw) -> tuple[Array, Array]:
    logits = draw(rows_of_logits())
    return logits, draw(inputs.grid((len(logits), 1), limit=32))


@check(
    of="attention.softmax",
    claim="Adding one number to every logit of a row leaves that row unchanged.",
    hint="exp(x + c) = exp(x) exp(c), and exp(c) cancels. Which axis do you sum over?",
)
@given(drawn=logits_and_shifts())
def shift_invariance(softmax: Any, drawn: tuple[Array, Array]) -> None:
    logits, shift = drawn
    moved = call("softmax", logits + shift)
    expect_close(moved, got=softmax(logits + shift), want=softmax(logits), same_as=call("softmax", logits))


@st.composite
def logits_and_order(draw: Draw) -> tuple[Array, Array]:
    logits = draw(rows_of_logits())
    return logits, draw(inputs.orders(logits.shape[1]))


@check(
    of="attention.softmax",
    claim="Reordering the logits of a row reorders its weights in the same way.",
    hint="No position is special: each weight depends on its own logit and on the sum over the row.",
)
@given(drawn=logits_and_order())
def permutation_equivariance(softmax: Any, drawn: tuple[Array, Array]) -> None:
    logits, order = drawn
    expect_close(
        call("softmax", logits[:, order]),
        got=softmax(logits[:, order]),
        want=softmax(logits)[:, order],
        same_as=call("softmax", logits, then=f"[:, {order.tolist()}]"),
    )


@check(
    of="attention.softmax",
    claim="softmax(x, axis=0) normalises columns: it is the softmax of the transpose, transposed back.",
    hint="Use the `axis` argument in the maximum and in the sum, with keepdims=True in both.",
)
@given(logits=rows_of_logits())
def any_axis(softmax: Any, logits: Array) -> None:
    expect_close(
        call("softmax", logits, 0),
        got=softmax(logits, 0),
        want=softmax(logits.T, 1).T,
        same_as=call("softmax", logits.T, 1, then=".T"),
    )


@check(
    of="attention.softmax",
    claim="With logits up to ten thousand apart the largest ones share the whole weight, and nothing overflows.",
    hint="exp(1000) is inf, and inf / inf is nan. Subtract each row's maximum before you exponentiate.",
)
@given(logits=spread_logits())
def survives_extreme_logits(softmax: Any, logits: Array) -> None:
    weights = softmax(logits)
    expect_finite(call("softmax", logits), got=weights)
    largest = logits == logits.max(axis=-1, keepdims=True)  # others are 78 lower: exp(-78) is nothing
    expect_close(call("softmax", logits), got=weights, want=largest / largest.sum(axis=-1, keepdims=True))


# ------------------------------------------------------------- dot-product attention


@st.composite
def one_query(draw: Draw) -> tuple[Array, Array, Array]:
    """Draw a query, keys and values with n, d and v different."""
    n, d, v = draw(inputs.sizes(3))
    return draw(inputs.grid((d,))), draw(inputs.grid((n, d))), draw(inputs.grid((n, v), limit=8))


@st.composite
def one_query_and_order(draw: Draw) -> tuple[Array, Array, Array, Array]:
    q, K, V = draw(one_query())
    return q, K, V, draw(inputs.orders(len(K)))


@st.composite
def dominant_key(draw: Draw) -> tuple[Array, Array, Array, int]:
    """Draw keys of which one scores hundreds above the others, scores reaching into the thousands."""
    n, d, v = draw(inputs.sizes(3))
    levels = draw(inputs.orders(n)) if n > 1 else np.zeros(1, dtype=int)
    K = draw(inputs.grid((n, d)))
    K[:, 0] = 8.0 * levels
    q = np.zeros(d)
    q[0] = 128.0
    return q, K, draw(inputs.grid((n, v), limit=8)), int(levels.argmax())


dot_product_attention_agrees = agreement(
    of="attention.dot_product_attention",
    arguments=one_query(),
    claim="weights = softmax(K q) and context = sum_i weights_i V_i; dot-product attention is not scaled.",
    hint="Score each key by its dot product with q, normalise the scores, then average the values (not the keys).",
)

dot_product_attention_leaves_arguments_alone = unmodified(of="attention.dot_product_attention", arguments=one_query())


@check(
    of="attention.dot_product_attention",
    claim="The weights are a categorical distribution: none negative, all together 1.",
    hint="The second result is the softmax over the n keys, not the raw scores.",
)
@given(case=one_query())
def weights_are_a_distribution(dot_product_attention: Any, case: tuple[Array, Array, Array]) -> None:
    _, weights = dot_product_attention(*case)
    about = call("dot_product_attention", *case, then="[1]")
    expect(about, holds=bool((weights >= 0).all()), gave=weights, expected="no negative entry")
    expect_close(call("dot_product_attention", *case, then="[1].sum()"), got=weights.sum(), want=1.0)


@check(
    of="attention.dot_product_attention",
    claim="The context is the average of the values under the weights: a convex combination of the rows of V.",
    hint="context = weights @ V. Averaging the keys gives another vector, often of another length.",
)
@given(case=one_query())
def context_is_a_convex_combination(dot_product_attention: Any, case: tuple[Array, Array, Array]) -> None:
    V = case[2]
    context, weights = dot_product_attention(*case)
    about = call("dot_product_attention", *case, then="[0]")
    expect_close(about, got=context, want=weights @ V, scale=8.0)
    slack = 1e-4
    inside = (context >= V.min(axis=0) - slack) & (context <= V.max(axis=0) + slack)
    expect(
        about,
        holds=bool(inside.all()),
        gave=context,
        expected="each entry between the smallest and largest value of its column",
    )


@check(
    of="attention.dot_product_attention",
    claim="Reordering the (key, value) pairs leaves the context unchanged and reorders the weights.",
    hint="Attention looks at a set of pairs. Does anything in your code depend on where a pair stands?",
)
@given(case=one_query_and_order())
def pairs_have_no_order(dot_product_attention: Any, case: tuple[Array, Array, Array, Array]) -> None:
    q, K, V, order = case
    context, weights = dot_product_attention(q, K, V)
    moved_context, moved_weights = dot_product_attention(q, K[order], V[order])
    about = call("dot_product_attention", q, K[order], V[order])
    before = call("dot_product_attention", q, K, V)
    expect_close(about, got=moved_context, want=context, scale=8.0, same_as=before)
    expect_close(about, got=moved_weights, want=weights[order], same_as=before)


@check(
    of="attention.dot_product_attention",
    claim="A key that scores far above all others has its value copied, also with scores in the thousands.",
    hint="With one weight near 1 the context is that value. If you see nan, subtract the maximum score first.",
)
@given(case=dominant_key())
def dominant_key_copies_its_value(dot_product_attention: Any, case: tuple[Array, Array, Array, int]) -> None:
    q, K, V, best = case
    context, _ = dot_product_attention(q, K, V)
    expect_close(call("dot_product_attention", q, K, V, then="[0]"), got=context, want=V[best], scale=8.0)


# ------------------------------------------------------ scaled dot-product attention


@st.composite
def queries(draw: Draw) -> tuple[Any, ...]:
    """Draw Q, K, V with or without batch dimensions, and a mask with its own batch dimensions or without, or none."""
    n, m, d, v = draw(inputs.sizes(4))
    batch = draw(inputs.batches())
    Q, K = draw(inputs.grid((*batch, n, d))), draw(inputs.grid((*batch, m, d)))
    V = draw(inputs.grid((*batch, m, v), limit=8))
    masked = draw(st.sampled_from(["no", "one", "each"]))
    if masked == "no":
        return Q, K, V
    return Q, K, V, draw(inputs.masks((n, m) if masked == "one" else (*batch, n, m)))


@st.composite
def plain_queries(draw: Draw) -> tuple[Array, Array, Array]:
    n, m, d, v = draw(inputs.sizes(4))
    return draw(inputs.grid((n, d))), draw(inputs.grid((m, d))), draw(inputs.grid((m, v), limit=8))


@st.composite
def batched_queries(draw: Draw) -> tuple[Array, Array, Array]:
    batch, n, m, d, v = draw(inputs.sizes(5))
    Q, K = draw(inputs.grid((batch, n, d))), draw(inputs.grid((batch, m, d)))
    return Q, K, draw(inputs.grid((batch, m, v), limit=8))


@st.composite
def masked_queries(draw: Draw) -> tuple[Array, Array, Array, Array]:
    """Draw queries over at least two keys, and a mask."""
    n, m, d, v = draw(inputs.sizes(4, among=(2, 3, 4, 5)))
    Q, K = draw(inputs.grid((n, d))), draw(inputs.grid((m, d)))
    return Q, K, draw(inputs.grid((m, v), limit=8)), draw(inputs.masks((n, m)))


@st.composite
def hidden_key(draw: Draw) -> tuple[Array, Array, Array, Array, int]:
    """Draw a mask that hides one key from every query."""
    Q, K, V, mask = draw(masked_queries())
    j = draw(st.integers(0, len(K) - 1))
    mask[:, (j + 1) % len(K)] = 0.0  # no row is hidden whole
    mask[:, j] = -np.inf
    return Q, K, V, mask, j


@st.composite
def saturated_queries(draw: Draw) -> tuple[Array, Array, Array, Array]:
    """Draw queries whose best key leads by hundreds, with scores in the thousands."""
    n, m, d, v = draw(inputs.sizes(4))
    levels = draw(inputs.orders(m)) if m > 1 else np.zeros(1, dtype=int)
    K = draw(inputs.grid((m, d)))
    K[:, 0] = 16.0 * levels
    Q = np.zeros((n, d))
    signs = np.where(draw(inputs.grid((n,))) < 0, -1.0, 1.0)
    Q[:, 0] = 256.0 * signs
    best = np.where(signs > 0, levels.argmax(), levels.argmin())
    return Q, K, draw(inputs.grid((m, v), limit=8)), best


scaled_dot_product_attention_agrees = agreement(
    of="attention.scaled_dot_product_attention",
    arguments=queries(),
    claim="The output is softmax(Q K^T / sqrt(d_k) + mask) V, the softmax taken over the keys.",
    hint="Check the shape of the scores (queries × keys), what you divide by, and where the mask comes in.",
)

scaled_dot_product_attention_leaves_arguments_alone = unmodified(
    of="attention.scaled_dot_product_attention", arguments=queries()
)


@check(
    of="attention.scaled_dot_product_attention",
    claim="Each query is answered alone: row i of the output is the output for query i.",
    hint="The softmax normalises over the keys of one query. Is it taken along the last axis of the scores?",
)
@given(case=plain_queries())
def queries_are_independent(scaled_dot_product_attention: Any, case: tuple[Array, Array, Array]) -> None:
    Q, K, V = case
    together = scaled_dot_product_attention(Q, K, V)
    last = len(Q) - 1
    alone = scaled_dot_product_attention(Q[last:], K, V)
    about = call("scaled_dot_product_attention", Q, K, V, then=f"[{last}]")
    same_as = call("scaled_dot_product_attention", Q[last:], K, V, then="[0]")
    expect_close(about, got=together[last], want=alone[0], scale=8.0, same_as=same_as)


@check(
    of="attention.scaled_dot_product_attention",
    claim="Batch dimensions are independent: batch b of the output is the output for batch b.",
    hint="Transpose the last two axes of K only: np.swapaxes(K, -1, -2). K.T reverses the batch axes as well.",
)
@given(case=batched_queries())
def batches_are_independent(scaled_dot_product_attention: Any, case: tuple[Array, Array, Array]) -> None:
    Q, K, V = case
    last = len(Q) - 1
    together = scaled_dot_product_attention(Q, K, V)
    alone = scaled_dot_product_attention(Q[last], K[last], V[last])
    about = call("scaled_dot_product_attention", Q, K, V, then=f"[{last}]")
    same_as = call("scaled_dot_product_attention", Q[last], K[last], V[last])
    expect_close(about, got=together[last], want=alone, scale=8.0, same_as=same_as)


@st.composite
def two_keys(draw: Draw) -> tuple[Array, Array]:
    d = draw(st.sampled_from([2, 3, 4, 5, 7]))
    return draw(inputs.grid((1, d))), draw(inputs.grid((2, d)))


@check(
    of="attention.scaled_dot_product_attention",
    claim="The scale is 1/sqrt(d_k): between two keys the log-odds are q·(k_1 - k_2) / sqrt(d_k).",
    hint="d_k is the width of the queries and keys, Q.shape[-1]; not the width of the values, not the number of keys.",
)
@given(case=two_keys())
def scale_is_root_of_key_width(scaled_dot_product_attention: Any, case: tuple[Array, Array]) -> None:
    Q, K = case
    V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # the output shows the two weights
    weights = scaled_dot_product_attention(Q, K, V)[0]
    about = call("scaled_dot_product_attention", Q, K, V, then="[0]")
    expect(about, holds=bool((weights[:2] > 0).all()), gave=weights, expected="two positive weights")
    expect_close(
        call("scaled_dot_product_attention", Q, K, V, then="[0], as log-odds"),
        got=np.log(weights[0] / weights[1]),
        want=(Q @ (K[0] - K[1]))[0] / np.sqrt(Q.shape[-1]),
        scale=32.0,  # log-odds of up to 21, and a weight of exp(-21) is known to 21 roundings of itself
        sentence="The weights do not fit a scale of 1/sqrt(d_k).",
    )


@check(
    of="attention.scaled_dot_product_attention",
    claim="A key masked with -inf has no influence: its key and value can be anything.",
    hint="Add the mask to the scores before the softmax; exp(-inf) is 0. Is the masked result the one you use?",
)
@given(case=hidden_key())
def masked_keys_have_no_influence(
    scaled_dot_product_attention: Any, case: tuple[Array, Array, Array, Array, int]
) -> None:
    Q, K, V, mask, j = case
    other_K, other_V = K.copy(), V.copy()
    other_K[j] += 1.0
    other_V[j] -= 5.0
    about = call("scaled_dot_product_attention", Q, other_K, other_V, mask)
    before = scaled_dot_product_attention(Q, K, V, mask)
    after = scaled_dot_product_attention(Q, other_K, other_V, mask)
    same_as = call("scaled_dot_product_attention", Q, K, V, mask)
    changed = f"The output changed with the masked key {j}."
    expect_close(about, got=after, want=before, scale=8.0, sentence=changed, same_as=same_as)


@check(
    of="attention.scaled_dot_product_attention",
    claim="The mask is added to the scores: a mask of zeros changes nothing, nor does a constant added to a row of it.",
    hint="0 keeps and -inf hides. Masks that mean True = keep or True = hide are other conventions.",
)
@given(case=masked_queries())
def mask_is_added(scaled_dot_product_attention: Any, case: tuple[Array, Array, Array, Array]) -> None:
    Q, K, V, mask = case
    zeros = np.zeros_like(mask)
    expect_close(
        call("scaled_dot_product_attention", Q, K, V, zeros),
        got=scaled_dot_product_attention(Q, K, V, zeros),
        want=scaled_dot_product_attention(Q, K, V),
        same_as=call("scaled_dot_product_attention", Q, K, V),
        scale=8.0,
        sentence="A mask of zeros changed the output.",
    )
    shifted = mask + np.arange(1.0, len(Q) + 1)[:, None]
    expect_close(
        call("scaled_dot_product_attention", Q, K, V, shifted),
        got=scaled_dot_product_attention(Q, K, V, shifted),
        want=scaled_dot_product_attention(Q, K, V, mask),
        same_as=call("scaled_dot_product_attention", Q, K, V, mask),
        scale=8.0,
        sentence="A constant added to each row of the mask changed the output.",
    )


@check(
    of="attention.scaled_dot_product_attention",
    claim="With scores in the thousands each query copies the value of its best key.",
    hint="If you see nan, exp overflowed: subtract the largest score of each row before you exponentiate.",
)
@given(case=saturated_queries())
def survives_extreme_scores(scaled_dot_product_attention: Any, case: tuple[Array, Array, Array, Array]) -> None:
    Q, K, V, best = case
    about = call("scaled_dot_product_attention", Q, K, V)
    expect_close(about, got=scaled_dot_product_attention(Q, K, V), want=V[best], scale=8.0)


# ------------------------------------------------------------------------ causal mask

lengths = st.sampled_from([(1,), (2,), (3,), (4,), (5,), (7,), (12,)])

causal_mask_agrees = agreement(
    of="attention.causal_mask",
    arguments=lengths,
    claim="Entry (i, j) is 0 where j <= i and -inf where j > i.",
    hint="Row i belongs to query i: it may look at keys 0 to i, itself included.",
)


@check(
    of="attention.causal_mask",
    claim="Every position may look at itself and at everything before it: 0 on and below the diagonal.",
    hint="A mask that is added must be 0 where looking is allowed. Is the diagonal one of those places?",
)
@given(length=lengths)
def past_is_visible(causal_mask: Any, length: tuple[int]) -> None:
    mask = causal_mask(*length)
    expect_close(call("np.tril", call("causal_mask", *length)), got=mask[np.tril_indices(*length)],
                 want=np.zeros(length[0] * (length[0] + 1) // 2),
                 sentence="An entry on or below the diagonal is not 0.")  # fmt: skip


@check(
    of="attention.causal_mask",
    claim="No position may look ahead: -inf everywhere above the diagonal.",
    hint="exp(-inf) is exactly 0; anything finite above the diagonal lets the future leak.",
)
@given(length=lengths)
def future_is_hidden(causal_mask: Any, length: tuple[int]) -> None:
    mask = causal_mask(*length)
    hidden = np.isneginf(mask[np.triu_indices(*length, k=1)])
    expect(call("causal_mask", *length), holds=bool(hidden.all()), gave=mask, expected="-inf wherever j > i")


@check(
    of="attention.causal_mask",
    claim="With the mask added to any scores, output t depends on inputs up to t only.",
    hint="Row t of the mask belongs to output t. Which inputs does it leave visible?",
)
@given(drawn=st.sampled_from([2, 3, 4, 5, 6]).flatmap(lambda n: st.tuples(inputs.grid((n, n)), inputs.grid((n, 2)))))
def outputs_do_not_see_the_future(causal_mask: Any, drawn: tuple[Array, Array]) -> None:
    scores, values = drawn
    mask = causal_mask(len(scores))
    about = call("causal_mask", len(scores))
    weights = np.exp(scores + mask)
    totals = weights.sum(axis=-1, keepdims=True)
    expect(about, holds=bool((totals > 0).all()), gave=mask, expected="something visible in every row")
    past = weights / totals
    for t in range(len(scores) - 1):
        moved = values.copy()
        moved[t + 1 :] += 3.0
        expect_close(about, got=(past @ moved)[: t + 1], want=(past @ values)[: t + 1],
                     sentence=f"An input after position {t} changes the output at {t} or before.")  # fmt: skip


# --------------------------------------------------------------------- self-attention


@st.composite
def sequence_and_projections(draw: Draw) -> tuple[Any, ...]:
    """Draw X and three projections, drawn apart, with or without batch dimensions and mask."""
    n, d, h = draw(inputs.sizes(3))
    batch = draw(inputs.batches())
    X = draw(inputs.grid((*batch, n, d)))
    W_q, W_k, W_v = (draw(inputs.grid((d, h), limit=1)) for _ in range(3))
    masked = draw(st.sampled_from(["no", "one", "each", "causal"]))
    if masked == "no":
        return X, W_q, W_k, W_v
    if masked == "causal":
        return X, W_q, W_k, W_v, np.triu(np.full((n, n), -np.inf), k=1)
    return X, W_q, W_k, W_v, draw(inputs.masks((n, n) if masked == "one" else (*batch, n, n)))


@st.composite
def plain_sequence(draw: Draw) -> tuple[Array, Array, Array, Array]:
    n, d, h = draw(inputs.sizes(3, among=(2, 3, 4, 5)))
    W_q, W_k, W_v = (draw(inputs.grid((d, h), limit=1)) for _ in range(3))
    return draw(inputs.grid((n, d))), W_q, W_k, W_v


@st.composite
def sequence_and_order(draw: Draw) -> tuple[Array, ...]:
    X, W_q, W_k, W_v = draw(plain_sequence())
    return X, W_q, W_k, W_v, draw(inputs.orders(len(X)))


@st.composite
def saturated_sequence(draw: Draw) -> tuple[Array, Array, Array, Array, int]:
    """Draw a sequence whose positions all prefer one key by hundreds, with scores in the thousands."""
    n, d, h = draw(inputs.sizes(3))
    levels = draw(inputs.orders(n)) if n > 1 else np.zeros(1, dtype=int)
    X = draw(inputs.grid((n, d)))
    X[:, 0] = 32.0 * (levels + 1)
    W_q, W_k = np.zeros((d, h)), np.zeros((d, h))
    W_q[0, 0] = W_k[0, 0] = 2.0
    return X, W_q, W_k, draw(inputs.grid((d, h), limit=1)), int(levels.argmax())


self_attention_agrees = agreement(
    of="attention.self_attention",
    arguments=sequence_and_projections(),
    claim="The output is softmax(X W_q (X W_k)^T / sqrt(h) + mask) X W_v, with h the width of the projections.",
    hint="Queries, keys and values are three projections of the same X. Which width do you take the root of?",
)

self_attention_leaves_arguments_alone = unmodified(of="attention.self_attention", arguments=sequence_and_projections())


@check(
    of="attention.self_attention",
    claim="Without positions, reordering the inputs reorders the outputs in the same way.",
    hint="Nothing in self-attention knows where a word stands. Does your code use an index?",
)
@given(case=sequence_and_order())
def self_attention_has_no_positions(self_attention: Any, case: tuple[Array, ...]) -> None:
    X, *W, order = case
    expect_close(
        call("self_attention", X[order], *W),
        got=self_attention(X[order], *W),
        want=self_attention(X, *W)[order],
        same_as=call("self_attention", X, *W, then=f"[{order.tolist()}]"),
        scale=16.0,
    )


@check(
    of="attention.self_attention",
    claim="With the causal mask, output t does not change when a later input changes.",
    hint="The mask is an argument of the softmax: add it to the scores, and use the result.",
)
@given(case=plain_sequence())
def causal_self_attention(self_attention: Any, case: tuple[Array, ...]) -> None:
    X, *W = case
    mask = np.triu(np.full((len(X), len(X)), -np.inf), k=1)
    moved = X.copy()
    moved[-1] += 2.0
    about = call("self_attention", moved, *W, mask, then="[:-1]")
    expect_close(
        about,
        got=self_attention(moved, *W, mask)[:-1],
        want=self_attention(X, *W, mask)[:-1],
        same_as=call("self_attention", X, *W, mask, then="[:-1]"),
        scale=16.0,
    )


@check(
    of="attention.self_attention",
    claim="The output is linear in the values: doubling W_v doubles it.",
    hint="The weights come from queries and keys alone; W_v enters once, after the softmax.",
)
@given(case=plain_sequence())
def linear_in_values(self_attention: Any, case: tuple[Array, ...]) -> None:
    X, W_q, W_k, W_v = case
    about = call("self_attention", X, W_q, W_k, 2 * W_v)
    expect_close(about, got=self_attention(X, W_q, W_k, 2 * W_v), want=2 * self_attention(X, W_q, W_k, W_v), scale=32.0)


@check(
    of="attention.self_attention",
    claim="With scores in the thousands every position copies the value of its best key.",
    hint="If you see nan, exp overflowed: subtract the largest score of each row before you exponentiate.",
)
@given(case=saturated_sequence())
def self_attention_survives_extreme_scores(self_attention: Any, case: tuple[Any, ...]) -> None:
    X, W_q, W_k, W_v, best = case
    wanted = np.broadcast_to(X[best] @ W_v, (len(X), W_v.shape[1]))
    about = call("self_attention", X, W_q, W_k, W_v)
    expect_close(about, got=self_attention(X, W_q, W_k, W_v), want=wanted, scale=256.0)


# --------------------------------------------------------------- multi-head attention


@st.composite
def heads(draw: Draw, *, fewest: int = 1, plain: bool = False) -> tuple[Any, ...]:
    """Draw X and the projections of several heads; heads, length and both widths pairwise different."""
    among = [size for size in (1, 2, 3, 4) if size >= fewest]
    count = draw(st.sampled_from(among))
    n, d, h = draw(inputs.sizes(3, among=tuple(size for size in (1, 2, 3, 4, 5) if size != count)))
    batch = () if plain else draw(inputs.batches())
    X = draw(inputs.grid((*batch, n, d)))
    W_q, W_k, W_v = (draw(inputs.grid((count, d, h), limit=1)) for _ in range(3))
    W_o = draw(inputs.grid((count * h, d), limit=1))
    masked = "no" if plain else draw(st.sampled_from(["no", "one", "each", "causal"]))
    if masked == "no":
        return X, W_q, W_k, W_v, W_o
    if masked == "causal":
        return X, W_q, W_k, W_v, W_o, np.triu(np.full((n, n), -np.inf), k=1)
    return X, W_q, W_k, W_v, W_o, draw(inputs.masks((n, n) if masked == "one" else (*batch, n, n)))


@st.composite
def heads_and_order(draw: Draw) -> tuple[Array, ...]:
    X, W_q, W_k, W_v, W_o = draw(heads(fewest=2, plain=True))
    return X, W_q, W_k, W_v, W_o, draw(inputs.orders(len(W_q)))


multi_head_attention_agrees = agreement(
    of="attention.multi_head_attention",
    arguments=heads(),
    claim="Each head attends with its own projections, scaled by 1/sqrt(h); side by side, their outputs meet W_o.",
    hint="Concatenate features, head by head: (…, n, heads*h). A reshape without a transpose mixes them up.",
)

multi_head_attention_leaves_arguments_alone = unmodified(of="attention.multi_head_attention", arguments=heads())


@check(
    of="attention.multi_head_attention",
    claim="Heads add: the output is the sum of what each head gives alone with its block of W_o.",
    hint="Block i of W_o is rows i*h to (i+1)*h. Which rows of W_o meet head i in your code?",
)
@given(case=heads(fewest=2, plain=True))
def heads_add(multi_head_attention: Any, case: tuple[Array, ...]) -> None:
    X, W_q, W_k, W_v, W_o = case
    h = W_q.shape[-1]
    alone = [
        multi_head_attention(X, W_q[i : i + 1], W_k[i : i + 1], W_v[i : i + 1], W_o[i * h : (i + 1) * h])
        for i in range(len(W_q))
    ]
    expect_close(call("multi_head_attention", *case), got=multi_head_attention(*case), want=sum(alone), scale=64.0)


@check(
    of="attention.multi_head_attention",
    claim="One head is self-attention followed by W_o.",
    hint="With a single head nothing is left to combine: attend, then multiply by W_o. There is no residual here.",
)
@given(case=heads(plain=True))
def one_head_is_self_attention(multi_head_attention: Any, truth: Any, case: tuple[Array, ...]) -> None:
    X, W_q, W_k, W_v, W_o = case
    h = W_q.shape[-1]
    only = (W_q[:1], W_k[:1], W_v[:1], W_o[:h])
    attended = truth.self_attention(X, W_q[0], W_k[0], W_v[0])
    about = call("multi_head_attention", X, *only)
    expect_close(about, got=multi_head_attention(X, *only), want=attended.value @ W_o[:h], scale=16.0)


@check(
    of="attention.multi_head_attention",
    claim="Reordering the heads together with their blocks of W_o changes nothing.",
    hint="Head i must meet block i of W_o whatever the order. Is one projection shared by all heads?",
)
@given(case=heads_and_order())
def heads_have_no_order(multi_head_attention: Any, case: tuple[Array, ...]) -> None:
    X, W_q, W_k, W_v, W_o, order = case
    h = W_q.shape[-1]
    blocks = W_o.reshape(len(W_q), h, -1)[order].reshape(W_o.shape)
    moved = (X, W_q[order], W_k[order], W_v[order], blocks)
    expect_close(
        call("multi_head_attention", *moved),
        got=multi_head_attention(*moved),
        want=multi_head_attention(X, W_q, W_k, W_v, W_o),
        same_as=call("multi_head_attention", X, W_q, W_k, W_v, W_o),
        scale=64.0,
    )


@check(
    of="attention.multi_head_attention",
    claim="One mask serves all heads: with the causal mask, output t does not change when a later input changes.",
    hint="Add the mask to the scores of every head before the softmax.",
)
@given(case=heads(fewest=2, plain=True))
def causal_in_every_head(multi_head_attention: Any, case: tuple[Array, ...]) -> None:
    X, *W = case
    mask = np.triu(np.full((len(X), len(X)), -np.inf), k=1)
    moved = X.copy()
    moved[-1] += 2.0
    about = call("multi_head_attention", moved, *W, mask, then="[:-1]")
    expect_close(
        about,
        got=multi_head_attention(moved, *W, mask)[:-1],
        want=multi_head_attention(X, *W, mask)[:-1],
        same_as=call("multi_head_attention", X, *W, mask, then="[:-1]"),
        scale=64.0,
    )


@check(
    of="attention.multi_head_attention",
    claim="With scores in the thousands every head copies the value of its best key.",
    hint="If you see nan, exp overflowed: subtract the largest score of each row before you exponentiate.",
)
@given(case=saturated_sequence())
def multi_head_attention_survives_extreme_scores(multi_head_attention: Any, case: tuple[Any, ...]) -> None:
    X, W_q, W_k, W_v, best = case
    h, d = W_q.shape[1], X.shape[1]
    W_o = np.vstack([np.eye(h, d), 2 * np.eye(h, d)])
    arguments = (X, np.stack([W_q, W_q]), np.stack([W_k, W_k]), np.stack([W_v, W_v]), W_o)
    wanted = np.broadcast_to(3 * (X[best] @ W_v) @ np.eye(h, d), X.shape)
    about = call("multi_head_attention", *arguments)
    expect_close(about, got=multi_head_attention(*arguments), want=wanted, scale=1024.0)


# --------------------------------------------------------------- relative positions


@st.composite
def relative(draw: Draw) -> tuple[Array, Array, Array, Array]:
    """Draw Q, K, V and one bias for each distance."""
    n, d, v = draw(inputs.sizes(3))
    Q, K = draw(inputs.grid((n, d))), draw(inputs.grid((n, d)))
    return Q, K, draw(inputs.grid((n, v), limit=8)), draw(inputs.grid((2 * n - 1,)))


@st.composite
def one_strong_bias(draw: Draw) -> tuple[Array, Array, Array, Array, int]:
    """Draw a bias that is large for one distance only."""
    n, d, v = draw(inputs.sizes(3, among=(2, 3, 4, 5)))
    Q, K = draw(inputs.grid((n, d), limit=1)), draw(inputs.grid((n, d), limit=1))
    distance = draw(st.integers(-(n - 1), n - 1))
    bias = np.zeros(2 * n - 1)
    bias[distance + n - 1] = 2048.0
    return Q, K, draw(inputs.grid((n, v), limit=8)), bias, distance


@st.composite
def relative_and_angle(draw: Draw) -> tuple[Array, Array, Array, float]:
    Q, K, V, _ = draw(relative())
    return Q, K, V, draw(st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0]))


relative_bias_attention_agrees = agreement(
    of="attention.relative_bias_attention",
    arguments=relative(),
    claim="Score (i, j) is q_i·k_j + bias[i - j + n - 1], without 1/sqrt(d); then softmax over j and the average of V.",
    hint="Row i is the query. For n = 2 write down which bias meets (0, 1) and which (1, 0).",
)

relative_bias_attention_leaves_arguments_alone = unmodified(
    of="attention.relative_bias_attention", arguments=relative()
)


@check(
    of="attention.relative_bias_attention",
    claim="Adding one number to all biases changes nothing.",
    hint="A constant in every score of a row cancels in the softmax; it would not if the bias were added after it.",
)
@given(case=relative())
def constant_bias_cancels(relative_bias_attention: Any, case: tuple[Array, ...]) -> None:
    Q, K, V, bias = case
    expect_close(
        call("relative_bias_attention", Q, K, V, bias + 3.0),
        got=relative_bias_attention(Q, K, V, bias + 3.0),
        want=relative_bias_attention(Q, K, V, bias),
        same_as=call("relative_bias_attention", Q, K, V, bias),
        scale=8.0,
    )


@check(
    of="attention.relative_bias_attention",
    claim="A bias that is huge at distance s makes query i copy the value at position i - s, wherever that exists.",
    hint="The index is i - j + n - 1, query minus key. With j - i the past and the future change places.",
)
@given(case=one_strong_bias())
def strong_bias_points_back(relative_bias_attention: Any, case: tuple[Any, ...]) -> None:
    Q, K, V, bias, distance = case
    rows = [i for i in range(len(Q)) if 0 <= i - distance < len(Q)]
    wanted = V[[i - distance for i in rows]]
    about = call("relative_bias_attention", Q, K, V, bias, then=f"[{rows}]")
    expect_close(about, got=relative_bias_attention(Q, K, V, bias)[rows], want=wanted, scale=8.0)


@check(
    of="attention.relative_bias_attention",
    claim="With bias = q_pos·k_pos it equals attention on concatenated embeddings.",
    hint="[q, q_pos]·[k, k_pos] = q·k + q_pos·k_pos: the bias is the second term, nothing is rescaled.",
)
@given(case=relative_and_angle())
def bias_equals_concatenation(relative_bias_attention: Any, case: tuple[Any, ...]) -> None:
    Q, K, V, angle = case
    n = len(Q)
    position = np.stack([np.cos(angle * np.arange(n)), np.sin(angle * np.arange(n))], axis=1)
    bias = np.cos(angle * np.arange(-(n - 1), n))  # position_i · position_j depends on i - j only
    joined = (np.hstack([Q, position]), np.hstack([K, position]), V, np.zeros(2 * n - 1))
    expect_close(
        call("relative_bias_attention", Q, K, V, bias),
        got=relative_bias_attention(Q, K, V, bias),
        want=relative_bias_attention(*joined),
        same_as=call("relative_bias_attention", *joined),
        scale=8.0,
    )


# --------------------------------------------------------------------- hard attention


@st.composite
def tied_queries(draw: Draw) -> tuple[Array, Array, Array]:
    """Draw queries and keys on a coarse grid, so that ties are common; values have more digits than half precision."""
    n, m, d, v = draw(inputs.sizes(4))
    Q: Array = draw(inputs.grid((n, d))).round()
    K: Array = draw(inputs.grid((m, d))).round()
    return Q, K, 256 * draw(inputs.grid((m, v), limit=8)) + draw(inputs.grid((m, v), limit=8))


@st.composite
def repeated_key(draw: Draw) -> tuple[Array, Array, Array]:
    """Draw keys of which all are the same: every query ties over all of them."""
    n, m, d, v = draw(inputs.sizes(4, among=(2, 3, 4, 5)))
    K = np.tile(draw(inputs.grid((1, d))), (m, 1))
    return draw(inputs.grid((n, d))), K, draw(inputs.grid((m, v), limit=8))


argmax_attention_agrees = agreement(
    of="attention.argmax_attention",
    arguments=tied_queries(),
    claim="Each query copies the value of the key with the largest dot product, the first one on a tie.",
    hint="np.argmax along the key axis already returns the first of several maxima.",
)

argmax_attention_leaves_arguments_alone = unmodified(of="attention.argmax_attention", arguments=tied_queries())


@check(
    of="attention.argmax_attention",
    claim="Every row of the output is one of the rows of V, copied.",
    hint="Hard attention averages nothing. Index V with the position of the best key.",
)
@given(case=plain_queries())
def copies_one_value(argmax_attention: Any, case: tuple[Array, Array, Array]) -> None:
    V = case[2]
    output = argmax_attention(*case)
    found = np.abs(output[:, None, :] - V[None]).max(axis=-1, initial=0.0).min(axis=1) < 1e-6
    expect(call("argmax_attention", *case), holds=bool(found.all()), gave=output, expected="rows of V only")


@check(
    of="attention.argmax_attention",
    claim="Where all keys score the same, the first value is copied.",
    hint="On a tie the first key wins; `>=` in a loop keeps the last one.",
)
@given(case=repeated_key())
def first_wins_a_tie(argmax_attention: Any, case: tuple[Array, Array, Array]) -> None:
    Q, _, V = case
    wanted = np.tile(V[:1], (len(Q), 1))
    expect_close(call("argmax_attention", *case), got=argmax_attention(*case), want=wanted)


@check(
    of="attention.argmax_attention",
    claim="Only the order of the scores counts: queries a thousand times larger copy the same values.",
    hint="Nothing is exponentiated here; the position of the maximum does not change when all scores grow.",
)
@given(case=plain_queries())
def only_the_order_counts(argmax_attention: Any, case: tuple[Array, Array, Array]) -> None:
    Q, K, V = case
    expect_close(
        call("argmax_attention", 1024 * Q, K, V),
        got=argmax_attention(1024 * Q, K, V),
        want=argmax_attention(Q, K, V),
        same_as=call("argmax_attention", Q, K, V),
    )


small_stacks = st.sampled_from([(heads, levels) for levels in range(1, 5) for heads in range(1, 5)])
stacks = st.sampled_from([(heads, levels) for levels in range(1, 9) for heads in range(1, 9)])

receptive_field_agrees = agreement(
    of="attention.receptive_field",
    arguments=stacks,
    claim="The receptive field of a node after n levels of argmax attention with k heads is (k + 1)^n.",
    hint="Each node sees itself through the residual and one more node for each head. What does the next level see?",
)


@check(
    of="attention.receptive_field",
    claim="It is the number of inputs that change the last node of a real stack of such layers.",
    hint="Draw one node, two levels, one head: itself and one other, each of which saw itself and one other.",
)
@given(stack=small_stacks)
def counted_in_a_real_stack(receptive_field: Any, stack: tuple[int, int]) -> None:
    heads, levels = stack
    reached = _inputs_that_reach_the_last_node(heads, levels)
    expect_close(call("receptive_field", *stack), got=receptive_field(*stack), want=float(reached))


def _inputs_that_reach_the_last_node(heads: int, levels: int) -> int:
    """Perturb each input of a stack whose heads point at different nodes, and count who is felt at the end."""
    nodes = (heads + 1) ** levels + 3  # more than can be reached: the count must not be cut off by the edge
    state = np.eye(nodes)  # row i: how node i depends on each input
    for level in range(levels):
        step = (heads + 1) ** level
        attended = [np.roll(state, head * step, axis=0) for head in range(1, heads + 1)]
        state = state + np.sum(attended, axis=0)  # the residual, and one copied node per head
    return int(np.count_nonzero(state[-1]))


@check(
    of="attention.receptive_field",
    claim="Large stacks are counted in full: 9 heads and 20 levels reach 10^20 nodes.",
    hint="Python's integers have no limit; NumPy's wrap around at 2^63, or at 2^31.",
    examples=11,
)
@given(levels=st.integers(10, 20))
def large_counts_do_not_wrap_around(receptive_field: Any, levels: int) -> None:
    reach = receptive_field(9, levels)
    about = call("receptive_field", 9, levels)
    expect(about, holds=bool(abs(reach / 10.0**levels - 1) < 1e-9), gave=reach, expected=f"{10**levels}")


# ----------------------------------------------------------------- additive attention


@st.composite
def additive(draw: Draw) -> tuple[Array, ...]:
    """Draw a query, states, two projections and v, all four widths different; at times query and states alike.

    Different widths expose a wrong product by its shape. Equal ones let it through, so that its values can tell
    which mistake it is.
    """
    n, a, b, s = draw(inputs.sizes(4))
    if draw(st.booleans()):
        b = a
    q, H = draw(inputs.grid((a,))), draw(inputs.grid((n, b)))
    return q, H, draw(inputs.grid((s, a), limit=1)), draw(inputs.grid((s, b), limit=1)), draw(inputs.grid((s,)))


@st.composite
def additive_and_order(draw: Draw) -> tuple[Array, ...]:
    q, H, W1, W2, v = draw(additive())
    return q, H, W1, W2, v, draw(inputs.orders(len(H)))


@st.composite
def saturated_additive(draw: Draw) -> tuple[Array, ...]:
    """Draw states whose scores are thousands apart: tanh is at -1 or 1, v is large, and one state stands out."""
    n, a, b, s = draw(inputs.sizes(4))
    best = draw(st.integers(0, n - 1))
    H = draw(inputs.grid((n, b)))
    H[:, 0] = -1.0
    H[best, 0] = 1.0
    W1, W2 = np.zeros((s, a)), np.zeros((s, b))
    W2[:, 0] = 64.0
    return draw(inputs.grid((a,))), H, W1, W2, np.full(s, 2048.0), np.asarray(best)


additive_attention_agrees = agreement(
    of="attention.additive_attention",
    arguments=additive(),
    claim="score_l = v · tanh(W1 q + W2 H[l]); weights are their softmax, the context is the average of the states.",
    hint="W1 meets the query and W2 each state. tanh is applied before v sums over the hidden units.",
)

additive_attention_leaves_arguments_alone = unmodified(of="attention.additive_attention", arguments=additive())


@check(
    of="attention.additive_attention",
    claim="The weights are a distribution over the states, and the context is the average of the states under it.",
    hint="The softmax runs over the n states. Over an axis of size one it gives 1 everywhere.",
)
@given(case=additive())
def additive_weights_average_the_states(additive_attention: Any, case: tuple[Array, ...]) -> None:
    context, weights = additive_attention(*case)
    about = call("additive_attention", *case, then="[1]")
    expect(about, holds=bool((weights >= 0).all()), gave=weights, expected="no negative entry")
    expect_close(call("additive_attention", *case, then="[1].sum()"), got=weights.sum(), want=1.0)
    expect_close(call("additive_attention", *case, then="[0]"), got=context, want=weights @ case[1], scale=4.0)


@check(
    of="attention.additive_attention",
    claim="Reordering the states reorders the weights and leaves the context unchanged.",
    hint="Each state is scored by itself; only the softmax looks at all of them.",
)
@given(case=additive_and_order())
def states_have_no_order(additive_attention: Any, case: tuple[Array, ...]) -> None:
    q, H, W1, W2, v, order = case
    context, weights = additive_attention(q, H, W1, W2, v)
    moved_context, moved_weights = additive_attention(q, H[order], W1, W2, v)
    about = call("additive_attention", q, H[order], W1, W2, v)
    expect_close(about, got=moved_context, want=context, scale=4.0)
    expect_close(about, got=moved_weights, want=weights[order])


@check(
    of="attention.additive_attention",
    claim="Scores thousands apart give finite weights: the state that stands out is copied.",
    hint="If you see nan, exp overflowed: subtract the largest score before you exponentiate.",
)
@given(case=saturated_additive())
def additive_survives_extreme_scores(additive_attention: Any, case: tuple[Array, ...]) -> None:
    *arguments, best = case
    context, _ = additive_attention(*arguments)
    about = call("additive_attention", *arguments, then="[0]")
    expect_close(about, got=context, want=arguments[1][int(best)], scale=4.0)


# ----------------------------------------------------- a recurrent network that attends


@st.composite
def recurrences(draw: Draw) -> tuple[Array, ...]:
    """Draw inputs, a non-zero initial state and the two matrices."""
    T, d, h = draw(inputs.sizes(3))
    xs, h0 = draw(inputs.grid((T, d), limit=1)), draw(inputs.grid((h,)))
    return xs, h0, draw(inputs.grid((h, d), limit=1)), draw(inputs.grid((h, h), limit=0.5))


@st.composite
def long_recurrences(draw: Draw) -> tuple[Array, ...]:
    """Draw at least three steps: attention over fewer shows nothing."""
    T, d, h = draw(inputs.sizes(3, among=(3, 4, 5, 6)))
    xs, h0 = draw(inputs.grid((T, d), limit=1)), draw(inputs.grid((h,)))
    return xs, h0, draw(inputs.grid((h, d), limit=1)), draw(inputs.grid((h, h), limit=0.5))


@st.composite
def any_recurrences(draw: Draw) -> tuple[Array, ...]:
    drawn: tuple[Array, ...] = draw(st.one_of(long_recurrences(), recurrences()))
    return drawn


attentive_rnn_agrees = agreement(
    of="attention.attentive_rnn",
    arguments=any_recurrences(),
    claim="s_t = tanh(W x_t + U h_{t-1}), h_t = s_t + sum_j softmax_j(s_t·h_j) h_j over j = 1 … t-1, never h_0.",
    hint="Step 1 attends to nothing: h_1 = s_1. At step t the score is s_t·h_j, and h_t feeds the next step.",
)

attentive_rnn_leaves_arguments_alone = unmodified(of="attention.attentive_rnn", arguments=any_recurrences())


@check(
    of="attention.attentive_rnn",
    claim="The first state is tanh(W x_1 + U h_0): there is nothing to attend to yet.",
    hint="h_0 enters the recurrence and is never attended to.",
)
@given(case=recurrences())
def first_state_attends_to_nothing(attentive_rnn: Any, case: tuple[Array, ...]) -> None:
    xs, h0, W, U = case
    expect_close(
        call("attentive_rnn", *case, then="[0]"), got=attentive_rnn(*case)[0], want=np.tanh(W @ xs[0] + U @ h0)
    )


@check(
    of="attention.attentive_rnn",
    claim="It is causal: changing input t leaves the states before t unchanged.",
    hint="Attend to states that exist already. A softmax over all T positions looks into the future.",
)
@given(case=long_recurrences())
def states_do_not_see_the_future(attentive_rnn: Any, case: tuple[Array, ...]) -> None:
    xs, *rest = case
    moved = xs.copy()
    moved[-1] += 1.0
    about = call("attentive_rnn", moved, *rest, then="[:-1]")
    expect_close(
        about,
        got=attentive_rnn(moved, *rest)[:-1],
        want=attentive_rnn(xs, *rest)[:-1],
        same_as=call("attentive_rnn", xs, *rest, then="[:-1]"),
        scale=8.0,
    )


@check(
    of="attention.attentive_rnn",
    claim="The second state is s_2 + h_1: with one earlier state its weight is 1.",
    hint="A softmax over a single score is 1, so h_2 = tanh(W x_2 + U h_1) + h_1.",
)
@given(case=long_recurrences())
def second_state_adds_the_first(attentive_rnn: Any, case: tuple[Array, ...]) -> None:
    xs, _, W, U = case
    states = attentive_rnn(*case)
    wanted = np.tanh(W @ xs[1] + U @ states[0]) + states[0]
    expect_close(call("attentive_rnn", *case, then="[1]"), got=states[1], want=wanted, scale=4.0)


@check(
    of="attention.attentive_rnn",
    claim="Inputs in the thousands saturate tanh and give finite states, at step t within t of zero.",
    hint="|s_t| <= 1, and the attended state is an average of earlier ones, so |h_t| <= t.",
)
@given(case=long_recurrences())
def attentive_rnn_survives_extreme_inputs(attentive_rnn: Any, case: tuple[Array, ...]) -> None:
    xs, *rest = case
    large = 4096 * xs
    states = attentive_rnn(large, *rest)
    about = call("attentive_rnn", large, *rest)
    expect_finite(about, got=states)
    bound = np.arange(1, len(xs) + 1)[:, None] + 1e-3
    expect(about, holds=bool((np.abs(states) <= bound).all()), gave=states, expected="|h_t| <= t")


# ------------------------------------------------ projections, queries that average


@st.composite
def rotations(draw: Draw, size: int) -> Array:
    """Draw an orthogonal matrix from signed permutations and 3-4-5 turns: exact up to one rounding."""
    matrix = np.eye(size)[list(draw(inputs.orders(size))) if size > 1 else [0]]
    matrix = matrix * np.where(draw(inputs.grid((size,))) < 0, -1.0, 1.0)
    for i in range(size - 1):
        cosine, sine = draw(st.sampled_from([(1.0, 0.0), (0.6, 0.8), (0.8, -0.6), (5 / 13, 12 / 13)]))
        turned = matrix.copy()
        turned[i] = cosine * matrix[i] - sine * matrix[i + 1]
        turned[i + 1] = sine * matrix[i] + cosine * matrix[i + 1]
        matrix = turned
    return matrix


@st.composite
def subspaces(draw: Draw) -> tuple[Array, Array]:
    """Draw orthonormal columns A, and orthonormal columns B of the complement."""
    d, m = draw(st.sampled_from([(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (5, 2), (5, 3)]))
    matrix = draw(rotations(d))
    return matrix[:, :m], matrix[:, m:]


@st.composite
def points_of_subspaces(draw: Draw) -> tuple[Array, Array, Array]:
    A, B = draw(subspaces())
    return A, A @ draw(inputs.grid((A.shape[1],))), B @ draw(inputs.grid((B.shape[1],)))


orthonormal_columns = subspaces().map(lambda pair: (pair[0],))

projection_matrix_agrees = agreement(
    of="attention.projection_matrix",
    arguments=orthonormal_columns,
    claim="M = A A^T for orthonormal columns: a d × d matrix.",
    hint="c = A^T v are the coefficients of v in the basis; A c puts the vector together again.",
)

projection_matrix_leaves_arguments_alone = unmodified(of="attention.projection_matrix", arguments=orthonormal_columns)


@check(
    of="attention.projection_matrix",
    claim="M keeps what lies in the span of A and removes what is orthogonal to it: M (v_a + v_b) = v_a.",
    hint="M v_a = v_a and M v_b = 0. Both follow from A^T A = I and A^T v_b = 0.",
)
@given(case=points_of_subspaces())
def keeps_the_span_and_removes_the_rest(projection_matrix: Any, case: tuple[Array, Array, Array]) -> None:
    A, inside, outside = case
    M = projection_matrix(A)
    expect_close(call("projection_matrix", A, then=f" @ {inside.tolist()}"), got=M @ inside, want=inside, scale=4.0)
    expect_close(
        call("projection_matrix", A, then=f" @ {outside.tolist()}"), got=M @ outside, want=0 * outside, scale=4.0
    )


@check(
    of="attention.projection_matrix",
    claim="Projecting twice is projecting once, M is symmetric, and its trace is the number of columns of A.",
    hint="M² = A (A^T A) A^T = A A^T. A^T A is the m × m identity, which is another matrix.",
)
@given(case=orthonormal_columns)
def is_a_projection(projection_matrix: Any, case: tuple[Array]) -> None:
    M = projection_matrix(*case)
    expect_close(call("projection_matrix", *case, then=" squared"), got=M @ M, want=M, scale=4.0)
    expect_close(call("projection_matrix", *case, then=".T"), got=M.T, want=M)
    expect_close(
        call("projection_matrix", *case, then=".trace()"), got=M.trace(), want=float(case[0].shape[1]), scale=4.0
    )


@st.composite
def two_keys_and_scale(draw: Draw) -> tuple[Array, Array, float]:
    d = draw(st.sampled_from([2, 3, 5]))
    scale = draw(st.sampled_from([0.5, 1.0, 2.0, 7.0, 30.0, 1000.0, -2.0]))
    return draw(inputs.grid((d,))), draw(inputs.grid((d,))), scale


@st.composite
def orthonormal_keys(draw: Draw) -> tuple[Array, Array, float, int, int]:
    """Draw n orthonormal keys, values, a scale, and the two keys to average."""
    n = draw(st.sampled_from([3, 4, 5]))
    K = draw(rotations(n))
    order = draw(inputs.orders(n))
    return (
        K,
        draw(inputs.grid((n, 2), limit=8)),
        draw(st.sampled_from([4.0, 8.0, 16.0, 1000.0])),
        int(order[0]),
        int(order[1]),
    )


averaging_query_agrees = agreement(
    of="attention.averaging_query",
    arguments=two_keys_and_scale(),
    claim="q = scale (k_a + k_b).",
    hint="Both keys must get the same score, and a large one. Which vector has dot product `scale` with each?",
)

averaging_query_leaves_arguments_alone = unmodified(of="attention.averaging_query", arguments=two_keys_and_scale())


@check(
    of="attention.averaging_query",
    claim="Under orthonormal keys both weights are e^l / (2 e^l + n - 2), and the output nears (v_a + v_b)/2.",
    hint="The n - 2 other keys score 0 and keep a weight of 1 / (2 e^l + n - 2); a larger scale l makes it vanish.",
)
@given(case=orthonormal_keys())
def output_averages_two_values(averaging_query: Any, case: tuple[Any, ...]) -> None:
    K, V, scale, a, b = case
    query = averaging_query(K[a], K[b], scale)
    about = call("averaging_query", K[a], K[b], scale)
    scores = K @ query
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    exact = 1.0 / (2.0 + (len(K) - 2) * np.exp(-scale))
    expect_close(about, got=weights[[a, b]], want=np.array([exact, exact]), scale=1 + scale,
                 sentence="The two keys do not get the weight e^l / (2 e^l + n - 2).")  # fmt: skip
    average = (V[a] + V[b]) / 2
    bound = (1 - 2 * exact) * np.abs(V - average).max(axis=0) + 1e-4 * (1 + scale)
    expect(about, holds=bool((np.abs(weights @ V - average) <= bound).all()), gave=query,
           expected="a query whose output is the average of the two values")  # fmt: skip


@check(
    of="attention.averaging_query",
    claim="The two keys play the same part: exchanging them changes nothing.",
    hint="A difference k_a - k_b, or one key alone, treats them differently.",
)
@given(case=two_keys_and_scale())
def keys_can_be_exchanged(averaging_query: Any, case: tuple[Array, Array, float]) -> None:
    k_a, k_b, scale = case
    about = call("averaging_query", k_b, k_a, scale)
    expect_close(
        about,
        got=averaging_query(k_b, k_a, scale),
        want=averaging_query(k_a, k_b, scale),
        same_as=call("averaging_query", k_a, k_b, scale),
        scale=4 * abs(scale),
    )


head_queries_agrees = agreement(
    of="attention.head_queries",
    arguments=two_keys_and_scale(),
    claim="q_1 = scale mu_a and q_2 = scale mu_b.",
    hint="Each head copies one of the two values; the average is taken after both have attended.",
)

head_queries_leaves_arguments_alone = unmodified(of="attention.head_queries", arguments=two_keys_and_scale())


@check(
    of="attention.head_queries",
    claim="Each query scores `scale` on its own mean, mu_a for head one and mu_b for head two, and 0 on every other.",
    hint="The means are orthonormal. One query per head, not their sum in both.",
)
@given(case=orthonormal_keys())
def each_head_has_its_own_mean(head_queries: Any, case: tuple[Any, ...]) -> None:
    K, _, scale, a, b = case
    first, second = head_queries(K[a], K[b], scale)
    about = call("head_queries", K[a], K[b], scale)
    expect_close(about, got=K @ first, want=scale * np.eye(len(K))[a], scale=4 * scale)
    expect_close(about, got=K @ second, want=scale * np.eye(len(K))[b], scale=4 * scale)


@check(
    of="attention.head_queries",
    claim="When k_a = (1 + g) mu_a with g ~ N(0, 1/2), two heads vary less than the single head of S4.5.3b.",
    hint="Head two never looks at k_a, and head one saturates for most g. What does a single head do at g = ±0.5?",
    examples=20,
)
@given(case=orthonormal_keys())
def two_heads_vary_less_than_one(head_queries: Any, case: tuple[Any, ...]) -> None:
    """Compare variances over 4,096 fixed draws of g.

    The weights lie in [0, 1]. At scale 8 and more the single head's weight has variance
    0.19 or more and the two heads' average 0.04 or less; by Hoeffding's inequality the
    chance that 4,096 draws reverse a gap of 0.15 is below 2 exp(-2 · 4096 · 0.07²) < 1e-17.
    The draws are fixed, so the verdict is the same every time.
    """
    K, _, scale, a, b = case
    scale = max(scale, 8.0)
    first, second = head_queries(K[a], K[b], scale)
    stretch = 1 + np.sqrt(0.5) * np.random.default_rng(2024).standard_normal(4096)
    single = _weight_on_first(K, scale * (K[a] + K[b]), a, stretch)
    double = (_weight_on_first(K, first, a, stretch) + _weight_on_first(K, second, a, stretch)) / 2
    about = call("head_queries", K[a], K[b], scale)
    expect(
        about,
        holds=bool(double.var() < 0.5 * single.var()) and bool(abs(double.mean() - 0.5) < 0.1),
        gave=(first, second),
        expected="two queries whose averaged output stays near (v_a + v_b)/2 while k_a is stretched",
    )


def _weight_on_first(K: Array, query: Array, a: int, stretch: Array) -> Array:
    """Return the weight of key a for each stretch of it."""
    scores = np.repeat((K @ query)[None], len(stretch), axis=0)
    scores[:, a] *= stretch
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    share: Array = weights[:, a] / weights.sum(axis=1)
    return share
