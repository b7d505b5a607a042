"""Wrong transformers: each function computes exactly what one mistake computes.

What is right in it is the reference's, so that a body shows the mistake and little else.
"""
# A misconception has the contract's signature even where the mistake is to ignore an argument.
# ruff: noqa: ARG001

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from checks.misconception import misconception
from reference import attention
from reference import transformer as right

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.attention import Array

    Params = dict[str, Array]

EPS = 1e-5

# ------------------------------------------------------- layers as functions, in NumPy

# layer_norm


def _mean(x: Array) -> Any:
    return x.mean(axis=-1, keepdims=True)


def _variance(x: Array, *, over: int | tuple[int, ...] | None = -1, ddof: int = 0) -> Any:
    """Return the variance over some axes, or the sample variance over the last."""
    if ddof == 0:
        return x.var(axis=over, keepdims=True)
    return np.divide(((x - _mean(x)) ** 2).sum(axis=-1, keepdims=True), x.shape[-1] - ddof)  # 0/0 at width one, quietly


def _over_axes(x: Array, gamma: Array, beta: Array, eps: float, axes: int | tuple[int, ...] | None) -> Any:
    """Normalise over other axes than the last."""
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt(_variance(x, over=axes) + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="sample variance with eps outside the root",
    why="This is the layer norm of the Annotated Transformer: torch's x.std() divides by d-1, and eps is added to the"
    " standard deviation; the contract has sqrt(var + eps) with the population variance.",
)
def norm_sample_deviation_plus_eps(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return gamma * (x - _mean(x)) / (np.sqrt(_variance(x, ddof=1)) + eps) + beta


@misconception(
    of="transformer.layer_norm",
    name="sample variance with eps outside the root, default 1e-6",
    why="This is the layer norm of the Annotated Transformer, its default eps = 1e-6 included: torch's x.std() divides"
    " by d-1, and eps is added to the standard deviation; the contract has sqrt(var + 1e-5).",
)
def norm_annotated_transformer(x: Array, gamma: Array, beta: Array, eps: float = 1e-6) -> Any:
    return gamma * (x - _mean(x)) / (np.sqrt(_variance(x, ddof=1)) + eps) + beta


@misconception(
    of="transformer.layer_norm",
    name="sample variance",
    why="The squared deviations are divided by d-1 (ddof=1, torch.var's default); layer norm divides by d.",
)
def norm_sample_variance(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - _mean(x)) / np.sqrt(_variance(x, ddof=1) + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="eps outside the root",
    why="eps is added to the standard deviation; the contract adds it to the variance, under the root.",
)
def norm_eps_outside(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - _mean(x)) / (np.sqrt(_variance(x)) + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="default eps of 1e-6",
    why="1e-6 is the default of other libraries (JAX's among them); the contract's, like torch's, is 1e-5.",
)
def norm_default_of_jax(x: Array, gamma: Array, beta: Array, eps: float = 1e-6) -> Any:
    return right.layer_norm(x, gamma, beta, eps)


@misconception(
    of="transformer.layer_norm",
    name="default eps of 1e-3",
    why="1e-3 is the default of Keras; the contract's, like torch's, is 1e-5.",
)
def norm_default_of_keras(x: Array, gamma: Array, beta: Array, eps: float = 1e-3) -> Any:
    return right.layer_norm(x, gamma, beta, eps)


@misconception(
    of="transformer.layer_norm",
    name="default eps of 1e-8",
    why="1e-8 is the eps of Adam; the contract's layer norm, like torch's, has 1e-5.",
)
def norm_default_of_adam(x: Array, gamma: Array, beta: Array, eps: float = 1e-8) -> Any:
    return right.layer_norm(x, gamma, beta, eps)


@misconception(
    of="transformer.layer_norm",
    name="default eps of 1e-12",
    why="1e-12 is the default of BERT's configuration; the contract's, like torch's, is 1e-5.",
)
def norm_default_of_bert(x: Array, gamma: Array, beta: Array, eps: float = 1e-12) -> Any:
    return right.layer_norm(x, gamma, beta, eps)


@misconception(
    of="transformer.layer_norm",
    name="eps argument ignored",
    why="1e-5 is written into the formula, so another eps changes nothing.",
)
def norm_eps_ignored(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, gamma, beta)


@misconception(
    of="transformer.layer_norm",
    name="eps missing",
    why="Nothing is added to the variance: a row of equal entries is 0/0 = nan, and one of small variance too large.",
)
def norm_without_eps(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - _mean(x)) / np.sqrt(_variance(x)) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="eps as the smallest variance",
    why="max(var, eps) guards against the division by zero, but the contract adds eps to every variance.",
)
def norm_eps_as_floor(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - _mean(x)) / np.sqrt(np.maximum(_variance(x), eps)) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="eps added to the sum of squares",
    why="eps is added before the division by d, which makes it d times too small.",
)
def norm_eps_in_the_sum(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, gamma, beta, eps / x.shape[-1])


