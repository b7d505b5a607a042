from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
import sympy as sp
import torch

from reference.derivations import lstm_weight_gradient as lstm
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import Induction, definition
from reference.gates import lstm_weight_gradient, sigmoid

DERIVATION = lstm.DERIVATION
STEPS = 4


def cell(size, width, seed=0, *, recurrent=1.0):
    """Return inputs, first states, weights and the explicit derivatives of the cost."""
    rng = np.random.default_rng(seed)
    shapes = {f"{kind}_{gate}": (size, width if kind == "W" else size) for kind in "WU" for gate in "ifoc"}
    weights = {name: rng.normal(size=shape) * (1 if name[0] == "W" else recurrent) for name, shape in shapes.items()}
    return (
        rng.normal(size=(STEPS, width)),
        rng.normal(size=size),
        rng.normal(size=size),
        weights,
        rng.normal(size=(STEPS, size)),
    )


def right_of(title):
    (found,) = (each for each in DERIVATION.chains if each.title == title)
    return found.links[-1][0]


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_sheets_sum_is_the_reference(value):
    """dh_t/dw, step by step as the sheet writes it, times the explicit ∂J/∂h_t is what lstm_weight_gradient returns."""
    xs, (h,), (c,), weights, dh = cell(1, 1)
    u = {gate: weights[f"U_{gate}"][0, 0] for gate in "ifoc"}
    dC = dh_before = total = 0.0
    for x, explicit in zip(xs[:, 0], dh[:, 0], strict=True):
        f, i, o = (float(sigmoid(weights[f"W_{gate}"][0, 0] * x + u[gate] * h)) for gate in "fio")
        g = float(np.tanh(weights["W_c"][0, 0] * x + u["c"] * h))
        after = f * c + i * g
        known = {
            "f_t": f, "i_t": i, "g_t": g, "o_t": o, "C_t": after, "C_before": c, "x_t": x, "u": u["c"],
            "f_h": f * (1 - f) * u["f"], "i_h": i * (1 - i) * u["i"], "o_h": o * (1 - o) * u["o"],
            "dC_before": dC, "dh_before": dh_before,
        }  # fmt: skip
        definitions = DERIVATION.context.definitions
        dh_after = value(right_of("One step as the sheet writes it"), known, definitions)
        dC = value(
            lstm.f_t * lstm.dc_before + lstm.C_before * lstm.df + lstm.i_t * lstm.dg + lstm.g_t * lstm.di,
            known,
            definitions,
        )
        total += explicit * dh_after
        dh_before, h, c = dh_after, o * np.tanh(after), after
    xs, h0, c0, weights, dh = cell(1, 1)
    assert total == pytest.approx(lstm_weight_gradient(xs, h0, c0, weights, dh)[0, 0], abs=1e-13)


def test_the_reference_is_autograds():
    xs, h0, c0, weights, dh = cell(3, 2)
    tensors = {name: torch.tensor(weight, requires_grad=True) for name, weight in weights.items()}
    h, c, cost = torch.tensor(h0), torch.tensor(c0), torch.tensor(0.0, dtype=torch.float64)
    for x, explicit in zip(torch.tensor(xs), torch.tensor(dh), strict=True):
        i, f, o, g = (tensors[f"W_{gate}"] @ x + tensors[f"U_{gate}"] @ h for gate in "ifoc")
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        cost = cost + explicit @ h
    cost.backward()
    np.testing.assert_allclose(lstm_weight_gradient(xs, h0, c0, weights, dh), tensors["W_c"].grad.numpy(), atol=1e-12)


def test_the_closed_form_is_the_reference_without_recurrent_weights(value):
    """If gates see the input alone, dC_T/dw is the sum of what was written times the forget gates after it."""
    xs, h0, c0, weights, dh = cell(2, 3, recurrent=0.0)
    i, f, o = (sigmoid(xs @ weights[f"W_{gate}"].T) for gate in "ifo")
    g = np.tanh(xs @ weights["W_c"].T)
    got, memory = np.zeros((2, 3)), c0
    for step in range(STEPS):
        memory = f[step] * memory + i[step] * g[step]
        for row in range(2):
            for column in range(3):
                known = {"f": f[:, row], "i": i[:, row], "g": g[:, row], "x": xs[:, column], "T": step + 1}
                along = value(right_of("Along the memory, with h held"), known)
                got[row, column] += dh[step, row] * o[step, row] * (1 - np.tanh(memory[row]) ** 2) * along
    np.testing.assert_allclose(got, lstm_weight_gradient(xs, h0, c0, weights, dh), atol=1e-12)


