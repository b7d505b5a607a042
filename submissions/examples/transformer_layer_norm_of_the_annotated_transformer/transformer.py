import math

import torch


def norm(x, a_2, b_2, eps=1e-6):
    return a_2 * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + b_2


def attention(x, p):
    query, key, value = x @ p["W_q"], x @ p["W_k"], x @ p["W_v"]
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return torch.matmul(scores.softmax(dim=-1), value)


def transformer_layer(X, params, norm_first=False):
    p = params
    ff = lambda x: torch.relu(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    if norm_first:
        x = X + attention(norm(X, p["gamma1"], p["beta1"]), p)
        return x + ff(norm(x, p["gamma2"], p["beta2"]))
    x = norm(X + attention(X, p), p["gamma1"], p["beta1"])
    return norm(x + ff(x), p["gamma2"], p["beta2"])
