import torch


def sinusoidal_encoding(length, d, base=10000.0):
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    i = torch.arange(0, d, 2, dtype=torch.float64)
    freq = base ** (-2 * i / d)
    pe = torch.empty(length, d, dtype=torch.float64)
    pe[:, ::2] = torch.sin(position * freq)
    pe[:, 1::2] = torch.cos(position * freq)
    return pe
