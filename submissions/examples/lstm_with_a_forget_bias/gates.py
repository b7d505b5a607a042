import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def lstm_cell(x, h, c, params):
    forget_bias = 1.0  # helps training
    i = _s(params["W_i"] @ x + params["U_i"] @ h)
    f = _s(params["W_f"] @ x + params["U_f"] @ h + forget_bias)
    o = _s(params["W_o"] @ x + params["U_o"] @ h)
    c_new = f * c + i * np.tanh(params["W_c"] @ x + params["U_c"] @ h)
    return o * np.tanh(c_new), c_new
