import numpy as np


def added_score(x1, p1, x2, p2):
    q, k = x1 + p1, x2 + p2
    return q @ k / np.sqrt(q.shape[0])
