import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V, mask=None):
    dim = V.shape[-1]
    S = Q @ K.swapaxes(-1, -2)
    S = S / np.sqrt(dim)
    if mask is not None:
        S = S + mask
    return _softmax(S) @ V
