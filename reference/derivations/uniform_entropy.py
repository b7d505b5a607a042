"""The entropy of n equally likely outcomes is log_b n, their perplexity n."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import algebra, definition

i, n = index("i"), index("n")
b, x = sp.symbols("b x", positive=True)
log, H = sp.Function("log_", real=True), sp.Function("H", real=True)  # log_(b, x): the logarithm of x to the base b
two, six = sp.Integer(2), sp.Integer(6)
entropy = definition("H", "log_")

DERIVATION = Derivation(
    id="uniform_entropy",
    title="Entropy and perplexity of a fair die",
    source="S0.2a, S0.2b",
    shows="Perplexity counts: n equally likely outcomes have perplexity n, in every base.",
    premises=(
        Premise("all n outcomes have the probability 1/n"),
        Premise("b > 0 and b ≠ 1", "so that ln b is not zero"),
        defines(log(b, x), sp.log(x) / sp.log(b), "the logarithm to the base b"),
        defines(H(b, n), -sp.Sum(log(b, 1 / n) / n, (i, 1, n)), "entropy in base b"),
    ),
    chains=(
        chain(
            H(b, n),
            (-sp.Sum(log(b, 1 / n) / n, (i, 1, n)), "Every outcome has the probability 1/n.", definition("H")),
            (-log(b, 1 / n), "The sum has n equal terms.", algebra),
            (log(b, n), "The logarithm of 1/n is minus that of n.", definition("log_")),
            title="Entropy",
        ),
        chain(
            b ** H(b, n),
            (b ** log(b, n), "The entropy is the one above.", entropy),
            (n, "b^{log_b n} is n, which is what the logarithm means.", definition("log_")),
            title="Perplexity",
        ),
        chain(
            H(two, six),
            (log(two, six), "A die has n = 6 faces, and bits are logarithms to the base 2.", entropy),
            title="The entropy of a die, in bits",
        ),
        chain(
            two ** H(two, six),
            (six, "Six faces, none likelier than another.", entropy),
            title="The perplexity of a die",
        ),
    ),
    explains=("perplexity.entropy", "perplexity.perplexity", "die_entropy", "die_perplexity"),
)
