"""Attention in PyTorch. All functions take and return tensors."""

import math

import torch
import torch.nn.functional as F


def softmax(x, axis=-1):
    return torch.softmax(x, dim=axis)


def dot_product_attention(q, K, V):
    weights = F.softmax(torch.mv(K, q), dim=0)
    return weights @ V, weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(Q.size(-1))
    if mask is not None:
        scores = scores + mask
    attn = scores.softmax(dim=-1)
    return torch.matmul(attn, V), attn


def causal_mask(n):
    return torch.zeros(n, n).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))


def self_attention(X, W_q, W_k, W_v, mask=None):
    output, _ = scaled_dot_product_attention(X.matmul(W_q), X.matmul(W_k), X.matmul(W_v), mask)
    return output


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    q, k, v = (torch.einsum("...nd,adh->...anh", X, W) for W in (W_q, W_k, W_v))
    if mask is not None:
        mask = mask.unsqueeze(-3)
    out, _ = scaled_dot_product_attention(q, k, v, mask)
    return out.transpose(-3, -2).flatten(-2) @ W_o


def relative_bias_attention(Q, K, V, bias):
    n = Q.size(0)
    index = torch.arange(n).unsqueeze(1) - torch.arange(n).unsqueeze(0) + (n - 1)
    return F.softmax(torch.mm(Q, K.t()) + bias[index], dim=1).mm(V)


def argmax_attention(Q, K, V):
    return V[torch.argmax(Q @ K.t(), dim=1)]


def receptive_field(heads, levels):
    return (heads + 1) ** levels


def additive_attention(q, H, W1, W2, v):
    scores = torch.tanh(W1.mv(q) + F.linear(H, W2)).mv(v)
    weights = scores.softmax(0)
    return weights @ H, weights


def attentive_rnn(xs, h0, W, U):
    states, h = [], h0
    for x in xs.unbind(0):
        s = torch.tanh(W.mv(x) + U.mv(h))
        h = s
        if states:
            memory = torch.stack(states)
            h = s + torch.softmax(memory.mv(s), dim=0) @ memory
        states.append(h)
    return torch.stack(states)


def projection_matrix(A):
    return A.mm(A.t())


def averaging_query(k_a, k_b, scale):
    return scale * (k_a + k_b)


def head_queries(mu_a, mu_b, scale):
    return scale * mu_a, scale * mu_b
