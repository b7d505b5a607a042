import numpy as np


def deep_averaging_network(ids, embeddings, layers, padding=0):
    mask = (ids != padding)[:, :, None]
    x = (embeddings[ids] * mask).sum(axis=1) / mask.sum(axis=1)
    for W, b in layers[:-1]:
        x = np.tanh(x @ W + b)
    return x @ layers[-1][0] + layers[-1][1]
