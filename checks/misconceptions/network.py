"""Wrong networks: each function computes exactly what one mistake computes.

What is right in it is the reference's, so that a body shows the mistake and little else.
"""
# A misconception has the contract's signature even where the mistake is to ignore an argument
# (ARG001), and so has what it passes on (ARG005).
# ruff: noqa: ARG001, ARG005

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from checks.misconception import misconception
from reference import network as right

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reference.network import Array

    Params = Mapping[str, Array]


def _softmax(x: Any, axis: int | None = -1) -> Any:
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def _overflowing_softmax(x: Any) -> Any:
    """Exponentiate as it is; in float64, because extended precision would hide the overflow."""
    exponentials = np.exp(np.asarray(x, dtype=np.float64))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _sigmoid(z: Any) -> Any:
    return (1 + np.tanh(z / 2)) / 2


def _one_hot(y: Array) -> Any:
    """Return y with all weight on its largest entry."""
    return np.eye(y.shape[-1])[y.argmax(axis=-1)]


def _hidden(X: Array, params: Params) -> Any:
    """Return the hidden layer."""
    return _sigmoid(X @ params["W1"] + params["b1"])


def _logits(X: Array, params: Params) -> Any:
    """Return the logits."""
    return _hidden(X, params) @ params["W2"] + params["b2"]


# softmax_cross_entropy


@misconception(
    of="network.softmax_cross_entropy",
    name="sign lost",
    why="Logarithms of probabilities are negative: without the minus the cost is negative, and lowest where the"
    " prediction is worst.",
)
def cost_sign_lost(theta: Array, y: Array) -> Any:
    return -right.softmax_cross_entropy(theta, y)


@misconception(
    of="network.softmax_cross_entropy",
    name="averaged over the classes",
    why="The mean over the n classes is taken where the sum is asked for, so the cost is n times too small.",
)
def cost_averaged(theta: Array, y: Array) -> Any:
    return right.softmax_cross_entropy(theta, y) / len(theta)


@misconception(
    of="network.softmax_cross_entropy",
    name="log of a sum in place of a sum of logs",
    why="-log(sum_i y_i yhat_i) is the same only for a one-hot y; for any other the logarithm belongs inside the sum.",
)
def cost_log_of_sum(theta: Array, y: Array) -> Any:
    return -np.log((y * _softmax(theta)).sum())


@misconception(
    of="network.softmax_cross_entropy",
    name="softmax forgotten",
    why="The logarithm is taken of the logits themselves, which are no probabilities and may be negative.",
)
def cost_without_softmax(theta: Array, y: Array) -> Any:
    return -(y * np.log(theta)).sum()


@misconception(
    of="network.softmax_cross_entropy",
    name="softmax taken twice",
    why="The probabilities are passed to a cost that takes logits (as torch's CrossEntropyLoss does), so softmax is"
    " applied once more.",
)
def cost_softmax_twice(theta: Array, y: Array) -> Any:
    return right.softmax_cross_entropy(_softmax(theta), y)


@misconception(
    of="network.softmax_cross_entropy",
    name="logarithm to base 2",
    why="The cost is in bits; the sheet's cross-entropy uses the natural logarithm, whose gradient is yhat - y.",
)
def cost_in_bits(theta: Array, y: Array) -> Any:
    return right.softmax_cross_entropy(theta, y) / np.log(2)


@misconception(
    of="network.softmax_cross_entropy",
    name="y taken for one-hot",
    why="Only the class with the largest y counts; y may be any distribution.",
)
def cost_of_one_hot(theta: Array, y: Array) -> Any:
    return right.softmax_cross_entropy(theta, _one_hot(y))


@misconception(
    of="network.softmax_cross_entropy",
    name="arguments swapped",
    why="softmax is applied to y and the logits are the weights: theta comes first, the target second.",
)
def cost_arguments_swapped(theta: Array, y: Array) -> Any:
    return right.softmax_cross_entropy(y, theta)


@misconception(
    of="network.softmax_cross_entropy",
    name="logarithm of the target",
    why="-sum_i yhat_i log y_i has the roles exchanged, and is infinite wherever y is 0.",
)
def cost_log_of_target(theta: Array, y: Array) -> Any:
    return -(_softmax(theta) * np.log(y)).sum()


@misconception(
    of="network.softmax_cross_entropy",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan; subtracting the largest logit first changes nothing else.",
)
def cost_without_maximum(theta: Array, y: Array) -> Any:
    return -(y * np.log(_overflowing_softmax(theta))).sum()


