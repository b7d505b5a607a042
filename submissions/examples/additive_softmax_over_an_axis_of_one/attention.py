import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def additive_attention(q, H, W1, W2, v):
    e = np.tanh(W1 @ q + H @ W2.T) @ v[:, None]  # (n, 1)
    alpha = _softmax(e, axis=-1)
    context = np.sum(alpha * H, axis=0)
    return context, alpha[:, 0]
