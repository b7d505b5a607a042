import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    mean = x.sum(axis=-1, keepdims=True) / d
    std = np.sqrt(np.sum((x - mean) ** 2, axis=-1, keepdims=True) / np.float64(d - 1))
    return gamma * (x - mean) / (std + eps) + beta
