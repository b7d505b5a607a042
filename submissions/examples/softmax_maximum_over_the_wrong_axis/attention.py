import numpy as np


def softmax(x, axis=-1):
    shifted = x - x.max(0)
    numerator = np.exp(shifted)
    denominator = np.sum(numerator, axis=axis, keepdims=True)
    return numerator / denominator
