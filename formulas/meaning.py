"""What a formula means: its shape, and each entry in index notation, for sizes that stay symbols.

Shapes come first. A vector is a column, a 1×1 matrix is a number, a number broadcasts in sums and elementwise
functions, and a product means what its sign and the shapes allow (docs/answers.md has the table). The entries are
SymPy expressions that formulas/normal.py can prove equal; formulas/values.py computes the same formula at concrete
sizes and shares nothing with this file but the rules written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import cast

import sympy as sp

from formulas.calculus import Gaussian, expected, with_fresh_bounds
from formulas.normal import Facts, Meaning, NormalForm, Unsupported, equal
from formulas.polynomial import Polynomial
from formulas.reader import Unreadable, read, read_comparison
from formulas.symbols import Symbol, Symbols, size_symbol
from formulas.tree import (
    Addition,
    Big,
    Block,
    Call,
    Cases,
    Chain,
    Derivative,
    Entry,
    Name,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Range,
    Times,
    Transposed,
    nodes_of,
)

ONE = sp.Integer(1)
Indices = Callable[[sp.Expr, sp.Expr], sp.Expr]
Shape = tuple[sp.Expr, sp.Expr]

_ELEMENTWISE: dict[str, Callable[[sp.Expr], sp.Expr]] = {
    "exp": sp.exp, "sqrt": sp.sqrt, "sin": sp.sin, "cos": sp.cos, "tanh": sp.tanh, "sinh": sp.sinh, "cosh": sp.cosh,
    "sech": sp.sech, "abs": sp.Abs, "sigmoid": lambda x: 1 / (1 + sp.exp(-x)), "relu": lambda x: (x + sp.Abs(x)) / 2,
}  # fmt: skip


class Misfit(Exception):
    """A formula makes no sense as written: shapes that do not fit, an index without a range."""


@dataclass(frozen=True)
class Matter:
    """The meaning of a formula or of a part of it: its shape, and entry (i, j); a number is 1×1."""

    shape: Shape
    entry: Indices
    blocks: tuple[tuple[Matter, ...], ...] | None = None

    @property
    def is_number(self) -> bool:
        """Return whether this is a number (or a 1×1 matrix, which is the same)."""
        return self.shape == (ONE, ONE)

    @property
    def is_vector(self) -> bool:
        """Return whether this is a row or a column."""
        return not self.is_number and ONE in self.shape

    @property
    def number(self) -> sp.Expr:
        """Return the value of a number."""
        return self.entry(ONE, ONE)

    @property
    def size(self) -> sp.Expr:
        """Return the length of a row or column."""
        return self.shape[1] if self.shape[0] == ONE else self.shape[0]

    def at(self, i: sp.Expr) -> sp.Expr:
        """Return entry i of a row or column."""
        return self.entry(ONE, i) if self.shape[0] == ONE else self.entry(i, ONE)

    def __str__(self) -> str:
        return "a number" if self.is_number else "×".join(str(size).replace("*", "") for size in self.shape)


def number(value: sp.Expr) -> Matter:
    """Return a number."""
    return Matter((ONE, ONE), lambda i, j: value)


@dataclass
class Interpreter:
    """Gives formulas of one question their meaning."""

    symbols: Symbols
    ranges: dict[sp.Symbol, tuple[sp.Expr, sp.Expr]] = field(default_factory=dict)
    _bound: dict[str, sp.Symbol] = field(default_factory=dict)
    held: frozenset[str] = frozenset()  # names whose definitions are not put in
    _open: tuple[str, ...] = ()
    _count: Iterator[int] = field(default_factory=lambda: count(1))

    def of(self, node: Node) -> Matter:
        """Return the meaning of a formula."""
        match node:
            case Number():
                return number(sp.Rational(node.value.numerator, node.value.denominator))
            case Name():
                return self._name(node.name)
            case Negation():
                return _mapped(self.of(node.value), lambda x: -x)
            case Addition():
                return self._sum([self.of(term) for term in node.terms])
            case Product():
                return self._product(self.of(node.left), self.of(node.right), node.times)
            case Quotient():
                return self._quotient(self.of(node.above), self.of(node.below))
            case Power():
                return self._power(self.of(node.base), node.exponent)
            case Transposed():
                return _transposed(self.of(node.value))
            case Entry():
                return self._entry(node)
            case Range():
                return self._range(node)
            case Call():
                return self._call(node)
            case Block():
                return self._block([[self.of(part) for part in row] for row in node.rows])
            case Derivative():
                return self._derivative(node)
            case Cases():
                return self._cases(node)
            case Chain():
                raise Misfit("an equals sign stands where one value is asked for")
        raise Misfit(f"a {type(node).__name__.lower()} has no value here")

    # ── names ───────────────────────────────────────────────────────────────────────────────────────────────────

    def index(self, name: str) -> sp.Symbol:
        """Return the index of this name: bound by a sum, or free."""
        return self._bound.get(name) or sp.Symbol(name, integer=True, positive=True)

    def _fresh(self) -> sp.Symbol:
        return sp.Symbol(f"~i{next(self._count)}", integer=True, positive=True)

    def _name(self, name: str) -> Matter:
        if name in self._bound:
            return number(self._bound[name])
        symbol = self.symbols.by_name.get(name)
        if symbol is None:
            known = {"pi": sp.pi, "e": sp.E}
            dimensions = {str(size): size for size in self.symbols.dimensions()}
            if name in known or name in dimensions:
                return number(known.get(name, dimensions.get(name)))
            return number(self.index(name))
        if symbol.definition is not None and name not in self.held:
            return self._defined(symbol)
        return self._declared(symbol)

    def _defined(self, symbol: Symbol) -> Matter:
        if symbol.name in self._open:
            raise Misfit(f"{symbol.name} is defined by itself")
        inner = Interpreter(self.symbols, self.ranges, {}, self.held, (*self._open, symbol.name), self._count)
        return inner.of(read(symbol.definition or "", self.symbols))

    def _declared(self, symbol: Symbol) -> Matter:
        properties, shape = symbol.properties, symbol.shape
        if "function" in properties:
            raise Misfit(f"{symbol.name} is a function: it needs an argument")
        if not shape:
            return number(_scalar(symbol, self.symbols))
        if "identity" in properties:
            return Matter((shape[0], shape[-1]), sp.KroneckerDelta)
        if symbol.at is not None and "one_hot" in properties:
            hot = self.index(symbol.at)
            self.ranges[hot] = (ONE, shape[-1] if len(shape) == 1 or shape[0] == 1 else shape[0])
            return _vector(shape, lambda i: sp.KroneckerDelta(i, hot))
        if symbol.in_span_of is not None and symbol.name not in self.held:
            basis, weights = (
                self._declared(self.symbols[symbol.in_span_of]),
                sp.IndexedBase(f"~{symbol.name}", real=True),
            )
            k = self._fresh()
            return _vector(shape, lambda i: sp.Sum(basis.entry(i, k) * weights[k], (k, 1, basis.shape[1])))
        base = sp.IndexedBase(symbol.name, **_assumptions(symbol))
        if len(shape) == 1 or ONE in shape:
            return _vector(shape, lambda i: base[i])
        return Matter((shape[0], shape[1]), lambda i, j: base[i, j])

    # ── arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────

    def _sum(self, terms: list[Matter]) -> Matter:
        shaped = [term for term in terms if not term.is_number]
        if not shaped:
            return number(sp.Add(*(term.number for term in terms)))
        shape = next((term.shape for term in shaped if not term.is_vector), shaped[0].shape)
        for term in shaped:
            if term.shape not in (shape, (ONE, shape[1])):
                raise Misfit(f"a {Matter(shape, term.entry)} and a {term} cannot be added")
        if all(term.blocks for term in terms):
            return self._sum_of_blocks(terms)
        terms = [_repeated(term, shape) for term in terms]
        return Matter(
            shape, lambda i, j: sp.Add(*(term.number if term.is_number else term.entry(i, j) for term in terms))
        )

    def _sum_of_blocks(self, terms: list[Matter]) -> Matter:
        grids = [term.blocks or () for term in terms]
        return self._block(
            [[self._sum(list(parts)) for parts in zip(*rows, strict=True)] for rows in zip(*grids, strict=True)]
        )

    def _product(self, left: Matter, right: Matter, times: Times) -> Matter:
        if left.is_number or right.is_number:
            scale, other = (left, right) if left.is_number else (right, left)
            return _mapped(other, lambda x: scale.number * x)
        same = left.shape == right.shape
        if times is Times.ELEMENTWISE:
            if not same:
                raise Misfit(f"an elementwise product needs two of the same shape, not {left} and {right}")
            return _zipped(left, right, lambda x, y: x * y)
        if times is Times.DOT and left.is_vector and right.is_vector and left.size == right.size:
            return self._dot(left, right)
        if times is Times.STAR and same:
            return _zipped(left, right, lambda x, y: x * y)
        if left.shape[1] == right.shape[0]:
            return self._matrix_product(left, right)
        if times is Times.MATRIX and same and left.is_vector and left.shape[1] == ONE:
            return self._dot(left, right)  # as in NumPy, where a vector is neither row nor column
        if times is Times.JUXTAPOSED and same and left.is_vector:
            return _zipped(left, right, lambda x, y: x * y)
        if times is Times.STAR and (left.is_vector != right.is_vector):
            shape = right.shape if left.is_vector else left.shape
            # A column beside a square matrix scales its rows on paper and its columns in NumPy: that is refused.
            fitting = [(ONE, shape[1])] if shape[0] == shape[1] else [(ONE, shape[1]), (shape[0], ONE)]
            if (left if left.is_vector else right).shape in fitting:
                return _zipped(_repeated(left, shape), _repeated(right, shape), lambda x, y: x * y)
        raise Misfit(f"a {left} cannot multiply a {right} from the left: {left.shape[1]} is not {right.shape[0]}")

    def _dot(self, left: Matter, right: Matter) -> Matter:
        if left.blocks and right.blocks:
            pairs = zip(_parts(left), _parts(right), strict=True)
            return self._sum([self._dot(x, y) for x, y in pairs])
        if left.shape != right.shape and left.size != right.size:
            raise Misfit(f"there is no dot product of a {left} and a {right}")
        k = self._fresh()
        return number(sp.Sum(left.at(k) * right.at(k), (k, 1, left.size)))

    def _matrix_product(self, left: Matter, right: Matter) -> Matter:
        if left.blocks and right.blocks and len(left.blocks[0]) == len(right.blocks):
            columns = list(zip(*right.blocks, strict=True))
            return self._block(
                [
                    [
                        self._sum([self._product(a, b, Times.MATRIX) for a, b in zip(row, column, strict=True)])
                        for column in columns
                    ]
                    for row in left.blocks
                ]
            )
        inner = left.shape[1]

        def entry(i: sp.Expr, j: sp.Expr) -> sp.Expr:
            if inner == ONE:
                return left.entry(i, ONE) * right.entry(ONE, j)
            k = self._fresh()
            return sp.Sum(left.entry(i, k) * right.entry(k, j), (k, 1, inner))

        return Matter((left.shape[0], right.shape[1]), entry)

    def _quotient(self, above: Matter, below: Matter) -> Matter:
        if below.is_number:
            return _mapped(above, lambda x: x / below.number)
        if above.is_number:
            return _mapped(below, lambda x: above.number / x)
        if above.shape != below.shape:
            raise Misfit(f"a {above} cannot be divided by a {below}")
        return _zipped(above, below, lambda x, y: x / y)

    def _power(self, base: Matter, exponent: Node) -> Matter:
        power = self.of(exponent)
        if base.is_number and not power.is_number:
            return _mapped(power, lambda x: base.number**x)
        if not power.is_number:
            raise Misfit(f"an exponent is a number, not a {power}")
        if base.is_number or base.is_vector:
            return _mapped(base, lambda x: x**power.number)
        if base.shape[0] != base.shape[1]:
            return _mapped(base, lambda x: x**power.number)
        if power.number == -1:
            return self._inverse(base)
        if power.number.is_Integer and 1 <= power.number <= 4:
            result = base
            for _ in range(int(power.number) - 1):
                result = self._matrix_product(result, base)
            return result
        raise Unsupported(f"the power {power.number} of a matrix")

    def _inverse(self, base: Matter) -> Matter:
        if base.is_number:
            return number(1 / base.number)
        if base.shape[0] != base.shape[1]:
            raise Misfit(f"a {base} has no inverse: it is not square")
        i, j = self._fresh(), self._fresh()
        ranges = {**self.ranges, i: (ONE, base.shape[0]), j: (ONE, base.shape[0])}
        facts = facts_of(self.symbols, ranges)
        if equal(base.entry(i, j), sp.KroneckerDelta(i, j), facts):
            return base
        raise Unsupported("the inverse of a matrix that is not the identity")

    def _block(self, rows: list[list[Matter]]) -> Matter:
        if len(rows) == 1 and all(part.is_vector and part.shape[1] == ONE for part in rows[0]):
            rows = [[part] for part in rows[0]]  # [x, p] of two columns is one longer column
        if len(rows) == 1 and len(rows[0]) == 1:
            return rows[0][0]
        heights = [row[0].shape[0] for row in rows]
        widths = [part.shape[1] for part in rows[0]]
        for row, height in zip(rows, heights, strict=True):
            if len(row) != len(widths) or any(
                part.shape != (height, width) for part, width in zip(row, widths, strict=True)
            ):
                raise Misfit("the parts of a block matrix do not fit together")

        def entry(_i: sp.Expr, _j: sp.Expr) -> sp.Expr:
            raise Unsupported("a single entry of a block matrix")

        return Matter((sp.Add(*heights), sp.Add(*widths)), entry, tuple(map(tuple, rows)))

    # ── indices ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _entry(self, node: Entry) -> Matter:
        value = self.of(node.value)
        indices = [self._index_value(index) for index in node.indices]
        if len(indices) == 1 and not value.is_vector and not value.is_number:
            return Matter((value.shape[0], ONE), lambda i, j: value.entry(i, indices[0]))  # a column
        if value.is_vector and len(indices) == 1:
            self._note(indices[0], value.size)
            return number(value.at(indices[0]))
        if len(indices) == 2 and not value.is_number:
            for index, size in zip(indices, value.shape, strict=True):
                self._note(index, size)
            return number(value.entry(*indices))
        raise Misfit(
            f"{value} has no entry with {len(indices)} indices" if not value.is_number else "a number has no entries"
        )

    def _index_value(self, node: Node) -> sp.Expr:
        if isinstance(node, Name) and (node.name in self._bound or not self._is_scalar(node.name)):
            return self.index(node.name)
        return self.of(node).number

    def _is_scalar(self, name: str) -> bool:
        symbol = self.symbols.by_name.get(name)
        return (symbol is not None and not symbol.shape) or name in {str(d) for d in self.symbols.dimensions()}

    def _note(self, index: sp.Expr, size: sp.Expr) -> None:
        if index.is_Symbol:
            self.ranges.setdefault(index, (ONE, size))

    def _range(self, node: Range) -> Matter:
        if node.lower is None or node.upper is None:
            size = self._size_of(node.index, node.body)
            if size is None:
                raise Misfit(f"it does not say what {node.index} runs over")
            low, high = ONE, size
        else:
            low, high = self.of(node.lower).number, self.of(node.upper).number
        bound = self._fresh()
        self.ranges[bound] = (low, high)
        inner = Interpreter(
            self.symbols, self.ranges, {**self._bound, node.index: bound}, self.held, self._open, self._count
        )
        body = inner.of(node.body)
        operator = sp.Sum if node.operator is Big.SUM else sp.Product
        if not body.is_number and operator is sp.Product:
            raise Misfit("a product over an index needs a number under it")

        def entry(i: sp.Expr, j: sp.Expr) -> sp.Expr:
            whole = operator(body.entry(i, j), (bound, low, high))
            if node.excluding is None:
                return whole
            left_out = body.entry(i, j).xreplace({bound: inner._index_value(node.excluding)})
            return whole - left_out if operator is sp.Sum else whole / left_out

        return Matter(body.shape, entry)

    def _size_of(self, name: str, node: Node) -> sp.Expr | None:
        """Return the size of what an index runs over, from the arrays it is used on."""
        for found in nodes_of(node):
            if isinstance(found, Entry):
                names = [part.name if isinstance(part, Name) else None for part in found.indices]
                if name in names:
                    value = self.of(found.value)
                    if value.is_vector and len(names) == 1:
                        return value.size
                    return value.shape[1] if len(names) == 1 else value.shape[names.index(name)]
            if isinstance(found, Call) and found.function == "delta":
                others = [a.name for a in found.arguments if isinstance(a, Name) and a.name != name]
                known = [self.ranges.get(self.index(other)) for other in others]
                if len(others) == 1 and known[0] is not None and known[0][0] == ONE:
                    return known[0][1]
        return None

    # ── functions ───────────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, node: Call) -> Matter:
        name = node.function
        if name == "delta":
            return self._delta([self._index_value(argument) for argument in node.arguments])
        arguments = [self.of(argument) for argument in node.arguments]
        if name in _ELEMENTWISE and len(arguments) == 1:
            return _mapped(arguments[0], _ELEMENTWISE[name])
        if name == "log":
            base = sp.log(self.of(node.base).number) if node.base is not None else ONE
            return _mapped(arguments[0], lambda x: sp.log(x) / base)
        rule = getattr(self, f"_call_{name}", None)
        if rule is not None:
            try:
                return cast("Matter", rule(*arguments))
            except TypeError as error:
                raise Misfit(f"{name} does not take {len(arguments)} arguments") from error
        if name in self.symbols and all(argument.is_number for argument in arguments):
            return number(sp.Function(name)(*(argument.number for argument in arguments)))
        raise Unsupported(f"the function {name}")

    def _delta(self, indices: list[sp.Expr]) -> Matter:
        for index, other in (indices, indices[::-1]):
            if other in self.ranges and not self._is_scalar(str(index)):
                self._note(index, self.ranges[other][1])  # an index runs over what it is compared with
        return number(sp.KroneckerDelta(*indices))

    def _call_softmax(self, x: Matter) -> Matter:
        k = self._fresh()
        if x.is_vector:
            total = sp.Sum(sp.exp(x.at(k)), (k, 1, x.size))
            return _mapped(x, lambda value: sp.exp(value) / total)
        return Matter(x.shape, lambda i, j: sp.exp(x.entry(i, j)) / sp.Sum(sp.exp(x.entry(i, k)), (k, 1, x.shape[1])))

    _call_softmax_rows = _call_softmax

    def _call_norm(self, x: Matter) -> Matter:
        return number(sp.sqrt(self._call_sum(_mapped(x, lambda value: value**2)).number))

    def _call_sum(self, x: Matter) -> Matter:
        if x.is_number:
            return x
        k, m = self._fresh(), self._fresh()
        if x.is_vector:
            return number(sp.Sum(x.at(k), (k, 1, x.size)))
        return number(sp.Sum(x.entry(k, m), (m, 1, x.shape[1]), (k, 1, x.shape[0])))

    def _call_prod(self, x: Matter) -> Matter:
        k = self._fresh()
        return number(sp.Product(x.at(k), (k, 1, x.size))) if x.is_vector else x

    def _call_mean(self, x: Matter) -> Matter:
        return number(self._call_sum(x).number / (x.shape[0] * x.shape[1]))

    def _call_var(self, x: Matter) -> Matter:
        mean = self._call_mean(x).number
        return self._call_mean(_mapped(x, lambda value: (value - mean) ** 2))

    def _call_trace(self, x: Matter) -> Matter:
        if x.shape[0] != x.shape[1]:
            raise Misfit(f"a {x} has no trace: it is not square")
        if x.is_number:
            return x
        k = self._fresh()
        return number(sp.Sum(x.entry(k, k), (k, 1, x.shape[0])))

    def _call_diag(self, x: Matter) -> Matter:
        if x.is_vector:
            return Matter((x.size, x.size), lambda i, j: sp.KroneckerDelta(i, j) * x.at(i))
        return Matter((x.shape[0], ONE), lambda i, j: x.entry(i, i))

    def _call_inv(self, x: Matter) -> Matter:
        return self._inverse(x)

    def _call_dot(self, x: Matter, y: Matter) -> Matter:
        if x.is_number or y.is_number:
            return self._product(x, y, Times.STAR)
        if x.is_vector and y.is_vector and x.size == y.size:
            return self._dot(x, y)
        return self._product(x, y, Times.MATRIX)

    def _call_outer(self, x: Matter, y: Matter) -> Matter:
        return Matter((x.size, y.size), lambda i, j: x.at(i) * y.at(j))

    def _call_transpose(self, x: Matter) -> Matter:
        return _transposed(x)

    def _call_concat(self, *parts: Matter) -> Matter:
        return self._block([list(parts)])

    def _call_max(self, *values: Matter) -> Matter:
        return number(sp.Max(*(value.number for value in _numbers(values))))

    def _call_min(self, *values: Matter) -> Matter:
        return number(sp.Min(*(value.number for value in _numbers(values))))

    def _call_binomial(self, n: Matter, k: Matter) -> Matter:
        return number(sp.binomial(n.number, k.number))

    def _call_factorial(self, n: Matter) -> Matter:
        return _mapped(n, sp.factorial)

    def _call_eye(self, n: Matter) -> Matter:
        return Matter((n.number, n.number), sp.KroneckerDelta)

    def _call_ones(self, n: Matter) -> Matter:
        return Matter((n.number, ONE), lambda i, j: ONE)

    def _call_zeros(self, n: Matter) -> Matter:
        return Matter((n.number, ONE), lambda i, j: sp.Integer(0))

    def _call_E(self, x: Matter) -> Matter:  # noqa: N802 - the expectation is written E
        return _mapped(x, sp.Function("E"))

    def _call_Var(self, x: Matter) -> Matter:  # noqa: N802 - as it is written
        return _mapped(x, lambda value: sp.Function("E")(value**2) - sp.Function("E")(value) ** 2)

    def _call_Cov(self, x: Matter, y: Matter | None = None) -> Matter:  # noqa: N802 - as it is written
        other, mean = y or x, sp.Function("E")
        return Matter(
            (x.size, other.size),
            lambda i, j: mean(x.at(i) * other.at(j)) - mean(x.at(i)) * mean(other.at(j)),
        )

    # ── derivatives and cases ───────────────────────────────────────────────────────────────────────────────────

    def _derivative(self, node: Derivative) -> Matter:
        held = node.by.value if isinstance(node.by, Entry) else node.by
        if not isinstance(held, Name):
            raise Misfit("a derivative is taken by a symbol or an entry of one")
        inner = Interpreter(self.symbols, self.ranges, self._bound, self.held | {held.name}, self._open, self._count)
        of, by = inner.of(node.of), inner.of(node.by)
        if by.is_number and of.is_number:
            return number(self._taken(of.number, by.number, held.name))
        if of.is_number:
            return Matter(by.shape, lambda i, j: self._taken(of.number, by.entry(i, j), held.name))
        if by.is_number:
            return _mapped(of, lambda value: self._taken(value, by.number, held.name))
        if of.is_vector and by.is_vector:
            return Matter((of.size, by.size), lambda i, j: self._taken(of.at(i), by.at(j), held.name))
        raise Unsupported("a derivative of a matrix by a matrix")

    def _taken(self, of: sp.Expr, by: sp.Expr, held: str) -> sp.Expr:
        """Take the derivative, then put the definition of what was held back in."""
        taken = sp.diff(with_fresh_bounds(of), by)
        symbol = self.symbols.by_name.get(held)
        if symbol is None or symbol.definition is None or held in self.held:
            return taken
        meaning = self._defined(symbol)
        if meaning.is_number:
            return taken.xreplace({by: meaning.number})
        return taken.replace(
            lambda part: isinstance(part, sp.Indexed) and str(part.base) == held,
            lambda part: with_fresh_bounds(
                meaning.at(*part.indices) if meaning.is_vector else meaning.entry(*part.indices)
            ),
        )

    def _cases(self, node: Cases) -> Matter:
        if len(node.branches) != 2:
            raise Unsupported("a value by more or fewer than two cases")
        (first, condition), (second, other) = node.branches
        if condition is None or condition.relation not in ("=", "!="):
            raise Misfit("a case is told by i = k or i ≠ k")
        sides = {self._index_value(condition.left), self._index_value(condition.right)}
        if other is not None and (
            other.relation == condition.relation
            or {self._index_value(other.left), self._index_value(other.right)} != sides
        ):
            raise Misfit("the two cases do not complete each other")
        delta = sp.KroneckerDelta(self._index_value(condition.left), self._index_value(condition.right))
        equal_value, other_value = (first, second) if condition.relation == "=" else (second, first)
        return _zipped(self.of(equal_value), self.of(other_value), lambda x, y: delta * x + (1 - delta) * y)


# ── what the symbols allow ──────────────────────────────────────────────────────────────────────────────────────


def facts_of(symbols: Symbols, ranges: Mapping[sp.Symbol, tuple[sp.Expr, sp.Expr]]) -> Facts:
    """Return what the declared properties and the given equations allow the prover to use."""
    declared = symbols.by_name.values()
    hot = [s for s in declared if "one_hot" in s.properties and s.at is None]
    distributions = [s for s in declared if "distribution" in s.properties]
    frames = [s for s in declared if "orthonormal_columns" in s.properties]
    return Facts(
        orthonormal={s.name: s.shape[0] for s in frames},
        orthogonal={pair: symbols[min(pair)].shape[0] for pair in _orthogonal(symbols)},
        totals={s.name: max(s.shape, key=lambda size: size != 1) for s in (*distributions, *hot)},
        one_hot=frozenset(s.name for s in hot),
        ranges=dict(ranges),
    )


def _orthogonal(symbols: Symbols) -> Iterator[frozenset[str]]:
    for text in symbols.given:
        try:
            given = read_comparison(text, symbols)
        except Unreadable:
            continue
        left = given.left
        if given.relation == "=" and isinstance(left, Product) and isinstance(left.left, Transposed):
            first, second = left.left.value, left.right
            if isinstance(first, Name) and isinstance(second, Name):
                yield frozenset((first.name, second.name))


def functions_of(symbols: Symbols) -> dict[str, Meaning]:
    """Return what E means: the expectation over the declared normal vectors."""
    randoms = {s.name: _gaussian(s, symbols) for s in symbols.by_name.values() if "normal" in s.properties}

    def mean(form: NormalForm, arguments: Sequence[sp.Expr]) -> Polynomial:
        return expected(arguments[0], randoms, form)

    return {"E": mean}


def _gaussian(symbol: Symbol, symbols: Symbols) -> Gaussian:
    """Read a normal vector's mean, a declared vector, and covariance, a number times I."""
    mean = symbols[symbol.mean or ""]
    variance = (symbol.covariance or "").removesuffix("I").strip().removesuffix("*") or "1"
    return Gaussian(
        symbol.name,
        sp.IndexedBase(mean.name, **_assumptions(mean)),
        Interpreter(symbols).of(read(variance, symbols)).number,
    )


