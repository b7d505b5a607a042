import numpy as np


def softmax(x, axis=-1):
    x = np.minimum(np.maximum(x, -500.0), 500.0)  # exp(710) overflows
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
