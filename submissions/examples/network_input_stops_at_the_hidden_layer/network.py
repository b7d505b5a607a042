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
    dh = np.dot(y_hat - y, params["W2"].T)
    return dh * h * (1 - h)
