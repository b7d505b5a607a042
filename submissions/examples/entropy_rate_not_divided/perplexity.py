import numpy as np


def entropy_rate(p, n, base=2.0):
    p = np.asarray(p).flatten()
    p = p[p > 0]
    return -np.sum(p * np.log(p)) / np.log(base)
