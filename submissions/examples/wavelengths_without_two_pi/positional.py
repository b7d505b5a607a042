import numpy as np


def wavelengths(d, base=10000.0):
    return base ** (2 * np.arange(d // 2) / d)
