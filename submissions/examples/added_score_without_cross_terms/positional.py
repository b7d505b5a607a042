import numpy as np


def added_score(x1, p1, x2, p2):
    return np.dot(x1, x2) + np.dot(p1, p2)
