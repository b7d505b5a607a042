import torch
import torch.nn.functional as F


def multi_head_attention(X, W_q, W_k, W_v, W_o, mask=None):
    outs = []
    for i in range(W_q.shape[0]):
        attn = F.scaled_dot_product_attention(X @ W_q[i], X @ W_k[i], X @ W_v[i], attn_mask=mask)
        outs.append(attn)
    return torch.cat(outs, dim=-1)
