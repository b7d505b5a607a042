import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attentive_rnn(xs, h0, W, U):
    h = np.zeros(U.shape[0])
    states = []
    for x in xs:
        h = np.tanh(W.dot(x) + U.dot(h))
        if states:
            S = np.array(states)
            h = h + _softmax(S.dot(h)).dot(S)
        states.append(h)
    return np.array(states)
