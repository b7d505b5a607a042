import numpy as np


def softmax(x, axis=-1):
    if len(x.shape) == 1:
        x = x.reshape(1, -1)
        axis = 1
    tmp = x - np.max(x, axis=axis, keepdims=True)
    tmp = np.exp(tmp)
    return tmp / np.sum(tmp, axis=axis, keepdims=True)
