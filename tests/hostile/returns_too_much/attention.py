import numpy as np


def softmax(x, axis=-1):
    return np.zeros(9_000_000)
