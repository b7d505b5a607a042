"""∂L/∂H = ∂L/∂O · ∂S/∂H + ∂L/∂O for O = S(H) + H: a residual connection hands the gradient on unchanged, besides."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, differentiation

i, j, k, n = map(index, ("i", "j", "k", "n"))
L, l0 = sp.Symbol("L", real=True), sp.Symbol("l_0", real=True)
H, O, S = (sp.IndexedBase(name, real=True) for name in ("H", "O", "S"))
s, g = sp.IndexedBase("s", real=True), sp.IndexedBase("g", real=True)
slope = sp.IndexedBase("J", real=True)
G_H, G_O = sp.MatrixSymbol("G_H", 1, n), sp.MatrixSymbol("G_O", 1, n)
J_O, J_S, J_H = (sp.MatrixSymbol(name, n, n) for name in ("J_O", "J_S", "J_H"))


def at(matrix: sp.MatrixSymbol) -> sp.Expr:
    """Return entry (i, j) of a matrix."""
    return sp.IndexedBase(matrix.name, real=True)[i, j]


DERIVATION = Derivation(
    id="residual_gradient",
    title="Gradient through a residual connection",
    source="S2.1e-g",
    shows="The gradient that arrives is passed down as it is, and the layer's own Jacobian only adds to it.",
    premises=(
        Premise("H has n entries: for a sequence, those of all tokens one after another"),
        defines(O[i], S[i] + H[i], "the residual connection around the layer S"),
        defines(
            S[i],
            s[i] + sp.Sum(slope[i, k] * H[k], (k, 1, n)),
            "the layer to first order about the point in question: nothing more enters a derivative there",
        ),
        defines(L, l0 + sp.Sum(g[k] * O[k], (k, 1, n)), "the loss to first order; it sees H through O only"),
        defines(at(G_H), sp.Derivative(L, H[j]), "what is passed down, a row"),
        defines(at(G_O), sp.Derivative(L, O[j]), "what is received, a row"),
        defines(at(J_O), sp.Derivative(O[i], H[j]), "the Jacobian of O = S(H) + H"),
        defines(at(J_S), sp.Derivative(S[i], H[j]), "the Jacobian of the layer"),
        defines(at(J_H), sp.Derivative(H[i], H[j]), "the Jacobian of H itself"),
    ),
    chains=(
        chain(
            G_H,
            (
                G_O * J_O,
                "The chain rule: H acts on the loss through O alone.",
                differentiation("G_H", "G_O", "J_O", "L", "O", "S"),
            ),
            (
                G_O * (J_S + J_H),
                "The derivative of a sum is the sum of the derivatives.",
                differentiation("J_O", "J_S", "J_H", "O", "S"),
            ),
            (G_O * (J_S + sp.Identity(n)), "∂H_i/∂H_j is 1 if i = j and 0 otherwise.", differentiation("J_H")),
            (G_O * J_S + G_O, "The identity matrix changes nothing.", algebra),
        ),
    ),
    explains=("transformer.transformer_layer", "residual_gradient"),
)
