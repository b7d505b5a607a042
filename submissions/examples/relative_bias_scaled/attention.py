import torch


def relative_bias_attention(Q, K, V, bias):
    n, d = Q.shape
    idx = torch.arange(n)
    B = bias[idx[:, None] - idx[None, :] + n - 1]
    return torch.softmax(Q @ K.T / d**0.5 + B, dim=-1) @ V
