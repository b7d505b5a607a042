import numpy as np


def softmax(x, axis=-1):
    z = np.exp(x - np.amax(x))
    total = np.expand_dims(z.sum(axis), axis)
    return z / total
