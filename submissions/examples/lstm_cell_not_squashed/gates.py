import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def lstm_cell(x, h, c, params):
    i, f, o = (_s(params["W_" + k] @ x + params["U_" + k] @ h) for k in "ifo")
    c_new = f * c + i * np.tanh(params["W_c"] @ x + params["U_c"] @ h)
    h_new = o * c_new
    return h_new, c_new
