"""∂CE/∂θ_i = p_i - y_i, and why a number may be added to all logits."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, definition, differentiation, premises

i, j, k, n = map(index, ("i", "j", "k", "n"))
c, CE = sp.Symbol("c", real=True), sp.Symbol("CE", real=True)
theta, y = sp.IndexedBase("theta", real=True), sp.IndexedBase("y", real=True)
p = sp.IndexedBase("p", positive=True)
delta = sp.KroneckerDelta(i, j)
Z = sp.Sum(sp.exp(theta[k]), (k, 1, n))

DERIVATION = Derivation(
    id="softmax_cross_entropy_gradient",
    title="Gradient of cross-entropy after softmax",
    source="S4.1a",
    shows="The gradient with respect to the logits is what was predicted minus what was right.",
    premises=(
        defines(p[i], sp.exp(theta[i]) / Z, "softmax"),
        defines(CE, -sp.Sum(y[k] * sp.log(p[k]), (k, 1, n)), "cross-entropy"),
        Premise(
            sp.Eq(sp.Sum(y[k], (k, 1, n)), 1, evaluate=False),
            "y is a distribution, one-hot or not",
            facts=Facts(totals={"y": n}),
        ),
        Premise("i is an index from 1 to n", facts=Facts(ranges={i: (sp.Integer(1), n)})),
    ),
    chains=(
        chain(
            sp.Derivative(CE, theta[i]),
            (
                sp.Sum(sp.Derivative(CE, p[j]) * sp.Derivative(p[j], theta[i]), (j, 1, n)),
                "The chain rule: θ_i changes every probability, so there is a term for each of them.",
                differentiation("CE", "p"),
            ),
            (
                sp.Sum(sp.Mul(-y[j] / p[j], p[j] * (delta - p[i]), evaluate=False), (j, 1, n)),
                "The derivative of the logarithm, and the Jacobian of softmax.",
                differentiation("CE", "p"),
            ),
            (sp.Sum(y[j] * p[i] - y[j] * delta, (j, 1, n)), "p_j cancels.", algebra),
            (
                p[i] * sp.Sum(y[j], (j, 1, n)) - sp.Sum(y[j] * delta, (j, 1, n)),
                "A sum is taken term by term, and p_i does not depend on j.",
                algebra,
            ),
            (p[i] - y[i], "y sums to 1, and the delta picks the term with j = i.", premises),
            title="the gradient",
        ),
        chain(
            sp.exp(theta[i] + c) / sp.Sum(sp.exp(theta[k] + c), (k, 1, n)),
            (
                sp.exp(c) * sp.exp(theta[i]) / sp.Sum(sp.exp(c) * sp.exp(theta[k]), (k, 1, n)),
                "The exponential of a sum is a product.",
                algebra,
            ),
            (sp.exp(theta[i]) / Z, "The factor e^c is common to all terms of the sum and cancels.", algebra),
            (p[i], "This is softmax again; for c = -max θ no exponential overflows.", definition("p")),
            title="a shift of all logits changes nothing",
        ),
    ),
    explains=(
        "network.softmax_cross_entropy",
        "network.softmax_cross_entropy_gradient",
        "attention.softmax",
        "softmax_ce_gradient",
    ),
)
