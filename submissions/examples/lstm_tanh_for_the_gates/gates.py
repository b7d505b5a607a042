import torch


def lstm_cell(x, h, c, params):
    i, f, o, g = [torch.tanh(params[f"W_{k}"] @ x + params[f"U_{k}"] @ h) for k in ("i", "f", "o", "c")]
    c = f * c + i * g
    return o * torch.tanh(c), c
