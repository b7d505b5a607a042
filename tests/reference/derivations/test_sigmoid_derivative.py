from __future__ import annotations

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import sympy as sp
import torch

from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition, differentiation
from reference.derivations.sigmoid_derivative import DERIVATION, sigma, x
from reference.gates import sigmoid

RESULT = DERIVATION.chains[0].steps[-1].right
SLOPE = sp.Derivative(sigma(x), x)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_result_is_the_reference_and_autograd(value):
    points = np.array([-20.0, -1.5, 0.0, 0.25, 6.0])
    got = [value(RESULT, {"x": at}, DERIVATION.context.definitions) for at in points]
    at = torch.tensor(points, requires_grad=True)
    torch.sigmoid(at).sum().backward()
    np.testing.assert_allclose(got, sigmoid(points) * (1 - sigmoid(points)), atol=1e-15)
    np.testing.assert_allclose(got, at.grad, atol=1e-15)


def test_difference_quotients_in_many_digits():
    """A witness without calculus: quotients over steps of 1e-20, with 60 digits."""
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -20
        for point in (-3, 0, mpmath.mpf(1) / 3, 7):
            above, below = (1 / (1 + mpmath.exp(-(point + sign * step))) for sign in (1, -1))
            middle = 1 / (1 + mpmath.exp(-point))
            assert abs((above - below) / (2 * step) - middle * (1 - middle)) < mpmath.mpf(10) ** -35


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (SLOPE, sigma(x) * (sigma(x) - 1), differentiation("sigma")),
        (SLOPE, sigma(x) * (1 + sigma(x)), differentiation("sigma")),
        (SLOPE, 1 - sigma(x) ** 2, differentiation("sigma")),  # the slope of tanh
        (SLOPE, -sp.exp(-x) / (1 + sp.exp(-x)) ** 2, differentiation("sigma")),  # the inner derivative's sign is lost
        (SLOPE, sigma(x) * (1 - sigma(x)), definition("sigma")),  # no derivative may be taken
        (sigma(x) * sigma(-x), sigma(x) * (1 - sigma(x)), algebra),  # needs to know what σ is
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
