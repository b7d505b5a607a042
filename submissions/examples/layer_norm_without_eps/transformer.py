import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    # LN(x) = (x - mu) / sigma * gamma + beta
    mu = x.mean(axis=-1, keepdims=True)
    sigma = x.std(axis=-1, keepdims=True)
    return (x - mu) / sigma * gamma + beta
