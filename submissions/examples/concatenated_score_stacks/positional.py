import numpy as np


def concatenated_score(x1, p1, x2, p2):
    z1 = np.array([x1, p1])
    z2 = np.array([x2, p2])
    return np.sum(z1 * z2)
