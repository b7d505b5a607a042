"""Run a function on symbols: what it computes comes back as expressions, not as numbers.

Every symbol carries a number, its shadow. Arithmetic builds expressions. A comparison stays an expression as well
(np.where, products with it) until somebody must know its outcome: an `if`, an index, a sort. Then the shadow decides,
and the comparison with its outcome is part of the path, which says for which inputs the expressions hold.

Arrays of symbols are NumPy's own arrays of objects, so that indexing, reshaping, matmul and einsum are NumPy's.
`SymbolArray` adds what those cannot do, and says it holds floats. While a function runs, `np`, `math` and a few
builtins in its module's globals are replaced by ones that keep symbols: np.zeros gives an array that can take them.

A number a function computes with plain floats is sent as that float. What is not finite is worked out here
(x - inf = -inf, exp(-inf) = 0), so no expression has an infinity inside. Anything else ends in Unsupported.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

MOST_NODES = 20_000
INFINITIES = (math.inf, -math.inf)


class Unsupported(Exception):
    """The function does something that has no expression here."""


class Graph:
    """The expressions of one run: each is built once, out of earlier ones."""

    def __init__(self, positive: Iterable[int] = ()) -> None:
        self.positive = frozenset(positive)  # inputs
        self.nodes: list[tuple[Any, ...]] = []  # (operation, *numbers of earlier nodes), or a leaf and what it is
        self.path: dict[int, bool] = {}  # comparisons whose outcome decided something
        self._known: dict[tuple[Any, ...], int] = {}

    def node(self, *row: Any) -> int:
        """Return the number of a node, a new one if it is not there yet."""
        found = self._known.get(row)
        if found is None:
            if len(self.nodes) >= MOST_NODES:
                raise Unsupported("it is too long")
            found = self._known[row] = len(self.nodes)
            self.nodes.append(row)
        return found

    def constant(self, value: Any) -> int:
        """Return the node of a plain number."""
        if math.isnan(value):
            raise Unsupported("a number that is none")
        whole = isinstance(value, int | np.integer) or (math.isfinite(value) and value == int(value))
        if whole and abs(value) < 2**53:
            return self.node("constant", int(value))
        return self.node("constant", float(value))


_now = Graph()  # of the function that runs


def traced(
    calls: Sequence[tuple[Callable[..., Any], Sequence[Any], Sequence[Any]]],
    positive: Iterable[int],
    namespaces: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Make calls on symbols and return the last one's expressions; `namespaces` are the globals of its modules.

    A call is a function, its arguments and, in the same form, numbers for the entries that are symbols; an entry
    without one (-1, None) is a plain number. The result of a call is the first argument of the next. The symbols
    with the numbers `positive` are known to be.

    >>> reply = traced([(lambda x: x @ x, [np.array([2.0, 3.0])], [np.array([0, 1])])], [], [])
    >>> [reply["nodes"][number] for number in (0, 1, 2)]
    [['input', 0], ['input', 1], ['multiply', 0, 0]]
    """
    global _now  # noqa: PLW0603 - NumPy calls our methods, and they must know whose run it is
    _now = graph = Graph(positive)
    result: Any = None
    with _symbolic_globals(namespaces), np.errstate(all="ignore"):
        for place, (function, arguments, symbols) in enumerate(calls):
            given = [_with_symbols(a, s) for a, s in zip(arguments, symbols, strict=True)]
            result = function(*([result] if place else []), *given)
    numbers = _numbered(result)
    return {"nodes": [list(row) for row in graph.nodes], "results": numbers, "path": [*map(list, graph.path.items())]}


def _with_symbols(value: Any, symbols: Any) -> Any:
    """Return an argument with symbols where `symbols` has numbers, at any depth of lists and dicts."""
    if symbols is None:
        return value
    if isinstance(value, list | tuple):
        return type(value)(_with_symbols(v, s) for v, s in zip(value, symbols, strict=True))
    if isinstance(value, dict):
        return {key: _with_symbols(value[key], symbols[key]) for key in value}
    if isinstance(value, np.ndarray):
        return np.frompyfunc(_entry, 2, 1)(value.astype(object), symbols).reshape(value.shape).view(SymbolArray)
    return _entry(value, symbols)


def _entry(value: Any, symbol: int) -> Any:
    return value if symbol < 0 else Symbol(_now.node("input", int(symbol)), value)


def _numbered(value: Any) -> Any:
    """Return a result with the numbers of its nodes in place of its values."""
    if isinstance(value, dict):
        return {key: _numbered(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_numbered(each) for each in value]) if type(value) in (list, tuple) else _opaque(value)
    if isinstance(value, np.ndarray):
        numbers = np.frompyfunc(_number_of, 1, 1)(_objects(value))
        return np.array(numbers, dtype=np.int64).reshape(value.shape)
    return _number_of(value)


