"""Inputs designed for what they must expose.

Numbers lie on a binary grid, exact in float32 and float64, so a gap is never the
input's fault. An array is drawn as one string of bytes, which is quick to draw and
shrinks towards 0, 1, -1, 2 and other numbers a person can follow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[np.float64]
Draw = Callable[[st.SearchStrategy[Any]], Any]


def _simplest_first() -> Array:
    """Return the 256 sixteenths in (-8, 8], those that shrinking should end at first."""

    def complexity(k: int) -> tuple[int, int, bool]:
        return -max(step for step in (16, 8, 4, 2, 1) if k % step == 0), abs(k), k < 0

    return np.array(sorted(range(-127, 129), key=complexity)) / 16


GRID = _simplest_first()


# Strategies are cached: building and validating one costs as much as a dozen draws from it.
@cache
def grid(shape: tuple[int, ...], limit: float = 2.0) -> st.SearchStrategy[Array]:
    """Draw an array of multiples of limit/128 between -limit and limit; `limit` is a power of two."""
    size = prod(shape)
    return st.binary(min_size=size, max_size=size).map(
        lambda raw: (GRID[np.frombuffer(raw, dtype=np.uint8)] * (limit / 8)).reshape(shape)
    )


@cache
def sizes(count: int, among: tuple[int, ...] = (1, 2, 3, 4, 5)) -> st.SearchStrategy[tuple[int, ...]]:
    """Draw pairwise different sizes: equal ones hide transposes, wrong axes and swapped roles."""
    return st.sampled_from(sorted(permutations(among, count), key=lambda chosen: (sum(chosen), chosen)))


@cache
def orders(length: int) -> st.SearchStrategy[Array]:
    """Draw a permutation of range(length) that moves something whenever it can."""
    candidates = [order for order in permutations(range(length)) if length == 1 or order != tuple(range(length))]
    return st.sampled_from([np.array(order) for order in candidates])


@cache
def batches() -> st.SearchStrategy[tuple[int, ...]]:
    """Draw leading batch dimensions: none, one of size one, one, or two."""
    return st.sampled_from([(), (1,), (2,), (3,), (2, 3)])


@cache
def masks(shape: tuple[int, ...]) -> st.SearchStrategy[Array]:
    """Draw an additive mask: 0 keeps, -inf hides, other finite numbers shift; no row is hidden whole."""
    size = prod(shape)
    choices = np.array([0.0, -np.inf, 1.0, -2.0, 0.5, -np.inf, -np.inf, 0.0])

    def build(raw: bytes) -> Array:
        drawn = np.frombuffer(raw, dtype=np.uint8)
        mask = choices[drawn % len(choices)].reshape(shape)
        hidden = np.isneginf(mask).all(axis=-1)
        mask[..., 0] = np.where(hidden, 0.0, mask[..., 0])
        return mask

    return st.binary(min_size=size, max_size=size).map(build)
