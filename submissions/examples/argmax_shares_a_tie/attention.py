import numpy as np


def argmax_attention(Q, K, V):
    scores = Q @ K.T
    out = np.empty((len(Q), V.shape[1]))
    for i, row in enumerate(scores):
        out[i] = V[np.flatnonzero(row == row.max())].mean(axis=0)
    return out
