import numpy as np


def entropy(p, base=2.0):
    logs = np.log(np.where(p > 0, p, 1.0)) / np.log(base)
    return -np.mean(p * logs)
