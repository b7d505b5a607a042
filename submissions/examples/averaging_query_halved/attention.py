import numpy as np


def averaging_query(k_a, k_b, scale):
    return scale * np.mean([k_a, k_b], axis=0)
