from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
import torch

from reference.derivations import gru_limits as gru
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import Bound, definition, differentiation, limit
from reference.gates import gru_cell, sigmoid

DERIVATION = gru.DERIVATION
NAMES = ("W_z", "U_z", "W_r", "U_r", "W", "U")
ON, OFF = 60.0, -60.0  # scores whose sigmoid is 1 and 0 in floating point, up to 1e-26


def cell(size=3, width=2, seed=0):
    """Return input, state and weights."""
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(size=(size, width if name.startswith("W") else size)) for name in NAMES}
    return np.append(rng.normal(size=width - 1), 1.0), rng.normal(size=size), weights


def with_scores(weights, **scores):
    """Return the weights with gates that have these scores whatever the state: the last input is 1."""
    fixed = dict(weights)
    for gate, score in scores.items():
        fixed[f"U_{gate}"] = np.zeros_like(weights[f"U_{gate}"])
        fixed[f"W_{gate}"] = np.zeros_like(weights[f"W_{gate}"])
        fixed[f"W_{gate}"][:, -1] = score
    return fixed


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_definition_is_the_reference(value):
    """Entry i of the derivation's new state is that of gru_cell."""
    x, h, weights = cell()
    scores = {gate: weights[f"W_{gate}"] @ x + weights[f"U_{gate}"] @ h for gate in "zr"}
    known = {"x": x, "h": h, "W": weights["W"], "U": weights["U"], "n": 3, "d": 2}
    got = [
        value(gru.h_new[i], {**known, "s": scores["z"][i - 1], "t": scores["r"][i - 1]}, DERIVATION.context.definitions)
        for i in range(1, 4)
    ]
    np.testing.assert_allclose(got, gru_cell(x, h, weights), atol=1e-12)


def test_the_reference_reaches_the_limits():
    """Gates at their ends: the old state, the candidate, and tanh(W x), which does not know the old state."""
    x, h, weights = cell()
    np.testing.assert_allclose(gru_cell(x, h, with_scores(weights, z=OFF)), h, atol=1e-15)
    gone = gru_cell(x, h, with_scores(weights, z=ON, r=OFF))
    np.testing.assert_allclose(gone, np.tanh(weights["W"] @ x), atol=1e-15)
    assert np.abs(gone - h).max() > 0.5  # the witness against "the past is remembered very well"
    np.testing.assert_allclose(gru_cell(x, h + 1, with_scores(weights, z=ON, r=OFF)), gone, atol=1e-15)


def test_the_dependence_on_the_old_state_is_autograds(value):
    """(1 - z) δ_ij + z (1 - c_i²) r U_ij is the Jacobian of the cell with its gates held."""
    x, h, weights = cell()
    held = with_scores(weights, z=0.7, r=-0.4)
    z, r = float(sigmoid(0.7)), float(sigmoid(-0.4))
    W, U, old = (torch.tensor(array) for array in (weights["W"], weights["U"], h))

    def new(state):
        return (1 - z) * state + z * torch.tanh(W @ torch.tensor(x) + r * (U @ state))

    np.testing.assert_allclose(new(old).numpy(), gru_cell(x, h, held), atol=1e-12)
    (jacobian,) = (c for c in DERIVATION.chains if c.title.startswith("How the new state depends"))
    known = {"x": x, "h": h, "W": weights["W"], "U": weights["U"], "n": 3, "d": 2, "s": 0.7, "t": -0.4}
    right = jacobian.links[-1][0]
    got = [
        [value(right, {**known, "i": i, "j": j}, DERIVATION.context.definitions) for j in range(1, 4)]
        for i in range(1, 4)
    ]
    np.testing.assert_allclose(got, torch.autograd.functional.jacobian(new, old).numpy(), atol=1e-12)


def test_between_in_exact_fractions():
    """For gates in sixteenths and states in quarters the new state is never outside of the two."""
    states = [Fraction(number, 4) for number in range(-4, 5)]
    for z, h, c in product((Fraction(number, 16) for number in range(17)), states, states):
        assert min(h, c) <= (1 - z) * h + z * c <= max(h, c)


z, r, h, c, i, j = gru.z, gru.r, gru.h[gru.i], gru.c[gru.i], gru.i, gru.j
WRONG = {
    "the gates swapped": (gru.h_new[i] - h, (1 - z) * (c - h), definition("h'")),
    "an open update gate keeps the state": (sp.Limit(gru.mixed, z, 1), h, limit),
    "a shut reset gate keeps the state": (sp.Limit(sp.tanh(gru.from_input + r * gru.from_state), r, 0), sp.tanh(gru.from_state), limit),
    "a falling score opens the gate": (sp.Limit(gru.z_open, gru.s, -sp.oo), sp.Integer(1), limit),
    "the candidate is held, too": (sp.Derivative(gru.h_new[i], gru.h[j]), (1 - z) * gru.delta, differentiation("h'", "c")),
    "tanh' without the square": (
        sp.Derivative(gru.h_new[i], gru.h[j]),
        (1 - z) * gru.delta + z * (1 - c) * r * gru.U[i, j],
        differentiation("h'", "c"),
    ),
    "the state never falls": (gru.h_new[i], h, Bound(unfold=("h'", "z"), relation="≥")),
    "a certificate that is not one": (gru.h_new[i], h, Bound(certificate=gru.z_open * (c - h), unfold=("h'", "z"), relation="≥")),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
