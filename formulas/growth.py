"""Which of two functions grows faster, decided exactly for several variables that grow independently.

A function made of variables, their logarithms and positive numbers by sums, products, quotients, rational powers,
max and min is, up to a constant factor, a quotient of sums of monomials M^a (log M)^b N^c …:

    max(a, b) ~ a + b        min(a, b) ~ ab/(a + b)        (a + b)^r ~ a^r + b^r        log(a + b) ~ log a + log b

so f = O(g) asks, for each monomial m of f, whether some curve makes m outgrow every monomial g_j of g. Write u for
the logarithms of the variables: along a curve, m/g_j tends to infinity if d_j·u + e_j·log u does, where d_j and e_j
are the differences of the powers and of the powers of logarithms. Without logarithms that is a linear programme:
is there a direction u >= 0 with d_j·u > 0 for all j? With them a curve has several scales (`_Search`).

A variable may also stay bounded (but above 1, its logarithm positive). No limits are taken one variable after the
other, which is wrong: M^2 N^2 is not O(M^3 + N^3), as M = N = t shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import reduce
from itertools import combinations, pairwise, product
from math import comb, gcd, lcm

import sympy as sp

from formulas.tree import (
    Addition,
    Big,
    Call,
    Chain,
    Comparison,
    Name,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Range,
    Times,
)

MOST_MONOMIALS = 500
_MOST_EXACT_POWER = 12  # (n - 1)^12 is expanded; of (n - 1)^13 only the growth is kept
_MOST_BITS = 4096  # of an exact coefficient; of a larger one only the sign is kept
_MOST_EDGES = 2000  # of a cone; hand-written sums have a handful
_MOST_LOGGED = 4  # variables with logarithms: the orders in which they can start are enumerated
_STEEPEST = 3  # exponents tried when looking for a simple ray
_MOST_TRIED = 1024  # rays tried when looking for a simple one


class NotAGrowth(Exception):
    """What was written has no growth that can be decided here; the message is a sentence that says why."""


# ---------------------------------------------------------------------------------------------------------------------
# Monomials and their sums
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Monomial:
    """A product of powers of variables and of their logarithms.

    `factors` has a row (variable, power, power of its logarithm) per variable that occurs, by name.
    """

    factors: tuple[tuple[str, Fraction, Fraction], ...] = ()

    def __mul__(self, other: Monomial) -> Monomial:
        powers = {name: (power, log_power) for name, power, log_power in self.factors}
        for name, power, log_power in other.factors:
            before = powers.get(name, (Fraction(0), Fraction(0)))
            powers[name] = (before[0] + power, before[1] + log_power)
        return Monomial(tuple((name, *both) for name, both in sorted(powers.items()) if any(both)))

    def __pow__(self, exponent: Fraction | int) -> Monomial:
        if not exponent:
            return ONE
        return Monomial(tuple((name, power * exponent, logs * exponent) for name, power, logs in self.factors))

    def __truediv__(self, other: Monomial) -> Monomial:
        return self * other**-1

    def __str__(self) -> str:
        texts = [
            text
            for name, power, log_power in self.factors
            for text in (_power_text(name, power), _power_text(f"log {name}", log_power))
            if text
        ]
        return " ".join(texts) or "1"

    def is_bounded(self) -> bool:
        """Say whether no factor grows, which is enough to be O(1)."""
        return all(power < 0 or (power == 0 and log_power <= 0) for _, power, log_power in self.factors)

    def vanishes(self) -> bool:
        """Say whether no factor grows and one shrinks, which is enough to be o(1) when all variables grow."""
        return bool(self.factors) and self.is_bounded()


ONE = Monomial()
_Sum = frozenset[Monomial]


def variable(name: str) -> Monomial:
    """Return the monomial that is one variable."""
    return Monomial(((name, Fraction(1), Fraction(0)),))


def _log_of(name: str) -> Monomial:
    return Monomial(((name, Fraction(0), Fraction(1)),))


def _power_text(base: str, power: Fraction) -> str:
    """Write a power: nothing for 0, `k`, `k^2`, `(log k)^(3/2)`."""
    if power in {0, 1}:
        return base if power else ""
    exponent = str(power) if power.denominator == 1 and power > 0 else f"({power})"
    return f"({base})^{exponent}" if " " in base else f"{base}^{exponent}"


@dataclass(frozen=True, slots=True)
class Growth:
    """A function up to constant factors: the sum of the monomials `above` over the sum of those `below`.

    >>> M, N = sp.symbols("M N")
    >>> print(growth_of(3 * M**2 + M * N / 2 - N, [M, N]))
    M N + M^2
    """

    above: _Sum
    below: _Sum = frozenset({ONE})

    def __str__(self) -> str:
        if self.below == {ONE}:
            return _sum_text(self.above)
        return f"({_sum_text(self.above)})/({_sum_text(self.below)})"


def _sum_text(monomials: _Sum) -> str:
    return " + ".join(sorted(map(str, monomials)))


def _times(left: _Sum, right: _Sum) -> _Sum:
    """Multiply two sums, keeping only what can matter for the growth."""
    found: set[Monomial] = set()
    for one, other in product(_peaks(left), _peaks(right)):
        found.add(one * other)
        if len(found) > MOST_MONOMIALS:
            raise NotAGrowth(f"The two sides have more than {MOST_MONOMIALS} terms when multiplied out.")
    return _peaks(frozenset(found))


def _peaks(monomials: _Sum) -> _Sum:
    """Drop monomials that are plainly O of the others: between two of them, or below one factor by factor.

    Between: m^2 = ab gives m <= (a + b)/2. All such m can go at once, as none is a corner of the convex hull.
    """
    vectors = _whole(monomials)
    doubled = {tuple(2 * entry for entry in vector): vector for vector in vectors}
    sums = (tuple(map(sum, zip(one, other, strict=True))) for one, other in combinations(vectors, 2))
    corners = vectors.keys() - {doubled[both] for both in sums if both in doubled}
    pairs = {corner: list(zip(corner[::2], corner[1::2], strict=True)) for corner in corners}
    return frozenset(
        vectors[corner]
        for corner in corners
        if not any(other != corner and _is_below(pairs[corner], pairs[other]) for other in corners)
    )


def _is_below(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> bool:
    """Compare factor by factor: a higher power wins, and between equal powers that of the logarithm decides."""
    return all(own <= its for own, its in zip(one, other, strict=True))


def _whole(monomials: _Sum) -> dict[tuple[int, ...], Monomial]:
    """Return monomials by their exponents over one common denominator: whole numbers are faster than fractions."""
    names = _names(monomials)
    exponents = {one: _exponents(one, names) for one in monomials}
    scale = lcm(*(entry.denominator for row in exponents.values() for entry in row))
    return {tuple(int(entry * scale) for entry in row): one for one, row in exponents.items()}


def _exponents(monomial: Monomial, names: Sequence[str]) -> list[Fraction]:
    by_name = {name: both for name, *both in monomial.factors}
    return [entry for name in names for entry in by_name.get(name, [Fraction(0), Fraction(0)])]


def _names(monomials: Iterable[Monomial]) -> list[str]:
    return sorted({name for one in monomials for name, _, _ in one.factors})


# ---------------------------------------------------------------------------------------------------------------------
# What was written, with its coefficients: differences are decided by expanding them
# ---------------------------------------------------------------------------------------------------------------------


class _Sign(Enum):
    """A coefficient not kept exactly: it lies between two positive numbers, two negative ones, or any two."""

    POSITIVE = 1
    NEGATIVE = -1
    UNKNOWN = 0


_Coefficient = Fraction | _Sign
_Polynomial = Mapping[Monomial, _Coefficient]


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A quotient of two polynomials in the variables and their logarithms; no entry is exactly 0."""

    above: _Polynomial
    below: _Polynomial = field(default_factory=lambda: {ONE: Fraction(1)})


