import numpy as np


def causal_mask(n):
    i, j = np.indices((n, n))
    return np.where(j > i + 1, -np.inf, 0.0)
