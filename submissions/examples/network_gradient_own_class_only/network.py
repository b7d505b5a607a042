import numpy as np


def softmax_cross_entropy_gradient(theta, y):
    y_hat = np.exp(theta - np.max(theta))
    y_hat = y_hat / np.sum(y_hat)
    # dCE/dtheta_i = dCE/dy_hat_i * dy_hat_i/dtheta_i, where y_hat_i cancels:
    # -y_i / y_hat_i * y_hat_i * (1 - y_hat_i)
    return -y * (1 - y_hat)
