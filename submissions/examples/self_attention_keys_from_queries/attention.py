import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def self_attention(X, W_q, W_k, W_v, mask=None):
    Q = X @ W_q
    K = X @ W_q
    V = X @ W_v
    logits = np.einsum("...ih,...jh->...ij", Q, K) / np.sqrt(Q.shape[-1])
    if mask is not None:
        logits = logits + mask
    return _softmax(logits) @ V
