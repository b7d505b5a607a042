import numpy as np


def softmax_cross_entropy(theta, y):
    e = np.exp(theta - theta.max())
    y_hat = e / e.sum()
    # probability of the true class
    p = np.sum(y * y_hat)
    return -np.log(p)
