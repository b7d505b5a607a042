from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from reference.attention import averaging_query, dot_product_attention
from reference.derivations import single_head_weight as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, bound, limit

DERIVATION = proof.DERIVATION
lam, g, h, n, alpha = proof.lam, proof.g, proof.h, proof.n, proof.alpha
a, b, stretched, plain, Z = proof.a, proof.b, proof.stretched, proof.plain, proof.Z


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("stretch", [-1.5, -0.4, 0.0, 0.7])
def test_the_weight_is_the_references(value, stretch):
    """Stretch one of five keys: its weight in attention is the derived one, in all of its forms."""
    means = np.linalg.qr(np.random.default_rng(0).normal(size=(7, 7)))[0][:5]
    keys = means.copy()
    keys[1] *= 1 + stretch
    _, weights = dot_product_attention(averaging_query(means[1], means[3], 1.5), keys, np.eye(5))
    known = {"mu": means.T, "lambda": 1.5, "g": stretch, "n": 5, "m": 3, "d": 7, "a": 2, "b": 4}
    assert value(alpha[a], known, DERIVATION.context.definitions) == pytest.approx(weights[1], abs=1e-12)
    for form in (stretched / Z, proof.against_b(g), proof.against_all(g)):
        assert value(form, known) == pytest.approx(weights[1], abs=1e-12)
    share = weights[1] / (weights[1] + weights[3])
    assert value(1 / (1 + sp.exp(-lam * g)), known) == pytest.approx(share, abs=1e-12)


def test_in_exact_fractions():
    """With e^λ = 2 and whole numbers g the weights, added up one by one, are those derived; they tip with g."""
    size, shares = 6, []
    for stretch in range(-3, 4):
        exponentials = [Fraction(2) ** (1 + stretch), Fraction(2)] + [Fraction(1)] * (size - 2)
        assert sum(exponentials) == Fraction(2) ** (1 + stretch) + 2 + size - 2
        assert 1 - (exponentials[0] + exponentials[1]) / sum(exponentials) <= Fraction(size - 2, 2)
        shares.append(exponentials[0] / (exponentials[0] + exponentials[1]))
    assert shares == [1 / (1 + Fraction(2) ** -stretch) for stretch in range(-3, 4)]
    assert shares[3] == Fraction(1, 2)


def test_a_large_scale_makes_it_all_or_nothing():
    """At λ = 400 the weight is 1 for g = 0.2 and 0 for g = -0.2, for ten keys."""
    means = np.eye(10)
    for stretch, expected in ((0.2, 1.0), (-0.2, 0.0)):
        keys = means.copy()
        keys[0] *= 1 + stretch
        _, weights = dot_product_attention(averaging_query(means[0], means[1], 400.0), keys, means)
        assert weights[0] == pytest.approx(expected, abs=1e-12)


WRONG = {
    "the sheet: a bracket misplaced": (alpha[b], plain / sp.exp(lam * (1 + g) + plain), proof.weigh),
    "the other keys are forgotten": (alpha[a], stretched / (stretched + plain), proof.weigh),
    "the stretch scales the weight": (alpha[a], (1 + g) * plain / ((1 + g) * plain + plain + n - 2), proof.weigh),
    "key b is stretched too": (alpha[b], stretched / (2 * stretched + n - 2), proof.weigh),
    "the logistic function of λ(1+g)": (stretched / (stretched + plain), 1 / (1 + sp.exp(-lam * (1 + g))), algebra),
    "a longer key gets a half": (sp.Limit(proof.against_all(h), lam, sp.oo), sp.Rational(1, 2), limit),
    "the other keys' weight bounded without proof": ((n - 2) / Z, sp.exp(-lam), bound(None, "n")),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
