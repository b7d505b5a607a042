from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from reference.attention import softmax
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition, differentiation
from reference.derivations.softmax_jacobian import DERIVATION, delta, i, j, p, theta

RESULT = DERIVATION.chains[0].steps[-1].right
LOGITS = np.random.default_rng(0).normal(size=4)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_result_is_the_jacobian_of_the_reference(value):
    """The result equals torch's Jacobian, and its p is the reference's softmax."""
    known, definitions = {"theta": LOGITS, "n": 4}, DERIVATION.context.definitions
    grid = range(1, 5)
    got = [[value(RESULT, {**known, "i": row, "j": column}, definitions) for column in grid] for row in grid]
    exact = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), torch.tensor(LOGITS))
    np.testing.assert_allclose(got, exact, atol=1e-12)
    np.testing.assert_allclose([value(p[place], known, definitions) for place in grid], softmax(LOGITS), atol=1e-14)


def test_difference_quotients_in_exact_fractions():
    """A witness without calculus: θ_j + ln(1 + ε) multiplies the weight e^θ_j by 1 + ε, here with ε = 1e-30."""
    weights, step = [Fraction(3), Fraction(1, 2), Fraction(5, 7)], Fraction(1, 10**30)
    before = [weight / sum(weights) for weight in weights]
    for column in range(3):
        moved = [weight * (1 + step * (place == column)) for place, weight in enumerate(weights)]
        for row in range(3):
            quotient = (moved[row] / sum(moved) - before[row]) / step
            assert abs(quotient - before[row] * ((row == column) - before[column])) < Fraction(1, 10**29)


@pytest.mark.parametrize(
    ("right", "rule"),
    [
        (p[i] * (1 - p[j]), differentiation("p")),  # the diagonal's formula everywhere
        (p[j] * (delta - p[j]), differentiation("p")),
        (p[i] * (delta + p[j]), differentiation("p")),
        (-p[i] * p[j], differentiation("p")),
        (p[i] * (delta - p[j]), definition("p")),  # no derivative may be taken
        (p[i] * (delta - p[j]), algebra),
    ],
)
def test_wrong_step_is_refused(right, rule):
    with pytest.raises(Refused):
        Step(sp.Derivative(p[i], theta[j]), right, "", rule).prove(DERIVATION.context)
