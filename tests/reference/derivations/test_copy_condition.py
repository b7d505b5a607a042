from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from reference.attention import dot_product_attention
from reference.derivations import copy_condition as copy
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import bound, bound_below, definition, limit

DERIVATION = copy.DERIVATION
WEIGHT, DISTANCE = (
    next(c for c in DERIVATION.chains if c.title == title)
    for title in ("The weight of the leading key", "The distance of the output from the value")
)
RNG = np.random.default_rng(0)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("gap", [0.0, 1.0, 5.0, 30.0])
def test_weight_and_output_are_the_references(gap, value):
    """With orthonormal keys the query holds the scores: weight, output and both bounds as derived."""
    u, r, far = RNG.exponential(size=4), RNG.uniform(0, 6, size=4), 3.0
    known = {"u": u, "r": r, "g": gap, "m": 4, "s_0": 0.4, "v_0": -1.5, "R": far}
    scores = np.append(0.4 - gap - np.log1p(u), 0.4)
    values = np.append(-1.5 + far - r, -1.5)
    context, weights = dot_product_attention(scores, np.eye(5), values[:, np.newaxis])
    assert value(WEIGHT.links[0][0], known) == pytest.approx(weights[-1], abs=1e-14)
    assert weights[-1] >= value(WEIGHT.links[-1][0], known) - 1e-14
    definitions = DERIVATION.context.definitions
    assert value(copy.c - copy.v_0, known, definitions) == pytest.approx(context[0] + 1.5, abs=1e-13)
    assert abs(context[0] + 1.5) <= value(DISTANCE.links[-1][0], known) + 1e-13


def test_a_wide_gap_copies_the_value_in_the_reference():
    keys, values = np.eye(6), RNG.normal(size=(6, 3))
    context, _ = dot_product_attention(60 * keys[2], keys, values)
    np.testing.assert_allclose(context, values[2], atol=1e-24)


def test_the_bound_in_exact_fractions():
    """With 2^s in place of e^s: two others, all scores up to 3 and gaps up to 3, values in units of R = 1."""
    steps = [Fraction(number, 2) for number in range(-2, 3)]
    for gap, one, other, x, y in product(range(4), range(4), range(4), steps, steps):
        weights = [Fraction(1), Fraction(1, 2 ** (gap + one)), Fraction(1, 2 ** (gap + other))]
        output = (weights[1] * x + weights[2] * y) / sum(weights)  # the leading value is 0
        assert abs(output) <= Fraction(2, 2 + 2**gap)


g, m, alpha, a, i = copy.g, copy.m, copy.alpha, copy.a, copy.i
TOO_MUCH = 1 / (1 + sp.exp(-g))
WRONG = {
    "one other key instead of m": (
        alpha, TOO_MUCH, bound_below(alpha * sp.exp(-g) * copy.short * TOO_MUCH, "alpha", "s"),
    ),
    "no certificate, no bound": (alpha, TOO_MUCH, bound_below(None, "alpha", "s")),
    "a certificate that may be negative": (
        copy.c, copy.v_0, bound_below(sp.Sum(a[i] * (copy.value[i] - copy.v_0), (i, 1, m)), "c", "alpha", "a"),
    ),
    "a gap of 0 is enough": (sp.Limit(copy.least, g, 0), sp.Integer(1), limit),
    "the others have weights of 1": (copy.c - copy.v_0, sp.Sum(copy.value[i] - copy.v_0, (i, 1, m)), definition("c", "alpha", "a")),
    "the bound the wrong way round": (m * copy.R / (m + sp.exp(g)), (1 - alpha) * copy.R, bound(None, "alpha", "s")),
    "the rest is α, not 1 - α": (sp.Sum(a[i] * copy.R, (i, 1, m)), alpha * copy.R, definition("a", "alpha")),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
