import torch


def argmax_attention(Q, K, V):
    weights = torch.softmax(Q @ K.T, dim=1)
    return weights @ V
