"""Two heads, each copying one value, are steadier than one that averages both: variance at most 1/16 against 1/4."""

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
P, w = sp.Symbol("P", nonnegative=True), sp.Symbol("w", real=True)
mu, k, s, z = (sp.IndexedBase(name, real=True) for name in ("mu", "k", "s", "z"))
alpha, beta = (sp.IndexedBase(name, positive=True) for name in ("alpha", "beta"))
V = sp.Function("V")
one, half = sp.Integer(1), sp.Rational(1, 2)
at_a = sp.KroneckerDelta(j, a)

stretched, plain = sp.exp(lam * (1 + g)), sp.exp(lam)
first_head = stretched / (stretched + n - 1)
average = (alpha[a] + beta[a]) / 2
in_second_head = sp.Limit(1 / (plain + m + 1), lam, sp.oo)


def softmax(scores: sp.IndexedBase) -> sp.Expr:
    """Return the weight of key j under these scores."""
    return sp.exp(scores[j]) / sp.Sum(sp.exp(scores[l]), (l, 1, n))


DERIVATION = Derivation(
    id="head_variance",
    title="Why two heads are steadier than one",
    source="S4.5.4",
    shows=(
        "For large λ the length of one key decides everything that one head copies, but at most half of what two "
        "heads copy: the variance falls to a quarter or less."
    ),
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
        defines(s[j], sp.Sum(k[r, j] * lam * mu[r, a], (r, 1, d)), "scores of the first head: its query is λ μ_a"),
        defines(z[j], sp.Sum(k[r, j] * lam * mu[r, b], (r, 1, d)), "scores of the second head: its query is λ μ_b"),
        defines(alpha[j], softmax(s), "weights of the first head"),
        defines(beta[j], softmax(z), "weights of the second head"),
        Premise(
            "g and -g have the same distribution and g = 0, g = -1 have no probability, as for g ~ N(0, 1/2)",
            "so g > 0 has the probability 1/2, and P is that of g > -1",
        ),
        Premise(
            "for large λ the weight of one head on key a is 1 where g > 0 and 0 where g < 0",
            "proved in single_head_weight",
        ),
        Premise(
            "weights that stay between 0 and 1 and converge have mean and variance that converge to those of the limit",
            "dominated convergence",
        ),
        defines(
            V(w, P), P * w**2 - (P * w) ** 2, "variance, E[x²] - E[x]², of x = w with probability P and x = 0 otherwise"
        ),
    ),
    chains=(
        chain(
            alpha[a],
            (
                stretched / sp.Sum(sp.exp(lam * (1 + g) * sp.KroneckerDelta(l, a)), (l, 1, n)),
                "In the first head key a scores λ(1+g) and every other key 0.",
                definition_and_premises("alpha", "s", "k"),
            ),
            (first_head, "One term of the sum is e^{λ(1+g)}, the n - 1 others are 1.", premises),
            title="The first head",
        ),
        chain(
            beta[b],
            (
                plain / (plain + n - 1),
                "In the second head key b scores λ and every other key 0: the stretch of key a is not seen.",
                definition_and_premises("beta", "z", "k"),
            ),
            title="The second head",
        ),
        chain(
            average,
            (
                first_head / 2 + 1 / (2 * (plain + n - 1)),
                "The output is the mean of the two heads, and the second gives key a the weight 1/(e^λ + n - 1).",
                definition_and_premises("alpha", "beta", "s", "z", "k"),
            ),
            (
                one,
                "Each of the two weights is at most 1.",
                bound((m + 1) / (2 * (stretched + m + 1)) + (plain + m) / (2 * (plain + m + 1)), "n"),
            ),
            title="The weight on v_a, between 0 and 1",
        ),
        chain(
            (sp.Limit(sp.exp(lam * h) / (sp.exp(lam * h) + m + 1), lam, sp.oo) + in_second_head) / 2,
            (half, "With 1 + g = h > 0, the first head takes v_a alone; the second never does.", limit),
            title="Where the stretched key still points forwards",
        ),
        chain(
            (sp.Limit(sp.exp(-lam * h) / (sp.exp(-lam * h) + m + 1), lam, sp.oo) + in_second_head) / 2,
            (sp.Integer(0), "With 1 + g = -h < 0, key a has the lowest score of all, and neither takes v_a.", limit),
            title="Where it points backwards",
        ),
        chain(
            V(w, P),
            (P * w**2 - (P * w) ** 2, "The variance is E[x²] - E[x]².", definition("V")),
            (w**2 * P * (1 - P), "w² P is common to both terms.", algebra),
            title="The variance of a value that is taken with probability P",
        ),
        chain(
            V(one, half),
            (sp.Rational(1, 4), "One head: the whole of v_a, with probability 1/2.", definition("V")),
            title="One head",
        ),
        chain(
            V(half, P),
            (P * (1 - P) / 4, "Two heads: half of v_a, with probability P.", definition("V")),
            (sp.Rational(1, 16), "P (1 - P) is at most 1/4: 1/4 - P (1 - P) = (P - 1/2)².", bound((P - half) ** 2 / 4)),
            (V(one, half) / 4, "A quarter of what one head has.", definition("V")),
            title="Two heads",
        ),
    ),
    explains=("attention.head_queries", "head_queries"),
)
