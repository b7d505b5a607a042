import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    var = np.mean(centred**2, axis=-1, keepdims=True)
    return beta * (centred / np.sqrt(var + eps)) + gamma
