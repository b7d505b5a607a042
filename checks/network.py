"""What every right network.py does.

Batch, input, hidden and output sizes are pairwise different, biases are not zero, weights
have both signs, targets are one-hot or spread out. Ordinary logits stay small: a cost that
overflows belongs to the checks of extreme values.
"""

from __future__ import annotations

import dataclasses
import math
from itertools import accumulate
from typing import Any

import numpy as np
from hypothesis import strategies as st

from checks import distributions, inputs
from checks.check import Check, Property, check, given
from checks.expect import SINGLE, Expected, call, expect, expect_close, expect_finite
from checks.inputs import Array, Draw
from checks.standard import agreement, unmodified

SLACK = 1e-4
quietly = np.errstate(all="ignore")  # arithmetic on what a student returned: inf - inf is no error of ours
STEP = 2.0**-4  # of a difference quotient of fourth order: its own error stays below 1e-5 on the directions drawn
SATURATED = 16.0  # with two to five inputs of ±1 the sigmoid sees 30 to 82: flat, and exp does not overflow in float32

IN_PLACE_OF_ZERO = np.array([1.0, -1.0, 0.5, 2.0, -0.5, 1.5, -2.0])  # seven: no size divides it, so rows differ

Params = dict[str, Array]

# A prediction is the exponential of a logarithm, or a quotient, near 1 where the network is sure. Its rounding, 2^-24,
# is all that is left in a cost or in yhat - y that should be nearly 0, and no perturbation of the input shows it.
FLOOR = 16 * SINGLE  # 1e-6, with the few weights it is multiplied by


def _floored(want: Any) -> Any:
    """Return what the truth expects with margins of at least FLOOR."""
    if isinstance(want, Expected):
        return Expected(want.value, want.margin + FLOOR)
    if isinstance(want, dict):
        return {key: _floored(part) for key, part in want.items()}
    return tuple(_floored(part) for part in want)


class _Floored:
    """The truth, with margins of at least FLOOR."""

    def __init__(self, truth: Any) -> None:
        self._truth = truth

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: _floored(getattr(self._truth, name)(*arguments))


def _with_floor(exact: Check) -> Check:
    """Return the check with margins of at least FLOOR."""

    def body(truth: Any, **others: Any) -> None:
        exact.body(truth=_Floored(truth), **others)

    return dataclasses.replace(exact, law=Property(body, exact.strategies))


# --------------------------------------------------------------- softmax cross-entropy


@st.composite
def targets(draw: Draw, size: int) -> Array:
    """Draw a target: one-hot, a distribution with zeros, or one without."""
    kinds = [distributions.one_hot, distributions.any_distribution, distributions.positive]
    y: Array = draw(draw(st.sampled_from(kinds))(size))
    return y


@st.composite
def logits_and_target(draw: Draw) -> tuple[Array, Array]:
    size = draw(st.sampled_from([1, 2, 3, 5]))
    return draw(inputs.grid((size,), limit=4)), draw(targets(size))


@st.composite
def several_logits(draw: Draw) -> tuple[Array, Array]:
    size = draw(st.sampled_from([2, 3, 4, 5]))
    return draw(inputs.grid((size,), limit=4)), draw(targets(size))


@st.composite
def logits_target_and_shift(draw: Draw) -> tuple[Array, Array, float]:
    return (*draw(several_logits()), float(draw(inputs.grid((1,), limit=32))[0]))


@st.composite
def logits_target_and_order(draw: Draw) -> tuple[Array, Array, Array]:
    theta, y = draw(several_logits())
    return theta, y, draw(inputs.orders(len(theta)))


@st.composite
def logits_target_and_place(draw: Draw) -> tuple[Array, Array, int]:
    theta, y = draw(several_logits())
    return theta, y, draw(st.integers(0, len(theta) - 1))


@st.composite
def logits_and_two_targets(draw: Draw) -> tuple[Array, Array, Array]:
    theta, y = draw(several_logits())
    return theta, y, draw(targets(len(theta)))


@st.composite
def logits_and_positive_target(draw: Draw) -> tuple[Array, Array]:
    size = draw(st.sampled_from([2, 3, 4, 5]))
    return draw(inputs.grid((size,), limit=4)), draw(distributions.positive(size))


@st.composite
def spread_logits_and_class(draw: Draw) -> tuple[Array, Array]:
    """Draw logits that lie thousands apart, all different, and a one-hot target."""
    size = draw(st.sampled_from([2, 3, 4]))
    levels = draw(inputs.orders(size)) - draw(st.integers(0, size))
    return 2048.0 * levels, draw(distributions.one_hot(size))


softmax_cross_entropy_agrees = _with_floor(
    agreement(
        of="network.softmax_cross_entropy",
        arguments=logits_and_target(),
        claim="CE = -sum_i y_i log yhat_i with yhat = softmax(theta) and the natural logarithm.",
        hint="theta holds logits, not probabilities, and y need not be one-hot. Write out two classes by hand.",
    )
)

softmax_cross_entropy_leaves_arguments_alone = unmodified(
    of="network.softmax_cross_entropy", arguments=logits_and_target()
)


