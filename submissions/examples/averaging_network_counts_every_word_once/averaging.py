import numpy as np


def deep_averaging_network(ids, embeddings, layers, padding=0):
    x = np.zeros((len(ids), embeddings.shape[1]))
    for r, row in enumerate(ids):
        vocab = set(row.tolist()) - {padding}
        if vocab:
            x[r] = sum(embeddings[w] for w in vocab) / len(vocab)
    for W, b in layers[:-1]:
        x = np.tanh(x @ W + b)
    return x @ layers[-1][0] + layers[-1][1]
