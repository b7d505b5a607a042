"""Var(qᵀk) = 2σ² μᵀμ + dσ⁴ for independent q and k with the same means."""

from __future__ import annotations

import sympy as sp

from formulas.calculus import E
from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.dot_product_mean import VECTORS, d, i, k, mu, product, q, sigma, square
from reference.derivations.proof import Derivation, Premise, chain
from reference.derivations.rules import algebra, expectation

j = index("j")
delta = sp.KroneckerDelta(i, j)
pairs = ((j, 1, d), (i, 1, d))
second = sp.Sum(mu[i] ** 2 * mu[j] ** 2, *pairs) + 2 * sigma**2 * sp.Sum(mu[i] * mu[j] * delta, *pairs)

DERIVATION = Derivation(
    id="dot_product_variance",
    title="Variance of a query times a key",
    source="S3.6b",
    shows="The variance grows with the dimension: each of the d products adds 2σ²μ_i² + σ⁴.",
    premises=(
        *VECTORS,
        Premise(
            "i and j are indices from 1 to d",
            facts=Facts(ranges={i: (sp.Integer(1), d), j: (sp.Integer(1), d)}),
        ),
    ),
    chains=(
        chain(
            E(q[i] * q[j]),
            (
                E(q[i]) * E(q[j]) + sigma**2 * delta,
                "The second moment is the product of the means plus the covariance; different entries have none.",
                expectation,
            ),
            (mu[i] * mu[j] + sigma**2 * delta, "Each entry has its mean; the same holds for k.", expectation),
            title="second moments of one vector",
        ),
        chain(
            E(product**2),
            (
                sp.Sum(E(q[i] * k[i] * q[j] * k[j]), *pairs),
                "The square of a sum is a double sum, and the expectation is taken term by term.",
                expectation,
            ),
            (sp.Sum(E(q[i] * q[j]) * E(k[i] * k[j]), *pairs), "q and k are independent.", expectation),
            (sp.Sum((mu[i] * mu[j] + sigma**2 * delta) ** 2, *pairs), "The second moments, as above.", expectation),
            (
                second + sigma**4 * sp.Sum(delta, *pairs),
                "The square is multiplied out; a delta is its own square.",
                algebra,
            ),
            (
                square**2 + 2 * sigma**2 * square + d * sigma**4,
                "The first double sum is a product of two sums; a delta leaves d terms of each of the others.",
                algebra,
            ),
            title="second moment of the product",
        ),
        chain(
            E(product**2) - E(product) ** 2,
            (
                sp.Add(square**2 + 2 * sigma**2 * square + d * sigma**4, -(square**2), evaluate=False),
                "The second moment is known, and the mean is μᵀμ.",
                expectation,
            ),
            (2 * sigma**2 * square + d * sigma**4, "(μᵀμ)² cancels; nothing multiplies μᵀμ by d.", algebra),
            title="the variance",
        ),
    ),
    explains=("attention.scaled_dot_product_attention", "dot_product_variance"),
)
