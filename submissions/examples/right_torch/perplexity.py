"""Entropy and perplexity in PyTorch."""

import math

import torch


def entropy(p, base=2.0):
    return torch.special.entr(p).sum() / math.log(base)


def cross_entropy(m, p, base=2.0):
    # xlogy(0, anything) is 0, xlogy(m, 0) is -inf
    return -torch.special.xlogy(m, p).sum() / math.log(base)


def entropy_rate(p, n, base=2.0):
    return entropy(p.flatten(), base) / n


def perplexity(log_probs, base=math.e):
    nll = -torch.mean(log_probs.double()) * math.log(base)
    return torch.exp(nll)


def sequence_perplexity(probs):
    return torch.exp(-torch.log(probs).mean())