@check(
    of="network.softmax_cross_entropy",
    claim="Adding one number to every logit leaves the cost unchanged.",
    hint="softmax does not notice such a shift. Is it applied to theta, before the logarithm?",
)
@given(case=logits_target_and_shift())
def cost_is_shift_invariant(softmax_cross_entropy: Any, case: tuple[Array, Array, float]) -> None:
    theta, y, shift = case
    about = call("softmax_cross_entropy", theta + shift, y)
    expect_close(
        about, got=softmax_cross_entropy(theta + shift, y), want=softmax_cross_entropy(theta, y), scale=32.0,
        same_as=call("softmax_cross_entropy", theta, y),
    )  # fmt: skip


@check(
    of="network.softmax_cross_entropy",
    claim="Reordering the classes in theta and y together leaves the cost unchanged.",
    hint="No class is special: not the first, and not the last.",
)
@given(case=logits_target_and_order())
def classes_have_no_order(softmax_cross_entropy: Any, case: tuple[Array, Array, Array]) -> None:
    theta, y, order = case
    about = call("softmax_cross_entropy", theta[order], y[order])
    expect_close(
        about, got=softmax_cross_entropy(theta[order], y[order]), want=softmax_cross_entropy(theta, y), scale=8.0,
        same_as=call("softmax_cross_entropy", theta, y),
    )  # fmt: skip


@check(
    of="network.softmax_cross_entropy",
    claim="Equal logits cost ln n, whatever the target is.",
    hint="Every class has the probability 1/n then. Is it the natural logarithm, with a minus, summed and not"
    " averaged?",
)
@given(case=several_logits())
def equal_logits_cost_log_of_their_number(softmax_cross_entropy: Any, case: tuple[Array, Array]) -> None:
    theta, y = np.full_like(case[0], case[0][0]), case[1]
    about = call("softmax_cross_entropy", theta, y)
    expect_close(about, got=softmax_cross_entropy(theta, y), want=math.log(len(theta)), scale=4.0)


@check(
    of="network.softmax_cross_entropy",
    claim="It is linear in y: the cost for the average of two targets is the average of their costs.",
    hint="y appears once, as a weight outside the logarithm. A sum of logarithms is no logarithm of a sum.",
)
@given(case=logits_and_two_targets())
@quietly
def cost_is_linear_in_the_target(softmax_cross_entropy: Any, case: tuple[Array, Array, Array]) -> None:
    theta, first, second = case
    middle = (first + second) / 2
    average = (softmax_cross_entropy(theta, first) + softmax_cross_entropy(theta, second)) / 2
    about = call("softmax_cross_entropy", theta, middle)
    expect_close(about, got=softmax_cross_entropy(theta, middle), want=average, scale=8.0,
                 sentence="It is not the average of the costs for the two targets.")  # fmt: skip


@check(
    of="network.softmax_cross_entropy",
    claim="The cost is never negative, and no logits cost less than those whose softmax is y.",
    hint="softmax(log y) = y. Is the sign right? Only the minus makes the right prediction the cheapest.",
)
@given(case=logits_and_positive_target())
def right_prediction_is_cheapest(softmax_cross_entropy: Any, case: tuple[Array, Array]) -> None:
    theta, y = case
    cost, least = softmax_cross_entropy(theta, y), softmax_cross_entropy(np.log(y), y)
    expect(
        call("softmax_cross_entropy", theta, y),
        holds=bool(cost >= least - SLACK) and bool(least >= -SLACK), gave=cost,
        expected=f"at least the cost of np.log(y), which gave {float(least):.6g}, and not negative",
    )  # fmt: skip


@check(
    of="network.softmax_cross_entropy",
    claim="With logits thousands apart the cost is finite: the gap between the largest logit and that of the right"
    " class.",
    hint="softmax rounds to 0 there, and log 0 is -inf. Simplify log(exp(a) / sum exp(b)) before you compute it.",
)
@given(case=spread_logits_and_class())
def cost_survives_extreme_logits(softmax_cross_entropy: Any, case: tuple[Array, Array]) -> None:
    theta, y = case
    cost = softmax_cross_entropy(theta, y)
    about = call("softmax_cross_entropy", theta, y)
    expect_finite(about, got=cost)
    gap = theta.max() - theta[y.argmax()]
    expect_close(about, got=cost, want=gap, scale=1.0 + float(gap))


softmax_cross_entropy_gradient_agrees = _with_floor(
    agreement(
        of="network.softmax_cross_entropy_gradient",
        arguments=logits_and_target(),
        claim="dCE/dtheta = yhat - y, one entry per logit.",
        hint="theta_i enters every yhat_j through the denominator. Sum over j before you simplify.",
    )
)

softmax_cross_entropy_gradient_leaves_arguments_alone = unmodified(
    of="network.softmax_cross_entropy_gradient", arguments=logits_and_target()
)


