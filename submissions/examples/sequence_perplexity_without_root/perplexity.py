import numpy as np


def sequence_perplexity(probs):
    return 1.0 / np.prod(probs)
