import numpy as np


def sinusoidal_encoding(length, d, base=10000.0):
    pe = np.array([[pos / np.power(base, i / d) for i in range(d)] for pos in range(length)])
    pe[:, 0::2] = np.sin(pe[:, 0::2])
    pe[:, 1::2] = np.cos(pe[:, 1::2])
    return pe