@check(
    of="network.softmax_cross_entropy_gradient",
    claim="The entries of the gradient sum to 0.",
    hint="Shifting all logits together changes no cost, so the slope in that direction is 0.",
)
@given(case=several_logits())
@quietly
def gradient_sums_to_zero(softmax_cross_entropy_gradient: Any, case: tuple[Array, Array]) -> None:
    about = call("softmax_cross_entropy_gradient", *case, then=".sum()")
    expect_close(about, got=softmax_cross_entropy_gradient(*case).sum(), want=0.0, scale=2.0)


@check(
    of="network.softmax_cross_entropy_gradient",
    claim="The gradient is 0 where the prediction is right: at logits whose softmax is y.",
    hint="softmax(log y) = y, and there the cost has its minimum.",
)
@given(case=logits_and_positive_target())
def gradient_vanishes_at_the_right_prediction(softmax_cross_entropy_gradient: Any, case: tuple[Array, Array]) -> None:
    y = case[1]
    theta = np.log(y)
    about = call("softmax_cross_entropy_gradient", theta, y)
    expect_close(about, got=softmax_cross_entropy_gradient(theta, y), want=np.zeros(len(y)), scale=2.0)


@check(
    of="network.softmax_cross_entropy_gradient",
    claim="No entry is negative where y = 0 and none positive where y = 1: a step against the gradient moves towards"
    " the target.",
    hint="Gradient descent subtracts this vector from theta. Which logits should it raise?",
)
@given(case=several_logits())
def gradient_points_away_from_the_target(softmax_cross_entropy_gradient: Any, case: tuple[Array, Array]) -> None:
    theta, y = case
    gradient = softmax_cross_entropy_gradient(theta, y)
    about = call("softmax_cross_entropy_gradient", theta, y)
    right = bool((gradient[y == 0] >= -SLACK).all()) and bool((gradient[y == 1] <= SLACK).all())
    expect(about, holds=right, gave=gradient, expected="no negative entry where y = 0, no positive one where y = 1")


@check(
    of="network.softmax_cross_entropy_gradient",
    claim="Changing the target from y to y' changes the gradient by y - y', whatever the logits are.",
    hint="y enters the gradient alone: not multiplied by yhat, and not divided by n.",
)
@given(case=logits_and_two_targets())
@quietly
def target_enters_alone(softmax_cross_entropy_gradient: Any, case: tuple[Array, Array, Array]) -> None:
    theta, first, second = case
    difference = softmax_cross_entropy_gradient(theta, second) - softmax_cross_entropy_gradient(theta, first)
    about = call("softmax_cross_entropy_gradient", theta, second)
    expect_close(about, got=difference, want=first - second, scale=4.0,
                 sentence=f"Less the gradient for {first.tolist()}, it is not the targets' difference.")  # fmt: skip


@check(
    of="network.softmax_cross_entropy_gradient",
    claim="Entry i is the slope of the true cost when theta_i moves: a difference quotient confirms it.",
    hint="(CE(theta + h e_i) - CE(theta - h e_i)) / 2h tends to entry i. Try it with your own cost and two classes.",
)
@given(case=logits_target_and_place())
def gradient_is_the_slope(truth: Any, softmax_cross_entropy_gradient: Any, case: tuple[Array, Array, int]) -> None:
    theta, y, i = case
    move = np.eye(len(theta))[i]
    slope = _slope(lambda h: truth.softmax_cross_entropy(theta + h * move, y).value)
    about = call("softmax_cross_entropy_gradient", theta, y, then=f"[{i}]")
    expect_close(about, got=softmax_cross_entropy_gradient(theta, y)[i], want=slope, scale=4.0)


@check(
    of="network.softmax_cross_entropy_gradient",
    claim="With logits thousands apart the gradient is finite: the likeliest class has yhat = 1, all others 0.",
    hint="exp(1000) is inf, and inf / inf is nan. Subtract the largest logit before you exponentiate.",
)
@given(case=spread_logits_and_class())
def gradient_survives_extreme_logits(softmax_cross_entropy_gradient: Any, case: tuple[Array, Array]) -> None:
    theta, y = case
    about = call("softmax_cross_entropy_gradient", theta, y)
    want = (theta == theta.max()) - y
    expect_close(about, got=softmax_cross_entropy_gradient(theta, y), want=want)


def _slope(cost: Any) -> Any:
    """Return the derivative at 0 by the five-point rule."""
    near, far = cost(STEP) - cost(-STEP), cost(2 * STEP) - cost(-2 * STEP)
    return (8 * near - far) / (12 * STEP)


# ---------------------------------------------------------------------------- forward


def batches_and_networks(batch: int, dx: int, dh: int, dy: int) -> st.SearchStrategy[tuple[Array, Params]]:
    """Draw a batch, weights and biases as one array of numbers, none of them zero.

    Hypothesis makes new inputs by exchanging parts of old ones, and fills with zeros what does not fit:
    a third of the arrays would be zero throughout, and hide mistakes in what they are multiplied by.
    """
    shapes = [(batch, dx), (dx, dh), (1, dh), (dh, dy), (1, dy)]
    ends = list(accumulate(math.prod(shape) for shape in shapes))

    def cut(numbers: Array) -> tuple[Array, Params]:
        parts = np.split(np.where(numbers == 0, np.resize(IN_PLACE_OF_ZERO, ends[-1]), numbers), ends[:-1])
        X, W1, b1, W2, b2 = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        return X / 2, {"W1": W1, "b1": b1, "W2": W2, "b2": b2}

    return inputs.grid((ends[-1],)).map(cut)


