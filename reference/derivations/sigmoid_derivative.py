"""σ'(x) = σ(x) (1 - σ(x))."""

from __future__ import annotations

import sympy as sp

from reference.derivations.proof import Derivation, chain, defines
from reference.derivations.rules import definition, differentiation

x = sp.Symbol("x", real=True)
sigma = sp.Function("sigma", real=True)

DERIVATION = Derivation(
    id="sigmoid_derivative",
    title="Derivative of the sigmoid",
    source="S4.1b",
    shows="The slope needs only the value: a network keeps h and has the slope h (1 - h) without another exponential.",
    premises=(defines(sigma(x), 1 / (1 + sp.exp(-x)), "the sigmoid"),),
    chains=(
        chain(
            sp.Derivative(sigma(x), x),
            (
                sp.exp(-x) / (1 + sp.exp(-x)) ** 2,
                "The derivative of 1/f is -f'/f², and the derivative of 1 + e^(-x) is -e^(-x).",
                differentiation("sigma"),
            ),
            (
                sigma(x) * (sp.exp(-x) / (1 + sp.exp(-x))),
                "One of the two denominators makes a sigmoid.",
                definition("sigma"),
            ),
            (sigma(x) * sigma(-x), "The rest, reduced by e^(-x), is the sigmoid of -x.", definition("sigma")),
            (sigma(x) * (1 - sigma(x)), "σ(-x) = 1 - σ(x).", definition("sigma")),
        ),
    ),
    explains=("gates.sigmoid", "network.input_gradient", "sigmoid_derivative"),
)
