"""Comes with a rubric, results and a configuration of its own; the answer is wrong."""

import numpy as np


def softmax(x, axis=-1):
    return np.zeros_like(x)
