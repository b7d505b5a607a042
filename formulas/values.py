"""What a formula is worth at concrete sizes and values: an exact rational where possible, else a certified ball.

An interpreter of the tree. It shares no algebra with the prover: it knows what `exp` of 1/2 is, not that exp(a + b)
is exp(a) exp(b). Numbers are flint's: `fmpq` (exact) or `arb` (a ball that surely holds the true number). Inside
E[…] and Var(…) they may be polynomials in the entries of normal vectors, whose moments are exact.

A matrix carries its symbolic dimensions beside its entries, and every question of shape (does this product fit, is it
a number) is decided on those. Two dimensions that happen to have the same size here are still different, and a
vector of a dimension that happens to be 1 is still a vector.

Four things can go wrong, and they are different news to who asks:

    Fault
    ├── ShapeError    the formula does not fit together, whatever the values
    └── NoValue       it has no value here: a division by zero, the log of a negative number
        └── Undecided we cannot tell: too large, or a ball that may or may not hold zero
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod
from typing import Any, ClassVar, Final, TypeAlias

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz

from formulas.symbols import Symbol, Symbols
from formulas.tree import (
    Addition,
    Big,
    Block,
    Call,
    Cases,
    Chain,
    Comparison,
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
)

MOST_STEPS: Final = 200_000  # scalar operations in one evaluation
MOST_BITS: Final = 10_000  # of a rational's numerator or denominator
MOST_SIZE: Final = 64  # rows or columns of a matrix
MOST_DEGREE: Final = 16  # of a polynomial in random entries
DEEPEST: Final = 150  # levels of a tree
TOO_LARGE: Final = "too large"  # why an evaluation that takes more than all these was given up
PRECISION: Final = 128  # bits of a ball

Read: TypeAlias = Callable[[str, Symbols], Node]
# fmpq, arb or Polynomial. They mix in arithmetic, which flint's stubs do not say.
Scalar: TypeAlias = Any


class Fault(Exception):
    """A formula without a value; the message says why, in words a student can read."""


class ShapeError(Fault):
    """Parts do not fit together, whatever their values."""


class NoValue(Fault):
    """There is no value at this assignment, for certain."""


class Undecided(NoValue):
    """Whether there is a value, or which, was not found out within precision and budget."""


# --- Dimensions ------------------------------------------------------------------------------------------------------

# A polynomial in dimension names: ((("d",), 2),) is 2d, (((), 1),) is 1.
Dimension: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]
ONE: Final[Dimension] = (((), 1),)


def constant(size: int) -> Dimension:
    """Return a dimension that is a number."""
    return (((), size),) if size else ()


def named(name: str) -> Dimension:
    """Return a dimension that has a name."""
    return (((name,), 1),)


def _sum_of(*dimensions: Dimension) -> Dimension:
    terms: dict[tuple[str, ...], int] = {}
    for dimension in dimensions:
        for names, count in dimension:
            terms[names] = terms.get(names, 0) + count
    return tuple(sorted((names, count) for names, count in terms.items() if count))


def _product_of(left: Dimension, right: Dimension) -> Dimension:
    return _sum_of(*((((tuple(sorted(a + b))), m * n),) for a, m in left for b, n in right))


def _replaced(dimension: Dimension, known: Mapping[str, Dimension]) -> Dimension:
    if not any(name in known for names, _ in dimension for name in names):
        return dimension
    terms = []
    for names, count in dimension:
        term = constant(count)
        for name in names:
            term = _product_of(term, known.get(name, named(name)))
        terms.append(term)
    return _sum_of(*terms)


def size_of(dimension: Dimension, sizes: Mapping[str, int]) -> int:
    """Return how large a dimension is, given the sizes of its names."""
    return sum(count * prod(sizes[name] for name in names) for names, count in dimension)


def dimension_in_words(dimension: Dimension) -> str:
    """Write a dimension: n, 2d, m+p, 1.

    >>> dimension_in_words(((("d",), 2),))
    '2d'
    """
    text = ""
    for names, count in sorted(dimension, key=lambda term: (-len(term[0]), term[0])):
        factor = "" if abs(count) == 1 and names else str(abs(count))
        sign = "-" if count < 0 else "+" if text else ""
        text += f"{sign}{factor}{' '.join(names)}"
    return text or "0"


def dimension_of(node: Node) -> Dimension | None:
    """Return the polynomial in names that a tree writes out, None if it is none: `2 d`, `m + p`, `n - 1`."""
    match node:
        case Number(value=value) if value.denominator == 1:
            return constant(int(value))
        case Name(name=name):
            return named(name)
        case Negation(value=value):
            inner = dimension_of(value)
            return None if inner is None else _product_of(constant(-1), inner)
        case Addition(terms=terms):
            parts = [dimension_of(term) for term in terms]
            return None if None in parts else _sum_of(*(part for part in parts if part is not None))
        case Product(left=left, right=right):
            factors = dimension_of(left), dimension_of(right)
            return None if factors[0] is None or factors[1] is None else _product_of(factors[0], factors[1])
    return None


# --- Values ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix, a row (1×n) or a vector (n×1), with its symbolic dimensions. What is 1×1 is never a Matrix."""

    rows: Dimension
    columns: Dimension
    entries: tuple[tuple[Scalar, ...], ...]

    def is_vector(self) -> bool:
        """Tell whether this is a vector or a row."""
        return ONE in (self.rows, self.columns)

    def flat(self) -> list[Scalar]:
        """Return all entries, row by row."""
        return [entry for row in self.entries for entry in row]

    def transposed(self) -> Matrix:
        """Return the transposed matrix."""
        return Matrix(self.columns, self.rows, tuple(zip(*self.entries, strict=True)))

    def each(self, function: Callable[[Scalar], Scalar]) -> Matrix:
        """Return the matrix of the function's values at each entry."""
        return Matrix(self.rows, self.columns, tuple(tuple(map(function, row)) for row in self.entries))

    def with_each(self, other: Matrix, function: Callable[[Scalar, Scalar], Scalar]) -> Matrix:
        """Return the matrix of the function's values at each pair of entries."""
        pairs = zip(self.entries, other.entries, strict=True)
        return Matrix(self.rows, self.columns, tuple(tuple(map(function, a, b)) for a, b in pairs))


Value: TypeAlias = "Matrix | Scalar"


def matrix(rows: Dimension, columns: Dimension, entries: Sequence[Sequence[Scalar]]) -> Value:
    """Return the matrix with these entries: a number if it is 1×1."""
    if rows == ONE == columns:
        return entries[0][0]
    if not entries or not entries[0]:
        raise Undecided("there is an empty matrix in it")
    if len(entries) > MOST_SIZE or len(entries[0]) > MOST_SIZE:
        raise _too_large()
    return Matrix(rows, columns, tuple(map(tuple, entries)))


def entries_of(value: Value) -> list[Scalar]:
    """Return all entries of a value, row by row; a number has one."""
    return value.flat() if isinstance(value, Matrix) else [value]


def dimensions_of(value: Value) -> tuple[Dimension, Dimension]:
    """Return the symbolic rows and columns of a value."""
    return (value.rows, value.columns) if isinstance(value, Matrix) else (ONE, ONE)


def transposed(value: Value) -> Value:
    """Return a value transposed."""
    return value.transposed() if isinstance(value, Matrix) else value


def shape_in_words(value: Value) -> str:
    """Say a shape with its symbolic dimensions: `a number`, `n×1`, `Dh×Dy`."""
    if not isinstance(value, Matrix):
        return "a number"
    return f"{_factor(value.rows)}×{_factor(value.columns)}"


def _factor(dimension: Dimension) -> str:
    text = dimension_in_words(dimension)
    return f"({text})" if len(dimension) > 1 else text


def _with_article(value: Value) -> str:
    shape = shape_in_words(value)
    if shape.startswith("a "):
        return shape
    return f"an {shape}" if shape[0] in "aefhilmnorsxAEFHILMNORSX8" else f"a {shape}"


def _too_large() -> Undecided:
    return Undecided(TOO_LARGE)


def exact(value: int | Fraction | fmpq) -> fmpq:
    """Return a rational as flint's.

    >>> exact(Fraction(1, 2))
    1/2
    """
    return fmpq(value.numerator, value.denominator) if isinstance(value, Fraction) else fmpq(value)


ZERO: Final = fmpq(0)
UNIT: Final = fmpq(1)


