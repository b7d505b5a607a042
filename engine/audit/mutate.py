"""Wrong implementations by small changes of the syntax tree, of the kinds that students of this field make."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from engine.audit.change import Change, Operator, Scope, called, changes, expression, key_of, subject, with_fields
from engine.audit.source import CONVERSIONS, Part

OPERATORS: dict[str, Operator] = {}


def operator(name: str) -> Callable[[Operator], Operator]:
    """Give an operator the name of the mistake it makes."""

    def register(look: Operator) -> Operator:
        OPERATORS[name] = look
        return look

    return register


@cache
def wrong_changes(part: Part) -> list[Change]:
    """Return every wrong change of a definition."""
    return changes(part, OPERATORS)


def _exchanged(values: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield the list with two neighbours exchanged."""
    for position, (first, second) in enumerate(pairwise(values)):
        if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            yield [*values[:position], second, first, *values[position + 2 :]]


@operator("axis")
def _axis(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Look along another axis, along all of them, or lose the axis that was summed."""
    if isinstance(node, ast.keyword) and node.arg in {"axis", "dim"}:
        for other in ("0", "1", "-1", "-2", "None"):
            yield ast.keyword(node.arg, expression(other))
    if isinstance(node, ast.Call) and any(word.arg == "keepdims" for word in node.keywords):
        yield with_fields(node, keywords=[word for word in node.keywords if word.arg != "keepdims"])


@operator("transpose")
def _transpose(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Forget a transpose, or have one too many."""
    match node:
        case ast.Attribute(value=value, attr="T"):
            yield value
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield expression("a.T @ b", a=left, b=right)
            yield expression("a @ b.T", a=left, b=right)


@operator("swapped operands")
def _swapped(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Take two things in the other order."""
    match node:
        case ast.BinOp(left=left, op=ast.Sub() | ast.Div() | ast.MatMult() | ast.Pow(), right=right):
            yield with_fields(node, left=right, right=left)
        case ast.Call(args=arguments):
            yield from (with_fields(node, args=others) for others in _exchanged(arguments))
        case ast.Tuple(elts=entries, ctx=ast.Load()) | ast.List(elts=entries, ctx=ast.Load()):
            yield from (with_fields(node, elts=others) for others in _exchanged(entries))
        case ast.Dict(keys=keys, values=values):
            yield from (with_fields(node, keys=keys, values=others) for others in _exchanged(values))
        case ast.IfExp(body=body, orelse=orelse):
            yield with_fields(node, body=orelse, orelse=body)


SIGNS: Mapping[type[ast.operator], tuple[type[ast.operator], ...]] = {ast.Add: (ast.Sub,), ast.Sub: (ast.Add,)}
OPERATIONS: Mapping[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult, ast.Sub), ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.FloorDiv: (ast.Mult, ast.Mod),
}  # fmt: skip


@operator("sign")
def _sign(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Lose a minus, or have one too many."""
    match node:
        case ast.BinOp(op=op) if type(op) in SIGNS:
            yield from (with_fields(node, op=other()) for other in SIGNS[type(op)])
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Tuple | ast.Dict | ast.Constant):
            yield ast.Return(expression("-a", a=value))
        case ast.Call(args=[argument]) if called(node) in {"exp", "sigmoid", "_sigmoid", "tanh", "softmax"}:
            yield with_fields(node, args=[expression("-a", a=argument)])


@operator("wrong operation")
def _operation(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Divide in place of multiplying, and the like."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        yield from (with_fields(node, op=other()) for other in OPERATIONS[type(node.op)])


@operator("dropped term or factor")
def _dropped(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Leave out one side of a sum or a product."""
    if isinstance(node, ast.BinOp):
        yield node.left
        if not isinstance(node.op, ast.Div | ast.Pow | ast.FloorDiv | ast.Mod):
            yield node.right


@operator("exponent")
def _exponent(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Forget a root, take one too many, square, do not square."""
    match node:
        case ast.Call() if called(node) == "sqrt":
            yield expression("a ** 2", a=node.args[0])
            yield expression("np.cbrt(a)", a=node.args[0])
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield expression("a / b ** 2", a=left, b=right)
            yield expression("a / np.sqrt(b)", a=left, b=right)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            yield expression("a ** (b + 1)", a=left, b=right)
            yield expression("a ** -b", a=left, b=right)
            yield expression("a ** (b / 2)", a=left, b=right)


@operator("width")
def _width(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Take another size for the one that is meant."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=array, attr="shape"), slice=ast.Constant() | ast.UnaryOp()):
            yield from (expression(f"a.shape[{other}]", a=array) for other in (0, -1, -2))
            yield expression("a.size", a=array)
        case ast.Call(func=ast.Name(id="len"), args=[array]):
            yield expression("a.shape[-1]", a=array)


def _moved(node: ast.expr | None, start: int) -> Iterator[ast.expr]:
    """Yield a bound one further and one less far; a bound that is left out is at `start`."""
    here = node if node is not None else ast.Constant(start)
    yield from (expression(f"a {sign} 1", a=here) for sign in "+-")


@operator("index")
def _index(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Be off by one, run the wrong way, start at one."""
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            if step is not None:
                yield ast.Slice(lower, upper, None)
            elif lower is not None or upper is not None:
                yield ast.Slice(None, None, None)
                yield from (ast.Slice(low, upper, None) for low in _moved(lower, 0))
                yield from (ast.Slice(lower, high, None) for high in _moved(upper, 0) if upper is not None)
                yield ast.Slice(upper if upper is None else None, lower, None)
        case ast.Subscript(slice=ast.Name() | ast.BinOp() as index, ctx=ast.Load()):
            yield from (with_fields(node, slice=moved) for moved in _moved(index, 0))
        case ast.Call(args=[first, *_]) if called(node) in {"arange", "range"}:
            yield expression("a + 1", a=node)
            yield expression("a[::-1]", a=node)
            yield from (with_fields(node, args=[moved, *node.args[1:]]) for moved in _moved(first, 0))
        case ast.Call(func=ast.Name(id="enumerate"), args=[iterated]):
            yield expression("enumerate(a, 1)", a=iterated)
        case ast.Call() if called(node) == "argmax":
            scores = subject(node)
            if scores is not None:  # the last of equals in place of the first
                yield expression("a.shape[-1] - 1 - a[..., ::-1].argmax(axis=-1)", a=scores)


@operator("loop")
def _loop(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Run through a sequence backwards, or leave out its first or last entry."""
    if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name | ast.Subscript):
        for cut in ("::-1", "1:", ":-1"):
            yield with_fields(node, iter=expression(f"a[{cut}]", a=node.iter))


@operator("constant")
def _constant(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Have another number."""
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield from (expression(str(other)) for other in (value + 1, value - 1, 2 * value))
        case ast.Constant(value=float() as value):
            yield from (expression(repr(other)) for other in (2 * value, value / 2, 10 * value, value / 10, 0.0))
        case ast.Attribute(attr="inf") | ast.UnaryOp(op=ast.USub(), operand=ast.Attribute(attr="inf")):
            yield from (expression(other) for other in ("1.0", "-1.0", "-1e9", "np.nan"))


REDUCTIONS: Mapping[str, tuple[str, ...]] = {
    "sum": ("mean", "max", "prod"), "mean": ("sum", "max"), "max": ("min", "sum", "mean"), "argmax": ("argmin",),
}  # fmt: skip
FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "exp": ("exp2", "expm1", "square"), "log": ("log2", "log10", "log1p"), "sin": ("cos", "tan"), "cos": ("sin",),
    "abs": ("square", "negative"), "arctan": ("tan", "sin"), "triu": ("tril",), "add": ("subtract",),
    "zeros": ("ones",), "zeros_like": ("ones_like",), "stack": ("concatenate",), "moveaxis": ("swapaxes",),
    "normal": ("uniform",), "view": ("reshape",), "ReLU": ("Tanh", "Identity"), "LayerNorm": ("RMSNorm",),
    "lower": ("upper", "title"), "split": ("splitlines",), "combining": ("decimal",),
}  # fmt: skip


@operator("reduction")
def _reduction(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Sum where the mean is meant, and the like."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        for other in REDUCTIONS.get(node.func.attr, ()):
            yield with_fields(node, func=with_fields(node.func, attr=other))


@operator("wrong function")
def _function(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Take a function for another: the logarithm of another base, the sine for the cosine."""
    if isinstance(node, ast.Attribute):
        for other in FUNCTIONS.get(node.attr, ()):
            yield with_fields(node, attr=other)


ACTIVATIONS: Mapping[str, str] = {
    "tanh": "np.tanh(a)", "sigmoid": "1 / (1 + np.exp(-a))", "ReLU": "np.maximum(a, 0)",
    "softsign": "a / (1 + np.abs(a))",
}  # fmt: skip


@operator("activation")
def _activation(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Take one squashing function for another."""
    own = {"tanh": "tanh", "sigmoid": "sigmoid", "_sigmoid": "sigmoid", "maximum": "ReLU"}.get(called(node))
    if own and isinstance(node, ast.Call):
        yield from (expression(text, a=node.args[0]) for name, text in ACTIVATIONS.items() if name != own)


COMPARISONS: Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt), ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq, ast.Lt, ast.Gt), ast.IsNot: (ast.Is,),
}  # fmt: skip


@operator("comparison")
def _comparison(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Compare the other way, or with the bound left out."""
    if isinstance(node, ast.Compare):
        yield from (with_fields(node, ops=[other()]) for other in COMPARISONS.get(type(node.ops[0]), ()))


@operator("branch")
def _branch(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Take a branch always, never, or when the other is meant."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            for other in (ast.Constant(True), ast.Constant(False), ast.UnaryOp(ast.Not(), test)):
                yield with_fields(node, test=other)
        case ast.Call(args=[_, first, second]) if called(node) == "where":
            yield first
            yield second


@operator("dropped call")
def _dropped_call(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Leave out a function that should have been applied."""
    if isinstance(node, ast.Call) and called(node) not in CONVERSIONS | {"type", "result_type", "int"}:
        inside = subject(node)
        if inside is not None:
            yield inside


@operator("dropped statement")
def _dropped_statement(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Leave out a line; one that binds a name for the first time would only be missed."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) if name in scope.rebound:
            yield ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.AugAssign() | ast.Expr():
            yield ast.Pass()


@operator("swapped names")
def _swapped_names(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Take a neighbouring variable for the one that is meant."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in scope.names:
        here = scope.names.index(node.id)
        yield ast.Name(scope.names[(here + 1) % len(scope.names)], ast.Load())


@operator("swapped keys")
def _swapped_keys(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Take another parameter, or another gate."""
    if key_of(node):
        yield from (with_fields(node, slice=ast.Constant(other)) for other in _neighbours(key_of(node), scope.keys))
    match node:
        case ast.Constant(value=str() as text) if text.isalpha() and 2 <= len(text) <= 4:
            yield from (ast.Constant(text[:i] + text[i + 1] + text[i] + text[i + 2 :]) for i in range(len(text) - 1))
        case ast.JoinedStr(values=[ast.Constant(value="W_" | "U_" as own), *rest]):
            yield ast.JoinedStr([ast.Constant("U_" if own == "W_" else "W_"), *rest])


def _neighbours(own: str, names: Sequence[str]) -> list[str]:
    """Return the names next to one in a list, the first beside the last."""
    here = names.index(own)
    return [name for name in dict.fromkeys((names[here - 1], names[(here + 1) % len(names)])) if name != own]


@operator("brackets")
def _brackets(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Close a bracket too early or too late: eps outside the root, a bias outside the product."""
    match node:
        case ast.Call(args=[ast.BinOp(left=left, op=op, right=right)]):
            yield ast.BinOp(with_fields(node, args=[left]), op, right)
            yield ast.BinOp(left, op, with_fields(node, args=[right]))
        case ast.BinOp(left=ast.BinOp(left=a, op=ast.Add() | ast.Sub() as inner, right=b), op=outer, right=c) if (
            not isinstance(outer, ast.Add | ast.Sub)
        ):
            yield ast.BinOp(a, inner, ast.BinOp(b, outer, c))
        case ast.BinOp(left=a, op=outer, right=ast.BinOp(left=b, op=ast.Add() | ast.Sub() as inner, right=c)) if (
            not isinstance(outer, ast.Add)
        ):
            yield ast.BinOp(ast.BinOp(a, outer, b), inner, c)


@operator("missing part")
def _missing(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Return less than was asked for."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield from (ast.Return(part) for part in node.value.elts)
        yield ast.Return(expression("(a, a)", a=node.value.elts[0]))


@operator("precision")
def _precision(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Cut, round, or compute in too few digits."""
    match node:
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Tuple | ast.Dict | ast.Constant):
            for text in ("np.round(a, 2)", "np.asarray(a).astype(np.float16)", "np.asarray(a).astype(np.int64)"):
                yield ast.Return(expression(text, a=value))
        case ast.Attribute(attr="float64"):
            yield from (with_fields(node, attr=other) for other in ("float16", "int64"))


UFUNCS: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
}


@operator("in place")
def _in_place(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Write into an argument: `x -= …` where `x - …` is meant, or whatever else leaves it changed."""
    match node:
        case ast.BinOp(left=ast.Name() as array, op=op, right=right) if type(op) in UFUNCS:
            yield expression(f"np.{UFUNCS[type(op)]}(a, b, out=a)", a=array, b=right)
        case ast.Call(args=[ast.Name() as array]) if ast.unparse(node.func) in {
            "np.exp",
            "np.tanh",
            "np.log",
            "np.abs",
        }:
            yield expression("f(a, out=a)", f=node.func, a=array)
        case ast.Return(value=ast.expr() as value):
            for name in scope.arrays:
                yield ast.Return(expression(f"(a, np.asarray({name}).fill(0))[0]", a=value))


@operator("state")
def _state(node: ast.AST, _scope: Scope) -> Iterator[ast.AST]:
    """Keep the table of a module where it is not saved, or where it is trained."""
    if isinstance(node, ast.Call) and called(node) == "register_buffer":
        name, table = node.args
        yield expression("setattr(self, name, table)", name=name, table=table)
        yield expression("setattr(self, name, nn.Parameter(table))", name=name, table=table)
        yield with_fields(node, keywords=[ast.keyword("persistent", ast.Constant(False))])