@st.composite
def batch_and_network(draw: Draw) -> tuple[Array, Params]:
    """Draw a batch and a network with all four sizes different, one of them sometimes one."""
    drawn: tuple[Array, Params] = draw(batches_and_networks(*draw(inputs.sizes(4))))
    return drawn


@st.composite
def wide_batch_and_network(draw: Draw) -> tuple[Array, Params]:
    """Draw at least two samples, inputs, hidden units and classes."""
    drawn: tuple[Array, Params] = draw(batches_and_networks(*draw(inputs.sizes(4, among=(2, 3, 4, 5)))))
    return drawn


@st.composite
def batch_network_and_order(draw: Draw) -> tuple[Array, Params, Array]:
    X, params = draw(wide_batch_and_network())
    return X, params, draw(inputs.orders(params["W1"].shape[1]))


@st.composite
def saturated_networks(draw: Draw) -> tuple[Array, Params]:
    """Draw a network whose hidden units are all fully on or off."""
    X, params = draw(wide_batch_and_network())
    signs = np.where(params["W1"][:1] < 0, -1.0, 1.0)  # one sign per unit, so no sum over the inputs cancels
    rows = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)[:, None]
    return np.ones_like(X) * rows, params | {"W1": SATURATED * np.repeat(signs, X.shape[1], axis=0)}


@st.composite
def extreme_networks(draw: Draw) -> tuple[Array, Params, int]:
    """Draw a network with pre-activations and logits in the thousands, and the class that wins in every row."""
    X, params = draw(saturated_networks())
    hidden, outputs = params["W2"].shape
    levels = draw(inputs.orders(outputs))
    extreme = {
        "W1": 64 * params["W1"],
        "W2": 1024.0 * np.outer(np.arange(1, hidden + 1), levels),
        "b2": 512.0 * levels[None, :],  # the same order when every unit is off
    }
    return X, params | extreme, int(levels.argmax())


forward_agrees = agreement(
    of="network.forward",
    arguments=batch_and_network(),
    claim="h = sigmoid(X W1 + b1) and yhat = softmax(h W2 + b2), one row per sample.",
    hint="Check each layer by its shape: (B, Dh), then (B, Dy). The softmax runs over the classes of a row.",
)

forward_leaves_arguments_alone = unmodified(of="network.forward", arguments=batch_and_network())


@check(
    of="network.forward",
    claim="Each row of the prediction is a distribution: positive entries that sum to 1.",
    hint="The output layer ends in a softmax over the classes, one row at a time.",
)
@given(case=batch_and_network())
@quietly
def predictions_are_distributions(forward: Any, case: tuple[Array, Params]) -> None:
    prediction = forward(*case)
    expect(call("forward", *case), holds=bool((prediction > 0).all()), gave=prediction, expected="positive entries")
    expect_close(call("forward", *case, then=".sum(axis=1)"), got=prediction.sum(axis=1), want=np.ones(len(prediction)))


@check(
    of="network.forward",
    claim="Samples do not influence each other: row i of the prediction is the prediction for row i alone.",
    hint="Which axis do your softmax, its maximum and its sum run over?",
)
@given(case=wide_batch_and_network())
def samples_are_independent(forward: Any, case: tuple[Array, Params]) -> None:
    X, params = case
    last = len(X) - 1
    together, alone = forward(X, params), forward(X[last:], params)
    about = call("forward", X, params, then=f"[{last}]")
    expect_close(about, got=together[last], want=alone[0], same_as=call("forward", X[last:], params, then="[0]"))


@check(
    of="network.forward",
    claim="Adding ln 2 to the output bias of one class doubles its odds against every other class.",
    hint="Odds are yhat_i / yhat_j = exp(logit_i - logit_j). Is b2 added to the logits?",
)
@given(case=wide_batch_and_network())
@quietly
def output_bias_sets_the_odds(forward: Any, case: tuple[Array, Params]) -> None:
    X, params = case
    raised = params["b2"].copy()
    raised[0, 0] += math.log(2)
    before, after = forward(X, params), forward(X, params | {"b2": raised})
    about = call("forward", X, params | {"b2": raised})
    # yhat_0 yhat'_1 · 2 = yhat'_0 yhat_1: the same without a division
    expect_close(about, got=after[:, :1] * before[:, 1:], want=2 * before[:, :1] * after[:, 1:], scale=2.0,
                 sentence="The odds of class 0 are not doubled.")  # fmt: skip


