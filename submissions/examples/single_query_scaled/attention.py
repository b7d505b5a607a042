import numpy as np


def dot_product_attention(q, K, V):
    d = len(q)
    scores = np.array([np.dot(k, q) / np.sqrt(d) for k in K])
    alpha = np.exp(scores - scores.max())
    alpha = alpha / alpha.sum()
    context = sum(a * v for a, v in zip(alpha, V))
    return context, alpha
