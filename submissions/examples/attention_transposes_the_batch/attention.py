import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = np.matmul(Q, K.T) / np.sqrt(Q.shape[-1])
    if mask is not None:
        weights = weights + mask
    weights = _softmax(weights)
    return np.matmul(weights, V)