def _number_of(value: Any) -> int:
    if isinstance(value, Symbol):
        return int(_real(value).node)
    return _now.constant(value) if isinstance(value, int | float | np.number | np.bool) else _opaque(value)


def _opaque(value: Any) -> Any:
    raise Unsupported(f"a result that is a {type(value).__name__}")


# ── one symbol ────────────────────────────────────────────────────────────────────────────────────────────────────


def _through_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ARG001 - NumPy's signature
    if isinstance(options.get("out", [None])[0], Symbol):  # x += y, for a number
        del options["out"]
    if method == "__call__" and not options and ufunc.__name__ in _ELEMENTWISE and all(map(_is_number, inputs)):
        return _ELEMENTWISE[ufunc.__name__](*inputs)
    return _ufunc(ufunc, method, inputs, options)


class Symbol(NDArrayOperatorsMixin):
    """A real number that is an expression; `value` is its shadow. With a whole shadow it is a whole number."""

    __slots__ = ("node", "value")
    __array_ufunc__ = _through_ufunc
    __iter__ = None  # x[None] is possible, x[0] is not

    def __init__(self, node: int, value: Any) -> None:
        self.node = node
        self.value = value

    def __hash__(self) -> int:
        return hash(self.node)

    def __bool__(self) -> bool:
        return bool(negated(equal(self, 0)))

    def __float__(self) -> float:
        raise Unsupported("float(x)")

    def __int__(self) -> int:
        raise Unsupported("int(x)")

    def __index__(self) -> int:
        raise Unsupported("an index that is computed")

    def __round__(self, digits: Any = None) -> Any:
        raise Unsupported("round(x)")

    def __getitem__(self, key: Any) -> Any:
        return _as_array(self)[key]

    def item(self) -> Symbol:
        """Return itself, as a NumPy number returns a Python one."""
        return self

    def __getattr__(self, name: str) -> Any:
        """Have what a NumPy number has, by way of an array of one; NumPy asks for x.exp() and the like by name."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _ELEMENTWISE:
            return functools.partial(_ELEMENTWISE[name], self)
        return getattr(_as_array(self), name)

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, how: str) -> str:
        return format(self.value, how)


class Truth(Symbol):
    """A comparison. Its outcome is on the path only once it decides something."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return _now.path.setdefault(self.node, bool(self.value))


def _is_number(value: Any) -> bool:
    return isinstance(value, Symbol | int | float | np.number | np.bool)


def _build(operation: str, value: Any, *arguments: Any, kind: type[Symbol] = Symbol) -> Any:
    rows = [a.node if isinstance(a, Symbol) else _now.constant(a) for a in arguments]
    return kind(_now.node(operation, *rows), value)


def _shadow(value: Any) -> Any:
    return value.value if isinstance(value, Symbol) else value


def _real(value: Any) -> Any:
    """Return a comparison as the number 1 or 0 that it stands for in a sum."""
    return _build("where", int(value.value), value, 1, 0) if isinstance(value, Truth) else value


def _plain(*values: Any) -> bool:
    return not any(isinstance(value, Symbol) for value in values)


def _finite(*values: Any) -> None:
    """Refuse an infinity where it would depend on a sign, or on a value, what comes out."""
    if any(value in INFINITIES for value in values if not isinstance(value, Symbol)):
        raise Unsupported("a computation with infinity")


def _is_positive(symbol: Any) -> bool:
    name, *arguments = _now.nodes[symbol.node]
    return name == "input" and arguments[0] in _now.positive


# ── arithmetic on numbers and symbols ─────────────────────────────────────────────────────────────────────────────


def add(a: Any, b: Any) -> Any:
    """Return a + b."""
    a, b = _real(a), _real(b)
    if _plain(a, b):
        return a + b
    for one, other in ((a, b), (b, a)):
        if _plain(one) and one == 0:
            return other
        if _plain(one) and one in INFINITIES:
            return one
    return _build("add", _shadow(a) + _shadow(b), a, b)


def subtract(a: Any, b: Any) -> Any:
    """Return a - b."""
    a, b = _real(a), _real(b)
    if _plain(a, b):
        return a - b
    if _plain(b):
        return add(a, -b)
    if _plain(a) and a in INFINITIES:
        return a
    return negative(b) if _plain(a) and a == 0 else _build("subtract", _shadow(a) - _shadow(b), a, b)