def _scalar(symbol: Symbol, symbols: Symbols) -> sp.Symbol:
    if "index" in symbol.properties:
        return sp.Symbol(symbol.name, integer=True, positive=True)
    if symbol.name in {str(size) for size in symbols.dimensions()}:
        return size_symbol(symbol.name)
    positive = {"positive", "grows", "probability", "unit_interval"} & symbol.properties or _given_positive(
        symbol.name, symbols
    )
    if "integer" in symbol.properties:
        return sp.Symbol(symbol.name, integer=True, **({"positive": True} if positive else {}))
    return sp.Symbol(symbol.name, **({"positive": True} if positive else {"real": True}))


def _given_positive(name: str, symbols: Symbols) -> bool:
    """Return whether a given condition such as b > 1 or n >= 3 makes the symbol positive."""
    for text in symbols.given:
        try:
            given = read_comparison(text, symbols)
        except Unreadable:
            continue
        least = given.right.value if isinstance(given.right, Number) and given.left == Name(name) else -1
        if (given.relation == ">" and least >= 0) or (given.relation == ">=" and least > 0):
            return True
    return False


def _assumptions(symbol: Symbol) -> dict[str, bool]:
    positive = {"positive", "probability", "unit_interval", "distribution"} & symbol.properties
    return {"positive": True} if positive else {"real": True}


