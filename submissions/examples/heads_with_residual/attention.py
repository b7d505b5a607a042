import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def _head(X, wq, wk, wv, mask):
    q, k, v = X @ wq, X @ wk, X @ wv
    a = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        a = a + mask
    return _softmax(a) @ v


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    # eq. of the sheet: concat(O_i) W_O + X
    O = [_head(X, W_q[i], W_k[i], W_v[i], mask) for i in range(len(W_q))]
    return np.concatenate(O, axis=-1) @ W_o + X
