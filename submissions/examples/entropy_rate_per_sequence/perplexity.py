import numpy as np


def entropy_rate(p, n, base=2.0):
    total = 0.0
    for prob in np.nditer(p):
        if prob > 0:
            total -= prob * np.log(prob) / np.log(base)
    return total / p.size
