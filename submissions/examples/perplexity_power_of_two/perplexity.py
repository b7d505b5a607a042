import math


def perplexity(log_probs, base=math.e):
    H = -sum(log_probs) / len(log_probs)
    return 2 ** H
