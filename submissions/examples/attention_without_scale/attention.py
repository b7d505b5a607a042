import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.einsum("...nd,...md->...nm", Q, K)
    if mask is not None:
        scores = scores + mask
    return np.einsum("...nm,...mv->...nv", _softmax(scores), V)
