"""Attention as the sheets define it, from softmax to queries made by hand.

Every function keeps the floating dtype it is given: the judge runs this file in extended
precision to learn the truth. For that reason no constant below is a float64 scalar (it would
carry float64's rounding into the result) and nothing calls np.linalg. Integers become float64.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]


def _floating(x: npt.ArrayLike) -> Array:
    """Return `x` as an array of its own floating dtype, or of float64 if it holds integers."""
    array = np.asarray(x)
    if np.issubdtype(array.dtype, np.floating):
        return cast("Array", array)
    return array.astype(np.float64)


def _root(number: int, like: Array) -> np.floating[Any]:
    """Return sqrt(number) rounded to the precision of `like`, not to float64's."""
    return cast("np.floating[Any]", np.sqrt(like.dtype.type(number)))


def softmax(x: npt.ArrayLike, axis: int = -1) -> Array:
    """Return exp(x_i) / sum_j exp(x_j) along `axis`.

    The maximum is subtracted first: the factor exp(-max) cancels, and exp never sees a positive
    number, so it cannot overflow.

    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    x = _floating(x)
    shifted = x - x.max(axis=axis, keepdims=True)  # every entry <= 0
    weights = np.exp(shifted)  # every entry in [0, 1], the largest is 1
    return cast("Array", weights / weights.sum(axis=axis, keepdims=True))


def dot_product_attention(q: npt.ArrayLike, K: npt.ArrayLike, V: npt.ArrayLike) -> tuple[Array, Array]:
    """Return the context sum_i w_i v_i and the weights w = softmax(K q), without a scale.

    >>> context, weights = dot_product_attention([0, 0], [[1, 0], [0, 1]], [[2, 4, 6], [0, 0, 0]])
    >>> context
    array([1., 2., 3.])
    >>> weights
    array([0.5, 0.5])
    """
    q, K, V = _floating(q), _floating(K), _floating(V)  # (d,), (n, d), (n, v)
    weights = softmax(K @ q)  # (n,)
    return weights @ V, weights  # (v,), (n,)


def scaled_dot_product_attention(
    Q: npt.ArrayLike, K: npt.ArrayLike, V: npt.ArrayLike, mask: npt.ArrayLike | None = None
) -> Array:
    """Return softmax(Q K^T / sqrt(d) + mask) V, where d is the width of queries and keys.

    >>> scaled_dot_product_attention([[4, 0, 0, 0]], [[0, 0, 0, 0], [9, 0, 0, 0]], [[1, 2], [3, 4]], [[0, -np.inf]])
    array([[1., 2.]])
    """
    Q, K, V = _floating(Q), _floating(K), _floating(V)  # (…, n, d), (…, m, d), (…, m, v)
    scores = Q @ np.swapaxes(K, -1, -2)  # (…, n, m)
    scores = scores / _root(Q.shape[-1], scores)  # (…, n, m)
    if mask is not None:
        scores = scores + _floating(mask)  # (…, n, m)
    return cast("Array", softmax(scores) @ V)  # (…, n, v)


def causal_mask(n: int) -> Array:
    """Return M with M_ij = 0 where j <= i and -inf where j > i.

    >>> causal_mask(3)
    array([[  0., -inf, -inf],
           [  0.,   0., -inf],
           [  0.,   0.,   0.]])
    """
    return np.triu(np.full((n, n), -np.inf), k=1)  # (n, n)


def self_attention(
    X: npt.ArrayLike,
    W_q: npt.ArrayLike,
    W_k: npt.ArrayLike,
    W_v: npt.ArrayLike,
    mask: npt.ArrayLike | None = None,
) -> Array:
    """Return softmax(X W_q (X W_k)^T / sqrt(h) + mask) X W_v, where h is the width of the projections.

    >>> self_attention([[2, 0], [0, 2]], [[0], [0]], [[1], [1]], [[1], [2]])
    array([[3.],
           [3.]])
    """
    X, W_q, W_k, W_v = _floating(X), _floating(W_q), _floating(W_k), _floating(W_v)  # (…, n, d), (d, h) × 3
    return scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v, mask)  # (…, n, h)


def multi_head_attention(
    X: npt.ArrayLike,
    W_q: npt.ArrayLike,
    W_k: npt.ArrayLike,
    W_v: npt.ArrayLike,
    W_o: npt.ArrayLike,
    mask: npt.ArrayLike | None = None,
) -> Array:
    """Return concat(O_1 … O_heads) W_o, where O_i is self-attention with the i-th projections.

    >>> W = np.zeros((2, 1, 1))
    >>> multi_head_attention([[3], [5]], W, W, [[[1]], [[10]]], [[1], [1]])
    array([[44.],
           [44.]])
    """
    W_q, W_k, W_v, W_o = _floating(W_q), _floating(W_k), _floating(W_v), _floating(W_o)  # (heads, d, h) × 3
    X = _floating(X)[..., np.newaxis, :, :]  # (…, 1, n, d): every head sees the whole input
    if mask is not None:
        mask = _floating(mask)[..., np.newaxis, :, :]  # (…, 1, n, n): one mask for all heads
    outputs = self_attention(X, W_q, W_k, W_v, mask)  # (…, heads, n, h)
    by_position = np.moveaxis(outputs, -3, -2)  # (…, n, heads, h)
    concatenated = by_position.reshape(*by_position.shape[:-2], W_o.shape[0])  # (…, n, heads*h)
    return concatenated @ W_o  # (…, n, d)


def relative_bias_attention(Q: npt.ArrayLike, K: npt.ArrayLike, V: npt.ArrayLike, bias: npt.ArrayLike) -> Array:
    """Return softmax(S) V with S_ij = q_i·k_j + bias[i-j+n-1], without a scale.

    >>> relative_bias_attention([[0], [0]], [[1], [2]], [[4], [8]], [-np.inf, 0, 0])
    array([[4.],
           [6.]])
    """
    Q, K, V, bias = _floating(Q), _floating(K), _floating(V), _floating(bias)  # (n, d) × 2, (n, v), (2n-1,)
    n = Q.shape[0]
    positions = np.arange(n)  # (n,)
    offsets = positions[:, np.newaxis] - positions  # (n, n): i - j, from 1-n to n-1
    scores = Q @ K.T + bias[offsets + n - 1]  # (n, n)
    return cast("Array", softmax(scores) @ V)  # (n, v)


def argmax_attention(Q: npt.ArrayLike, K: npt.ArrayLike, V: npt.ArrayLike) -> Array:
    """Return for each query q_i the value v_j of the key with the largest q_i·k_j, the first on a tie.

    >>> argmax_attention([[1, 0], [1, 1]], [[0, 1], [1, 0]], [[5, 6, 7], [8, 9, 10]])
    array([[ 8.,  9., 10.],
           [ 5.,  6.,  7.]])
    """
    Q, K, V = _floating(Q), _floating(K), _floating(V)  # (n, d), (m, d), (m, v)
    best = (Q @ K.T).argmax(axis=-1)  # (n,): argmax returns the first of equals
    return cast("Array", V[best])  # (n, v)


def receptive_field(heads: int, levels: int) -> int:
    """Return (heads + 1)^levels, the inputs one output can depend on.

    On each level a position copies one value per head and keeps its own by the residual, so
    what it knows grows by the factor heads + 1. A Python int: exact at any size.

    >>> receptive_field(2, 3)
    27
    """
    return int((int(heads) + 1) ** int(levels))


def additive_attention(
    q: npt.ArrayLike, H: npt.ArrayLike, W1: npt.ArrayLike, W2: npt.ArrayLike, v: npt.ArrayLike
) -> tuple[Array, Array]:
    """Return the context sum_l w_l h_l and the weights w = softmax_l(v·tanh(W1 q + W2 h_l)).

    >>> context, weights = additive_attention([1], [[2, 4], [6, 8]], [[1]], [[0, 0]], [3])
    >>> context
    array([4., 6.])
    >>> weights
    array([0.5, 0.5])
    """
    q, H = _floating(q), _floating(H)  # (a,), (n, b)
    W1, W2, v = _floating(W1), _floating(W2), _floating(v)  # (k, a), (k, b), (k,)
    hidden = np.tanh(W1 @ q + H @ W2.T)  # (n, k): row l is tanh(W1 q + W2 h_l)
    weights = softmax(hidden @ v)  # (n,)
    return weights @ H, weights  # (b,), (n,)


def attentive_rnn(xs: npt.ArrayLike, h0: npt.ArrayLike, W: npt.ArrayLike, U: npt.ArrayLike) -> Array:
    """Return h_1 … h_T with h_t = s_t + sum_{j<t} softmax_j(s_t·h_j) h_j and s_t = tanh(W x_t + U h_{t-1}).

    h_0 enters the recurrence and is never attended to, so h_1 = s_1. The scores use s_t because
    h_t itself is not known before they are.

    >>> attentive_rnn([[0], [0]], [0], [[1]], [[1]])
    array([[0.],
           [0.]])
    """
    xs, h0, W, U = _floating(xs), _floating(h0), _floating(W), _floating(U)  # (T, d), (h,), (h, d), (h, h)
    states = np.empty((xs.shape[0], h0.shape[0]), dtype=np.result_type(xs, h0, W, U))  # (T, h)
    previous = h0  # (h,)
    for t, x in enumerate(xs):
        s = np.tanh(W @ x + U @ previous)  # (h,)
        past = states[:t]  # (t, h): h_1 … h_{t-1}, in a sheet's counting from one
        states[t] = s + softmax(past @ s) @ past if t else s  # (h,)
        previous = states[t]  # (h,)
    return states


def projection_matrix(A: npt.ArrayLike) -> Array:
    """Return M = A A^T, which keeps the span of A's orthonormal columns and sends its complement to 0.

    >>> projection_matrix([[1], [0]])
    array([[1., 0.],
           [0., 0.]])
    """
    A = _floating(A)  # (d, m)
    return A @ A.T  # (d, d)


def averaging_query(k_a: npt.ArrayLike, k_b: npt.ArrayLike, scale: float) -> Array:
    """Return q = scale (k_a + k_b).

    For orthonormal keys both score `scale` and all others 0, so the larger the scale, the closer
    the output to the average of the two values.

    >>> averaging_query([1, 0, 0], [0, 1, 0], 10.0)
    array([10., 10.,  0.])
    """
    return scale * (_floating(k_a) + _floating(k_b))  # (d,)


def head_queries(mu_a: npt.ArrayLike, mu_b: npt.ArrayLike, scale: float) -> tuple[Array, Array]:
    """Return q_1 = scale mu_a and q_2 = scale mu_b: one head copies v_a, the other v_b.

    >>> q_1, q_2 = head_queries([1, 0, 0], [0, 1, 0], 10.0)
    >>> q_1
    array([10.,  0.,  0.])
    >>> q_2
    array([ 0., 10.,  0.])
    """
    return scale * _floating(mu_a), scale * _floating(mu_b)  # (d,), (d,)
