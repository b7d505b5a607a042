import numpy as np


def _s(a):
    return 1.0 / (1.0 + np.exp(-a))


def gru_cell(x, h, params):
    W_r, U_r, W_z, U_z, W, U = (params[k] for k in ("W_z", "U_z", "W_r", "U_r", "W", "U"))
    r = _s(W_r @ x + U_r @ h)
    z = _s(W_z @ x + U_z @ h)
    h_hat = np.tanh(W @ x + r * (U @ h))
    return (1 - z) * h + z * h_hat
