from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from reference.derivations import perplexity_forms as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition
from reference.perplexity import perplexity, sequence_perplexity

DERIVATION = proof.DERIVATION
b, t, p, i, N, H, P, log, two = proof.b, proof.t, proof.p, proof.i, proof.N, proof.H, proof.P, proof.log, proof.two


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("base", [2.0, math.e, 10.0, 0.5])
def test_all_forms_are_the_references(value, base):
    """b^H(b), the power of the product and the two functions of perplexity.py agree."""
    probabilities = np.random.default_rng(0).uniform(0.05, 1, size=7)
    known = {"p": probabilities, "N": 7, "b": base, "t": 3.0, "P": probabilities.prod()}
    expected = sequence_perplexity(probabilities)
    assert perplexity(np.log(probabilities) / math.log(base), base) == pytest.approx(expected)
    for step in DERIVATION.steps:
        assert value(step.left, known, DERIVATION.context.definitions) == pytest.approx(expected)
        assert value(step.right, known, DERIVATION.context.definitions) == pytest.approx(expected)


def test_in_exact_fractions():
    """For probabilities 2^-k the bits are whole numbers: the perplexity to the power N is 1 / p(W), exactly."""
    for bits in ((1, 1), (1, 2, 3), (5, 0, 2, 7), (3,) * 6):
        text = math.prod(Fraction(1, 2**each) for each in bits)
        assert Fraction(2) ** sum(bits) == 1 / text
        mean = sum(bits) / len(bits)  # H in bits
        assert sequence_perplexity([0.5**each for each in bits]) == pytest.approx(2**mean, rel=1e-14)


nats = -proof.logs / N
WRONG = {
    "the sheet's summary: p(W)^(1/N)": (two ** H(two), P ** (1 / N), definition("H", "log_", "P")),
    "base 2 to a natural logarithm": (two**nats, proof.product ** (-1 / N), algebra),
    "e to a logarithm in base 2": (sp.exp(H(two)), two ** H(two), definition("H", "log_")),
    "two bases mixed": (b ** H(t), t ** H(t), definition("H", "log_")),
    "the mean is forgotten": (b ** H(b), 1 / proof.product, definition("H", "log_")),
    "the arithmetic mean of 1/p": (b ** H(b), sp.Sum(1 / p[i], (i, 1, N)) / N, definition("H", "log_")),
    "the logarithm of a sum": (log(b, sp.Sum(p[i], (i, 1, N))), sp.Sum(log(b, p[i]), (i, 1, N)), definition("log_")),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
