"""Returns the right values in odd dresses: big-endian, reversed strides, read-only, a subclass, a list, long double."""

import numpy as np


class Mine(np.ndarray):
    pass


def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    right = weights / weights.sum(axis=axis, keepdims=True)
    locked = right[...]
    locked.flags.writeable = False
    dresses = [
        right.astype(">f8"),
        np.asfortranarray(right),
        right[::-1].copy()[::-1],
        locked,
        right.view(Mine),
        np.ma.masked_array(right),
        right.tolist(),
        right.astype(np.longdouble),
        right.astype(np.float32),
    ]
    return dresses[round(np.abs(x).sum() * 16) % len(dresses)]
