"""Assignment, part 2: positions."""
import numpy as np


def sinusoidal_encoding(length, d, base=10000.0):
    pe = np.zeros((length, d))
    for k in range(length):
        for i in range(d // 2):
            angle = k / base ** (2 * i / d)
            pe[k, 2 * i] = np.sin(angle)
            pe[k, 2 * i + 1] = np.cos(angle)
    return pe


def wavelengths(d, base=10000.0):
    return np.array([2 * np.pi * base ** (2 * i / d) for i in range(d // 2)])


def added_score(x1, p1, x2, p2):
    # multiplied out: four terms
    return np.dot(x1, x2) + np.dot(x1, p2) + np.dot(p1, x2) + np.dot(p1, p2)


def concatenated_score(x1, p1, x2, p2):
    return np.sum(x1 * x2) + np.sum(p1 * p2)


def relative_bias_matrix(bias, n):
    B = np.zeros((n, n))
    for i in range(n):
        # j = 0 .. n-1 reads bias[i+n-1], ..., bias[i]
        B[i] = bias[i : i + n][::-1]
    return B


def relative_parameter_count(T, heads):
    return (2 * (T - 1) + 1) * heads
