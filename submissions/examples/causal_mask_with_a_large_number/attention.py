import numpy as np

NEG_INF = -1e9


def causal_mask(n):
    return (1 - np.tri(n)) * NEG_INF
