import numpy as np


def causal_mask(n):
    mask = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if j < i:
                mask[i, j] = -np.inf
    return mask
