import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    h = W_q.shape[2]
    result = 0
    for i in range(W_q.shape[0]):
        scores = (X @ W_q[i]) @ np.swapaxes(X @ W_k[i], -1, -2) / np.sqrt(h)
        if mask is not None:
            scores = scores + mask
            mask = None
        result = result + _softmax(scores) @ (X @ W_v[i]) @ W_o[i * h : (i + 1) * h]
    return result
