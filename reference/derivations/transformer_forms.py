"""What a transformer layer does to one row, and what is left of it when its weights are zero."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import definition, limit

c, d, i, j, k, l, m, n = map(index, ("c", "d", "i", "j", "k", "l", "m", "n"))
X, Y, Z, H, N, A = (sp.IndexedBase(name, real=True) for name in "XYZHNA")
F, G, F_0, SA_0 = (sp.IndexedBase(name, real=True) for name in ("F", "G", "F_0", "SA_0"))
W1, b1, W2, b2, W_V = (sp.IndexedBase(name, real=True) for name in ("W_1", "b_1", "W_2", "b_2", "W_V"))
zero_w2, zero_b2 = (sp.IndexedBase(name, real=True) for name in ("O_2", "o_2"))
mu, mu_n = (sp.IndexedBase(name, real=True) for name in ("mu", "mu_N"))
v, v_n = (sp.IndexedBase(name, positive=True) for name in ("v", "v_N"))
epsilon = sp.Symbol("epsilon", positive=True)


def feed_forward(of: sp.IndexedBase, last: sp.IndexedBase = W2, shift: sp.IndexedBase = b2) -> sp.Expr:
    """Return entry (i, c) of ReLU(… W1 + b1) W2 + b2."""
    hidden = sp.Max(sp.Sum(of[i, k] * W1[k, l], (k, 1, d)) + b1[l], 0)
    return sp.Sum(hidden * last[l, c], (l, 1, m)) + shift[c]


def mean(of: sp.Expr) -> sp.Expr:
    """Return the mean of an entry k over the d features."""
    return sp.Sum(of, (k, 1, d)) / d


twice = (X[i, c] - mu[i]) / sp.sqrt(v[i] + epsilon * (v[i] + epsilon))

DERIVATION = Derivation(
    id="transformer_forms",
    title="A transformer layer row by row, and with zero weights",
    source="S2.1b-d",
    shows=(
        "The feed-forward network sees each row alone. With zero weights a pre-norm layer returns X, and a post-norm"
        " layer returns X normalised twice, which for ε = 0 is X normalised once."
    ),
    premises=(
        Premise(
            "i and j are rows from 1 to n, c is a feature from 1 to d",
            facts=Facts(ranges={i: (sp.Integer(1), n), j: (sp.Integer(1), n), c: (sp.Integer(1), d)}),
        ),
        defines(F[i, c], feed_forward(X), "the feed-forward network on X"),
        defines(G[i, c], feed_forward(Y), "the same network on Y"),
        defines(Y[j, k], X[j, k] + (1 - sp.KroneckerDelta(i, j)) * Z[j, k], "X with anything added to all rows but i"),
        defines(W_V[k, c], sp.Integer(0), "values are projected to zero"),
        defines(zero_w2[l, c], sp.Integer(0), "so is the hidden layer"),
        defines(zero_b2[c], sp.Integer(0), "and nothing is added"),
        defines(SA_0[i, c], sp.Sum(A[i, j] * H[j, k] * W_V[k, c], (k, 1, d), (j, 1, n)), "attention on any H"),
        defines(F_0[i, c], feed_forward(H, zero_w2, zero_b2), "the feed-forward network on any H"),
        defines(mu[i], mean(X[i, k]), "mean of row i"),
        defines(v[i], mean((X[i, k] - mu[i]) ** 2), "population variance of row i, not zero"),
        defines(N[i, c], (X[i, c] - mu[i]) / sp.sqrt(v[i] + epsilon), "layer normalisation with γ = 1 and β = 0"),
        defines(mu_n[i], mean(N[i, k]), "mean of a normalised row"),
        defines(v_n[i], mean((N[i, k] - mu_n[i]) ** 2), "its population variance"),
    ),
    chains=(
        chain(
            G[i, c],
            (feed_forward(Y), "ReLU(Y W_1 + b_1) W_2 + b_2, entry by entry: of Y only row i occurs.", definition("G")),
            (feed_forward(X), "In row i nothing was added.", definition("Y")),
            (F[i, c], "This is the network on X: other rows do not count.", definition("F")),
            title="The feed-forward network acts on each row alone",
        ),
        chain(
            X[i, c] + SA_0[i, c] + F_0[i, c],
            (
                X[i, c],
                "Both branches are multiplied by zeros, whatever they are given: the residual is all.",
                definition("SA_0", "W_V", "F_0", "O_2", "o_2"),
            ),
            title="Zero weights: what the residual passes on, in a pre-norm layer the output",
        ),
        chain(
            v_n[i],
            (
                v[i] / (v[i] + epsilon),
                "A normalised row has mean 0, and its squares are divided by v + ε.",
                definition("v_N", "mu_N", "N", "mu", "v"),
            ),
            title="The variance of a normalised row",
        ),
        chain(
            N[i, c] / sp.sqrt(v[i] / (v[i] + epsilon) + epsilon),
            (twice, "The second root is multiplied by the first.", definition("N")),
            title="Zero weights: a post-norm layer normalises twice",
        ),
        chain(
            sp.Limit(twice, epsilon, 0),
            ((X[i, c] - mu[i]) / sp.sqrt(v[i]), "Without ε the second normalisation changes nothing.", limit),
            title="Normalising twice, without ε",
        ),
    ),
    explains=(
        "transformer.feed_forward",
        "transformer.transformer_layer",
        "feed_forward_form",
        "transformer_layer_form",
    ),
)