# --- Assignments -----------------------------------------------------------------------------------------------------

Rows: TypeAlias = tuple[tuple[fmpq, ...], ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A size for each dimension and the entries of each symbol, as rows; a number is one row of one entry."""

    sizes: Mapping[str, int]
    values: Mapping[str, Rows]


def assignment(sizes: Mapping[str, int] | None = None, **values: Any) -> Assignment:
    """Return an assignment of plain numbers, lists (vectors: columns) and lists of lists (matrices).

    >>> assignment({"d": 2}, mu=[0, 1], sigma=Fraction(1, 2)).values["mu"]
    ((0,), (1,))
    """
    return Assignment(dict(sizes or {}), {name: _rows(value) for name, value in values.items()})


def _rows(value: Any) -> Rows:
    if not isinstance(value, list | tuple):
        return ((exact(value),),)
    return tuple(tuple(map(exact, row)) if isinstance(row, list | tuple) else (exact(row),) for row in value)


# --- Polynomials in random entries -----------------------------------------------------------------------------------

Variable: TypeAlias = tuple[str, int, int]  # an entry of a random symbol: name, row, column
Monomial: TypeAlias = tuple[Variable, ...]  # sorted, repeated as often as its power


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A polynomial in random entries; what has no random entry left is a plain number and never a Polynomial."""

    terms: Mapping[Monomial, Scalar]
    count: Callable[[int], None]  # told of every multiplication: there is a budget

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -factor for monomial, factor in self.terms.items()}, self.count)

    def __add__(self, other: Scalar) -> Scalar:
        others = _terms(other)
        self.count(len(self.terms) + len(others))
        terms = dict(self.terms)
        for monomial, factor in others.items():
            terms[monomial] = terms.get(monomial, ZERO) + factor
        return self._made(terms)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return self + (-other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        others = _terms(other)
        self.count(len(self.terms) * len(others))
        terms: dict[Monomial, Scalar] = {}
        for left, a in self.terms.items():
            for right, b in others.items():
                monomial = tuple(sorted(left + right)) if left and right else left or right
                terms[monomial] = terms.get(monomial, ZERO) + a * b
        return self._made(terms)

    __rmul__ = __mul__

    def _made(self, terms: dict[Monomial, Scalar]) -> Scalar:
        terms = {monomial: factor for monomial, factor in terms.items() if not _is_zero(factor)}
        if any(len(monomial) > MOST_DEGREE for monomial in terms):
            raise _too_large()
        return Polynomial(terms, self.count) if any(terms) else terms.get((), ZERO)


def _terms(number: Scalar) -> Mapping[Monomial, Scalar]:
    return number.terms if isinstance(number, Polynomial) else {(): number}


@dataclass(frozen=True, slots=True)
class Law:
    """What a normal symbol is like: the mean of each entry, and the covariance of two of them."""

    mean: Mapping[tuple[int, int], Scalar]
    covariance: Callable[[tuple[int, int], tuple[int, int]], Scalar]


# --- Arithmetic of numbers -------------------------------------------------------------------------------------------


def _ball(number: Scalar, what: str = "a function") -> arb:
    if isinstance(number, arb):
        return number
    if isinstance(number, Polynomial):
        raise Undecided(f"{what} of a random number: we know the moments of polynomials only")
    return arb(number)


def _finite(number: arb) -> arb:
    if not number.is_finite():
        raise _too_large()
    return number


def _is_zero(number: Scalar) -> bool:
    """Tell whether a number is zero for certain."""
    return bool(number == 0) and not isinstance(number, Polynomial)


def _bounded(number: Scalar) -> Scalar:
    if type(number) is fmpq:
        if number.height_bits() > MOST_BITS:
            raise _too_large()
    elif type(number) is arb and not number.is_finite():
        raise _too_large()
    return number


def sign(number: Scalar) -> int:
    """Return 1, 0 or -1; Undecided if a ball holds numbers of different sign."""
    if isinstance(number, Polynomial):
        raise Undecided("whether a random number is positive is not known")
    if number > 0:
        return 1
    if number < 0:
        return -1
    if number == 0:
        return 0
    raise Undecided("a number is too close to zero to tell its sign")


def divide(above: Scalar, below: Scalar) -> Scalar:
    """Return the quotient of two numbers."""
    if isinstance(below, Polynomial):
        raise Undecided("a division by a random number: we know the moments of polynomials only")
    if below == 0:
        raise NoValue("division by zero")
    if isinstance(above, Polynomial):
        return above * divide(UNIT, below)
    if type(below) is arb and below.contains(0):
        raise Undecided("a divisor is too close to zero")
    return _bounded(above / below)


def _whole(number: Scalar) -> int | None:
    if type(number) is fmpq:
        return int(number.p) if number.q == 1 else None
    return None


def _integer(number: Value, what: str) -> int:
    whole = None if isinstance(number, Matrix) else _whole(number)
    if whole is None:
        text = shape_in_words(number) if isinstance(number, Matrix) else number_in_words(number)
        raise NoValue(f"{what} is {text}, not a whole number")
    return whole


def number_in_words(number: Scalar, digits: int = 6, *, decimal: bool = False) -> str:
    """Write a number: exact if it is exact and short, else (or if told) in `digits` significant digits.

    >>> number_in_words(fmpq(1, 2))
    '1/2'
    """
    if isinstance(number, Polynomial):
        return "random"
    if type(number) is fmpq and number.height_bits() <= 40 and not (decimal and number.q != 1):
        return str(number)
    text = arb(number).str(digits, radius=False)
    if "e" not in text and "." in text:
        text = text.rstrip("0").rstrip(".")
    return str(text)


def power(base: Scalar, exponent: Scalar) -> Scalar:
    """Return a number to the power of a number; 0^0 is 1, as in polynomials."""
    if isinstance(exponent, Polynomial):
        raise Undecided("a power with a random exponent: we know the moments of polynomials only")
    whole = _whole(exponent)
    if whole is not None:
        return _whole_power(base, whole)
    if isinstance(base, Polynomial):
        raise Undecided("a fractional power of a random number: we know the moments of polynomials only")
    if base == 0:
        if sign(exponent) < 0:
            raise NoValue("division by zero")
        return ZERO
    if base < 0:
        raise NoValue("a fractional power of a negative number")
    if type(base) is fmpq and type(exponent) is fmpq:
        root = _exact_root(base, int(exponent.q)) if exponent.q <= 64 else None
        if root is not None:
            return _whole_power(root, int(exponent.p))
    if not base > 0:
        raise Undecided("a fractional power of a number too close to zero")
    return _finite(_ball(base) ** _ball(exponent))


def _whole_power(base: Scalar, exponent: int) -> Scalar:
    if isinstance(base, Polynomial):
        if exponent < 0:
            raise Undecided("a division by a random number: we know the moments of polynomials only")
        if exponent > MOST_DEGREE:
            raise _too_large()
        return prod([base] * exponent, start=UNIT)
    if exponent == 0:
        return UNIT
    if exponent < 0:
        return divide(UNIT, _whole_power(base, -exponent))
    if type(base) is fmpq:
        if abs(base) != 1 and base != 0 and base.height_bits() * exponent > MOST_BITS:
            raise _too_large()
        return base ** (exponent if abs(base) != 1 else exponent % 2 or 2)
    return _finite(base**exponent)


def _exact_root(number: fmpq, degree: int) -> fmpq | None:
    parts = []
    for part in (number.p, number.q):
        root = fmpz(part).root(degree)
        if root**degree != part:
            return None
        parts.append(root)
    return fmpq(parts[0], parts[1])


def square_root(number: Scalar) -> Scalar:
    """Return the square root, exact where it is rational."""
    if isinstance(number, Polynomial):
        raise Undecided("the root of a random number: we know the moments of polynomials only")
    if number < 0:
        raise NoValue("the square root of a negative number")
    if type(number) is fmpq:
        root = _exact_root(number, 2)
        return _ball(number).sqrt() if root is None else root
    if number == 0:
        return ZERO
    if not number > 0:
        raise Undecided("a square root of a number too close to zero")
    return number.sqrt()


def _exp(number: Scalar) -> Scalar:
    if type(number) is fmpq and number == 0:
        return UNIT
    return _finite(_ball(number, "exp").exp())


def logarithm(number: Scalar, base: Scalar | None = None) -> Scalar:
    """Return the logarithm, natural unless a base is given; exact where that is plain: log2(8) is 3."""
    if base is not None and sign(base) <= 0:
        raise NoValue(f"a logarithm to the base {number_in_words(base)}")
    if isinstance(number, Polynomial):
        raise Undecided("the log of a random number: we know the moments of polynomials only")
    if number == 0:
        raise NoValue("the log of zero")
    if number < 0:
        raise NoValue("the log of a negative number")
    if not number > 0:
        raise Undecided("the log of a number too close to zero")
    if type(number) is fmpq and number == 1 and (base is None or base != 1):
        return ZERO
    if base is None:
        return _ball(number).log()
    if type(number) is fmpq and type(base) is fmpq and base != 1:
        guess = round(float(arb(number).log() / arb(base).log()))
        if 0 < abs(guess) * base.height_bits() <= 200 and base**guess == number:
            return fmpq(guess)
    return divide(_ball(number).log(), logarithm(base))


def _odd(method: Callable[[arb], arb], name: str) -> Callable[[Scalar], Scalar]:
    """Return a function that is 0 at 0, exactly."""

    def function(number: Scalar) -> Scalar:
        return ZERO if _is_zero(number) else _finite(method(_ball(number, name)))

    return function


def _even(method: Callable[[arb], arb], name: str) -> Callable[[Scalar], Scalar]:
    """Return a function that is 1 at 0, exactly."""

    def function(number: Scalar) -> Scalar:
        return UNIT if _is_zero(number) else _finite(method(_ball(number, name)))

    return function


def _tangent(number: Scalar) -> Scalar:
    return ZERO if _is_zero(number) else divide(_ball(number, "tan").sin(), _ball(number).cos())


def sigmoid(number: Scalar) -> Scalar:
    """Return 1 / (1 + exp(-x))."""
    return divide(UNIT, UNIT + _exp(-number))


def _absolute(number: Scalar) -> Scalar:
    if isinstance(number, Polynomial):
        raise Undecided("the absolute value of a random number: we know the moments of polynomials only")
    return abs(number)


def _larger(left: Scalar, right: Scalar) -> Scalar:
    if type(left) is fmpq and type(right) is fmpq:
        return max(left, right)
    return _ball(left, "max").max(_ball(right, "max"))


def _smaller(left: Scalar, right: Scalar) -> Scalar:
    return -_larger(-left, -right)


def _floor(number: Scalar) -> Scalar:
    if type(number) is fmpq:
        return fmpq(number.floor())
    whole = _ball(number, "floor").floor().unique_fmpz()
    if whole is None:
        raise Undecided("a number is too close to a whole one to round it")
    return fmpq(whole)


def _factorial(number: Scalar) -> Scalar:
    whole = _integer(number, "what a factorial is taken of")
    if whole < 0:
        raise NoValue("the factorial of a negative number")
    if whole > 500:
        raise _too_large()
    return fmpq(factorial(whole))


def binomial(above: Scalar, below: Scalar) -> Scalar:
    """Return the binomial coefficient of two whole numbers; 0 outside Pascal's triangle."""
    n, k = _integer(above, "the upper number of a binomial"), _integer(below, "the lower number of a binomial")
    if n < 0:
        raise NoValue("a binomial of a negative number")
    if n > 2_000:
        raise _too_large()
    return fmpq(comb(n, k)) if k >= 0 else ZERO


def compare(left: Scalar, relation: str, right: Scalar) -> bool:
    """Tell whether two numbers are so related, for certain; Undecided when balls overlap."""
    difference = sign(left - right)
    return {
        "=": difference == 0,
        "!=": difference != 0,
        "<": difference < 0,
        "<=": difference <= 0,
        ">": difference > 0,
        ">=": difference >= 0,
    }[relation]


SINGLE: Final[Mapping[str, Callable[[Scalar], Scalar]]] = {  # functions of one number, taken entry by entry
    "exp": _exp,
    "sqrt": square_root,
    "sin": _odd(arb.sin, "sin"),
    "cos": _even(arb.cos, "cos"),
    "tan": _tangent,
    "sinh": _odd(arb.sinh, "sinh"),
    "cosh": _even(arb.cosh, "cosh"),
    "tanh": _odd(arb.tanh, "tanh"),
    "sech": _even(arb.sech, "sech"),
    "sigmoid": sigmoid,
    "relu": lambda number: _larger(number, ZERO),
    "abs": _absolute,
    "sign": lambda number: fmpq(sign(number)),
    "floor": _floor,
    "ceil": lambda number: -_floor(-number),
    "factorial": _factorial,
}


# --- Arithmetic of matrices ------------------------------------------------------------------------------------------


def _plus(left: Scalar, right: Scalar) -> Scalar:
    return left + right


def _inner(left: Sequence[Scalar], right: Sequence[Scalar]) -> Scalar:
    total = left[0] * right[0]
    for a, b in zip(left[1:], right[1:], strict=True):
        total += a * b
    return total


def _matrix_product(left: Matrix, right: Matrix) -> Value:
    columns = list(zip(*right.entries, strict=True))
    return matrix(
        left.rows, right.columns, [[_bounded(_inner(row, column)) for column in columns] for row in left.entries]
    )


def _flint_matrix(value: Matrix) -> Any:
    entries = value.flat()
    height, width = len(value.entries), len(value.entries[0])
    if all(type(entry) is fmpq for entry in entries):
        return fmpq_mat(height, width, entries)
    return arb_mat(height, width, [_ball(entry) for entry in entries])


def _square(value: Value, what: str) -> Matrix:
    if isinstance(value, Matrix) and value.rows == value.columns:
        return value
    raise ShapeError(f"{what} needs a square matrix, this is {shape_in_words(value)}")


def inverse(value: Value) -> Value:
    """Return the inverse of a square matrix or of a number."""
    if not isinstance(value, Matrix):
        return divide(UNIT, value)
    inner = _flint_matrix(_square(value, "an inverse"))
    try:
        found = inner.inv()
    except ZeroDivisionError:
        if isinstance(inner, fmpq_mat):
            raise NoValue("a matrix has no inverse") from None
        raise Undecided("a matrix is too close to having no inverse") from None
    return Matrix(value.rows, value.columns, tuple(tuple(map(_bounded, row)) for row in found.tolist()))


def determinant(value: Value) -> Scalar:
    """Return the determinant of a square matrix; of a number, the number."""
    return _flint_matrix(_square(value, "a determinant")).det() if isinstance(value, Matrix) else value


def identity(rows: Dimension, size: int) -> Value:
    """Return the identity matrix of a dimension with this size."""
    return matrix(rows, rows, [[UNIT if i == j else ZERO for j in range(size)] for i in range(size)])


def _softmax(entries: Sequence[Scalar]) -> list[Scalar]:
    weights = [_exp(entry - entries[0]) for entry in entries]
    total = sum(weights[1:], start=weights[0])
    return [divide(weight, total) for weight in weights]


def _shaped_like(value: Matrix, entries: Sequence[Scalar]) -> Matrix:
    width = len(value.entries[0])
    rows = [tuple(entries[start : start + width]) for start in range(0, len(entries), width)]
    return Matrix(value.rows, value.columns, tuple(rows))


def softmax(value: Value) -> Value:
    """Return the softmax of a vector or row over all its entries, of a matrix row by row."""
    if not isinstance(value, Matrix):
        return UNIT
    if value.is_vector():
        return _shaped_like(value, _softmax(value.flat()))
    return Matrix(value.rows, value.columns, tuple(tuple(_softmax(row)) for row in value.entries))


def _log_softmax(value: Value) -> Value:
    found = softmax(value)
    return found.each(logarithm) if isinstance(found, Matrix) else ZERO


# --- Trees -----------------------------------------------------------------------------------------------------------


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below a node."""
    match node:
        case Negation(value=value) | Transposed(value=value):
            return (value,)
        case Addition(terms=parts) | Chain(parts=parts):
            return parts
        case Product(left=a, right=b) | Comparison(left=a, right=b) | Quotient(above=a, below=b):
            return (a, b)
        case Power(base=a, exponent=b) | Derivative(of=a, by=b):
            return (a, b)
        case Entry():
            return (node.value, *node.indices)
        case Call():
            return node.arguments if node.base is None else (*node.arguments, node.base)
        case Range():
            return tuple(part for part in (node.body, node.lower, node.upper, node.excluding) if part is not None)
        case Block():
            return tuple(part for row in node.rows for part in row)
        case Cases():
            return tuple(part for branch in node.branches for part in branch if part is not None)
    return ()


def _walked(tree: Node) -> Iterator[tuple[Node, frozenset[str]]]:
    """Yield every node of a tree with the indices bound there."""
    pending: list[tuple[Node, frozenset[str]]] = [(tree, frozenset())]
    while pending:
        node, bound = pending.pop()
        yield node, bound
        below = children(node)
        if isinstance(node, Range):
            pending.append((node.body, bound | {node.index}))
            below = below[1:]
        pending.extend((child, bound) for child in below)


def _unbound(tree: Node) -> Iterator[str]:
    return (node.name for node, bound in _walked(tree) if isinstance(node, Name) and node.name not in bound)


def names_in(tree: Node) -> set[str]:
    """Return the names and functions a tree mentions, without its bound indices."""
    return {*_unbound(tree), *(node.function for node, _ in _walked(tree) if isinstance(node, Call))}


CONSTANTS: Final = frozenset({"pi", "e"})


def free_indices(tree: Node, symbols: Symbols) -> tuple[str, ...]:
    """Return the free indices of a component form, in order: `i` of y_i - p_i, `i` and `j` of A_{ij}.

    A name is a free index if no sum binds it and nothing declares it: no symbol, no dimension, no constant.
    """
    known = {size.name for size in symbols.dimensions()} | set(symbols.by_name) | CONSTANTS | {"I"}
    known |= {symbol.columns for symbol in symbols.by_name.values() if symbol.columns is not None}
    return tuple(sorted(set(_unbound(tree)) - known))


def depth(tree: Node) -> int:
    """Return how many levels a tree has."""
    level, layer = 0, [tree]
    while layer:
        level, layer = level + 1, [child for node in layer for child in children(node)]
    return level


_EQUATION: Final = re.compile(r"\s*(\w+)\s*=\s*([^=<>]+)")


class Interpreter:
    """What does not change from one assignment to the next: declarations, definitions, what an index runs over."""

    def __init__(self, symbols: Symbols, read: Read | None = None) -> None:
        self.symbols = symbols
        self._read = read
        self._definitions: dict[str, Node] = {}
        self._free: dict[int, tuple[Node, tuple[str, ...]]] = {}
        self.extents: dict[tuple[int, str], tuple[Node, Dimension]] = {}
        self.equal_sizes = self._equal_sizes()
        self.dimensions = {name: self._dimensions(symbol) for name, symbol in symbols.by_name.items()}
        self.matrix_of_column = {symbol.columns: name for name, symbol in symbols.by_name.items() if symbol.columns}

    def _equal_sizes(self) -> dict[str, Dimension]:
        """Return what a size is in terms of others, where it is defined or given: D = 2d."""
        names = {size.name for size in self.symbols.dimensions()}
        texts = {name: self.symbols[name].definition for name in names if name in self.symbols}
        for given in self.symbols.given:
            match = _EQUATION.fullmatch(given)
            if match is not None and match[1] in names:
                texts[match[1]] = match[2]
        known: dict[str, Dimension] = {}
        for name in sorted(names):
            text = texts.get(name)
            dimension = None if text is None else dimension_of(self.read(text))
            if dimension is not None:
                known = {other: _replaced(old, {name: dimension}) for other, old in known.items()}
                known[name] = _replaced(dimension, known)
        return known

    def dimension(self, size: Any) -> Dimension:
        """Return a declared size (`3`, `n`, `2d`) in our own form."""
        factor, rest = size.as_coeff_Mul()
        return _replaced(constant(int(factor)) if rest == 1 else (((rest.name,), int(factor)),), self.equal_sizes)

    def _dimensions(self, symbol: Symbol) -> tuple[Dimension, Dimension]:
        rows, columns = (*(self.dimension(size) for size in symbol.shape), ONE, ONE)[:2]
        return rows, columns

    def read(self, text: str, symbols: Symbols | None = None) -> Node:
        """Read the text of a definition."""
        if self._read is None:
            from formulas.reader import read

            self._read = read
        return self._read(text, symbols or self.symbols)

    def definition(self, name: str) -> Node:
        """Return what a symbol is defined as."""
        if name not in self._definitions:
            text = self.symbols[name].definition
            assert text is not None
            self._definitions[name] = self.read(text)
        return self._definitions[name]

    def covariance(self, name: str) -> Node | None:
        """Return the covariance a random symbol is declared with; `I` is the identity of its size there."""
        symbol = self.symbols[name]
        if symbol.covariance is None:
            return None
        with_identity = self.symbols
        if "I" not in self.symbols:
            size = symbol.shape[:1] * 2
            unit = Symbol("I", sizes=size, properties=frozenset({"identity"}))
            with_identity = Symbols({**self.symbols.by_name, "I": unit}, self.symbols.given)
        return self.read(symbol.covariance, with_identity)

    def free(self, tree: Node) -> tuple[str, ...]:
        """Return the free indices of a tree that is evaluated many times; refuses trees too deep for us."""
        known = self._free.get(id(tree))
        if known is None:
            if depth(tree) > DEEPEST:
                raise Undecided("too deeply nested")
            known = self._free[id(tree)] = (tree, free_indices(tree, self.symbols))
        return known[1]

    def at(self, given: Assignment) -> Evaluation:
        """Start evaluating at an assignment."""
        return Evaluation(self, given)


def evaluate(
    tree: Node, symbols: Symbols, at: Assignment, *, read: Read | None = None, precision: int = PRECISION
) -> Value:
    """Return the value of a tree. Definitions are read with `read`, our own reader unless told otherwise."""
    with ctx.workprec(precision):
        return Interpreter(symbols, read).at(at).value(tree)


class Evaluation:
    """Values of trees at one assignment. Balls have flint's working precision: set it around all calls."""

    def __init__(self, interpreter: Interpreter, given: Assignment) -> None:
        self._interpreter = interpreter
        self._symbols = interpreter.symbols
        self._sizes = given.sizes
        self._given = given.values
        self._known: dict[str, Value] = {}
        self._laws: dict[str, Law] = {}
        self._moments: dict[Monomial, Scalar] = {}
        self._bound: dict[str, int] = {}
        self._extent: dict[str, Dimension] = {}  # of the bound indices
        self._open: list[str] = []  # definitions being evaluated
        self._steps = 0
        self._steps_before = 0

    @property
    def steps(self) -> int:
        """How many scalar operations all evaluations here took, roughly."""
        return self._steps_before + self._steps

    def value(self, tree: Node) -> Value:
        """Return the value of a whole tree: with free indices, the vector or matrix of its components."""
        self._steps_before += self._steps
        self._steps, self._bound, self._extent, self._open = 0, {}, {}, []
        try:
            found = self._components(tree, self._interpreter.free(tree))
        except RecursionError:
            raise Undecided("too deeply nested") from None
        for entry in entries_of(found):
            if isinstance(entry, Polynomial):
                name = next(variable[0] for monomial in entry.terms for variable in monomial)
                raise NoValue(f"{name} is random: only E[...] and Var(...) of it have a value")
        return found

    def symbol(self, name: str) -> Value:
        """Return the value of a symbol, assigned or defined; a random one is a polynomial here."""
        return self._name(Name(name))

    def holds(self, condition: Comparison) -> bool:
        """Tell whether a condition holds; matrices are compared entry by entry, a number with every entry."""
        left, right = self._of(condition.left), self._of(condition.right)
        if isinstance(left, Matrix) or isinstance(right, Matrix):
            difference = self._added(left, self._negated(right), condition.left, condition.right)
            return all(compare(entry, condition.relation, ZERO) for entry in entries_of(difference))
        return compare(left, condition.relation, right)

    # Components

    def _components(self, tree: Node, indices: tuple[str, ...]) -> Value:
        if not indices:
            return self._of(tree)
        if len(indices) > 2:
            raise ShapeError(f"there are {len(indices)} free indices ({', '.join(indices)}), at most two make a matrix")
        spans = [self._extent_of(index, tree) for index in indices]
        outer = dict(self._bound), dict(self._extent)
        rows: list[list[Scalar]] = []
        self._extent.update(zip(indices, spans, strict=True))
        for row in range(1, self._size(spans[0]) + 1):
            self._bound[indices[0]] = row
            if len(indices) == 1:
                rows.append([self._component(tree, indices)])
                continue
            rows.append([])
            for column in range(1, self._size(spans[1]) + 1):
                self._bound[indices[1]] = column
                rows[-1].append(self._component(tree, indices))
        self._bound, self._extent = outer
        return matrix(spans[0], spans[1] if len(spans) == 2 else ONE, rows)

    def _component(self, tree: Node, indices: tuple[str, ...]) -> Scalar:
        entry = self._of(tree)
        if isinstance(entry, Matrix):
            listed = " and ".join(indices)
            raise ShapeError(f"with the free index {listed} this should be a number, it is {shape_in_words(entry)}")
        return entry

    def _size(self, dimension: Dimension) -> int:
        try:
            return size_of(dimension, self._sizes)
        except KeyError as missing:
            raise Undecided(f"the size {missing.args[0]} is not known") from None

    def _extent_of(self, index: str, scope: Node) -> Dimension:
        """Return what an index runs over: the dimension of what it is an index of, anywhere in its scope."""
        key = (id(scope), index)
        known = self._interpreter.extents.get(key)
        if known is None:
            extent = self._found_extent(index, scope)
            if extent is None:
                raise Undecided(f"what {index} runs over is not said")
            known = self._interpreter.extents[key] = (scope, extent)
        return known[1]

    def _found_extent(self, index: str, scope: Node, asked: tuple[str, ...] = ()) -> Dimension | None:
        """Look for an entry with this index, then for an index it is compared with that we know more about."""
        beside: list[tuple[str, Node]] = []
        ranges: dict[str, Node] = {}  # what an index under Σ or Π is looked for in
        for node, bound in _walked(scope):
            if index in bound:
                continue
            if isinstance(node, Entry) and Name(index) in node.indices:
                axis = self._axes(node, index)[node.indices.index(Name(index))]
                if axis is not None:
                    return axis
            if isinstance(node, Comparison) or (isinstance(node, Call) and node.function == "delta"):
                names = [other.name for other in children(node) if isinstance(other, Name)]
                beside.extend((name, ranges[name] if name in bound else scope) for name in names)
            if isinstance(node, Range):
                ranges[node.index] = node.body
            if isinstance(node, Range) and Name(index) in (node.lower, node.upper, node.excluding):
                beside.append((node.index, node.body))
        for other, where in beside:
            if other != index and other not in asked:
                known = self._extent.get(other) or self._declared_extent(other)
                known = known or self._found_extent(other, where, (*asked, index))
                if known is not None:
                    return known
        return None

    def _declared_extent(self, index: str) -> Dimension | None:
        for symbol in self._symbols.by_name.values():
            if symbol.at == index:
                rows, columns = self._interpreter.dimensions[symbol.name]
                return columns if rows == ONE else rows
        return None

    def _axes(self, entry: Entry, index: str) -> tuple[Dimension | None, ...]:
        rows, columns = self._static(entry.value, index)
        if len(entry.indices) == 2:
            return (rows, columns)
        if len(entry.indices) > 2 or rows is None or columns is None:
            return (None,) * len(entry.indices)
        return (rows if columns == ONE else columns,)  # of a vector, a row, or the columns of a matrix

    def _static(self, node: Node, index: str) -> tuple[Dimension | None, Dimension | None]:
        if isinstance(node, Transposed):
            rows, columns = self._static(node.value, index)
            return columns, rows
        if isinstance(node, Name) and node.name not in self._bound:
            name = self._interpreter.matrix_of_column.get(node.name, node.name)
            if name in self._interpreter.dimensions:
                return self._interpreter.dimensions[name]
        outer = dict(self._bound)
        self._bound[index] = 1
        try:
            return dimensions_of(self._of(node))
        except Fault:
            return None, None
        finally:
            self._bound = outer

    # Names

    def _name(self, node: Name) -> Value:
        name = node.name
        if name in self._bound:
            return fmpq(self._bound[name])
        if name not in self._known:
            self._known[name] = self._resolved(name)
        return self._known[name]

    def _resolved(self, name: str) -> Value:
        dimensions = self._interpreter.dimensions
        if name in self._given:
            rows, columns = dimensions.get(name, (ONE, ONE))
            return matrix(rows, columns, self._given[name])
        if name in self._sizes:
            return fmpq(self._sizes[name])
        symbol = self._symbols.by_name.get(name)
        if symbol is None:
            return self._undeclared(name)
        if "function" in symbol.properties:
            raise ShapeError(f"{name} is a function, it stands here without an argument")
        if symbol.definition is not None:
            return self._defined(symbol)
        if "identity" in symbol.properties:
            return identity(dimensions[name][0], self._size(dimensions[name][0]))
        if "normal" in symbol.properties:
            return self._random(symbol)
        raise Undecided(f"{name} has no value")

    def _undeclared(self, name: str) -> Value:
        if name in self._interpreter.matrix_of_column:
            return self._name(Name(self._interpreter.matrix_of_column[name]))
        if name == "pi":
            return arb.pi()
        if name == "e":
            return arb.const_e()
        raise Undecided(f"{name} has no value")

    def _defined(self, symbol: Symbol) -> Value:
        if symbol.name in self._open:
            raise NoValue(f"{symbol.name} is defined by itself")
        tree = self._interpreter.definition(symbol.name)
        outer = self._bound, self._extent
        self._bound, self._extent = {}, {}
        self._open.append(symbol.name)
        try:
            found = self._components(tree, self._interpreter.free(tree))
        finally:
            self._open.pop()
            self._bound, self._extent = outer
        declared = self._interpreter.dimensions[symbol.name]
        if symbol.name in self._interpreter.equal_sizes or dimensions_of(found) == declared:
            return found
        if self._interpreter.free(tree) and dimensions_of(found) == declared[::-1]:
            return transposed(found)
        raise ShapeError(f"{symbol.name} is declared otherwise than its definition, which is {shape_in_words(found)}")

    def _random(self, symbol: Symbol) -> Value:
        rows, columns = self._interpreter.dimensions[symbol.name]
        places = range(self._size(rows)), range(self._size(columns))
        entries = [[Polynomial({((symbol.name, i, j),): UNIT}, self._count) for j in places[1]] for i in places[0]]
        return matrix(rows, columns, entries)

    def _law(self, name: str) -> Law:
        if name not in self._laws:
            outer = self._bound, self._extent
            self._bound, self._extent = {}, {}
            try:
                self._laws[name] = self._made_law(self._symbols[name])
            finally:
                self._bound, self._extent = outer
        return self._laws[name]

    def _made_law(self, symbol: Symbol) -> Law:
        rows, columns = self._interpreter.dimensions[symbol.name]
        height, width = self._size(rows), self._size(columns)
        center = ZERO if symbol.mean is None else self._of(self._interpreter.read(symbol.mean))
        if isinstance(center, Matrix):
            if dimensions_of(center) != (rows, columns):
                raise ShapeError(f"the mean of {symbol.name} is {shape_in_words(center)}, {symbol.name} is not")
            mean = {(i, j): center.entries[i][j] for i in range(height) for j in range(width)}
        else:
            mean = dict.fromkeys(product(range(height), range(width)), center)
        tree = self._interpreter.covariance(symbol.name)
        if "I" not in self._symbols:
            self._known["I"] = identity(rows, height)
        spread = UNIT if tree is None else self._of(tree)
        if "I" not in self._symbols:
            del self._known["I"]
        if isinstance(spread, Matrix):
            if ONE not in (rows, columns) or dimensions_of(spread) != (
                (rows, rows) if columns == ONE else (columns,) * 2
            ):
                raise ShapeError(f"the covariance of {symbol.name} is {shape_in_words(spread)}, which does not fit it")
            return Law(mean, lambda a, b: spread.entries[max(a)][max(b)])  # one of row and column is always 0
        return Law(mean, lambda a, b: spread if a == b else ZERO)

    # Nodes

    def _of(self, node: Node) -> Value:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise _too_large()
        rule = self._rules.get(type(node))
        if rule is None:
            raise Undecided(f"a {type(node).__name__.lower()} is not evaluated")
        return rule(self, node)

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise _too_large()

    def _weighed(self, number: Scalar) -> Scalar:
        """Count what a long rational costs."""
        if type(number) is fmpq:
            bits = number.height_bits()
            if bits > 256:
                self._count(bits >> 7)
        return number

    def _number(self, node: Number) -> Value:
        return exact(node.value)

    def _negation(self, node: Negation) -> Value:
        return self._negated(self._of(node.value))

    def _negated(self, value: Value) -> Value:
        return value.each(lambda entry: -entry) if isinstance(value, Matrix) else -value

    def _addition(self, node: Addition) -> Value:
        total = self._of(node.terms[0])
        before: Node = node.terms[0]
        for term in node.terms[1:]:
            total = self._added(total, self._of(term), before, term)
            before = node
        return total

    def _added(self, left: Value, right: Value, *nodes: Node) -> Value:
        if not isinstance(left, Matrix):
            return right.each(lambda entry: left + entry) if isinstance(right, Matrix) else self._weighed(left + right)
        if not isinstance(right, Matrix):
            return left.each(lambda entry: entry + right)
        if (left.rows, left.columns) == (right.rows, right.columns):
            return left.with_each(right, _plus)
        if left.columns == right.columns and ONE in (left.rows, right.rows):  # a bias row is added to each row
            many, bias = (right, left.entries[0]) if left.rows == ONE else (left, right.entries[0])
            return Matrix(many.rows, many.columns, tuple(tuple(map(_plus, row, bias)) for row in many.entries))
        raise ShapeError(_unfit(nodes, left, right, "cannot be added to"))

    def _product(self, node: Product) -> Value:
        return self._multiplied(self._of(node.left), self._of(node.right), node.times, node.left, node.right)

    def _multiplied(self, left: Value, right: Value, times: Times, *nodes: Node) -> Value:
        if not isinstance(left, Matrix):
            if not isinstance(right, Matrix):
                return self._weighed(_bounded(left * right))
            return self._entrywise(right, lambda entry: _bounded(left * entry))
        if not isinstance(right, Matrix):
            return self._entrywise(left, lambda entry: _bounded(entry * right))
        fits = left.columns == right.rows
        alike = (left.rows, left.columns) == (right.rows, right.columns)
        vectors = left.is_vector() and right.is_vector()
        if times is Times.DOT and vectors and (alike or (left.rows, left.columns) == (right.columns, right.rows)):
            return _bounded(_inner(left.flat(), right.flat()))
        if times is Times.MATRIX and vectors and alike and not fits and left.columns == ONE:
            return _bounded(_inner(left.flat(), right.flat()))  # as in NumPy: a vector is neither row nor column
        elementwise = (
            times is Times.ELEMENTWISE
            or (times is Times.STAR and alike)
            or (times is Times.JUXTAPOSED and vectors and not fits)
        )
        if elementwise and alike:
            self._count(len(left.entries) * len(left.entries[0]))
            return left.with_each(right, lambda a, b: _bounded(a * b))
        if fits and not elementwise:
            self._count(len(left.entries) * len(right.entries) * len(right.entries[0]))
            return _matrix_product(left, right)
        if times is Times.STAR and left.is_vector() != right.is_vector():
            scale, scaled = (left, right) if left.is_vector() else (right, left)
            wide = _repeated(scale, scaled)
            if wide is not None:
                self._count(len(wide.entries) * len(wide.entries[0]))
                return scaled.with_each(wide, lambda a, b: _bounded(a * b))
        raise ShapeError(_unfit_product(nodes, left, right, times))

    def _entrywise(self, value: Matrix, function: Callable[[Scalar], Scalar]) -> Matrix:
        self._count(len(value.entries) * len(value.entries[0]))
        return value.each(function)

    def _quotient(self, node: Quotient) -> Value:
        above, below = self._of(node.above), self._of(node.below)
        if not isinstance(below, Matrix):
            if not isinstance(above, Matrix):
                return divide(above, below)
            return self._entrywise(above, lambda entry: divide(entry, below))
        if not isinstance(above, Matrix):
            return self._entrywise(below, lambda entry: divide(above, entry))
        if dimensions_of(above) != dimensions_of(below):
            raise ShapeError(_unfit((node.above, node.below), above, below, "cannot be divided by"))
        return above.with_each(below, divide)

    def _power(self, node: Power) -> Value:
        if isinstance(node.base, Name) and node.base.name == "e" and self._is_constant("e"):
            return self._each(self._of(node.exponent), _exp)
        exponent = self._of(node.exponent)
        whole = None if isinstance(exponent, Matrix) else _whole(exponent)
        if whole is not None and whole > 0 and whole % 2 == 0 and isinstance(node.base, Call):
            square = self._exact_square(node.base)
            if square is not None:
                return power(square, fmpq(whole // 2))
        base = self._of(node.base)
        if isinstance(exponent, Matrix):
            if not isinstance(base, Matrix):
                return self._entrywise(exponent, lambda entry: power(base, entry))
            if dimensions_of(base) != dimensions_of(exponent):
                raise ShapeError(_unfit((node.base, node.exponent), base, exponent, "cannot have as exponent"))
            return base.with_each(exponent, power)
        if isinstance(base, Matrix):
            if base.rows == base.columns and whole is not None:
                return self._matrix_power(base, whole)
            return self._entrywise(base, lambda entry: power(entry, exponent))
        return power(base, exponent)

    def _is_constant(self, name: str) -> bool:
        return name not in self._bound and name not in self._symbols and name not in self._sizes

    def _exact_square(self, node: Call) -> Scalar | None:
        """Return the square of a norm or root of a number without taking the root first."""
        if node.function not in {"norm", "sqrt"} or len(node.arguments) != 1 or node.function in self._symbols:
            return None
        value = self._of(node.arguments[0])
        if node.function == "norm":
            entries = entries_of(value)
            return _inner(entries, entries)
        if isinstance(value, Matrix) or type(value) is not fmpq or value < 0:
            return None
        return value

    def _matrix_power(self, base: Matrix, exponent: int) -> Value:
        if exponent < 0:
            found = inverse(base)
            return found if exponent == -1 else self._matrix_power(found, -exponent)
        if exponent > 64:
            raise _too_large()
        total: Value = identity(base.rows, len(base.entries))
        for _ in range(exponent):
            total = self._multiplied(total, base, Times.MATRIX)
        return total

    def _transposed(self, node: Transposed) -> Value:
        return transposed(self._of(node.value))

    def _entry(self, node: Entry) -> Value:
        value = self._of(node.value)
        places = [self._place(index, node.value) for index in node.indices]
        rows = _entry_rows(value)
        if len(places) == 2:
            row, column = places
            if 1 <= row <= len(rows) and 1 <= column <= len(rows[0]):
                return rows[row - 1][column - 1]
            raise NoValue(
                f"{_called(node.value) or 'this'} is {shape_in_words(value)}, without an entry {row},{column}"
            )
        if len(places) != 1 or not isinstance(value, Matrix):
            raise ShapeError(f"{_called(node.value) or 'this'} is {shape_in_words(value)}, not with {_indices(places)}")
        place = places[0]
        if value.columns == ONE:
            if 1 <= place <= len(rows):
                return rows[place - 1][0]
        elif value.rows == ONE:
            if 1 <= place <= len(rows[0]):
                return rows[0][place - 1]
        else:
            return self._column(node.value, value, place)
        raise NoValue(f"{_called(node.value) or 'this'} is {shape_in_words(value)}, without an entry {place}")

    def _place(self, index: Node, of: Node) -> int:
        if type(index) is Name and index.name in self._bound:
            return self._bound[index.name]
        return _integer(self._of(index), f"an index of {_called(of) or 'this'}")

    def _column(self, node: Node, value: Matrix, place: int) -> Value:
        called = _called(node) or "this"
        if isinstance(node, Name) and node.name in self._symbols and self._symbols[node.name].columns is None:
            raise ShapeError(f"{called} is {shape_in_words(value)}, an entry of it has two indices")
        if not 1 <= place <= len(value.entries[0]):
            raise NoValue(f"{called} is {shape_in_words(value)}, without a column {place}")
        return matrix(value.rows, ONE, [[row[place - 1]] for row in value.entries])

    def _range(self, node: Range) -> Value:
        lower = 1 if node.lower is None else _integer(self._of(node.lower), f"where {node.index} begins")
        extent = self._extent_of(node.index, node.body) if node.upper is None else ONE
        upper = self._size(extent) if node.upper is None else _integer(self._of(node.upper), f"where {node.index} ends")
        skipped = None if node.excluding is None else _integer(self._of(node.excluding), f"what {node.index} is not")
        if upper - lower > 2_000:
            raise _too_large()
        places = [place for place in range(lower, upper + 1) if place != skipped]
        outer = self._bound, self._extent
        self._bound, self._extent = dict(self._bound), dict(self._extent)
        self._extent.pop(node.index, None)
        if node.upper is None:
            self._extent[node.index] = extent
        try:
            return self._accumulated(node, places) if places else self._empty(node, lower)
        finally:
            self._bound, self._extent = outer

    def _accumulated(self, node: Range, places: list[int]) -> Value:
        total: Value = None
        for place in places:
            self._bound[node.index] = place
            term = self._of(node.body)
            if total is None:
                total = term
            elif node.operator is Big.SUM:
                total = self._added(total, term, node.body, node.body)
            else:
                total = self._multiplied(total, term, Times.JUXTAPOSED, node.body, node.body)
        return total

    def _empty(self, node: Range, lower: int) -> Value:
        """Return the empty sum or product, in the shape its terms would have."""
        self._bound[node.index] = lower
        try:
            like = self._of(node.body)
        except NoValue:
            like = ZERO
        neutral = ZERO if node.operator is Big.SUM else UNIT
        if not isinstance(like, Matrix):
            return neutral
        if node.operator is Big.PRODUCT and like.rows == like.columns:
            return identity(like.rows, len(like.entries))
        return like.each(lambda _: neutral)

    def _block(self, node: Block) -> Value:
        bands = [self._side_by_side([self._of(part) for part in row]) for row in node.rows]
        return bands[0] if len(bands) == 1 else self._stacked(bands)

    def _side_by_side(self, parts: list[Value]) -> Value:
        if len(parts) == 1:
            return parts[0]
        heights = {dimensions_of(part)[0] for part in parts}
        if all(dimensions_of(part)[1] == ONE for part in parts) and heights != {ONE}:
            return self._stacked(parts)  # [x, p] of two vectors is one longer vector
        if len(heights) > 1:
            listed = ", ".join(map(shape_in_words, parts))
            raise ShapeError(f"parts of different height cannot stand side by side: {listed}")
        rows = [
            tuple(entry for part in strips for entry in part) for strips in zip(*map(_entry_rows, parts), strict=True)
        ]
        return matrix(heights.pop(), _sum_of(*(dimensions_of(part)[1] for part in parts)), rows)

    def _stacked(self, parts: list[Value]) -> Value:
        widths = {dimensions_of(part)[1] for part in parts}
        if len(widths) > 1:
            listed = ", ".join(map(shape_in_words, parts))
            raise ShapeError(f"parts of different width cannot stand on each other: {listed}")
        rows = [row for part in parts for row in _entry_rows(part)]
        return matrix(_sum_of(*(dimensions_of(part)[0] for part in parts)), widths.pop(), rows)

    def _cases(self, node: Cases) -> Value:
        for value, condition in node.branches:
            if condition is None or self.holds(condition):
                return self._of(value)
        raise NoValue("none of the cases applies")

    # Functions

    def _call(self, node: Call) -> Value:
        name = node.function
        symbol = self._symbols.by_name.get(name)
        if symbol is not None and symbol.definition is not None and "function" in symbol.properties:
            name = symbol.definition.strip()
        if name in _SIZED:
            return self._of_size(name, node)
        arguments = [self._of(argument) for argument in node.arguments]
        if name in SINGLE and len(arguments) == 1:
            return self._each(arguments[0], SINGLE[name])
        if name in _LOGARITHMS:
            base = self._of(node.base) if node.base is not None else _LOGARITHMS[name]
            if isinstance(base, Matrix):
                raise ShapeError("the base of a logarithm is a number")
            return self._each(_only(arguments, name), lambda entry: logarithm(entry, base))
        rule = self._functions.get(name)
        if rule is None:
            raise Undecided(f"what {name} is at a point is not known")
        return rule(self, arguments)

    def _each(self, value: Value, function: Callable[[Scalar], Scalar]) -> Value:
        return self._entrywise(value, function) if isinstance(value, Matrix) else function(value)

    def _of_size(self, name: str, node: Call) -> Value:
        """Return ones, zeros, or the identity of sizes given as arguments."""
        sizes = []
        for argument in node.arguments:
            size = _integer(self._of(argument), f"a size in {name}")
            if not 1 <= size <= MOST_SIZE:
                raise Undecided(f"a size in {name} is {size}")
            written = dimension_of(argument)
            known = written is not None and not any(n in self._bound for names, _ in written for n in names)
            dimension = _replaced(written, self._interpreter.equal_sizes) if known and written else constant(size)
            sizes.append((dimension, size))
        if name == "eye":
            if len(sizes) != 1:
                raise ShapeError("eye has one size")
            return identity(*sizes[0])
        if not 1 <= len(sizes) <= 2:
            raise ShapeError(f"{name} has one or two sizes")
        (rows, height), (columns, width) = (*sizes, (ONE, 1))[:2]
        return matrix(rows, columns, [[ONES_AND_ZEROS[name]] * width for _ in range(height)])

    def _norm(self, arguments: list[Value]) -> Value:
        entries = entries_of(_only(arguments, "norm"))
        return square_root(_inner(entries, entries))

    def _trace(self, arguments: list[Value]) -> Value:
        value = _only(arguments, "trace")
        if not isinstance(value, Matrix):
            return value
        _square(value, "a trace")
        return sum((row[place] for place, row in enumerate(value.entries)), start=ZERO)

    def _diagonal(self, arguments: list[Value]) -> Value:
        value = _only(arguments, "diag")
        if not isinstance(value, Matrix):
            return value
        if not value.is_vector():
            _square(value, "a diagonal")
            return matrix(value.rows, ONE, [[row[place]] for place, row in enumerate(value.entries)])
        entries = value.flat()
        size = value.rows if value.columns == ONE else value.columns
        rows = [[entry if i == j else ZERO for j in range(len(entries))] for i, entry in enumerate(entries)]
        return matrix(size, size, rows)

    def _dot(self, arguments: list[Value]) -> Value:
        left, right = _pair(arguments, "dot")
        return self._multiplied(left, right, Times.DOT)

    def _outer(self, arguments: list[Value]) -> Value:
        left, right = (self._as_column(value) for value in _pair(arguments, "outer"))
        return self._multiplied(left, transposed(right), Times.MATRIX)

    def _as_column(self, value: Value) -> Value:
        if isinstance(value, Matrix) and not value.is_vector():
            raise ShapeError(f"an outer product is of two vectors, this is {shape_in_words(value)}")
        return transposed(value) if isinstance(value, Matrix) and value.rows == ONE else value

    def _sum(self, arguments: list[Value]) -> Value:
        return sum(entries_of(_only(arguments, "sum")), start=ZERO)

    def _prod(self, arguments: list[Value]) -> Value:
        total: Scalar = UNIT
        for entry in entries_of(_only(arguments, "prod")):
            total = _bounded(total * entry)
        return total

    def _mean(self, arguments: list[Value]) -> Value:
        entries = entries_of(_only(arguments, "mean"))
        return divide(sum(entries, start=ZERO), fmpq(len(entries)))

    def _var(self, arguments: list[Value]) -> Value:
        """Return the variance of the entries; of a random number, its variance."""
        value = _only(arguments, "var")
        entries = entries_of(value)
        if any(isinstance(entry, Polynomial) for entry in entries):
            return self._variance(arguments)
        center = divide(sum(entries, start=ZERO), fmpq(len(entries)))
        away = [entry - center for entry in entries]
        return divide(_inner(away, away), fmpq(len(entries)))

    def _extreme(self, arguments: list[Value], choose: Callable[[Scalar, Scalar], Scalar], name: str) -> Value:
        if not arguments:
            raise ShapeError(f"{name} of nothing")
        if len(arguments) == 1:
            entries = entries_of(arguments[0])
            best = entries[0]
            for entry in entries[1:]:
                best = choose(best, entry)
            return best
        found = arguments[0]
        for other in arguments[1:]:
            found = self._paired(found, other, choose, name)
        return found

    def _maximum(self, arguments: list[Value]) -> Value:
        return self._extreme(arguments, _larger, "max")

    def _minimum(self, arguments: list[Value]) -> Value:
        return self._extreme(arguments, _smaller, "min")

    def _paired(self, left: Value, right: Value, function: Callable[[Scalar, Scalar], Scalar], name: str) -> Value:
        if not isinstance(right, Matrix):
            return self._each(left, lambda entry: function(entry, right))
        if not isinstance(left, Matrix):
            return self._each(right, lambda entry: function(left, entry))
        if dimensions_of(left) != dimensions_of(right):
            raise ShapeError(f"{name} of {_with_article(left)} and {_with_article(right)}")
        return left.with_each(right, function)

    def _argmax(self, arguments: list[Value]) -> Value:
        """Return the place of the largest entry of a vector, counted from 1."""
        value = _only(arguments, "argmax")
        if isinstance(value, Matrix) and not value.is_vector():
            raise ShapeError(f"argmax is of a vector, this is {shape_in_words(value)}")
        entries = entries_of(value)
        best = 0
        for place, entry in enumerate(entries):
            if compare(entry, ">", entries[best]):
                best = place
        return fmpq(best + 1)

    def _concatenated(self, arguments: list[Value]) -> Value:
        """Return vectors one below the other, matrices and rows side by side."""
        if all(dimensions_of(part)[1] == ONE for part in arguments):
            return self._stacked(arguments)
        return self._side_by_side(arguments)

    def _binomial(self, arguments: list[Value]) -> Value:
        return binomial(*_pair(arguments, "a binomial"))

    def _delta(self, arguments: list[Value]) -> Value:
        left, right = _pair(arguments, "delta")
        if isinstance(left, Matrix) or isinstance(right, Matrix):
            raise ShapeError(f"delta is of two indices, this is {shape_in_words(left)} and {shape_in_words(right)}")
        return UNIT if compare(left, "=", right) else ZERO

    # Expectations

    def _expectation(self, arguments: list[Value]) -> Value:
        return self._expected(_only(arguments, "E"))

    def _expected(self, value: Value) -> Value:
        return self._each(value, self._expected_number)

    def _expected_number(self, number: Scalar) -> Scalar:
        if not isinstance(number, Polynomial):
            return number
        total: Scalar = ZERO
        for monomial, factor in number.terms.items():
            total += factor * self._moment(monomial)
        return total

    def _moment(self, monomial: Monomial) -> Scalar:
        """Return E of a product of normal entries: E[x m] = E[x] E[m] + sum over y in m of Cov(x, y) E[m without y]."""
        if not monomial:
            return UNIT
        if monomial in self._moments:
            return self._moments[monomial]
        self._count(len(monomial))
        (name, row, column), rest = monomial[0], monomial[1:]
        law = self._law(name)
        total = law.mean[row, column] * self._moment(rest)
        for place, (other, other_row, other_column) in enumerate(rest):
            if other == name:  # different symbols are independent
                shared = law.covariance((row, column), (other_row, other_column))
                if not _is_zero(shared):
                    total += shared * self._moment(rest[:place] + rest[place + 1 :])
        self._moments[monomial] = total
        return total

    def _variance(self, arguments: list[Value]) -> Value:
        value = _only(arguments, "Var")
        return self._covariance([value, value])

    def _covariance(self, arguments: list[Value]) -> Value:
        if len(arguments) == 1:
            return self._variance(arguments)
        left, right = (self._as_column(value) for value in _pair(arguments, "Cov"))
        right = transposed(right)
        both = self._expected(self._multiplied(left, right, Times.MATRIX))
        apart = self._multiplied(self._expected(left), self._expected(right), Times.MATRIX)
        return self._added(both, self._negated(apart))

    _rules: ClassVar[Mapping[type[Node], Callable[[Any, Any], Value]]] = {
        Number: _number,
        Name: _name,
        Negation: _negation,
        Addition: _addition,
        Product: _product,
        Quotient: _quotient,
        Power: _power,
        Transposed: _transposed,
        Entry: _entry,
        Call: _call,
        Range: _range,
        Block: _block,
        Cases: _cases,
    }

    _functions: ClassVar[Mapping[str, Callable[[Any, list[Value]], Value]]] = {
        "softmax": lambda _, arguments: softmax(_only(arguments, "softmax")),
        "softmax_rows": lambda _, arguments: softmax(_only(arguments, "softmax")),
        "log_softmax": lambda _, arguments: _log_softmax(_only(arguments, "log_softmax")),
        "max": _maximum,
        "min": _minimum,
        "norm": _norm,
        "trace": _trace,
        "diag": _diagonal,
        "inv": lambda _, arguments: inverse(_only(arguments, "inv")),
        "det": lambda _, arguments: determinant(_only(arguments, "det")),
        "dot": _dot,
        "outer": _outer,
        "sum": _sum,
        "prod": _prod,
        "mean": _mean,
        "var": _var,
        "argmax": _argmax,
        "concat": _concatenated,
        "binomial": _binomial,
        "delta": _delta,
        "transpose": lambda _, arguments: transposed(_only(arguments, "transpose")),
        "E": _expectation,
        "Var": _variance,
        "Cov": _covariance,
    }


def _repeated(vector: Matrix, like: Matrix) -> Matrix | None:
    """Return a row or column repeated to the shape of a matrix, as NumPy does; None where it does not fit."""
    if vector.rows == ONE and vector.columns == like.columns:
        return Matrix(like.rows, like.columns, vector.entries * len(like.entries))
    if vector.columns == ONE and vector.rows == like.rows and like.rows != like.columns:  # of a square one: which?
        return Matrix(like.rows, like.columns, tuple(row * len(like.entries[0]) for row in vector.entries))
    return None


def _entry_rows(value: Value) -> tuple[tuple[Scalar, ...], ...]:
    return value.entries if isinstance(value, Matrix) else ((value,),)


def _only(arguments: list[Value], name: str) -> Value:
    if len(arguments) != 1:
        raise ShapeError(f"{name} has one argument, this has {len(arguments)}")
    return arguments[0]


def _pair(arguments: list[Value], name: str) -> tuple[Value, Value]:
    if len(arguments) != 2:
        raise ShapeError(f"{name} has two arguments, this has {len(arguments)}")
    return arguments[0], arguments[1]


def _called(node: Node | None) -> str:
    match node:
        case Name(name=name):
            return name
        case Transposed(value=Name(name=name)):
            return f"{name}ᵀ"
    return ""


def _indices(places: Sequence[int]) -> str:
    return "one index" if len(places) == 1 else f"{len(places)} indices"


def _unfit(nodes: Sequence[Node], left: Value, right: Value, cannot: str) -> str:
    """Say that two values do not go together: `h is 1×Dh, it cannot be added to a Dh×1`."""
    names = [_called(node) for node in nodes] if len(nodes) == 2 else ["", ""]
    other = f"{names[1]}, which is {shape_in_words(right)}" if names[1] else _with_article(right)
    if names[0]:
        return f"{names[0]} is {shape_in_words(left)}, it {cannot} {other}"
    return f"{_with_article(left)} {cannot} {other}"


def _unfit_product(nodes: Sequence[Node], left: Value, right: Value, times: Times) -> str:
    if times is Times.ELEMENTWISE:
        return _unfit(nodes, left, right, "has no elementwise product with")
    names = [_called(node) for node in nodes] if len(nodes) == 2 else ["", ""]
    if not names[0] and names[1]:
        return f"{names[1]} is {shape_in_words(right)}, it cannot multiply {_with_article(left)} from the right"
    other = f"{names[1]}, which is {shape_in_words(right)}," if names[1] else _with_article(right)
    if names[0]:
        return f"{names[0]} is {shape_in_words(left)}, it cannot multiply {other} from the left"
    return f"{_with_article(left)} cannot multiply {other} from the left"


ONES_AND_ZEROS: Final = {"ones": UNIT, "zeros": ZERO}
_SIZED: Final = frozenset({"ones", "zeros", "eye"})
_LOGARITHMS: Final[Mapping[str, Scalar]] = {"log": None, "ln": None, "log2": fmpq(2), "log10": fmpq(10)}


def number_of(tree: Node, symbols: Symbols) -> float:
    """Return the value of a formula that depends on nothing, as a float.

    >>> from formulas.reader import read
    >>> from formulas.symbols import declared
    >>> round(number_of(read("log2(6)", declared({})), declared({})), 3)
    2.585
    """
    (entry,) = entries_of(Evaluation(Interpreter(symbols), Assignment({}, {})).value(tree))
    return float(arb(entry))
