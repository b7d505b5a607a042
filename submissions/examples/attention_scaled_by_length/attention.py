import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V, mask=None):
    n, d = Q.shape[-2], Q.shape[-1]
    logits = np.matmul(Q, np.swapaxes(K, -2, -1)) * n ** -0.5
    if mask is not None:
        logits = logits + mask
    return np.matmul(_softmax(logits), V)
