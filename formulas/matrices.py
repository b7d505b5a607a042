"""Matrices as their entries: SymPy's matrix expressions rewritten with sums over indices that begin at 1."""

from __future__ import annotations

from itertools import count

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixElement

_names = count(1)


def index(name: str) -> sp.Symbol:
    """Return a symbol that can be an index."""
    return sp.Symbol(name, integer=True, positive=True)


def fresh_index() -> sp.Symbol:
    """Return an index no formula uses."""
    return index(f"~m{next(_names)}")


def entry(matrix: sp.MatrixExpr, i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """Return entry (i, j) of a matrix expression in index notation.

    >>> n = sp.Symbol("n", integer=True, positive=True)
    >>> A = sp.MatrixSymbol("A", n, n)
    >>> entry(2 * A.T, index("i"), index("j"))
    2*A[j, i]
    """
    match matrix:
        case sp.MatrixSymbol():
            return sp.IndexedBase(matrix.name, real=True)[i, j]
        case sp.MatAdd():
            return sp.Add(*(entry(term, i, j) for term in matrix.args))
        case sp.Transpose():
            return entry(matrix.arg, j, i)
        case sp.HadamardProduct():
            return sp.Mul(*(entry(factor, i, j) for factor in matrix.args))
        case sp.Identity():
            return sp.KroneckerDelta(i, j)
        case sp.ZeroMatrix():
            return sp.Integer(0)
        case sp.matrices.expressions.special.OneMatrix():
            return sp.Integer(1)
        case sp.DiagMatrix():
            (vector,) = matrix.args
            place = (i, sp.Integer(1)) if vector.cols == 1 else (sp.Integer(1), i)
            return sp.KroneckerDelta(i, j) * entry(vector, *place)
        case sp.MatMul():
            return _product_entry(matrix, i, j)
        case sp.MatPow() if matrix.exp.is_Integer and 0 < matrix.exp <= 4:
            return _product_entry(sp.MatMul(*[matrix.base] * int(matrix.exp), evaluate=False), i, j)
    raise TypeError(f"there is no entry of a {type(matrix).__name__}")


def _product_entry(product: sp.MatMul, i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """(A B … Z)_ij = Σ a_ik b_kl … z_mj."""
    scalars = [scalar for scalar in product.args if not scalar.is_Matrix]
    matrices = [factor for factor in product.args if factor.is_Matrix]
    value, row, limits = sp.Mul(*map(indexed, scalars)), i, []
    for factor in matrices[:-1]:
        column = sp.Integer(1) if factor.cols == 1 else fresh_index()
        value *= entry(factor, row, column)
        if factor.cols != 1:
            limits.append((column, 1, factor.cols))
        row = column
    value *= entry(matrices[-1], row, j)
    return sp.Sum(value, *limits) if limits else value


def indexed(expression: sp.Expr) -> sp.Expr:
    """Return a scalar expression with its traces and matrix entries written out in index notation."""
    if isinstance(expression, sp.Trace):
        k = fresh_index()
        return sp.Sum(entry(expression.arg, k, k), (k, 1, expression.arg.rows))
    if isinstance(expression, MatrixElement):
        return entry(*expression.args) if isinstance(expression.args[0], sp.MatrixExpr) else expression
    if not expression.args or not expression.has(sp.MatrixExpr):
        return expression
    return expression.func(*map(indexed, expression.args))
