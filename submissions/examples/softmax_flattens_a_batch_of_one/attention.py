import numpy as np


def softmax(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    moved = moved - moved.max(-1, keepdims=True)
    p = np.exp(moved)
    p = p / p.sum(-1, keepdims=True)
    return np.moveaxis(p, -1, axis).squeeze()
