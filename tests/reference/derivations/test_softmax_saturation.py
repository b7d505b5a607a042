from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
import torch

from reference.attention import softmax
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import bound, bound_below, definition, differentiation, limit
from reference.derivations.softmax_saturation import (
    DERIVATION,
    LargerExponents,
    delta,
    each,
    g,
    i,
    j,
    k,
    m,
    n,
    other,
    p,
    pairs,
    s,
    squares,
    t,
    theta,
)

SQUARES = DERIVATION.chains[0].start
BOUND = 2 * DERIVATION.chains[1].steps[-1].right
AHEAD, GAPS = 2, np.array([0.5, 1.25, 0.0, 2.0])  # the others are behind by GAPS, 0.5 or more


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("spread", [0.25, 1.0, 4.0, 16.0])
def test_jacobian_is_torch_and_within_the_bound(spread, value):
    """The sum of squares is that of torch's Jacobian; it stays below the bound, and so does every entry's square."""
    slack = np.where(GAPS > 0, GAPS - 0.5, 0)
    known = {"t": spread, "g": 0.5, "s": slack, "M": 0.7, "m": AHEAD + 1, "n": 4, "theta": spread * (0.7 - GAPS)}
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), torch.tensor(known["theta"]))
    only = {"p": DERIVATION.context.definitions["p"]}
    np.testing.assert_allclose(value(SQUARES, known, only), (jacobian**2).sum(), rtol=1e-10)
    assert (jacobian**2).sum() <= 2 * (1 - softmax(known["theta"])[AHEAD]) <= value(BOUND, known)
    np.testing.assert_allclose(value(p[m], known, DERIVATION.context.definitions), softmax(known["theta"])[AHEAD])


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_every_gap_in_exact_fractions(steps):
    """With e^(t·gap) = 2^(steps·gap) probabilities are fractions: both chains hold for all gaps from 1 to 3 of 1 to 3 others."""
    for others in range(1, 4):
        for gaps in product((1, 2, 3), repeat=others):
            weights = [Fraction(1), *(Fraction(1, 2 ** (steps * gap)) for gap in gaps)]
            chances = [weight / sum(weights) for weight in weights]
            rows = product(enumerate(chances), repeat=2)
            total = sum((x * ((row == column) - y)) ** 2 for (row, x), (column, y) in rows)
            assert total <= 2 * (1 - chances[0]) <= 2 * Fraction(others, 2 ** (steps * min(gaps)))


def test_gradient_through_unscaled_scores_vanishes():
    """Without 1/√d, the wider the query, the smaller the derivatives of softmax, on average over random scores."""
    rng, sizes = np.random.default_rng(0), []
    for width in (4, 64, 1024):
        chances = softmax((rng.normal(size=(300, 1, width)) * rng.normal(size=(300, 8, width))).sum(axis=-1))
        jacobians = chances[:, :, None] * (np.eye(8) - chances[:, None, :])
        sizes.append(np.sqrt((jacobians**2).sum(axis=(1, 2))).mean())
    assert sizes[0] > 2 * sizes[1] > 4 * sizes[2]


@pytest.mark.parametrize("claim", [sp.oo, sp.Integer(1), n - 1])
def test_exploding_gradients_are_refused(claim):
    """The sheet says that gradients explode: the limit of the bound is neither infinite nor anything but 0."""
    with pytest.raises(Refused):
        Step(sp.Limit(BOUND, t, sp.oo), claim, "", limit).prove(DERIVATION.context)


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (sp.Sum((p[i] * (delta - p[j])) ** 2, *pairs), 2 * (1 - p[m]), bound_below(None, "p")),  # the sum is not above
        (1 - p[m] ** 2, 1 - p[m], bound(p[m] * (1 - p[m]))),  # that is less, not more
        (1 - p[m] ** 2, 1 - p[m], bound()),
        (squares, 1 - p[m] ** 2, definition("p")),  # an equation made of an inequality
        (sp.Derivative(p[i], theta[j]), p[i] * delta, differentiation("p")),  # the other logits forgotten
        (1 - p[m], n * sp.exp(-t * g), definition("p", "theta", "a")),
        (
            sp.Sum(other * sp.exp(-t * g), each),
            sp.Sum(other * sp.exp(-t * (g + s[k])), each),
            LargerExponents(other**2, t * s[k]),
        ),
        (
            sp.Sum(other * sp.exp(-t * g), each),
            sp.Sum(other * sp.exp(-t * (g + s[k])), each),
            LargerExponents(other**2, -t * s[k]),
        ),
        (sp.Sum(theta[k] * sp.exp(-t), each), sp.Sum(theta[k] * sp.exp(t), each), LargerExponents(theta[k], 2 * t)),
        (sp.Sum(sp.exp(-t), each), sp.exp(t), LargerExponents(sp.Integer(1), 2 * t)),
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
