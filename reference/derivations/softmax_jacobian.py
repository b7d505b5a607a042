"""∂p_i/∂θ_j = p_i (δ_ij - p_j), for any number of logits."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, definition, differentiation, premises

i, j, k, n = map(index, ("i", "j", "k", "n"))
theta = sp.IndexedBase("theta", real=True)
p = sp.IndexedBase("p", positive=True)
delta = sp.KroneckerDelta(i, j)
Z = sp.Sum(sp.exp(theta[k]), (k, 1, n))
picked = sp.Sum(sp.exp(theta[k]) * sp.KroneckerDelta(j, k), (k, 1, n))

DERIVATION = Derivation(
    id="softmax_jacobian",
    title="Jacobian of softmax",
    source="S4.1a",
    shows="Each probability grows with its own logit and shrinks with every other one.",
    premises=(
        defines(p[i], sp.exp(theta[i]) / Z, "softmax"),
        Premise("i and j are indices from 1 to n", facts=Facts(ranges={i: (sp.Integer(1), n), j: (sp.Integer(1), n)})),
    ),
    chains=(
        chain(
            sp.Derivative(p[i], theta[j]),
            (
                sp.exp(theta[i]) * delta / Z - sp.exp(theta[i]) * picked / Z**2,
                "The quotient rule; a logit depends on another one only if it is the same: ∂θ_i/∂θ_j = δ_ij.",
                differentiation("p"),
            ),
            (
                sp.exp(theta[i]) * delta / Z - sp.exp(theta[i]) * sp.exp(theta[j]) / Z**2,
                "A delta in a sum picks the one term where the indices agree.",
                premises,
            ),
            (p[i] * delta - p[i] * p[j], "Both quotients are probabilities.", definition("p")),
            (p[i] * (delta - p[j]), "p_i is common to both terms.", algebra),
        ),
    ),
    explains=("attention.softmax", "network.softmax_cross_entropy_gradient", "softmax_jacobian"),
)
