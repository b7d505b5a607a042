import torch


def deep_averaging_network(ids, embeddings, layers, padding=0):
    keep = ids.ne(padding).unsqueeze(-1)
    h = (embeddings[ids] * keep).sum(1) / ids.size(1)
    for W, b in layers[:-1]:
        h = torch.tanh(h @ W + b)
    W, b = layers[-1]
    return h @ W + b
