"""When key a is stretched by 1 + g, one head's weight on it is 1 / (1 + e^{-λg} + (n-2) e^{-λ(1+g)})."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, bound, definition, definition_and_premises, limit, premises

a, b, d, j, l, n, r = map(index, ("a", "b", "d", "j", "l", "n", "r"))
m = sp.Symbol("m", integer=True, nonnegative=True)  # keys besides a and b
lam, h = sp.symbols("lambda h", positive=True)
g = sp.Symbol("g", real=True)
mu, k, q, s = (sp.IndexedBase(name, real=True) for name in ("mu", "k", "q", "s"))
alpha = sp.IndexedBase("alpha", positive=True)
one = sp.Integer(1)
at_a, at_b = sp.KroneckerDelta(j, a), sp.KroneckerDelta(j, b)

stretched, plain = sp.exp(lam * (1 + g)), sp.exp(lam)
Z = stretched + plain + n - 2


def against_all(of: sp.Expr) -> sp.Expr:
    """Return the weight of key a with everything divided by its own exponential."""
    return 1 / (1 + sp.exp(-lam * of) + (n - 2) * sp.exp(-lam * (1 + of)))


def against_b(of: sp.Expr) -> sp.Expr:
    """Return the weight of key a with everything divided by the exponential of key b."""
    return sp.exp(lam * of) / (sp.exp(lam * of) + 1 + (n - 2) * sp.exp(-lam))


weigh = definition_and_premises("alpha", "s", "q", "k")

DERIVATION = Derivation(
    id="single_head_weight",
    title="One head, one stretched key",
    source="S4.5.3b",
    shows="A head that should average two values takes the one with the longer key, the more so the larger λ is.",
    premises=(
        Premise(
            "μ_i · μ_j = δ_ij",
            "the means, columns of μ, are orthonormal",
            facts=Facts(orthonormal={"mu": d}),
        ),
        Premise(
            "a ≠ b, and a, b and j are indices from 1 to n",
            facts=Facts(distinct=frozenset({frozenset({a, b})}), ranges=dict.fromkeys((a, b, j), (one, n))),
        ),
        defines(n, m + 2, "there are m ≥ 0 keys besides a and b"),
        defines(k[r, j], (1 + g * at_a) * mu[r, j], "key a is its mean stretched by 1 + g; the others are their means"),
        defines(q[r], lam * (mu[r, a] + mu[r, b]), "the query that averages while g = 0"),
        defines(s[j], sp.Sum(k[r, j] * q[r], (r, 1, d)), "the score of key j"),
        defines(alpha[j], sp.exp(s[j]) / sp.Sum(sp.exp(s[l]), (l, 1, n)), "the weights: softmax of the scores"),
    ),
    chains=(
        chain(
            s[j],
            (
                (1 + g * at_a) * lam * sp.Sum(mu[r, j] * (mu[r, a] + mu[r, b]), (r, 1, d)),
                "The stretch and the scale stand before the dot product.",
                definition("s", "q", "k"),
            ),
            ((1 + g * at_a) * lam * (at_a + at_b), "The means are orthonormal.", premises),
            (lam * ((1 + g) * at_a + at_b), "No key is both a and b: δ_ja δ_jb = 0.", premises),
            title="The scores",
        ),
        chain(
            alpha[a],
            (stretched / Z, "Key a scores λ(1+g), key b scores λ, the n - 2 others score 0.", weigh),
            (against_b(g), "Both sides of the fraction are divided by e^λ.", algebra),
            (against_all(g), "Both sides of the fraction are divided by e^{λg}.", algebra),
            title="The weight of key a",
        ),
        chain(
            alpha[a] / (alpha[a] + alpha[b]),
            (stretched / (stretched + plain), "The denominator of softmax cancels.", weigh),
            (1 / (1 + sp.exp(-lam * g)), "Both sides of the fraction are divided by e^{λ(1+g)}.", algebra),
            title="What a has of the weight that a and b share",
        ),
        chain(
            1 - alpha[a] - alpha[b],
            ((n - 2) / Z, "The n - 2 other keys have the weight 1/Z each.", weigh),
            (
                (n - 2) * sp.exp(-lam),
                "Z is at least e^λ, whatever g is.",
                bound(m * sp.exp(-lam) * (stretched + m) / (stretched + plain + m), "n"),
            ),
            title="What the other keys have",
        ),
        chain(
            sp.Limit((n - 2) * sp.exp(-lam), lam, sp.oo),
            (sp.Integer(0), "e^{-λ} vanishes: the other keys become negligible.", limit),
        ),
        chain(
            sp.Limit(against_all(h), lam, sp.oo),
            (one, "For g = h > 0 every term but the 1 vanishes: the head copies v_a.", limit),
            title="A longer key takes all",
        ),
        chain(
            sp.Limit(against_b(-h), lam, sp.oo),
            (sp.Integer(0), "For g = -h < 0 the term of key a vanishes beside that of key b.", limit),
            title="A shorter key gets nothing",
        ),
    ),
    explains=("attention.dot_product_attention", "attention.head_queries", "single_head_weight"),
)
