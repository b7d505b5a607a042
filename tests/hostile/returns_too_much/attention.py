import numpy as np


def softmax(x, axis=-1):
    return np.zeros(20_000_000)