def negative(a: Any) -> Any:
    """Return -a."""
    a = _real(a)
    return -a if _plain(a) else _build("negative", -a.value, a)


def multiply(a: Any, b: Any) -> Any:
    """Return a b; zero times a symbol is zero, since symbols are finite."""
    a, b = _real(a), _real(b)
    if _plain(a, b):
        return a * b
    for one, other in ((a, b), (b, a)):
        if _plain(one):
            if one in INFINITIES and _is_positive(other):
                return one
            _finite(one)
            if one == 0:
                return 0
            if one == 1:
                return other
            if one == -1:
                return negative(other)
    return _build("multiply", _shadow(a) * _shadow(b), a, b)


def divide(a: Any, b: Any) -> Any:
    """Return a / b."""
    a, b = _real(a), _real(b)
    if _plain(a, b):
        return _plain_result(np.divide, a, b)
    if _plain(b):
        if b in INFINITIES:
            return 0
        if b == 0:
            raise Unsupported("a division by zero")
        return a if b == 1 else _build("divide", a.value / b, a, b)
    _finite(a)
    return 0 if _plain(a) and a == 0 else _build("divide", _quotient(_shadow(a), b.value), a, b)


def _quotient(a: Any, b: Any) -> Any:
    return a / b if b else math.nan


def power(a: Any, b: Any) -> Any:
    """Return a to the b."""
    a, b = _real(a), _real(b)
    if _plain(a, b):
        return _plain_result(np.power, float(a) if b < 0 else a, b)
    _finite(a, b)
    if _plain(b) and b in (0, 1, 2, -1, 0.5, -0.5):
        known = {0: 1, 1: a, 2: multiply(a, a), -1: divide(1, a)}
        return known[b] if b in known else sqrt(a) if b > 0 else divide(1, sqrt(a))
    whole = isinstance(_shadow(a), int) and isinstance(_shadow(b), int) and _shadow(b) >= 0
    return _build("power", _shadow(a) ** _shadow(b) if whole else float(np.power(float(_shadow(a)), _shadow(b))), a, b)


def _plain_result(function: Any, *arguments: Any) -> Any:
    """Return what a function of NumPy's gives for plain numbers, as a plain number."""
    result = function(*arguments)
    return result.item() if isinstance(result, np.generic) else result


def _function(name: str) -> Callable[[Any], Any]:
    """Return a function of one number that judges know by its name."""
    ufunc = getattr(np, name)

    def apply(a: Any) -> Any:
        a = _real(a)
        return _plain_result(ufunc, float(a)) if _plain(a) else _build(name, float(ufunc(float(a.value))), a)

    return apply


exp, log, sqrt, tanh, sin, cos = map(_function, ("exp", "log", "sqrt", "tanh", "sin", "cos"))


def absolute(a: Any) -> Any:
    """Return |a|."""
    a = _real(a)
    return abs(a) if _plain(a) else _build("absolute", abs(a.value), a)


def sign(a: Any) -> Any:
    """Return -1, 0 or 1."""
    return subtract(_real(greater(a, 0)), _real(greater(0, a)))