@misconception(
    of="network.softmax_cross_entropy",
    name="logarithm of a softmax that rounds to 0",
    why="The maximum is subtracted, but far below it softmax is 0 in floating point and log 0 is -inf:"
    " theta_i - max - log(sum) needs no such logarithm.",
)
def cost_log_of_zero(theta: Array, y: Array) -> Any:
    return -(y * np.log(_softmax(np.asarray(theta, dtype=np.float64)))).sum()


@misconception(
    of="network.softmax_cross_entropy",
    name="small number added inside the logarithm",
    why="log(yhat + 1e-12) is finite, but no cost can exceed 27.6 with it: far from the target the cost should grow"
    " with the logits.",
)
def cost_with_epsilon(theta: Array, y: Array) -> Any:
    return -(y * np.log(_softmax(theta) + 1e-12)).sum()


@misconception(
    of="network.softmax_cross_entropy",
    name="KL divergence in place of the cross-entropy",
    why="The entropy of y is subtracted (as torch's kl_div does); the two agree for a one-hot y only.",
)
def cost_divergence(theta: Array, y: Array) -> Any:
    own = y[y > 0]
    return right.softmax_cross_entropy(theta, y) + (own * np.log(own)).sum()


@misconception(
    of="network.softmax_cross_entropy",
    name="binary cross-entropy of every class",
    why="(1-y) log(1-yhat) is added: that is for classes which do not exclude each other.",
)
def cost_binary(theta: Array, y: Array) -> Any:
    rest = 1 - _softmax(theta)
    return right.softmax_cross_entropy(theta, y) - ((1 - y) * np.log(np.where(y == 1, 1, rest))).sum()


@misconception(
    of="network.softmax_cross_entropy",
    name="squared error in place of the cross-entropy",
    why="sum_i (yhat_i - y_i)² is another loss, and its gradient is not yhat - y.",
)
def cost_squared(theta: Array, y: Array) -> Any:
    return ((_softmax(theta) - y) ** 2).sum()


@misconception(
    of="network.softmax_cross_entropy",
    name="terms not summed",
    why="One number per class comes back; the cost is their sum.",
)
def cost_not_summed(theta: Array, y: Array) -> Any:
    return -y * np.log(_softmax(theta))


@misconception(
    of="network.softmax_cross_entropy",
    name="modifies its input",
    why="`theta -= theta.max()` writes into the caller's array; `theta = theta - ...` makes a new one.",
)
def cost_in_place(theta: Array, y: Array) -> Any:
    theta -= theta.max() + 1  # + 1: also where the largest logit is 0
    return right.softmax_cross_entropy(theta, y)


# softmax_cross_entropy_gradient


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="sign lost",
    why="y - yhat is the direction of descent; the gradient is yhat - y.",
)
def gradient_sign_lost(theta: Array, y: Array) -> Any:
    return y - _softmax(theta)


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="target forgotten",
    why="The prediction itself comes back; the target must be subtracted.",
)
def gradient_without_target(theta: Array, y: Array) -> Any:
    return _softmax(theta)


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="averaged over the classes",
    why="The gradient is divided by the number of classes; the cost is a sum over them.",
)
def gradient_averaged(theta: Array, y: Array) -> Any:
    return (_softmax(theta) - y) / len(theta)


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="sum over j dropped",
    why="theta_i changes every yhat_j, not only yhat_i: dCE/dyhat_i · dyhat_i/dtheta_i alone gives y_i (yhat_i - 1)"
    " (the first line of the sheet S4.1a has this gap).",
)
def gradient_sum_dropped(theta: Array, y: Array) -> Any:
    return y * (_softmax(theta) - 1)


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="softmax differentiated once too often",
    why="yhat - y contains the derivative of softmax already; the factor yhat (1 - yhat) comes on top.",
)
def gradient_differentiated_twice(theta: Array, y: Array) -> Any:
    prediction = _softmax(theta)
    return (prediction - y) * prediction * (1 - prediction)


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="gradient with respect to yhat",
    why="-y/yhat is dCE/dyhat; the chain rule has to go on through the softmax to theta.",
)
def gradient_at_prediction(theta: Array, y: Array) -> Any:
    return -y / _softmax(theta)


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="softmax forgotten",
    why="theta - y compares logits with probabilities: yhat is the softmax of theta.",
)
def gradient_without_softmax(theta: Array, y: Array) -> Any:
    return theta - y


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="softmax taken twice",
    why="softmax is applied to what is a softmax already; theta holds the logits.",
)
def gradient_softmax_twice(theta: Array, y: Array) -> Any:
    return _softmax(_softmax(theta)) - y


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="sigmoid in place of softmax",
    why="Each logit is squashed on its own, so the entries do not sum to 0.",
)
def gradient_of_sigmoid(theta: Array, y: Array) -> Any:
    return _sigmoid(theta) - y


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="y taken for one-hot",
    why="1 is subtracted at the class with the largest y and nothing elsewhere; y may be any distribution.",
)
def gradient_of_one_hot(theta: Array, y: Array) -> Any:
    return _softmax(theta) - _one_hot(y)


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan; subtracting the largest logit first changes nothing else.",
)
def gradient_without_maximum(theta: Array, y: Array) -> Any:
    return _overflowing_softmax(theta) - y


