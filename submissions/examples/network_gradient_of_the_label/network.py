import numpy as np


def softmax_cross_entropy_gradient(theta, y):
    grad = np.exp(theta - np.max(theta))
    grad = grad / np.sum(grad)
    grad[np.argmax(y)] -= 1
    return grad
