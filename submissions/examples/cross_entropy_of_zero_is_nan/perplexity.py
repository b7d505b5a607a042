import numpy as np


def cross_entropy(m, p, base=2.0):
    return -np.dot(m, np.log(p)) / np.log(base)
