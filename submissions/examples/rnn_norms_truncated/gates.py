import numpy as np


def rnn_gradient_norms(xs, h0, W, U, dh_last):
    hs = [h0]
    for x in xs:
        hs.append(np.tanh(W @ x + U @ hs[-1]))
    norms = []
    for h in hs[2:]:
        norms.append(np.linalg.norm(U.T @ (dh_last * (1 - h ** 2))))
    norms.append(np.linalg.norm(dh_last))
    return np.array(norms)
