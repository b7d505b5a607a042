"""Layer normalisation undoes a shift and a positive scale of its input, and what it returns is centred."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import definition

d, i, k = map(index, ("d", "i", "k"))
x, y = (sp.IndexedBase(name, real=True) for name in "xy")
n, gamma, beta = (sp.IndexedBase(name, real=True) for name in ("n", "gamma", "beta"))
LN = sp.IndexedBase("LN", real=True)
mu_x, mu_y, mu_n, v_x, v_y, v_n = sp.symbols("mu_x mu_y mu_n v_x v_y v_n", real=True)
c = sp.Symbol("c", real=True)
a, epsilon = sp.symbols("a epsilon", positive=True)


def mean(of: sp.Expr) -> sp.Expr:
    """Return the mean of an entry k over all d of them."""
    return sp.Sum(of, (k, 1, d)) / d


DERIVATION = Derivation(
    id="layer_norm_invariance",
    title="What layer normalisation does not see",
    source="S2.1d",
    shows=(
        "With y = a x + c, a > 0, layer normalisation of y with a² ε equals that of x with ε: a shift never counts,"
        " and a scale not either where ε = 0. Before γ and β the output has mean 0 and variance v / (v + ε)."
    ),
    premises=(
        Premise("i is a feature from 1 to d", facts=Facts(ranges={i: (sp.Integer(1), d)})),
        defines(y[i], a * x[i] + c, "the input, scaled by a > 0 and shifted"),
        defines(mu_x, mean(x[k]), "mean of x"),
        defines(mu_y, mean(y[k]), "mean of y"),
        defines(v_x, mean((x[k] - mu_x) ** 2), "population variance of x"),
        defines(v_y, mean((y[k] - mu_y) ** 2), "population variance of y"),
        defines(n[i], (x[i] - mu_x) / sp.sqrt(v_x + epsilon), "x normalised"),
        defines(LN[i], n[i] * gamma[i] + beta[i], "layer normalisation of x"),
        defines(mu_n, mean(n[k]), "mean of the normalised x"),
        defines(v_n, mean((n[k] - mu_n) ** 2), "population variance of the normalised x"),
    ),
    chains=(
        chain(
            mu_y,
            (a * mu_x + c, "A mean is linear, and the mean of c is c.", definition("mu_y", "y", "mu_x")),
            title="The mean moves along",
        ),
        chain(
            v_y,
            (
                mean((a * x[k] - a * mu_x) ** 2),
                "The mean of y is a μ + c, so the shift cancels in every deviation.",
                definition("v_y", "y", "mu_y", "mu_x"),
            ),
            (a**2 * v_x, "What is left is a² times the variance of x.", definition("v_x")),
            title="The variance is scaled by a²",
        ),
        chain(
            (y[i] - mu_y) / sp.sqrt(v_y + a**2 * epsilon) * gamma[i] + beta[i],
            (
                a * (x[i] - mu_x) / sp.sqrt(a**2 * v_x + a**2 * epsilon) * gamma[i] + beta[i],
                "The deviation is a times as large as before, and so is the root.",
                definition("y", "mu_y", "mu_x", "v_y", "v_x"),
            ),
            (
                LN[i],
                "a is positive and cancels, which leaves layer normalisation of x with ε.",
                definition("LN", "n"),
            ),
            title="Shift and scale together: y with a² ε",
        ),
        chain(
            (y[i] - mu_y) / sp.sqrt(v_y),
            (
                (x[i] - mu_x) / sp.sqrt(v_x),
                "Deviation and root are both a times as large, and a is positive.",
                definition("y", "mu_y", "mu_x", "v_y", "v_x"),
            ),
            title="At ε = 0 a positive scale changes nothing",
        ),
        chain(
            mu_n,
            (
                mean(x[k] - mu_x) / sp.sqrt(v_x + epsilon),
                "The root is the same for all features and stands outside the mean.",
                definition("mu_n", "n"),
            ),
            (sp.Integer(0), "Deviations from the mean have mean zero.", definition("mu_x")),
            title="Before γ and β the mean is 0",
        ),
        chain(
            v_n,
            (
                mean((x[k] - mu_x) ** 2) / (v_x + epsilon),
                "The mean is 0, and the square of the root stands outside the mean.",
                definition("v_n", "mu_n", "n", "mu_x"),
            ),
            (
                v_x / (v_x + epsilon),
                "The mean of the squared deviations is the variance; at ε = 0 the quotient is 1.",
                definition("v_x"),
            ),
            title="Before γ and β the variance is nearly 1",
        ),
    ),
    explains=("transformer.layer_norm", "layer_norm_form"),
)
