"""∂J/∂W2 = Hᵀ D2, ∂J/∂W1 = Xᵀ D1 and their column sums for the biases, for a batch of any size."""

from __future__ import annotations

import sympy as sp
from sympy.matrices.expressions.special import OneMatrix

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.network_input_gradient import ChainRule, at
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, definition, definition_and_premises, differentiation

b, i, j, k, B, Dx, Dh, Dy = map(index, ("b", "i", "j", "k", "B", "D_x", "D_h", "D_y"))
CE, J = sp.Symbol("CE", real=True), sp.Symbol("J", real=True)
X, W1, b1 = sp.MatrixSymbol("X", B, Dx), sp.MatrixSymbol("W_1", Dx, Dh), sp.MatrixSymbol("b_1", 1, Dh)
Z, H = sp.MatrixSymbol("Z", B, Dh), sp.MatrixSymbol("H", B, Dh)
W2, b2 = sp.MatrixSymbol("W_2", Dh, Dy), sp.MatrixSymbol("b_2", 1, Dy)
U, Yhat, Y = sp.MatrixSymbol("U", B, Dy), sp.MatrixSymbol("Yhat", B, Dy), sp.MatrixSymbol("Y", B, Dy)
G_U, G_H = sp.MatrixSymbol("G_U", B, Dy), sp.MatrixSymbol("G_H", B, Dh)
G_Z, D1, D2 = sp.MatrixSymbol("G_Z", B, Dh), sp.MatrixSymbol("D_1", B, Dh), sp.MatrixSymbol("D_2", B, Dy)
G_W2, G_b2 = sp.MatrixSymbol("G_W2", Dh, Dy), sp.MatrixSymbol("G_b2", 1, Dy)
G_W1, G_b1 = sp.MatrixSymbol("G_W1", Dx, Dh), sp.MatrixSymbol("G_b1", 1, Dh)


def gradient(of: sp.MatrixSymbol, by: sp.MatrixSymbol, meaning: str = "") -> Premise:
    """Return the premise that `of` is the gradient of the loss with respect to `by`."""
    return defines(at(of, i, j), sp.Derivative(J, at(by, i, j)), meaning)


ones = OneMatrix(B, 1)  # copies a row of biases to every sample
slope = sp.HadamardProduct(H, OneMatrix(B, Dh) - H)
known = differentiation("J", "Yhat", "G_U", "D_2")
known_below = differentiation("J", "Yhat", "G_U", "D_2", "D_1")
two_layers = ChainRule(G_Z, G_H, H, then=ChainRule(G_H, G_U, U))
back = sp.HadamardProduct(G_U * W2.T, slope)
exponentials = sp.Sum(sp.exp(at(U, i, k)), (k, 1, Dy))
scored = sp.Sum(at(Y, i, k) * at(U, i, k), (k, 1, Dy))
moved = sp.Derivative(at(U, b, k), at(W2, i, j))

