import numpy as np


def rnn_gradient_norms(xs, h0, W, U, dh_last):
    hs = [h0]
    for x in xs:
        hs.append(np.tanh(W @ x + U @ hs[-1]))
    g = dh_last
    norms = []
    for h in reversed(hs[1:]):
        norms.append(np.linalg.norm(g))
        g = U.T @ ((1 - h ** 2) * g)
    return np.array(norms)
