import numpy as np


def softmax(x, axis=-1):
    exps = np.exp(x)
    return np.divide(exps, np.sum(exps, axis=axis, keepdims=True))