def maximum(a: Any, b: Any) -> Any:
    """Return the larger one."""
    return select(greater(a, b), a, b)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller one."""
    return select(greater(b, a), a, b)


def largest(values: Iterable[Any]) -> Any:
    """Return the largest of several: one symbol that does not say which it is, so that no path depends on it."""
    entries = [each for each in map(_real, values) if not (_plain(each) and each == -math.inf)]
    symbols = list({each.node: each for each in entries if isinstance(each, Symbol)}.values())
    plain = [each for each in entries if _plain(each)]
    if not symbols:
        return max(plain, default=-math.inf)
    _finite(*plain)
    chosen = [*symbols, *([max(plain)] if plain else [])]
    return chosen[0] if len(chosen) == 1 else _build("largest", max(map(_shadow, chosen)), *chosen)


def smallest(values: Iterable[Any]) -> Any:
    """Return the smallest of several."""
    return negative(largest(map(negative, values)))


def _ratio_of_logs(base: float) -> Callable[[Any], Any]:
    plain = {2: np.log2, 10: np.log10}[int(base)]

    def apply(a: Any) -> Any:
        if _plain(a):
            return _plain_result(plain, float(a))
        return divide(log(a), Symbol(_now.node("log", _now.constant(base)), math.log(base)))

    return apply


# ── comparisons ───────────────────────────────────────────────────────────────────────────────────────────────────


def greater(a: Any, b: Any) -> Any:
    """Return whether a > b."""
    return _compared("greater", operator.gt, a, b)


def greater_equal(a: Any, b: Any) -> Any:
    """Return whether a >= b."""
    return _compared("greater_equal", operator.ge, a, b)


def equal(a: Any, b: Any) -> Any:
    """Return whether a == b."""
    return _compared("equal", operator.eq, a, b)


def _compared(name: str, compare: Callable[[Any, Any], bool], a: Any, b: Any) -> Any:
    a, b = _real(a), _real(b)
    outcome = bool(compare(_shadow(a), _shadow(b)))
    infinite = any(_plain(each) and each in INFINITIES for each in (a, b))  # a symbol is finite
    same = isinstance(a, Symbol) and isinstance(b, Symbol) and a.node == b.node
    return outcome if infinite or same or _plain(a, b) else _build(name, outcome, a, b, kind=Truth)


def negated(a: Any) -> Any:
    """Return not a."""
    return _build("not", not a.value, a, kind=Truth) if isinstance(a, Truth) else not a


def both(a: Any, b: Any) -> Any:
    """Return a and b."""
    a, b = _truth(a), _truth(b)
    if _plain(a):
        return b if a else False
    return both(b, a) if _plain(b) else _build("and", a.value and b.value, a, b, kind=Truth)


def either(a: Any, b: Any) -> Any:
    """Return a or b."""
    return negated(both(negated(_truth(a)), negated(_truth(b))))


def _truth(a: Any) -> Any:
    return negated(equal(a, 0)) if isinstance(a, Symbol) and not isinstance(a, Truth) else a


def select(condition: Any, a: Any, b: Any) -> Any:
    """Return a where the condition holds, b elsewhere."""
    condition = _truth(condition)
    if _plain(condition):
        return a if condition else b
    a, b = _real(a), _real(b)
    _finite(a, b)
    return _build("where", _shadow(a if condition.value else b), condition, a, b)


# ── arrays ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Real:
    """What a SymbolArray gives for its dtype: float64, but a symbol survives `x.dtype.type(symbol)`."""

    dtype = np.dtype(np.float64)

    def type(self, value: Any) -> Any:
        """Return a number of this type."""
        return value if isinstance(value, Symbol) else np.float64(value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Real) or bool(self.dtype == other)

    def __hash__(self) -> int:
        return hash(self.dtype)


class SymbolArray(np.ndarray[Any, Any]):
    """An array of objects, each a symbol, a comparison or a plain number."""

    __array_ufunc__ = _through_ufunc

    @property
    def dtype(self) -> Any:
        """Say float64, which is what an array of such numbers would be."""
        return Real()

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        name = function.__name__
        if name in _SPECIAL:
            return _SPECIAL[name](*arguments, **options)
        if name in _BY_METHOD:
            return super().__array_function__(function, types, arguments, options)
        return _kept(function(*_bare(arguments), **{key: _bare(each) for key, each in options.items()}))

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_decided(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, SymbolArray) and key.shape == self.shape and np.ndim(value) == 0:
            np.copyto(_objects(self), _objects(_where(key, value, self)))  # x[x < 0] = 0 needs no path
        else:
            super().__setitem__(_decided(key), _objects(value) if isinstance(value, np.ndarray) else value)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:  # type: ignore[override]  # noqa: ARG002 - NumPy's order
        """Return the mean."""
        total = self.sum(axis=axis, keepdims=keepdims)
        return _out(np.divide(total, self.size // (np.size(total) or 1)), out)

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, **options: Any) -> Any:  # noqa: ARG002 - NumPy's order
        """Return the mean squared deviation."""
        deviations = self - self.mean(axis=axis, keepdims=True)
        total = np.sum(deviations * deviations, axis=axis, **options)
        return _out(np.divide(total, self.size // (np.size(total) or 1) - ddof), out)

    def std(self, *arguments: Any, **options: Any) -> Any:
        """Return the root of the mean squared deviation."""
        return np.sqrt(self.var(*arguments, **options))

    def astype(self, dtype: Any, *_arguments: Any, **_options: Any) -> Any:
        """Return a copy; of symbols only as floats."""
        kind = np.dtype(_unwrapped(dtype)).kind
        if kind in "fO":
            return _kept(np.frompyfunc(_real, 1, 1)(_objects(self)))
        plain = _objects(self)
        if not all(map(_plain, plain.flat)):
            raise Unsupported("a number made whole")
        return plain.astype(_unwrapped(dtype))

    def item(self, *place: Any) -> Any:
        """Return an entry."""
        return _objects(self).item(*place)

    def any(self, *arguments: Any, **options: Any) -> Any:
        """Return whether any entry is true, which puts those looked at on the path."""
        return _decided(self).any(*arguments, **options)

    def all(self, *arguments: Any, **options: Any) -> Any:
        """Return whether all entries are true, which puts those looked at on the path."""
        return _decided(self).all(*arguments, **options)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous")
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())


def _objects(value: Any) -> np.ndarray[Any, Any]:
    """Return a value as a plain array of objects that are plain numbers and symbols."""
    if isinstance(value, SymbolArray):
        return np.ndarray.view(value, np.ndarray)
    if isinstance(value, Symbol):
        return _objects(_as_array(value))
    if type(value) in (list, tuple):
        return _objects(_from_lists(value))
    return np.asarray(value).astype(object)


def _as_array(symbol: Symbol) -> SymbolArray:
    array = np.empty((), dtype=object)
    array[()] = symbol
    return array.view(SymbolArray)


def _from_lists(value: Any) -> Any:
    """Return nested lists that hold symbols as an array; ragged ones, and any others, with each part as an array."""
    if not any(True for _ in _symbols_in(value)):
        return value
    with contextlib.suppress(ValueError):  # of shapes that do not fit
        array = np.array([_objects(each) if isinstance(each, np.ndarray) else each for each in value], dtype=object)
        if not any(isinstance(entry, list | tuple | np.ndarray) for entry in array.flat):
            return array.view(SymbolArray)
    return type(value)(_from_lists(each) if type(each) in (list, tuple) else each for each in value)


def _symbols_in(value: Any) -> Iterator[Any]:
    if isinstance(value, Symbol | SymbolArray):
        yield value
    elif type(value) in (list, tuple):
        for each in value:
            yield from _symbols_in(each)


def _kept(value: Any) -> Any:
    """Return an array of floats or objects as one that can hold symbols; whole numbers and truth values stay."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fO":
        if value.dtype != Real.dtype or type(value) is np.ndarray:
            value = _objects(value).view(SymbolArray)
    elif type(value) in (list, tuple):
        value = type(value)(map(_kept, value))
    return value


