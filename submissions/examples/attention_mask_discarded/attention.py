import math

import torch


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(Q.size(-1))
    if mask is not None:
        scores.masked_fill(mask == float("-inf"), float("-inf"))
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, V)
