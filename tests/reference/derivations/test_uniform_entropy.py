from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from reference.derivations import uniform_entropy as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition
from reference.perplexity import entropy, perplexity

DERIVATION = proof.DERIVATION
H, log, b, n, two, six = proof.H, proof.log, proof.b, proof.n, proof.two, proof.six


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("base", [2.0, math.e, 10.0])
def test_entropy_and_perplexity_are_the_references(value, base):
    for size in (1, 2, 6, 50):
        known, definitions = {"n": size, "b": base}, DERIVATION.context.definitions
        uniform = np.full(size, 1 / size)
        assert value(log(b, n), known, definitions) == pytest.approx(entropy(uniform, base), abs=1e-12)
        assert value(H(b, n), known, definitions) == pytest.approx(entropy(uniform, base), abs=1e-12)
        assert perplexity(np.log(uniform) / math.log(base), base) == pytest.approx(size)


def test_the_die(value):
    """2.585 bits and six faces, as the sheet has them."""
    assert round(value(log(two, six), {}, DERIVATION.context.definitions), 3) == 2.585
    assert value(two ** H(two, six), {}, DERIVATION.context.definitions) == pytest.approx(6)


def test_bits_of_a_power_of_two():
    """2^k equal outcomes take k questions of yes or no: halving a range until one is left, in exact fractions."""
    for bits in range(12):
        chance, questions = Fraction(1), 0
        while chance > Fraction(1, 2**bits):
            chance, questions = chance / 2, questions + 1
        assert questions == bits
        assert entropy(np.full(2**bits, 0.5**bits)) == pytest.approx(bits, rel=1e-14)


by_all = definition("H", "log_")
WRONG = {
    "the minus sign is forgotten": (H(b, n), log(b, 1 / n), by_all),
    "one term of n": (H(b, n), log(b, n) / n, by_all),
    "the entropy is n": (H(b, n), n, by_all),
    "the perplexity of a die is 2.585": (two ** H(two, six), log(two, six), by_all),
    "another base for the power": (two ** H(b, n), n, by_all),
    "log n without its definition": (-log(b, 1 / n), log(b, n), algebra),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
