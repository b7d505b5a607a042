"""E[qᵀk] = μᵀμ for independent q and k with the same means."""

from __future__ import annotations

import sympy as sp

from formulas.calculus import E, Gaussian
from formulas.matrices import index
from reference.derivations.proof import Derivation, Premise, chain
from reference.derivations.rules import algebra, expectation

i, d = index("i"), index("d")
sigma = sp.Symbol("sigma", positive=True)
q, k, mu = (sp.IndexedBase(name, real=True) for name in ("q", "k", "mu"))
product = sp.Sum(q[i] * k[i], (i, 1, d))
square = sp.Sum(mu[i] ** 2, (i, 1, d))  # μᵀμ

VECTORS = (
    Premise("q_i ~ N(μ_i, σ²), independent for i = 1 … d", gaussian=Gaussian("q", mu, sigma**2)),
    Premise("k_i ~ N(μ_i, σ²), independent of each other and of q", gaussian=Gaussian("k", mu, sigma**2)),
)

DERIVATION = Derivation(
    id="dot_product_mean",
    title="Mean of a query times a key",
    source="S3.6a",
    shows="On average a query times a key is the squared length of their common mean, so zero for zero means.",
    premises=VECTORS,
    chains=(
        chain(
            E(product),
            (sp.Sum(E(q[i] * k[i]), (i, 1, d)), "The expectation of a sum is the sum of expectations.", expectation),
            (sp.Sum(E(q[i]) * E(k[i]), (i, 1, d)), "q_i and k_i are independent.", expectation),
            (sp.Sum(sp.Mul(mu[i], mu[i], evaluate=False), (i, 1, d)), "Both have the mean μ_i.", expectation),
            (square, "The sum of squares is μᵀμ.", algebra),
        ),
    ),
    explains=("attention.scaled_dot_product_attention", "dot_product_mean"),
)
