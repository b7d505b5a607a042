import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    q = np.einsum("...nd,adh->...anh", X, W_q)
    k = np.einsum("...nd,adh->...anh", X, W_k)
    v = np.einsum("...nd,adh->...anh", X, W_v)
    scores = np.einsum("...ih,...jh->...ij", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + mask
    o = _softmax(scores) @ v
    o = np.swapaxes(o, -3, -2)
    return o.reshape(o.shape[:-2] + (-1,)) @ W_o
