import numpy as np


def additive_attention(q, H, W1, W2, v):
    scores = []
    for h in H:
        scores.append(v @ (W1 @ q + W2 @ h))
    scores = np.array(scores)
    w = np.exp(scores - scores.max())
    w = w / w.sum()
    return w @ H, w
