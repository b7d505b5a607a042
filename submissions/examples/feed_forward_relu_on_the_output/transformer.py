import numpy as np


def relu(x):
    return np.maximum(0, x)


def feed_forward(X, W1, b1, W2, b2):
    h = relu(np.matmul(X, W1) + b1)
    return relu(np.matmul(h, W2) + b2)
