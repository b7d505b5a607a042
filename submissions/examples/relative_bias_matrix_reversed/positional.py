import numpy as np


def relative_bias_matrix(bias, n):
    idx = np.arange(n)
    relative = idx[None, :] - idx[:, None]
    return bias[relative + n - 1]
