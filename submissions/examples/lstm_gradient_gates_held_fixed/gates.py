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
    dh_next = np.zeros_like(h0)
    dc_next = np.zeros_like(c0)
    for (x, i, f, o, g, c_prev, c), d in reversed(list(zip(_forward(xs, h0, c0, params), dh))):
        dc = (d + dh_next) * o * (1 - np.tanh(c) ** 2) + dc_next
        dg = dc * i * (1 - g ** 2)
        grad += np.outer(dg, x)
        dh_next = params["U_c"].T @ dg
        dc_next = dc * f
    return grad
