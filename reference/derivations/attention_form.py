"""Attention in matrices is attention query by query: an average of the values that knows no order of the keys."""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from formulas.matrices import index
from formulas.normal import Facts
from reference.derivations.proof import Context, Derivation, Premise, Refused, chain, defines
from reference.derivations.rules import algebra, bound_below, definition


@dataclass(frozen=True)
class Reordering:
    """Σ_{j=1}^{size} F(π(j)) = Σ_{j=1}^{size} F(j): a permutation of 1 … size puts the same terms in another order."""

    permutation: sp.FunctionClass
    size: sp.Expr
    name: str = "adding up in another order"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the right side is the left one with sums put in order, raise Refused otherwise."""
        in_order = left.replace(sp.Sum, self._in_order)
        if in_order.has(self.permutation):
            raise Refused("the permutation does not stand alone in a sum over all it permutes")
        algebra.prove(in_order, right, context)

    def _in_order(self, body: sp.Expr, *limits: sp.Tuple) -> sp.Expr:
        place = sp.Dummy("j", integer=True, positive=True)
        (j, low, high), *others = limits
        moved = body.xreplace({self.permutation(j): place})
        if others or (low, high) != (1, self.size) or moved.has(j):
            return sp.Sum(body, *limits)
        return sp.Sum(moved.xreplace({place: j}), (j, low, high))


c, d, e, i, j, k, l, m, n, v = map(index, ("c", "d", "e", "i", "j", "k", "l", "m", "n", "v"))
X, W_Q, W_K = sp.MatrixSymbol("X", n, e), sp.MatrixSymbol("W_Q", e, d), sp.MatrixSymbol("W_K", e, d)
Q, K, V = sp.MatrixSymbol("Q", n, d), sp.MatrixSymbol("K", m, d), sp.MatrixSymbol("V", m, v)
S, A, O = sp.MatrixSymbol("S", n, m), sp.MatrixSymbol("A", n, m), sp.MatrixSymbol("O", n, v)
own, own_keys = sp.MatrixSymbol("P", n, d), sp.MatrixSymbol("R", n, d)
pi = sp.Function("pi", integer=True, positive=True)


def entries(matrix: sp.MatrixSymbol) -> sp.IndexedBase:
    """Return the entries of a matrix, counted from 1."""
    return sp.IndexedBase(matrix.name, real=True)


def score(key: sp.Expr) -> sp.Expr:
    """Return q_i·k / √d for the key of this number."""
    return sp.Sum(entries(Q)[i, l] * entries(K)[key, l], (l, 1, d)) / sp.sqrt(d)


def average(at: sp.Expr, other: sp.Expr) -> sp.Expr:
    """Return Σ_j e^{q_i·k} v / Σ_k e^{q_i·k}, with keys and values in the places given for j and k."""
    total = sp.Sum(sp.exp(score(other)), (k, 1, m))
    return sp.Sum(sp.exp(score(at)) * entries(V)[at, c], (j, 1, m)) / total


weight = entries(A)[i, j]
softmax = sp.exp(entries(S)[i, j]) / sp.Sum(sp.exp(entries(S)[i, k]), (k, 1, m))
K_moved, V_moved = (sp.IndexedBase(name, real=True) for name in ("K'", "V'"))
moved_score = sp.Sum(entries(Q)[i, l] * K_moved[j, l], (l, 1, d)) / sp.sqrt(d)
moved_total = sp.Sum(sp.exp(moved_score.xreplace({j: k})), (k, 1, m))

DERIVATION = Derivation(
    id="attention_form",
    title="Matrix form and per-query form of attention",
    source="S2.1a, S3.5b, S4.5.1a",
    shows=(
        "Row i of softmax(Q Kᵀ/√d) V is Σ_j α_ij v_j. The weights of a query are not negative and sum to 1, and the"
        " order of the (key, value) pairs does not count."
    ),
    premises=(
        Premise(
            "i is a query from 1 to n, j a key from 1 to m, c a feature of a value from 1 to v",
            facts=Facts(ranges={i: (sp.Integer(1), n), j: (sp.Integer(1), m), c: (sp.Integer(1), v)}),
        ),
        defines(S, Q * K.T / sp.sqrt(d), "scores"),
        defines(weight, softmax, "the weights α: softmax of every row"),
        defines(O, A * V, "the output"),
        defines(own, X * W_Q, "queries of self-attention"),
        defines(own_keys, X * W_K, "keys of self-attention"),
        defines(K_moved[j, l], entries(K)[pi(j), l], "the keys in another order"),
        defines(V_moved[j, c], entries(V)[pi(j), c], "the values in the same order"),
        Premise("π is a permutation of 1 … m"),
    ),
    chains=(
        chain(
            entries(O)[i, c],
            (
                sp.Sum(weight * entries(V)[j, c], (j, 1, m)),
                "Row times column: the values are added up with the weights of query i.",
                definition("O"),
            ),
            (
                average(j, k),
                "A weight is the exponential of q_i·k_j/√d over the sum of all of them.",
                definition("A", "S"),
            ),
            title="Row by row",
        ),
        chain(
            own * own_keys.T / sp.sqrt(d),
            (
                X * W_Q * W_K.T * X.T / sp.sqrt(d),
                "Queries and keys are projections of the same rows, and (X W)ᵀ = Wᵀ Xᵀ.",
                definition("P", "R"),
            ),
            title="Scores of self-attention",
        ),
        chain(
            weight,
            (softmax, "This is the softmax of row i.", definition("A")),
            (sp.Integer(0), "Exponentials are positive, and so is a sum of them.", bound_below()),
            title="Weights are not negative",
        ),
        chain(
            sp.Sum(weight, (j, 1, m)),
            (
                sp.Sum(sp.exp(entries(S)[i, j]), (j, 1, m)) / sp.Sum(sp.exp(entries(S)[i, k]), (k, 1, m)),
                "The denominator is the same for all keys.",
                definition("A"),
            ),
            (sp.Integer(1), "Above and below stands the same sum.", algebra),
            title="Weights sum to 1",
        ),
        chain(
            sp.Sum(sp.exp(moved_score) * V_moved[j, c], (j, 1, m)) / moved_total,
            (average(pi(j), pi(k)), "In place j stands the pair π(j).", definition("K'", "V'")),
            (average(j, k), "A sum does not depend on the order of its terms.", Reordering(pi, m)),
            (entries(O)[i, c], "This is the output for the pairs in their old order.", definition("O", "A", "S")),
            title="The order of the pairs does not count",
        ),
    ),
    explains=(
        "attention.softmax",
        "attention.dot_product_attention",
        "attention.scaled_dot_product_attention",
        "attention.self_attention",
        "self_attention_matrix_form",
        "attention_weights_categorical",
    ),
)
