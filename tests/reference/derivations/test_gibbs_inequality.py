from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from reference.derivations import gibbs_inequality as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import Minimum, algebra, definition
from reference.perplexity import cross_entropy, entropy

DERIVATION = proof.DERIVATION
m, p, x, i, n, gap, gaps, Gaps = proof.m, proof.p, proof.x, proof.i, proof.n, proof.gap, proof.gaps, proof.Gaps
ZERO = sp.Integer(0)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_difference_is_the_references(value):
    """Σ m gap(p/m) is cross_entropy less entropy, in nats, and neither it nor that of the perplexities is negative."""
    rng, definitions = np.random.default_rng(0), DERIVATION.context.definitions
    for size in (2, 5, 30):
        truth, model = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
        known = {"m": truth, "p": model, "n": size}
        assert value(proof.cross, known, definitions) == pytest.approx(cross_entropy(truth, model, math.e))
        assert value(proof.entropy, known, definitions) == pytest.approx(entropy(truth, math.e))
        difference = float(cross_entropy(truth, model, math.e) - entropy(truth, math.e))
        assert value(gaps, known, definitions) == pytest.approx(difference, abs=1e-12)
        assert difference >= 0
        assert 2 ** cross_entropy(truth, model) >= 2 ** entropy(truth)


def test_in_exact_fractions():
    """In whole counts of 12, (m/p)^m multiplied over the outcomes, to the power 12, is never below 1; it is 1 for p = m."""
    parts = [(a, b, 12 - a - b) for a in range(1, 11) for b in range(1, 12 - a)]
    for truth, model in product(parts, repeat=2):
        ratio = math.prod(Fraction(a, b) ** a for a, b in zip(truth, model, strict=True))
        assert ratio >= 1
        assert (ratio == 1) == (truth == model)


def test_the_expectation_under_the_model_may_be_lower():
    """The sheet's slip: with the expectation under p, the \"cross-entropy\" is the model's own, which may be below."""
    truth, model = [0.5, 0.5], [0.9, 0.1]
    assert cross_entropy(truth, model) > entropy(truth) > entropy(model)


under_p = -sp.Sum(p[i] * sp.log(p[i]), (i, 1, n))
touches = Minimum(x, at=sp.Integer(1), slope=1 / x)
WRONG = {
    "the sheet: the expectation is under p": (proof.cross, under_p, definition("H_mp")),
    "and so H(p) would be at least H(m)": (under_p, proof.entropy, Gaps(gaps, ("H_m",))),
    "distributions that do not sum to 1": (proof.cross - proof.entropy, gaps, definition("H_mp", "H_m", "gap")),
    "the other way round": (proof.entropy, proof.cross, Gaps(gaps, ("H_mp", "H_m"))),
    "a gap above 1": (proof.tangent, sp.Integer(1), touches),
    "a minimum elsewhere": (proof.tangent, ZERO, Minimum(x, at=sp.Integer(2), slope=1 / x)),
    "ln lies above its tangent": (sp.log(x) - x + 1, ZERO, touches),
    "a gap at what may be negative": (gap(1 - x), ZERO, Gaps(gap(1 - x))),
    "minus a gap": (-gap(x), ZERO, Gaps(-gap(x))),
    "the logarithm of a mean": (sp.Sum(m[i] * sp.log(p[i]), (i, 1, n)), sp.log(sp.Sum(m[i] * p[i], (i, 1, n))), algebra),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