def _sign(value: _Coefficient) -> int:
    if isinstance(value, _Sign):
        return value.value
    return (value > 0) - (value < 0)


def _coefficient_sum(left: _Coefficient, right: _Coefficient) -> _Coefficient:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left + right
    return _Sign(_sign(left)) if _sign(left) == _sign(right) else _Sign.UNKNOWN


def _coefficient_product(left: _Coefficient, right: _Coefficient) -> _Coefficient:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        exact = left * right
        return exact if _bits(exact) <= _MOST_BITS else _Sign(_sign(exact))
    return _Sign(_sign(left) * _sign(right))


def _coefficient_power(value: _Coefficient, exponent: Fraction) -> _Coefficient:
    """Raise to a positive power; a root is not kept exactly."""
    whole = exponent.denominator == 1
    if value == 1:
        return value
    if isinstance(value, Fraction) and whole and exponent * _bits(value) <= _MOST_BITS:
        return value ** int(exponent)
    if not whole and _sign(value) != 1:
        raise NotAGrowth("A root is taken of something that is not known to be positive.")
    return _Sign(_sign(value) ** (2 - int(exponent) % 2))  # only its being even or odd counts


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _constant(value: _Coefficient | int) -> _Ratio:
    if isinstance(value, int):
        value = Fraction(value)
    return _Ratio({ONE: value} if value != 0 else {})


def _polynomial_sum(left: _Polynomial, right: _Polynomial) -> _Polynomial:
    total = dict(left)
    for monomial, value in right.items():
        total[monomial] = _coefficient_sum(total[monomial], value) if monomial in total else value
    return _checked(total)


def _polynomial_product(left: _Polynomial, right: _Polynomial) -> _Polynomial:
    total: dict[Monomial, _Coefficient] = {}
    for (one, value), (other, factor) in product(left.items(), right.items()):
        monomial, part = one * other, _coefficient_product(value, factor)
        total[monomial] = _coefficient_sum(total[monomial], part) if monomial in total else part
        if len(total) > MOST_MONOMIALS:
            break
    return _checked(total)


def _checked(total: _Polynomial) -> _Polynomial:
    if len(total) > MOST_MONOMIALS:
        raise NotAGrowth(f"It has more than {MOST_MONOMIALS} terms when multiplied out.")
    return {monomial: value for monomial, value in total.items() if value != 0}


def _polynomial_power(base: _Polynomial, exponent: Fraction) -> _Polynomial:
    """Raise to a positive power: exactly where that stays small, else up to a constant factor."""
    if len(base) <= 1:
        return {one**exponent: _coefficient_power(value, exponent) for one, value in base.items()}
    if exponent.denominator == 1 and exponent <= _MOST_EXACT_POWER:
        count = int(exponent)
        if comb(len(base) - 1 + count, count) <= MOST_MONOMIALS:
            return reduce(_polynomial_product, [base] * count)
    return dict.fromkeys((one**exponent for one in _settled(base)), _Sign.POSITIVE)


def _add(left: _Ratio, right: _Ratio) -> _Ratio:
    if left.below == right.below and not any(isinstance(value, _Sign) for value in left.below.values()):
        return _ratio(_polynomial_sum(left.above, right.above), left.below)
    above = _polynomial_sum(_polynomial_product(left.above, right.below), _polynomial_product(right.above, left.below))
    return _ratio(above, _polynomial_product(left.below, right.below))


def _multiply(left: _Ratio, right: _Ratio) -> _Ratio:
    return _ratio(_polynomial_product(left.above, right.above), _polynomial_product(left.below, right.below))


