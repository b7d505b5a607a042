"""Has a file named like a module of the standard library and one like NumPy; both are ignored and the answer is right."""

import json

import numpy as np

assert json.loads("[1]") == [1]


def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
