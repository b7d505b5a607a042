import numpy as np


def softmax(x):
    x = x - np.max(x)
    return np.exp(x) / np.sum(np.exp(x))


def softmax_cross_entropy(theta, y):
    return -np.sum(y * np.log(softmax(theta)))
