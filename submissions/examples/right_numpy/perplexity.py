"""Assignment, part 5: entropy and perplexity."""
import math

import numpy as np


def entropy(p, base=2.0):
    return -sum(x * math.log(x, base) for x in np.ravel(p) if x > 0)


def cross_entropy(m, p, base=2.0):
    total = 0.0
    for m_i, p_i in zip(m, p):
        if m_i == 0:
            continue
        if p_i == 0:
            return float("inf")
        total -= m_i * math.log(p_i)
    return total / math.log(base)


def entropy_rate(p, n, base=2.0):
    p = np.asarray(p)
    log_p = np.log(p, out=np.zeros_like(p), where=p > 0)
    return -np.sum(p * log_p) / (n * np.log(base))


def perplexity(log_probs, base=math.e):
    return math.pow(base, -sum(log_probs) / len(log_probs))


def sequence_perplexity(probs):
    return 2.0 ** -np.mean(np.log2(probs))
