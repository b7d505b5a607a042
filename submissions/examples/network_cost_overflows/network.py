import numpy as np


def softmax(x):
    return np.exp(x) / np.sum(np.exp(x))


def softmax_cross_entropy(theta, y):
    y_hat = softmax(theta)
    return -np.sum(y * np.log(y_hat))
