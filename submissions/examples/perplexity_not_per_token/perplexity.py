import math

import numpy as np


def perplexity(log_probs, base=math.e):
    nll = -np.sum(log_probs)
    return np.power(base, nll)
