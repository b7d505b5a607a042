from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
import torch

from reference.derivations import rnn_gradient_product as rnn
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import Induction, definition, differentiation, limit
from reference.gates import rnn_gradient_norms

DERIVATION = rnn.DERIVATION
RNG = np.random.default_rng(0)


def states_of(xs, w, u, start):
    """Return the states of the network with one number for a state."""
    states = [start]
    for x in xs:
        states.append(np.tanh(w * x + u * states[-1]))
    return np.array(states)


def right_of(title, place=-1):
    (found,) = (each for each in DERIVATION.chains if each.title == title)
    return found.links[place][0]


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_jacobian_of_a_step_is_autograds(value):
    W, U, x, before = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 3)), RNG.normal(size=2), RNG.normal(size=3)
    want = torch.autograd.functional.jacobian(
        lambda state: torch.tanh(torch.tensor(W) @ torch.tensor(x) + torch.tensor(U) @ state), torch.tensor(before)
    )
    known = {"W": W, "U": U, "x": x, "p": before, "n": 3, "d": 2}
    right, definitions = right_of("One step, any size"), DERIVATION.context.definitions
    got = [[value(right, {**known, "i": i, "j": j}, definitions) for j in (1, 2, 3)] for i in (1, 2, 3)]
    np.testing.assert_allclose(got, want.numpy(), atol=1e-14)


@pytest.mark.parametrize("u", [0.5, 1.0, 1.7, -1.7])
def test_the_product_is_the_reference(u, value):
    """|dJ/dh_t| of rnn_gradient_norms is the product over the steps after t, and at most |u|^m."""
    xs = RNG.normal(size=6)
    states = states_of(xs, 0.3, u, 0.1)
    norms = rnn_gradient_norms(xs[:, None], [0.1], [[0.3]], [[u]], [1.0])
    for t in range(1, 7):
        known = {"u": abs(u), "m": 6 - t, "y": states[t + 1 :]}
        assert value(right_of("Many steps, one number", 0), known) == pytest.approx(norms[t - 1], abs=1e-14)
        assert norms[t - 1] <= value(right_of("Many steps, one number"), known) + 1e-14


def test_two_runs_never_part_faster_than_the_bound():
    """Differences of runs are at most |u|^m times as far apart as their starts, without any derivative."""
    xs = RNG.normal(size=5)
    for u in (0.5, -0.9, 2.0):
        ends = [(start, states_of(xs, 0.7, u, start)[-1]) for start in np.linspace(-1, 1, 41)]
        for (a, end_of_a), (b, end_of_b) in pairwise(ends):
            assert abs(end_of_b - end_of_a) <= abs(u) ** 5 * (b - a) + 1e-15


def test_it_vanishes_or_explodes():
    """Fifty steps from rest: 2^-50 and 2^50, the bound itself."""
    rest = np.zeros((51, 1))
    for u in (0.5, 2.0):
        assert rnn_gradient_norms(rest, [0.0], [[1.0]], [[u]], [1.0])[0] == u**50


i, j, m, r, u, y, z = rnn.i, rnn.j, rnn.m, rnn.r, rnn.u, rnn.y, rnn.z
LEFT = sp.Product(u * (1 - y[r] ** 2), (r, 1, m))
ALONG = Induction(m, sp.Integer(0), start=sp.Integer(1), step=u * (1 - y[m + 1] ** 2) * rnn.G(m))
SMALLER = rnn.FactorByFactor(factor=u / sp.cosh(z[r]) ** 2, gap=u * sp.tanh(z[r]) ** 2, unfold=("y",))
WRONG = {
    "tanh like a sigmoid": (sp.Derivative(rnn.h[i], rnn.p[j]), rnn.h[i] * (1 - rnn.h[i]) * rnn.U[i, j], differentiation("h")),
    "U transposed": ((1 - rnn.h[i] ** 2) * rnn.U[i, j], (1 - rnn.h[i] ** 2) * rnn.U[j, i], definition("h")),
    "the slope at the old state": (
        sp.Derivative(rnn.h[i], rnn.p[j]), (1 - rnn.p[i] ** 2) * rnn.U[i, j], differentiation("h"),
    ),
    "one weight for all steps": (rnn.G(m), u * sp.Product(1 - y[r] ** 2, (r, 1, m)), ALONG),
    "a state too few": (rnn.G(m), sp.Product(u * (1 - y[r] ** 2), (r, 1, m - 1)), ALONG),
    "another range": (LEFT, sp.Product(u, (r, 1, m - 1)), SMALLER),
    "too small a bound": (LEFT, sp.Product(u / 2, (r, 1, m)), SMALLER),
    "a factor that may be negative": (
        sp.Product(u * sp.tanh(z[r]), (r, 1, m)), sp.Product(u, (r, 1, m)),
        rnn.FactorByFactor(factor=u * sp.tanh(z[r]), gap=u * (1 - sp.tanh(z[r]))),
    ),
    "it vanishes for every u": (sp.Limit(u**m, m, sp.oo), sp.Integer(0), limit),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
