"""σ(-x) = 1 - σ(x)."""

from __future__ import annotations

import sympy as sp

from reference.derivations.proof import Derivation, chain, defines
from reference.derivations.rules import algebra, definition

x = sp.Symbol("x", real=True)
sigma = sp.Function("sigma", real=True)

DERIVATION = Derivation(
    id="sigmoid_symmetry",
    title="Symmetry of the sigmoid",
    source="S3.2a",
    shows="The sigmoid of -x is what the sigmoid of x lacks to 1.",
    premises=(defines(sigma(x), 1 / (1 + sp.exp(-x)), "the sigmoid"),),
    chains=(
        chain(
            sigma(-x),
            (1 / (1 + sp.exp(x)), "-x in place of x.", definition("sigma")),
            (sp.exp(-x) / (sp.exp(-x) + 1), "The fraction is extended by e^(-x).", algebra),
            (1 - 1 / (1 + sp.exp(-x)), "e^(-x) = (1 + e^(-x)) - 1, and the quotient is taken term by term.", algebra),
            (1 - sigma(x), "The second term is the sigmoid of x.", definition("sigma")),
        ),
    ),
    explains=("gates.sigmoid", "sigmoid_symmetry"),
)
