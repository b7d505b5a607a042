"""Deep averaging network in PyTorch."""

import torch
import torch.nn.functional as F


def deep_averaging_network(ids, embeddings, layers, padding=0):
    mask = (ids != padding).unsqueeze(-1).to(embeddings.dtype)
    vectors = F.embedding(ids.masked_fill(ids == padding, 0), embeddings)
    x = (vectors * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
    *hidden, (W_out, b_out) = layers
    for W, b in hidden:
        x = torch.tanh(torch.addmm(b, x, W))
    return torch.addmm(b_out, x, W_out)
