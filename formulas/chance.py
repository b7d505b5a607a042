"""How sure a test is: exact values at points drawn from a large set, with the chance that a wrong formula passes.

Two rational formulas that differ have a difference whose numerator is a polynomial; one of degree D is zero at no more
than D / N of the points drawn from N numbers each (Schwartz and Zippel). The points are drawn by a generator seeded
with the two formulas themselves: the same everywhere, and nobody's to choose.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from itertools import islice

from flint import fmpq

from formulas.reader import read
from formulas.refute import assignments
from formulas.symbols import Symbol, Symbols
from formulas.tree import (
    Addition,
    Big,
    Call,
    Entry,
    Name,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Range,
    Transposed,
)
from formulas.values import Assignment, Evaluation, Fault, Interpreter, entries_of

NUMBERS = 2**40  # the set that values are drawn from
POINTS = 3
FREE = frozenset({"real", "positive"})  # what can be drawn at will; a distribution or a frame cannot
_LINEAR = frozenset({"sum", "trace", "diag", "transpose", "mean", "E"})
_PRODUCT = frozenset({"dot", "outer"})


class _NotRational(Exception):
    """A formula has a value that is no fraction of polynomials."""


def chance_of_error(answer: Node, expected: Node, symbols: Symbols) -> float | None:
    """Return the chance that different formulas agree at our points; None if these do not, or it cannot be bounded."""
    try:
        degree = sum(_degree(side, symbols, ()) for side in (answer, expected))
    except (_NotRational, RecursionError):
        return None
    if any(_is_bound(symbol) for symbol in symbols.by_name.values()):
        return None
    sizes = next(islice(assignments(symbols), 2, None)).sizes
    seed = hashlib.sha256(f"{answer!r} = {expected!r}".encode()).digest()
    chance = random.Random(seed)  # noqa: S311 - reproducible on purpose
    interpreter = Interpreter(symbols)
    for _ in range(POINTS):
        made = _drawn(symbols, sizes, chance)
        try:
            values = [entries_of(Evaluation(interpreter, made).value(side)) for side in (answer, expected)]
        except Fault:
            return None
        if len(values[0]) != len(values[1]) or any(a != b for a, b in zip(*values, strict=True)):
            return None
        if not all(type(value) is fmpq for side in values for value in side):
            return None
    return float((degree / NUMBERS) ** POINTS)


def _is_bound(symbol: Symbol) -> bool:
    special = symbol.properties - FREE - {"integer", "identity", "grows"}
    return symbol.definition is None and (bool(special) or symbol.in_span_of is not None)


def _drawn(symbols: Symbols, sizes: Mapping[str, int], chance: random.Random) -> Assignment:
    values = {}
    for name, symbol in symbols.by_name.items():
        if symbol.definition is None and name not in sizes and "identity" not in symbol.properties:
            rows, columns = (*(int(size.xreplace(_known(size, sizes))) for size in symbol.shape), 1, 1)[:2]
            values[name] = tuple(
                tuple(fmpq(chance.randrange(1, NUMBERS + 1)) for _ in range(columns)) for _ in range(rows)
            )
    return Assignment(dict(sizes), values)


def _known(size: object, sizes: Mapping[str, int]) -> dict[object, int]:
    return {symbol: sizes[str(symbol)] for symbol in getattr(size, "free_symbols", ())}


def _degree(node: Node, symbols: Symbols, within: tuple[str, ...]) -> int:
    """Return a bound on the degree of numerator and denominator together."""
    match node:
        case Number():
            return 0
        case Name():
            symbol = symbols.by_name.get(node.name)
            if symbol is None or symbol.definition is None:
                if node.name in ("e", "pi"):
                    raise _NotRational
                return 1
            if node.name in within:
                raise _NotRational
            return _degree(read(symbol.definition, symbols), symbols, (*within, node.name))
        case Negation() | Transposed() | Entry():
            return _degree(node.value, symbols, within)
        case Addition():
            return sum(_degree(term, symbols, within) for term in node.terms)
        case Product():
            return _degree(node.left, symbols, within) + _degree(node.right, symbols, within)
        case Quotient():
            return _degree(node.above, symbols, within) + _degree(node.below, symbols, within)
        case Power():
            power = _whole(node.exponent)
            inverse = 12 if power < 0 else 1  # adjugate and determinant of a matrix of at most six rows
            return inverse * abs(power) * _degree(node.base, symbols, within)
        case Range(operator=Big.SUM):
            return 6 * _degree(node.body, symbols, within)  # no size here is larger than six
        case Call() if node.function in _LINEAR and len(node.arguments) == 1:
            return 36 * _degree(node.arguments[0], symbols, within)
        case Call() if node.function in _PRODUCT:
            return 6 * sum(_degree(argument, symbols, within) for argument in node.arguments)
    raise _NotRational


def _whole(exponent: Node) -> int:
    if isinstance(exponent, Negation):
        return -_whole(exponent.value)
    if isinstance(exponent, Number) and exponent.value.denominator == 1:
        return int(exponent.value)
    raise _NotRational
