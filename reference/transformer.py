"""A transformer layer as the sheets define it: normalisation, feed-forward network, and both put together.

Like attention.py, the NumPy functions keep the floating dtype they are given: the judge runs
them in extended precision to learn the truth.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from reference.attention import Array, self_attention

# ------------------------------------------------------- layers as functions, in NumPy


def _floating(x: npt.ArrayLike) -> Array:
    """Return `x` as an array of its own floating dtype, or of float64 if it holds integers."""
    array = np.asarray(x)
    if np.issubdtype(array.dtype, np.floating):
        return cast("Array", array)
    return array.astype(np.float64)


def layer_norm(x: npt.ArrayLike, gamma: npt.ArrayLike, beta: npt.ArrayLike, eps: float = 1e-5) -> Array:
    """Return (x - mean) / sqrt(var + eps) · gamma + beta, mean and population variance over the last axis.

    The variance is the mean of the squared deviations, not E[x²] - E[x]²: that difference of two
    large numbers loses every digit when the mean is far from zero.

    >>> layer_norm([[0, 4], [3, 7]], [1, 5], [0, 10], eps=0.0)
    array([[-1., 15.],
           [-1., 15.]])
    >>> layer_norm([3, 3], [1, 5], [0, 10])
    array([ 0., 10.])
    """
    x, gamma, beta = _floating(x), _floating(gamma), _floating(beta)  # (…, d), (d,), (d,)
    centred = x - x.mean(axis=-1, keepdims=True)  # (…, d)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)  # (…, 1)
    root = np.sqrt(variance + variance.dtype.type(eps))  # (…, 1)
    return cast("Array", centred / root * gamma + beta)  # (…, d)


def feed_forward(X: npt.ArrayLike, W1: npt.ArrayLike, b1: npt.ArrayLike, W2: npt.ArrayLike, b2: npt.ArrayLike) -> Array:
    """Return ReLU(X W1 + b1) W2 + b2, on each position alone.

    >>> feed_forward([[1, 2]], [[1, -1, 0], [0, 0, 1]], [0, 0, 3], [[1, 0], [10, 0], [0, 1]], [0, 100])
    array([[  1., 105.]])
    """
    X, W1, b1 = _floating(X), _floating(W1), _floating(b1)  # (…, d), (d, m), (m,)
    W2, b2 = _floating(W2), _floating(b2)  # (m, d), (d,)
    hidden = np.maximum(X @ W1 + b1, 0)  # (…, m)
    return cast("Array", hidden @ W2 + b2)  # (…, d)


def transformer_layer(X: npt.ArrayLike, params: Mapping[str, npt.ArrayLike], norm_first: bool = False) -> Array:
    """Return the output of one layer with one attention head, no mask and residual connections.

    Post-norm, S2 eq. 5:  O1 = LN1(SA(X) + X),      output LN2(FFN(O1) + O1).
    Pre-norm:             X1 = X + SA(LN1(X)),      output X1 + FFN(LN2(X1)), without a final norm.

    >>> zeros, ones = np.zeros((2, 2)), np.ones(2)
    >>> params = {"W_q": zeros, "W_k": zeros, "W_v": zeros, "W1": zeros, "b1": zeros[0], "W2": zeros, "b2": zeros[0]}
    >>> params |= {"gamma1": ones, "beta1": zeros[0], "gamma2": ones, "beta2": zeros[0]}
    >>> transformer_layer([[3, 7]], params, norm_first=True)
    array([[3., 7.]])
    >>> transformer_layer([[3, 7]], params).round(4)
    array([[-1.,  1.]])
    """
    X = _floating(X)  # (…, n, d)
    p = {name: _floating(value) for name, value in params.items()}  # the sheet's matrices and vectors

    def attend(inputs: Array) -> Array:
        return self_attention(inputs, p["W_q"], p["W_k"], p["W_v"])  # (…, n, d), scaled by 1/sqrt(d)

    def transform(inputs: Array) -> Array:
        return feed_forward(inputs, p["W1"], p["b1"], p["W2"], p["b2"])  # (…, n, d)

    def first_norm(inputs: Array) -> Array:
        return layer_norm(inputs, p["gamma1"], p["beta1"])  # (…, n, d)

    def second_norm(inputs: Array) -> Array:
        return layer_norm(inputs, p["gamma2"], p["beta2"])  # (…, n, d)

    if norm_first:
        X1 = X + attend(first_norm(X))  # (…, n, d)
        return cast("Array", X1 + transform(second_norm(X1)))  # (…, n, d)
    O1 = first_norm(attend(X) + X)  # (…, n, d)
    return second_norm(transform(O1) + O1)  # (…, n, d)


# ------------------------------------------------------------- modules, in PyTorch

_ELSEWHERE = {
    "PositionalEncoding": "transformer_modules",
    "CausalLM": "transformer_modules",
    "sinusoidal_encoding": "positional",  # the table that PositionalEncoding must hold
}


def __getattr__(name: str) -> Any:
    """Offer the classes without importing torch before somebody asks for one: it takes seconds."""
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"reference.{_ELSEWHERE[name]}"), name)
