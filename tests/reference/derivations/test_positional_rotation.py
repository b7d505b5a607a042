from __future__ import annotations

import cmath
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from reference.derivations import positional_rotation as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, bound, definition
from reference.positional import sinusoidal_encoding, wavelengths

DERIVATION = proof.DERIVATION
S, C, omega, length, i, k, l, s, h, turn = (
    proof.S, proof.C, proof.omega, proof.length, proof.i, proof.k, proof.l, proof.s, proof.h, proof.turn
)  # fmt: skip
LAST = {chain.title: chain.links[-1][0] for chain in DERIVATION.chains}
KNOWN = {"d": 6, "h": 3, "b": 100.0, "k": 5, "l": 2, "s": 3}


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_encoding_is_the_references(value):
    """Pairs, shifted pairs, inner products and wavelengths, from the derivation and from positional.py."""
    table, definitions = sinusoidal_encoding(9, 6, 100.0), DERIVATION.context.definitions
    shifted = [LAST[title] for title in ("The first entry of a pair, s positions on", "The second entry")]
    for pair in range(3):
        known = {**KNOWN, "i": pair + 1}
        for column, entry in enumerate((S(i, k), C(i, k))):
            assert value(entry, known, definitions) == pytest.approx(table[5, 2 * pair + column], abs=1e-12)
            assert value(shifted[column], known, definitions) == pytest.approx(table[8, 2 * pair + column], abs=1e-12)
        assert value(LAST["The wavelengths"], known) == pytest.approx(wavelengths(6, 100.0)[pair], rel=1e-12)
    inner = LAST["Inner products depend on the distance k - l only"]
    assert value(inner, KNOWN, definitions) == pytest.approx(table[5] @ table[2], abs=1e-12)
    assert table[5] @ table[2] == pytest.approx(table[8] @ table[5], abs=1e-12)


def test_as_complex_numbers():
    """Pair (sin, cos) as the number cos + i sin: to move on is to multiply, which Python does without any addition formula."""
    for rate in (1.0, 0.3, 0.01):
        for at, by in ((0, 1), (5, 3), (40, 17)):
            turned = cmath.rect(1, rate * at) * cmath.rect(1, rate * by)
            assert (turned.imag, turned.real) == pytest.approx((math.sin(rate * (at + by)), math.cos(rate * (at + by))))


def test_rational_points_of_the_circle():
    """The point (3/5, 4/5), turned by its own angle again and again in exact fractions, stays on the unit circle."""
    cosine, sine = Fraction(3, 5), Fraction(4, 5)
    walk = [(Fraction(0), Fraction(1))]  # (sine, cosine) of no turn
    for _ in range(8):
        first, second = walk[-1]
        walk.append((cosine * first + sine * second, -sine * first + cosine * second))
    assert all(first**2 + second**2 == 1 for first, second in walk)
    inner = {(m, n): walk[m][0] * walk[n][0] + walk[m][1] * walk[n][1] for m in range(9) for n in range(9)}
    assert all(inner[m, n] == walk[abs(m - n)][1] for m, n in inner)


def test_nothing_comes_back_before_a_wavelength():
    """On a fine grid of shifts below one wavelength no other than 0 brings the pair back."""
    steps = np.arange(1, 1000) / 1000 * 2 * math.pi
    assert np.abs(np.exp(1j * steps) - 1).min() > 1e-3


both = definition("S", "C")
WRONG = {
    "the rotation's signs exchanged": (S(i, k + s), sp.cos(turn) * S(i, k) - sp.sin(turn) * C(i, k), both),
    "a linear sine": (S(i, k + s), S(i, k) + S(i, s), both),
    "the rotation depends on the position": (C(i, k + s), -sp.sin(omega[i] * k) * S(i, k) + sp.cos(omega[i] * k) * C(i, k), both),
    "the inner product depends on k + l": (proof.inner, sp.Sum(sp.cos(omega[i] * (k + l)), (i, 1, h)), both),
    "all pairs turn alike": (proof.inner, h * sp.cos(omega[1] * (k - l)), both),
    "half a turn is a full one": (sp.sin(omega[i] * (k + sp.pi / omega[i])), sp.sin(omega[i] * k), proof.full_turn),
    "a turn in frequency, not in position": (sp.sin(omega[i] * (k + 2 * sp.pi)), sp.sin(omega[i] * k), proof.full_turn),
    "the wavelength shrinks": (length[i], 2 * sp.pi * proof.base ** (-2 * (i - 1) / proof.d), definition("Lambda", "omega")),
    "the exponent has d, not 2, above": (length[i], 2 * sp.pi * proof.base ** (proof.d * (i - 1) / 2), definition("Lambda", "omega")),
    "algebra alone knows no full turn": (sp.sin(omega[i] * (k + 2 * sp.pi / omega[i])), sp.sin(omega[i] * k), algebra),
    "a smaller bound": (S(i, k) ** 2, sp.Rational(1, 2), bound(sp.cos(omega[i] * k) ** 2, "S")),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
