import numpy as np


def sequence_perplexity(probs):
    H = -np.mean(np.log(probs))
    return 2 ** H
