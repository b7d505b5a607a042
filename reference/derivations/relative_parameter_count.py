"""Biases that depend on i - j only are 2T - 1 for each head."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Derivation, Premise, chain
from reference.derivations.rules import algebra

T, m, h, r = index("T"), index("m"), index("h"), sp.Symbol("r", integer=True)
each_distance = (r, -(T - 1), T - 1)
sides = sp.Mul(2, T - 1, evaluate=False) + 1  # as the sheet writes it

DERIVATION = Derivation(
    id="relative_parameter_count",
    title="How many relative biases there are to learn",
    source="S1.c.ii",
    shows="i - j takes 2T - 1 values, and each head learns a bias for each of them.",
    premises=(
        Premise("i and j are positions from 1 to T", "so i - j runs over the whole numbers from -(T-1) to T-1"),
        Premise("π_ij = π_{i-j}", "one bias for each distance, and each of m heads learns its own"),
    ),
    chains=(
        chain(
            sp.Sum(1, each_distance, (h, 1, m)),
            (sp.Sum(1, each_distance) * m, "The m heads have equally many.", algebra),
            (sides * m, "T - 1 distances behind, T - 1 ahead, and the distance 0.", algebra),
            ((2 * T - 1) * m, "2(T-1) + 1 is 2T - 1.", algebra),
            title="The count",
        ),
        chain(
            T + 2 * sp.Sum(T - r, (r, 1, T - 1)),
            (
                T + 2 * ((T - 1) * T - T * (T - 1) / 2),
                "Distance 0 occurs T times, r and -r occur T - r times each; 1 + … + (T-1) is T(T-1)/2.",
                algebra,
            ),
            (T**2, "Every pair of positions is counted, once.", algebra),
            title="The pairs that share them",
        ),
    ),
    explains=("positional.relative_parameter_count", "positional.relative_bias_matrix", "relative_parameter_count"),
)
