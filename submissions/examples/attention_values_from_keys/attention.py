import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V, mask=None):
    s = np.einsum("...id,...jd->...ij", Q, K) / K.shape[-1] ** 0.5
    s = s if mask is None else s + mask
    return np.einsum("...ij,...jd->...id", _softmax(s), K)
