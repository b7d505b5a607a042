"""Along the memory of an LSTM the gradient is the product of the forget gates, with nothing squashed in between."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Derivation, Premise, chain, defines
from reference.derivations.rules import Induction, algebra, differentiation, limit

s, t = map(index, "st")
T = sp.Symbol("T", integer=True, nonnegative=True)
f = sp.IndexedBase("f", positive=True)
i, g = (sp.IndexedBase(name, real=True) for name in "ig")
C = sp.Function("C", real=True)
C_0, C_t, C_before, h_t, h_before = sp.symbols("C_0 C_t C_before h_t h_before", real=True)
f_t, i_t, g_t, o_t = sp.symbols("f_t i_t g_t o_t", real=True)
phi = sp.Symbol("phi", positive=True)
u_f, u_i, u_g, a_f, a_i, a_g = sp.symbols("u_f u_i u_g a_f a_i a_g", real=True)


def sigmoid(score: sp.Expr) -> sp.Expr:
    """Return 1 / (1 + e^-score)."""
    return 1 / (1 + sp.exp(-score))


kept = sp.Product(f[t], (t, 1, T))
written = sp.Sum(sp.Product(f[s], (s, t + 1, T)) * i[t] * g[t], (t, 1, T))
around = i_t * (1 - g_t**2) * u_g + g_t * i_t * (1 - i_t) * u_i  # the way from h past the forget gate

DERIVATION = Derivation(
    id="lstm_memory_path",
    title="The memory path of an LSTM",
    source="S3.3b, S3.4b",
    shows=(
        "With gates held, ∂C_t/∂C_{t-1} = f_t and over T steps ∂C_T/∂C_0 is the product of the forget gates: open gates"
        " let the gradient through. A shut forget gate still leaves the way through the other gates."
    ),
    premises=(
        Premise("every quantity is one entry of its vector, since all products of the cell are taken entry by entry"),
        Premise(sp.Eq(C(0), C_0, evaluate=False), "the memory at the beginning"),
        Premise(sp.Eq(C(T + 1), f[T + 1] * C(T) + i[T + 1] * g[T + 1], evaluate=False), "the update of the memory"),
        defines(C_t, f_t * C_before + i_t * g_t, "one update"),
        defines(h_t, o_t * sp.tanh(C_t), "the state"),
        defines(f_t, sigmoid(a_f + u_f * h_before), "forget gate; a_f is its part of the input"),
        defines(i_t, sigmoid(a_i + u_i * h_before), "input gate"),
        defines(g_t, sp.tanh(a_g + u_g * h_before), "candidate"),
    ),
    chains=(
        chain(
            sp.Derivative(C_t, C_before),
            (f_t, "The old memory stands in the update once, multiplied by the forget gate.", differentiation("C_t")),
            title="One step",
        ),
        chain(
            C(T),
            (
                kept * C_0 + written,
                "What is written at step t is multiplied by every forget gate after it.",
                Induction(T, sp.Integer(0), start=C_0, step=f[T + 1] * C(T) + i[T + 1] * g[T + 1]),
            ),
            title="T steps, gates held",
        ),
        chain(
            sp.Derivative(kept * C_0 + written, C_0),
            (kept, "Only the first term knows C_0.", differentiation()),
            title="The gradient over T steps",
        ),
        chain(
            sp.Product(phi, (t, 1, T)),
            (phi**T, "Equal factors make a power.", algebra),
            title="All gates equal",
        ),
        chain(
            sp.Limit(phi**T, phi, 1),
            (sp.Integer(1), "For any number of steps, gates near 1 keep the gradient.", limit),
            title="Gates near 1",
        ),
        chain(
            sp.Derivative(h_t, C_t),
            (o_t * (1 - sp.tanh(C_t) ** 2), "The derivative of tanh is 1 - tanh².", differentiation("h_t")),
            (o_t / sp.cosh(C_t) ** 2, "1 - tanh² = 1 / cosh².", algebra),
            title="From memory to state",
        ),
        chain(
            sp.Derivative(C_t, h_before),
            (
                C_before * f_t * (1 - f_t) * u_f + around,
                "The old state enters through the forget gate, the candidate and the input gate.",
                differentiation("C_t", "f_t", "i_t", "g_t"),
            ),
            title="The way through the gates",
        ),
        chain(
            sp.Limit(C_before * f_t * (1 - f_t) * u_f + around, f_t, 0),
            (around, "A shut forget gate stops the first of the three ways and no other.", limit),
            title="Forget gate near 0",
        ),
    ),
    explains=(
        "gates.lstm_cell",
        "gates.lstm_weight_gradient",
        "lstm_memory_path",
        "lstm_cell_derivative",
        "lstm_forget_zero",
    ),
)
