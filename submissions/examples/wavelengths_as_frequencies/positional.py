import numpy as np


def wavelengths(d, base=10000.0):
    return 1 / base ** (np.arange(0, d, 2) / d)
