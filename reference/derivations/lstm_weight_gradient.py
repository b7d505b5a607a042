"""The gradient of a weight through time: explicit derivatives of the cost times total derivatives of the states."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp
from sympy.core.function import AppliedUndef

from formulas.matrices import index
from reference.derivations.proof import Context, Derivation, Premise, Refused, chain, defines
from reference.derivations.rules import Induction, algebra, definition


@dataclass(frozen=True)
class TotalDerivative:
    """left = right where derivatives of functions of one variable are taken, and those of unknown functions stay."""

    name: str = "the product rule and the chain rule"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the two are equal once all derivatives are taken, raise Refused otherwise."""
        algebra.prove(self._taken(left), self._taken(right), context)

    def _taken(self, expression: sp.Expr) -> sp.Expr:
        taken = expression.replace(sp.Derivative, sp.diff)
        return taken.replace(sp.Derivative, self._named)

    @staticmethod
    def _named(of: sp.Expr, by: sp.Tuple) -> sp.Expr:
        """Return the derivative of an unknown function as another unknown function."""
        if not isinstance(of, AppliedUndef) or by[1] != 1:
            raise Refused(f"the derivative of {of} is neither known nor one of an unknown function")
        return sp.Function(f"∂{of.func}/∂{by[0]}")(*of.args)


