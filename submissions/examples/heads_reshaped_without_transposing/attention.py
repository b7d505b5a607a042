import math

import torch


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    heads, d, h = W_q.shape
    n = X.shape[-2]
    q = torch.einsum("...nd,kdh->...knh", X, W_q)
    k = torch.einsum("...nd,kdh->...knh", X, W_k)
    v = torch.einsum("...nd,kdh->...knh", X, W_v)
    scores = q @ k.transpose(-1, -2) / math.sqrt(h)
    if mask is not None:
        scores = scores + mask.unsqueeze(-3)
    out = torch.softmax(scores, dim=-1) @ v
    out = out.reshape(*X.shape[:-2], n, heads * h)
    return out @ W_o
