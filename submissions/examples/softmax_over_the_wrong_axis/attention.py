import numpy as np


def softmax(x, axis=-1):
    # stable version, subtract the max
    x_max = np.max(x, axis=0)
    e_x = np.exp(x - x_max)
    return e_x / e_x.sum(axis=0)
