import numpy as np


def train_bigram(tokens, vocabulary_size, smoothing=1.0):
    counts = np.zeros((vocabulary_size, vocabulary_size))
    for i in range(1, len(tokens)):
        counts[tokens[i - 1], tokens[i]] += 1
    counts += smoothing
    return counts / counts.sum(axis=1, keepdims=True)


def bigram_log_probs(model, tokens):
    log_probs = []
    for i in range(1, len(tokens)):
        log_probs.append(np.log(model[tokens[i - 1], tokens[i]]))
    return np.cumsum(log_probs)  # log-probability of the sentence so far
