import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = np.mean(x, axis=-1)
    var = np.var(x, axis=-1)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta
