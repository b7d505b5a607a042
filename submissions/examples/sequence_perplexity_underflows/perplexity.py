import numpy as np


def sequence_perplexity(probs):
    N = len(probs)
    p_W = np.prod(probs)
    return p_W ** (-1 / N)
