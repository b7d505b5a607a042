import torch
from torch import nn


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = torch.matmul(Q, K.mT) / K.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    return torch.matmul(nn.Softmax(dim=-2)(scores), V)
