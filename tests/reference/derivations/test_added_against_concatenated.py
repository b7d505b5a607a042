from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from reference.derivations import added_against_concatenated as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra
from reference.positional import added_score, concatenated_score

DERIVATION = proof.DERIVATION
x1, x2, p1, p2, z1, z2, d, e, i, dot = (
    proof.x1, proof.x2, proof.p1, proof.p2, proof.z1, proof.z2, proof.d, proof.e, proof.i, proof.dot
)  # fmt: skip
ADDED, CONCATENATED, DIFFERENCE = (chain.links[-1][0] for chain in DERIVATION.chains)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_derived_scores_are_the_references(value):
    """Four terms, two terms and the cross terms, with positions of the words' length and of another."""
    rng = np.random.default_rng(0)
    known = {name: rng.normal(size=4) for name in ("x1", "x2", "p1", "p2")} | {"d": 4, "e": 4}
    arguments = [known[name] for name in ("x1", "p1", "x2", "p2")]
    assert value(ADDED, known) == pytest.approx(added_score(*arguments), abs=1e-12)
    both = added_score(*arguments) - concatenated_score(*arguments)
    assert value(DIFFERENCE, known) == pytest.approx(both, abs=1e-12)
    short = {**known, "p1": rng.normal(size=3), "p2": rng.normal(size=3), "e": 3}
    arguments = [short[name] for name in ("x1", "p1", "x2", "p2")]
    assert value(CONCATENATED, short) == pytest.approx(concatenated_score(*arguments), abs=1e-12)


def test_in_exact_fractions():
    """All words and positions of length 2 in two values, lists written out: the difference is the cross terms."""
    vectors = list(product((Fraction(1, 2), Fraction(-3)), repeat=2))

    def times(first, second):
        return sum(a * b for a, b in zip(first, second, strict=True))

    for x, p, y, q in product(vectors, repeat=4):
        added = times([a + b for a, b in zip(x, p, strict=True)], [a + b for a, b in zip(y, q, strict=True)])
        assert added - times(x + p, y + q) == times(x, q) + times(p, y)


WRONG = {
    "the cross terms are forgotten": (proof.added, dot(x1, x2, d) + dot(p1, p2, d), algebra),
    "one cross term counted twice": (proof.added, dot(x1, x2, d) + 2 * dot(x1, p2, d) + dot(p1, p2, d), algebra),
    "concatenating has cross terms": (dot(z1, z2, d + e), proof.four, proof.apart),
    "words meet positions": (dot(z1, z2, d + e), dot(x1, p2, d) + dot(p1, x2, e), proof.apart),
    "positions of the words' length": (dot(z1, z2, d + e), dot(x1, x2, d) + dot(p1, p2, d), proof.apart),
    "the words alone": (dot(z1, z2, d + e), dot(x1, x2, d), proof.apart),
    "only a part of a concatenation": (dot(z1, z2, d), dot(x1, x2, d), proof.apart),
    "a weight that knows the place": (sp.Sum(i * z1[i], (i, 1, d + e)), sp.Sum(i * x1[i], (i, 1, d)) + sp.Sum(i * p1[i], (i, 1, e)), proof.apart),
    "a vector that is no concatenation": (sp.Sum(x1[i], (i, 1, d + e)), sp.Sum(x1[i], (i, 1, d)) + sp.Sum(x1[i], (i, 1, e)), proof.apart),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
