"""Wrong attention: each function computes exactly what one mistake computes.

What is right in it is the reference's, so that a body shows the mistake and little else.
"""
# A misconception has the contract's signature even where the mistake is to ignore an argument
# (ARG001, PLR0917), and its `why` says what a docstring would (D103).
# ruff: noqa: ARG001

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from checks.misconception import misconception
from reference import attention as right

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.attention import Array


def _scores(Q: Array, K: Array) -> Any:
    """Return q_i·k_j without a scale."""
    return Q @ np.swapaxes(K, -1, -2)


def _scaled(Q: Array, K: Array) -> Any:
    """Return q_i·k_j / sqrt(d)."""
    return _scores(Q, K) / Q.shape[-1] ** 0.5


def _masked(scores: Any, mask: Array | None) -> Any:
    """Add the mask, if there is one."""
    return scores if mask is None else scores + mask


def _overflowing_softmax(x: Any, axis: int = -1) -> Any:
    """Exponentiate as it is; in float64, because extended precision would hide the overflow."""
    exponentials = np.exp(np.asarray(x, dtype=np.float64))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


# softmax


@misconception(
    of="attention.softmax",
    name="softmax over the wrong axis",
    why="The maximum and the sum are always taken over axis 0, so columns sum to 1 where rows should;"
    " the contract's default is the last axis.",
)
def softmax_over_first_axis(x: Array, axis: int = -1) -> Any:
    return right.softmax(x, axis=0)


@misconception(
    of="attention.softmax",
    name="axis argument ignored",
    why="The last axis is normalised whatever `axis` says, which is right only for the default.",
)
def softmax_axis_ignored(x: Array, axis: int = -1) -> Any:
    return right.softmax(x)


@misconception(
    of="attention.softmax",
    name="axis 1 whatever the shape",
    why="axis=1 is the last axis of a matrix only: a vector has none, and a batch of matrices has another.",
)
def softmax_over_axis_one(x: Array, axis: int = -1) -> Any:
    return right.softmax(x, axis=1)


@misconception(
    of="attention.softmax",
    name="axis counted from the wrong end",
    why="Rows are normalised where columns are asked for and the other way round: `axis` is the one that is"
    " summed over.",
)
def softmax_axis_mirrored(x: Array, axis: int = -1) -> Any:
    return right.softmax(x, axis=x.ndim - 1 - axis % x.ndim)


@misconception(
    of="attention.softmax",
    name="normalises the whole array",
    why="The sum runs over every entry (no axis is given to it), so the whole array sums to 1 and not each row.",
)
def softmax_of_whole_array(x: Array, axis: int = -1) -> Any:
    return right.softmax(x.ravel()).reshape(x.shape)


@misconception(
    of="attention.softmax",
    name="maximum taken over the wrong axis",
    why="The maximum is subtracted per column and the sum taken per row: only one shift for the whole row cancels.",
)
def softmax_maximum_over_first_axis(x: Array, axis: int = -1) -> Any:
    exponentials = np.exp(x - x.max(axis=0, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@misconception(
    of="attention.softmax",
    name="sum taken over the wrong axis",
    why="The maximum is taken along `axis`, but the sum always over axis 0, so the rows do not sum to 1.",
)
def softmax_sum_over_first_axis(x: Array, axis: int = -1) -> Any:
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=0, keepdims=True)


@misconception(
    of="attention.softmax",
    name="maximum of the whole array subtracted",
    why="One maximum for the whole array leaves a row far below it with exp = 0 throughout, and 0/0 is nan;"
    " each row needs its own.",
)
def softmax_global_maximum(x: Array, axis: int = -1) -> Any:
    exponentials = np.exp(np.asarray(x - x.max(), dtype=np.float64))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@misconception(
    of="attention.softmax",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan; subtracting the maximum first changes nothing else.",
)
def softmax_without_maximum(x: Array, axis: int = -1) -> Any:
    return _overflowing_softmax(x, axis)


@misconception(
    of="attention.softmax",
    name="logits clipped before exp",
    why="Clipping to ±500 avoids the overflow by changing the logits: two beyond the limit become equal;"
    " subtract the maximum in its place.",
)
def softmax_clipped(x: Array, axis: int = -1) -> Any:
    return right.softmax(np.clip(x, -500, 500), axis=axis)


@misconception(
    of="attention.softmax",
    name="batch of one flattened",
    why="A squeeze removes every axis of size one, also those that belong to the input; the shape must stay.",
)
def softmax_squeezed(x: Array, axis: int = -1) -> Any:
    return np.squeeze(right.softmax(x, axis=axis))


@misconception(
    of="attention.softmax",
    name="1-d input returned as 2-d",
    why="A vector is made a matrix of one row to reuse the matrix code, and not turned back.",
)
def softmax_at_least_two_dimensional(x: Array, axis: int = -1) -> Any:
    return np.atleast_2d(right.softmax(x, axis=axis))


@misconception(
    of="attention.softmax",
    name="modifies its input",
    why="`x -= x.max(...)` or `out=x` writes into the caller's array; `x = x - ...` makes a new one.",
)
def softmax_in_place(x: Array, axis: int = -1) -> Any:
    x -= x.max(axis=axis, keepdims=True)
    return right.softmax(x, axis=axis)


@misconception(
    of="attention.softmax",
    name="keepdims forgotten",
    why="Without keepdims=True the maximum and the sum lose the axis, and broadcasting lines them up with the"
    " columns or fails.",
)
def softmax_without_keepdims(x: Array, axis: int = -1) -> Any:
    exponentials = np.exp(x - x.max(axis=axis))
    return exponentials / exponentials.sum(axis=axis)


@misconception(
    of="attention.softmax",
    name="keepdims forgotten in the sum",
    why="Without keepdims=True the sum loses the axis, and broadcasting divides column j by the sum of row j or fails.",
)
def softmax_sum_without_keepdims(x: Array, axis: int = -1) -> Any:
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis)


@misconception(
    of="attention.softmax",
    name="log-softmax returned",
    why="These are the logarithms of the probabilities (torch's log_softmax), which the loss wants;"
    " here the probabilities are asked for.",
)
def softmax_logarithm(x: Array, axis: int = -1) -> Any:
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@misconception(
    of="attention.softmax",
    name="exponentials not divided by their sum",
    why="The maximum is subtracted and exp taken, but the division by the sum is missing (or is by the largest).",
)
def softmax_unnormalised(x: Array, axis: int = -1) -> Any:
    return np.exp(x - x.max(axis=axis, keepdims=True))


@misconception(
    of="attention.softmax",
    name="exp alone",
    why="exp(x) is returned as it is: neither shifted by the maximum nor divided by the sum.",
)
def softmax_exponential(x: Array, axis: int = -1) -> Any:
    return np.exp(np.asarray(x, dtype=np.float64))


@misconception(
    of="attention.softmax",
    name="divided by the mean in place of the sum",
    why="The exponentials are divided by their mean, so a row sums to its length and not to 1.",
)
def softmax_over_mean(x: Array, axis: int = -1) -> Any:
    return right.softmax(x, axis=axis) * x.shape[axis]


@misconception(
    of="attention.softmax",
    name="exp forgotten",
    why="The logits themselves are divided by their sum, which is neither positive nor shift invariant.",
)
def softmax_without_exp(x: Array, axis: int = -1) -> Any:
    return x / x.sum(axis=axis, keepdims=True)


@misconception(
    of="attention.softmax",
    name="exp(-x) in place of exp(x)",
    why="The sign is turned, so the smallest logit gets the largest probability.",
)
def softmax_of_negative(x: Array, axis: int = -1) -> Any:
    return right.softmax(-x, axis=axis)


@misconception(
    of="attention.softmax",
    name="hard maximum in place of softmax",
    why="All the weight goes to the largest entry; softmax gives every entry some.",
)
def softmax_hard(x: Array, axis: int = -1) -> Any:
    one_hot = np.zeros_like(x)
    np.put_along_axis(one_hot, x.argmax(axis=axis, keepdims=True), 1, axis=axis)
    return one_hot


@misconception(
    of="attention.softmax",
    name="sigmoid in place of softmax",
    why="Each entry is squashed on its own, so a row does not sum to 1: sigmoid is the case of two classes.",
)
def softmax_sigmoid(x: Array, axis: int = -1) -> Any:
    return (1 + np.tanh(x / 2)) / 2


@misconception(
    of="attention.softmax",
    name="result left transposed",
    why="The array was transposed so that the sums broadcast, and not transposed back.",
)
def softmax_transposed(x: Array, axis: int = -1) -> Any:
    return right.softmax(x, axis=axis).T


# dot_product_attention


@misconception(
    of="attention.dot_product_attention",
    name="scaled by 1/sqrt(d)",
    why="The scale belongs to scaled dot-product attention; here the scores are the plain products k_i·q.",
)
def dot_product_scaled(q: Array, K: Array, V: Array) -> Any:
    return right.dot_product_attention(q / q.shape[0] ** 0.5, K, V)


@misconception(
    of="attention.dot_product_attention",
    name="divided by d",
    why="The scores are divided by the width of the query; the sheet's single-query attention has no scale.",
)
def dot_product_divided(q: Array, K: Array, V: Array) -> Any:
    return right.dot_product_attention(q / q.shape[0], K, V)


