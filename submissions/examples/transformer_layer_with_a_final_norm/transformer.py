import numpy as np


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _attention(X, p):
    q, k, v = X @ p["W_q"], X @ p["W_k"], X @ p["W_v"]
    return _softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


def _norm(x, g, b, eps=1e-5):
    return g * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + b


def _ffn(X, p):
    return np.maximum(0, X @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]


def transformer_layer(X, params, norm_first=False):
    p = params
    if norm_first:
        x = X + _attention(_norm(X, p["gamma1"], p["beta1"]), p)
        x = x + _ffn(_norm(x, p["gamma2"], p["beta2"]), p)
        return _norm(x, p["gamma2"], p["beta2"])
    x = _norm(X + _attention(X, p), p["gamma1"], p["beta1"])
    return _norm(x + _ffn(x, p), p["gamma2"], p["beta2"])