def _inverse(value: _Ratio) -> _Ratio:
    if not value.above:
        raise NotAGrowth("It divides by zero.")
    return _ratio(value.below, value.above)


def _negative(value: _Ratio) -> _Ratio:
    return _multiply(_constant(-1), value)


def _ratio(above: _Polynomial, below: _Polynomial) -> _Ratio:
    """Return above/below; a single term below is divided out, so that n^2/n is n and n/n - 1 is 0."""
    if len(below) != 1:
        return _Ratio(above, below)
    ((monomial, value),) = below.items()
    if value == _Sign.UNKNOWN:
        return _Ratio(above, below)
    factor = 1 / value if isinstance(value, Fraction) else value
    return _Ratio({one / monomial: _coefficient_product(part, factor) for one, part in above.items()})


def _power(base: _Ratio, exponent: Fraction) -> _Ratio:
    if exponent < 0:
        return _power(_inverse(base), -exponent)
    if exponent == 0:
        return _constant(1)
    return _ratio(_polynomial_power(base.above, exponent), _polynomial_power(base.below, exponent))


def _settled(polynomial: _Polynomial) -> _Sum:
    """Return the monomials that make up the growth of a polynomial, or say that it has none.

    A term with a minus (or of unknown sign) may be left out where it is o(the others) as all variables grow:
    n k (n - 1) is n^2 k up to a constant factor once n >= 2, though not for n = 1. What is later assumed to be
    constant counts as large enough, too.
    """
    positive = frozenset(one for one, value in polynomial.items() if _sign(value) > 0)
    if not polynomial:
        raise NotAGrowth("It is zero.")
    if not positive:
        unknown = _Sign.UNKNOWN in polynomial.values()
        raise NotAGrowth("Its sign cannot be decided." if unknown else "It is negative when the variables are large.")
    peaks = _peaks(positive)
    for one in polynomial.keys() - positive:
        if not _is_negligible(one, peaks):
            what = "may be" if polynomial[one] == _Sign.UNKNOWN else "is"
            raise NotAGrowth(f"The term in {one} {what} negative, and the other terms do not always outgrow it.")
    return positive


def _is_negligible(one: Monomial, others: _Sum) -> bool:
    if any((one / other).vanishes() for other in others):
        return True
    return _Search.of([one / other for other in others], logged=_logged([one, *others]), all_grow=True).found() is None


def _soft(value: _Ratio) -> _Ratio:
    """Forget the coefficients: what is left is known up to a constant factor."""
    above, below = (dict.fromkeys(_settled(part), _Sign.POSITIVE) for part in (value.above, value.below))
    return _ratio(above, below)


def _largest(values: Sequence[_Ratio]) -> _Ratio:
    """Return the sum: it lies between the largest and `len(values)` times that."""
    return reduce(_add, map(_soft, values))


def _smallest(values: Sequence[_Ratio]) -> _Ratio:
    """Return 1/(1/a + 1/b): it lies between the smallest over `len(values)` and the smallest."""
    return _inverse(_largest([_inverse(value) for value in values]))


def _log(value: _Ratio) -> _Ratio:
    return _add(_Ratio(_polynomial_log(value.above)), _negative(_Ratio(_polynomial_log(value.below))))


def _polynomial_log(polynomial: _Polynomial) -> _Polynomial:
    if len(polynomial) == 1:
        ((monomial, value),) = polynomial.items()
        if not any(log_power for _, _, log_power in monomial.factors):
            exact = {_log_of(name): power for name, power, _ in monomial.factors}
            return {**exact, **_constant(_constant_log(value)).above}
    return _sum_log(_peaks(_settled(polynomial)))


def _constant_log(value: _Coefficient) -> _Coefficient:
    if _sign(value) <= 0:
        raise NotAGrowth("A logarithm is taken of something that is not known to be positive.")
    if isinstance(value, Fraction):
        return _Sign((value > 1) - (value < 1)) if value != 1 else Fraction(0)
    return _Sign.UNKNOWN


def _sum_log(monomials: _Sum) -> _Polynomial:
    """Return the logarithm of a sum, up to a constant factor: the sum of the logarithms of its variables."""
    for one in monomials:
        # log(n log n) ~ log n, but log(m log n) has an iterated logarithm and log(1 + 1/n) tends to 0.
        if not one.factors or any(power <= 0 for _, power, _ in one.factors):
            raise NotAGrowth(f"The logarithm of {_sum_text(monomials)} is not one of powers of the variables.")
    return {_log_of(name): _Sign.POSITIVE for name in _names(monomials)}


# ---------------------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------------------

_LOGARITHMS = frozenset({"log", "ln", "lg", "lb", "log2", "log10"})
_BOUNDS = frozenset({"O", "Theta", "Θ"})
_CONSTANTS = frozenset({"pi", "e"})
_SAID_CONSTANT = frozenset({"constant", "const"})  # k = constant, in an assumption


def growth_of_tree(node: Node, variables: Sequence[str]) -> Growth:
    """Return the growth of a formula as it was read, with or without O(…) around it.

    >>> n = Name("n")
    >>> print(growth_of_tree(Call("O", (Product(n, Call("sqrt", (n,)), Times.JUXTAPOSED),)), ["n"]))
    n^(3/2)
    """
    return _growth(_read(node, frozenset(variables)))


def growth_of(expression: sp.Expr, variables: Sequence[sp.Symbol]) -> Growth:
    """Return the growth of a SymPy expression.

    >>> n, k = sp.symbols("n k")
    >>> print(growth_of(n * (n - 1) / 2 * k, [n, k]))
    k n^2
    """
    return growth_of_tree(_tree(expression), [symbol.name for symbol in variables])


