"""q = λ (k_a + k_b) gives each of two keys the weight e^λ / (2 e^λ + n - 2), which tends to 1/2."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, definition, definition_and_premises, limit, premises

a, b, d, j, l, n, r, t = map(index, ("a", "b", "d", "j", "l", "n", "r", "t"))
lam = sp.Symbol("lambda", positive=True)
k, v, q, s, c = (sp.IndexedBase(name, real=True) for name in ("k", "v", "q", "s", "c"))
alpha = sp.IndexedBase("alpha", positive=True)
one = sp.Integer(1)


def chosen(at: sp.Symbol) -> sp.Expr:
    """Return 1 for the two keys that are averaged and 0 for all others."""
    return sp.KroneckerDelta(at, a) + sp.KroneckerDelta(at, b)


total = sp.Sum(sp.exp(lam * chosen(l)), (l, 1, n))
Z = 2 * sp.exp(lam) + n - 2
others = sp.Sum(v[j, t], (j, 1, n)) - v[a, t] - v[b, t]
weigh = definition_and_premises("alpha", "s", "q")

DERIVATION = Derivation(
    id="averaging_weight",
    title="The weight of two averaged values",
    source="S4.5.2b, S4.5.3a",
    shows="The query λ (k_a + k_b) weighs two keys alike, and the n - 2 others less and less as λ grows.",
    premises=(
        Premise(
            "k_i · k_j = δ_ij",
            "keys, the columns of k, are orthonormal; in S4.5.3a they are the means, from which keys hardly differ",
            facts=Facts(orthonormal={"k": d}),
        ),
        Premise(
            "a ≠ b, and a, b and j are indices from 1 to n",
            facts=Facts(distinct=frozenset({frozenset({a, b})}), ranges=dict.fromkeys((a, b, j), (one, n))),
        ),
        defines(q[r], lam * (k[r, a] + k[r, b]), "the query"),
        defines(s[j], sp.Sum(k[r, j] * q[r], (r, 1, d)), "the score of key j"),
        defines(alpha[j], sp.exp(s[j]) / sp.Sum(sp.exp(s[l]), (l, 1, n)), "the weights: softmax of the scores"),
        defines(c[t], sp.Sum(alpha[j] * v[j, t], (j, 1, n)), "the output: values averaged with these weights"),
    ),
    chains=(
        chain(
            s[j],
            (
                sp.Sum(k[r, j] * lam * (k[r, a] + k[r, b]), (r, 1, d)),
                "A score is the dot product of key and query.",
                definition("s", "q"),
            ),
            (lam * chosen(j), "The keys are orthonormal: k_j · k_a is 1 for j = a and 0 otherwise.", premises),
            title="The scores",
        ),
        chain(
            alpha[a],
            (
                sp.exp(s[a]) / sp.Sum(sp.exp(s[l]), (l, 1, n)),
                "The weight is the softmax of the scores.",
                definition("alpha"),
            ),
            (sp.exp(lam) / total, "Key a scores λ, key l scores λ (δ_la + δ_lb).", definition_and_premises("s", "q")),
            (sp.exp(lam) / Z, "Two terms of the sum are e^λ, the n - 2 others are e^0 = 1.", premises),
            title="The weight of key a",
        ),
        chain(alpha[b], (alpha[a], "Nothing tells a and b apart.", weigh), title="The weight of key b is the same"),
        chain(
            sp.Limit(sp.exp(lam) / Z, lam, sp.oo),
            (sp.Rational(1, 2), "The constant n - 2 is lost beside e^λ.", limit),
            title="A large scale",
        ),
        chain(
            c[t] - (v[a, t] + v[b, t]) / 2,
            (
                (sp.exp(lam) * (v[a, t] + v[b, t]) + others) / Z - (v[a, t] + v[b, t]) / 2,
                "Two values have the weight e^λ/Z and all others 1/Z, where Z = 2 e^λ + n - 2.",
                definition_and_premises("c", "alpha", "s", "q"),
            ),
            (
                (others - (n - 2) * (v[a, t] + v[b, t]) / 2) / Z,
                "A common denominator; e^λ cancels above it.",
                algebra,
            ),
            title="How far the output is from the average of the two values",
        ),
    ),
    explains=("attention.averaging_query", "attention.dot_product_attention", "averaging_query", "averaging_weight"),
)