def _decided(key: Any) -> Any:
    """Return an index with every comparison in it decided by its shadow."""
    if isinstance(key, SymbolArray):
        entries = _objects(key)
        if all(isinstance(each, Truth | bool | np.bool) for each in entries.flat):
            return np.asarray(np.frompyfunc(bool, 1, 1)(entries), dtype=bool)
        return entries.astype(np.int64)
    if isinstance(key, Truth):
        return bool(key)
    return tuple(map(_decided, key)) if isinstance(key, tuple) else key


def _bare(value: Any) -> Any:
    """Return a value, at any depth of lists and tuples, with plain arrays of objects for ours."""
    if isinstance(value, SymbolArray):
        return _objects(value)
    return type(value)(map(_bare, value)) if type(value) in (list, tuple) else value


def _out(result: Any, out: Any) -> Any:
    if out is None:
        return result
    out[...] = result
    return out


# ── NumPy's functions ─────────────────────────────────────────────────────────────────────────────────────────────

_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "add": add, "subtract": subtract, "multiply": multiply, "divide": divide, "true_divide": divide, "power": power,
    "float_power": power, "pow": power, "negative": negative, "positive": _real, "absolute": absolute,
    "fabs": absolute, "abs": absolute, "exp": exp, "log": log, "sqrt": sqrt, "tanh": tanh, "sin": sin, "cos": cos,
    "tan": lambda a: divide(sin(a), cos(a)), "square": lambda a: multiply(a, a), "reciprocal": lambda a: divide(1, a),
    "exp2": lambda a: power(2, a), "expm1": lambda a: subtract(exp(a), 1), "log1p": lambda a: log(add(1, a)),
    "log2": _ratio_of_logs(2), "log10": _ratio_of_logs(10),
    "sinh": lambda a: divide(subtract(exp(a), exp(negative(a))), 2),
    "cosh": lambda a: divide(add(exp(a), exp(negative(a))), 2),
    "logaddexp": lambda a, b: log(add(exp(a), exp(b))),
    "logaddexp2": lambda a, b: _ELEMENTWISE["log2"](add(power(2, a), power(2, b))),
    "hypot": lambda a, b: sqrt(add(multiply(a, a), multiply(b, b))),
    "sign": sign, "heaviside": lambda a, b: select(greater(a, 0), 1, select(equal(a, 0), b, 0)),
    "maximum": maximum, "fmax": maximum, "minimum": minimum, "fmin": minimum,
    "clip": lambda a, low, high: minimum(maximum(a, low), high),
    "greater": greater, "greater_equal": greater_equal, "equal": equal,
    "less": lambda a, b: greater(b, a), "less_equal": lambda a, b: greater_equal(b, a),
    "not_equal": lambda a, b: negated(equal(a, b)),
    "logical_not": lambda a: negated(_truth(a)), "invert": negated, "bitwise_not": negated,
    "logical_and": both, "bitwise_and": both, "logical_or": either, "bitwise_or": either,
    "isfinite": lambda a: not _plain(a) or math.isfinite(a), "isnan": lambda a: _plain(a) and math.isnan(a),
    "isinf": lambda a: _plain(a) and math.isinf(a), "conjugate": lambda a: a,
}  # fmt: skip
_NATIVE = frozenset({"matmul", "vecdot", "matvec", "vecmat"})


