from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from numpy.polynomial.hermite import hermgauss

from reference.attention import averaging_query, dot_product_attention, head_queries
from reference.derivations import head_variance as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import bound, definition, definition_and_premises, limit

DERIVATION = proof.DERIVATION
V, P, m, lam, h, alpha, beta = proof.V, proof.P, proof.m, proof.lam, proof.h, proof.alpha, proof.beta


def weights_on_a(stretch, scale, size=6):
    """Return the weights that one averaging head, the first and the second of two heads give to key a."""
    means = np.eye(size)
    keys = means.copy()
    keys[0] *= 1 + stretch
    queries = (averaging_query(means[0], means[1], scale), *head_queries(means[0], means[1], scale))
    return [float(dot_product_attention(query, keys, means)[1][0]) for query in queries]


def variances(scale, rule):
    """Return the variance of one head's weight and of two heads' average weight, under points and weights for g."""
    points, chances = rule
    rows = np.array([weights_on_a(g, scale) for g in points])
    one, two = rows[:, 0], (rows[:, 1] + rows[:, 2]) / 2
    return [float(chances @ x**2 - (chances @ x) ** 2) for x in (one, two)]


def gauss(points):
    """Return a rule for expectations under N(0, 1/2), whose density is e^{-g²}/√π: that of Gauss and Hermite."""
    nodes, weights = hermgauss(points)
    return nodes, weights / math.sqrt(math.pi)


def grid(points):
    """Return the trapezoidal rule for the same density, for functions too steep for the other."""
    nodes = np.linspace(-7, 7, points)
    chances = np.exp(-(nodes**2))
    return nodes, chances / chances.sum()


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("stretch", [-2.0, -0.5, 0.0, 0.7])
def test_the_weights_are_the_references(value, stretch):
    """Both heads' weights on key a, and the second's on b, are those of attention with the queries of head_queries."""
    known = {"mu": np.eye(6), "lambda": 1.5, "g": stretch, "n": 6, "m": 4, "d": 6, "a": 1, "b": 2}
    definitions = DERIVATION.context.definitions
    _, first, second = weights_on_a(stretch, 1.5)
    assert value(alpha[proof.a], known, definitions) == pytest.approx(first, abs=1e-12)
    assert value(proof.first_head, known) == pytest.approx(first, abs=1e-12)
    assert value(beta[proof.a], known, definitions) == pytest.approx(second, abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 2.0, 4.0])
def test_two_heads_vary_less_at_every_scale(scale):
    """Quadrature over g ~ N(0, 1/2): the average of two heads has less than half the variance of one head."""
    one, two = variances(scale, gauss(120))
    assert [one, two] == pytest.approx(variances(scale, grid(201)), rel=1e-3)
    assert two < one / 2


def test_a_large_scale_reaches_the_limits():
    """One head nears 1/4; two heads near P (1 - P) / 4 with P = P(g > -1) = (1 + erf 1)/2, which is below 1/16."""
    chance = (1 + math.erf(1)) / 2
    one, two = variances(4000.0, grid(1400))
    assert one == pytest.approx(1 / 4, abs=1e-3)
    assert two == pytest.approx(chance * (1 - chance) / 4, abs=1e-3)
    assert two < 1 / 16


def test_the_variance_in_exact_fractions():
    """All outcomes of a draw with chance s/t, written out: the variance of w times the indicator is w² P (1 - P)."""
    for chance in (Fraction(s, t) for t in range(1, 8) for s in range(t + 1)):
        for w in (Fraction(1), Fraction(1, 2)):
            mean = chance * w
            spread = chance * (w - mean) ** 2 + (1 - chance) * (0 - mean) ** 2
            assert spread == w**2 * chance * (1 - chance) <= w**2 / 4


half, one = proof.half, proof.one
WRONG = {
    "half the value, half the variance": (V(half, P), P * (1 - P) / 2, definition("V")),
    "one head has the variance 1/2": (V(one, half), half, definition("V")),
    "a bound that is too low": (P * (1 - P) / 4, sp.Rational(1, 17), bound()),
    "a certificate that is not the difference": (P * (1 - P) / 4, sp.Rational(1, 16), bound((P - half) ** 2)),
    "the second head sees the stretch": (beta[proof.b], proof.first_head, definition_and_premises("beta", "z", "k")),
    "the first head weighs the other keys 0": (alpha[proof.a], sp.Integer(1), definition_and_premises("alpha", "s", "k")),
    "a key that points backwards is still copied": (sp.Limit(sp.exp(-lam * h) / (sp.exp(-lam * h) + m + 1), lam, sp.oo), one, limit),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