def _growth(value: _Ratio) -> Growth:
    return _reduced(_settled(value.above), _settled(value.below))


def _reduced(above: _Sum, below: _Sum) -> Growth:
    """Return above/below, divided by what the terms below have in common: min(M, N) is MN/(M + N)."""
    names = _names(below)
    rows = [_exponents(one, names) for one in below]
    least = [min(column) for column in zip(*rows, strict=True)]
    common = Monomial(tuple(zip(names, least[::2], least[1::2], strict=True)))
    return Growth(frozenset(one / common for one in above), frozenset(one / common for one in below))


def _read(node: Node, variables: frozenset[str] | None) -> _Ratio:
    """Read a formula; where `variables` is None every name is one."""
    match node:
        case Number():
            return _constant(node.value)
        case Name():
            return _read_name(node.name, variables)
        case Negation():
            return _negative(_read(node.value, variables))
        case Addition():
            return reduce(_add, [_read(term, variables) for term in node.terms])
        case Product():
            return _multiply(_read(node.left, variables), _read(node.right, variables))
        case Quotient():
            return _multiply(_read(node.above, variables), _inverse(_read(node.below, variables)))
        case Power():
            return _power(_read(node.base, variables), _exact(_read(node.exponent, variables)))
        case Call():
            return _read_call(node, variables)
        case Range(operator=Big.SUM, lower=Number(), upper=Node(), excluding=None):
            return _read_sum(node, variables)
    raise NotAGrowth(f"A {type(node).__name__.lower()} has no growth that can be decided here.")


def _read_sum(node: Range, variables: frozenset[str] | None) -> _Ratio:
    """Read Σ_{t=1}^N: t^a N^b with a ≥ 0 adds up to N^(a+1) N^b, up to constant factors."""
    if node.upper is None or node.index in (variables or ()):
        raise NotAGrowth("The growth of this sum cannot be decided here.")
    upper = _soft(_read(node.upper, variables))
    body = _soft(_read(node.body, None if variables is None else variables | {node.index}))
    total = [_summed(monomial, node.index, upper) for monomial in body.above]
    shrinks = any((ONE / monomial).factors and not (ONE / monomial).is_bounded() for monomial in upper.above)
    if shrinks or upper.above.keys() <= {ONE} or any(part.below.keys() != {ONE} for part in (upper, body)):
        raise NotAGrowth("The growth of this sum cannot be decided here.")
    return reduce(_add, total)


def _summed(monomial: Monomial, index: str, upper: _Ratio) -> _Ratio:
    power, logs = next(((power, logs) for name, power, logs in monomial.factors if name == index), (Fraction(0),) * 2)
    if power < 0 or logs:
        raise NotAGrowth("The growth of this sum cannot be decided here.")
    return _multiply(_Ratio({monomial / variable(index) ** power: _Sign.POSITIVE}), _power(upper, power + 1))


def _read_name(name: str, variables: frozenset[str] | None) -> _Ratio:
    if variables is not None and name in variables:
        return _Ratio({variable(name): Fraction(1)})
    if name in _CONSTANTS or (variables is None and name in _SAID_CONSTANT):
        return _constant(_Sign.POSITIVE)
    if variables is None:
        return _Ratio({variable(name): Fraction(1)})
    raise NotAGrowth(f"{name} is not one of the variables that grow: {', '.join(sorted(variables))}.")


def _exact(value: _Ratio) -> Fraction:
    exact = value.above.get(ONE, Fraction(0))
    if value.above.keys() <= {ONE} and value.below == {ONE: 1} and isinstance(exact, Fraction):
        return exact
    raise NotAGrowth("An exponent is not a rational number.")


def _read_call(call: Call, variables: frozenset[str] | None) -> _Ratio:
    if call.function in _LOGARITHMS:
        return _read_log(call, variables)
    read = _FUNCTIONS.get(call.function)
    if read is None:
        raise NotAGrowth(f"The growth of {call.function} cannot be decided here.")
    many = call.function in {"max", "min"}
    if not call.arguments or (len(call.arguments) > 1 and not many):
        raise NotAGrowth(f"{call.function} has {len(call.arguments)} arguments.")
    return read([_read(argument, variables) for argument in call.arguments])


_FUNCTIONS: Mapping[str, Callable[[Sequence[_Ratio]], _Ratio]] = {
    "max": _largest,
    "min": _smallest,
    "sqrt": lambda values: _power(values[0], Fraction(1, 2)),
    # Rounding adds something between -1 and 1.
    "floor": lambda values: _add(values[0], _constant(_Sign.UNKNOWN)),
    "ceil": lambda values: _add(values[0], _constant(_Sign.UNKNOWN)),
    **dict.fromkeys(_BOUNDS, lambda values: _soft(values[0])),
}


def _read_log(call: Call, variables: frozenset[str] | None) -> _Ratio:
    if len(call.arguments) != 1:
        raise NotAGrowth(f"{call.function} has {len(call.arguments)} arguments.")
    (argument,) = call.arguments
    if isinstance(argument, Call) and argument.function in {"max", "min"}:  # log min(a, b) = min(log a, log b)
        inner = tuple(Call(call.function, (one,), call.base) for one in argument.arguments)
        return _read_call(Call(argument.function, inner), variables)
    value = _log(_read(argument, variables))
    if call.base is not None:
        return _multiply(value, _inverse(_log(_read(call.base, variables))))
    return value if call.function in {"log", "ln"} else _multiply(value, _constant(_Sign.POSITIVE))


