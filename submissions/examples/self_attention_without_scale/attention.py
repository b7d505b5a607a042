import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def self_attention(X, W_q, W_k, W_v, mask=None):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    scores = q @ k.swapaxes(-2, -1)
    if mask is not None:
        scores = scores + mask
    return _softmax(scores) @ v
