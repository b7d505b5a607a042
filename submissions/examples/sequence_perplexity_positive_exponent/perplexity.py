import numpy as np


def sequence_perplexity(probs):
    # p(W)^(1/N), as in the summary
    return np.exp(np.sum(np.log(probs)) / len(probs))
