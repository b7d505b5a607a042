import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    d_model = X.shape[-1]
    heads = []
    for Wq, Wk, Wv in zip(W_q, W_k, W_v):
        s = (X @ Wq) @ np.swapaxes(X @ Wk, -1, -2) / np.sqrt(d_model)
        if mask is not None:
            s = s + mask
        heads.append(_softmax(s) @ (X @ Wv))
    return np.concatenate(heads, axis=-1) @ W_o
