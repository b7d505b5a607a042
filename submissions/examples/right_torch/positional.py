"""Positional encodings in PyTorch."""

import math

import torch


def sinusoidal_encoding(length, d, base=10000.0):
    position = torch.arange(length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(base) / d))
    pe = torch.zeros(length, d)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def wavelengths(d, base=10000.0):
    return 2 * math.pi * torch.pow(base, torch.arange(0, d, 2) / d)


def added_score(x1, p1, x2, p2):
    return torch.dot(x1 + p1, x2 + p2)


def concatenated_score(x1, p1, x2, p2):
    return torch.cat([x1, p1]).dot(torch.cat([x2, p2]))


def relative_bias_matrix(bias, n):
    # every window of length n, the last one first, read backwards
    return bias.unfold(0, n, 1).flip(1)


def relative_parameter_count(T, heads):
    # T - 1 distances behind, T - 1 ahead, and 0
    return heads * (T - 1 + T - 1 + 1)
