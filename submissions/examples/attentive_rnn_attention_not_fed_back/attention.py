import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def _rnn(xs, h, W, U):
    out = []
    for x in xs:
        h = np.tanh(W @ x + U @ h)
        out.append(h)
    return np.array(out)


def attentive_rnn(xs, h0, W, U):
    S = _rnn(xs, h0, W, U)
    T = len(S)
    result = S.copy()
    for t in range(1, T):
        result[t] += _softmax(S[:t] @ S[t]) @ S[:t]
    return result