def _tree(expression: sp.Basic) -> Node:
    """Return the formula a SymPy expression stands for, so that there is one reader."""
    if isinstance(expression, sp.Symbol):
        return Name(expression.name)
    if isinstance(expression, sp.Rational):
        return Number(Fraction(int(expression.p), int(expression.q)))
    if isinstance(expression, sp.Float):
        return Number(Fraction(str(expression)))  # 1.01 is meant, not the nearest binary fraction
    if isinstance(expression, sp.NumberSymbol):
        return Call("Theta", (Number(Fraction(1)),))  # not by its name, which may also be a variable's
    arguments = tuple(map(_tree, expression.args))
    if isinstance(expression, sp.Add):
        return Addition(arguments)
    if isinstance(expression, sp.Mul):
        return reduce(lambda left, right: Product(left, right, Times.STAR), arguments)
    if isinstance(expression, sp.Pow):
        return Power(*arguments)
    function = _SYMPY_FUNCTIONS.get(expression.func)
    if function is None:
        raise NotAGrowth(f"The growth of {expression} cannot be decided here.")
    return Call(function, arguments)


_SYMPY_FUNCTIONS: Mapping[type[sp.Basic], str] = {
    sp.Max: "max",
    sp.Min: "min",
    sp.log: "log",
    sp.floor: "floor",
    sp.ceiling: "ceil",
}


# ---------------------------------------------------------------------------------------------------------------------
# Assumptions
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What is given about the variables: each of these monomials stays above some positive number.

    For k <= M that is M/k. Its logarithm is linear in those of the variables: a half-space of directions.
    """

    above_zero: tuple[Monomial, ...] = ()


NONE = Assumptions()


def assumptions_of(comparisons: Iterable[Node | sp.Basic], constants: Iterable[str] = ()) -> Assumptions:
    """Read assumptions: comparisons of formulas or of SymPy, and the names of variables that are constant.

    >>> k, M, N = sp.symbols("k M N")
    >>> print(*assumptions_of([k <= sp.Min(M, N)], constants=["d"]).above_zero)
    M k^(-1) N k^(-1) d^(-1)
    """
    found = [row for comparison in comparisons for row in _assumed(comparison)]
    found += [variable(name) ** -1 for name in constants]
    return Assumptions(tuple(dict.fromkeys(found)))


def _assumed(comparison: Node | sp.Basic) -> Iterator[Monomial]:
    for left, relation, right in _relations(comparison):
        if relation in {"<=", "<", "="}:
            yield from _at_most(left, right)
        if relation in {">=", ">"} or (relation == "=" and not _is_big_o(right)):  # k = O(M) is k <= M
            yield from _at_most(right, left)


def _relations(comparison: Node | sp.Basic) -> Iterator[tuple[Node, str, Node]]:
    if isinstance(comparison, Chain):
        yield from ((left, "=", right) for left, right in pairwise(comparison.parts))
    elif isinstance(comparison, Comparison):
        yield comparison.left, comparison.relation, comparison.right
    elif isinstance(comparison, sp.core.relational.Relational):
        yield _tree(comparison.lhs), "=" if comparison.rel_op == "==" else comparison.rel_op, _tree(comparison.rhs)
    elif comparison != sp.true:
        raise NotAGrowth(f"{comparison} is not a comparison.")


def _is_big_o(node: Node) -> bool:
    return isinstance(node, Call) and node.function == "O"


def _at_most(small: Node, large: Node) -> Iterator[Monomial]:
    """Yield what must stay above zero for small <= large; a lower bound that is a number says nothing."""
    left = _read(small, None)
    if left.above.keys() <= {ONE} and left.below.keys() == {ONE}:
        return
    lesser, greater = _growth(left), _growth(_read(large, None))
    above = _times(greater.above, lesser.below)
    if len(above) > 1:  # k <= M + N leaves a union of two cones
        raise NotAGrowth(f"{lesser} <= {greater} is not one bound on products of powers.")
    (bound,) = above
    rows = [bound / one for one in _times(lesser.above, greater.below) if not (one / bound).is_bounded()]
    yield from sorted(rows, key=str)


# ---------------------------------------------------------------------------------------------------------------------
# Rays
# ---------------------------------------------------------------------------------------------------------------------

_Order = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Ray:
    """A curve along which two functions differ: every variable as a function of t, which tends to infinity.

    Nearly always each variable is t**power, 0 meaning that it stays fixed. `finer` has further factors where they
    are needed: with one scale, powers of log t. With s_0 > s_1 > … scales, a variable is exp(power s_0 + finer_0 s_1
    + …), the last scale being log t, and `scales` gives the logarithm of each s_i in terms of s_0, s_1, ….

    >>> print(Ray({"M": Fraction(1), "k": Fraction(2), "N": Fraction(0)}))
    k = t^2, M = t (N fixed)
    """

    powers: Mapping[str, Fraction]
    finer: Mapping[str, tuple[Fraction, ...]] = field(default_factory=dict)
    scales: tuple[_Order, ...] = ((Fraction(0), Fraction(1)),)

    def __str__(self) -> str:
        orders = {name: self.of(name) for name in self.powers}
        names = sorted(orders, key=lambda name: ([-entry for entry in orders[name]], name))
        growing = ", ".join(f"{name} = {self.text(orders[name])}" for name in names if any(orders[name]))
        fixed = ", ".join(name for name in names if not any(orders[name]))
        return f"{growing} ({fixed} fixed)" if fixed else growing

    def with_all(self, names: Iterable[str]) -> Ray:
        """Return the ray with these variables fixed where it says nothing about them."""
        return Ray({**dict.fromkeys(names, Fraction(0)), **self.powers}, self.finer, self.scales)

    def of(self, name: str) -> _Order:
        """Return the growth of a variable: its coefficient on each scale, largest first."""
        rest = self.finer.get(name, (Fraction(0),) * len(self.scales))
        return (self.powers.get(name, Fraction(0)), *rest)

    def order(self, growth: Growth) -> _Order:
        """Return how a function grows along the ray: such orders compare as tuples do."""
        above, below = (max(map(self.order_of_monomial, part)) for part in (growth.above, growth.below))
        return tuple(one - other for one, other in zip(above, below, strict=True))

    def order_of_monomial(self, monomial: Monomial) -> _Order:
        """Return how a monomial grows along the ray."""
        total = (Fraction(0),) * (len(self.scales) + 1)
        for name, power, log_power in monomial.factors:
            parts = zip(total, self.of(name), self._log(name), strict=True)
            total = tuple(entry + power * own + log_power * log for entry, own, log in parts)
        return total

    def _log(self, name: str) -> _Order:
        """Return the growth of a variable's logarithm, that of its largest scale: log(t^2 log t) ~ log t."""
        for own, scale in zip(self.of(name), self.scales, strict=False):
            if own:
                return scale
        return (Fraction(0),) * (len(self.scales) + 1)

    def text(self, order: _Order) -> str:
        """Write an order as a function of t."""
        if len(self.scales) == 1:
            factors = [_power_text("t", order[0]), _power_text("log t", order[1])]
        else:
            factors = [self._exponential(*both) for both in zip(order, self.scales, strict=False) if both[0]]
            factors.append(_power_text("t", order[-1]))
        return " ".join(filter(None, factors)) or "1"

    def _exponential(self, coefficient: Fraction, scale: _Order) -> str:
        return f"exp({self.text(scale)})" if coefficient == 1 else f"exp({coefficient} {self.text(scale)})"


