import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def forward(X, params):
    h = np.tanh(X.dot(params["W1"]) + params["b1"])
    return softmax(h.dot(params["W2"]) + params["b2"])
