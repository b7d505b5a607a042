"""network.py, right in other ways."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from engine.audit.variant import right

KEYS = ("W1", "b1", "W2", "b2")


def sigmoid(z):
    return np.exp(-np.logaddexp(0, -z))


def softmax(z):
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def tensors(*arrays):
    return (torch.as_tensor(np.asarray(array, dtype=np.float64)) for array in arrays)


# ------------------------------------------------------------------------ cross-entropy


@right("network.softmax_cross_entropy")
def logsumexp_less_the_score(theta, y):
    return np.logaddexp.reduce(theta) - y @ theta


@right("network.softmax_cross_entropy")
def mean_gap(theta, y):
    top = np.max(theta)
    return np.log(np.sum(np.exp(theta - top))) + np.sum(y * (top - theta))


@right("network.softmax_cross_entropy")
def by_torch(theta, y):
    return F.cross_entropy(*tensors(theta, y))


@right("network.softmax_cross_entropy")
def class_by_class(theta, y):
    top = max(theta)
    log_total = math.log(math.fsum(math.exp(t - top) for t in theta))
    return math.fsum(share * (log_total - (t - top)) for t, share in zip(theta, y))


@right("network.softmax_cross_entropy")
def as_odds(theta, y):
    gaps = theta[None, :] - theta[:, None]
    return y @ np.logaddexp.reduce(gaps, axis=1)


@right("network.softmax_cross_entropy_gradient")
def jacobian_of_log_softmax(theta, y):
    p = softmax(theta)
    return -(np.eye(len(p)) - np.outer(np.ones(len(p)), p)).T @ y


@right("network.softmax_cross_entropy_gradient")
def by_autograd(theta, y):
    theta, y = tensors(theta, y)
    theta = theta.clone().requires_grad_()
    F.cross_entropy(theta, y).backward()
    return theta.grad


@right("network.softmax_cross_entropy_gradient")
def listed(theta, y):
    top = max(theta)
    powers = [math.exp(t - top) for t in theta]
    return [power / sum(powers) - share for power, share in zip(powers, y)]


@right("network.softmax_cross_entropy_gradient")
def averaged_over_the_classes(theta, y):
    p = np.exp(theta - np.logaddexp.reduce(theta))
    return sum(share * (p - np.eye(len(p))[k]) for k, share in enumerate(y))


# -------------------------------------------------------------------------- the network


@right("network.forward")
def forward_in_torch(X, params):
    X, W1, b1, W2, b2 = tensors(X, *(params[key] for key in KEYS))
    return torch.softmax(torch.sigmoid(X @ W1 + b1) @ W2 + b2, dim=1)


@right("network.forward")
def sample_by_sample(X, params):
    return np.array([
        softmax(sigmoid(x @ params["W1"] + params["b1"][0]) @ params["W2"] + params["b2"][0]) for x in X
    ])  # fmt: skip


@right("network.forward")
def in_columns(X, params):
    hidden = (1 + np.tanh((params["W1"].T @ X.T + params["b1"].T) / 2)) / 2
    scores = params["W2"].T @ hidden + params["b2"].T
    return np.exp(scores - np.logaddexp.reduce(scores, axis=0)).T


@right("network.forward")
def biases_as_weights(X, params):
    ones = np.ones((len(X), 1))
    hidden = sigmoid(np.hstack([X, ones]) @ np.vstack([params["W1"], params["b1"]]))
    return softmax(np.hstack([hidden, ones]) @ np.vstack([params["W2"], params["b2"]]))


@right("network.forward")
def forward_by_einsum(X, params):
    hidden = sigmoid(np.einsum("bx,xh->bh", X, params["W1"]) + params["b1"])
    return softmax(np.einsum("bh,hy->by", hidden, params["W2"]) + params["b2"])


def backpropagated(x, y, params):
    """Return cost and gradients of one sample; vectors are rows."""
    hidden = sigmoid(x @ params["W1"] + params["b1"])
    scores = hidden @ params["W2"] + params["b2"]
    log_p = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    to_scores = np.exp(log_p) - y
    to_hidden = to_scores @ params["W2"].T * (hidden - hidden**2)
    gradients = {"W1": np.outer(x, to_hidden), "b1": to_hidden, "W2": np.outer(hidden, to_scores), "b2": to_scores}
    return -(y * log_p).sum(), gradients, to_hidden


@right("network.forward_backward")
def averaged_over_samples(X, Y, params):
    costs, gradients = [], {key: np.zeros(params[key].shape) for key in KEYS}
    for x, y in zip(X, Y):
        cost, one, _ = backpropagated(x[None], y[None], params)
        costs.append(cost)
        for key in KEYS:
            gradients[key] += one[key] / len(X)
    return np.mean(costs), gradients


@right("network.forward_backward")
def backward_by_autograd(X, Y, params):
    X, Y = tensors(X, Y)
    p = {key: torch.tensor(params[key], requires_grad=True) for key in KEYS}
    cost = F.cross_entropy(torch.sigmoid(X @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"], Y)
    cost.backward()
    return float(cost), {key: value.grad for key, value in p.items()}


@right("network.forward_backward")
def backward_by_einsum(X, Y, params):
    hidden = sigmoid(X @ params["W1"] + params["b1"])
    scores = hidden @ params["W2"] + params["b2"]
    log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    D2 = np.exp(log_p) - Y
    D1 = np.einsum("by,hy,bh,bh->bh", D2, params["W2"], hidden, 1 - hidden)
    B = len(X)
    gradients = {
        "W1": np.einsum("bx,bh->xh", X, D1) / B, "b1": D1.mean(axis=0, keepdims=True),
        "W2": np.einsum("bh,by->hy", hidden, D2) / B, "b2": D2.mean(axis=0, keepdims=True),
    }  # fmt: skip
    return np.mean(-np.sum(Y * log_p, axis=1)), gradients


@right("network.forward_backward")
def biases_backward_as_weights(X, Y, params):
    ones = np.ones((len(X), 1))
    first, second = np.vstack([params["W1"], params["b1"]]), np.vstack([params["W2"], params["b2"]])
    inputs = np.hstack([X, ones])
    hidden = sigmoid(inputs @ first)
    scores = np.hstack([hidden, ones]) @ second
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    delta = (np.exp(log_p) - Y) / len(X)
    to_second = np.hstack([hidden, ones]).T @ delta
    to_first = inputs.T @ ((delta @ second[:-1].T) * hidden * (1 - hidden))
    gradients = {"W1": to_first[:-1], "b1": to_first[-1:], "W2": to_second[:-1], "b2": to_second[-1:]}
    return -np.vdot(Y, log_p) / len(X), gradients


@right("network.input_gradient")
def input_by_autograd(x, y, params):
    x, y, W1, b1, W2, b2 = tensors(x, y, *(params[key] for key in KEYS))
    x = x.clone().requires_grad_()
    F.cross_entropy(torch.sigmoid(x @ W1 + b1) @ W2 + b2, y).backward()
    return x.grad


@right("network.input_gradient")
def through_jacobians(x, y, params):
    hidden = sigmoid(x @ params["W1"] + params["b1"])[0]
    p = softmax(hidden @ params["W2"] + params["b2"])[0]
    return ((p - y[0]) @ params["W2"].T @ np.diag(hidden * (1 - hidden)) @ params["W1"].T)[None]


@right("network.input_gradient")
def through_the_weights(x, y, params):
    return backpropagated(x, y, params)[2] @ params["W1"].T


@right("network.input_gradient")
def class_weighted(x, y, params):
    """The gradient as an average over classes of what each would pull."""
    hidden = sigmoid(x @ params["W1"] + params["b1"])
    p = softmax(hidden @ params["W2"] + params["b2"])
    pulls = (params["W2"] * (hidden * (1 - hidden)).T).T @ params["W1"].T  # (Dy, Dx)
    return (p - y) @ pulls
