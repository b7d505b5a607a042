"""b^{-(1/N) Σ log_b p_i} = (Π p_i)^{-1/N}: perplexity has one value, whatever the base."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, definition

i, N = index("i"), index("N")
b, t, x = sp.symbols("b t x", positive=True)
P = sp.Symbol("P", positive=True)
p = sp.IndexedBase("p", positive=True)
log, H = sp.Function("log_", real=True), sp.Function("H", real=True)  # log_(b, x): the logarithm of x to the base b

logs = sp.Sum(sp.log(p[i]), (i, 1, N))
product = sp.Product(p[i], (i, 1, N))
by_logarithm = definition("H", "log_")
two, e = sp.Integer(2), sp.E

DERIVATION = Derivation(
    id="perplexity_forms",
    title="Perplexity in every base",
    source="S0.2e, S4.3a",
    shows="Perplexity is the geometric mean of 1/p_i, in every base that logarithm and power share.",
    premises=(
        Premise("p_i > 0 is the probability of token i given those before it, i = 1 … N"),
        Premise("b > 0 and b ≠ 1, and t likewise", "so that ln b is not zero"),
        defines(log(b, x), sp.log(x) / sp.log(b), "the logarithm to the base b"),
        defines(H(b), -sp.Sum(log(b, p[i]), (i, 1, N)) / N, "cross-entropy for each token, measured in base b"),
        defines(P, product, "p(W), the probability of the text, by the chain rule"),
    ),
    chains=(
        chain(
            b ** H(b),
            (
                b ** (-sp.Sum(log(b, p[i]), (i, 1, N)) / N),
                "What is averaged are logarithms to the base b.",
                definition("H"),
            ),
            (sp.exp(-logs / N), "b^y = e^{y ln b}, and ln b cancels.", definition("log_")),
            (
                product ** (-1 / N),
                "e^{y z} = (e^y)^z, and e to a sum of logarithms is the product.",
                algebra,
            ),
            title="Any base",
        ),
        chain(
            b ** H(b),
            (sp.exp(-logs / N), "Nothing is left of b.", by_logarithm),
            (t ** H(t), "Nor is anything left of t.", by_logarithm),
            title="Two bases",
        ),
        chain(
            two ** H(two),
            (e ** H(e), "The same with the bases 2 and e.", by_logarithm),
            title="Bits and nats",
        ),
        chain(
            two ** H(two),
            (
                two ** (-log(two, P) / N),
                "The logarithm of the product is the sum of the logarithms.",
                definition("H", "log_", "P"),
            ),
            (P ** (-1 / N), "2^{log₂ y} = y.", definition("log_")),
            title="The probability of the text",
        ),
    ),
    explains=(
        "perplexity.perplexity",
        "perplexity.sequence_perplexity",
        "perplexity_form",
        "perplexity_base_invariance",
    ),
)
