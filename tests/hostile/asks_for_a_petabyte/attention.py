"""Asks NumPy for an array larger than any machine."""

import numpy as np


def softmax(x, axis=-1):
    return np.ones(2**50) / 2**50
