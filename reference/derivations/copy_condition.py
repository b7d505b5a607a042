"""A key whose score is far above all others has its value copied, and how far is far enough."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import bound, bound_below, definition, limit

i, k, m = map(index, "ikm")
s_0, v_0, g, c = sp.symbols("s_0 v_0 g c", real=True)
R, alpha = sp.symbols("R alpha", positive=True)
score, value = (sp.IndexedBase(name, real=True) for name in ("s", "v"))
a = sp.IndexedBase("a", positive=True)
u, r = (sp.IndexedBase(name, nonnegative=True) for name in "ur")
total = sp.exp(s_0) + sp.Sum(sp.exp(score[k]), (k, 1, m))
least = 1 / (1 + m * sp.exp(-g))
short = sp.Sum(u[i] / (1 + u[i]), (i, 1, m))  # how far the others stay below what the gap allows them

DERIVATION = Derivation(
    id="copy_condition",
    title="When attention copies a value",
    source="S4.5.1b-d",
    shows=(
        "If one score is at least g above m others, its weight is at least 1 / (1 + m e^-g), and the output differs"
        " from its value by at most m / (m + e^g) times the largest distance of a value from it."
    ),
    premises=(
        Premise(
            "one key has the score s_0 and the value v_0; i is one of the m others",
            facts=Facts(ranges={i: (sp.Integer(1), m)}),
        ),
        defines(score[i], s_0 - g - sp.log(1 + u[i]), "u_i ≥ 0: every other score is at least g lower"),
        defines(alpha, sp.exp(s_0) / total, "the weight of that key"),
        defines(a[i], sp.exp(score[i]) / total, "the weight of another one"),
        defines(c, alpha * v_0 + sp.Sum(a[i] * value[i], (i, 1, m)), "the output along one direction, any unit vector"),
        defines(
            value[i], v_0 + R - r[i], "r_i ≥ 0: no other value is more than R ahead; for behind, turn the direction"
        ),
    ),
    chains=(
        chain(
            alpha,
            (
                1 / (1 + sp.exp(-g) * sp.Sum(1 / (1 + u[i]), (i, 1, m))),
                "The fraction is divided by e^s_0.",
                definition("alpha", "s"),
            ),
            (
                least,
                "No term of the sum is above 1.",
                bound_below(alpha * sp.exp(-g) * short * least, "alpha", "s"),
            ),
            title="The weight of the leading key",
        ),
        chain(
            sp.Limit(least, g, sp.oo),
            (sp.Integer(1), "However many others there are, a wide enough gap leaves them nothing.", limit),
            title="As the gap grows",
        ),
        chain(
            c - v_0,
            (
                sp.Sum(a[i] * (value[i] - v_0), (i, 1, m)),
                "The weights sum to 1, so the output is v_0 plus the weighted differences.",
                definition("c", "alpha", "a"),
            ),
            (
                sp.Sum(a[i] * R, (i, 1, m)),
                "No difference is above R.",
                bound(sp.Sum(a[i] * r[i], (i, 1, m)), "v"),
            ),
            ((1 - alpha) * R, "The other weights have what the leading one leaves.", definition("a", "alpha")),
            (
                m * R / (m + sp.exp(g)),
                "The leading weight is at least 1 / (1 + m e^-g).",
                bound(R * alpha * sp.exp(-g) * short * least, "alpha", "s"),
            ),
            title="The distance of the output from the value",
        ),
        chain(
            sp.Limit(m * R / (m + sp.exp(g)), g, sp.oo),
            (sp.Integer(0), "In the limit the value is copied.", limit),
            title="The copy",
        ),
    ),
    explains=("attention.dot_product_attention", "copy_condition"),
)
