import numpy as np


def sigmoid(x):
    np.negative(x, out=x)  # saves memory
    np.exp(x, out=x)
    x += 1
    return 1 / x
