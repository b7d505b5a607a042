import numpy as np


def entropy_rate(p, n, base=2.0):
    H = -np.sum(p * np.log(p) / np.log(base), axis=-1)
    return H / n
