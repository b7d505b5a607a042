from __future__ import annotations

import math
from fractions import Fraction
from itertools import product as pairs_of

import numpy as np
import pytest
import sympy as sp

from formulas.calculus import E
from reference.attention import dot_product_attention
from reference.derivations.dot_product_mean import DERIVATION, d, i, k, mu, product, q, sigma, square
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, expectation

RESULT = DERIVATION.chains[0].steps[-1].right


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_result_is_the_product_of_the_means(value):
    means = np.array([0.5, -2.0, 3.0])
    np.testing.assert_allclose(value(RESULT, {"mu": means, "d": 3}), means @ means)


def test_the_product_is_the_score_of_the_reference(value):
    """Softmax of the products is the reference's weights: their logarithms differ as the products do."""
    rng = np.random.default_rng(0)
    query, keys = rng.normal(size=4), rng.normal(size=(2, 4))
    scores = [value(product, {"q": query, "k": key, "d": 4}) for key in keys]
    _, weights = dot_product_attention(query, keys, keys)
    np.testing.assert_allclose(scores[0] - scores[1], math.log(weights[0] / weights[1]), atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_quadrature_in_exact_fractions(size, value):
    """The nodes μ ± σ with weights 1/2 integrate every cubic against a Gaussian exactly, and qᵀk is linear in each entry."""
    means, deviation = [Fraction(1, 2), Fraction(-3), Fraction(5, 7)][:size], Fraction(4, 3)
    nodes = list(pairs_of(*([mean - deviation, mean + deviation] for mean in means)))
    total = sum(sum(x * y for x, y in zip(left, right, strict=True)) for left in nodes for right in nodes)
    assert total / len(nodes) ** 2 == value(RESULT, {"mu": np.array(means), "d": size})


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (E(product), sp.Integer(0), expectation),  # means are zero only if someone says so
        (E(product), d * square, expectation),
        (E(product), square + d * sigma**2, expectation),  # that is E[qᵀq]
        (E(product), sp.Sum(mu[i], (i, 1, d)) ** 2, expectation),
        (E(q[i] * q[i]), E(q[i]) * E(q[i]), expectation),  # q_i is not independent of itself
        (E(q[i] * k[i]), E(q[i]) * E(k[i]), algebra),  # independence is a premise
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
