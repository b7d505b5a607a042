import numpy as np


def projection_matrix(A):
    return np.dot(A.T, A)
