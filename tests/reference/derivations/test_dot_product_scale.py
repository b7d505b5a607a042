from __future__ import annotations

import math
from fractions import Fraction
from itertools import product as pairs_of

import numpy as np
import pytest
import sympy as sp

from formulas.calculus import E
from reference.attention import scaled_dot_product_attention, softmax
from reference.derivations.dot_product_scale import (
    DERIVATION,
    SameSolutions,
    d,
    equation,
    product,
    s,
    sigma,
    square,
    variance,
)
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition, expectation


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("size", [1, 4, 64])
def test_variance_at_this_scale_has_no_dimension(size, value):
    at = {"d": size, "sigma": 1.5, "s": value(DERIVATION.chains[1].steps[-1].right.lhs, {"d": size})}
    np.testing.assert_allclose(value(variance, at), 1.5**4)


@pytest.mark.parametrize("size", [1, 3, 16])
def test_reference_divides_by_this_scale(size, value):
    rng = np.random.default_rng(size)
    Q, K, V = rng.normal(size=(2, size)), rng.normal(size=(5, size)), rng.normal(size=(5, 3))
    scale = value(sp.sqrt(d), {"d": size})
    np.testing.assert_allclose(scaled_dot_product_attention(Q, K, V), softmax(Q @ K.T / scale) @ V, atol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_all_pairs_in_exact_fractions(size):
    """The nodes ±σ integrate every cubic against the Gaussian exactly: Var(qᵀk) over d = s² is σ⁴, and over d² it is not."""
    deviation = Fraction(3, 2)
    nodes = list(pairs_of([-deviation, deviation], repeat=size))
    products = [sum(x * y for x, y in zip(left, right, strict=True)) for left in nodes for right in nodes]
    spread = Fraction(sum(each**2 for each in products), len(products))
    assert sum(products) == 0
    assert spread / size == deviation**4
    assert (spread / size**2 == deviation**4) is (size == 1)


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (equation(variance, sigma**4), equation(d, s), SameSolutions(sigma**4 / s**2)),  # s = d, the scale too large
        (equation(d, s**2), equation(d, s), SameSolutions(s)),
        (equation(d, s**2), equation(sp.sqrt(d), s), SameSolutions(sp.sqrt(d) - s)),  # may be zero
        (equation(d, s**2), equation(sp.sqrt(d), s), SameSolutions(s)),
        (variance, sp.sqrt(d), SameSolutions(s)),  # no equations
        (E((product / s) ** 2), E(product**2) / s, expectation),  # a variance scales with s²
        ((2 * sigma**2 * square + d * sigma**4) / s**2, variance, algebra),  # not without zero means
        (variance.xreplace({s: d}), sigma**4, definition("mu")),
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)


def test_the_mean_does_not_choose_a_scale(value):
    """The sheet argues with the mean: it is zero for s = 1 and s = √d alike, only the variance tells them apart."""
    mean = DERIVATION.chains[2].steps[-1].right
    assert all(value(mean, {"d": 9, "s": at}) == 0 for at in (1.0, math.sqrt(9), 9.0))
    assert value(variance, {"d": 9, "s": 1.0, "sigma": 1.0}) == 9
