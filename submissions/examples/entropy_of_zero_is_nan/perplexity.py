import numpy as np


def entropy(p, base=2.0):
    p = np.asarray(p)
    return -np.sum(p * np.log(p)) / np.log(base)
