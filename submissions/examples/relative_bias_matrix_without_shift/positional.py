import numpy as np


def relative_bias_matrix(bias, n):
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = bias[i - j]
    return out