def test_both_sums_agree_in_exact_fractions():
    """Forwards with explicit derivatives of the cost, backwards with explicit derivatives of the states."""
    random, size = Random(0), 3

    def vector():
        return [Fraction(random.randint(-9, 9), 4) for _ in range(size)]

    A, b, e = (
        [[vector() for _ in range(size)] for _ in range(STEPS)],
        [vector() for _ in range(STEPS)],
        [vector() for _ in range(STEPS)],
    )
    s, forwards = [Fraction(0)] * size, Fraction(0)
    for t in range(STEPS):
        s = [sum(A[t][j][k] * s[k] for k in range(size)) + b[t][j] for j in range(size)]
        forwards += sum(x * y for x, y in zip(e[t], s, strict=True))
    D, backwards = [Fraction(0)] * size, Fraction(0)
    for t in reversed(range(STEPS)):
        later = A[t + 1] if t + 1 < STEPS else [[Fraction(0)] * size] * size
        D = [e[t][k] + sum(D[j] * later[j][k] for j in range(size)) for k in range(size)]
        backwards += sum(x * y for x, y in zip(D, b[t], strict=True))
    assert forwards == backwards


t, T, w, j, m, r = lstm.t, lstm.T, lstm.w, lstm.j, lstm.m, lstm.r
CELL = sp.Derivative(lstm.f(t, w) * lstm.C(t - 1, w) + lstm.i(t, w) * lstm.g(t, w), w)
BOTH_TOTAL = sp.Sum(lstm.D[t, j] * lstm.s[t + 1, j], (j, 1, m), (t, 1, T))
BOTH_EXPLICIT = sp.Sum(lstm.e[t, j] * lstm.b[t, j], (j, 1, m), (t, 1, T))
ENDS = lstm.passed(sp.Integer(1)) - lstm.passed(T + 1)
FORWARDS = Induction(
    T, sp.Integer(0), start=sp.Integer(0), unfold=("b", "e"),
    step=lstm.explicit_cost + sp.Sum(lstm.e[T + 1, j] * lstm.s[T + 2, j], (j, 1, m)),
)  # fmt: skip
MEMORY = Induction(
    T, sp.Integer(0), start=sp.Integer(0), step=lstm.F[T + 1] * lstm.S(T) + lstm.written.xreplace({t: T + 1})
)
PARTS = definition("df", "di", "do", "dg", "H")
STEP = (
    lstm.slope * (lstm.f_t * lstm.dc_before + lstm.C_before * lstm.df + lstm.i_t * lstm.dg + lstm.g_t * lstm.di)
    + sp.tanh(lstm.C_t) * lstm.do
)
WRONG = {
    "total derivatives on both sides count paths twice": (lstm.explicit_cost, BOTH_TOTAL + ENDS, FORWARDS),
    "explicit derivatives on both sides leave paths out": (lstm.explicit_cost, BOTH_EXPLICIT + ENDS, FORWARDS),
    "a step within is not at an end": (lstm.explicit_state - lstm.passed(T), lstm.explicit_state, lstm.AtTheEnds()),
    "the forget gate does not depend on w": (
        CELL,
        lstm.f(t, w) * sp.Derivative(lstm.C(t - 1, w), w) + lstm.i(t, w) * sp.Derivative(lstm.g(t, w), w) + lstm.g(t, w) * sp.Derivative(lstm.i(t, w), w),
        lstm.total,
    ),
    "derivatives at the wrong step": (CELL, CELL.xreplace({t: t + 1}), lstm.total),
    "the way through h is left out": (STEP, lstm.slope * (lstm.i_t * (1 - lstm.g_t**2) * lstm.x_t + lstm.f_t * lstm.dc_before), PARTS),
    "a step's own forget gate": (lstm.S(T), sp.Sum(sp.Product(lstm.F[r], (r, t, T)) * lstm.written, (t, 1, T)), MEMORY),
    "no forget gates": (lstm.S(T), sp.Sum(lstm.written, (t, 1, T)), MEMORY),
    "a second derivative": (sp.Derivative(lstm.f(t, w), (w, 2)), sp.Integer(0), lstm.total),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
