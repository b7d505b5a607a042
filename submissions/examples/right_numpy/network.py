"""Assignment, part 4: a network with one hidden layer."""
import numpy as np


def _log_softmax(scores):
    top = np.max(scores, axis=-1, keepdims=True)
    return scores - top - np.log(np.sum(np.exp(scores - top), axis=-1, keepdims=True))


def _sigmoid(z):
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def softmax_cross_entropy(theta, y):
    return -np.dot(y, _log_softmax(theta))


def softmax_cross_entropy_gradient(theta, y):
    e = np.exp(theta - np.max(theta))
    return e / e.sum() - y


def forward(X, params):
    h = _sigmoid(np.dot(X, params["W1"]) + params["b1"])
    return np.exp(_log_softmax(np.dot(h, params["W2"]) + params["b2"]))


def forward_backward(X, Y, params):
    B = X.shape[0]
    cost = 0.0
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    # one sample at a time
    for x, y in zip(X, Y):
        h = _sigmoid(x @ params["W1"] + params["b1"][0])
        theta = h @ params["W2"] + params["b2"][0]
        cost += softmax_cross_entropy(theta, y)
        d_theta = softmax_cross_entropy_gradient(theta, y)
        d_z = params["W2"].dot(d_theta) * h * (1 - h)
        grads["W2"] += np.outer(h, d_theta)
        grads["b2"] += d_theta
        grads["W1"] += np.outer(x, d_z)
        grads["b1"] += d_z
    return cost / B, {name: g / B for name, g in grads.items()}


def input_gradient(x, y, params):
    h = _sigmoid(x @ params["W1"] + params["b1"])
    delta = forward(x, params) - y
    delta = delta.dot(params["W2"].T)
    delta = delta * (h - h**2)
    return delta.dot(params["W1"].T)