# ── shapes ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _vector(shape: tuple[sp.Expr, ...], at: Callable[[sp.Expr], sp.Expr]) -> Matter:
    if len(shape) == 2 and shape[0] == ONE:
        return Matter((ONE, shape[1]), lambda i, j: at(j))
    return Matter((shape[0], ONE), lambda i, j: at(i))


def _mapped(value: Matter, function: Callable[[sp.Expr], sp.Expr]) -> Matter:
    if value.blocks:
        rows = tuple(tuple(_mapped(part, function) for part in row) for row in value.blocks)
        return Matter(value.shape, value.entry, rows)
    return Matter(value.shape, lambda i, j: function(value.entry(i, j)))


def _repeated(term: Matter, shape: Shape) -> Matter:
    """Return a row or column as the matrix of it repeated, as NumPy does: a bias adds to every row."""
    if term.is_number or term.shape == shape:
        return term
    if term.shape[1] == ONE:
        return Matter(shape, lambda i, j: term.entry(i, ONE))
    return Matter(shape, lambda i, j: term.entry(ONE, j))


def _zipped(left: Matter, right: Matter, function: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Matter:
    shape = right.shape if left.is_number else left.shape
    if not left.is_number and not right.is_number and left.shape != right.shape:
        raise Misfit(f"a {left} and a {right} have different shapes")
    return Matter(
        shape,
        lambda i, j: function(
            left.number if left.is_number else left.entry(i, j), right.number if right.is_number else right.entry(i, j)
        ),
    )


def _transposed(value: Matter) -> Matter:
    blocks = None
    if value.blocks:
        blocks = tuple(tuple(_transposed(part) for part in column) for column in zip(*value.blocks, strict=True))
    return Matter((value.shape[1], value.shape[0]), lambda i, j: value.entry(j, i), blocks)


def _parts(value: Matter) -> list[Matter]:
    return [part for row in value.blocks or () for part in row]


def _numbers(values: tuple[Matter, ...]) -> tuple[Matter, ...]:
    for value in values:
        if not value.is_number:
            raise Unsupported(f"the largest entry of a {value}")
    return values
