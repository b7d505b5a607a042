import numpy as np


def deep_averaging_network(ids, embeddings, layers, padding=0):
    averages = []
    for row in ids:
        total, count = np.zeros(embeddings.shape[1]), 0
        for token in row:
            if token == padding:
                break
            total += embeddings[token]
            count += 1
        averages.append(total / count if count else total)
    x = np.array(averages)
    for W, b in layers[:-1]:
        x = np.tanh(x @ W + b)
    return x @ layers[-1][0] + layers[-1][1]
