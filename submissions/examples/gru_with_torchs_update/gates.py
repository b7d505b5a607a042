import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def gru_cell(x, h, params):
    z = _s(params["W_z"] @ x + params["U_z"] @ h)
    r = _s(params["W_r"] @ x + params["U_r"] @ h)
    n = np.tanh(params["W"] @ x + r * (params["U"] @ h))
    return (1 - z) * n + z * h
