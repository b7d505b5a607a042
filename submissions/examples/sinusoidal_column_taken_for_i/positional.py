import math

import numpy as np


def sinusoidal_encoding(length, d, base=10000.0):
    pe = np.zeros((length, d))
    for pos in range(length):
        for i in range(0, d, 2):
            pe[pos, i] = math.sin(pos / (base ** ((2 * i) / d)))
            pe[pos, i + 1] = math.cos(pos / (base ** ((2 * (i + 1)) / d)))
    return pe
