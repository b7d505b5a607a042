from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np
import pytest
import sympy as sp
import torch

from reference.derivations import lstm_memory_path as path
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import Induction, algebra, differentiation, limit
from reference.gates import lstm_cell, sigmoid

DERIVATION = path.DERIVATION
RNG = np.random.default_rng(0)
WEIGHTS = {f"{kind}_{gate}": RNG.normal(size=(1, 1)) for kind in "WU" for gate in "ifoc"}
HELD = {name: weight if name.startswith("W") else 0 * weight for name, weight in WEIGHTS.items()}  # gates see x alone
INPUTS = RNG.normal(size=(5, 1))


def gates_of(inputs):
    """Return forget gates, input gates and candidates of the cell whose gates see the input alone."""
    scores = {gate: (HELD[f"W_{gate}"] @ inputs.T)[0] for gate in "ifc"}
    return sigmoid(scores["f"]), sigmoid(scores["i"]), np.tanh(scores["c"])


def memory_after(start):
    """Return C_T of the reference."""
    h, c = np.zeros(1), np.array([start])
    for x in INPUTS:
        h, c = lstm_cell(x, h, c, HELD)
    return c[0]


def right_of(title):
    (found,) = (each for each in DERIVATION.chains if each.title == title)
    return found.links[-1][0]


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_memory_is_the_references(value):
    """The closed form of C_T is what lstm_cell has after T inputs."""
    f, i, g = gates_of(INPUTS)
    got = value(right_of("T steps, gates held"), {"f": f, "i": i, "g": g, "C_0": 0.3, "T": len(INPUTS)})
    assert got == pytest.approx(memory_after(0.3), abs=1e-14)


def test_the_gradient_is_the_slope_of_the_reference(value):
    """C_T is linear in C_0 while gates are held, so a difference of two runs is the derivative, up to rounding."""
    got = value(right_of("The gradient over T steps"), {"f": gates_of(INPUTS)[0], "T": len(INPUTS)})
    assert got == pytest.approx(memory_after(1.0) - memory_after(0.0), abs=1e-14)


def test_derivatives_of_one_step_are_autograds(value):
    """∂C_t/∂h_{t-1}, the gates not held, and ∂h_t/∂C_t."""
    numbers = {name: float(RNG.normal()) for name in ("u_f", "u_i", "u_g", "a_f", "a_i", "a_g", "h_before", "C_before")}
    h = torch.tensor(numbers["h_before"], dtype=torch.float64, requires_grad=True)
    f, i = (torch.sigmoid(numbers[f"a_{gate}"] + numbers[f"u_{gate}"] * h) for gate in "fi")
    cell = f * numbers["C_before"] + i * torch.tanh(numbers["a_g"] + numbers["u_g"] * h)
    cell.backward()
    got = value(right_of("The way through the gates"), numbers, DERIVATION.context.definitions)
    assert got == pytest.approx(h.grad.item(), abs=1e-14)
    memory = torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
    (0.6 * torch.tanh(memory)).backward()
    assert value(right_of("From memory to state"), {"C_t": 0.8, "o_t": 0.6}) == pytest.approx(
        memory.grad.item(), abs=1e-14
    )


def test_a_shut_forget_gate_does_not_stop_the_gradient():
    """The witness: with f = 0 up to 1e-26 the memory still depends on the state before."""
    shut = {**WEIGHTS, "W_f": np.array([[-60.0]]), "U_f": np.zeros((1, 1))}
    one, other = (lstm_cell([1.0], [state], [2.0], shut)[1] for state in (0.0, 0.5))
    assert abs(one - other)[0] > 0.05


def test_the_closed_form_in_exact_fractions():
    """The recurrence, run in fractions, against the product and the sum."""
    f, i, g = ([Fraction(number, 7) for number in row] for row in ((3, 6, 1, 5), (2, 4, 6, 1), (-3, 5, 2, -6)))
    memory = start = Fraction(4, 3)
    for t in range(4):
        memory = f[t] * memory + i[t] * g[t]
    assert memory == prod(f) * start + sum(prod(f[t + 1 :]) * i[t] * g[t] for t in range(4))


t, T, s, f, i, g = path.t, path.T, path.s, path.f, path.i, path.g
STEP = f[T + 1] * path.C(T) + i[T + 1] * g[T + 1]
ALONG = Induction(T, sp.Integer(0), start=path.C_0, step=STEP)
OWN_GATE = sp.Sum(sp.Product(f[s], (s, t, T)) * i[t] * g[t], (t, 1, T))
ALL_WAYS = path.C_before * path.f_t * (1 - path.f_t) * path.u_f + path.around
WRONG = {
    "S3: a small forget gate makes the gradient vanish": (sp.Limit(ALL_WAYS, path.f_t, 0), sp.Integer(0), limit),
    "a step forgets what it writes": (path.C(T), path.kept * path.C_0 + OWN_GATE, ALONG),
    "the last gate alone": (path.C(T), f[T] * path.C_0 + path.written, ALONG),
    "gates add up": (sp.Derivative(path.kept * path.C_0 + path.written, path.C_0), sp.Sum(f[t], (t, 1, T)), differentiation()),
    "the input gate is the factor": (sp.Derivative(path.C_t, path.C_before), path.i_t, differentiation("C_t")),
    "tanh like a sigmoid": (sp.Derivative(path.h_t, path.C_t), path.o_t * sp.tanh(path.C_t) * (1 - sp.tanh(path.C_t)), differentiation("h_t")),
    "cosh for cosh²": (path.o_t * (1 - sp.tanh(path.C_t) ** 2), path.o_t / sp.cosh(path.C_t), algebra),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