# ---------------------------------------------------------------------------------------------------------------------
# Deciding
# ---------------------------------------------------------------------------------------------------------------------

_Vector = tuple[int, ...]
_Coordinate = str | int  # a variable, or the number of a scale for its logarithm
_Direction = Mapping[_Coordinate, int]


@dataclass(frozen=True, slots=True)
class _Form:
    """The logarithm of a monomial, which must not tend to -infinity; one that `must` has to tend to +infinity."""

    monomial: Monomial
    must: bool


@dataclass(frozen=True, slots=True)
class _Curve:
    """What `_Search` finds: the variables that start at each scale, and the direction taken at each."""

    groups: tuple[tuple[str, ...], ...] = ()
    directions: tuple[_Direction, ...] = ()


@dataclass(frozen=True, slots=True)
class _Search:
    """Look for a curve along which forms d·u + e·log u (u: logarithms of variables) tend to infinity, or do not fall.

    Any sequence of points has a part of the form u = s_1 x_1 + s_2 x_2 + … + O(1) with s_1 >> s_2 >> … tending to
    infinity, and then log u_v = log s_i + O(1) for the first i where x_i has an entry at v: v *starts* at s_i. So a
    form's growth is that of its first non-zero coefficient over the scales s_i and log s_i, and a curve is found scale
    by scale, largest first, as a direction in a cone: forms of which the sign is already decided no longer restrict it.

    Only the order in which variables with logarithms start has to be tried out (`logged`; at most a few). Given that,
    - scales that start none can be added, times a small number, to the one before, unless log s_i of a new scale is
      to be used: what remains is one scale per group, at which logarithms of earlier scales may take part, and a last;
    - a direction inside the cone decides all forms that any direction in it decides, so none other need be tried;
    - scales exist for any coefficients with log s_1 > log s_2 > … > 0: choose them from the smallest up.
    """

    names: tuple[str, ...]
    logged: tuple[str, ...]
    forms: tuple[_Form, ...]
    all_grow: bool

    @classmethod
    def of(
        cls,
        wanted: Iterable[Monomial],
        assumed: Iterable[Monomial] = (),
        *,
        logged: frozenset[str],
        all_grow: bool = False,
    ) -> _Search:
        """Search for a curve along which all wanted tend to infinity; or, if all variables are to grow, none to 0."""
        wanted, assumed = tuple(wanted), tuple(assumed)
        names = tuple(_names([*wanted, *assumed]))
        forms = [_Form(one, must=not all_grow) for one in wanted]
        forms += [_Form(one, must=False) for one in assumed]
        forms += [_Form(variable(name), must=all_grow) for name in names if name not in logged]
        used = tuple(name for name in names if name in logged)
        if len(used) > _MOST_LOGGED:
            raise NotAGrowth(f"More than {_MOST_LOGGED} variables have logarithms.")
        return cls(names, used, tuple(forms), all_grow)

    def found(self) -> _Curve | None:
        """Return a curve, if there is one."""
        return self._extended(_Curve(), self.forms)

    def _extended(self, curve: _Curve, forms: tuple[_Form, ...]) -> _Curve | None:
        """Continue a curve of which these forms are not yet decided."""
        started = {name for group in curve.groups for name in group}
        waiting = [name for name in self.logged if name not in started]
        if not (waiting and self.all_grow):
            last = self._step(curve.groups, (*forms, *_order(curve.groups, ())), starting=())
            if last is not None and not any(form.must for form in last[1]):
                return _Curve(curve.groups, (*curve.directions, last[0]))
        for group in _subsets(waiting):
            groups = (*curve.groups, group)
            step = self._step(groups, (*forms, *_order(curve.groups, group)), starting=group)
            if step is not None:
                found = self._extended(_Curve(groups, (*curve.directions, step[0])), step[1])
                if found is not None:
                    return found
        return None

    def _step(
        self, groups: tuple[tuple[str, ...], ...], forms: tuple[_Form, ...], starting: tuple[str, ...]
    ) -> tuple[_Direction, tuple[_Form, ...]] | None:
        """Take one scale: return its direction and the forms still undecided, or None if `starting` cannot start."""
        started = {name for group in groups for name in group}
        earlier = groups[: len(groups) - bool(starting)]
        coordinates = [name for name in self.names if name in started or name not in self.logged]
        rows = [_row(form.monomial, coordinates, earlier) for form in forms]
        starts = [_row(variable(name), coordinates, earlier) for name in starting]
        inside = _inside([*starts, *rows], len(coordinates) + len(earlier))
        if not all(_dot(row, inside) for row in starts):
            return None
        undecided = tuple(form for form, row in zip(forms, rows, strict=True) if not _dot(row, inside))
        return dict(zip([*coordinates, *range(len(earlier))], inside, strict=True)), undecided


