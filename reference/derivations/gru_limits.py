"""What a gated recurrent unit keeps and what it forgets when its gates are nearly shut or nearly open."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import Bound, definition, differentiation, limit

d, i, j, k, n = map(index, ("d", "i", "j", "k", "n"))
h, h_new, c, x = (sp.IndexedBase(name, real=True) for name in ("h", "h'", "c", "x"))
W, U = (sp.IndexedBase(name, real=True) for name in "WU")
s, t = sp.symbols("s t", real=True)
z, r = sp.symbols("z r", positive=True)
delta = sp.KroneckerDelta(i, j)


def sigmoid(score: sp.Expr) -> sp.Expr:
    """Return 1 / (1 + e^-score)."""
    return 1 / (1 + sp.exp(-score))


z_open, r_open = sigmoid(s), sigmoid(t)
z_shut = sp.exp(-s) / (1 + sp.exp(-s))  # 1 - z
from_input = sp.Sum(W[i, k] * x[k], (k, 1, d))
from_state = sp.Sum(U[i, k] * h[k], (k, 1, n))
mixed = (1 - z) * h[i] + z * c[i]

DERIVATION = Derivation(
    id="gru_limits",
    title="The gates of a GRU at their ends",
    source="S3.2b-c",
    shows=(
        "An update gate near 0 keeps the old state and one near 1 takes the candidate, in which a reset gate near 0"
        " leaves nothing of the old state. In between, the new state lies between the two, entry by entry."
    ),
    premises=(
        Premise("i and j are entries from 1 to n", facts=Facts(ranges={i: (sp.Integer(1), n), j: (sp.Integer(1), n)})),
        defines(h_new[i], mixed, "entry i of the new state"),
        defines(c[i], sp.tanh(from_input + r * from_state), "entry i of the candidate"),
        defines(z, z_open, "the update gate of entry i, with the score s"),
        defines(r, r_open, "the reset gate of entry i, with the score t"),
        Premise("gates are held where a derivative by the old state is taken"),
    ),
    chains=(
        chain(
            h_new[i] - h[i],
            (z * (c[i] - h[i]), "The state goes the fraction z of the way to the candidate.", definition("h'")),
            title="How far the state moves",
        ),
        chain(
            sp.Limit(z_open, s, -sp.oo),
            (sp.Integer(0), "The exponential in the denominator grows without bound.", limit),
            title="A gate whose score falls shuts",
        ),
        chain(
            sp.Limit(z_open, s, sp.oo),
            (sp.Integer(1), "The exponential in the denominator vanishes.", limit),
            title="A gate whose score grows opens",
        ),
        chain(
            sp.Limit(mixed, z, 0),
            (h[i], "The state goes no part of the way: the old one stays.", limit),
            title="Update gate near 0",
        ),
        chain(
            sp.Limit(mixed, z, 1),
            (c[i], "The state goes all of the way: the candidate is taken.", limit),
            title="Update gate near 1",
        ),
        chain(
            sp.Limit(sp.tanh(from_input + r * from_state), r, 0),
            (sp.tanh(from_input), "The old state's part is multiplied by a gate that tends to 0.", limit),
            title="Reset gate near 0",
        ),
        chain(
            sp.Derivative(h_new[i], h[j]),
            (
                (1 - z) * delta + z * (1 - c[i] ** 2) * r * U[i, j],
                "The old state enters in two ways: directly, and through the candidate.",
                differentiation("h'", "c"),
            ),
            title="How the new state depends on the old one",
        ),
        chain(
            (1 - z) * delta + z * (1 - c[i] ** 2) * r * sp.Abs(U[i, j]),
            (
                (1 - z) + r * sp.Abs(U[i, j]),
                "The sizes of the two ways: one is shut with 1 - z, the other with r, and then the past is gone.",
                Bound(
                    certificate=z_shut * (1 - delta) ** 2 + r_open * sp.Abs(U[i, j]) * (z_shut + z_open * c[i] ** 2),
                    unfold=("z", "r"),
                ),
            ),
            title="Update gate near 1 and reset gate near 0",
        ),
        chain(
            (h_new[i] - h[i]) * (c[i] - h_new[i]),
            (
                z * (1 - z) * (c[i] - h[i]) ** 2,
                "The fraction z of the way is behind the new state, the fraction 1 - z before it.",
                definition("h'"),
            ),
            (
                sp.Integer(0),
                "Gates lie between 0 and 1, so both differences have the same sign.",
                Bound(certificate=z_open * z_shut * (c[i] - h[i]) ** 2, unfold=("z",), relation="≥"),
            ),
            title="The new state lies between the old one and the candidate",
        ),
    ),
    explains=("gates.gru_cell", "gru_update", "gru_update_gate_zero", "gru_update_one_reset_zero"),
)
