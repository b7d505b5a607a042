import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def forward(X, params):
    W1, W2, b2 = params["W1"], params["W2"], params["b2"]
    h = sigmoid(np.matmul(X, W1))
    return softmax(np.matmul(h, W2) + b2)
