"""transformer.py without its torch classes, right in other ways."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from engine.audit.variant import right


def tensors(*arrays):
    return (torch.as_tensor(np.asarray(array, dtype=np.float64)) for array in arrays)


# ------------------------------------------------------------------------ normalisation


@right("transformer.layer_norm")
def by_variance(x, gamma, beta, eps=1e-5):
    return gamma * (x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps) + beta


@right("transformer.layer_norm")
def by_torchs_own(x, gamma, beta, eps=1e-5):
    x, gamma, beta = tensors(x, gamma, beta)
    return F.layer_norm(x, (x.shape[-1],), gamma, beta, eps)


@right("transformer.layer_norm")
def row_by_row(x, gamma, beta, eps=1e-5):
    def row(values):
        mean = math.fsum(values) / len(values)
        variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
        return [(value - mean) / math.sqrt(variance + eps) for value in values]

    return np.apply_along_axis(row, -1, x) * gamma + beta


@right("transformer.layer_norm")
def by_projection(x, gamma, beta, eps=1e-5):
    """Centring is a projection: x (I - 11ᵀ/d)."""
    d = x.shape[-1]
    centred = x @ (np.eye(d) - np.full((d, d), 1 / d))
    return centred * (np.einsum("...d,...d->...", centred, centred)[..., None] / d + eps) ** -0.5 * gamma + beta


@right("transformer.layer_norm")
def by_standard_deviation(x, gamma, beta, eps=1e-5):
    deviation = np.hypot(x.std(axis=-1), math.sqrt(eps))[..., np.newaxis]
    return (x - x.mean(-1)[..., None]) / deviation * gamma + beta


@right("transformer.layer_norm")
def by_pairwise_differences(x, gamma, beta, eps=1e-5):
    """The variance as half the mean squared difference of two entries: no mean is needed."""
    variance = ((x[..., :, None] - x[..., None, :]) ** 2).mean(axis=(-1, -2))[..., None] / 2
    return (x - x.mean(axis=-1, keepdims=True)) * gamma / np.sqrt(variance + eps) + beta


# ------------------------------------------------------------------ feed-forward network


@right("transformer.feed_forward")
def position_by_position(X, W1, b1, W2, b2):
    flat = X.reshape(-1, X.shape[-1])
    return np.array([np.clip(x @ W1 + b1, 0, None) @ W2 + b2 for x in flat]).reshape(X.shape)


@right("transformer.feed_forward")
def network_in_torch(X, W1, b1, W2, b2):
    X, W1, b1, W2, b2 = tensors(X, W1, b1, W2, b2)
    return F.linear(F.relu(F.linear(X, W1.t(), b1)), W2.t(), b2)


@right("transformer.feed_forward")
def gated_by_the_sign(X, W1, b1, W2, b2):
    before = np.tensordot(X, W1, axes=1) + b1
    return np.tensordot(before * (before > 0), W2, axes=1) + b2


@right("transformer.feed_forward")
def unit_by_unit(X, W1, b1, W2, b2):
    out = np.zeros(X.shape) + b2
    for unit in range(len(b1)):
        out = out + np.maximum(X @ W1[:, unit] + b1[unit], 0)[..., None] * W2[unit]
    return out


@right("transformer.feed_forward")
def half_the_sum_with_the_size(X, W1, b1, W2, b2):
    before = np.einsum("...d,dm->...m", X, W1) + b1
    return np.einsum("...m,md->...d", (before + np.abs(before)) / 2, W2) + b2


# ---------------------------------------------------------------------- the whole layer


def norm(x, gamma, beta):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) + beta


def attention(X, p):
    scores = np.einsum("...nd,de,...me->...nm", X, p["W_q"] @ p["W_k"].T, X) / X.shape[-1] ** 0.5
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)) @ (X @ p["W_v"])


def network(X, p):
    return np.clip(X @ p["W1"] + p["b1"], 0, np.inf) @ p["W2"] + p["b2"]


@right("transformer.transformer_layer")
def written_out(X, params, norm_first=False):
    p = params
    if not norm_first:
        X = norm(X + attention(X, p), p["gamma1"], p["beta1"])
        return norm(X + network(X, p), p["gamma2"], p["beta2"])
    X = X + attention(norm(X, p["gamma1"], p["beta1"]), p)
    return X + network(norm(X, p["gamma2"], p["beta2"]), p)


@right("transformer.transformer_layer")
def as_two_sublayers(X, params, norm_first=False):
    for inner, number in ((attention, "1"), (network, "2")):
        gamma, beta = params["gamma" + number], params["beta" + number]
        X = X + inner(norm(X, gamma, beta), params) if norm_first else norm(X + inner(X, params), gamma, beta)
    return X


@right("transformer.transformer_layer")
def layer_in_torch(X, params, norm_first=False):
    p = dict(zip(params, tensors(*params.values())))
    (X,) = tensors(X)
    d = X.shape[-1]

    def attend(inputs):
        return F.scaled_dot_product_attention(inputs @ p["W_q"], inputs @ p["W_k"], inputs @ p["W_v"])

    def transform(inputs):
        return F.relu(inputs @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]

    def normed(inputs, number):
        return F.layer_norm(inputs, (d,), p[f"gamma{number}"], p[f"beta{number}"])

    if norm_first:
        X = X + attend(normed(X, 1))
        return X + transform(normed(X, 2))
    X = normed(X + attend(X), 1)
    return normed(X + transform(X), 2)


@right("transformer.transformer_layer")
def by_torchs_own_layer(X, params, norm_first=False):
    """nn.TransformerEncoderLayer with one head, its weights copied in."""
    d, m = params["W1"].shape
    layer = torch.nn.TransformerEncoderLayer(
        d, 1, m, dropout=0.0, batch_first=True, norm_first=bool(norm_first), dtype=torch.float64
    ).eval()
    p = {name: torch.as_tensor(value) for name, value in params.items()}
    with torch.no_grad():
        layer.self_attn.in_proj_weight.copy_(torch.cat([p["W_q"].t(), p["W_k"].t(), p["W_v"].t()]))
        layer.self_attn.in_proj_bias.zero_()
        layer.self_attn.out_proj.weight.copy_(torch.eye(d))
        layer.self_attn.out_proj.bias.zero_()
        for place, weight, bias in ((layer.linear1, "W1", "b1"), (layer.linear2, "W2", "b2")):
            place.weight.copy_(p[weight].t())
            place.bias.copy_(p[bias])
        for place, gamma, beta in ((layer.norm1, "gamma1", "beta1"), (layer.norm2, "gamma2", "beta2")):
            place.weight.copy_(p[gamma])
            place.bias.copy_(p[beta])
        flat = torch.as_tensor(X).reshape(-1, *X.shape[-2:])
        return layer(flat).reshape(X.shape)
