import numpy as np


def sinusoidal_encoding(length, d, base=10000.0):
    i = np.arange(d // 2)
    # the d-th root of base^(2i)
    divisors = (np.float64(base) ** (2 * i)) ** (1 / d)
    angles = np.arange(length)[:, None] / divisors
    pe = np.zeros((length, d))
    pe[:, 0::2] = np.sin(angles)
    pe[:, 1::2] = np.cos(angles)
    return pe
