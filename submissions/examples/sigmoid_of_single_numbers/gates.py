import numpy as np


def sigmoid(x):
    # numerically stable version
    if x >= 0:
        return 1 / (1 + np.exp(-x))
    else:
        return np.exp(x) / (1 + np.exp(x))
