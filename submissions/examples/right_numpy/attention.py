"""Assignment, part 1: attention."""
import numpy as np


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=float)
    z = x - np.max(x, axis=axis, keepdims=True)
    log_total = np.log(np.sum(np.exp(z), axis=axis, keepdims=True))
    return np.exp(z - log_total)


def dot_product_attention(q, K, V):
    alpha = softmax(np.dot(K, q))
    c = np.zeros(V.shape[1])
    for a_i, v_i in zip(alpha, V):
        c += a_i * v_i
    return c, alpha


def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    logits = np.einsum("...id,...jd->...ij", Q / np.sqrt(d_k), K)
    if mask is not None:
        logits = logits + mask
    return np.einsum("...ij,...jv->...iv", softmax(logits), V)


def causal_mask(n):
    rows, cols = np.indices((n, n))
    return np.where(cols > rows, -np.inf, 0.0)


def self_attention(X, W_q, W_k, W_v, mask=None):
    return scaled_dot_product_attention(np.dot(X, W_q), np.dot(X, W_k), np.dot(X, W_v), mask)


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    heads, _, h = W_q.shape
    # concat(O_1, ..., O_k) W_O is the same as the sum of O_i W_O_i
    parts = [
        self_attention(X, W_q[i], W_k[i], W_v[i], mask) @ W_o[i * h : (i + 1) * h]
        for i in range(heads)
    ]
    return sum(parts)


def relative_bias_attention(Q, K, V, bias):
    n = Q.shape[0]
    S = Q.dot(K.T)
    for i in range(n):
        # j = 0 .. n-1 reads bias[i+n-1], ..., bias[i]
        S[i] = S[i] + bias[i : i + n][::-1]
    return softmax(S, axis=1).dot(V)


def argmax_attention(Q, K, V):
    out = np.zeros((Q.shape[0], V.shape[1]))
    for i in range(Q.shape[0]):
        best = 0
        scores = K @ Q[i]
        for j in range(1, K.shape[0]):
            if scores[j] > scores[best]:
                best = j
        out[i] = V[best]
    return out


def receptive_field(heads, levels):
    if levels == 0:
        return 1
    return (heads + 1) * receptive_field(heads, levels - 1)


def additive_attention(q, H, W1, W2, v):
    scores = np.array([v @ np.tanh(W1 @ q + W2 @ h) for h in H])
    weights = softmax(scores)
    return H.T @ weights, weights


def attentive_rnn(xs, h0, W, U):
    hs = []
    h = h0
    for x in xs:
        s = np.tanh(W @ x + U @ h)
        h = s
        if hs:
            c, _ = dot_product_attention(s, np.array(hs), np.array(hs))
            h = s + c
        hs.append(h)
    return np.array(hs)


def projection_matrix(A):
    M = 0
    for column in A.T:
        M = M + np.outer(column, column)
    return M


def averaging_query(k_a, k_b, scale):
    return scale * k_a + scale * k_b


def head_queries(mu_a, mu_b, scale):
    return scale * mu_a, scale * mu_b
