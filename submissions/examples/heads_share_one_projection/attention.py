import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    n_heads = W_q.shape[0]
    Q, K, V = X @ W_q[0], X @ W_k[0], X @ W_v[0]
    outputs = []
    for _ in range(n_heads):
        scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
        if mask is not None:
            scores = scores + mask
        outputs.append(_softmax(scores) @ V)
    return np.concatenate(outputs, axis=-1) @ W_o
