"""With k heads of argmax attention an output at level n depends on up to (k + 1)^n inputs."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Derivation, Premise, chain
from reference.derivations.rules import Induction, algebra

k, h = index("k"), index("h")
n, j = (sp.Symbol(name, integer=True, nonnegative=True) for name in "nj")
R = sp.Function("R")


def grown(heads: sp.Expr) -> sp.Expr:
    """Return what a position one level up depends on, given what one at level n does."""
    return R(heads, n) + sp.Sum(R(heads, n), (h, 1, heads))


def by_induction(heads: sp.Expr) -> Induction:
    """Return the rule that goes up from level n to level n + 1."""
    return Induction(n, first=sp.Integer(0), start=sp.Integer(1), step=grown(heads))


one, two = sp.Integer(1), sp.Integer(2)

DERIVATION = Derivation(
    id="receptive_field",
    title="The receptive field of argmax attention",
    source="S1.e",
    shows="Each level multiplies what a position can depend on by k + 1: what it held, and one copy from each head.",
    premises=(
        Premise(sp.Eq(R(k, 0), 1, evaluate=False), "at level 0 a position is its own input"),
        Premise(
            sp.Eq(R(k, n + 1), grown(k), evaluate=False),
            "the residual keeps what a position held, each of k heads adds what one other position held; "
            "they add up when no two hold the same input, which is the most there can be",
        ),
    ),
    chains=(
        chain(
            grown(k),
            ((k + 1) * R(k, n), "The sum has k equal terms.", algebra),
            title="One level more",
        ),
        chain(
            R(k, n),
            ((k + 1) ** n, "It is 1 at level 0, and each level multiplies it by k + 1.", by_induction(k)),
            (
                sp.Sum(sp.binomial(n, j) * k**j, (j, 0, n)),
                "The binomial theorem: j of the n levels lead through one of k heads, the others through the residual.",
                algebra,
            ),
            title="k heads",
        ),
        chain(R(one, n), (2**n, "Each level doubles it.", by_induction(one)), title="One head"),
        chain(R(two, n), (3**n, "Each level multiplies it by 3.", by_induction(two)), title="Two heads"),
    ),
    explains=("attention.argmax_attention", "attention.receptive_field", "receptive_field"),
)
