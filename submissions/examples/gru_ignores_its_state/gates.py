import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def gru_cell(x, h, params):
    h = np.zeros(params["U"].shape[0])  # initial hidden state
    z = _s(params["W_z"] @ x + params["U_z"] @ h)
    r = _s(params["W_r"] @ x + params["U_r"] @ h)
    h_hat = np.tanh(params["W"] @ x + r * (params["U"] @ h))
    return (1 - z) * h + z * h_hat
