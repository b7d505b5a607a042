import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - np.max(x, axis=0))
    return e / np.sum(e, axis=0)


def forward(X, params):
    h = sigmoid(X @ params["W1"] + params["b1"])
    return softmax(h @ params["W2"] + params["b2"])