@misconception(
    of="transformer.layer_norm",
    name="divided by the variance",
    why="The root is missing: the standard deviation divides, not the variance.",
)
def norm_without_root(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - _mean(x)) / (_variance(x) + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="divided by the length of the deviations",
    why="The squared deviations are summed and not averaged, so the result has length 1 and not variance 1.",
)
def norm_to_length_one(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - _mean(x)) / np.sqrt(_variance(x) * x.shape[-1] + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="mean not subtracted",
    why="x is divided by its standard deviation, but its mean is still in it.",
)
def norm_without_mean(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return x / np.sqrt(_variance(x) + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="RMS norm in place of layer norm",
    why="x is divided by the root of its mean square and no mean is subtracted: this is RMSNorm.",
)
def norm_root_mean_square(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return x / np.sqrt(_mean(x * x) + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="mean square in place of the variance",
    why="The mean is subtracted from x, but the squares that are averaged are those of x before that.",
)
def norm_uncentred_variance(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - _mean(x)) / np.sqrt(_mean(x * x) + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="not divided at all",
    why="Only the mean is taken away; the division by the standard deviation is missing.",
)
def norm_centred_only(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - _mean(x)) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="statistics over the first axis",
    why="Mean and variance run over axis 0: that is batch normalisation; layer norm takes each row's own, axis -1.",
)
def norm_over_first_axis(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return _over_axes(x, gamma, beta, eps, 0)


@misconception(
    of="transformer.layer_norm",
    name="statistics over the positions",
    why="Mean and variance run over axis -2, so the positions of a sequence mix; layer norm runs over axis -1.",
)
def norm_over_positions(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return _over_axes(x, gamma, beta, eps, -2)


@misconception(
    of="transformer.layer_norm",
    name="statistics over all axes but the last",
    why="Mean and variance are taken per column over all rows: that is batch normalisation, not layer norm.",
)
def norm_of_batches(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return _over_axes(x, gamma, beta, eps, tuple(range(x.ndim - 1)))


@misconception(
    of="transformer.layer_norm",
    name="axis 1 whatever the shape",
    why="axis=1 is the last axis of a matrix only: a vector has none, and a batch of matrices has another.",
)
def norm_over_axis_one(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return _over_axes(x, gamma, beta, eps, 1)


@misconception(
    of="transformer.layer_norm",
    name="statistics over the whole array",
    why="No axis is given to mean and variance, so all rows share one of each.",
)
def norm_of_whole_array(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return _over_axes(x, gamma, beta, eps, None)


@misconception(
    of="transformer.layer_norm",
    name="keepdims forgotten",
    why="Without keepdims=True mean and variance lose the axis, and broadcasting lines them up with the columns or"
    " fails.",
)
def norm_without_keepdims(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + eps) * gamma + beta


@misconception(
    of="transformer.layer_norm",
    name="gamma and beta ignored",
    why="The normalised rows come back as they are; gamma multiplies them and beta is added.",
)
def norm_without_parameters(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, np.ones_like(gamma), np.zeros_like(beta), eps)


@misconception(
    of="transformer.layer_norm",
    name="gamma ignored",
    why="beta is added, but gamma does not multiply the normalised row.",
)
def norm_without_gamma(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, np.ones_like(gamma), beta, eps)


@misconception(
    of="transformer.layer_norm",
    name="beta ignored",
    why="gamma multiplies the normalised row, but beta is not added.",
)
def norm_without_beta(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, gamma, np.zeros_like(beta), eps)


@misconception(
    of="transformer.layer_norm",
    name="gamma and beta swapped",
    why="beta multiplies and gamma is added; gamma is the scale, beta the shift.",
)
def norm_parameters_swapped(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, beta, gamma, eps)


@misconception(
    of="transformer.layer_norm",
    name="beta added before gamma multiplies",
    why="(z + beta) gamma scales beta as well; the order is z gamma + beta.",
)
def norm_beta_first(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, gamma, gamma * beta, eps)


@misconception(
    of="transformer.layer_norm",
    name="beta subtracted",
    why="beta is added to the scaled row, not taken away.",
)
def norm_beta_subtracted(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, gamma, -beta, eps)


@misconception(
    of="transformer.layer_norm",
    name="1 + gamma as the scale",
    why="The row is multiplied by 1 + gamma, as where gamma is stored as a difference from 1 (Gemma does);"
    " the contract multiplies by gamma itself.",
)
def norm_one_plus_gamma(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return right.layer_norm(x, 1 + gamma, beta, eps)


@misconception(
    of="transformer.layer_norm",
    name="batch of one flattened",
    why="A squeeze removes every axis of size one, also those that belong to the input; the shape must stay.",
)
def norm_squeezed(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    return np.squeeze(right.layer_norm(x, gamma, beta, eps))


@misconception(
    of="transformer.layer_norm",
    name="modifies its input",
    why="`x -= x.mean(...)` writes into the caller's array; `x = x - ...` makes a new one.",
)
def norm_in_place(x: Array, gamma: Array, beta: Array, eps: float = EPS) -> Any:
    x -= _mean(x)
    return right.layer_norm(x, gamma, beta, eps)


# feed_forward


def _network(X: Array, W1: Array, b1: Array, W2: Array, b2: Array, activation: Callable[[Any], Any]) -> Any:
    """Return the network with another activation."""
    return activation(X @ W1 + b1) @ W2 + b2


def _normal_distribution(x: Any) -> Any:
    """Return the normal distribution function; NumPy has none."""
    return np.vectorize(lambda number: (1 + math.erf(number / math.sqrt(2))) / 2, otypes=[np.float64])(x)


def _sigmoid(x: Any) -> Any:
    return (1 + np.tanh(x / 2)) / 2


@misconception(
    of="transformer.feed_forward",
    name="no activation",
    why="Without ReLU the two matrices are one: (X W1 + b1) W2 + b2 is linear in X.",
)
def network_linear(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: x)


@misconception(
    of="transformer.feed_forward",
    name="GELU in place of ReLU",
    why="x Φ(x) is GELU, as in BERT and GPT; the sheet has max(x, 0).",
)
def network_gelu(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: x * _normal_distribution(x))


@misconception(
    of="transformer.feed_forward",
    name="GELU by its tanh formula in place of ReLU",
    why="x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) is GPT-2's approximation of GELU; the sheet has max(x, 0).",
)
def network_gelu_tanh(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


@misconception(
    of="transformer.feed_forward",
    name="SiLU in place of ReLU",
    why="x sigmoid(x) is SiLU (swish); the sheet has max(x, 0).",
)
def network_silu(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: x * _sigmoid(x))


@misconception(
    of="transformer.feed_forward",
    name="sigmoid in place of ReLU",
    why="The hidden layer is squashed to (0, 1) as in the network of S4; the sheet has max(x, 0) here.",
)
def network_sigmoid(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, _sigmoid)


@misconception(
    of="transformer.feed_forward",
    name="tanh in place of ReLU",
    why="The hidden layer is squashed to (-1, 1); the sheet has max(x, 0).",
)
def network_tanh(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, np.tanh)


@misconception(
    of="transformer.feed_forward",
    name="softplus in place of ReLU",
    why="log(1 + exp(x)) is the smooth ReLU, and overflows beyond 709; the sheet has max(x, 0).",
)
def network_softplus(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: np.log(1 + np.exp(np.asarray(x, dtype=np.float64))))


@misconception(
    of="transformer.feed_forward",
    name="leaky ReLU in place of ReLU",
    why="Negative units leak a hundredth of their input; ReLU makes them 0.",
)
def network_leaky(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: np.where(x > 0, x, 0.01 * x))


@misconception(
    of="transformer.feed_forward",
    name="ELU in place of ReLU",
    why="Negative units give exp(x) - 1; ReLU makes them 0.",
)
def network_elu(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))))


@misconception(
    of="transformer.feed_forward",
    name="ReLU cut off at 6",
    why="min(max(x, 0), 6) is ReLU6 of mobile networks; the sheet's ReLU has no upper end.",
)
def network_relu_six(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: np.clip(x, 0, 6))


@misconception(
    of="transformer.feed_forward",
    name="step in place of ReLU",
    why="x > 0 is a mask of zeros and ones (ReLU's derivative); it must be multiplied by x.",
)
def network_step(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: (x > 0).astype(x.dtype))


@misconception(
    of="transformer.feed_forward",
    name="negative part in place of the positive",
    why="min(x, 0) keeps what ReLU removes.",
)
def network_negative_part(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, lambda x: np.minimum(x, 0))


@misconception(
    of="transformer.feed_forward",
    name="absolute value in place of ReLU",
    why="|x| turns negative units round; ReLU makes them 0.",
)
def network_absolute(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, np.abs)


@misconception(
    of="transformer.feed_forward",
    name="softmax over the hidden units",
    why="The hidden units are made a distribution; the sheet has max(x, 0), each unit by itself.",
)
def network_softmax(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return _network(X, W1, b1, W2, b2, attention.softmax)


@misconception(
    of="transformer.feed_forward",
    name="ReLU on the output as well",
    why="The second layer is linear: its output may be negative.",
)
def network_relu_twice(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return np.maximum(right.feed_forward(X, W1, b1, W2, b2), 0)


@misconception(
    of="transformer.feed_forward",
    name="ReLU on the output in place of the hidden layer",
    why="ReLU stands between the two layers, not after them.",
)
def network_relu_last(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return np.maximum(network_linear.function(X, W1, b1, W2, b2), 0)


@misconception(
    of="transformer.feed_forward",
    name="ReLU on the input",
    why="ReLU is applied to X before the first matrix; it belongs to X W1 + b1.",
)
def network_relu_first(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return network_linear.function(np.maximum(X, 0), W1, b1, W2, b2)


@misconception(
    of="transformer.feed_forward",
    name="first bias missing",
    why="b1 is not added to X W1.",
)
def network_without_b1(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return right.feed_forward(X, W1, np.zeros_like(b1), W2, b2)


@misconception(
    of="transformer.feed_forward",
    name="second bias missing",
    why="b2 is not added to the output.",
)
def network_without_b2(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return right.feed_forward(X, W1, b1, W2, np.zeros_like(b2))


@misconception(
    of="transformer.feed_forward",
    name="both biases missing",
    why="Neither b1 nor b2 is added.",
)
def network_without_biases(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return right.feed_forward(X, W1, np.zeros_like(b1), W2, np.zeros_like(b2))


@misconception(
    of="transformer.feed_forward",
    name="first bias added after ReLU",
    why="ReLU(X W1) + b1 puts the bias on the wrong side: it decides which units are on.",
)
def network_bias_after_relu(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return (np.maximum(X @ W1, 0) + b1) @ W2 + b2


@misconception(
    of="transformer.feed_forward",
    name="residual added",
    why="X is added to the output; the residual belongs to the transformer layer, not to its network.",
)
def network_with_residual(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return X + right.feed_forward(X, W1, b1, W2, b2)


@misconception(
    of="transformer.feed_forward",
    name="second matrix not used",
    why="The first matrix is used again, transposed; W2 is a matrix of its own.",
)
def network_tied(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return right.feed_forward(X, W1, b1, W1.T, b2)


@misconception(
    of="transformer.feed_forward",
    name="batch of one flattened",
    why="A squeeze removes every axis of size one, also those that belong to the input; the shape must stay.",
)
def network_squeezed(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    return np.squeeze(right.feed_forward(X, W1, b1, W2, b2))


@misconception(
    of="transformer.feed_forward",
    name="positions averaged",
    why="The hidden layer is averaged over the positions; the network acts on each position alone.",
)
def network_pooled(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    hidden = np.maximum(X @ W1 + b1, 0)
    return np.broadcast_to(hidden.mean(axis=-2, keepdims=True), hidden.shape) @ W2 + b2


@misconception(
    of="transformer.feed_forward",
    name="modifies its input",
    why="The bias, ReLU or a residual is written into one of the arguments (`X += …`, `X[X < 0] = 0`).",
)
def network_in_place(X: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
    result = right.feed_forward(X, W1, b1, W2, b2)
    X += result
    return result


# transformer_layer


def _attend(X: Array, p: Params) -> Any:
    return attention.self_attention(X, p["W_q"], p["W_k"], p["W_v"])


def _transform(X: Array, p: Params) -> Any:
    return right.feed_forward(X, p["W1"], p["b1"], p["W2"], p["b2"])


def _first_norm(X: Array, p: Params) -> Any:
    return right.layer_norm(X, p["gamma1"], p["beta1"])


def _second_norm(X: Array, p: Params) -> Any:
    return right.layer_norm(X, p["gamma2"], p["beta2"])


def _layer(
    X: Array,
    p: Params,
    norm_first: bool,
    *,
    attend: Callable[[Any, Params], Any] = _attend,
    transform: Callable[[Any, Params], Any] = _transform,
    norms: tuple[Callable[[Any, Params], Any], Callable[[Any, Params], Any]] = (_first_norm, _second_norm),
    residuals: tuple[int, int] = (1, 1),
) -> Any:
    """Return the layer with one of its parts replaced."""
    one, two = norms
    first, second = residuals
    if norm_first:
        X1 = first * X + attend(one(X, p), p)
        return second * X1 + transform(two(X1, p), p)
    O1 = one(attend(X, p) + first * X, p)
    return two(transform(O1, p) + second * O1, p)


def _both_norms(norm: Callable[..., Any]) -> Any:
    """Return both norms of the layer, computed by another function."""
    return (
        lambda X, p: norm(X, p["gamma1"], p["beta1"]),
        lambda X, p: norm(X, p["gamma2"], p["beta2"]),
    )


def _attention_with(scale: Callable[[Any], float], axis: int = -1, mask: Callable[[int], Any] | None = None) -> Any:
    """Return attention whose scores are multiplied by scale(X) and normalised over `axis`."""

    def attend(X: Any, p: Params) -> Any:
        scores = (X @ p["W_q"]) @ np.swapaxes(X @ p["W_k"], -1, -2) * scale(X)
        if mask is not None:
            scores = scores + mask(X.shape[-2])
        return attention.softmax(scores, axis=axis) @ (X @ p["W_v"])

    return attend


def _right_scale(X: Any) -> float:
    return float(X.shape[-1] ** -0.5)


@misconception(
    of="transformer.transformer_layer",
    name="norm_first ignored",
    why="The norms always come after the residuals; with norm_first=True they come before attention and network.",
)
def layer_always_post(X: Array, params: Params, norm_first: bool = False) -> Any:
    return right.transformer_layer(X, params, norm_first=False)


@misconception(
    of="transformer.transformer_layer",
    name="always pre-norm",
    why="The norms always come before attention and network; by default they come after the residuals (S2 eq. 5).",
)
def layer_always_pre(X: Array, params: Params, norm_first: bool = False) -> Any:
    return right.transformer_layer(X, params, norm_first=True)


@misconception(
    of="transformer.transformer_layer",
    name="norm before where after is asked, and after where before is asked",
    why="norm_first is read the wrong way round.",
)
def layer_reversed(X: Array, params: Params, norm_first: bool = False) -> Any:
    return right.transformer_layer(X, params, norm_first=not norm_first)


@misconception(
    of="transformer.transformer_layer",
    name="pre-norm with a final norm",
    why="The second norm is applied once more to the output. A final norm stands after the last layer of a model,"
    " not in the layer.",
)
def layer_final_norm(X: Array, params: Params, norm_first: bool = False) -> Any:
    output = _layer(X, params, norm_first)
    return _second_norm(output, params) if norm_first else output


@misconception(
    of="transformer.transformer_layer",
    name="pre-norm normalises its residual",
    why="X is replaced by LN(X) before it is added: what is added must be the unnormalised input.",
)
def layer_residual_of_norm(X: Array, params: Params, norm_first: bool = False) -> Any:
    if not norm_first:
        return _layer(X, params, norm_first)
    normed = _first_norm(X, params)
    normed = _second_norm(normed + _attend(normed, params), params)
    return normed + _transform(normed, params)


@misconception(
    of="transformer.transformer_layer",
    name="pre-norm with queries alone normalised",
    why="Queries come from LN1(X), but keys and values from X; all three are projections of LN1(X).",
)
def layer_pre_norm_of_queries(X: Array, params: Params, norm_first: bool = False) -> Any:
    if not norm_first:
        return _layer(X, params, norm_first)
    queries = _first_norm(X, params) @ params["W_q"]
    X1 = X + attention.scaled_dot_product_attention(queries, X @ params["W_k"], X @ params["W_v"])
    return X1 + _transform(_second_norm(X1, params), params)


@misconception(
    of="transformer.transformer_layer",
    name="pre-norm network reads the layer's input",
    why="The second norm is applied to X; the network reads LN2(X1), where X1 holds the attention's output as well.",
)
def layer_pre_norm_of_input(X: Array, params: Params, norm_first: bool = False) -> Any:
    if not norm_first:
        return _layer(X, params, norm_first)
    return X + _attend(_first_norm(X, params), params) + _transform(_second_norm(X, params), params)


@misconception(
    of="transformer.transformer_layer",
    name="post-norm network reads the layer's input",
    why="The network is applied to X; it reads O1, the normalised output of the attention.",
)
def layer_network_of_input(X: Array, params: Params, norm_first: bool = False) -> Any:
    if norm_first:
        return _layer(X, params, norm_first)
    O1 = _first_norm(_attend(X, params) + X, params)
    return _second_norm(_transform(X, params) + O1, params)


@misconception(
    of="transformer.transformer_layer",
    name="norm inside the residual",
    why="X + LN(SA(X)) normalises what attention gives before it is added; post-norm normalises the sum.",
)
def layer_norm_inside_residual(X: Array, params: Params, norm_first: bool = False) -> Any:
    if norm_first:
        return _layer(X, params, norm_first)
    O1 = X + _first_norm(_attend(X, params), params)
    return O1 + _second_norm(_transform(O1, params), params)


@misconception(
    of="transformer.transformer_layer",
    name="first residual missing",
    why="X is not added to the attention's output.",
)
def layer_without_first_residual(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, residuals=(0, 1))


@misconception(
    of="transformer.transformer_layer",
    name="second residual missing",
    why="The network's input is not added to its output.",
)
def layer_without_second_residual(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, residuals=(1, 0))


@misconception(
    of="transformer.transformer_layer",
    name="both residuals missing",
    why="Attention and network follow one another, and nothing is added to what they give.",
)
def layer_without_residuals(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, residuals=(0, 0))


@misconception(
    of="transformer.transformer_layer",
    name="second residual from the layer's input",
    why="X is added to the network's output; what is added is the network's own side: O1, or X1 in pre-norm.",
)
def layer_residual_of_input(X: Array, params: Params, norm_first: bool = False) -> Any:
    if norm_first:
        X1 = X + _attend(_first_norm(X, params), params)
        return X + _transform(_second_norm(X1, params), params)
    O1 = _first_norm(_attend(X, params) + X, params)
    return _second_norm(_transform(O1, params) + X, params)


@misconception(
    of="transformer.transformer_layer",
    name="first norm used twice",
    why="gamma1 and beta1 serve both norms; the second has gamma2 and beta2.",
)
def layer_first_norm_twice(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=(_first_norm, _first_norm))


@misconception(
    of="transformer.transformer_layer",
    name="second norm used twice",
    why="gamma2 and beta2 serve both norms; the first has gamma1 and beta1.",
)
def layer_second_norm_twice(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=(_second_norm, _second_norm))


@misconception(
    of="transformer.transformer_layer",
    name="norms in the wrong order",
    why="gamma2 and beta2 are used at the attention, gamma1 and beta1 at the network.",
)
def layer_norms_swapped(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=(_second_norm, _first_norm))


@misconception(
    of="transformer.transformer_layer",
    name="norms missing",
    why="Residuals are added, but nothing is normalised.",
)
def layer_without_norms(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=(lambda X, _p: X, lambda X, _p: X))


@misconception(
    of="transformer.transformer_layer",
    name="first norm missing",
    why="Only the network's norm is there; each of the two parts has one.",
)
def layer_without_first_norm(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=(lambda X, _p: X, _second_norm))


@misconception(
    of="transformer.transformer_layer",
    name="second norm missing",
    why="Only the attention's norm is there; each of the two parts has one.",
)
def layer_without_second_norm(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=(_first_norm, lambda X, _p: X))


@misconception(
    of="transformer.transformer_layer",
    name="gamma and beta ignored in both norms",
    why="The norms have neither scale nor shift; they take gamma1, beta1 and gamma2, beta2.",
)
def layer_norms_without_parameters(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_without_parameters.function))


@misconception(
    of="transformer.transformer_layer",
    name="gamma and beta swapped in both norms",
    why="beta multiplies and gamma is added; gamma is the scale, beta the shift.",
)
def layer_parameters_swapped(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_parameters_swapped.function))


@misconception(
    of="transformer.transformer_layer",
    name="beta ignored in both norms",
    why="gamma multiplies, but beta1 and beta2 are not added.",
)
def layer_without_betas(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_without_beta.function))


@misconception(
    of="transformer.transformer_layer",
    name="sample variance with eps outside the root in both norms",
    why="The norms are those of the Annotated Transformer: torch's x.std() divides by d-1, and eps is added to the"
    " standard deviation; the contract has sqrt(var + eps) with the population variance.",
)
def layer_sample_deviation_plus_eps(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_sample_deviation_plus_eps.function))


@misconception(
    of="transformer.transformer_layer",
    name="sample variance with eps = 1e-6 outside the root in both norms",
    why="The norms are those of the Annotated Transformer, its eps = 1e-6 included; the contract has sqrt(var + 1e-5)"
    " with the population variance.",
)
def layer_annotated_transformer(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_annotated_transformer.function))


@misconception(
    of="transformer.transformer_layer",
    name="sample variance in both norms",
    why="The squared deviations are divided by d-1 (ddof=1, torch.var's default); layer norm divides by d.",
)
def layer_sample_variance(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_sample_variance.function))


@misconception(
    of="transformer.transformer_layer",
    name="eps outside the root in both norms",
    why="eps is added to the standard deviation; the contract adds it to the variance, under the root.",
)
def layer_eps_outside(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_eps_outside.function))


@misconception(
    of="transformer.transformer_layer",
    name="eps of 1e-6 in both norms",
    why="1e-6 is the eps of other libraries; the layer's norms have 1e-5, like torch's.",
)
def layer_eps_of_jax(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_default_of_jax.function))


@misconception(
    of="transformer.transformer_layer",
    name="eps of 1e-3 in both norms",
    why="1e-3 is the eps of Keras; the layer's norms have 1e-5, like torch's.",
)
def layer_eps_of_keras(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_default_of_keras.function))


@misconception(
    of="transformer.transformer_layer",
    name="eps missing in both norms",
    why="Nothing is added to the variance; the layer's norms have eps = 1e-5.",
)
def layer_without_eps(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_without_eps.function))


@misconception(
    of="transformer.transformer_layer",
    name="norms over the positions",
    why="Mean and variance run over axis -2, so the positions mix; layer norm takes each position's own, axis -1.",
)
def layer_norms_over_positions(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_over_positions.function))


@misconception(
    of="transformer.transformer_layer",
    name="norms over all axes but the last",
    why="Mean and variance are taken per column over batch and positions: that is batch normalisation.",
)
def layer_batch_norms(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_of_batches.function))


@misconception(
    of="transformer.transformer_layer",
    name="norms over the whole array",
    why="All positions share one mean and one variance; each position has its own.",
)
def layer_norms_of_whole_array(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_of_whole_array.function))


@misconception(
    of="transformer.transformer_layer",
    name="RMS norm in place of layer norm",
    why="No mean is subtracted and the root of the mean square divides: this is RMSNorm.",
)
def layer_rms_norms(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, norms=_both_norms(norm_root_mean_square.function))


@misconception(
    of="transformer.transformer_layer",
    name="no 1/sqrt(d)",
    why="The scores are the plain products of queries and keys; S2 eq. 1 divides them by sqrt(d).",
)
def layer_without_scale(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, attend=_attention_with(lambda _X: 1.0))


@misconception(
    of="transformer.transformer_layer",
    name="scores divided by d",
    why="The scores are divided by d; S2 eq. 1 divides them by sqrt(d).",
)
def layer_scaled_by_d(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, attend=_attention_with(lambda X: 1.0 / float(X.shape[-1])))


@misconception(
    of="transformer.transformer_layer",
    name="scores divided by the root of the length",
    why="The root is taken of the number of positions; d is the width, X.shape[-1].",
)
def layer_scaled_by_length(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, attend=_attention_with(lambda X: float(X.shape[-2] ** -0.5)))


@misconception(
    of="transformer.transformer_layer",
    name="softmax over the queries",
    why="The weights of each key sum to 1; the softmax runs over the keys, the last axis of the scores.",
)
def layer_softmax_over_queries(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, attend=_attention_with(_right_scale, axis=-2))


@misconception(
    of="transformer.transformer_layer",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan: scores in the thousands need the shift by the maximum.",
)
def layer_overflowing(X: Array, params: Params, norm_first: bool = False) -> Any:
    def attend(inputs: Any, p: Params) -> Any:
        scores = (inputs @ p["W_q"]) @ np.swapaxes(inputs @ p["W_k"], -1, -2) * _right_scale(inputs)
        exponentials = np.exp(np.asarray(scores, dtype=np.float64))  # extended precision would hide the overflow
        return exponentials / exponentials.sum(axis=-1, keepdims=True) @ (inputs @ p["W_v"])

    return _layer(X, params, norm_first, attend=attend)


@misconception(
    of="transformer.transformer_layer",
    name="causal mask added",
    why="Later positions are hidden, as in a decoder; this layer has no mask.",
)
def layer_causal(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, attend=_attention_with(_right_scale, mask=attention.causal_mask))


@misconception(
    of="transformer.transformer_layer",
    name="queries and keys swapped",
    why="W_k makes the queries and W_q the keys, so the scores are transposed.",
)
def layer_queries_and_keys_swapped(X: Array, params: Params, norm_first: bool = False) -> Any:
    return right.transformer_layer(X, params | {"W_q": params["W_k"], "W_k": params["W_q"]}, norm_first)


@misconception(
    of="transformer.transformer_layer",
    name="keys from the queries' matrix",
    why="X W_q serves as queries and as keys; the keys are X W_k.",
)
def layer_keys_from_queries(X: Array, params: Params, norm_first: bool = False) -> Any:
    return right.transformer_layer(X, params | {"W_k": params["W_q"]}, norm_first)


@misconception(
    of="transformer.transformer_layer",
    name="values not projected",
    why="The weights are applied to the input itself; the values are X W_v.",
)
def layer_input_as_values(X: Array, params: Params, norm_first: bool = False) -> Any:
    return right.transformer_layer(X, params | {"W_v": np.eye(X.shape[-1])}, norm_first)


@misconception(
    of="transformer.transformer_layer",
    name="matrices transposed",
    why="W_q, W_k and W_v are used as in torch.nn.Linear, x W^T; the contract's matrices act on rows, X W.",
)
def layer_matrices_transposed(X: Array, params: Params, norm_first: bool = False) -> Any:
    return right.transformer_layer(X, params | {name: params[name].T for name in ("W_q", "W_k", "W_v")}, norm_first)


@misconception(
    of="transformer.transformer_layer",
    name="GELU in place of ReLU",
    why="The network uses x Φ(x), as in BERT and GPT; the sheet has max(x, 0).",
)
def layer_gelu(X: Array, params: Params, norm_first: bool = False) -> Any:
    def transform(inputs: Any, p: Params) -> Any:
        return network_gelu.function(inputs, p["W1"], p["b1"], p["W2"], p["b2"])

    return _layer(X, params, norm_first, transform=transform)


@misconception(
    of="transformer.transformer_layer",
    name="no activation in the network",
    why="Without ReLU the network is linear.",
)
def layer_linear_network(X: Array, params: Params, norm_first: bool = False) -> Any:
    def transform(inputs: Any, p: Params) -> Any:
        return network_linear.function(inputs, p["W1"], p["b1"], p["W2"], p["b2"])

    return _layer(X, params, norm_first, transform=transform)


@misconception(
    of="transformer.transformer_layer",
    name="biases of the network missing",
    why="b1 and b2 are not added.",
)
def layer_without_biases(X: Array, params: Params, norm_first: bool = False) -> Any:
    silent = {name: np.zeros_like(params[name]) for name in ("b1", "b2")}
    return right.transformer_layer(X, params | silent, norm_first)


@misconception(
    of="transformer.transformer_layer",
    name="network before attention",
    why="The network comes first and attention second; S2 eq. 5 has attention inside.",
)
def layer_network_first(X: Array, params: Params, norm_first: bool = False) -> Any:
    return _layer(X, params, norm_first, attend=_transform, transform=_attend)


@misconception(
    of="transformer.transformer_layer",
    name="network left out",
    why="The layer ends after the attention's residual and norm; the feed-forward network follows.",
)
def layer_without_network(X: Array, params: Params, norm_first: bool = False) -> Any:
    attended = _first_norm(X, params) if norm_first else X
    return X + _attend(attended, params) if norm_first else _first_norm(_attend(X, params) + X, params)


@misconception(
    of="transformer.transformer_layer",
    name="attention left out",
    why="Only the network, its residual and its norm are there; attention comes first.",
)
def layer_without_attention(X: Array, params: Params, norm_first: bool = False) -> Any:
    return (
        X + _transform(_second_norm(X, params), params)
        if norm_first
        else _second_norm(_transform(X, params) + X, params)
    )


@misconception(
    of="transformer.transformer_layer",
    name="batch of one flattened",
    why="A squeeze removes every axis of size one, also those that belong to the input; the shape must stay.",
)
def layer_squeezed(X: Array, params: Params, norm_first: bool = False) -> Any:
    return np.squeeze(right.transformer_layer(X, params, norm_first))


@misconception(
    of="transformer.transformer_layer",
    name="modifies its input",
    why="`X += …` writes the residual into the caller's array; `X = X + …` makes a new one.",
)
def layer_in_place(X: Array, params: Params, norm_first: bool = False) -> Any:
    result = right.transformer_layer(X, params, norm_first)
    X += _attend(_first_norm(X, params) if norm_first else X, params)
    return result
