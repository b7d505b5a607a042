import numpy as np


def rnn_gradient_norms(xs, h0, W, U, dh_last):
    hs = [h0]
    for x in xs:
        hs.append(np.tanh(W @ x + U @ hs[-1]))
    g = dh_last
    norms = [np.linalg.norm(g)]
    for _ in range(len(xs) - 1):
        g = U.T @ g
        norms.append(np.linalg.norm(g))
    return np.array(norms[::-1])
