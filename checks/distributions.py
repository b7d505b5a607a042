"""Probability vectors on a binary grid: they sum to exactly 1, in float32 as in float64.

Whole counts divided by a power of two. An entry that must not be zero gets one count
before the rest is shared out.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import strategies as st

from checks.inputs import Array

TOTAL = 64


@cache
def positive(size: int) -> st.SearchStrategy[Array]:
    """Draw a distribution without zeros."""
    return _shared(size, least=1)


@cache
def any_distribution(size: int) -> st.SearchStrategy[Array]:
    """Draw a distribution that may hold zeros."""
    return _shared(size, least=0)


@cache
def one_hot(size: int) -> st.SearchStrategy[Array]:
    """Draw a distribution that has all its weight on one outcome."""
    return st.sampled_from([row.copy() for row in np.eye(size)])


def _shared(size: int, *, least: int) -> st.SearchStrategy[Array]:
    """Cut what is left after `least` counts each at drawn places; every way of sharing it out can come up."""
    rest = TOTAL - least * size

    def build(raw: bytes) -> Array:
        cuts = np.sort(np.frombuffer(raw, dtype=np.uint8).astype(np.int64) * (rest + 1) // 256)
        counts = np.diff(cuts, prepend=0, append=rest) + least
        return counts / TOTAL

    return st.binary(min_size=size - 1, max_size=size - 1).map(build)
