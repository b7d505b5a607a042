import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def self_attention(X, W_q, W_k, W_v, mask=None):
    h = W_k.shape[1]
    S = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / np.sqrt(h)
    if mask is not None:
        S = S + mask
    return _softmax(S) @ X
