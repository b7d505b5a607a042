import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def lstm_cell(x, h, c, params):
    i = _s(params["W_i"] @ x + params["U_i"] @ h)
    f = _s(params["W_f"] @ x + params["U_f"] @ h)
    o = _s(params["W_o"] @ x + params["U_o"] @ h)
    g = np.tanh(params["W_c"] @ x + params["U_c"] @ h)
    c = i * c + f * g
    return o * np.tanh(c), c
