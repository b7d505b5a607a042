import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def gru_cell(x, h, params):
    z = _s(params["W_z"] @ x + params["U_z"] @ h)
    r = _s(params["W_r"] @ x + params["U_r"] @ h)
    h_tilde = np.tanh(np.dot(params["W"], x) + np.dot(params["U"], r * h))
    return (1 - z) * h + z * h_tilde