@misconception(
    of="network.softmax_cross_entropy_gradient",
    name="modifies its input",
    why="`theta -= theta.max()` writes into the caller's array; `theta = theta - ...` makes a new one.",
)
def gradient_in_place(theta: Array, y: Array) -> Any:
    theta -= theta.max() + 1  # + 1: also where the largest logit is 0
    return _softmax(theta) - y


# forward


@misconception(
    of="network.forward",
    name="softmax over the batch",
    why="The softmax runs over axis 0, so columns sum to 1 where each sample's row should.",
)
def forward_softmax_over_batch(X: Array, params: Params) -> Any:
    return _softmax(_logits(X, params), axis=0)


@misconception(
    of="network.forward",
    name="softmax of the whole batch",
    why="The sum runs over every entry (no axis is given to it), so the batch together sums to 1.",
)
def forward_softmax_of_everything(X: Array, params: Params) -> Any:
    return _softmax(_logits(X, params), axis=None)


@misconception(
    of="network.forward",
    name="tanh in place of the sigmoid",
    why="The hidden units lie in (-1, 1); the sheet's hidden layer is a sigmoid, in (0, 1).",
)
def forward_tanh(X: Array, params: Params) -> Any:
    return _softmax(np.tanh(X @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"])


@misconception(
    of="network.forward",
    name="ReLU in place of the sigmoid",
    why="Hidden units are cut off at 0 and not squashed; the sheet's hidden layer is a sigmoid.",
)
def forward_relu(X: Array, params: Params) -> Any:
    return _softmax(np.maximum(X @ params["W1"] + params["b1"], 0) @ params["W2"] + params["b2"])


@misconception(
    of="network.forward",
    name="hidden activation forgotten",
    why="Without the sigmoid the two layers are one linear map.",
)
def forward_linear(X: Array, params: Params) -> Any:
    return _softmax((X @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"])


@misconception(
    of="network.forward",
    name="sigmoid in place of the softmax",
    why="Each class is squashed on its own, so a row does not sum to 1.",
)
def forward_sigmoid_output(X: Array, params: Params) -> Any:
    return _sigmoid(_logits(X, params))


@misconception(
    of="network.forward",
    name="sigmoid before the softmax",
    why="The output layer's logits are squashed by a sigmoid first; only the hidden layer has one.",
)
def forward_sigmoid_twice(X: Array, params: Params) -> Any:
    return _softmax(_sigmoid(_logits(X, params)))


@misconception(
    of="network.forward",
    name="logits returned",
    why="The softmax is missing: these are the scores before it.",
)
def forward_logits(X: Array, params: Params) -> Any:
    return _logits(X, params)


@misconception(
    of="network.forward",
    name="log-probabilities returned",
    why="This is log yhat (torch's log_softmax), which the cost wants; here the probabilities are asked for.",
)
def forward_logarithm(X: Array, params: Params) -> Any:
    return np.log(right.forward(X, params))


@misconception(
    of="network.forward",
    name="hidden bias forgotten",
    why="b1 is not added to X W1.",
)
def forward_without_b1(X: Array, params: Params) -> Any:
    return _softmax(_sigmoid(X @ params["W1"]) @ params["W2"] + params["b2"])


@misconception(
    of="network.forward",
    name="output bias forgotten",
    why="b2 is not added to h W2.",
)
def forward_without_b2(X: Array, params: Params) -> Any:
    return _softmax(_hidden(X, params) @ params["W2"])


@misconception(
    of="network.forward",
    name="both biases forgotten",
    why="Neither b1 nor b2 is added; with biases that start at 0 this does not show.",
)
def forward_without_biases(X: Array, params: Params) -> Any:
    return _softmax(_sigmoid(X @ params["W1"]) @ params["W2"])


@misconception(
    of="network.forward",
    name="hidden bias added after the sigmoid",
    why="b1 belongs inside: h = sigmoid(X W1 + b1).",
)
def forward_b1_outside(X: Array, params: Params) -> Any:
    return _softmax((_sigmoid(X @ params["W1"]) + params["b1"]) @ params["W2"] + params["b2"])


@misconception(
    of="network.forward",
    name="one bias for the whole hidden layer",
    why="b1[0, 0] is added to every hidden unit; each unit has a bias of its own.",
)
def forward_b1_of_first(X: Array, params: Params) -> Any:
    return right.forward(X, {**params, "b1": np.full_like(params["b1"], params["b1"][0, 0])})


@misconception(
    of="network.forward",
    name="output bias added after the softmax",
    why="b2 belongs inside: yhat = softmax(h W2 + b2). Outside, a row does not sum to 1.",
)
def forward_b2_outside(X: Array, params: Params) -> Any:
    return _softmax(_hidden(X, params) @ params["W2"]) + params["b2"]


@misconception(
    of="network.forward",
    name="class with the largest probability returned",
    why="Each row is 1 at its best class and 0 elsewhere: that is the decision, not the prediction.",
)
def forward_hard(X: Array, params: Params) -> Any:
    return _one_hot(_logits(X, params))


@misconception(
    of="network.forward",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan; subtracting each row's largest logit changes nothing else.",
)
def forward_without_maximum(X: Array, params: Params) -> Any:
    return _overflowing_softmax(_logits(X, params))


@misconception(
    of="network.forward",
    name="maximum of the whole batch subtracted",
    why="One maximum for all rows leaves a row far below it with exp = 0 throughout, and 0/0 is nan;"
    " each row needs its own.",
)
def forward_global_maximum(X: Array, params: Params) -> Any:
    logits = np.asarray(_logits(X, params), dtype=np.float64)
    return _overflowing_softmax(logits - logits.max())


@misconception(
    of="network.forward",
    name="sigmoid as exp(z) / (1 + exp(z))",
    why="For large z both are inf and inf/inf is nan; 1 / (1 + exp(-z)) is the same and tends to 1.",
)
def forward_overflowing_sigmoid(X: Array, params: Params) -> Any:
    powers = np.exp(np.asarray(X @ params["W1"] + params["b1"], dtype=np.float64))
    return _softmax(powers / (1 + powers) @ params["W2"] + params["b2"])


@misconception(
    of="network.forward",
    name="modifies its parameters",
    why="The biases are reshaped and stored back into `params`, which belongs to the caller.",
)
def forward_in_place(X: Array, params: dict[str, Array]) -> Any:
    prediction = right.forward(X, params)
    params["b1"], params["b2"] = params["b1"].ravel(), params["b2"].ravel()
    return prediction


# forward_backward


def _slope_of_sigmoid(z: Any, h: Any) -> Any:
    return h * (1 - h)


def _backward(
    X: Array,
    Y: Array,
    params: Params,
    *,
    slope: Callable[[Any, Any], Any] = _slope_of_sigmoid,
    at_logits: Callable[[Any, Any], Any] = np.subtract,
) -> dict[str, Any]:
    """Return the mean gradients; `slope` is what the sigmoid's derivative is taken to be, given z and h."""
    z = X @ params["W1"] + params["b1"]
    h = _sigmoid(z)
    D2 = at_logits(right.forward(X, params), Y) / len(X)
    D1 = (D2 @ params["W2"].T) * slope(z, h)
    return {
        "W1": X.T @ D1,
        "b1": D1.sum(axis=0, keepdims=True),
        "W2": h.T @ D2,
        "b2": D2.sum(axis=0, keepdims=True),
    }


def _cost(X: Array, Y: Array, params: Params) -> Any:
    return right.forward_backward(X, Y, params)[0]


def _times(gradients: Mapping[str, Any], factor: float) -> dict[str, Any]:
    return {key: factor * gradient for key, gradient in gradients.items()}


@misconception(
    of="network.forward_backward",
    name="summed where the mean is asked",
    why="Cost and gradients are sums over the batch, as in older courses; the contract asks for the mean.",
)
def backward_summed(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost * len(X), _times(gradients, len(X))


@misconception(
    of="network.forward_backward",
    name="cost summed over the batch",
    why="The gradients are those of the mean, but the cost is the sum over the samples.",
)
def backward_cost_summed(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost * len(X), gradients


@misconception(
    of="network.forward_backward",
    name="gradients summed over the batch",
    why="The cost is the mean, but the gradients are not divided by the number of samples.",
)
def backward_gradients_summed(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost, _times(gradients, len(X))


@misconception(
    of="network.forward_backward",
    name="gradients divided by the batch twice",
    why="yhat - Y is divided by the number of samples, and the products and sums made of it once more.",
)
def backward_divided_twice(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost, _times(gradients, 1 / len(X))


@misconception(
    of="network.forward_backward",
    name="cost averaged over the classes as well",
    why="The mean over all entries of Y log yhat also divides by the number of classes; sum over those.",
)
def backward_cost_over_classes(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost / Y.shape[1], gradients


@misconception(
    of="network.forward_backward",
    name="sigmoid derivative taken at the pre-activation",
    why="z (1 - z) is computed: the formula s (1 - s) wants the output h = sigmoid(z).",
)
def backward_slope_at_pre_activation(X: Array, Y: Array, params: Params) -> Any:
    return _cost(X, Y, params), _backward(X, Y, params, slope=lambda z, h: z * (1 - z))


@misconception(
    of="network.forward_backward",
    name="sigmoid applied to its own output",
    why="The derivative is taken at h, so the sigmoid is applied twice: sigma(h) (1 - sigma(h)).",
)
def backward_slope_at_hidden(X: Array, Y: Array, params: Params) -> Any:
    return _cost(X, Y, params), _backward(X, Y, params, slope=lambda z, h: _sigmoid(h) * (1 - _sigmoid(h)))


@misconception(
    of="network.forward_backward",
    name="(1-h) dropped",
    why="The sigmoid's derivative is h (1 - h); here only h is left of it.",
)
def backward_slope_h(X: Array, Y: Array, params: Params) -> Any:
    return _cost(X, Y, params), _backward(X, Y, params, slope=lambda z, h: h)


@misconception(
    of="network.forward_backward",
    name="h dropped",
    why="The sigmoid's derivative is h (1 - h); here only 1 - h is left of it.",
)
def backward_slope_rest(X: Array, Y: Array, params: Params) -> Any:
    return _cost(X, Y, params), _backward(X, Y, params, slope=lambda z, h: 1 - h)


@misconception(
    of="network.forward_backward",
    name="tanh derivative in place of sigmoid's",
    why="1 - h² is the derivative of tanh; the hidden layer is a sigmoid, whose derivative is h (1 - h).",
)
def backward_slope_of_tanh(X: Array, Y: Array, params: Params) -> Any:
    return _cost(X, Y, params), _backward(X, Y, params, slope=lambda z, h: 1 - h * h)


@misconception(
    of="network.forward_backward",
    name="sigmoid derivative forgotten",
    why="The gradient passes the hidden layer as if it were linear.",
)
def backward_without_slope(X: Array, Y: Array, params: Params) -> Any:
    return _cost(X, Y, params), _backward(X, Y, params, slope=lambda z, h: 1)


@misconception(
    of="network.forward_backward",
    name="upstream gradient dropped",
    why="At the hidden layer only the sigmoid's derivative is used; it must multiply what comes back through W2.",
)
def backward_without_upstream(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    h = _hidden(X, params)
    D1 = h * (1 - h) / len(X)
    return cost, {**gradients, "W1": X.T @ D1, "b1": D1.sum(axis=0, keepdims=True)}


@misconception(
    of="network.forward_backward",
    name="softmax differentiated once too often",
    why="yhat - Y contains the derivative of softmax already; the factor yhat (1 - yhat) comes on top.",
)
def backward_softmax_slope(X: Array, Y: Array, params: Params) -> Any:
    return _cost(X, Y, params), _backward(X, Y, params, at_logits=lambda p, y: (p - y) * p * (1 - p))


@misconception(
    of="network.forward_backward",
    name="sum over j dropped",
    why="A logit changes every class' probability: Y (yhat - 1) keeps the change of its own only.",
)
def backward_sum_dropped(X: Array, Y: Array, params: Params) -> Any:
    return _cost(X, Y, params), _backward(X, Y, params, at_logits=lambda p, y: y * (p - 1))


@misconception(
    of="network.forward_backward",
    name="gradients' sign lost",
    why="Y - yhat is the direction of descent; the gradients start from yhat - Y.",
)
def backward_gradients_negative(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost, _times(gradients, -1)


@misconception(
    of="network.forward_backward",
    name="cost's sign lost",
    why="Logarithms of probabilities are negative: the minus in front of the cost is missing.",
)
def backward_cost_negative(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return -cost, gradients


@misconception(
    of="network.forward_backward",
    name="sign lost in cost and gradients",
    why="The log-likelihood and its gradients come back: right for ascent, but the cost is its negative.",
)
def backward_all_negative(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return -cost, _times(gradients, -1)


@misconception(
    of="network.forward_backward",
    name="bias gradients not summed over the batch",
    why="They have one row per sample; b1 and b2 are shared by all samples, so their gradients are sums.",
)
def backward_biases_not_summed(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    h = _hidden(X, params)
    D2 = (right.forward(X, params) - Y) / len(X)
    return cost, {**gradients, "b1": (D2 @ params["W2"].T) * h * (1 - h), "b2": D2}


@misconception(
    of="network.forward_backward",
    name="bias gradients averaged twice",
    why="The gradient at the logits is divided by the number of samples already; the biases take the mean once more.",
)
def backward_biases_averaged(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost, {**gradients, "b1": gradients["b1"] / len(X), "b2": gradients["b2"] / len(X)}


@misconception(
    of="network.forward_backward",
    name="bias gradients summed where the mean is asked",
    why="The weights' gradients are divided by the number of samples, the biases' are not.",
)
def backward_biases_summed(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost, {**gradients, "b1": gradients["b1"] * len(X), "b2": gradients["b2"] * len(X)}


@misconception(
    of="network.forward_backward",
    name="bias gradients returned as 1-d",
    why="sum(axis=0) drops the axis; b1 and b2 are (1, Dh) and (1, Dy), and a gradient has its parameter's shape.",
)
def backward_biases_flat(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost, {**gradients, "b1": gradients["b1"][0], "b2": gradients["b2"][0]}


@misconception(
    of="network.forward_backward",
    name="log of a sum in place of a sum of logs",
    why="The probabilities are added up before the logarithm is taken; the cost is a sum of logarithms.",
)
def backward_cost_log_of_sum(X: Array, Y: Array, params: Params) -> Any:
    _, gradients = right.forward_backward(X, Y, params)
    return -np.log((Y * right.forward(X, params)).sum()) / len(X), gradients


@misconception(
    of="network.forward_backward",
    name="log of the mean in place of the mean of logs",
    why="The probabilities of the targets are averaged over the batch first, and the logarithm taken of that mean.",
)
def backward_cost_log_of_mean(X: Array, Y: Array, params: Params) -> Any:
    _, gradients = right.forward_backward(X, Y, params)
    return -np.log((Y * right.forward(X, params)).sum() / len(X)), gradients


@misconception(
    of="network.forward_backward",
    name="log of each sample's sum",
    why="-log(sum_i Y_i yhat_i) per sample is the same only for one-hot targets.",
)
def backward_cost_log_per_sample(X: Array, Y: Array, params: Params) -> Any:
    _, gradients = right.forward_backward(X, Y, params)
    return -np.log((Y * right.forward(X, params)).sum(axis=1)).mean(), gradients


@misconception(
    of="network.forward_backward",
    name="only the last sample counted in the cost",
    why="The cost is overwritten in the loop over the samples where it should be added up.",
)
def backward_cost_of_last(X: Array, Y: Array, params: Params) -> Any:
    _, gradients = right.forward_backward(X, Y, params)
    return _cost(X[-1:], Y[-1:], params) / len(X), gradients


@misconception(
    of="network.forward_backward",
    name="cost of the last sample alone",
    why="The cost is that of the last sample; it should be the mean over all of them.",
)
def backward_cost_of_last_alone(X: Array, Y: Array, params: Params) -> Any:
    _, gradients = right.forward_backward(X, Y, params)
    return _cost(X[-1:], Y[-1:], params), gradients


@misconception(
    of="network.forward_backward",
    name="only the last sample counted",
    why="Cost and gradients are those of the last sample; they should be means over all of them.",
)
def backward_of_last(X: Array, Y: Array, params: Params) -> Any:
    return right.forward_backward(X[-1:], Y[-1:], params)


@misconception(
    of="network.forward_backward",
    name="cost in bits",
    why="The cost uses log2; the gradients belong to the natural logarithm.",
)
def backward_cost_in_bits(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost / np.log(2), gradients


@misconception(
    of="network.forward_backward",
    name="Y taken for one-hot",
    why="Only the class with the largest Y of each sample counts; a target may be any distribution.",
)
def backward_of_one_hot(X: Array, Y: Array, params: Params) -> Any:
    return right.forward_backward(X, _one_hot(Y), params)


@misconception(
    of="network.forward_backward",
    name="W2 gradient from the pre-activation",
    why="The gradient of W2 is h^T (yhat - Y); here X W1 + b1 stands in place of h = sigmoid(X W1 + b1).",
)
def backward_output_weights_from_pre_activation(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    D2 = (right.forward(X, params) - Y) / len(X)
    return cost, {**gradients, "W2": (X @ params["W1"] + params["b1"]).T @ D2}


@misconception(
    of="network.forward_backward",
    name="sigmoid derivative applied to W2's gradient",
    why="W2 sees h itself: its gradient is h^T (yhat - Y), without the factor 1 - h.",
)
def backward_output_weights_with_slope(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    h = _hidden(X, params)
    D2 = (right.forward(X, params) - Y) / len(X)
    return cost, {**gradients, "W2": (h * (1 - h)).T @ D2}


@misconception(
    of="network.forward_backward",
    name="gradients left transposed",
    why="The gradients of W1 and W2 come back as (Dh, Dx) and (Dy, Dh); a gradient has its parameter's shape.",
)
def backward_transposed(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    return cost, {**gradients, "W1": gradients["W1"].T, "W2": gradients["W2"].T}


@misconception(
    of="network.forward_backward",
    name="gradients and cost in the wrong order",
    why="The gradients come first; the contract returns the cost, then the gradients.",
)
def backward_swapped_results(X: Array, Y: Array, params: Params) -> Any:
    return right.forward_backward(X, Y, params)[::-1]


@misconception(
    of="network.forward_backward",
    name="parameters updated in place",
    why="A step of gradient descent is taken inside; the function returns gradients and leaves `params` alone.",
)
def backward_updates(X: Array, Y: Array, params: Params) -> Any:
    cost, gradients = right.forward_backward(X, Y, params)
    for key, gradient in gradients.items():
        array = params[key]
        array -= 0.1 * gradient
    return cost, gradients


@misconception(
    of="network.forward_backward",
    name="cost not finite at saturated logits",
    why="softmax is 0 in floating point far below the largest logit, and log 0 is -inf; the rest is right.",
)
def backward_cost_log_of_zero(X: Array, Y: Array, params: Params) -> Any:
    _, gradients = right.forward_backward(X, Y, params)
    prediction = _softmax(np.asarray(_logits(X, params), dtype=np.float64))
    return -(Y * np.log(prediction)).sum() / len(X), gradients


@misconception(
    of="network.forward_backward",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan; subtracting each row's largest logit changes nothing else.",
)
def backward_without_maximum(X: Array, Y: Array, params: Params) -> Any:
    prediction = _overflowing_softmax(_logits(X, params))
    gradients = _backward(X, Y, params, at_logits=lambda _, y: prediction - y)
    return -(Y * np.log(prediction)).sum() / len(X), gradients


# input_gradient


def _input_gradient(x: Array, y: Array, params: Params, slope: Callable[[Any, Any], Any]) -> Any:
    """Return dJ/dx; `slope` is what the sigmoid's derivative is taken to be, given z and h."""
    z = x @ params["W1"] + params["b1"]
    return ((right.forward(x, params) - y) @ params["W2"].T * slope(z, _sigmoid(z))) @ params["W1"].T


@misconception(
    of="network.input_gradient",
    name="sigmoid derivative taken at the pre-activation",
    why="z (1 - z) is computed: the formula s (1 - s) wants the output h = sigmoid(z).",
)
def input_slope_at_pre_activation(x: Array, y: Array, params: Params) -> Any:
    return _input_gradient(x, y, params, lambda z, h: z * (1 - z))


@misconception(
    of="network.input_gradient",
    name="sigmoid applied to its own output",
    why="The derivative is taken at h, so the sigmoid is applied twice: sigma(h) (1 - sigma(h)).",
)
def input_slope_at_hidden(x: Array, y: Array, params: Params) -> Any:
    return _input_gradient(x, y, params, lambda z, h: _sigmoid(h) * (1 - _sigmoid(h)))


@misconception(
    of="network.input_gradient",
    name="(1-h) dropped",
    why="The sigmoid's derivative is h (1 - h); here only h is left of it.",
)
def input_slope_h(x: Array, y: Array, params: Params) -> Any:
    return _input_gradient(x, y, params, lambda z, h: h)


@misconception(
    of="network.input_gradient",
    name="h dropped",
    why="The sigmoid's derivative is h (1 - h); here only 1 - h is left of it.",
)
def input_slope_rest(x: Array, y: Array, params: Params) -> Any:
    return _input_gradient(x, y, params, lambda z, h: 1 - h)


@misconception(
    of="network.input_gradient",
    name="tanh derivative in place of sigmoid's",
    why="1 - h² is the derivative of tanh; the hidden layer is a sigmoid, whose derivative is h (1 - h).",
)
def input_slope_of_tanh(x: Array, y: Array, params: Params) -> Any:
    return _input_gradient(x, y, params, lambda z, h: 1 - h * h)


@misconception(
    of="network.input_gradient",
    name="sigmoid derivative forgotten",
    why="The gradient passes the hidden layer as if it were linear.",
)
def input_without_slope(x: Array, y: Array, params: Params) -> Any:
    return _input_gradient(x, y, params, lambda z, h: 1)


@misconception(
    of="network.input_gradient",
    name="sigmoid derivative taken twice",
    why="The factor h (1 - h) is applied both at h and at the pre-activation; it belongs there once.",
)
def input_slope_twice(x: Array, y: Array, params: Params) -> Any:
    return _input_gradient(x, y, params, lambda z, h: (h * (1 - h)) ** 2)


@misconception(
    of="network.input_gradient",
    name="sign lost",
    why="y - yhat is the direction of descent; the gradient starts from yhat - y.",
)
def input_negative(x: Array, y: Array, params: Params) -> Any:
    return -right.input_gradient(x, y, params)


@misconception(
    of="network.input_gradient",
    name="target forgotten",
    why="The prediction itself is sent back; the target must be subtracted from it.",
)
def input_without_target(x: Array, y: Array, params: Params) -> Any:
    return right.input_gradient(x, 0 * y, params)


@misconception(
    of="network.input_gradient",
    name="upstream gradient dropped",
    why="Only the sigmoid's derivative is sent back through W1; it must multiply what comes through W2.",
)
def input_without_upstream(x: Array, y: Array, params: Params) -> Any:
    h = _hidden(x, params)
    return (h * (1 - h)) @ params["W1"].T


@misconception(
    of="network.input_gradient",
    name="gradient at the hidden layer",
    why="The last factor W1^T is missing: this has one entry per hidden unit, not per input.",
)
def input_at_hidden(x: Array, y: Array, params: Params) -> Any:
    h = _hidden(x, params)
    return (right.forward(x, params) - y) @ params["W2"].T * h * (1 - h)


@misconception(
    of="network.input_gradient",
    name="gradient of W1",
    why="This is dJ/dW1 = x^T D1; the gradient with respect to x is D1 W1^T.",
)
def input_of_weights(x: Array, y: Array, params: Params) -> Any:
    return right.forward_backward(x, y, params)[1]["W1"]


@misconception(
    of="network.input_gradient",
    name="softmax differentiated once too often",
    why="yhat - y contains the derivative of softmax already; the factor yhat (1 - yhat) comes on top.",
)
def input_softmax_slope(x: Array, y: Array, params: Params) -> Any:
    p = right.forward(x, params)
    return right.input_gradient(x, p - (p - y) * p * (1 - p), params)


@misconception(
    of="network.input_gradient",
    name="sum over j dropped",
    why="A logit changes every class' probability: y (yhat - 1) keeps the change of its own only.",
)
def input_sum_dropped(x: Array, y: Array, params: Params) -> Any:
    p = right.forward(x, params)
    return right.input_gradient(x, p - y * (p - 1), params)


@misconception(
    of="network.input_gradient",
    name="divided by the number of classes",
    why="The cost is a sum over the classes, not a mean.",
)
def input_averaged(x: Array, y: Array, params: Params) -> Any:
    return right.input_gradient(x, y, params) / y.size


@misconception(
    of="network.input_gradient",
    name="biases forgotten",
    why="h and yhat are computed without b1 and b2; with biases that start at 0 this does not show.",
)
def input_without_biases(x: Array, y: Array, params: Params) -> Any:
    return right.input_gradient(x, y, {**params, "b1": 0 * params["b1"], "b2": 0 * params["b2"]})


@misconception(
    of="network.input_gradient",
    name="y taken for one-hot",
    why="1 is subtracted at the class with the largest y and nothing elsewhere; y may be any distribution.",
)
def input_of_one_hot(x: Array, y: Array, params: Params) -> Any:
    return right.input_gradient(x, _one_hot(y), params)


@misconception(
    of="network.input_gradient",
    name="result returned as 1-d",
    why="x is (1, Dx), and the gradient has the shape of x: flattening loses the axis of the batch.",
)
def input_flat(x: Array, y: Array, params: Params) -> Any:
    return right.input_gradient(x, y, params).ravel()


@misconception(
    of="network.input_gradient",
    name="no maximum subtracted",
    why="exp overflows beyond 709 and inf/inf is nan; subtracting the largest logit changes nothing else.",
)
def input_without_maximum(x: Array, y: Array, params: Params) -> Any:
    p = _overflowing_softmax(_logits(x, params))
    h = _hidden(x, params)
    return ((p - y) @ params["W2"].T * h * (1 - h)) @ params["W1"].T
