"""Refuting formulas with derivatives: taken in index notation, then computed at concrete sizes in balls.

formulas/values.py computes formulas as they are written and knows no derivatives. Here the meaning of both sides
(formulas/meaning.py), derivatives taken, is computed entry by entry; two differ only if their balls do not meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product

import sympy as sp
from flint import arb, ctx

from formulas.refute import Agreement, Counterexample, assignments, name_in_words, rows_in_words
from formulas.symbols import Symbols
from formulas.values import Assignment, number_in_words

TRIED = 24  # assignments
PRECISION = 192  # bits

_FUNCTIONS: dict[type, Callable[..., arb]] = {
    sp.exp: arb.exp, sp.log: arb.log, sp.tanh: arb.tanh, sp.cosh: arb.cosh, sp.sinh: arb.sinh, sp.sin: arb.sin,
    sp.cos: arb.cos, sp.Abs: abs,
}  # fmt: skip


class NotComputable(Exception):
    """An expression holds something that has no value here."""


def refute_entries(
    left: sp.Expr, right: sp.Expr, ranges: Mapping[sp.Symbol, tuple[sp.Expr, sp.Expr]], symbols: Symbols
) -> Counterexample | Agreement:
    """Search for an assignment and an entry where the two sides differ."""
    free = sorted({s for s in left.free_symbols | right.free_symbols if s in ranges and str(s) not in symbols}, key=str)
    tried = 0
    with ctx.workprec(PRECISION):
        for made in islice(assignments(symbols), TRIED):
            try:
                for place in _places(free, ranges, made):
                    yours, wanted = (_finite(_value(side, made, place)) for side in (left, right))
                    if not yours.overlaps(wanted):
                        return _counterexample(made, place, yours, wanted)
            except (NotComputable, ZeroDivisionError):
                continue
            tried += 1
    return Agreement(tried, worst=0.0, why="" if tried else "it could not be computed")


def _finite(value: arb) -> arb:
    if not value.is_finite():
        raise NotComputable
    return value


def _places(
    free: list[sp.Symbol], ranges: Mapping[sp.Symbol, tuple[sp.Expr, sp.Expr]], made: Assignment
) -> Iterator[dict[str, int]]:
    spans = [range(1, _size(ranges[symbol][1], made) + 1) for symbol in free]
    for indices in product(*spans):
        yield {str(symbol): index for symbol, index in zip(free, indices, strict=True)}


def _size(size: sp.Expr, made: Assignment) -> int:
    known = {symbol: made.sizes[str(symbol)] for symbol in size.free_symbols}
    return int(size.xreplace({symbol: sp.Integer(value) for symbol, value in known.items()}))


def _value(e: sp.Expr, made: Assignment, place: Mapping[str, int]) -> arb:
    if e.is_Rational:
        return arb(int(e.p)) / arb(int(e.q))
    if e is sp.E:
        return arb(1).exp()
    if e is sp.pi:
        return arb.pi()
    if e.is_Symbol:
        return _symbol(str(e), made, place)
    if isinstance(e, sp.Indexed):
        return _entry(e, made, place)
    if isinstance(e, sp.Add):
        return sum((_value(a, made, place) for a in e.args), arb(0))
    if isinstance(e, sp.Mul):
        result = arb(1)
        for factor in e.args:
            result *= _value(factor, made, place)
        return result
    if isinstance(e, sp.Pow):
        base = _value(e.base, made, place)
        return base ** int(e.exp) if e.exp.is_Integer else base ** _value(e.exp, made, place)
    if isinstance(e, sp.KroneckerDelta):
        return arb(int(_index(e.args[0], made, place) == _index(e.args[1], made, place)))
    if isinstance(e, sp.Sum | sp.Product):
        return _over(e, list(e.limits), made, place)
    if e.func in _FUNCTIONS:
        return _FUNCTIONS[e.func](_value(e.args[0], made, place))
    raise NotComputable


def _symbol(name: str, made: Assignment, place: Mapping[str, int]) -> arb:
    if name in place:
        return arb(place[name])
    if name in made.sizes:
        return arb(made.sizes[name])
    if name not in made.values:
        raise NotComputable
    return arb(made.values[name][0][0])


def _index(e: sp.Expr, made: Assignment, place: Mapping[str, int]) -> int:
    value = _value(e, made, place)
    return int(value.unique_fmpz() or 0)


def _entry(e: sp.Indexed, made: Assignment, place: Mapping[str, int]) -> arb:
    rows = made.values.get(str(e.base))
    if rows is None:
        raise NotComputable
    indices = [_index(index, made, place) - 1 for index in e.indices]
    if len(indices) == 1:
        return arb([entry for row in rows for entry in row][indices[0]])
    return arb(rows[indices[0]][indices[1]])


def _over(e: sp.Expr, limits: list[sp.Tuple], made: Assignment, place: Mapping[str, int]) -> arb:
    if not limits:
        return _value(e.function, made, place)
    *inner, (index, low, high) = limits
    result = arb(0) if isinstance(e, sp.Sum) else arb(1)
    for at in range(_index(low, made, place), _index(high, made, place) + 1):
        term = _over(e, inner, made, {**place, str(index): at})
        result = result + term if isinstance(e, sp.Sum) else result * term
    return result


def _counterexample(made: Assignment, place: Mapping[str, int], yours: arb, wanted: arb) -> Counterexample:
    where = [f"{name} = {size}" for name, size in made.sizes.items()]
    where += [f"{name_in_words(name)} = {rows_in_words(rows)}" for name, rows in made.values.items()]
    shown = {name: at for name, at in place.items() if not name.startswith("~")}
    where += [f"{name} = {at}" for name, at in shown.items()]
    mine, theirs = number_in_words(yours, decimal=True), number_in_words(wanted, decimal=True)
    return Counterexample(made, mine, theirs, f"{', '.join(dict.fromkeys(where))}: yours {mine}, expected {theirs}")
