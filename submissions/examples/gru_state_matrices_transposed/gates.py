import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def gru_cell(x, h, params):
    z = _s(x @ params["W_z"].T + h @ params["U_z"])
    r = _s(x @ params["W_r"].T + h @ params["U_r"])
    h_hat = np.tanh(x @ params["W"].T + r * (h @ params["U"]))
    return (1 - z) * h + z * h_hat
