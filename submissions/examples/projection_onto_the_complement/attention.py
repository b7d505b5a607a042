import numpy as np


def projection_matrix(A):
    M = np.eye(A.shape[0])
    for i in range(A.shape[1]):
        a = A[:, i]
        M = M - np.outer(a, a)
    return M
