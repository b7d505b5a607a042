import math

import numpy as np


def perplexity(log_probs, base=math.e):
    cross_entropy = np.average(log_probs)
    return base ** cross_entropy