@misconception(
    of="attention.dot_product_attention",
    name="values computed from the keys",
    why="The weights are applied to K; the context is a combination of the values V.",
)
def dot_product_of_keys(q: Array, K: Array, V: Array) -> Any:
    return right.dot_product_attention(q, K, K)


@misconception(
    of="attention.dot_product_attention",
    name="scores returned in place of the weights",
    why="The context is right, but the second result holds the scores before the softmax.",
)
def dot_product_scores_returned(q: Array, K: Array, V: Array) -> Any:
    return right.dot_product_attention(q, K, V)[0], K @ q


@misconception(
    of="attention.dot_product_attention",
    name="softmax forgotten",
    why="The raw scores weigh the values; they are neither positive nor sum to 1.",
)
def dot_product_without_softmax(q: Array, K: Array, V: Array) -> Any:
    return (K @ q) @ V, K @ q


@misconception(
    of="attention.dot_product_attention",
    name="exponentials not divided by their sum",
    why="The weights are exp(score) shifted by the maximum and do not sum to 1.",
)
def dot_product_unnormalised(q: Array, K: Array, V: Array) -> Any:
    weights = softmax_unnormalised.function(K @ q)
    return weights @ V, weights


@misconception(
    of="attention.dot_product_attention",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan: scores in the thousands need the shift by the maximum.",
)
def dot_product_without_maximum(q: Array, K: Array, V: Array) -> Any:
    weights = _overflowing_softmax(K @ q)
    return weights @ V, weights


@misconception(
    of="attention.dot_product_attention",
    name="weights not returned",
    why="Only the context comes back; the contract asks for the context and the weights.",
)
def dot_product_context_only(q: Array, K: Array, V: Array) -> Any:
    return right.dot_product_attention(q, K, V)[0]


@misconception(
    of="attention.dot_product_attention",
    name="weights and context in the wrong order",
    why="The weights come first; the contract returns the context, then the weights.",
)
def dot_product_swapped_results(q: Array, K: Array, V: Array) -> Any:
    return right.dot_product_attention(q, K, V)[::-1]


@misconception(
    of="attention.dot_product_attention",
    name="softmax over an axis of size one",
    why="The scores are a matrix with an axis of size one and softmax runs over that axis, so every weight is 1.",
)
def dot_product_axis_of_one(q: Array, K: Array, V: Array) -> Any:
    return V.sum(axis=0), np.ones(K.shape[0])


@misconception(
    of="attention.dot_product_attention",
    name="hard maximum in place of softmax",
    why="The best key gets all the weight; that is the limit of large scores, not attention itself.",
)
def dot_product_hard(q: Array, K: Array, V: Array) -> Any:
    weights = softmax_hard.function(K @ q)
    return weights @ V, weights


@misconception(
    of="attention.dot_product_attention",
    name="values averaged uniformly",
    why="Every value gets the weight 1/n whatever the scores; the context must use the weights.",
)
def dot_product_mean(q: Array, K: Array, V: Array) -> Any:
    return V.mean(axis=0), right.dot_product_attention(q, K, V)[1]


@misconception(
    of="attention.dot_product_attention",
    name="weighted values not summed",
    why="Each value is multiplied by its weight, but the sum over the keys is missing.",
)
def dot_product_not_summed(q: Array, K: Array, V: Array) -> Any:
    weights = right.dot_product_attention(q, K, V)[1]
    return weights[:, np.newaxis] * V, weights


@misconception(
    of="attention.dot_product_attention",
    name="results returned as 2-d",
    why="The query was made a matrix of one row, and context and weights keep that extra axis.",
)
def dot_product_two_dimensional(q: Array, K: Array, V: Array) -> Any:
    context, weights = right.dot_product_attention(q, K, V)
    return context[np.newaxis], weights[np.newaxis]


@misconception(
    of="attention.dot_product_attention",
    name="cosine similarity in place of the dot product",
    why="The scores are divided by the norms of query and key; the sheet's score is the plain product.",
)
def dot_product_cosine(q: Array, K: Array, V: Array) -> Any:
    lengths = np.sqrt((K * K).sum(axis=-1)) * np.sqrt(q @ q)
    weights = right.softmax(K @ q / lengths)
    return weights @ V, weights


# scaled_dot_product_attention


