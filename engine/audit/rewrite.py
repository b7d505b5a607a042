"""Right rewrites by small changes of the syntax tree: other words for the same formula."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from engine.audit.change import Change, Operator, Scope, called, changes, expression, subject, with_fields
from engine.audit.source import Part, tree_of


def _exchanged(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Write b + a for a + b, and what else may change places."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            yield with_fields(node, left=right, right=left)
        case ast.Compare(left=left, ops=[ast.Gt()], comparators=[right]):
            yield expression("b < a", a=left, b=right)
        case ast.Compare(left=left, ops=[ast.GtE()], comparators=[right]):
            yield expression("b <= a", a=left, b=right)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), orelse, body)
        case ast.If(test=test, body=body, orelse=[_, *_] as orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), orelse, body)
        case ast.Call(args=[condition, first, second]) if called(node) == "where":
            yield expression("np.where(np.logical_not(c), b, a)", c=condition, a=first, b=second)


def _grouped(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Set brackets another way: sums and products are associative, and products distribute."""
    match node:
        case ast.BinOp(left=ast.BinOp(left=a, op=inner, right=b), op=outer, right=c) if type(inner) is type(
            outer
        ) and isinstance(outer, ast.Add | ast.Mult):
            yield ast.BinOp(a, outer, ast.BinOp(b, inner, c))
        case ast.BinOp(left=a, op=ast.Mult(), right=ast.BinOp(left=b, op=ast.Add() | ast.Sub() as inner, right=c)):
            yield ast.BinOp(ast.BinOp(a, ast.Mult(), b), inner, ast.BinOp(a, ast.Mult(), c))
        case ast.BinOp(left=ast.BinOp(left=a, op=ast.Mult(), right=b), op=ast.Div(), right=c):
            yield expression("a / c * b", a=a, b=b, c=c)
        case ast.BinOp(left=ast.BinOp(left=a, op=ast.Div(), right=b), op=ast.Mult(), right=c):
            yield expression("a * c / b", a=a, b=b, c=c)


def _inverted(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Write -(b - a) for a - b, and a · (1 / b) for a / b."""
    match node:
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            yield expression("-(b - a)", a=left, b=right)
            yield expression("a + -b", a=left, b=right)
        case ast.BinOp(left=left, op=ast.Div(), right=right) if not _is_one(left):
            yield expression("a * (1 / b)", a=left, b=right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield expression("b ** -1.0", b=right)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield expression("a - -b", a=left, b=right)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield expression("-1 * a", a=operand)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _multiplied(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Take products and transposes by their other names."""
    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield expression("np.matmul(a, b)", a=left, b=right)
        case ast.Attribute(value=value, attr="T"):
            yield expression("np.transpose(a)", a=value)
        case ast.Call(args=[array, first, second]) if called(node) == "swapaxes":
            yield expression("np.moveaxis(a, i, j)", a=array, i=first, j=second)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2)):
            yield expression("a * a", a=left)
            yield expression("np.square(a)", a=left)
        case ast.BinOp(left=left, op=ast.Mult(), right=right) if ast.dump(left) == ast.dump(right):
            yield expression("a ** 2", a=left)


# The same function by another formula; each is as stable as the one it stands for.
FORMULAS: Mapping[str, tuple[str, ...]] = {
    "exp": ("np.e ** a", "np.expm1(a) + 1"),
    "tanh": ("1 - 2 / (np.exp(2 * (a)) + 1)", "np.sinh(np.clip(a, -30, 30)) / np.cosh(np.clip(a, -30, 30))"),
    "log": ("np.log2(a) * np.log(2.0)",),
    "sqrt": ("(a) ** 0.5",),
    "abs": ("np.maximum(a, -(a))", "np.sign(a) * (a)"),
}  # fmt: skip


def _other_formula(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Write a function out."""
    match node:
        case ast.Call(args=[argument], keywords=[]) if ast.unparse(node.func).startswith("np."):
            yield from (expression(text, a=argument) for text in FORMULAS.get(called(node), ()))
        case ast.Call(args=[argument, ast.Constant(value=0)]) if called(node) == "maximum":
            yield expression("np.where(a > 0, a, 0.0)", a=argument)
            yield expression("(np.abs(a) + a) / 2", a=argument)
        case ast.Call(keywords=words) if called(node) == "mean":
            array = subject(node)
            if array is not None:
                total = ast.Call(expression("np.sum"), [array], words)
                axis = next((word.value for word in words if word.arg == "axis"), None)
                count = expression("a.shape[axis]", a=array, axis=axis) if axis else expression("a.size", a=array)
                yield ast.BinOp(total, ast.Div(), count)


def _other_name(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Write a method as a function, or as the ufunc behind it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        names = {"sum": ("np.sum", "np.add.reduce"), "max": ("np.amax", "np.maximum.reduce"), "mean": ("np.mean",)}
        array = subject(node)
        if array is not None:
            for name in names.get(node.func.attr, ()):
                axis = () if node.keywords or "reduce" not in name else (ast.keyword("axis", expression("None")),)
                yield ast.Call(expression(name), [array], [*node.keywords, *axis])


REWRITES: Mapping[str, Operator] = {
    "exchanged": _exchanged,
    "grouped": _grouped,
    "inverted": _inverted,
    "multiplied": _multiplied,
    "other formula": _other_formula,
    "other name": _other_name,
}


@cache
def right_changes(part: Part) -> list[Change]:
    """Return every change of a definition that changes no value."""
    found = changes(part, REWRITES)
    has_numpy = any(isinstance(node, ast.alias) and node.asname == "np" for node in ast.walk(tree_of(part.stem)))
    return found if has_numpy else [change for change in found if "np." not in change.name]
