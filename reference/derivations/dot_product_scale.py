"""Var(qᵀk/s) = σ⁴ for zero means exactly if s = √d."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from formulas.calculus import E
from reference.derivations.dot_product_mean import VECTORS, d, i, mu, product, sigma, square
from reference.derivations.proof import Context, Derivation, Refused, chain, defines
from reference.derivations.rules import algebra, definition, expectation


@dataclass(frozen=True)
class SameSolutions:
    """One equation holds exactly where the other does: left difference = factor · right difference, factor positive."""

    factor: sp.Expr
    name: str = "a factor that is not zero"
    relation: str = field(default="⇔", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the two equations have the same solutions, raise Refused otherwise."""
        if not (isinstance(left, sp.Eq) and isinstance(right, sp.Eq)):
            raise Refused("this rule compares two equations")
        if not self.factor.is_positive:
            raise Refused("the factor is not known to be positive")
        algebra.prove(left.lhs - left.rhs, self.factor * (right.lhs - right.rhs), context)


s = sp.Symbol("s", positive=True)
variance = d * sigma**4 / s**2


def equation(left: sp.Expr, right: sp.Expr) -> sp.Eq:
    """Return an equation as it is written."""
    return sp.Eq(left, right, evaluate=False)


DERIVATION = Derivation(
    id="dot_product_scale",
    title="Why attention divides by √d",
    source="S3.6c",
    shows="Divided by √d, query times key has the variance σ⁴ in every dimension if the means are zero.",
    premises=(*VECTORS, defines(mu[i], sp.Integer(0), "the means are zero")),
    chains=(
        chain(
            E((product / s) ** 2) - E(product / s) ** 2,
            (
                (E(product**2) - E(product) ** 2) / s**2,
                "A constant factor leaves an expectation, squared here.",
                expectation,
            ),
            ((2 * sigma**2 * square + d * sigma**4) / s**2, "The variance of qᵀk.", expectation),
            (variance, "The means are zero.", definition("mu")),
            title="the variance of the scaled product",
        ),
        chain(
            equation(variance, sigma**4),
            (
                equation(d, s**2),
                "Both sides are multiplied by s²/σ⁴, which is positive.",
                SameSolutions(sigma**4 / s**2),
            ),
            (
                equation(sp.sqrt(d), s),
                "d - s² = (√d + s)(√d - s), and the first factor is positive.",
                SameSolutions(sp.sqrt(d) + s),
            ),
            title="the one scale that gives the variance σ⁴",
        ),
        chain(
            E(product / s),
            (square / s, "The mean of qᵀk is μᵀμ.", expectation),
            (sp.Integer(0), "The means are zero: as to the mean, every scale would do.", definition("mu")),
            title="the mean needs no scale",
        ),
    ),
    explains=("attention.scaled_dot_product_attention", "dot_product_scale"),
)
