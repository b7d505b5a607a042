import numpy as np


def argmax_attention(Q, K, V):
    out = []
    for q in Q:
        best, best_score = 0, float("-inf")
        for j, k in enumerate(K):
            score = float(np.dot(q, k))
            if score >= best_score:
                best, best_score = j, score
        out.append(V[best])
    return np.array(out)
