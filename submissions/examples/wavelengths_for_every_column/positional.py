import numpy as np


def wavelengths(d, base=10000.0):
    i = np.arange(d)
    return 2 * np.pi * base ** (2 * i / d)
