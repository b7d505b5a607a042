"""A bias π_ij = q_i^pos · k_j^pos in the scores does what concatenating the position embeddings does."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from reference.derivations.added_against_concatenated import Concatenation
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, definition

d, e, i, j, l, n, t = map(index, ("d", "e", "i", "j", "l", "n", "t"))
q, k, q_pos, k_pos, Q, K, pi, shift = (
    sp.IndexedBase(name, real=True) for name in ("q", "k", "q_pos", "k_pos", "Q", "K", "pi", "c")
)
alpha, beta = (sp.IndexedBase(name, positive=True) for name in ("alpha", "beta"))


def dot(first: sp.IndexedBase, second: sp.IndexedBase, to: sp.Symbol, length: sp.Expr) -> sp.Expr:
    """Return the dot product of query i and key `to`."""
    return sp.Sum(first[i, t] * second[to, t], (t, 1, length))


def biased(to: sp.Symbol) -> sp.Expr:
    """Return the score of key `to` with its bias."""
    return dot(q, k, to, d) + pi[i, to]


def softmax(exponential: sp.Expr) -> sp.Expr:
    """Return the weight of key j, given its exponential."""
    return exponential / sp.Sum(exponential.xreplace({j: l}), (l, 1, n))


apart = Concatenation(((Q, q, q_pos), (K, k, k_pos)), (d, e))

DERIVATION = Derivation(
    id="relative_bias",
    title="A bias in the scores in place of concatenated positions",
    source="S1.c.i",
    shows="With π_ij = q_i^pos · k_j^pos the scores, and so the weights, are those of the concatenated embeddings.",
    premises=(
        Premise("Q_i = [q_i, q_i^pos] and K_j = [k_j, k_j^pos]", "words of length d, then positions of length e"),
        defines(pi[i, j], dot(q_pos, k_pos, j, e), "the bias"),
        defines(alpha[i, j], softmax(sp.exp(biased(j))), "weights of attention with the bias"),
        defines(beta[i, j], softmax(sp.exp(dot(Q, K, j, d + e))), "weights of attention on the concatenations"),
    ),
    chains=(
        chain(
            biased(j),
            (dot(q, k, j, d) + dot(q_pos, k_pos, j, e), "The bias is a dot product of positions.", definition("pi")),
            (dot(Q, K, j, d + e), "The first d entries are the words', the e others the positions'.", apart),
            title="Scores",
        ),
        chain(
            alpha[i, j],
            (
                softmax(sp.exp(dot(q, k, j, d) + dot(q_pos, k_pos, j, e))),
                "The weights are the softmax of the scores.",
                definition("alpha", "pi"),
            ),
            (softmax(sp.exp(dot(Q, K, j, d + e))), "The scores are the same, so their softmax is.", apart),
            (beta[i, j], "These are the weights on the concatenations.", definition("beta")),
            title="Weights",
        ),
        chain(
            alpha[i, j],
            (
                softmax(sp.exp(pi[i, j]) * sp.exp(dot(q, k, j, d))),
                "The exponential of a sum is a product: the bias scales what the words alone would give.",
                definition("alpha"),
            ),
            title="The bias as a factor",
        ),
        chain(
            softmax(sp.exp(biased(j) + shift[i])),
            (
                softmax(sp.exp(shift[i]) * sp.exp(biased(j))),
                "The exponential of a sum is a product.",
                algebra,
            ),
            (softmax(sp.exp(biased(j))), "The factor e^{c_i} is in every term of the sum, and cancels.", algebra),
            (alpha[i, j], "These are the weights without the constant.", definition("alpha")),
            title="Adding a constant to all biases of a query",
        ),
    ),
    explains=("attention.relative_bias_attention", "positional.concatenated_score", "relative_bias"),
)
