import numpy as np


def softmax_cross_entropy_gradient(theta, y):
    y_hat = np.exp(theta - np.max(theta))
    y_hat /= np.sum(y_hat)
    return y - y_hat
