import numpy as np


def sinusoidal_encoding(length, d, base=10000.0):
    pe = np.zeros((length, d))
    for pos in range(length):
        for i in range(d // 2):
            pe[pos, 2 * i] = np.sin(pos / base ** (i / d))
            pe[pos, 2 * i + 1] = np.cos(pos / base ** (i / d))
    return pe
