import torch


def causal_mask(n):
    """True where attention is allowed."""
    return torch.tril(torch.ones(n, n)).bool()
