"""Through a plain recurrent network the gradient is multiplied at every step by a number below |u|."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Context, Derivation, Premise, Refused, chain, defines
from reference.derivations.rules import Bound, Induction, algebra, definition, differentiation, limit


@dataclass(frozen=True)
class FactorByFactor:
    """Π f ≤ Π g over the same range, because 0 ≤ f ≤ g for every factor.

    `factor` is f written so that it is plainly not negative, `gap` is g - f so written.
    """

    factor: sp.Expr
    gap: sp.Expr
    unfold: tuple[str, ...] = ()
    name: str = "comparing factor by factor"
    relation: str = field(default="≤", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if every factor on the left lies between 0 and its counterpart, raise Refused otherwise."""
        if not (isinstance(left, sp.Product) and isinstance(right, sp.Product) and left.limits == right.limits):
            raise Refused("this rule compares two products over the same range")
        Bound(certificate=self.factor, unfold=self.unfold).prove(sp.Integer(0), left.function, context)
        Bound(certificate=self.gap, unfold=self.unfold).prove(left.function, right.function, context)


d, i, j, k, n, r = map(index, ("d", "i", "j", "k", "n", "r"))
m = sp.Symbol("m", integer=True, nonnegative=True)  # steps between the two states
h, p, x, y = (sp.IndexedBase(name, real=True) for name in "hpxy")
W, U = (sp.IndexedBase(name, real=True) for name in "WU")
z = sp.IndexedBase("z", real=True)
G = sp.Function("G", real=True)
u, lam = sp.symbols("u lambda", positive=True)
score = sp.Sum(W[i, k] * x[k], (k, 1, d)) + sp.Sum(U[i, k] * p[k], (k, 1, n))
zeta = sp.Symbol("zeta", real=True)

DERIVATION = Derivation(
    id="rnn_gradient_product",
    title="Why gradients vanish or explode in a recurrent network",
    source="S3.1",
    shows=(
        "The derivative of a state by one m steps before is a product of m factors u (1 - h²), at most |u|^m in size:"
        " it vanishes for |u| < 1, and for |u| > 1 it can grow like |u|^m."
    ),
    premises=(
        Premise("i and j are entries from 1 to n", facts=Facts(ranges={i: (sp.Integer(1), n), j: (sp.Integer(1), n)})),
        defines(h[i], sp.tanh(score), "entry i of the state after p, tanh(W x + U p)"),
        Premise("from here on the state is one number, u > 0 the size of its weight, z_r the score r steps on"),
        defines(y[r], sp.tanh(z[r]), "the state r steps on"),
        Premise(sp.Eq(G(0), 1, evaluate=False), "G is the size of the derivative of the state m steps on"),
        Premise(sp.Eq(G(m + 1), u * (1 - y[m + 1] ** 2) * G(m), evaluate=False), "the chain rule"),
    ),
    chains=(
        chain(
            sp.Derivative(h[i], p[j]),
            ((1 - sp.tanh(score) ** 2) * U[i, j], "The chain rule, and tanh' = 1 - tanh².", differentiation("h")),
            ((1 - h[i] ** 2) * U[i, j], "The tanh is the new state.", definition("h")),
            title="One step, any size",
        ),
        chain(
            G(m),
            (
                sp.Product(u * (1 - y[r] ** 2), (r, 1, m)),
                "Every step multiplies by its own derivative.",
                Induction(m, sp.Integer(0), start=sp.Integer(1), step=u * (1 - y[m + 1] ** 2) * G(m)),
            ),
            (
                sp.Product(u, (r, 1, m)),
                "States are values of tanh, so 1 - y² lies between 0 and 1.",
                FactorByFactor(factor=u / sp.cosh(z[r]) ** 2, gap=u * sp.tanh(z[r]) ** 2, unfold=("y",)),
            ),
            (u**m, "Equal factors make a power.", algebra),
            title="Many steps, one number",
        ),
        chain(
            sp.Limit(sp.exp(-lam * m), m, sp.oo),
            (sp.Integer(0), "For |u| < 1 write |u| = e^-λ with λ > 0: the bound falls to 0.", limit),
            title="Vanishing",
        ),
        chain(
            sp.Limit(u * (1 - sp.tanh(zeta) ** 2), zeta, 0),
            (u, "Near 0 a state passes on everything: with |u| > 1 the product then grows like |u|^m.", limit),
            title="Exploding",
        ),
    ),
    explains=("gates.rnn_gradient_norms", "why_gradients_vanish"),
)
