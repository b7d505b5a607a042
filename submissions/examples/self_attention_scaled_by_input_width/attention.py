import torch


def self_attention(X, W_q, W_k, W_v, mask=None):
    d_model = X.shape[-1]
    Q = torch.matmul(X, W_q)
    K = torch.matmul(X, W_k)
    V = torch.matmul(X, W_v)
    scores = torch.matmul(Q, K.transpose(-1, -2)) / d_model**0.5
    if mask is not None:
        scores = scores + mask
    return torch.matmul(torch.softmax(scores, dim=-1), V)