@check(
    of="network.forward",
    claim="Hidden units have no order: permuting the columns of W1 and b1 and the rows of W2 alike changes nothing.",
    hint="Unit j is column j of W1, entry j of b1 and row j of W2. Does b1 belong to the hidden units in your code?",
)
@given(case=batch_network_and_order())
def hidden_units_have_no_order(forward: Any, case: tuple[Array, Params, Array]) -> None:
    X, params, order = case
    moved = {"W1": params["W1"][:, order], "b1": params["b1"][:, order], "W2": params["W2"][order], "b2": params["b2"]}
    expect_close(
        call("forward", X, moved), got=forward(X, moved), want=forward(X, params), same_as=call("forward", X, params)
    )


@check(
    of="network.forward",
    claim="sigmoid(-z) = 1 - sigmoid(z): turning the signs into and out of the hidden units and adding the rows of W2"
    " to b2 changes nothing.",
    hint="This holds for the sigmoid and for no other activation: tanh(-z) is -tanh(z). Is b1 added before it?",
)
@given(case=batch_and_network())
def hidden_units_are_sigmoids(forward: Any, case: tuple[Array, Params]) -> None:
    X, params = case
    turned = {
        "W1": -params["W1"], "b1": -params["b1"],
        "W2": -params["W2"], "b2": params["b2"] + params["W2"].sum(axis=0, keepdims=True),
    }  # fmt: skip
    expect_close(
        call("forward", X, turned), got=forward(X, turned), want=forward(X, params), scale=2.0,
        same_as=call("forward", X, params),
    )  # fmt: skip


@check(
    of="network.forward",
    claim="With inputs and logits in the thousands the prediction is finite: the largest logit takes it all.",
    hint="exp(1000) is inf, and inf / inf is nan. Subtract each row's largest logit before you exponentiate.",
)
@given(case=extreme_networks())
def forward_survives_extreme_logits(forward: Any, case: tuple[Array, Params, int]) -> None:
    X, params, winner = case
    prediction = forward(X, params)
    expect_finite(call("forward", X, params), got=prediction)
    want = np.zeros((len(X), params["b2"].size))
    want[:, winner] = 1.0
    expect_close(call("forward", X, params), got=prediction, want=want)


# ------------------------------------------------------------------- forward_backward


@st.composite
def batch_of_targets(draw: Draw, batch: int, size: int) -> Array:
    return np.stack([draw(targets(size)) for _ in range(batch)])


@st.composite
def batch_targets_and_network(draw: Draw) -> tuple[Array, Array, Params]:
    X, params = draw(batch_and_network())
    return X, draw(batch_of_targets(len(X), params["b2"].size)), params


@st.composite
def wide_batch_targets_and_network(draw: Draw) -> tuple[Array, Array, Params]:
    X, params = draw(wide_batch_and_network())
    return X, draw(batch_of_targets(len(X), params["b2"].size)), params


@st.composite
def network_with_direction(draw: Draw) -> tuple[Array, Array, Params, Params]:
    """Draw a direction in which all parameters move a little."""
    X, Y, params = draw(wide_batch_targets_and_network())
    direction = {key: draw(inputs.grid(array.shape, limit=1)) for key, array in params.items()}
    return X, Y, params, direction


@st.composite
def undecided_networks(draw: Draw) -> tuple[Array, Array, Params]:
    """Draw a network whose logits are equal in every row, though W2 and b2 are not zero: their columns are equal."""
    X, Y, params = draw(wide_batch_targets_and_network())
    params |= {"W2": np.repeat(params["W2"][:, :1], params["b2"].size, axis=1), "b2": np.full_like(params["b2"], 0.75)}
    return X, Y, params


@st.composite
def right_predictions(draw: Draw) -> tuple[Array, Array, Params]:
    """Draw a network that predicts the drawn target: its hidden units are all at 1/2, and b2 makes up for W2."""
    X, params = draw(wide_batch_and_network())
    y = draw(distributions.positive(params["b2"].size))
    halves = {"b1": np.zeros_like(params["b1"]), "b2": np.log(y)[None, :] - params["W2"].sum(axis=0, keepdims=True) / 2}
    return X, np.repeat(y[None, :], len(X), axis=0), params | halves


@st.composite
def saturated_with_targets(draw: Draw) -> tuple[Array, Array, Params]:
    X, params = draw(saturated_networks())
    return X, draw(batch_of_targets(len(X), params["b2"].size)), params


@st.composite
def extreme_with_targets(draw: Draw) -> tuple[Array, Array, Params]:
    X, params, _ = draw(extreme_networks())
    outputs = params["b2"].size
    return X, np.stack([draw(distributions.one_hot(outputs)) for _ in X]), params


forward_backward_agrees = _with_floor(
    agreement(
        of="network.forward_backward",
        arguments=batch_targets_and_network(),
        claim="It returns the cost averaged over the batch, and its gradients with respect to W1, b1, W2 and b2.",
        hint="Go back layer by layer: the gradient at the logits, at W2 and b2, at h, at the hidden pre-activation,"
        " at W1 and b1.",
    )
)

forward_backward_leaves_arguments_alone = unmodified(
    of="network.forward_backward", arguments=batch_targets_and_network()
)


