"""Softmax saturates: if one logit is ahead of all others by t·g, every derivative tends to 0 as t grows."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Context, Derivation, Premise, Refused, chain, defines
from reference.derivations.rules import algebra, bound, definition, differentiation, limit, premises


@dataclass(frozen=True)
class LargerExponents:
    """Σ w e^u ≤ Σ w e^v term by term, because e^x grows with x: `by` is v - u, and neither it nor w is negative."""

    weight: sp.Expr
    by: sp.Expr
    name: str = field(default="the exponential grows", init=False)
    relation: str = field(default="≤", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if every exponent on the right is larger by `by`, raise Refused otherwise."""
        if not (isinstance(left, sp.Sum) and isinstance(right, sp.Sum) and left.limits == right.limits):
            raise Refused("this rule compares two sums over the same range")
        if not (self.by.is_nonnegative and (self.weight.is_nonnegative or _is_square(self.weight))):
            raise Refused("the weight or the difference of the exponents may be negative")
        (first, u), (second, v) = (_exponential(side.function) for side in (left, right))
        algebra.prove(first, self.weight, context)
        algebra.prove(second, self.weight, context)
        algebra.prove(v - u, self.by, context)


def _is_square(expression: sp.Expr) -> bool:
    return isinstance(expression, sp.Pow) and expression.exp == 2 and bool(expression.base.is_real)


def _exponential(term: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return w and u of w e^u."""
    exponents = [factor.args[0] for factor in sp.Mul.make_args(term) if isinstance(factor, sp.exp)]
    rest = [factor for factor in sp.Mul.make_args(term) if not isinstance(factor, sp.exp)]
    return sp.Mul(*rest), sp.Add(*exponents)


i, j, k, m, n = map(index, ("i", "j", "k", "m", "n"))
t, g, top = sp.Symbol("t", positive=True), sp.Symbol("g", positive=True), sp.Symbol("M", real=True)
theta, a = sp.IndexedBase("theta", real=True), sp.IndexedBase("a", real=True)
p, s = sp.IndexedBase("p", positive=True), sp.IndexedBase("s", nonnegative=True)
delta = sp.KroneckerDelta(i, j)
other = 1 - sp.KroneckerDelta(k, m)  # 1 for every k but m
each, pairs = (k, 1, n), ((j, 1, n), (i, 1, n))

Z = sp.Sum(sp.exp(theta[k]), each)
behind = sp.Sum(other * sp.exp(theta[k] - theta[m]), each)
squares = sp.Sum(p[i] * (delta - p[j]) ** 2, *pairs)
complement = sp.Sum(p[k] * (1 - sp.KroneckerDelta(i, k)) ** 2, each)  # 1 - p_i

DERIVATION = Derivation(
    id="softmax_saturation",
    title="Saturation of softmax",
    source="S3.6d",
    shows="Scores that spread widely put one of them far ahead; then all derivatives of softmax vanish.",
    premises=(
        defines(p[i], sp.exp(theta[i]) / Z, "softmax"),
        defines(theta[k], t * a[k], "the scores; t is their spread, which grows like √d if nothing divides by it"),
        defines(a[k], top - other * (g + s[k]), "score m is M, every other one is below it by g or more"),
        Premise("g > 0 is the gap, and no s_k is negative"),
        Premise("m is an index from 1 to n", facts=Facts(ranges={m: (sp.Integer(1), n)})),
    ),
    chains=(
        chain(
            sp.Sum(sp.Derivative(p[i], theta[j]) ** 2, *pairs),
            (sp.Sum((p[i] * (delta - p[j])) ** 2, *pairs), "The Jacobian of softmax.", differentiation("p")),
            (
                squares,
                "p_i² ≤ p_i: what p_i lacks to 1 is the sum of the other probabilities.",
                bound(sp.Sum(p[i] * complement * (delta - p[j]) ** 2, *pairs), "p"),
            ),
            (
                1 - sp.Sum(p[k] ** 2, each),
                "The square is multiplied out, and the probabilities sum to 1.",
                definition("p"),
            ),
            (1 - p[m] ** 2, "All squares but one are left out.", bound(sp.Sum(other**2 * p[k] ** 2, each))),
            (2 * (1 - p[m]), "1 - p² = 2(1 - p) - (1 - p)².", bound((1 - p[m]) ** 2)),
            title="all derivatives are small when one probability is near 1",
        ),
        chain(
            1 - p[m],
            (sp.Sum(other * p[k], each), "The other probabilities are what p_m lacks to 1.", definition("p")),
            (sp.Sum(other * sp.exp(theta[k]), each) / Z, "They have one denominator.", definition("p")),
            (
                behind,
                "The denominator is at least e^θ_m, one of its terms.",
                bound(behind**2 / sp.Sum(sp.exp(theta[k] - theta[m]), each)),
            ),
            (
                sp.Sum(other * sp.exp(-t * (g + s[k])), each),
                "Every other score is behind by t (g + s_k).",
                definition("theta", "a"),
            ),
            (
                sp.Sum(other * sp.exp(-t * g), each),
                "The exponential grows with its argument, and t s_k is not negative.",
                LargerExponents(other**2, t * s[k]),
            ),
            ((n - 1) * sp.exp(-t * g), "There are n - 1 others.", premises),
            title="a gap brings that probability near 1",
        ),
        chain(
            sp.Limit(2 * (n - 1) * sp.exp(-t * g), t, sp.oo),
            (
                sp.Integer(0),
                "The squares of all derivatives add up to no more than this, so each derivative tends to 0.",
                limit,
            ),
            title="as the scores spread",
        ),
    ),
    explains=("attention.scaled_dot_product_attention", "unscaled_attention"),
)
