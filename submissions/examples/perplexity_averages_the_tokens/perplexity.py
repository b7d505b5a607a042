import math

import numpy as np


def perplexity(log_probs, base=math.e):
    per_token = base ** (-log_probs)
    return np.mean(per_token)
