import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def gru_cell(x, h, params):
    z = _s(params["W_z"] @ x + params["U_z"] @ h)
    r = _s(params["W_r"] @ x + params["U_r"] @ h)
    h_new = np.tanh(params["W"] @ x + r * (params["U"] @ h))
    state = (1 - z) * h + z * h_new
    return h_new
