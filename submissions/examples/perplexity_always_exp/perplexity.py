import numpy as np


def perplexity(log_probs, base=np.e):
    return np.exp(-np.mean(log_probs))
