from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from reference.derivations.layer_norm_invariance import (
    DERIVATION,
    LN,
    a,
    beta,
    c,
    d,
    epsilon,
    gamma,
    i,
    k,
    mean,
    mu_x,
    n,
    v_n,
    v_x,
    x,
    y,
)
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition
from reference.transformer import layer_norm

RNG = np.random.default_rng(0)
EVERYTHING = definition("y", "mu_y", "mu_x", "v_y", "v_x", "n", "LN")


def fractions(*numerators):
    return [Fraction(number, 8) for number in numerators]


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_definition_is_the_reference(size, value):
    """LN_i of the derivation is layer_norm of the reference, feature by feature."""
    data = {name: RNG.normal(size=size) for name in ("x", "gamma", "beta")}
    known = {**data, "d": size, "epsilon": 1e-2}
    got = [value(LN[place], known, DERIVATION.context.definitions) for place in range(1, size + 1)]
    np.testing.assert_allclose(got, layer_norm(data["x"], data["gamma"], data["beta"], eps=1e-2), atol=1e-12)


def test_reference_does_not_see_shift_and_scale():
    """The reference on a x + c with a² ε gives what it gives on x with ε."""
    data, weight, bias = RNG.normal(size=(3, 6)), RNG.normal(size=6), RNG.normal(size=6)
    moved = layer_norm(7.0 * data - 30, weight, bias, eps=49e-3)
    np.testing.assert_allclose(moved, layer_norm(data, weight, bias, eps=1e-3), atol=1e-9)


def test_variance_of_the_output_in_exact_fractions():
    """Squares of the normalised features are fractions: their mean is v / (v + ε) to the last digit."""
    row, eps = fractions(3, -5, 8, 1, 20), Fraction(1, 4)
    average = sum(row) / len(row)
    deviations = [entry - average for entry in row]
    v = sum(entry**2 for entry in deviations) / len(row)
    assert sum(deviations) == 0
    assert sum(entry**2 / (v + eps) for entry in deviations) / len(row) == v / (v + eps)


def test_scale_squares_in_exact_fractions():
    """Sign and square of every normalised feature are the same for x with ε and for a x + c with a² ε."""

    def signs_and_squares(row, eps):
        average = sum(row) / len(row)
        v = sum((entry - average) ** 2 for entry in row) / len(row)
        return [((entry > average), (entry - average) ** 2 / (v + eps)) for entry in row]

    row, scale, shift, eps = fractions(3, -5, 8, 1, 20), Fraction(7, 3), Fraction(-9, 2), Fraction(1, 4)
    moved = [scale * entry + shift for entry in row]
    assert signs_and_squares(moved, scale**2 * eps) == signs_and_squares(row, eps)


NEGATIVE = sp.Symbol("b", real=True)  # a scale of unknown sign
SAMPLE = sp.Sum((x[k] - mu_x) ** 2, (k, 1, d)) / (d - 1)
WRONG = {
    "ε is not scaled with the input": ((y[i] - a * mu_x - c) / sp.sqrt(a**2 * v_x + epsilon), n[i], EVERYTHING),
    "a scale of either sign": (
        (NEGATIVE * x[i] - NEGATIVE * mu_x) / sp.sqrt(NEGATIVE**2 * v_x),
        (x[i] - mu_x) / sp.sqrt(v_x),
        algebra,
    ),
    "ε outside of the root": ((x[i] - mu_x) / (sp.sqrt(v_x) + epsilon), n[i], EVERYTHING),
    "sample variance": (v_n, v_x / (SAMPLE + epsilon), definition("v_n", "mu_n", "n", "v_x", "mu_x")),
    "variance exactly 1 with ε": (v_n, sp.Integer(1), definition("v_n", "mu_n", "n", "v_x", "mu_x")),
    "shift after γ and β": (LN[i], (n[i] + c) * gamma[i] + beta[i], EVERYTHING),
    "mean is not subtracted": (mean(x[k] ** 2), v_x, definition("v_x", "mu_x")),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused, match="differ"):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
