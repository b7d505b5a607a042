from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition
from reference.derivations.sigmoid_symmetry import DERIVATION, sigma, x
from reference.gates import sigmoid


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("at", [-30.0, -1.5, 0.0, 0.25, 8.0])
def test_both_ends_are_the_reference(at, value):
    chain, definitions = DERIVATION.chains[0], DERIVATION.context.definitions
    np.testing.assert_allclose(value(chain.start, {"x": at}, definitions), sigmoid(-at), rtol=1e-14)
    np.testing.assert_allclose(value(chain.steps[-1].right, {"x": at}, definitions), 1 - sigmoid(at), atol=1e-15)


@pytest.mark.parametrize("weight", [Fraction(1, 1000), Fraction(2, 3), Fraction(1), Fraction(17)])
def test_exact_fractions(weight):
    """With w = e^x any positive number, σ(x) = 1/(1 + 1/w) and σ(-x) = 1/(1 + w) add up to exactly 1."""
    assert 1 / (1 + 1 / weight) + 1 / (1 + weight) == 1


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (sigma(-x), -sigma(x), definition("sigma")),  # σ is not odd
        (sigma(-x), sigma(x), definition("sigma")),  # nor even
        (sigma(-x), 1 / sigma(x), definition("sigma")),
        (sigma(-x), 1 / sigma(x) - 1, definition("sigma")),  # that is e^(-x)
        (1 / (1 + sp.exp(x)), sp.exp(-x) / (1 + sp.exp(x)), algebra),  # extended above only
        (sigma(-x), 1 - sigma(x), algebra),  # true of the sigmoid, not of every function
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