@check(
    of="network.forward_backward",
    claim="The cost is the mean over the samples of -sum_i Y_i log yhat_i, in nats.",
    hint="Sum over the classes, average over the samples. Is every sample counted, and the logarithm taken before any"
    " sum?",
)
@given(case=batch_targets_and_network())
def cost_is_the_mean_cross_entropy(truth: Any, forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    cost, _ = forward_backward(*case)
    want, _ = _floored(truth.forward_backward(*case))
    expect_close(call("forward_backward", *case, then="[0]"), got=cost, want=want)


@check(
    of="network.forward_backward",
    claim="The gradients of the output layer, W2 and b2, are right.",
    hint="Both start from the gradient at the logits. W2 meets it through h; b2 gets the sum over the samples.",
)
@given(case=batch_targets_and_network())
def output_layer_gradients_agree(truth: Any, forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    _expect_gradients(("W2", "b2"), truth, forward_backward, case)


@check(
    of="network.forward_backward",
    claim="The gradients of the hidden layer, W1 and b1, are right.",
    hint="What comes back through W2 is multiplied by the sigmoid's slope, which is a function of h. Then X, or a sum"
    " over the samples.",
)
@given(case=batch_targets_and_network())
def hidden_layer_gradients_agree(truth: Any, forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    _expect_gradients(("W1", "b1"), truth, forward_backward, case)


def _expect_gradients(keys: tuple[str, ...], truth: Any, forward_backward: Any, case: tuple[Any, ...]) -> None:
    _, gradients = forward_backward(*case)
    _, want = _floored(truth.forward_backward(*case))
    for key in keys:
        expect_close(call("forward_backward", *case, then=f"[1][{key!r}]"), got=gradients[key], want=want[key])


@check(
    of="network.forward_backward",
    claim="The gradients are the slope of the cost that is returned with them: a small step in all parameters changes"
    " it as they say.",
    hint="Move one parameter by ±0.001 and divide the change of your cost by 0.002. Which entry disagrees?",
)
@given(case=network_with_direction())
@quietly
def gradients_are_the_slope_of_the_cost(forward_backward: Any, case: tuple[Array, Array, Params, Params]) -> None:
    X, Y, params, direction = case
    length = math.sqrt(sum(float((step**2).sum()) for step in direction.values())) or 1.0
    length = 2.0 ** math.ceil(math.log2(length))  # a power of two keeps the parameters on the grid

    def cost(h: float) -> Any:
        moved = {key: array + h / length * direction[key] for key, array in params.items()}
        return forward_backward(X, Y, moved)[0]

    _, gradients = forward_backward(X, Y, params)
    predicted = sum((gradients[key] * direction[key] / length).sum() for key in params)
    step = {key: (array / length).tolist() for key, array in direction.items()}
    expect_close(call("forward_backward", X, Y, params, then="[1]"), got=predicted, want=_slope(cost), scale=8.0,
                 sentence=f"In the direction {step} the gradients promise another slope than the cost's.")  # fmt: skip


@check(
    of="network.forward_backward",
    claim="The cost is a mean: giving every sample twice changes neither the cost nor any gradient.",
    hint="Divide by the number of samples, in the cost and once in the gradients.",
)
@given(case=batch_targets_and_network())
def every_sample_twice(forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    X, Y, params = case
    twice = np.concatenate([X, X]), np.concatenate([Y, Y]), params
    _expect_same(forward_backward(*twice), forward_backward(*case), call_of=twice, as_=case)


@check(
    of="network.forward_backward",
    claim="Cost and gradients of a batch are the averages of those of its samples.",
    hint="Every sample counts, not only the last; and the biases' gradients are sums over the samples, too.",
)
@given(case=wide_batch_targets_and_network())
@quietly
def batch_is_the_average_of_its_samples(forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    X, Y, params = case
    single = [forward_backward(X[i : i + 1], Y[i : i + 1], params) for i in range(len(X))]
    cost, gradients = forward_backward(*case)
    average = sum(part[0] for part in single) / len(X)
    expect_close(call("forward_backward", *case, then="[0]"), got=cost, want=average, scale=8.0,
                 sentence="The cost of the batch is not the average of its samples' costs.")  # fmt: skip
    for key in params:
        average = sum(part[1][key] for part in single) / len(X)
        expect_close(call("forward_backward", *case, then=f"[1][{key!r}]"), got=gradients[key], want=average, scale=4.0,
                     sentence=f"The gradient of {key} is not the average of those of the samples.")  # fmt: skip


def _expect_same(got: Any, want: Any, *, call_of: tuple[Any, ...], as_: tuple[Any, ...]) -> None:
    """Expect that two calls return the same cost and the same gradients."""
    about, same = call("forward_backward", *call_of, then="[0]"), call("forward_backward", *as_, then="[0]")
    expect_close(about, got=got[0], want=want[0], scale=8.0, same_as=same)
    for key in want[1]:
        place = f"[1][{key!r}]"
        about, same = call("forward_backward", *call_of, then=place), call("forward_backward", *as_, then=place)
        expect_close(about, got=got[1][key], want=want[1][key], scale=4.0, same_as=same)


@check(
    of="network.forward_backward",
    claim="Over the classes the gradients of b2, and of every row of W2, sum to 0.",
    hint="Raising all logits together changes no prediction. The gradient at the logits sums to 0 in each row.",
)
@given(case=batch_targets_and_network())
@quietly
def output_gradients_sum_to_zero(forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    _, gradients = forward_backward(*case)
    for key in ("b2", "W2"):
        sums = gradients[key].sum(axis=1)
        about = call("forward_backward", *case, then=f"[1][{key!r}].sum(axis=1)")
        expect_close(about, got=sums, want=np.zeros(len(sums)), scale=4.0)


@check(
    of="network.forward_backward",
    claim="For a single sample the gradient of W1 is the outer product of the sample and the gradient of b1.",
    hint="Both multiply the same vector, the gradient at the hidden pre-activation: one by x, the other by 1.",
)
@given(case=wide_batch_targets_and_network())
@quietly
def single_sample_gives_an_outer_product(forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    X, Y, params = case[0][:1], case[1][:1], case[2]
    _, gradients = forward_backward(X, Y, params)
    about = call("forward_backward", X, Y, params, then="[1]['W1']")
    expect_close(about, got=gradients["W1"], want=X.T * gradients["b1"], scale=4.0,
                 sentence="It is not the outer product of x and the gradient of b1.")  # fmt: skip


@check(
    of="network.forward_backward",
    claim="A network with equal logits costs ln Dy, whatever the targets are.",
    hint="Every class has the probability 1/Dy in every row. Is it the natural logarithm, and the mean over the"
    " samples?",
)
@given(case=undecided_networks())
def undecided_network_costs_log_of_its_classes(forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    cost, _ = forward_backward(*case)
    want = math.log(case[2]["b2"].size)
    expect_close(call("forward_backward", *case, then="[0]"), got=cost, want=want, scale=4.0)


@check(
    of="network.forward_backward",
    claim="Where the prediction equals the target, every gradient is 0.",
    hint="Nothing is to be learnt there. A gradient that does not start from the difference of the two cannot vanish.",
)
@given(case=right_predictions())
def nothing_to_learn_from_a_right_prediction(forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    X, Y, params = case
    params = params | {"W1": np.zeros_like(params["W1"])}
    _, gradients = forward_backward(X, Y, params)
    for key, gradient in gradients.items():
        about = call("forward_backward", X, Y, params, then=f"[1][{key!r}]")
        expect_close(about, got=gradient, want=np.zeros_like(gradient), scale=4.0)


@check(
    of="network.forward_backward",
    claim="Hidden units that are fully on or off learn nothing: the gradients of W1 and b1 are 0.",
    hint="The sigmoid is flat at both ends, so its slope is 0 for h near 0 and for h near 1. What does yours give"
    " there?",
)
@given(case=saturated_with_targets())
def saturated_units_learn_nothing(forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    _, gradients = forward_backward(*case)
    for key in ("W1", "b1"):
        about = call("forward_backward", *case, then=f"[1][{key!r}]")
        expect_close(about, got=gradients[key], want=np.zeros_like(gradients[key]), scale=4.0)


@check(
    of="network.forward_backward",
    claim="The cost stays finite with logits in the thousands.",
    hint="The softmax rounds to 0 there, and log 0 is -inf. Take the logarithm of the softmax on paper first.",
)
@given(case=extreme_with_targets())
def cost_is_finite_at_saturated_logits(forward_backward: Any, case: tuple[Array, Array, Params]) -> None:
    cost, _ = forward_backward(*case)
    expect_finite(call("forward_backward", *case, then="[0]"), got=cost)


# --------------------------------------------------------------------- input_gradient


@st.composite
def sample_and_network(draw: Draw) -> tuple[Array, Array, Params]:
    x, params = draw(batches_and_networks(1, *draw(inputs.sizes(3))))
    return x, draw(targets(params["b2"].size))[None, :], params


@st.composite
def sample_in_wide_network(draw: Draw) -> tuple[Array, Array, Params]:
    x, params = draw(batches_and_networks(1, *draw(inputs.sizes(3, among=(2, 3, 4, 5)))))
    return x, draw(targets(params["b2"].size))[None, :], params


@st.composite
def sample_with_two_targets(draw: Draw) -> tuple[Array, Array, Array, Params]:
    x, y, params = draw(sample_in_wide_network())
    return x, y, draw(targets(y.size))[None, :], params


@st.composite
def sample_with_input(draw: Draw) -> tuple[Array, Array, Params, int]:
    x, y, params = draw(sample_in_wide_network())
    return x, y, params, draw(st.integers(0, x.size - 1))


def _last_sample(case: tuple[Array, Array, Params]) -> tuple[Array, Array, Params]:
    X, Y, params = case
    return X[-1:], Y[-1:], params


input_gradient_agrees = _with_floor(
    agreement(
        of="network.input_gradient",
        arguments=sample_and_network(),
        claim="dJ/dx for one sample: back through the softmax, W2, the sigmoid and W1.",
        hint="Write the shape of each factor under it: (1, Dy), (Dy, Dh), (1, Dh), (Dh, Dx). Which matrices are"
        " transposed?",
    )
)

input_gradient_leaves_arguments_alone = unmodified(of="network.input_gradient", arguments=sample_and_network())


@check(
    of="network.input_gradient",
    claim="Entry i is the slope of the true cost when input i moves: a difference quotient confirms it.",
    hint="Move one input by ±0.001 and divide the change of the cost by 0.002. Which entry disagrees?",
)
@given(case=sample_with_input())
def input_gradient_is_the_slope(truth: Any, input_gradient: Any, case: tuple[Array, Array, Params, int]) -> None:
    x, y, params, i = case
    move = np.eye(x.size)[i] / 8  # an input reaches every unit by weights of up to 2: a shorter step
    slope = 8 * _slope(lambda h: truth.forward_backward(x + h * move, y, params)[0].value)
    about = call("input_gradient", x, y, params, then=f"[0, {i}]")
    expect_close(about, got=input_gradient(x, y, params)[0, i], want=slope, scale=8.0)


@check(
    of="network.input_gradient",
    claim="An input that no hidden unit listens to has the gradient 0, and inputs with equal weights have equal"
    " gradients.",
    hint="Entry i depends on row i of W1 only. Is W1 transposed, and is it W1 at all?",
)
@given(case=sample_with_input())
def deaf_inputs_have_no_gradient(input_gradient: Any, case: tuple[Array, Array, Params, int]) -> None:
    x, y, params, i = case
    W1 = params["W1"].copy()
    W1[i] = 0.0
    deaf = params | {"W1": W1}
    gradient = input_gradient(x, y, deaf)
    expect_close(call("input_gradient", x, y, deaf, then=f"[0, {i}]"), got=gradient[0, i], want=0.0)
    twin = (i + 1) % x.size
    W1 = params["W1"].copy()
    W1[twin] = W1[i]
    equal = params | {"W1": W1}
    gradient = input_gradient(x, y, equal)
    about, other = (call("input_gradient", x, y, equal, then=f"[0, {k}]") for k in (i, twin))
    expect_close(about, got=gradient[0, i], want=gradient[0, twin], scale=8.0, same_as=other)


@check(
    of="network.input_gradient",
    claim="Measuring the inputs in other units, x' = 2x with W1' = W1/2, changes no prediction and halves the"
    " gradient.",
    hint="The chain rule ends with one factor of W1. A gradient with respect to W1 or to h does not scale like this.",
)
@given(case=sample_and_network())
@quietly
def other_units(input_gradient: Any, case: tuple[Array, Array, Params]) -> None:
    x, y, params = case
    scaled = 2 * x, y, params | {"W1": params["W1"] / 2}
    want = input_gradient(*case) / 2
    expect_close(call("input_gradient", *scaled), got=input_gradient(*scaled), want=want, scale=8.0,
                 sentence="It is not half of what the same network gives in the old units.")  # fmt: skip


@check(
    of="network.input_gradient",
    claim="The gradient for the average of two targets is the average of their gradients.",
    hint="y enters once, in the difference with the prediction, and everything after that is linear.",
)
@given(case=sample_with_two_targets())
@quietly
def input_gradient_is_linear_in_the_target(input_gradient: Any, case: tuple[Array, Array, Array, Params]) -> None:
    x, first, second, params = case
    middle = (first + second) / 2
    average = (input_gradient(x, first, params) + input_gradient(x, second, params)) / 2
    about = call("input_gradient", x, middle, params)
    expect_close(about, got=input_gradient(x, middle, params), want=average, scale=8.0,
                 sentence="It is not the average of the gradients for the two targets.")  # fmt: skip


@check(
    of="network.input_gradient",
    claim="Where the prediction equals the target the gradient is 0.",
    hint="It starts from the difference of the two.",
)
@given(case=right_predictions().map(_last_sample))
def right_prediction_pulls_at_no_input(input_gradient: Any, case: tuple[Array, Array, Params]) -> None:
    x, y, params = np.zeros_like(case[0]), case[1], case[2]
    about = call("input_gradient", x, y, params)
    expect_close(about, got=input_gradient(x, y, params), want=np.zeros_like(x), scale=8.0)


@check(
    of="network.input_gradient",
    claim="Behind hidden units that are fully on or off the gradient is 0.",
    hint="The sigmoid is flat at both ends, so its slope is 0 for h near 0 and for h near 1. What does yours give"
    " there?",
)
@given(case=saturated_with_targets().map(_last_sample))
def saturated_units_pass_nothing(input_gradient: Any, case: tuple[Array, Array, Params]) -> None:
    about = call("input_gradient", *case)
    expect_close(about, got=input_gradient(*case), want=np.zeros_like(case[0]), scale=64.0)


@check(
    of="network.input_gradient",
    claim="With inputs and logits in the thousands the gradient is finite.",
    hint="exp(1000) is inf, and inf / inf is nan. Subtract the largest logit before you exponentiate.",
)
@given(case=extreme_with_targets().map(_last_sample))
def input_gradient_survives_extreme_logits(input_gradient: Any, case: tuple[Array, Array, Params]) -> None:
    expect_finite(call("input_gradient", *case), got=input_gradient(*case))
