import numpy as np


def relative_bias_matrix(bias, n):
    i, j = np.indices((n, n))
    return bias[abs(i - j)]
