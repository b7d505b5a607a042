"""H(m, p) ≥ H(m): no model has a lower cross-entropy, or perplexity, than the truth itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Context, Derivation, Premise, Refused, chain, defines
from reference.derivations.rules import Bound, Minimum, definition, premises

i, n = index("i"), index("n")
x = sp.Symbol("x", positive=True)
m, p = sp.IndexedBase("m", positive=True), sp.IndexedBase("p", positive=True)
cross, entropy = sp.symbols("H_mp H_m", real=True)
gap = sp.Function("gap", real=True)
tangent = x - 1 - sp.log(x)
touches = Minimum(x, at=sp.Integer(1), slope=1 / x)


@dataclass(frozen=True)
class Gaps:
    """left ≥ right: the difference is the certificate, made of positive things and gaps, and no gap is negative.

    The last is proved here too, for every positive argument, before it is used.
    """

    certificate: sp.Expr
    unfold: tuple[str, ...] = ()
    name: str = "no gap is negative"
    relation: str = field(default="≥", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if left is at least right, raise Refused otherwise."""
        definition("gap").prove(gap(x), tangent, context)
        touches.prove(tangent, sp.Integer(0), context)
        not_negative = sp.Function("gap", nonnegative=True)
        for each in self.certificate.atoms(gap):
            if not each.args[0].is_positive:
                raise Refused(f"{each.args[0]} is not known to be positive")
        known = self.certificate.replace(gap, not_negative)
        Bound(self.name, known, ("gap", *self.unfold), relation="≥").prove(left, right, context)


gaps = sp.Sum(m[i] * gap(p[i] / m[i]), (i, 1, n))
both = ("H_mp", "H_m")

DERIVATION = Derivation(
    id="gibbs_inequality",
    title="Gibbs' inequality",
    source="S0.2d",
    shows="Under the true distribution m, the truth has the least cross-entropy: a model p can only be more perplexed.",
    premises=(
        Premise(
            "Σ m_i = 1 and Σ p_i = 1, over i = 1 … n",
            "m is the truth and p the model, both positive",
            facts=Facts(totals={"m": n, "p": n}),
        ),
        defines(cross, -sp.Sum(m[i] * sp.log(p[i]), (i, 1, n)), "cross-entropy: the expectation is under m"),
        defines(entropy, -sp.Sum(m[i] * sp.log(m[i]), (i, 1, n)), "entropy of the truth"),
        defines(gap(x), tangent, "the gap between ln x and its tangent at 1, x - 1"),
    ),
    chains=(
        chain(
            gap(x),
            (tangent, "The tangent of ln at 1 is x - 1.", definition("gap")),
            (
                sp.Integer(0),
                "The derivative 1 - 1/x is negative before x = 1 and positive after; there the gap is 0.",
                touches,
            ),
            title="The logarithm lies below its tangent",
        ),
        chain(
            cross - entropy,
            (-sp.Sum(m[i] * sp.log(p[i] / m[i]), (i, 1, n)), "One logarithm in place of two.", definition(*both)),
            (
                sp.Sum(m[i] * (p[i] / m[i] - 1 - sp.log(p[i] / m[i])), (i, 1, n)),
                "What is added is Σ p_i - Σ m_i = 1 - 1 = 0.",
                premises,
            ),
            (gaps, "Each bracket is a gap, at x = p_i / m_i.", definition("gap")),
            (sp.Integer(0), "No gap is negative, and every m_i is positive.", Gaps(gaps)),
            title="Cross-entropy is at least entropy",
        ),
        chain(
            sp.exp(cross),
            (
                sp.exp(entropy),
                "With D = H(m,p) - H(m) ≥ 0: e^{H(m,p)} - e^{H(m)} = e^{H(m)} (gap(e^D) + D).",
                Gaps(sp.exp(entropy) * (gap(sp.exp(gaps)) + gaps), both),
            ),
            title="Perplexity is at least that of the truth",
        ),
    ),
    explains=("perplexity.cross_entropy", "perplexity.entropy", "cross_entropy_rate"),
)
