import numpy as np


def sinusoidal_encoding(length, d, base=10000.0):
    pos = np.arange(length)[:, np.newaxis]
    i = np.arange(d // 2)[np.newaxis, :]
    angles = pos / np.power(base, 2 * i / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