def _ufunc(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Do what a ufunc of NumPy's does, on symbols."""
    name = ufunc.__name__
    given = [_objects(each) for each in inputs] if method != "at" else []
    (out,) = options.pop("out", (None,))
    where = options.pop("where", True)
    if np.dtype(_unwrapped(options.pop("dtype", None))).kind not in "fO" or options.keys() - _UNDERSTOOD[method]:
        raise Unsupported(f"np.{name} with options")
    if name in _NATIVE or set(ufunc.types) == {"O" * ufunc.nin + "->" + "O" * ufunc.nout}:  # made by np.frompyfunc
        result = getattr(ufunc, method)(*given)
    elif name not in _ELEMENTWISE:
        raise Unsupported(f"np.{name}")
    elif method == "at":
        np.frompyfunc(_ELEMENTWISE[name], 2, 1).at(_objects(inputs[0]), _decided(inputs[1]), *map(_objects, inputs[2:]))
        return None
    elif method == "reduce":
        result = _reduced(name, _masked(name, given[0], where), **options)
    else:
        result = getattr(np.frompyfunc(_ELEMENTWISE[name], ufunc.nin, 1), method)(*given, **options)
        if where is not True:
            if out is None:
                raise Unsupported("an entry that was never computed")
            result = _where(where, result, out)
    return _out(_settled(result), out)


_UNDERSTOOD = {
    "__call__": frozenset(), "outer": frozenset(), "at": frozenset(), "accumulate": frozenset({"axis"}),
    "reduceat": frozenset({"axis"}), "reduce": frozenset({"axis", "keepdims", "initial"}),
}  # fmt: skip
_NEUTRAL = {"add": 0, "multiply": 1}


def _settled(result: Any) -> Any:
    """Return truth values that are all plain as NumPy's own, which may be indices."""
    if isinstance(result, np.ndarray) and result.size and all(type(each) is bool for each in result.flat):
        return result.astype(bool)
    return _kept(result)


def _masked(name: str, given: Any, where: Any) -> Any:
    """Return what is to be reduced with the neutral element where it is not."""
    if where is True:
        return given
    if name not in _NEUTRAL:
        raise Unsupported(f"np.{name}.reduce of a part")
    return _objects(_where(np.broadcast_to(where, given.shape), given, _NEUTRAL[name]))


def _reduced(name: str, given: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None) -> Any:
    """Reduce by a function of two numbers, or to the largest or smallest; sums begin with their neutral element."""
    if name not in ("maximum", "minimum", "fmax", "fmin"):
        neutral = _NEUTRAL.get(name)
        first = {"initial": neutral if initial is None else initial} if neutral is not None else {}
        loop = np.frompyfunc(_ELEMENTWISE[name], 2, 1, identity=neutral)
        return loop.reduce(given, axis=axis, keepdims=keepdims, **first)
    axes = sorted(
        {int(each) % max(1, given.ndim) for each in (range(given.ndim) if axis is None else np.atleast_1d(axis))}
    )
    kept = [each for each in range(given.ndim) if each not in axes]
    sizes = [given.shape[each] for each in kept]
    rows = given.transpose(*kept, *axes).reshape(math.prod(sizes), -1)
    choose, more = largest if "max" in name else smallest, [] if initial is None else [initial]
    result = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        result[place] = choose([*row, *more])
    result = result.reshape(
        [1 if each in axes else size for each, size in enumerate(given.shape)] if keepdims else sizes
    )
    return result if result.ndim else result[()]


_choose = np.frompyfunc(select, 3, 1)


def _where(condition: Any, *values: Any) -> Any:
    """Do what np.where does."""
    if not values:
        return _decided(condition).nonzero()
    return _kept(_choose(_objects(condition), *map(_objects, values)))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002 - NumPy's name
    """Do what np.linalg.norm does for vectors."""
    if ord not in (None, 2, "fro") or (ord == 2 and axis is None and np.ndim(x) > 1):
        raise Unsupported("np.linalg.norm of another order")
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def _along_axis(function: Any, axis: int, array: Any, *arguments: Any, **options: Any) -> Any:
    """Do what np.apply_along_axis does."""
    moved = np.moveaxis(_kept(array), axis, -1)
    results = [_kept(function(moved[place], *arguments, **options)) for place in np.ndindex(moved.shape[:-1])]
    whole = _kept(np.stack([_objects(each) for each in results]))
    whole = whole.reshape(moved.shape[:-1] + whole.shape[1:])
    return np.moveaxis(whole, -1, axis) if whole.ndim == moved.ndim else whole


_SPECIAL: dict[str, Callable[..., Any]] = {
    "where": _where,
    "norm": _norm,
    "apply_along_axis": _along_axis,
    "nan_to_num": lambda a, *_more, **options: _kept(np.frompyfunc(_number_for_none(**options), 1, 1)(_objects(a))),
    "isneginf": lambda a: np.equal(a, -math.inf),
    "isposinf": lambda a: np.equal(a, math.inf),
}
_BY_METHOD = frozenset({
    "sum", "prod", "max", "min", "amax", "amin", "mean", "var", "std", "any", "all", "clip", "round", "around",
})  # fmt: skip


def _number_for_none(**options: Any) -> Callable[[Any], Any]:
    return lambda a: a if not _plain(a) else float(np.nan_to_num(a, **options))


def _keeping(function: Any) -> Any:
    """Return a function of NumPy's that takes lists of symbols, and gives arrays that can hold them."""

    @functools.wraps(function, updated=())
    def call(*arguments: Any, **options: Any) -> Any:
        given = [_prepared(each) for each in arguments]
        more = {name: _prepared(each) for name, each in options.items()}
        special = _CONVERSIONS.get(function.__name__)
        if special is not None and any(True for _ in _symbols_in(given[:1])):
            return special(*given, **more)
        if not isinstance(function, np.ufunc):  # which would ask a number what it is, where an array is asked to do it
            given = [_as_array(each) if isinstance(each, Symbol) else each for each in given]
        return _kept(function(*given, **more))

    if isinstance(function, np.ufunc):
        for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
            setattr(call, name, _keeping(getattr(function, name)))
    return call


def _prepared(value: Any) -> Any:
    value = _unwrapped(value)
    if isinstance(value, np.ndarray) and not isinstance(value, SymbolArray) and value.dtype == object:
        return value.view(SymbolArray)  # a list of symbols that NumPy made an array of
    return _from_lists(value) if type(value) in (list, tuple) else value


def _unwrapped(value: Any) -> Any:
    """Return the type or dtype that one of ours stands for."""
    if isinstance(value, Real):
        return value.dtype
    return value.kind if isinstance(value, _Passing) else value


def _converted(value: Any, dtype: Any = None, *_more: Any, copy: Any = None, ndmin: int = 0, **_options: Any) -> Any:
    """Do what np.array and its relatives do."""
    array = value if isinstance(value, SymbolArray) else _kept(_objects(value))
    if dtype is not None:
        array = array.astype(dtype)
    elif copy:
        array = array.copy()
    return array.reshape((1,) * (ndmin - array.ndim) + array.shape) if ndmin > array.ndim else array


_CONVERSIONS: dict[str, Callable[..., Any]] = {
    "array": functools.partial(_converted, copy=True),
    "asarray": _converted,
    "asanyarray": _converted,
    "ascontiguousarray": _converted,
    "asfortranarray": _converted,
    "fromiter": lambda values, dtype, *_more: _converted(values, dtype),
    "isscalar": lambda value: isinstance(value, Symbol),
    "apply_along_axis": _along_axis,
}


class _Vectorized:
    """What np.vectorize is for functions that return symbols."""

    def __init__(self, function: Any = None, *_arguments: Any, **options: Any) -> None:
        if options.get("signature") or function is None:
            raise Unsupported("np.vectorize with a signature")
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        given = [_objects(each) for each in arguments]
        return _kept(np.frompyfunc(self._function, len(given), 1)(*given))


class _Joined:
    """What np.r_ and np.c_ are for arrays of symbols."""

    def __init__(self, real: Any, join: Callable[[list[Any]], Any]) -> None:
        self._real = real
        self._join = join

    def __getitem__(self, key: Any) -> Any:
        parts = [_prepared(each) for each in key] if isinstance(key, tuple) else [key]
        if not any(True for _ in _symbols_in(parts)):
            return _kept(self._real[key])
        return _kept(self._join([_objects(np.atleast_1d(_objects(each))) for each in parts]))


# ── math and builtins ─────────────────────────────────────────────────────────────────────────────────────────────

_MATHS: dict[str, Callable[..., Any]] = {
    "log": lambda a, base=None: log(a) if base is None else divide(log(a), log(base)),
    "fsum": lambda values: functools.reduce(add, values, 0),
    "prod": lambda values, start=1: functools.reduce(multiply, values, start),
    "sumprod": lambda p, q: functools.reduce(add, map(multiply, p, q), 0),
    "dist": lambda p, q: sqrt(functools.reduce(add, ((a - b) * (a - b) for a, b in zip(p, q, strict=True)), 0)),
    "hypot": lambda *values: sqrt(functools.reduce(add, (a * a for a in values), 0)),
}


def _keeping_math(function: Any) -> Any:
    """Return a function of math's that gives a symbol for one."""
    name = function.__name__

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        given = [list(each) if isinstance(each, Iterator) else each for each in arguments]
        given = [each.item() if isinstance(each, SymbolArray) and not each.ndim else each for each in given]
        if not any(True for _ in _symbols_in(given)):
            return function(*given, **options)
        symbolic = _MATHS.get(name) or _ELEMENTWISE.get(name)
        if symbolic is None:
            raise Unsupported(f"math.{name}")
        return symbolic(*given, **options)

    return call


class _Passing(type):
    """The class of float and int that let symbols through; anything else they treat as the real ones do."""

    kind: Any

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        value = arguments[0] if arguments else 0
        if isinstance(value, SymbolArray) and value.size == 1:
            value = value.item()
        if not isinstance(value, Symbol):
            return cls.kind(*arguments, **options)
        if cls.kind is int and not isinstance(value.value, int):
            raise Unsupported("int(x)")
        return _real(value)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.kind) or (isinstance(value, Symbol) and isinstance(value.value, cls.kind))


