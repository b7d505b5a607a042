import numpy as np


def cross_entropy(m, p, base=2.0):
    eps = 1e-12
    return -np.sum(m * np.log(p + eps)) / np.log(base)
