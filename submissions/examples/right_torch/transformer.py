"""A transformer layer in PyTorch. All functions take and return tensors."""

import torch
import torch.nn.functional as F

# ---------------------------------------------------------------- functions


def layer_norm(x, gamma, beta, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, eps)


def feed_forward(X, W1, b1, W2, b2):
    return F.linear(F.relu(F.linear(X, W1.t(), b1)), W2.t(), b2)


def attend(X, params):
    q, k, v = (torch.matmul(X, params[name]) for name in ("W_q", "W_k", "W_v"))
    return F.scaled_dot_product_attention(q, k, v)


def transformer_layer(X, params, norm_first=False):
    ln1 = lambda x: layer_norm(x, params["gamma1"], params["beta1"])
    ln2 = lambda x: layer_norm(x, params["gamma2"], params["beta2"])
    ffn = lambda x: feed_forward(x, params["W1"], params["b1"], params["W2"], params["b2"])
    if norm_first:
        x = X + attend(ln1(X), params)
        return x + ffn(ln2(x))
    x = ln1(X + attend(X, params))
    return ln2(x + ffn(x))
