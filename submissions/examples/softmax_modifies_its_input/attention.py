import numpy as np


def softmax(x, axis=-1):
    x -= np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    e /= np.sum(e, axis=axis, keepdims=True)
    return e
