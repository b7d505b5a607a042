import numpy as np


def causal_mask(n):
    future = (np.arange(n)[None, :] > np.arange(n)[:, None]).astype(float)
    return future * float("-inf")
