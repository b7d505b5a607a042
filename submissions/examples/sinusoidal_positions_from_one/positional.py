import numpy as np


def sinusoidal_encoding(length, d, base=10000.0):
    k = np.arange(1, length + 1).reshape(-1, 1)
    angles = k / base ** (2 * np.arange(d // 2) / d)
    pe = np.empty((length, d))
    pe[:, 0::2], pe[:, 1::2] = np.sin(angles), np.cos(angles)
    return pe
