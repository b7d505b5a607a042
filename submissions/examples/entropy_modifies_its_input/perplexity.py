import numpy as np


def entropy(p, base=2.0):
    p[p == 0] = 1e-15  # log(0) is not defined
    return -np.sum(p * np.log(p) / np.log(base))