DERIVATION = Derivation(
    id="network_weight_gradients",
    title="Gradients of the loss with respect to weights and biases",
    source="S4.1c",
    shows="A layer's weights get its input, transposed, times the error at its output; its bias gets the error's sum.",
    premises=(
        defines(Z, X * W1 + ones * b1, "into the hidden layer; 𝟏 b₁ is b₁ in every row, one row per sample"),
        defines(at(H, i, j), 1 / (1 + sp.exp(-at(Z, i, j))), "the hidden layer, a sigmoid of every entry"),
        defines(U, H * W2 + ones * b2, "into the softmax"),
        defines(at(Yhat, i, j), sp.exp(at(U, i, j)) / exponentials, "the predictions"),
        defines(CE, -sp.Sum(at(Y, i, k) * sp.log(at(Yhat, i, k)), (k, 1, Dy), (i, 1, B)) / B, "mean cross-entropy"),
        defines(J, sp.Sum(sp.log(exponentials) - scored, (i, 1, B)) / B, "the loss as a function of U"),
        Premise(
            sp.Eq(sp.Sum(at(Y, i, k), (k, 1, Dy)), 1, evaluate=False),
            "every row of Y is a distribution",
            facts=Facts(totals={"Y": Dy}),
        ),
        defines(D2, (Yhat - Y) / B, "the error at the output"),
        defines(D1, sp.HadamardProduct(D2 * W2.T, slope), "the error before the sigmoid"),
        gradient(G_U, U, "a gradient has the shape of what it belongs to"),
        gradient(G_H, H, "at the hidden layer"),
        gradient(G_Z, Z, "before the sigmoid"),
        gradient(G_W2, W2, "at the weights of the output layer"),
        gradient(G_b2, b2, "at its bias"),
        gradient(G_W1, W1, "at the weights of the hidden layer"),
        gradient(G_b1, b1, "at its bias"),
        Premise(
            "i is an index from 1 to D_h and j from 1 to D_y",
            facts=Facts(ranges={i: (sp.Integer(1), Dh), j: (sp.Integer(1), Dy)}),
        ),
    ),
    chains=(
        chain(
            CE,
            (J, "ln ŷ_k = u_k - ln Σ e^u in every row, and y sums to 1.", definition_and_premises("CE", "J", "Yhat")),
            title="the loss",
        ),
        chain(
            G_U,
            (D2, "∂ ln Σ e^u / ∂u_j is softmax; the mean over samples gives 1/B.", known),
            title="the error at the output",
        ),
        chain(
            at(G_W2, i, j),
            (
                sp.Sum(at(G_U, b, k) * moved, (k, 1, Dy), (b, 1, B)),
                "The chain rule: a weight acts on the loss through U alone.",
                ChainRule(G_W2, G_U, U),
            ),
            (
                sp.Sum(at(G_U, b, k) * at(H, b, i) * sp.KroneckerDelta(j, k), (k, 1, Dy), (b, 1, B)),
                "Weight (i, j) carries h_i to logit j and to no other.",
                differentiation("U"),
            ),
            (
                sp.Sum(at(H, b, i) * at(G_U, b, j), (b, 1, B)),
                "The delta picks k = j; what is left is entry (i, j) of Hᵀ times the error.",
                algebra,
            ),
            title="one weight of the output layer",
        ),
        chain(
            G_W2,
            (H.T * G_U, "The chain before this one, for all entries.", ChainRule(G_W2, G_U, U)),
            (H.T * D2, "The error at the output is known.", known),
            title="all weights of the output layer",
        ),
        chain(
            G_b2,
            (
                ones.T * G_U,
                "A bias is a weight whose input is 1; a row of ones sums over samples.",
                ChainRule(G_b2, G_U, U),
            ),
            (ones.T * D2, "The error at the output is known.", known),
            title="the bias of the output layer",
        ),
        chain(
            G_Z,
            (sp.HadamardProduct(G_H, slope), "Back through the sigmoid, entry by entry.", ChainRule(G_Z, G_H, H)),
            (
                back,
                "Back through U = H W₂ + b₂, row by row.",
                ChainRule(G_H, G_U, U),
            ),
            (
                sp.HadamardProduct(D2 * W2.T, slope),
                "The error at the output is known.",
                known,
            ),
            (D1, "This is what D₁ stands for.", definition("D_1")),
            title="the error before the sigmoid",
        ),
        chain(
            G_W1,
            (
                X.T * G_Z,
                "The same rule one layer down: the layer's input, transposed, times the error at its output.",
                ChainRule(G_W1, G_Z, Z),
            ),
            (X.T * back, "Back through the sigmoid and U, as above.", two_layers),
            (X.T * D1, "The error at the output is known.", known_below),
            title="the weights of the hidden layer",
        ),
        chain(
            G_b1,
            (
                ones.T * G_Z,
                "A bias is a weight whose input is 1; a row of ones sums over samples.",
                ChainRule(G_b1, G_Z, Z),
            ),
            (ones.T * back, "Back through the sigmoid and U, as above.", two_layers),
            (ones.T * D1, "The error at the output is known.", known_below),
            title="the bias of the hidden layer",
        ),
    ),
    explains=("network.forward_backward", "output_weight_gradient"),
)
