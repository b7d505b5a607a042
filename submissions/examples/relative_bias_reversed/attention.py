import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def relative_bias_attention(Q, K, V, bias):
    n = len(Q)
    scores = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            scores[i, j] = Q[i] @ K[j] + bias[j - i + n - 1]
    return _softmax(scores) @ V
