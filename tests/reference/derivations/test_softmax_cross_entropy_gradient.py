from __future__ import annotations

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import sympy as sp
import torch

from reference.attention import softmax
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, differentiation, premises
from reference.derivations.softmax_cross_entropy_gradient import CE, DERIVATION, Z, c, i, j, k, n, p, theta, y
from reference.network import softmax_cross_entropy, softmax_cross_entropy_gradient

GRADIENT, SHIFT = (chain.steps[-1].right for chain in DERIVATION.chains)
RNG = np.random.default_rng(0)
LOGITS, TARGETS = RNG.normal(size=5), [RNG.dirichlet(np.ones(5)), np.eye(5)[2]]
taken = differentiation("CE", "p")


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("target", TARGETS, ids=["any distribution", "one-hot"])
def test_result_is_the_reference_and_autograd(target, value):
    known, definitions = {"theta": LOGITS, "y": target, "n": 5}, DERIVATION.context.definitions
    got = [value(GRADIENT, {**known, "i": place}, definitions) for place in range(1, 6)]
    logits = torch.tensor(LOGITS, requires_grad=True)
    torch.nn.functional.cross_entropy(logits, torch.tensor(target)).backward()
    np.testing.assert_allclose(got, softmax_cross_entropy_gradient(LOGITS, target), atol=1e-14)
    np.testing.assert_allclose(got, logits.grad, atol=1e-12)
    np.testing.assert_allclose(value(CE, known, definitions), softmax_cross_entropy(LOGITS, target), rtol=1e-13)


def test_shift_of_the_reference(value):
    """What the second chain proves is why the reference may subtract the maximum."""
    known = {"theta": LOGITS, "n": 5, "c": -LOGITS.max()}
    start = DERIVATION.chains[1].start
    np.testing.assert_allclose([value(start, {**known, "i": at}) for at in range(1, 6)], softmax(LOGITS), atol=1e-14)


def test_difference_quotients_in_many_digits():
    """A witness without calculus: quotients over steps of 1e-20, with 60 digits."""

    def cost(at, target):
        weights = [mpmath.exp(each) for each in at]
        return -sum(t * mpmath.log(w / sum(weights)) for t, w in zip(target, weights, strict=True))

    with mpmath.workdps(60):
        step, target = mpmath.mpf(10) ** -20, [mpmath.mpf(part) / 10 for part in (1, 2, 3, 4)]
        point = [mpmath.mpf(part) / 7 for part in (3, -5, 8, 1)]
        for place in range(4):
            up, down = ([x + sign * step * (at == place) for at, x in enumerate(point)] for sign in (1, -1))
            predicted = mpmath.exp(point[place]) / sum(map(mpmath.exp, point))
            quotient = (cost(up, target) - cost(down, target)) / (2 * step)
            assert abs(quotient - (predicted - target[place])) < mpmath.mpf(10) ** -35


def test_chain_rule_without_its_sum_is_refused():
    """The sheet's first line: only p_i is said to depend on θ_i."""
    alone = sp.Derivative(CE, p[i]) * sp.Derivative(p[i], theta[i])
    with pytest.raises(Refused):
        Step(sp.Derivative(CE, theta[i]), alone, "", taken).prove(DERIVATION.context)


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (sp.Derivative(CE, theta[i]), y[i] - p[i], taken),
        (sp.Derivative(CE, theta[i]), -y[i] * (1 - p[i]), taken),  # where the line without the sum leads
        (sp.Sum(y[j], (j, 1, n)), sp.Integer(1), algebra),  # algebra alone does not know that y sums to 1
        (sp.Sum(theta[j], (j, 1, n)), sp.Integer(1), premises),  # and of θ no premise says so
        (sp.exp(c + theta[i]) / Z, p[i], premises),  # the shift must be in the denominator, too
        (sp.exp(c * theta[i]) / sp.Sum(sp.exp(c * theta[k]), (k, 1, n)), sp.exp(theta[i]) / Z, algebra),
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