@dataclass(frozen=True)
class AtTheEnds:
    """left = right because of premises that some row of an array is zero, as the one before the first step is."""

    name: str = "zeros at both ends"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the two are equal once the zeros are put in, raise Refused otherwise."""
        zeros = {equation.lhs for equation in context.equations if equation.rhs == 0}
        rows = {(entry.base, entry.indices[0]) for entry in zeros if isinstance(entry, sp.Indexed)}
        gone = {entry: sp.Integer(0) for entry in left.atoms(sp.Indexed) if (entry.base, entry.indices[0]) in rows}
        algebra.prove(left.xreplace(gone), right, context)


total = TotalDerivative()

j, k, m, r, t = map(index, ("j", "k", "m", "r", "t"))
T = sp.Symbol("T", integer=True, nonnegative=True)
w = sp.Symbol("w", real=True)
C, f, i, g, o, h = (sp.Function(name, real=True) for name in "Cfigoh")
x = sp.IndexedBase("x", real=True)

# One step in numbers: the cell before and after, its gates, and the derivatives of all of them by w or by h.
f_t, i_t, g_t, o_t, C_t, C_before, x_t, u = sp.symbols("f_t i_t g_t o_t C_t C_before x_t u", real=True)
df, di, dg, do, dc_before, dh_before = sp.symbols("df di dg do dC_before dh_before", real=True)
f_h, i_h, o_h, through = sp.symbols("f_h i_h o_h H", real=True)
slope = o_t * (1 - sp.tanh(C_t) ** 2)  # ∂h_t/∂C_t

# All steps: step t takes the state y_t, of m entries, to y_{t+1}. Derivatives of states by w and of the cost by states:
# s_t of y_t and D_t by y_{t+1} are total, b_t of y_{t+1} and e_t by y_{t+1} explicit.
s, b, D, e, A = (sp.IndexedBase(name, real=True) for name in "sbDeA")
gradient = sp.Symbol("dJ", real=True)
explicit_cost = sp.Sum(e[t, j] * s[t + 1, j], (j, 1, m), (t, 1, T))
explicit_state = sp.Sum(D[t, j] * b[t, j], (j, 1, m), (t, 1, T))


def passed(step: sp.Expr) -> sp.Expr:
    """Return what reaches the cost from the state that enters a step, through that step."""
    return sp.Sum(D[step, j] * A[step, j, k] * s[step, k], (j, 1, m), (k, 1, m))


# The memory alone, with h held: f, i and g are numbers of each step.
F = sp.IndexedBase("f", positive=True)
I, G = (sp.IndexedBase(name, real=True) for name in "ig")
S = sp.Function("S", real=True)
written = I[t] * (1 - G[t] ** 2) * x[t]

DERIVATION = Derivation(
    id="lstm_weight_gradient",
    title="The gradient of an LSTM's weight through time",
    source="S3.4a",
    shows=(
        "Σ_t ∂J/∂h_t dh_t/dw is the gradient if ∂J/∂h_t is the explicit derivative and dh_t/dw the total one; the"
        " backward pass has the same sum with the two words exchanged."
    ),
    premises=(
        Premise("every quantity is one entry of its vector, and w is one weight of the candidate"),
        defines(df, f_h * dh_before, "the forget gate sees w only through h_{t-1}, its derivative by it is f_h"),
        defines(di, i_h * dh_before, "so does the input gate"),
        defines(do, o_h * dh_before, "and the output gate"),
        defines(dg, (1 - g_t**2) * (x_t + u * dh_before), "the candidate tanh(w x_t + u h_{t-1})"),
        defines(
            through,
            slope * (C_before * f_h + i_t * (1 - g_t**2) * u + g_t * i_h) + sp.tanh(C_t) * o_h,
            "∂h_t/∂h_{t-1} with C_{t-1} held",
        ),
        Premise("step t takes the states y_t, memory and h of all entries, to y_{t+1}; A_t = ∂y_{t+1}/∂y_t"),
        defines(gradient, explicit_cost, "the chain rule: e_t = ∂J/∂y_{t+1} explicit, s_t = dy_t/dw total"),
        defines(b[t, j], s[t + 1, j] - sp.Sum(A[t, j, k] * s[t, k], (k, 1, m)), "∂y_{t+1}/∂w, explicit"),
        defines(e[t, k], D[t, k] - sp.Sum(D[t + 1, j] * A[t + 1, j, k], (j, 1, m)), "D_t = dJ/dy_{t+1}, total"),
        Premise(sp.Eq(s[1, k], 0, evaluate=False), "the first state is given"),
        Premise(sp.Eq(D[T + 1, j], 0, evaluate=False), "there is no step T + 1"),
        Premise(sp.Eq(S(0), 0, evaluate=False), "S is dC/dw along the memory, with h held"),
        Premise(sp.Eq(S(T + 1), F[T + 1] * S(T) + written.xreplace({t: T + 1}), evaluate=False), "its recurrence"),
    ),
    chains=(
        chain(
            sp.Derivative(f(t, w) * C(t - 1, w) + i(t, w) * g(t, w), w),
            (
                f(t, w) * sp.Derivative(C(t - 1, w), w)
                + C(t - 1, w) * sp.Derivative(f(t, w), w)
                + i(t, w) * sp.Derivative(g(t, w), w)
                + g(t, w) * sp.Derivative(i(t, w), w),
                "The product rule, since the old memory and all gates depend on w.",
                total,
            ),
            title="The memory",
        ),
        chain(
            sp.Derivative(sp.tanh(w * x[t] + u * h(t - 1, w)), w),
            (
                (1 - sp.tanh(w * x[t] + u * h(t - 1, w)) ** 2) * (x[t] + u * sp.Derivative(h(t - 1, w), w)),
                "The chain rule: w stands beside the input, and the old state depends on it.",
                total,
            ),
            title="The candidate",
        ),
        chain(
            sp.Derivative(o(t, w) * sp.tanh(C(t, w)), w),
            (
                o(t, w) * (1 - sp.tanh(C(t, w)) ** 2) * sp.Derivative(C(t, w), w)
                + sp.tanh(C(t, w)) * sp.Derivative(o(t, w), w),
                "The product rule, and tanh' = 1 - tanh².",
                total,
            ),
            title="The state",
        ),
        chain(
            slope * (f_t * dc_before + C_before * df + i_t * dg + g_t * di) + sp.tanh(C_t) * do,
            (
                slope * (i_t * (1 - g_t**2) * x_t + f_t * dc_before) + through * dh_before,
                "All that goes through h_{t-1} is put together.",
                definition("df", "di", "do", "dg", "H"),
            ),
            title="One step as the sheet writes it",
        ),
        chain(
            gradient,
            (explicit_cost, "The cost depends on w through every state.", definition("dJ")),
            (
                explicit_state + passed(sp.Integer(1)) - passed(T + 1),
                "In e and b the same products stand with opposite signs, one step apart: all but two cancel.",
                Induction(
                    T,
                    sp.Integer(0),
                    start=sp.Integer(0),
                    step=explicit_cost + sp.Sum(e[T + 1, j] * s[T + 2, j], (j, 1, m)),
                    unfold=("b", "e"),
                ),
            ),
            (
                explicit_state,
                "The first state does not depend on w, and nothing comes after the last.",
                AtTheEnds(),
            ),
            title="Explicit and total derivatives",
        ),
        chain(
            S(T),
            (
                sp.Sum(sp.Product(F[r], (r, t + 1, T)) * written, (t, 1, T)),
                "What w writes at step t is multiplied by every forget gate after it.",
                Induction(T, sp.Integer(0), start=sp.Integer(0), step=F[T + 1] * S(T) + written.xreplace({t: T + 1})),
            ),
            title="Along the memory, with h held",
        ),
    ),
    explains=("gates.lstm_weight_gradient", "lstm_weight_gradient"),
)
