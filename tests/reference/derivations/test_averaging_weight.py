from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from reference.attention import averaging_query, dot_product_attention
from reference.derivations import averaging_weight as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition_and_premises, limit, premises

DERIVATION = proof.DERIVATION
a, b, j, n, lam, k, s, alpha, Z = proof.a, proof.b, proof.j, proof.n, proof.lam, proof.k, proof.s, proof.alpha, proof.Z
LAST = [chain.links[-1][0] for chain in DERIVATION.chains]


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_weight_and_output_are_the_references(value):
    """Orthonormal keys in general position: the weights and the distance from the average are those of attention."""
    rng = np.random.default_rng(0)
    keys = np.linalg.qr(rng.normal(size=(7, 7)))[0][:5]  # (n, d), rows orthonormal
    values = rng.normal(size=(5, 2))
    context, weights = dot_product_attention(averaging_query(keys[1], keys[3], 2.5), keys, values)
    known = {"k": keys.T, "v": values, "lambda": 2.5, "n": 5, "d": 7, "a": 2, "b": 4}
    assert weights[1] == pytest.approx(value(sp.exp(lam) / Z, known), abs=1e-12)
    np.testing.assert_allclose(
        [value(alpha[at], known, DERIVATION.context.definitions) for at in range(1, 6)], weights, atol=1e-12
    )
    off = [value(LAST[-1], {**known, "t": t}) for t in (1, 2)]
    np.testing.assert_allclose(context - (values[1] + values[3]) / 2, off, atol=1e-12)


def test_in_exact_fractions():
    """With e^λ = 3^m the weights of n keys, added up one by one, are 3^m / (2 3^m + n - 2)."""
    for size, power in ((2, 1), (3, 2), (10, 4), (100, 3)):
        exponentials = [Fraction(3) ** (power * (key in (0, 1))) for key in range(size)]
        assert exponentials[0] / sum(exponentials) == Fraction(3**power, 2 * 3**power + size - 2)


weigh = definition_and_premises("alpha", "s", "q")
WRONG = {
    "the sheet: the n - 2 other keys are forgotten": (alpha[a], sp.exp(lam) / (2 * sp.exp(lam)), weigh),
    "exactly a half": (alpha[a], sp.Rational(1, 2), weigh),
    "n others": (alpha[a], sp.exp(lam) / (2 * sp.exp(lam) + n), weigh),
    "the others score e^0 = 0": (proof.total, 2 * sp.exp(lam), premises),
    "every key scores λ": (s[j], lam, definition_and_premises("s", "q")),
    "scores without orthonormal keys": (sp.Sum(k[proof.r, a] ** 2, (proof.r, 1, proof.d)), sp.Integer(1), algebra),
    "the limit is 1": (sp.Limit(sp.exp(lam) / Z, lam, sp.oo), sp.Integer(1), limit),
    "a small scale averages too": (sp.Limit(sp.exp(lam) / Z, lam, 0), sp.Rational(1, 2), limit),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