def _order(groups: tuple[tuple[str, ...], ...], following: tuple[str, ...]) -> list[_Form]:
    """Return what makes the last scale greater than that of the following group, or unbounded if none follows."""
    if not groups:
        return []
    last = _log_of(groups[-1][0])
    return [_Form(last / _log_of(following[0]) if following else last, must=True)]


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(len(names), 0, -1):
        yield from combinations(names, size)


def _row(monomial: Monomial, coordinates: Sequence[str], groups: Sequence[Sequence[str]]) -> _Vector:
    """Return the coefficients of a form on variables and on logarithms of scales, as whole numbers."""
    powers = {name: power for name, power, _ in monomial.factors}
    logs = {name: log_power for name, _, log_power in monomial.factors}
    row = [powers.get(name, Fraction(0)) for name in coordinates]
    row += [sum((logs.get(name, Fraction(0)) for name in group), Fraction(0)) for group in groups]
    scale = lcm(*(entry.denominator for entry in row))
    return _primitive([int(entry * scale) for entry in row])


def _primitive(vector: Sequence[int]) -> _Vector:
    divisor = gcd(*vector) or 1
    return tuple(entry // divisor for entry in vector)


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(one * other for one, other in zip(left, right, strict=True))


def _inside(rows: Sequence[_Vector], size: int) -> _Vector:
    """Return a point of the cone {x: row·x >= 0} where as many rows as possible are positive: the sum of its edges.

    >>> _inside([(1, -1), (0, 1), (-1, 1)], 2)
    (1, 1)
    """
    edges = _edges(list(dict.fromkeys(row for row in rows if any(row))), size)
    return _primitive([sum(entries) for entries in zip(*edges, strict=True)]) if edges else (0,) * size


def _edges(rows: Sequence[_Vector], size: int) -> list[_Vector]:
    """Return the edges of the cone {x: row·x >= 0}, up to its lines, by Motzkin's double description.

    Rows are added one at a time. With each edge goes the set, as bits, of rows that are 0 on it: two edges span a
    face if no third lies on all the rows that both lie on.
    """
    lines = [tuple(int(row == column) for column in range(size)) for row in range(size)]
    edges: list[tuple[_Vector, int]] = []
    for number, row in enumerate(rows):
        bit = 1 << number
        crossing = next((line for line in lines if _dot(row, line)), None)
        if crossing is None:
            edges = _cut(edges, row, bit)
            continue
        up = crossing if _dot(row, crossing) > 0 else tuple(-entry for entry in crossing)
        lines = [_levelled(line, up, row) for line in lines if line is not crossing]
        edges = [(_levelled(edge, up, row), zeros | bit) for edge, zeros in edges]
        edges.append((up, bit - 1))
    return [edge for edge, _ in edges]


def _levelled(vector: _Vector, up: _Vector, row: _Vector) -> _Vector:
    """Move a vector along `up`, where the row is positive, to where the row is 0."""
    rise, height = _dot(row, up), _dot(row, vector)
    return _primitive([rise * entry - height * step for entry, step in zip(vector, up, strict=True)])


def _cut(edges: list[tuple[_Vector, int]], row: _Vector, bit: int) -> list[tuple[_Vector, int]]:
    """Return the edges of the part of a cone where row·x >= 0."""
    heights = [_dot(row, edge) for edge, _ in edges]
    kept = [
        (edge, zeros | (0 if height else bit))
        for (edge, zeros), height in zip(edges, heights, strict=True)
        if height >= 0
    ]
    above = [both for both, height in zip(edges, heights, strict=True) if height > 0]
    under = [both for both, height in zip(edges, heights, strict=True) if height < 0]
    for (high, zeros), (low, others) in product(above, under):
        common = zeros & others
        if sum(common & third == common for _, third in edges) == 2:
            kept.append((_levelled(low, high, row), common | bit))
    if len(kept) > _MOST_EDGES:
        raise NotAGrowth("The comparison has too many cases.")
    return kept


# ---------------------------------------------------------------------------------------------------------------------
# Comparing
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compared:
    """How the first function compares with the second.

    The first outgrows the second along `above`, the second the first along `below`; None if there is no such ray.
    """

    first: Growth
    second: Growth
    above: Ray | None
    below: Ray | None

    @property
    def upper(self) -> bool:
        """Say whether first = O(second)."""
        return self.above is None

    @property
    def lower(self) -> bool:
        """Say whether first = Omega(second)."""
        return self.below is None

    @property
    def tight(self) -> bool:
        """Say whether first = Theta(second)."""
        return self.upper and self.lower


def compare(f: Growth, g: Growth, assuming: Assumptions = NONE) -> Compared:
    """Compare two functions as the variables grow, independently but for the assumptions.

    >>> M, N = sp.symbols("M N")
    >>> compared = compare(growth_of(M**2 * N**2, [M, N]), growth_of(M**3 + N**3, [M, N]))
    >>> compared.upper, compared.lower, str(compared.above), str(compared.below)
    (False, False, 'M = t, N = t', 'M = t (N fixed)')
    """
    first, second = _times(f.above, g.below), _times(g.above, f.below)
    names = _names(f.above | f.below | g.above | g.below)
    above, below = _outgrowing(first, second, assuming), _outgrowing(second, first, assuming)
    return Compared(f, g, above and above.with_all(names), below and below.with_all(names))


def dominating(f: Growth, assuming: Assumptions = NONE) -> Growth:
    """Drop the terms that are O(the others).

    >>> k, M = sp.symbols("k M")
    >>> print(dominating(growth_of(3 * M * k**2 + 2 * M**2 * k, [k, M]), assumptions_of([k <= M])))
    M^2 k
    """
    return _reduced(_leading(f.above, assuming), _leading(f.below, assuming))


def explain(compared: Compared, f_text: str, g_text: str) -> str:
    """Say in a sentence or two how two functions compare.

    >>> k, M = sp.symbols("k M")
    >>> compared = compare(growth_of(M**2 * k, [k, M]), growth_of(M**2, [k, M]))
    >>> explain(compared, "the first", "the second")
    'Along k = t (M fixed) the first grows as t, the second stays bounded.'
    """
    sentences = []
    if compared.above is not None:
        sentences.append(_along(compared.above, (f_text, compared.first), (g_text, compared.second)))
    if compared.below is not None:
        sentences.append(_along(compared.below, (g_text, compared.second), (f_text, compared.first)))
    return " ".join(sentences) or f"Up to a constant factor, {f_text} and {g_text} grow alike."


def _along(ray: Ray, faster: tuple[str, Growth], slower: tuple[str, Growth]) -> str:
    high, low = ray.order(faster[1]), ray.order(slower[1])
    behind = f"only as {ray.text(low)}" if low > _still(low) else _moves(ray, low)
    return f"Along {ray} {faster[0]} {_moves(ray, high)}, {slower[0]} {behind}."


def _moves(ray: Ray, order: _Order) -> str:
    if order == _still(order):
        return "stays bounded"
    return f"{'grows' if order > _still(order) else 'shrinks'} as {ray.text(order)}"


def _still(order: _Order) -> _Order:
    return (Fraction(0),) * len(order)


def _leading(monomials: _Sum, assuming: Assumptions) -> _Sum:
    left = monomials
    for one in sorted(monomials, key=str, reverse=True):  # of terms that grow alike the first by name stays
        rest = left - {one}
        if rest and _escape(one, rest, assuming) is None:
            left = rest
    return left


def _outgrowing(faster: _Sum, slower: _Sum, assuming: Assumptions) -> Ray | None:
    """Return a ray along which one sum outgrows another, as simple as possible."""
    for one in sorted(faster, key=str):
        curve = _escape(one, slower, assuming)
        if curve is not None:
            return _simple_ray(faster, slower, assuming) or _ray_of(curve)
    return None


def _escape(one: Monomial, others: _Sum, assuming: Assumptions) -> _Curve | None:
    """Return a curve along which a monomial outgrows a sum, if it is not O(the sum)."""
    quotients = [one / other for other in sorted(others, key=str)]
    if any(quotient.is_bounded() for quotient in quotients):
        return None
    logged = _logged([one, *others, *assuming.above_zero])
    return _Search.of(quotients, assuming.above_zero, logged=logged).found()


def _logged(monomials: Iterable[Monomial]) -> frozenset[str]:
    return frozenset(name for one in monomials for name, _, log_power in one.factors if log_power)


def _simple_ray(faster: _Sum, slower: _Sum, assuming: Assumptions) -> Ray | None:
    """Return the ray of small whole powers with the fewest variables growing, if one will do."""
    names = _names([*faster, *slower, *assuming.above_zero])
    steepest = _STEEPEST if (_STEEPEST + 1) ** len(names) <= _MOST_TRIED else 1
    if (steepest + 1) ** len(names) > _MOST_TRIED:
        return None
    tried = product(range(steepest + 1), repeat=len(names))
    for powers in sorted(tried, key=_simplicity):
        ray = Ray({name: Fraction(power) for name, power in zip(names, powers, strict=True)})
        if _shows(ray, faster, slower, assuming):
            return ray
    return None


def _simplicity(powers: tuple[int, ...]) -> tuple[int, int, int, list[int]]:
    """Return a sorting key: few variables growing, small powers, early names growing."""
    growing = len(powers) - powers.count(0)
    return growing, max(powers, default=0), sum(powers), [-power for power in powers]


def _shows(ray: Ray, faster: _Sum, slower: _Sum, assuming: Assumptions) -> bool:
    high, low = (max(map(ray.order_of_monomial, part)) for part in (faster, slower))
    return high > low and all(ray.order_of_monomial(row) >= _still(low) for row in assuming.above_zero)


def _ray_of(curve: _Curve) -> Ray:
    """Write a curve with smallest whole powers, and in terms of t, the exponential of its last scale."""
    *larger, last = curve.directions
    names = [name for name in last if isinstance(name, str)]
    if not larger:
        unit = gcd(*last.values())
        return Ray({name: Fraction(last[name], unit) for name in names})
    units = [gcd(*direction.values()) for direction in larger] + [last[len(larger) - 1]]
    steps = list(zip(curve.directions, units, strict=True))

    def order(coordinate: _Coordinate) -> _Order:
        return tuple(Fraction(direction.get(coordinate, 0), unit) for direction, unit in steps)

    orders = {name: order(name) for name in names}
    return Ray(
        {name: own[0] for name, own in orders.items()},
        {name: own[1:] for name, own in orders.items()},
        tuple(map(order, range(len(larger)))),
    )
