import numpy as np


def relative_bias_matrix(bias, n):
    return np.array([[bias[i - j + n] for j in range(n)] for i in range(n)])