class _Float(metaclass=_Passing):
    kind, dtype = float, np.dtype(np.float64)


class _Int(metaclass=_Passing):
    kind, dtype = int, np.dtype(np.int64)


def _extreme_of(
    builtin: Callable[..., Any], choose: Callable[..., Any], of_two: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a builtin that keeps symbols; max(0, x) means a comparison, max(row) any number that is no smaller."""

    def call(*arguments: Any, **options: Any) -> Any:
        values = list(arguments[0]) if len(arguments) == 1 else list(arguments)
        if options or not any(isinstance(each, Symbol) for each in values) or not all(map(_is_number, values)):
            return builtin(values, **options)
        return of_two(*values) if len(arguments) == 2 else choose(values)

    return call


_BUILTINS = {
    "float": _Float,
    "int": _Int,
    "max": _extreme_of(max, largest, maximum),
    "min": _extreme_of(min, smallest, minimum),
}


@functools.cache
def replacements() -> dict[int, tuple[Any, Any]]:
    """Return by id each function of NumPy's and math's, the modules themselves, and what takes their place."""
    kinds = (FunctionType, BuiltinFunctionType, type(np.sum), np.ufunc)
    found: dict[int, tuple[Any, Any]] = {}
    found |= {id(each): (each, _keeping(each)) for each in vars(np).values() if isinstance(each, kinds)}
    found |= {id(e): (e, _keeping_math(e)) for e in vars(math).values() if isinstance(e, BuiltinFunctionType)}
    found[id(np.vectorize)] = (np.vectorize, _Vectorized)
    found[id(np.r_)] = (np.r_, _Joined(np.r_, np.concatenate))
    found[id(np.c_)] = (np.c_, _Joined(np.c_, np.column_stack))
    for module in (np.linalg, np, math):  # the modules are copied: whoever else uses NumPy here notices nothing
        copied = ModuleType(module.__name__)
        copied.__getattr__ = functools.partial(getattr, module)  # type: ignore[method-assign]
        vars(copied).update({name: found.get(id(e), (e, e))[1] for name, e in vars(module).items() if name[:2] != "__"})
        found[id(module)] = (module, copied)
    return found


@contextlib.contextmanager
def _symbolic_globals(namespaces: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Replace NumPy, math and their functions in the globals of modules for a while, and add our builtins."""
    known = replacements()
    before = [(namespace, dict(namespace)) for namespace in namespaces]
    for namespace, names in before:
        namespace.update({name: each for name, each in _BUILTINS.items() if name not in names})
        namespace.update({n: known[id(each)][1] for n, each in names.items() if id(each) in known})
    try:
        yield
    finally:
        for namespace, names in before:
            for name in [name for name in namespace if name in _BUILTINS and name not in names]:
                del namespace[name]
            namespace.update({name: each for name, each in names.items() if id(each) in known})
