"""A network with one sigmoid hidden layer and a softmax output, forwards and backwards.

    h = sigmoid(X W1 + b1),  yhat = softmax(h W2 + b2),  one row per sample

`params` is a dict with W1 (Dx, Dh), b1 (1, Dh), W2 (Dh, Dy) and b2 (1, Dy). As in attention.py,
every function keeps the floating dtype it is given, because the judge runs this file in extended
precision: no constant below is a float64 scalar. Integers become float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Params: TypeAlias = Mapping[str, npt.ArrayLike]


def _floating(x: npt.ArrayLike) -> Array:
    """Return `x` as an array of its own floating dtype, or of float64 if it holds integers."""
    array = np.asarray(x)
    if np.issubdtype(array.dtype, np.floating):
        return cast("Array", array)
    return array.astype(np.float64)


def _log_softmax(theta: Array) -> Array:
    """Return log softmax along the last axis; the logarithm is never taken of a probability, which may round to 0."""
    shifted = theta - theta.max(axis=-1, keepdims=True)  # (…, n), every entry <= 0
    return cast("Array", shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))  # (…, n): the sum is >= 1


def _sigmoid(z: Array) -> Array:
    """Return 1 / (1 + exp(-z)); exp sees no positive number, so it cannot overflow."""
    small = np.exp(-np.abs(z))  # in (0, 1]
    return cast("Array", np.where(z >= 0, 1, small) / (1 + small))


def _layers(X: npt.ArrayLike, params: Params) -> tuple[Array, Array]:
    """Return the hidden layer and the logarithm of the prediction."""
    hidden = _sigmoid(_floating(X) @ _floating(params["W1"]) + _floating(params["b1"]))  # (B, Dh)
    logits = hidden @ _floating(params["W2"]) + _floating(params["b2"])  # (B, Dy)
    return hidden, _log_softmax(logits)


def softmax_cross_entropy(theta: npt.ArrayLike, y: npt.ArrayLike) -> np.floating[Any]:
    """Return CE = -sum_i y_i log yhat_i with yhat = softmax(theta), natural logarithm.

    >>> float(softmax_cross_entropy([0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]) / np.log(4))
    1.0
    """
    return cast("np.floating[Any]", -(_floating(y) * _log_softmax(_floating(theta))).sum())  # (n,) -> number


def softmax_cross_entropy_gradient(theta: npt.ArrayLike, y: npt.ArrayLike) -> Array:
    """Return dCE/dtheta = yhat - y.

    >>> softmax_cross_entropy_gradient([0.0, 0.0], [1.0, 0.0])
    array([-0.5,  0.5])
    """
    return cast("Array", np.exp(_log_softmax(_floating(theta))) - _floating(y))  # (n,)


def forward(X: npt.ArrayLike, params: Params) -> Array:
    """Return yhat = softmax(sigmoid(X W1 + b1) W2 + b2), one distribution per row of X.

    >>> forward([[5.0]], {"W1": [[0.0]], "b1": [[0.0]], "W2": [[2.0, 2.0]], "b2": [[1.0, 1.0]]})
    array([[0.5, 0.5]])
    """
    _, log_yhat = _layers(X, params)  # (B, Dy)
    return cast("Array", np.exp(log_yhat))  # (B, Dy)


def forward_backward(X: npt.ArrayLike, Y: npt.ArrayLike, params: Params) -> tuple[np.floating[Any], dict[str, Array]]:
    """Return J = -(1/B) sum_b sum_i Y_bi log yhat_bi and dJ/dW1, dJ/db1, dJ/dW2, dJ/db2.

    With D2 = (yhat - Y)/B and D1 = (D2 W2^T) ∘ h ∘ (1 - h):
    dJ/dW2 = h^T D2, dJ/dW1 = X^T D1, and the biases' gradients are the column sums of D2 and D1.

    >>> zero = {"W1": np.zeros((1, 1)), "b1": np.zeros((1, 1)), "W2": np.zeros((1, 2)), "b2": np.zeros((1, 2))}
    >>> cost, gradients = forward_backward([[1.0], [3.0]], [[1.0, 0.0], [1.0, 0.0]], zero)
    >>> float(cost / np.log(2))
    1.0
    >>> gradients["b2"], gradients["W2"]
    (array([[-0.5,  0.5]]), array([[-0.25,  0.25]]))
    """
    X, Y = _floating(X), _floating(Y)  # (B, Dx), (B, Dy)
    hidden, log_yhat = _layers(X, params)  # (B, Dh), (B, Dy)
    cost = -(Y * log_yhat).sum() / X.shape[0]
    at_logits = (np.exp(log_yhat) - Y) / X.shape[0]  # (B, Dy): D2
    at_hidden = (at_logits @ _floating(params["W2"]).T) * hidden * (1 - hidden)  # (B, Dh): D1
    gradients = {
        "W1": X.T @ at_hidden,  # (Dx, Dh)
        "b1": at_hidden.sum(axis=0, keepdims=True),  # (1, Dh)
        "W2": hidden.T @ at_logits,  # (Dh, Dy)
        "b2": at_logits.sum(axis=0, keepdims=True),  # (1, Dy)
    }
    return cast("np.floating[Any]", cost), gradients


def input_gradient(x: npt.ArrayLike, y: npt.ArrayLike, params: Params) -> Array:
    """Return dJ/dx = [((yhat - y) W2^T) ∘ h ∘ (1 - h)] W1^T for one sample.

    >>> W = {"W1": np.array([[4.0], [8.0]]), "b1": [[0.0]], "W2": np.array([[1.0, -1.0]]), "b2": [[0.5, 1.5]]}
    >>> input_gradient([[0.0, 0.0]], [[0.0, 1.0]], W)
    array([[1., 2.]])
    """
    hidden, log_yhat = _layers(x, params)  # (1, Dh), (1, Dy)
    at_logits = np.exp(log_yhat) - _floating(y)  # (1, Dy)
    at_hidden = (at_logits @ _floating(params["W2"]).T) * hidden * (1 - hidden)  # (1, Dh)
    return cast("Array", at_hidden @ _floating(params["W1"]).T)  # (1, Dx)
