from __future__ import annotations

from fractions import Fraction
from itertools import product as pairs_of

import numpy as np
import pytest
import sympy as sp

from formulas.calculus import E
from reference.derivations.dot_product_variance import (
    DERIVATION,
    d,
    delta,
    i,
    j,
    k,
    mu,
    pairs,
    product,
    q,
    sigma,
    square,
)
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, expectation

RESULT = DERIVATION.chains[-1].steps[-1].right
VARIANCE = E(product**2) - E(product) ** 2


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_quadrature_in_exact_fractions(size, value):
    """The nodes μ ± σ with weights 1/2 integrate every cubic against a Gaussian exactly; (qᵀk)² is quadratic in each entry."""
    means, deviation = [Fraction(1, 2), Fraction(-3), Fraction(5, 7)][:size], Fraction(4, 3)
    nodes = list(pairs_of(*([mean - deviation, mean + deviation] for mean in means)))
    products = [sum(x * y for x, y in zip(left, right, strict=True)) for left in nodes for right in nodes]
    mean, second = (sum(each**power for each in products) / len(products) for power in (1, 2))
    assert second - mean**2 == value(RESULT, {"mu": np.array(means), "sigma": deviation, "d": size})


@pytest.mark.parametrize("size", [1, 2])
def test_quadrature_of_higher_degree(size, value):
    """Ten nodes per entry, exact up to degree 19, give the same as two: the degree was counted rightly."""
    means, deviation = np.array([0.5, -3.0])[:size], 1.3
    roots, weights = np.polynomial.hermite_e.hermegauss(10)
    grid = np.array(list(pairs_of(*(mean + deviation * roots for mean in means))))  # (10^d, d)
    mass = np.prod(list(pairs_of(*[weights / weights.sum()] * size)), axis=1)
    products = grid @ grid.T
    mean, second = (mass @ products**power @ mass for power in (1, 2))
    np.testing.assert_allclose(second - mean**2, value(RESULT, {"mu": means, "sigma": deviation, "d": size}))


def test_one_d_too_many_is_refused():
    """The sheet's last line, against the line before it and against the variance itself."""
    line = 2 * d * sigma**2 * square + d * sigma**4
    before = DERIVATION.chains[-1].steps[0].right
    for left, rule in ((before, algebra), (VARIANCE, expectation)):
        with pytest.raises(Refused):
            Step(left, line, "", rule).prove(DERIVATION.context)


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (VARIANCE, d * sigma**4, expectation),  # true for zero means only
        (VARIANCE, sigma**2 * square + d * sigma**4, expectation),
        (VARIANCE, 2 * sigma**2 * square + sigma**4, expectation),
        (E(q[i] * q[j]), mu[i] * mu[j] + sigma**2, expectation),  # different entries have no covariance
        (E(q[i] * k[i] * q[j] * k[j]), E(q[i] * k[i]) * E(q[j] * k[j]), expectation),  # unless i ≠ j
        (sp.Sum(delta, *pairs), d**2, algebra),
        (E(product**2), E(product) ** 2, expectation),
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
