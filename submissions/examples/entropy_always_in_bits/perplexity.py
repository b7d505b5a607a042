import numpy as np


def entropy(p, base=2.0):
    p = p[p > 0]
    return -np.sum(p * np.log2(p))