@misconception(
    of="attention.scaled_dot_product_attention",
    name="no 1/sqrt(d)",
    why="The scores are the plain products: without the scale their variance grows with d and softmax saturates.",
)
def scaled_without_scale(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K), mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="divided by d",
    why="The scores are divided by d; their standard deviation is sqrt(d), so the root is missing (or taken twice).",
)
def scaled_by_d(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K) / Q.shape[-1], mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="multiplied by sqrt(d)",
    why="The scale is upside down: the scores are divided by sqrt(d).",
)
def scaled_upside_down(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K) * Q.shape[-1] ** 0.5, mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="divided by sqrt(d_v)",
    why="The width of the values is used for the scale; it is the width of queries and keys, d_k.",
)
def scaled_by_value_width(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K) / V.shape[-1] ** 0.5, mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="divided by sqrt of the number of queries",
    why="The scale reads the length of the sequence, Q.shape[-2]; it is the width, Q.shape[-1].",
)
def scaled_by_queries(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K) / Q.shape[-2] ** 0.5, mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="divided by sqrt of the number of keys",
    why="The scale reads the number of keys, K.shape[-2]; it is the width, K.shape[-1].",
)
def scaled_by_keys(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K) / K.shape[-2] ** 0.5, mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="scale read from the first axis",
    why="len(Q) or Q.shape[0] is the batch or the number of queries; the width is Q.shape[-1].",
)
def scaled_by_first_axis(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K) / Q.shape[0] ** 0.5, mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="scale read from axis 1",
    why="Q.shape[1] is the width of a matrix, but the number of queries of a batch; the width is Q.shape[-1].",
)
def scaled_by_axis_one(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K) / Q.shape[1] ** 0.5, mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="sqrt(d) rounded to an integer",
    why="int(sqrt(d)) or // drops the fraction, which is right only when d is a square.",
)
def scaled_by_whole_root(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K) / int(Q.shape[-1] ** 0.5), mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="scaled after the softmax",
    why="The weights are divided by sqrt(d), so they no longer sum to 1; the scale belongs to the scores.",
)
def scaled_after_softmax(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return scaled_without_scale.function(Q, K, V, mask) / Q.shape[-1] ** 0.5


@misconception(
    of="attention.scaled_dot_product_attention",
    name="softmax forgotten",
    why="The scaled scores weigh the values as they are; they are neither positive nor sum to 1.",
)
def scaled_without_softmax(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return _masked(_scaled(Q, K), mask) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan: scores in the thousands need the shift by the maximum.",
)
def scaled_without_maximum(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return _overflowing_softmax(_masked(_scaled(Q, K), mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask discarded",
    why="The mask changes nothing: it is never used, or the masked scores are computed and not assigned"
    " (masked_fill returns a new tensor).",
)
def scaled_mask_discarded(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.scaled_dot_product_attention(Q, K, V)


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask multiplied",
    why="The scores are multiplied by the mask; the contract adds it, 0 keeps and -inf hides.",
)
def scaled_mask_multiplied(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    scores = _scaled(Q, K)
    return right.softmax(scores if mask is None else scores * mask) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask subtracted",
    why="Subtracting -inf gives +inf and inf - inf is nan; the mask is added to the scores.",
)
def scaled_mask_subtracted(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scaled(Q, K), None if mask is None else -mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask applied after the softmax",
    why="The hidden weights are set to 0 after the softmax, so the others no longer sum to 1; hide the scores"
    " before it.",
)
def scaled_mask_after_softmax(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    weights = right.softmax(_scaled(Q, K))
    return (weights if mask is None else np.where(np.isneginf(mask), 0, weights)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask added after the softmax",
    why="The mask is added to the weights, which become -inf; it is added to the scores, before the softmax.",
)
def scaled_mask_added_to_weights(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return _masked(right.softmax(_scaled(Q, K)), mask) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask meaning inverted",
    why="This is the True = keep convention of most from-scratch code, which hides where the mask is 0;"
    " the contract adds the mask to the scores, 0 keeps and -inf hides.",
)
def scaled_mask_inverted(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    scores = _scaled(Q, K)
    return right.softmax(scores if mask is None else np.where(mask == 0, -np.inf, scores)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask meaning inverted, hidden with -1e9",
    why="This is the True = keep convention, masked_fill(mask == 0, -1e9); the contract adds the mask to the scores,"
    " 0 keeps and -inf hides.",
)
def scaled_mask_inverted_large(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    scores = _scaled(Q, K)
    return right.softmax(scores if mask is None else np.where(mask == 0, -1e9, scores)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask read as True = hide",
    why="This is the boolean convention of torch's MultiheadAttention: anything but 0 hides;"
    " the contract's mask is added, so a finite entry only raises or lowers a score.",
)
def scaled_mask_boolean(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    scores = _scaled(Q, K)
    return right.softmax(scores if mask is None else np.where(mask != 0, -np.inf, scores)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="finite entries of the mask ignored",
    why="Only -inf is looked for; the mask is added to the scores, and a finite entry raises or lowers one.",
)
def scaled_mask_finite_ignored(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    scores = _scaled(Q, K)
    return right.softmax(scores if mask is None else np.where(np.isneginf(mask), -np.inf, scores)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="mask added before the scaling",
    why="The mask is divided by sqrt(d) together with the scores; the contract adds it after the division.",
)
def scaled_mask_before_scaling(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scores(Q, K), mask) / Q.shape[-1] ** 0.5) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="causal mask always applied",
    why="Later keys are hidden although the caller did not ask for it; only the mask argument hides.",
)
def scaled_always_causal(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    future = np.triu(np.full((Q.shape[-2], K.shape[-2]), -np.inf), k=1)
    return right.scaled_dot_product_attention(Q, K, V, future)


@misconception(
    of="attention.scaled_dot_product_attention",
    name="softmax over the query axis",
    why="The weights of one key sum to 1 over the queries; for each query they must sum to 1 over the keys (axis -1).",
)
def scaled_softmax_over_queries(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scaled(Q, K), mask), axis=-2) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="softmax over the first axis",
    why="axis=0 is the batch, or the queries where there is no batch; the keys are on axis -1.",
)
def scaled_softmax_over_first_axis(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scaled(Q, K), mask), axis=0) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="softmax over axis 1",
    why="axis=1 is the keys only where there is no batch; the keys are on axis -1.",
)
def scaled_softmax_over_axis_one(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scaled(Q, K), mask), axis=1) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="normalises all scores at once",
    why="All weights together sum to 1; each query's must, so the softmax needs axis=-1.",
)
def scaled_softmax_of_all(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return softmax_of_whole_array.function(_masked(_scaled(Q, K), mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="K.T turns the batch too",
    why="K.T reverses every axis of a batch of keys; only the last two change places (swapaxes, transpose(-1,"
    " -2), mT).",
)
def scaled_all_axes_reversed(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(Q @ K.T / Q.shape[-1] ** 0.5, mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="K reshaped in place of transposed",
    why="reshape reads the same numbers in the same order into another shape; only a transpose swaps the axes.",
)
def scaled_keys_reshaped(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    columns = K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])
    return right.softmax(_masked(Q @ columns / Q.shape[-1] ** 0.5, mask)) @ V


@misconception(
    of="attention.scaled_dot_product_attention",
    name="queries and keys swapped",
    why="The scores are K Q^T, one row per key; each row must belong to a query.",
)
def scaled_roles_swapped(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.scaled_dot_product_attention(K, Q, V, mask)


@misconception(
    of="attention.scaled_dot_product_attention",
    name="values computed from the keys",
    why="The weights are applied to K; the output is a combination of the values V.",
)
def scaled_values_from_keys(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.scaled_dot_product_attention(Q, K, K, mask)


@misconception(
    of="attention.scaled_dot_product_attention",
    name="batch dimensions flattened",
    why="The output of a batch comes back as one long matrix; the leading dimensions must stay.",
)
def scaled_batch_flattened(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.scaled_dot_product_attention(Q, K, V, mask).reshape(-1, V.shape[-1])


@misconception(
    of="attention.scaled_dot_product_attention",
    name="batch of one flattened",
    why="A squeeze removes every axis of size one, also those that belong to the input; the shape must stay.",
)
def scaled_squeezed(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return np.squeeze(right.scaled_dot_product_attention(Q, K, V, mask))


@misconception(
    of="attention.scaled_dot_product_attention",
    name="weights returned in place of the output",
    why="The weights come back alone or first; the output is asked for, and (output, weights) is accepted.",
)
def scaled_weights_returned(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    return right.softmax(_masked(_scaled(Q, K), mask))


@misconception(
    of="attention.scaled_dot_product_attention",
    name="modifies its input",
    why="`Q /= sqrt(d)` writes into the caller's array; `Q = Q / sqrt(d)` makes a new one.",
)
def scaled_in_place(Q: Array, K: Array, V: Array, mask: Array | None = None) -> Any:
    output = right.scaled_dot_product_attention(Q, K, V, mask)
    Q /= Q.shape[-1] ** 0.5
    return output


# causal_mask


@misconception(
    of="attention.causal_mask",
    name="upper and lower triangle swapped",
    why="The past is hidden and the future is visible: -inf belongs where j > i, above the diagonal.",
)
def mask_of_past(n: int) -> Any:
    return right.causal_mask(n).T


@misconception(
    of="attention.causal_mask",
    name="diagonal hidden too",
    why="A position may attend to itself: -inf starts one above the diagonal (k=1), and the first row keeps one entry.",
)
def mask_of_diagonal(n: int) -> Any:
    return np.triu(np.full((n, n), -np.inf))


@misconception(
    of="attention.causal_mask",
    name="future leaks by one position",
    why="The entry right of the diagonal is 0, so each position sees the next one, which it is to predict.",
)
def mask_leaking(n: int) -> Any:
    return np.triu(np.full((n, n), -np.inf), k=2)


@misconception(
    of="attention.causal_mask",
    name="ones that keep in place of an additive mask",
    why="This is the True = keep mask (torch.tril of ones, or booleans) of most from-scratch code;"
    " the contract's is added to the scores, 0 keeps and -inf hides.",
)
def mask_of_ones_that_keep(n: int) -> Any:
    return np.tril(np.ones((n, n)))


@misconception(
    of="attention.causal_mask",
    name="ones that hide in place of an additive mask",
    why="This is the True = hide mask of torch's MultiheadAttention (ones, or booleans, above the diagonal);"
    " the contract's is added to the scores, 0 keeps and -inf hides.",
)
def mask_of_ones_that_hide(n: int) -> Any:
    return np.triu(np.ones((n, n)), k=1)


@misconception(
    of="attention.causal_mask",
    name="a large negative number in place of -inf",
    why="-1e9 hides only while no score comes near it; the contract's mask holds -inf.",
)
def mask_of_large_number(n: int) -> Any:
    return np.triu(np.full((n, n), -1e9), k=1)


@misconception(
    of="attention.causal_mask",
    name="a large negative number in place of -inf (-1e4)",
    why="-1e4 is the half-precision fill, and scores in the thousands reach it; the contract's mask holds -inf.",
)
def mask_of_half_precision(n: int) -> Any:
    return np.triu(np.full((n, n), -1e4), k=1)


@misconception(
    of="attention.causal_mask",
    name="a large negative number in place of -inf (-1e10)",
    why="-1e10 hides only while no score comes near it; the contract's mask holds -inf.",
)
def mask_of_larger_number(n: int) -> Any:
    return np.triu(np.full((n, n), -1e10), k=1)


@misconception(
    of="attention.causal_mask",
    name="the smallest float in place of -inf",
    why="finfo.min is finite, and adding a negative score to it may overflow; the contract's mask holds -inf.",
)
def mask_of_smallest_float(n: int) -> Any:
    return np.triu(np.full((n, n), np.finfo(np.float64).min), k=1)


@misconception(
    of="attention.causal_mask",
    name="0 times -inf is nan",
    why="A triangle of ones was multiplied by -inf, and 0 · -inf is nan where 0 should be; fill the triangle directly.",
)
def mask_of_nan(n: int) -> Any:
    return np.triu(np.ones((n, n)), k=1) * -np.inf


@misconception(
    of="attention.causal_mask",
    name="sign of the infinity lost",
    why="+inf above the diagonal gives the future all the weight; -inf gives it none.",
)
def mask_of_positive_infinity(n: int) -> Any:
    return -np.triu(np.full((n, n), -np.inf), k=1)


@misconception(
    of="attention.causal_mask",
    name="nothing hidden",
    why="Every entry is 0, so every position sees the future.",
)
def mask_of_nothing(n: int) -> Any:
    return np.zeros((n, n))


@misconception(
    of="attention.causal_mask",
    name="only the diagonal visible",
    why="The past is hidden as well as the future: 0 belongs on and below the diagonal.",
)
def mask_of_everything_else(n: int) -> Any:
    return right.causal_mask(n) + right.causal_mask(n).T


@misconception(
    of="attention.causal_mask",
    name="extra leading dimension",
    why="The mask comes back as (1, n, n) or (1, 1, n, n) for a batch; the contract asks for (n, n).",
)
def mask_with_batch(n: int) -> Any:
    return right.causal_mask(n)[np.newaxis]


# self_attention


@misconception(
    of="attention.self_attention",
    name="no 1/sqrt(d)",
    why="The scores are the plain products of projected queries and keys; they are divided by sqrt(h).",
)
def self_without_scale(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_without_scale.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="divided by d",
    why="The scores are divided by the width h of the projections; their standard deviation is its root.",
)
def self_divided(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_by_d.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="scaled by the width of the input",
    why="sqrt(d) of the input X is used; the products have h terms, the width of the projected queries and keys.",
)
def self_scaled_by_input(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    scores = _scores(X @ W_q, X @ W_k) / X.shape[-1] ** 0.5
    return right.softmax(_masked(scores, mask)) @ (X @ W_v)


@misconception(
    of="attention.self_attention",
    name="divided by sqrt of the length",
    why="The scale reads the number of positions; it is the width h of the projected queries and keys.",
)
def self_scaled_by_length(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_by_queries.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="softmax forgotten",
    why="The scaled scores weigh the values as they are; they are neither positive nor sum to 1.",
)
def self_without_softmax(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_without_softmax.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan: scores in the thousands need the shift by the maximum.",
)
def self_without_maximum(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_without_maximum.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="queries and keys swapped",
    why="W_k projects the queries and W_q the keys, which transposes the scores.",
)
def self_roles_swapped(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_k, W_q, W_v, mask)


@misconception(
    of="attention.self_attention",
    name="keys projected with W_q",
    why="Queries and keys share one projection, so the scores are symmetric; keys have W_k.",
)
def self_shared_queries(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_q, W_q, W_v, mask)


@misconception(
    of="attention.self_attention",
    name="values computed from the keys",
    why="The values are projected with W_k; they have W_v.",
)
def self_values_from_keys(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_q, W_k, W_k, mask)


@misconception(
    of="attention.self_attention",
    name="one projection for queries, keys and values",
    why="W_q projects all three; queries, keys and values have a matrix each.",
)
def self_one_projection(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_q, W_q, W_q, mask)


@misconception(
    of="attention.self_attention",
    name="X used as the values",
    why="The weights are applied to X itself; the values are X W_v.",
)
def self_values_unprojected(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.scaled_dot_product_attention(X @ W_q, X @ W_k, X, mask)


@misconception(
    of="attention.self_attention",
    name="X used as queries and keys",
    why="The scores are X X^T / sqrt(d), without W_q and W_k.",
)
def self_scores_unprojected(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.scaled_dot_product_attention(X, X, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="projections transposed",
    why="X @ W.T is the layout of torch's Linear; here matrices act on rows as X @ W.",
)
def self_projections_transposed(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_q.T, W_k.T, W_v.T, mask)


@misconception(
    of="attention.self_attention",
    name="mask discarded",
    why="The mask changes nothing: it is not passed on, or the masked scores are computed and not assigned.",
)
def self_mask_discarded(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_q, W_k, W_v)


@misconception(
    of="attention.self_attention",
    name="mask multiplied",
    why="The scores are multiplied by the mask; the contract adds it, 0 keeps and -inf hides.",
)
def self_mask_multiplied(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_mask_multiplied.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="mask applied after the softmax",
    why="The hidden weights are set to 0 after the softmax, so the others no longer sum to 1; hide the scores"
    " before it.",
)
def self_mask_after_softmax(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_mask_after_softmax.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="mask meaning inverted",
    why="This is the True = keep convention of most from-scratch code, which hides where the mask is 0;"
    " the contract adds the mask to the scores, 0 keeps and -inf hides.",
)
def self_mask_inverted(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_mask_inverted.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="mask meaning inverted, hidden with -1e9",
    why="This is the True = keep convention, masked_fill(mask == 0, -1e9); the contract adds the mask to the scores,"
    " 0 keeps and -inf hides.",
)
def self_mask_inverted_large(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_mask_inverted_large.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="finite entries of the mask ignored",
    why="Only -inf is looked for; the mask is added to the scores, and a finite entry raises or lowers one.",
)
def self_mask_finite_ignored(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_mask_finite_ignored.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="causal mask always applied",
    why="Later positions are hidden although the caller did not ask for it; only the mask argument hides.",
)
def self_always_causal(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_q, W_k, W_v, right.causal_mask(X.shape[-2]))


@misconception(
    of="attention.self_attention",
    name="softmax over the query axis",
    why="The weights of one key sum to 1 over the queries; for each query they must sum to 1 over the keys (axis -1).",
)
def self_softmax_over_queries(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_softmax_over_queries.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="softmax over axis 1",
    why="axis=1 is the keys only where there is no batch; the keys are on axis -1.",
)
def self_softmax_over_axis_one(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_softmax_over_axis_one.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="K.T turns the batch too",
    why="K.T reverses every axis of a batch of keys; only the last two change places (swapaxes, transpose(-1,"
    " -2), mT).",
)
def self_all_axes_reversed(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return scaled_all_axes_reversed.function(X @ W_q, X @ W_k, X @ W_v, mask)


@misconception(
    of="attention.self_attention",
    name="residual added",
    why="X is added to the output; the residual belongs to the layer around attention, not to attention.",
)
def self_with_residual(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> Any:
    return X + right.self_attention(X, W_q, W_k, W_v, mask)


# multi_head_attention


def _heads(
    X: Array,
    W_q: Array,
    W_k: Array,
    W_v: Array,
    mask: Array | None,
    attention: Callable[..., Any] = right.scaled_dot_product_attention,
) -> Any:
    """Return what each head attends to, (…, heads, n, h)."""
    X = X[..., np.newaxis, :, :]
    return attention(X @ W_q, X @ W_k, X @ W_v, None if mask is None else mask[..., np.newaxis, :, :])


def _joined(outputs: Any, W_o: Array) -> Any:
    """Concatenate the heads' outputs (…, heads, n, h) and multiply by W_o."""
    by_position = np.moveaxis(outputs, -3, -2)
    return by_position.reshape(*by_position.shape[:-2], W_o.shape[0]) @ W_o


@misconception(
    of="attention.multi_head_attention",
    name="heads reshaped without transposing",
    why="(heads, n, h) was reshaped to (n, heads*h) directly, which mixes positions and heads;"
    " the heads' axis must stand next to h first.",
)
def heads_reshaped(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    outputs = _heads(X, W_q, W_k, W_v, mask)
    return outputs.reshape(*outputs.shape[:-3], outputs.shape[-2], W_o.shape[0]) @ W_o


@misconception(
    of="attention.multi_head_attention",
    name="heads interleaved in the concatenation",
    why="The heads were stacked on the last axis, so the concatenation runs over heads within each feature;"
    " W_o expects one head's features side by side.",
)
def heads_interleaved(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    by_feature = np.moveaxis(_heads(X, W_q, W_k, W_v, mask), -3, -1)
    return by_feature.reshape(*by_feature.shape[:-2], W_o.shape[0]) @ W_o


@misconception(
    of="attention.multi_head_attention",
    name="projections reshaped without transposing",
    why="(heads, d, h) was reshaped to (d, heads*h) directly, which mixes heads and input features;"
    " move the heads' axis behind d first.",
)
def heads_projections_reshaped(
    X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None
) -> Any:
    heads, d, h = W_q.shape
    W_q, W_k, W_v = (np.moveaxis(W.reshape(d, heads, h), 1, 0) for W in (W_q, W_k, W_v))
    return _joined(_heads(X, W_q, W_k, W_v, mask), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="one projection shared by all heads",
    why="Every head uses the first head's matrices, so all heads compute the same; each has its own W_q, W_k, W_v.",
)
def heads_shared(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    W_q, W_k, W_v = (np.broadcast_to(W[:1], W.shape) for W in (W_q, W_k, W_v))
    return _joined(_heads(X, W_q, W_k, W_v, mask), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="one block of W_o shared by all heads",
    why="Every head is multiplied by the first h rows of W_o; head i has rows i*h to (i+1)*h.",
)
def heads_shared_output(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return _heads(X, W_q, W_k, W_v, mask).sum(axis=-3) @ W_o[: W_q.shape[-1]]


@misconception(
    of="attention.multi_head_attention",
    name="no 1/sqrt(d)",
    why="The scores are the plain products of projected queries and keys; they are divided by sqrt(h).",
)
def heads_without_scale(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return _joined(_heads(X, W_q, W_k, W_v, mask, scaled_without_scale.function), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="scaled by the width of the model",
    why="sqrt(d) of the model is used; the products of one head have h terms.",
)
def heads_scaled_by_model(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    smaller = W_q * (W_q.shape[-1] / X.shape[-1]) ** 0.5
    return _joined(_heads(X, smaller, W_k, W_v, mask), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="scaled by the width of all heads together",
    why="sqrt(heads*h) is used; the products of one head have h terms.",
)
def heads_scaled_by_all(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    smaller = W_q / W_q.shape[0] ** 0.5
    return _joined(_heads(X, smaller, W_k, W_v, mask), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan: scores in the thousands need the shift by the maximum.",
)
def heads_without_maximum(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return _joined(_heads(X, W_q, W_k, W_v, mask, scaled_without_maximum.function), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="residual added",
    why="X is added to the output; the residual belongs to the layer around attention, not to attention.",
)
def heads_with_residual(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return X + right.multi_head_attention(X, W_q, W_k, W_v, W_o, mask)


@misconception(
    of="attention.multi_head_attention",
    name="W_o forgotten",
    why="The concatenated heads come back as they are; they are multiplied by W_o.",
)
def heads_without_output(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return _joined(_heads(X, W_q, W_k, W_v, mask), np.eye(W_o.shape[0]))


@misconception(
    of="attention.multi_head_attention",
    name="heads averaged",
    why="The heads' parts O_i W_o_i are averaged; concatenation and W_o add them up.",
)
def heads_averaged(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return right.multi_head_attention(X, W_q, W_k, W_v, W_o, mask) / W_q.shape[0]


@misconception(
    of="attention.multi_head_attention",
    name="only the first head counted",
    why="The other heads do not reach the output.",
)
def heads_only_first(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_q[0], W_k[0], W_v[0], mask) @ W_o[: W_q.shape[-1]]


@misconception(
    of="attention.multi_head_attention",
    name="only the last head counted",
    why="The loop over heads overwrites its result in place of adding to it.",
)
def heads_only_last(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return right.self_attention(X, W_q[-1], W_k[-1], W_v[-1], mask) @ W_o[-W_q.shape[-1] :]


@misconception(
    of="attention.multi_head_attention",
    name="queries and keys swapped",
    why="W_k projects the queries and W_q the keys, which transposes the scores.",
)
def heads_roles_swapped(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return right.multi_head_attention(X, W_k, W_q, W_v, W_o, mask)


@misconception(
    of="attention.multi_head_attention",
    name="values computed from the keys",
    why="The values are projected with W_k; they have W_v.",
)
def heads_values_from_keys(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return right.multi_head_attention(X, W_q, W_k, W_k, W_o, mask)


@misconception(
    of="attention.multi_head_attention",
    name="mask discarded",
    why="The mask changes nothing: it is not passed on, or the masked scores are computed and not assigned.",
)
def heads_mask_discarded(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return right.multi_head_attention(X, W_q, W_k, W_v, W_o)


@misconception(
    of="attention.multi_head_attention",
    name="mask on the first head only",
    why="The other heads see what the mask hides; one mask holds for all heads.",
)
def heads_mask_on_first(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    first = _heads(X, W_q[:1], W_k[:1], W_v[:1], mask)
    others = _heads(X, W_q[1:], W_k[1:], W_v[1:], None)
    others = np.broadcast_to(others, (*first.shape[:-3], *others.shape[-3:]))
    return _joined(np.concatenate([first, others], axis=-3), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="batch of masks lined up with the heads",
    why="A mask (batch, n, n) was added to scores (batch, heads, n, n): broadcasting takes its batch for heads;"
    " it needs an axis for the heads.",
)
def heads_mask_without_axis(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return _joined(right.self_attention(X[..., np.newaxis, :, :], W_q, W_k, W_v, mask), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="mask multiplied",
    why="The scores are multiplied by the mask; the contract adds it, 0 keeps and -inf hides.",
)
def heads_mask_multiplied(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return _joined(_heads(X, W_q, W_k, W_v, mask, scaled_mask_multiplied.function), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="mask applied after the softmax",
    why="The hidden weights are set to 0 after the softmax, so the others no longer sum to 1; hide the scores"
    " before it.",
)
def heads_mask_after_softmax(
    X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None
) -> Any:
    return _joined(_heads(X, W_q, W_k, W_v, mask, scaled_mask_after_softmax.function), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="mask meaning inverted",
    why="This is the True = keep convention of most from-scratch code, which hides where the mask is 0;"
    " the contract adds the mask to the scores, 0 keeps and -inf hides.",
)
def heads_mask_inverted(X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None) -> Any:
    return _joined(_heads(X, W_q, W_k, W_v, mask, scaled_mask_inverted.function), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="mask meaning inverted, hidden with -1e9",
    why="This is the True = keep convention, masked_fill(mask == 0, -1e9); the contract adds the mask to the scores,"
    " 0 keeps and -inf hides.",
)
def heads_mask_inverted_large(
    X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None
) -> Any:
    return _joined(_heads(X, W_q, W_k, W_v, mask, scaled_mask_inverted_large.function), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="softmax over the query axis",
    why="The weights of one key sum to 1 over the queries; for each query they must sum to 1 over the keys (axis -1).",
)
def heads_softmax_over_queries(
    X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None
) -> Any:
    return _joined(_heads(X, W_q, W_k, W_v, mask, scaled_softmax_over_queries.function), W_o)


@misconception(
    of="attention.multi_head_attention",
    name="softmax over the heads",
    why="The weights sum to 1 over the heads; in each head they must sum to 1 over the keys (axis -1).",
)
def heads_softmax_over_heads(
    X: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array, mask: Array | None = None
) -> Any:
    def over_heads(Q: Array, K: Array, V: Array, mask: Array | None) -> Any:
        return right.softmax(_masked(_scaled(Q, K), mask), axis=-3) @ V

    return _joined(_heads(X, W_q, W_k, W_v, mask, over_heads), W_o)


# relative_bias_attention


def _with_bias(Q: Array, K: Array, V: Array, bias_matrix: Any) -> Any:
    """Attend with the scores q_i·k_j + bias_matrix_ij."""
    return right.softmax(_scores(Q, K) + bias_matrix) @ V


def _offsets(n: int) -> Any:
    """Return i - j at (i, j)."""
    return np.subtract.outer(np.arange(n), np.arange(n))


@misconception(
    of="attention.relative_bias_attention",
    name="bias index j-i for i-j",
    why="The offset is counted from the query to the key, which transposes the biases; the contract's index is"
    " i-j+n-1.",
)
def bias_mirrored(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    return right.relative_bias_attention(Q, K, V, bias[::-1])


@misconception(
    of="attention.relative_bias_attention",
    name="scaled by 1/sqrt(d)",
    why="The products are divided by sqrt(d), as in scaled dot-product attention; the sheet's score has no scale.",
)
def bias_scaled(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    return right.relative_bias_attention(Q / Q.shape[-1] ** 0.5, K, V, bias)


@misconception(
    of="attention.relative_bias_attention",
    name="product and bias scaled by 1/sqrt(d)",
    why="The whole score is divided by sqrt(d); the sheet's score has no scale.",
)
def bias_scaled_too(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    root = Q.shape[-1] ** 0.5
    return right.relative_bias_attention(Q / root, K, V, bias / root)


@misconception(
    of="attention.relative_bias_attention",
    name="bias ignored",
    why="The scores are the products alone; bias[i-j+n-1] is added to each.",
)
def bias_ignored(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    return right.relative_bias_attention(Q, K, V, np.zeros_like(bias))


@misconception(
    of="attention.relative_bias_attention",
    name="bias added after the softmax",
    why="The bias is added to the weights, which no longer sum to 1; it is added to the scores.",
)
def bias_after_softmax(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    n = Q.shape[0]
    return (right.softmax(_scores(Q, K)) + bias[_offsets(n) + n - 1]) @ V


@misconception(
    of="attention.relative_bias_attention",
    name="bias multiplied",
    why="The scores are multiplied by the bias; it is added to them.",
)
def bias_multiplied(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    n = Q.shape[0]
    return right.softmax(_scores(Q, K) * bias[_offsets(n) + n - 1]) @ V


@misconception(
    of="attention.relative_bias_attention",
    name="bias index off by one",
    why="The index i-j+n-2 is one too small, and -1 reads the last entry without an error; the middle entry,"
    " n-1, is i = j.",
)
def bias_off_by_one(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    n = Q.shape[0]
    return _with_bias(Q, K, V, bias[_offsets(n) + n - 2])


@misconception(
    of="attention.relative_bias_attention",
    name="bias index one too large",
    why="The index i-j+n leaves the array for the last query and the first key; the middle entry, n-1, is i = j.",
)
def bias_one_too_large(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    n = Q.shape[0]
    return _with_bias(Q, K, V, bias[_offsets(n) + n])


@misconception(
    of="attention.relative_bias_attention",
    name="n-1 forgotten in the bias index",
    why="The index is i-j, and a negative one reads from the end without an error; the contract's index is i-j+n-1.",
)
def bias_without_shift(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    return _with_bias(Q, K, V, bias[_offsets(Q.shape[0])])


@misconception(
    of="attention.relative_bias_attention",
    name="sign of the offset dropped",
    why="The distance |i-j| is used, so the past and the future get the same bias.",
)
def bias_of_distance(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    n = Q.shape[0]
    return _with_bias(Q, K, V, bias[np.abs(_offsets(n)) + n - 1])


@misconception(
    of="attention.relative_bias_attention",
    name="bias by the key's position only",
    why="bias[j] is the same for every query; it depends on the offset i-j.",
)
def bias_of_key(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    return _with_bias(Q, K, V, bias[: Q.shape[0]])


@misconception(
    of="attention.relative_bias_attention",
    name="scores from the bias alone",
    why="The product q_i·k_j is missing; the bias is added to it, not put in its place.",
)
def bias_alone(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    return right.relative_bias_attention(np.zeros_like(Q), K, V, bias)


@misconception(
    of="attention.relative_bias_attention",
    name="softmax over the query axis",
    why="The weights of one key sum to 1 over the queries; for each query they must sum to 1 over the keys (axis -1).",
)
def bias_softmax_over_queries(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    n = Q.shape[0]
    return right.softmax(_scores(Q, K) + bias[_offsets(n) + n - 1], axis=0) @ V


@misconception(
    of="attention.relative_bias_attention",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan: scores in the thousands need the shift by the maximum.",
)
def bias_without_maximum(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    n = Q.shape[0]
    return _overflowing_softmax(_scores(Q, K) + bias[_offsets(n) + n - 1]) @ V


@misconception(
    of="attention.relative_bias_attention",
    name="causal mask always applied",
    why="Later keys are hidden although nothing asks for it.",
)
def bias_always_causal(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    n = Q.shape[0]
    return _with_bias(Q, K, V, bias[_offsets(n) + n - 1] + right.causal_mask(n))


@misconception(
    of="attention.relative_bias_attention",
    name="values computed from the keys",
    why="The weights are applied to K; the output is a combination of the values V.",
)
def bias_values_from_keys(Q: Array, K: Array, V: Array, bias: Array) -> Any:
    return right.relative_bias_attention(Q, K, K, bias)


# argmax_attention


@misconception(
    of="attention.argmax_attention",
    name="last in place of first on a tie",
    why="Of several best keys the last one is copied (>= in a loop, or a sort); the contract asks for the first.",
)
def argmax_last(Q: Array, K: Array, V: Array) -> Any:
    return right.argmax_attention(Q, K[::-1], V[::-1])


@misconception(
    of="attention.argmax_attention",
    name="tied values averaged",
    why="Several best keys share the weight; the contract copies the value of the first.",
)
def argmax_ties_averaged(Q: Array, K: Array, V: Array) -> Any:
    scores = _scores(Q, K)
    best = scores == scores.max(axis=-1, keepdims=True)
    return (best / best.sum(axis=-1, keepdims=True)) @ V


@misconception(
    of="attention.argmax_attention",
    name="tied values summed",
    why="The weights are 1 wherever a score equals the maximum, so several best keys add up; only the first counts.",
)
def argmax_ties_summed(Q: Array, K: Array, V: Array) -> Any:
    scores = _scores(Q, K)
    return (scores == scores.max(axis=-1, keepdims=True)).astype(V.dtype) @ V


@misconception(
    of="attention.argmax_attention",
    name="argmax over the queries",
    why="The best query of each key is taken; it is the best key of each query (axis -1).",
)
def argmax_over_queries(Q: Array, K: Array, V: Array) -> Any:
    return V[_scores(Q, K).argmax(axis=0)]


@misconception(
    of="attention.argmax_attention",
    name="softmax in place of argmax",
    why="The output blends all values; here each query copies exactly one.",
)
def argmax_soft(Q: Array, K: Array, V: Array) -> Any:
    return right.softmax(_scores(Q, K)) @ V


@misconception(
    of="attention.argmax_attention",
    name="scaled softmax in place of argmax",
    why="The output is scaled dot-product attention's blend of all values; here each query copies exactly one.",
)
def argmax_soft_scaled(Q: Array, K: Array, V: Array) -> Any:
    return right.scaled_dot_product_attention(Q, K, V)


@misconception(
    of="attention.argmax_attention",
    name="keys returned in place of values",
    why="The best key itself is copied; it is the value that belongs to it.",
)
def argmax_keys(Q: Array, K: Array, V: Array) -> Any:
    return right.argmax_attention(Q, K, K)


@misconception(
    of="attention.argmax_attention",
    name="argmin in place of argmax",
    why="The key with the smallest score is taken.",
)
def argmax_smallest(Q: Array, K: Array, V: Array) -> Any:
    return right.argmax_attention(-Q, K, V)


@misconception(
    of="attention.argmax_attention",
    name="score of the largest magnitude",
    why="The absolute score is compared, so a strongly negative key wins; the largest score does.",
)
def argmax_magnitude(Q: Array, K: Array, V: Array) -> Any:
    return V[np.abs(_scores(Q, K)).argmax(axis=-1)]


@misconception(
    of="attention.argmax_attention",
    name="indices returned in place of values",
    why="The position of the best key comes back, not the value found there.",
)
def argmax_indices(Q: Array, K: Array, V: Array) -> Any:
    return _scores(Q, K).argmax(axis=-1)


@misconception(
    of="attention.argmax_attention",
    name="value multiplied by its score",
    why="The scores other than the largest are set to 0 and the rest weighs the values; the copied value has weight 1.",
)
def argmax_times_score(Q: Array, K: Array, V: Array) -> Any:
    return _scores(Q, K).max(axis=-1, keepdims=True) * right.argmax_attention(Q, K, V)


@misconception(
    of="attention.argmax_attention",
    name="nearest key in place of the largest product",
    why="The key at the smallest distance is taken; a long key can have a larger product from further away.",
)
def argmax_nearest(Q: Array, K: Array, V: Array) -> Any:
    distances = ((Q[:, np.newaxis] - K) ** 2).sum(axis=-1)
    return V[distances.argmin(axis=-1)]


@misconception(
    of="attention.argmax_attention",
    name="one best key for all queries",
    why="argmax ran over the whole matrix of scores; each query has its own best key (axis -1).",
)
def argmax_of_all(Q: Array, K: Array, V: Array) -> Any:
    best = _scores(Q, K).argmax() % K.shape[0]
    return np.repeat(V[best][np.newaxis], Q.shape[0], axis=0)


# receptive_field


@misconception(
    of="attention.receptive_field",
    name="own position forgotten",
    why="heads^levels counts what the heads copy and not what the residual keeps: each level multiplies by heads + 1.",
)
def field_without_residual(heads: int, levels: int) -> Any:
    return heads**levels


@misconception(
    of="attention.receptive_field",
    name="heads ignored",
    why="2^levels is the answer for one head; each head copies one more value.",
)
def field_of_one_head(heads: int, levels: int) -> Any:
    return 2**levels


@misconception(
    of="attention.receptive_field",
    name="levels added in place of multiplied",
    why="heads*levels + 1 adds the same reach per level; each copied value already holds what it reached before.",
)
def field_linear(heads: int, levels: int) -> Any:
    return heads * levels + 1


@misconception(
    of="attention.receptive_field",
    name="multiplied by levels in place of raised",
    why="(heads + 1) * levels grows by the same amount per level; it grows by the same factor.",
)
def field_times_levels(heads: int, levels: int) -> Any:
    return (heads + 1) * levels


@misconception(
    of="attention.receptive_field",
    name="one level too few",
    why="(heads + 1)^(levels - 1) leaves one level out: already the first one reaches heads + 1 inputs.",
)
def field_one_level_short(heads: int, levels: int) -> Any:
    return (heads + 1) ** (levels - 1)


@misconception(
    of="attention.receptive_field",
    name="one level too many",
    why="(heads + 1)^(levels + 1) counts the input as a level; with no level a position knows only itself.",
)
def field_one_level_long(heads: int, levels: int) -> Any:
    return (heads + 1) ** (levels + 1)


@misconception(
    of="attention.receptive_field",
    name="base and exponent swapped",
    why="levels^(heads + 1) has the two numbers in each other's place.",
)
def field_swapped(heads: int, levels: int) -> Any:
    return levels ** (heads + 1)


@misconception(
    of="attention.receptive_field",
    name="residual counted once only",
    why="heads^levels + 1 adds the own position at the end; it is kept on every level.",
)
def field_residual_once(heads: int, levels: int) -> Any:
    return heads**levels + 1


@misconception(
    of="attention.receptive_field",
    name="levels of a tree added up",
    why="1 + k + k^2 + … counts a tree whose nodes are read once; the own position is kept on every level,"
    " which gives (k + 1)^n.",
)
def field_of_tree(heads: int, levels: int) -> Any:
    return sum(heads**level for level in range(levels + 1))


@misconception(
    of="attention.receptive_field",
    name="overflows 64 bits",
    why="NumPy's integers wrap around beyond 2^63; Python's own do not.",
)
def field_overflowing(heads: int, levels: int) -> Any:
    return int(np.power(np.array(heads + 1, dtype=np.int64), levels))


# additive_attention


def _additive(H: Array, scores: Any) -> Any:
    """Return context and weights for given scores (n,)."""
    weights = right.softmax(scores)
    return weights @ H, weights


@misconception(
    of="attention.additive_attention",
    name="additive scores without tanh",
    why="Without tanh the query adds the same number to every score, which softmax cancels: the query has no effect.",
)
def additive_without_tanh(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return _additive(H, (W1 @ q + H @ W2.T) @ v)


@misconception(
    of="attention.additive_attention",
    name="softmax over an axis of size one",
    why="The scores are (n, 1) or (1, n) and softmax runs over the axis of size one, so every weight is 1.",
)
def additive_axis_of_one(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return H.sum(axis=0), np.ones(H.shape[0])


@misconception(
    of="attention.additive_attention",
    name="W1 and W2 swapped",
    why="W1 multiplies the states and W2 the query; the contract has W1 q + W2 h_l.",
)
def additive_matrices_swapped(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return right.additive_attention(q, H, W2, W1, v)


@misconception(
    of="attention.additive_attention",
    name="sigmoid in place of tanh",
    why="The hidden layer is squashed to (0, 1); the score uses tanh.",
)
def additive_sigmoid(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return _additive(H, softmax_sigmoid.function(W1 @ q + H @ W2.T) @ v)


@misconception(
    of="attention.additive_attention",
    name="ReLU in place of tanh",
    why="The hidden layer is cut at 0; the score uses tanh.",
)
def additive_relu(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return _additive(H, np.maximum(W1 @ q + H @ W2.T, 0) @ v)


@misconception(
    of="attention.additive_attention",
    name="tanh applied after v",
    why="tanh squashes the score itself; it belongs to the hidden layer, before the product with v.",
)
def additive_tanh_of_score(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return _additive(H, np.tanh((W1 @ q + H @ W2.T) @ v))


@misconception(
    of="attention.additive_attention",
    name="terms multiplied in place of added",
    why="W1 q and W2 h_l are multiplied; additive attention adds them.",
)
def additive_product(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return _additive(H, np.tanh((W1 @ q) * (H @ W2.T)) @ v)


@misconception(
    of="attention.additive_attention",
    name="query ignored",
    why="The scores use the states alone, or tanh is taken of W1 q and W2 h_l apart, which adds one constant that"
    " softmax cancels; tanh is taken of their sum.",
)
def additive_without_query(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return _additive(H, np.tanh(H @ W2.T) @ v)


@misconception(
    of="attention.additive_attention",
    name="v forgotten",
    why="The hidden layer is summed up as it is; its product with v makes the score.",
)
def additive_without_v(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return _additive(H, np.tanh(W1 @ q + H @ W2.T).sum(axis=-1))


@misconception(
    of="attention.additive_attention",
    name="dot product in place of the additive score",
    why="The score is q·h_l, without W1, W2 and v.",
)
def additive_dot(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return right.dot_product_attention(q, H, H)


@misconception(
    of="attention.additive_attention",
    name="scaled by 1/sqrt(d)",
    why="The scores are divided by the root of v's length; additive attention has no scale.",
)
def additive_scaled(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return right.additive_attention(q, H, W1, W2, v / v.shape[0] ** 0.5)


@misconception(
    of="attention.additive_attention",
    name="softmax forgotten",
    why="The raw scores weigh the states; they are neither positive nor sum to 1.",
)
def additive_without_softmax(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    scores = np.tanh(W1 @ q + H @ W2.T) @ v
    return scores @ H, scores


@misconception(
    of="attention.additive_attention",
    name="scores returned in place of the weights",
    why="The context is right, but the second result holds the scores before the softmax.",
)
def additive_scores_returned(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return right.additive_attention(q, H, W1, W2, v)[0], np.tanh(W1 @ q + H @ W2.T) @ v


@misconception(
    of="attention.additive_attention",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan: scores in the thousands need the shift by the maximum.",
)
def additive_without_maximum(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    weights = _overflowing_softmax(np.tanh(W1 @ q + H @ W2.T) @ v)
    return weights @ H, weights


@misconception(
    of="attention.additive_attention",
    name="context from the projected states",
    why="The weights are applied to W2 h_l; the context is a combination of the states themselves.",
)
def additive_projected_context(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    weights = right.additive_attention(q, H, W1, W2, v)[1]
    return weights @ (H @ W2.T), weights


@misconception(
    of="attention.additive_attention",
    name="weights not returned",
    why="Only the context comes back; the contract asks for the context and the weights.",
)
def additive_context_only(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return right.additive_attention(q, H, W1, W2, v)[0]


@misconception(
    of="attention.additive_attention",
    name="weights and context in the wrong order",
    why="The weights come first; the contract returns the context, then the weights.",
)
def additive_swapped_results(q: Array, H: Array, W1: Array, W2: Array, v: Array) -> Any:
    return right.additive_attention(q, H, W1, W2, v)[::-1]


# attentive_rnn


def _recur(
    xs: Array,
    h0: Array,
    W: Array,
    U: Array,
    attend: Callable[[Any, Any, Any], Any],
    squash: Callable[[Any], Any] = np.tanh,
) -> Any:
    """Run the recurrence; `attend` makes h_t from s_t, the past states (t-1, h) and h_{t-1}."""
    states = np.empty((xs.shape[0], h0.shape[0]), dtype=np.result_type(xs, h0, W, U))
    previous = h0
    for t, x in enumerate(xs):
        states[t] = attend(squash(W @ x + U @ previous), states[:t], previous)
        previous = states[t]
    return states


def _attended(s: Any, past: Any) -> Any:
    """Return sum_j softmax_j(s·h_j) h_j, which is 0 while there is no past."""
    return right.softmax(past @ s) @ past if len(past) else np.zeros_like(s)


def _plain_states(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    """Return the states of the recurrence without attention."""
    return _recur(xs, h0, W, U, lambda s, _past, _previous: s)


@misconception(
    of="attention.attentive_rnn",
    name="attends to h0",
    why="The initial state is among the states attended to; attention runs over h_1 … h_{t-1}, so h_1 = s_1.",
)
def rnn_attends_to_initial(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: s + _attended(s, np.vstack([h0, past])))


@misconception(
    of="attention.attentive_rnn",
    name="attends to itself",
    why="s_t is among the states attended to; attention runs over the past, j < t.",
)
def rnn_attends_to_itself(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: s + _attended(s, np.vstack([past, s])))


@misconception(
    of="attention.attentive_rnn",
    name="scores with the previous state",
    why="The scores are h_{t-1}·h_j; the query is s_t, which has seen x_t.",
)
def rnn_scores_with_previous(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, previous: s + _attended(previous, past))


@misconception(
    of="attention.attentive_rnn",
    name="s_t not added",
    why="h_t is the attention alone; it is s_t plus the attention.",
)
def rnn_attention_alone(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: _attended(s, past) if len(past) else s)


@misconception(
    of="attention.attentive_rnn",
    name="attention forgotten",
    why="The states are the plain recurrence's, s_t; the attention over the past is not added.",
)
def rnn_plain(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _plain_states(xs, h0, W, U)


@misconception(
    of="attention.attentive_rnn",
    name="initial state ignored",
    why="The recurrence starts from zeros; h_0 is the argument h0.",
)
def rnn_from_zero(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return right.attentive_rnn(xs, np.zeros_like(h0), W, U)


@misconception(
    of="attention.attentive_rnn",
    name="attention not fed back into the recurrence",
    why="The plain recurrence is run first and attention is added to its states; s_t depends on h_{t-1},"
    " attention included, and the states attended to are h_j.",
)
def rnn_attention_afterwards(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    plain = _plain_states(xs, h0, W, U)
    return np.array([s + _attended(s, plain[:t]) for t, s in enumerate(plain)]).reshape(plain.shape)


@misconception(
    of="attention.attentive_rnn",
    name="recurrence runs on s in place of h",
    why="The next step gets s_{t-1}; it gets h_{t-1}, attention included.",
)
def rnn_recurrence_on_s(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    states = _plain_states(xs, h0, W, U)
    for t, s in enumerate(states):
        states[t] = s + _attended(s, states[:t])
    return states


@misconception(
    of="attention.attentive_rnn",
    name="attends to s in place of h",
    why="The states attended to are s_1 … s_{t-1}; they are h_1 … h_{t-1}, attention included.",
)
def rnn_attends_to_s(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    seen: list[Any] = []

    def attend(s: Any, _past: Any, _previous: Any) -> Any:
        seen.append(s)
        return s + _attended(s, np.array(seen[:-1]))

    return _recur(xs, h0, W, U, attend)


@misconception(
    of="attention.attentive_rnn",
    name="attends to the future",
    why="Attention runs over all time steps of the plain recurrence, later ones too; only j < t is known at t.",
)
def rnn_attends_to_all(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    plain = _plain_states(xs, h0, W, U)
    return plain + right.softmax(plain @ plain.T) @ plain


@misconception(
    of="attention.attentive_rnn",
    name="attends to the last state only",
    why="h_{t-1} is added as it is; attention weighs all of h_1 … h_{t-1}.",
)
def rnn_attends_to_last(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: s + _attended(s, past[-1:]))


@misconception(
    of="attention.attentive_rnn",
    name="scaled by 1/sqrt(d)",
    why="The scores are divided by the root of the state's width; the sheet's are the plain products s_t·h_j.",
)
def rnn_scaled(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: s + _attended(s / len(s) ** 0.5, past))


@misconception(
    of="attention.attentive_rnn",
    name="softmax forgotten",
    why="The raw scores weigh the past states; softmax makes them sum to 1.",
)
def rnn_without_softmax(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: s + (past @ s) @ past)


@misconception(
    of="attention.attentive_rnn",
    name="past states averaged uniformly",
    why="Every past state gets the same weight; softmax of the scores gives the weights.",
)
def rnn_mean(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: s + _attended(np.zeros_like(s), past))


@misconception(
    of="attention.attentive_rnn",
    name="tanh forgotten",
    why="s_t is W x_t + U h_{t-1} as it is; tanh is taken of it.",
)
def rnn_linear(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: s + _attended(s, past), squash=lambda z: z)


@misconception(
    of="attention.attentive_rnn",
    name="sigmoid in place of tanh",
    why="s_t is squashed to (0, 1); the recurrence uses tanh.",
)
def rnn_sigmoid(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: s + _attended(s, past), squash=softmax_sigmoid.function)


@misconception(
    of="attention.attentive_rnn",
    name="tanh over the sum",
    why="The sum of s_t and the attention is squashed once more; h_t is the sum itself.",
)
def rnn_squashed_sum(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return _recur(xs, h0, W, U, lambda s, past, _: np.tanh(s + _attended(s, past)) if len(past) else s)


@misconception(
    of="attention.attentive_rnn",
    name="only the last state returned",
    why="The state after the last input comes back; the contract asks for all T states.",
)
def rnn_last_state(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return right.attentive_rnn(xs, h0, W, U)[-1]


@misconception(
    of="attention.attentive_rnn",
    name="h0 returned among the states",
    why="The result starts with h0 and has T + 1 rows; the contract asks for h_1 … h_T.",
)
def rnn_with_initial_state(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return np.vstack([h0, right.attentive_rnn(xs, h0, W, U)])


@misconception(
    of="attention.attentive_rnn",
    name="W and U swapped",
    why="U multiplies the input and W the state; s_t = tanh(W x_t + U h_{t-1}).",
)
def rnn_matrices_swapped(xs: Array, h0: Array, W: Array, U: Array) -> Any:
    return right.attentive_rnn(xs, h0, U, W)


# projection_matrix


@misconception(
    of="attention.projection_matrix",
    name="A^T A in place of A A^T",
    why="A^T A (or pinv(A) A) is the identity of size m for orthonormal columns; the projection is (d, d).",
)
def projection_inner(A: Array) -> Any:
    return A.T @ A


@misconception(
    of="attention.projection_matrix",
    name="projection onto the complement",
    why="I - A A^T removes the span of A's columns and keeps the rest; asked for is the matrix that keeps the span.",
)
def projection_complement(A: Array) -> Any:
    return np.eye(A.shape[0]) - A @ A.T


@misconception(
    of="attention.projection_matrix",
    name="divided by the number of columns",
    why="A A^T / m shrinks what it should keep: M v_a must be v_a itself.",
)
def projection_averaged(A: Array) -> Any:
    return A @ A.T / A.shape[1]


@misconception(
    of="attention.projection_matrix",
    name="divided by the dimension",
    why="A A^T / d is a covariance; M v_a must be v_a itself.",
)
def projection_covariance(A: Array) -> Any:
    return A @ A.T / A.shape[0]


@misconception(
    of="attention.projection_matrix",
    name="A^T in place of A A^T",
    why="A^T gives the coefficients in the basis A, m numbers; A times these is the vector itself.",
)
def projection_coefficients(A: Array) -> Any:
    return A.T


@misconception(
    of="attention.projection_matrix",
    name="only the first column used",
    why="The matrix projects onto the first column's line; all m columns span the space.",
)
def projection_of_first_column(A: Array) -> Any:
    return A[:, :1] @ A[:, :1].T


@misconception(
    of="attention.projection_matrix",
    name="outer product of the summed columns",
    why="The columns are added before the outer product, which brings in the products of different columns.",
)
def projection_of_sum(A: Array) -> Any:
    return np.outer(A.sum(axis=1), A.sum(axis=1))


@misconception(
    of="attention.projection_matrix",
    name="only the diagonal",
    why="The squares are summed per row and the products of different rows left out.",
)
def projection_diagonal(A: Array) -> Any:
    return np.diag((A * A).sum(axis=1))


@misconception(
    of="attention.projection_matrix",
    name="reflection in place of projection",
    why="2 A A^T - I keeps the span but turns the complement's sign; a projection sends it to 0.",
)
def projection_reflection(A: Array) -> Any:
    return 2 * (A @ A.T) - np.eye(A.shape[0])


@misconception(
    of="attention.projection_matrix",
    name="identity returned",
    why="The identity keeps v_a but v_b as well; M v_b must be 0 (the sheet's line with M v_b = v_b is a slip).",
)
def projection_identity(A: Array) -> Any:
    return np.eye(A.shape[0])


# averaging_query


@misconception(
    of="attention.averaging_query",
    name="half the sum",
    why="scale (k_a + k_b) / 2 gives each key the score scale/2; the average comes from equal weights, not from"
    " the query.",
)
def averaging_half(k_a: Array, k_b: Array, scale: float) -> Any:
    return right.averaging_query(k_a, k_b, scale / 2)


@misconception(
    of="attention.averaging_query",
    name="difference in place of the sum",
    why="scale (k_a - k_b) gives k_b a negative score; both keys need the same large one.",
)
def averaging_difference(k_a: Array, k_b: Array, scale: float) -> Any:
    return scale * (k_a - k_b)


@misconception(
    of="attention.averaging_query",
    name="only the first key",
    why="scale k_a copies v_a alone.",
)
def averaging_first(k_a: Array, k_b: Array, scale: float) -> Any:
    return scale * k_a


@misconception(
    of="attention.averaging_query",
    name="only the second key",
    why="scale k_b copies v_b alone.",
)
def averaging_second(k_a: Array, k_b: Array, scale: float) -> Any:
    return scale * k_b


@misconception(
    of="attention.averaging_query",
    name="scale ignored",
    why="k_a + k_b gives both keys the score 1, too little to silence the others; the scale makes it large.",
)
def averaging_unscaled(k_a: Array, k_b: Array, scale: float) -> Any:
    return k_a + k_b


@misconception(
    of="attention.averaging_query",
    name="scale on the first key only",
    why="scale k_a + k_b (brackets missing) scores the two keys differently.",
)
def averaging_scale_on_first(k_a: Array, k_b: Array, scale: float) -> Any:
    return scale * k_a + k_b


@misconception(
    of="attention.averaging_query",
    name="scale on the second key only",
    why="k_a + k_b * scale (brackets missing) scores the two keys differently.",
)
def averaging_scale_on_second(k_a: Array, k_b: Array, scale: float) -> Any:
    return k_a + scale * k_b


@misconception(
    of="attention.averaging_query",
    name="divided by the scale",
    why="A large scale then makes small scores and uniform weights; multiply by it.",
)
def averaging_divided(k_a: Array, k_b: Array, scale: float) -> Any:
    return (k_a + k_b) / scale


@misconception(
    of="attention.averaging_query",
    name="product in place of the sum",
    why="The elementwise product of orthogonal keys can be 0 throughout; the sum has the same score with both.",
)
def averaging_product(k_a: Array, k_b: Array, scale: float) -> Any:
    return scale * (k_a * k_b)


@misconception(
    of="attention.averaging_query",
    name="sum normalised to length one",
    why="Dividing by the sum's length leaves each orthonormal key the score scale / sqrt(2).",
)
def averaging_normalised(k_a: Array, k_b: Array, scale: float) -> Any:
    total = k_a + k_b
    return scale * total / np.sqrt(total @ total)


@misconception(
    of="attention.averaging_query",
    name="keys concatenated",
    why="The query has twice the width of a key and no score with it; add the keys.",
)
def averaging_concatenated(k_a: Array, k_b: Array, scale: float) -> Any:
    return scale * np.concatenate([k_a, k_b])


# head_queries


@misconception(
    of="attention.head_queries",
    name="both queries the sum",
    why="Each head gets the single head's query scale (mu_a + mu_b), so both swing with the same noise;"
    " one head is for a, one for b.",
)
def heads_both_sum(mu_a: Array, mu_b: Array, scale: float) -> Any:
    query = right.averaging_query(mu_a, mu_b, scale)
    return query, query


@misconception(
    of="attention.head_queries",
    name="queries swapped",
    why="The first query is made from mu_b and the second from mu_a; the contract's order is a, b.",
)
def heads_queries_swapped(mu_a: Array, mu_b: Array, scale: float) -> Any:
    return right.head_queries(mu_b, mu_a, scale)


@misconception(
    of="attention.head_queries",
    name="scale ignored",
    why="The means themselves score 1, too little to silence the other keys; the scale makes it large.",
)
def heads_queries_unscaled(mu_a: Array, mu_b: Array, scale: float) -> Any:
    return right.head_queries(mu_a, mu_b, 1)


@misconception(
    of="attention.head_queries",
    name="one query shared by both heads",
    why="Both heads use mu_a, so the output is v_a and not the average.",
)
def heads_query_shared(mu_a: Array, mu_b: Array, scale: float) -> Any:
    return right.head_queries(mu_a, mu_a, scale)


@misconception(
    of="attention.head_queries",
    name="scale on the first query only",
    why="The second query is mu_b as it is; both need the scale.",
)
def heads_scale_on_first(mu_a: Array, mu_b: Array, scale: float) -> Any:
    return scale * mu_a, 1 * mu_b


@misconception(
    of="attention.head_queries",
    name="half the scale",
    why="The heads' outputs are averaged afterwards; the queries are not halved for it.",
)
def heads_half_scale(mu_a: Array, mu_b: Array, scale: float) -> Any:
    return right.head_queries(mu_a, mu_b, scale / 2)


@misconception(
    of="attention.head_queries",
    name="divided by the scale",
    why="A large scale then makes small scores and uniform weights; multiply by it.",
)
def heads_queries_divided(mu_a: Array, mu_b: Array, scale: float) -> Any:
    return mu_a / scale, mu_b / scale


@misconception(
    of="attention.head_queries",
    name="sum and difference",
    why="The heads get scale (mu_a + mu_b) and scale (mu_a - mu_b); each needs one mean alone.",
)
def heads_sum_and_difference(mu_a: Array, mu_b: Array, scale: float) -> Any:
    return scale * (mu_a + mu_b), scale * (mu_a - mu_b)


@misconception(
    of="attention.head_queries",
    name="one query in place of two",
    why="A single vector comes back; the contract asks for one query per head.",
)
def heads_one_query(mu_a: Array, mu_b: Array, scale: float) -> Any:
    return right.averaging_query(mu_a, mu_b, scale)
