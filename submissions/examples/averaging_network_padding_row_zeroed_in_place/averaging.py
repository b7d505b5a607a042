import numpy as np


def deep_averaging_network(ids, embeddings, layers, padding=0):
    embeddings[padding] = 0
    n_words = np.maximum((ids != padding).sum(axis=1), 1)
    h = embeddings[ids].sum(axis=1) / n_words[:, None]
    for W, b in layers[:-1]:
        h = np.tanh(h @ W + b)
    return h @ layers[-1][0] + layers[-1][1]
