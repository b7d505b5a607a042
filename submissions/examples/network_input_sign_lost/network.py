import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def input_gradient(x, y, params):
    z1 = x @ params["W1"] + params["b1"]
    h = sigmoid(z1)
    y_hat = softmax(h @ params["W2"] + params["b2"])
    delta1 = y - y_hat
    delta2 = delta1 @ params["W2"].T
    delta3 = delta2 * h * (1 - h)
    return delta3 @ params["W1"].T
