import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V, mask=None):
    *batch, m, d = K.shape
    K_t = np.reshape(K, tuple(batch) + (d, m))
    scores = np.matmul(Q, K_t) / np.sqrt(d)
    if mask is not None:
        scores = scores + mask
    return np.matmul(_softmax(scores), V)
