import numpy as np

EPS = 1e-12  # avoid log(0)


def softmax_cross_entropy(theta, y):
    z = np.exp(theta - np.max(theta))
    y_hat = z / z.sum()
    return -(y * np.log(y_hat + EPS)).sum()
