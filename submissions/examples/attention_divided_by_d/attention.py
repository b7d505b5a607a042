import torch
import torch.nn.functional as F


def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.size(-1)
    attn = torch.matmul(Q, K.transpose(-2, -1)) / d_k
    if mask is not None:
        attn = attn + mask
    attn = F.softmax(attn, dim=-1)
    return torch.matmul(attn, V), attn
