import numpy as np


def entropy(p, base=np.e):
    nonzero = p[p != 0]
    return -(nonzero * np.log(nonzero)).sum() / np.log(base)
