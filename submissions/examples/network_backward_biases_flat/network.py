import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_softmax(x):
    x = x - np.max(x, axis=1, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=1, keepdims=True))


def forward_backward(X, Y, params):
    W1, b1, W2, b2 = params["W1"], params["b1"], params["W2"], params["b2"]
    N = X.shape[0]

    # forward
    z = X.dot(W1) + b1
    h = sigmoid(z)
    log_y_hat = log_softmax(h.dot(W2) + b2)
    y_hat = np.exp(log_y_hat)
    cost = -np.sum(Y * log_y_hat) / N

    # backward
    delta = (y_hat - Y) / N
    gradW2 = h.T.dot(delta)
    gradb2 = delta.sum(axis=0)
    delta = delta.dot(W2.T) * h * (1 - h)
    gradW1 = X.T.dot(delta)
    gradb1 = delta.sum(axis=0)
    return cost, {"W1": gradW1, "b1": gradb1, "W2": gradW2, "b2": gradb2}
