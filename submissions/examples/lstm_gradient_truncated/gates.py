import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def _forward(xs, h, c, p):
    steps = []
    for x in xs:
        i, f, o = (_s(p["W_" + k] @ x + p["U_" + k] @ h) for k in "ifo")
        g = np.tanh(p["W_c"] @ x + p["U_c"] @ h)
        c_prev, c = c, f * c + i * g
        h = o * np.tanh(c)
        steps.append((x, i, f, o, g, c_prev, c))
    return steps


def lstm_weight_gradient(xs, h0, c0, params, dh):
    grad = np.zeros_like(params["W_c"])
    for (x, i, f, o, g, c_prev, c), d in zip(_forward(xs, h0, c0, params), dh):
        dc = d * o * (1 - np.tanh(c) ** 2)
        grad += np.outer(dc * i * (1 - g ** 2), x)
    return grad
