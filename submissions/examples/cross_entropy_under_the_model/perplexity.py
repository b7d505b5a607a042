import numpy as np


def cross_entropy(m, p, base=2.0):
    # average information of the model: the expectation is according to p
    q = p[p > 0]
    return -np.sum(q * np.log(q)) / np.log(base)
