import numpy as np


def cross_entropy(m, p, base=2.0):
    keep = m > 0
    with np.errstate(divide="ignore"):
        return np.sum(m[keep] * np.log(m[keep] / p[keep])) / np.log(base)
