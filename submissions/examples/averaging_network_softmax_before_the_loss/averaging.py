import torch


def deep_averaging_network(ids, embeddings, layers, padding=0):
    mask = (ids != padding).unsqueeze(-1)
    x = (embeddings[ids] * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
    for W, b in layers[:-1]:
        x = torch.tanh(x @ W + b)
    W, b = layers[-1]
    return torch.softmax(x @ W + b, dim=-1)
