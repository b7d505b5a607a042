import numpy as np


def sinusoidal_encoding(length, d, base=10000.0):
    pos = np.arange(length)[:, None]
    angles = pos / base ** (np.arange(0, d, 2) / d)
    pe = np.zeros((length, d))
    pe[:, 0::2] = np.cos(angles)
    pe[:, 1::2] = np.sin(angles)
    return pe
