import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def relative_bias_attention(Q, K, V, bias):
    n = Q.shape[0]
    scores = np.dot(Q, K.T)
    for i in range(n):
        for j in range(n):
            scores[i][j] += bias[i - j]
    return np.dot(_softmax(scores), V)
