import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V, mask=None):
    dk = K.shape[-1]
    scores = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(dk)
    if mask is not None:
        keep = np.broadcast_to(mask, scores.shape).astype(bool)
        scores[~keep] = -1e9
    return np.matmul(_softmax(scores), V)
