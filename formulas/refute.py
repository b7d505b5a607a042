"""The smallest counterexample to "these two formulas are equal", certified.

Sizes and values are tried in a fixed order, simple ones first, within what the question says of its symbols. Two
values differ only if that is certain: rationals that differ, or balls without a common point. Nothing found is no
proof; it is said as "held for N assignments". No clock and no chance is involved: the same question and answer give
the same counterexample everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import partial
from itertools import islice, product, takewhile
from typing import Any, Final

from flint import arb, ctx, fmpq

from formulas.reader import read_comparison
from formulas.symbols import Symbol, Symbols
from formulas.tree import Comparison, Name, Node, Number, Product, Transposed
from formulas.values import (
    ONE,
    TOO_LARGE,
    UNIT,
    ZERO,
    Assignment,
    Dimension,
    Evaluation,
    Fault,
    Interpreter,
    Matrix,
    NoValue,
    Rows,
    Scalar,
    ShapeError,
    Undecided,
    Value,
    dimensions_of,
    entries_of,
    exact,
    names_in,
    number_in_words,
    shape_in_words,
    size_of,
    transposed,
)

TRIED: Final = 60  # assignments per formula, unless told otherwise
LONGEST: Final = 5_000  # assignments in all
FIRST_PRECISION: Final = 64  # bits; decides nearly everything
LAST_PRECISION: Final = 512
MOST_LOOKED_AT_CLOSER: Final = 6  # assignments at which balls that overlap are made smaller
MOST_TOO_LARGE: Final = (
    6  # assignments at which a formula takes more work than it may; one that does there does elsewhere
)
MOST_SHRINKS: Final = 120  # assignments tried to make a counterexample smaller
MOST_SMALLER_SIZES: Final = 12  # choices of sizes tried for it
MOST_STEPS_IN_ALL: Final = 600_000  # of all evaluations for one answer; a usual one takes 10 to 100 thousand
LARGEST_SIZE: Final = 6
MOST_SIZES: Final = 24  # different choices of sizes


class Kind(StrEnum):
    """How a counterexample refutes."""

    VALUE = "value"  # both have a value, they differ
    SHAPE = "shape"  # of different shape, or not fitting together at all
    UNDEFINED = "undefined"  # the expected one has a value, this one has none


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Where two formulas differ. `sentence` says it all: `d = 2, μ = (0, 1), σ = 1: yours 6, expected 4`."""

    assignment: Assignment
    yours: str
    expected: str
    sentence: str
    kind: Kind = Kind.VALUE


@dataclass(frozen=True, slots=True)
class Agreement:
    """No difference at `tried` assignments, `exact` of them in exact arithmetic, elsewhere none above `worst`.

    At `unknown` more nothing could be computed, and `why` says what was in the way.
    """

    tried: int
    exact: int = 0
    worst: float = 0.0
    why: str = ""
    unknown: int = 0


# --- Drawing values --------------------------------------------------------------------------------------------------


class Form(StrEnum):
    """What the values of a symbol must be like."""

    REAL = "real"
    POSITIVE = "positive"
    INTEGER = "integer"  # 1, 2, 3, …: whole numbers count something here
    UNIT = "unit"  # strictly between 0 and 1
    PROBABILITY = "probability"  # above 0, at most 1
    DISTRIBUTION = "distribution"  # positive, each vector or row with sum 1
    ONE_HOT = "one-hot"
    INDEX = "index"
    FRAME = "frame"  # orthonormal columns
    SPAN = "span"  # a combination of the columns of another


def _rationals(text: str) -> tuple[fmpq, ...]:
    return tuple(exact(Fraction(word)) for word in text.split())


_ANY: Final = tuple(
    fmpq(above, below) for below in range(2, 8) for above in range(1, 14) if fmpq(above, below).q == below
)
_BELOW_ONE: Final = tuple(number for number in _ANY if number < 1)

# What is drawn from, simple first. Distributions are drawn as weights, frames as vectors to reflect at.
_POOLS: Final[Mapping[Form, tuple[tuple[fmpq, ...], ...]]] = {
    Form.REAL: (
        *map(_rationals, ("0 1", "0 1 -1 2", "0 1 -1 2 -2 3 1/2 -1/2")),
        tuple(sign * number for number in _ANY for sign in (1, -1)),
    ),
    Form.POSITIVE: (*map(_rationals, ("1 2", "1 2 3", "1 2 3 1/2 3/2")), _ANY),
    Form.INTEGER: tuple(map(_rationals, ("1 2", "1 2 3", "1 2 3 4", "1 2 3 4 5 6 7 8 9"))),
    Form.UNIT: (*map(_rationals, ("1/2 1/4", "1/2 1/4 3/4", "1/2 1/3 2/3 1/4")), _BELOW_ONE),
    Form.PROBABILITY: (*map(_rationals, ("1 1/2", "1 1/2 1/4", "1/2 1/3 2/3 1/4")), _BELOW_ONE),
}
_POOL_OF: Final = {Form.DISTRIBUTION: Form.INTEGER, Form.FRAME: Form.REAL, Form.SPAN: Form.REAL}
_SIMPLEST_FIRST: Final[Mapping[Form, tuple[fmpq, ...]]] = {
    Form.REAL: _rationals("0 1 -1 2"),
    Form.POSITIVE: _rationals("1 2"),
    Form.INTEGER: _rationals("1 2 3"),
    Form.UNIT: _rationals("1/2 1/4"),
    Form.PROBABILITY: _rationals("1 1/2"),
    Form.DISTRIBUTION: _rationals("1 2"),
    Form.ONE_HOT: _rationals("1 2"),
    Form.INDEX: _rationals("1 2"),
    Form.FRAME: _rationals("0 1"),
    Form.SPAN: _rationals("0 1 -1 2"),
}
_PROPERTIES: Final = {  # the first that a symbol has decides
    "index": Form.INDEX,
    "one_hot": Form.ONE_HOT,
    "orthonormal_columns": Form.FRAME,
    "distribution": Form.DISTRIBUTION,
    "probability": Form.PROBABILITY,
    "unit_interval": Form.UNIT,
    "integer": Form.INTEGER,
    "grows": Form.INTEGER,
    "positive": Form.POSITIVE,
}


class _Draws:
    """A fixed stream of numbers for each seed (splitmix64): the same on every machine and in every version."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 0x9E3779B97F4A7C15 & 0xFFFF_FFFF_FFFF_FFFF

    def below(self, limit: int) -> int:
        self._state = self._state + 0x9E3779B97F4A7C15 & 0xFFFF_FFFF_FFFF_FFFF
        mixed = self._state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFF_FFFF_FFFF_FFFF
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & 0xFFFF_FFFF_FFFF_FFFF
        return (mixed ^ mixed >> 31) % limit


@dataclass(frozen=True, slots=True)
class _Draft:
    """Sizes, and the numbers that values are made from: entries, weights, positions, vectors to reflect at."""

    sizes: Mapping[str, int]
    numbers: Mapping[str, tuple[fmpq, ...]]

    def key(self) -> str:
        return f"{list(self.sizes.values())}{list(self.numbers.values())}"

    def total(self) -> int:
        return sum(self.sizes.values())


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a number is at least, or strictly above."""

    value: fmpq
    strict: bool


def _reflected(vector: Sequence[fmpq], rows: list[list[fmpq]]) -> list[list[fmpq]]:
    """Return the rows of a matrix, each reflected at the plane orthogonal to a vector: exact, and orthonormal still."""
    square = sum((entry * entry for entry in vector), start=ZERO)
    if square == 0:
        return rows
    found = []
    for row in rows:
        factor = 2 * sum((a * b for a, b in zip(row, vector, strict=True)), start=ZERO) / square
        found.append([a - factor * b for a, b in zip(row, vector, strict=True)])
    return found


def _orthogonal(numbers: Sequence[fmpq], size: int) -> list[list[fmpq]]:
    """Return an orthogonal matrix from two vectors: the product of two reflections, the identity if both are zero."""
    rows = [[UNIT if i == j else ZERO for j in range(size)] for i in range(size)]
    return _reflected(numbers[size : 2 * size], _reflected(numbers[:size], rows))


class _Recipe:
    """How assignments of a question's symbols are made, so that all that is said of them holds."""

    def __init__(
        self,
        symbols: Symbols,
        interpreter: Interpreter,
        conditions: Sequence[Comparison],
        fixed: Mapping[str, fmpq] | None = None,
    ) -> None:
        self.symbols = symbols
        self.interpreter = interpreter
        self.conditions = conditions
        self.fixed = fixed or {}
        self._names = [size.name for size in symbols.dimensions()]
        self.own_sizes = [name for name in self._names if name not in interpreter.equal_sizes]
        self.forms = self._forms()
        self._groups = self._frame_groups()
        self._bounds = self._lower_bounds()
        self._best_sizes: list[dict[str, int]] | None = None

    def _forms(self) -> dict[str, Form]:
        forms = {}
        for name, symbol in self.symbols.by_name.items():
            made = symbol.definition is not None or name in self._names
            if made or symbol.properties & {"function", "identity", "normal"}:
                continue
            if symbol.in_span_of is not None:
                forms[name] = Form.SPAN
                continue
            forms[name] = next((form for key, form in _PROPERTIES.items() if key in symbol.properties), Form.REAL)
        # What a combination is made of comes before it.
        return dict(sorted(forms.items(), key=lambda item: item[1] is Form.SPAN))

    def _frame_groups(self) -> list[list[str]]:
        """Return the orthonormal symbols, together where they are orthogonal to each other as well."""
        frames = [name for name, form in self.forms.items() if form is Form.FRAME]
        group = {name: [name] for name in frames}

        def join(left: str, right: str) -> None:
            if left in group and right in group and group[left] is not group[right]:
                group[left].extend(group[right])
                for name in group[right]:
                    group[name] = group[left]

        for condition in self.conditions:
            match condition:
                case Comparison(
                    left=Product(left=Transposed(value=Name(name=left)), right=Name(name=right)),
                    relation="=",
                    right=Number(value=Fraction(numerator=0)),
                ):
                    join(left, right)
        return [names for name, names in group.items() if names[0] == name]

    def _lower_bounds(self) -> dict[str, _Bound]:
        bounds = {}
        for condition in self.conditions:
            match condition:
                case Comparison(left=Name(name=name), relation=">" | ">=" as relation, right=Number(value=value)):
                    bounds[name] = _Bound(exact(value), relation == ">")
                case Comparison(left=Number(value=value), relation="<" | "<=" as relation, right=Name(name=name)):
                    bounds[name] = _Bound(exact(value), relation == "<")
        return bounds

    # Sizes

    def sizes(self) -> list[dict[str, int]]:
        """Return choices of sizes, the best for a search first: small, different from each other, not 1."""
        if self._best_sizes is None:
            self._best_sizes = list(islice(self._choices(_burden), MOST_SIZES))
        return self._best_sizes

    def small_sizes(self, below: int) -> Iterator[dict[str, int]]:
        """Yield choices of sizes with a total below some number, the smallest first."""
        return takewhile(lambda sizes: sum(sizes.values()) < below, self._choices(sum))

    def _choices(self, order: Callable[[tuple[int, ...]], int]) -> Iterator[dict[str, int]]:
        ranges = [self._size_range(name) for name in self.own_sizes]
        for choice in sorted(product(*ranges), key=lambda sizes: (order(sizes), sum(sizes), sizes)):
            sizes = self._completed(dict(zip(self.own_sizes, choice, strict=True)))
            if self._sizes_hold(sizes):
                yield sizes

    def _size_range(self, name: str) -> Sequence[int]:
        if name in self.fixed:
            return [int(self.fixed[name])]
        most = {0: 0, 1: LARGEST_SIZE, 2: LARGEST_SIZE, 3: LARGEST_SIZE, 4: 4}.get(len(self.own_sizes), 3)
        bound = self._bounds.get(name)
        least = 1 if bound is None else max(1, int(bound.value.floor()) + (1 if bound.strict else 0))
        return range(least, max(most, least + 2) + 1)

    def _completed(self, sizes: dict[str, int]) -> dict[str, int]:
        for name, dimension in self.interpreter.equal_sizes.items():
            sizes[name] = size_of(dimension, sizes)
        return sizes

    def _sizes_hold(self, sizes: Mapping[str, int]) -> bool:
        if any(size < 1 for size in sizes.values()):
            return False
        for group in self._groups:
            rows, wanted = 0, 0
            for name in group:
                dimensions = self.interpreter.dimensions[name]
                rows = size_of(dimensions[0], sizes)
                wanted += size_of(dimensions[1], sizes)
            if wanted > rows:
                return False
        evaluation = self.interpreter.at(Assignment(sizes, {}))
        about_sizes = (condition for condition in self.conditions if names_in(condition) <= set(sizes))
        try:
            return all(evaluation.holds(condition) for condition in about_sizes)
        except Fault:
            return False

    def _size(self, dimension: Dimension, sizes: Mapping[str, int]) -> int:
        return size_of(dimension, sizes)

    # Drafts

    def drafts(self) -> Iterator[tuple[_Draft, Assignment]]:
        """Yield all drafts that give an assignment, simple ones first, none twice."""
        seen: set[str] = set()
        choices = self.sizes()
        idle = 0
        for seed in range(LONGEST):
            if not choices or idle > 40:
                return
            sizes = choices[seed % min(len(choices), 3 + seed // 12)]
            draft = self.draft(sizes, _level(seed), seed)
            idle += 1
            key = draft.key()
            if key in seen:
                continue
            seen.add(key)
            made = self.assignment(draft)
            if made is not None:
                idle = 0
                yield draft, made

    def draft(self, sizes: Mapping[str, int], level: int, seed: int) -> _Draft:
        """Return the draft of a seed: which numbers of the level's pool go where."""
        draws = _Draws(seed)
        numbers = {}
        for name, form in self.forms.items():
            count = self._count(name, form, sizes)
            if name in self.fixed:
                numbers[name] = (self.fixed[name],) * count
            elif form in {Form.INDEX, Form.ONE_HOT}:
                most = self._positions(name, sizes)
                numbers[name] = tuple(fmpq(1 + draws.below(most)) for _ in range(count))
            elif count:
                numbers[name] = self._drawn(name, form, count, level, draws)
        return _Draft(sizes, numbers)

    def _drawn(self, name: str, form: Form, count: int, level: int, draws: _Draws) -> tuple[fmpq, ...]:
        form = _POOL_OF.get(form, form)
        pool = _POOLS[form][level]
        bound = self._bounds.get(name)
        if bound is not None and form in {Form.REAL, Form.POSITIVE, Form.INTEGER}:
            least = bound.value if form is not Form.INTEGER else fmpq(bound.value.ceil())
            if form is not Form.REAL:
                least = max(least, UNIT if form is Form.INTEGER else ZERO)
            above = _POOLS[Form.INTEGER if form is Form.INTEGER else Form.POSITIVE][level]
            pool = tuple(least + number for number in above)
            if not bound.strict:
                pool = (least, *pool)
        found = [pool[draws.below(len(pool))] for _ in range(count)]
        if (
            count > 1 and len(pool) > 1 and all(number == found[0] for number in found)
        ):  # equal entries hide which is which
            found[draws.below(count)] = pool[(pool.index(found[0]) + 1) % len(pool)]
        return tuple(found)

    def _count(self, name: str, form: Form, sizes: Mapping[str, int]) -> int:
        rows, columns = (size_of(dimension, sizes) for dimension in self.interpreter.dimensions[name])
        if form is Form.FRAME:
            return 2 * rows if any(group[0] == name for group in self._groups) else 0
        if form is Form.ONE_HOT:
            return 0 if self._hot_at(name) else rows if self._by_row(name) else 1
        if form is Form.SPAN:
            within = self.symbols[name].in_span_of
            assert within is not None
            return size_of(self.interpreter.dimensions[within][1], sizes) * columns
        return rows * columns

    def _hot_at(self, name: str) -> str | None:
        at = self.symbols[name].at
        return at if at in self.forms else None

    def _by_row(self, name: str) -> bool:
        return ONE not in self.interpreter.dimensions[name]

    def _positions(self, name: str, sizes: Mapping[str, int]) -> int:
        """Return how many positions an index, or the hot entry of a vector, has."""
        if self.forms[name] is Form.ONE_HOT:
            rows, columns = self.interpreter.dimensions[name]
            return size_of(rows if columns == ONE else columns, sizes)
        of = [symbol.name for symbol in self.symbols.by_name.values() if symbol.at == name]
        if of:
            rows, columns = self.interpreter.dimensions[of[0]]
            return size_of(rows if columns == ONE else columns, sizes)
        return min(sizes.values(), default=LARGEST_SIZE)

    # Assignments

    def assignment(self, draft: _Draft) -> Assignment | None:
        """Return the assignment a draft gives; None if it breaks what is given."""
        values: dict[str, Rows] = {}
        made = Assignment(draft.sizes, values)
        for group in self._groups:
            rows = self._size(self.interpreter.dimensions[group[0]][0], draft.sizes)
            frame = _orthogonal(draft.numbers[group[0]], rows)
            start = 0
            for name in group:
                end = start + self._size(self.interpreter.dimensions[name][1], draft.sizes)
                values[name] = tuple(tuple(row[start:end]) for row in frame)
                start = end
        for name, form in self.forms.items():
            if form is not Form.FRAME:
                found = self._values(name, form, draft, made)
                if found is None:
                    return None
                values[name] = found
        return made if self._holds(made) else None

    def _holds(self, made: Assignment) -> bool:
        if not self.conditions:
            return True
        evaluation = self.interpreter.at(made)
        try:
            return all(evaluation.holds(condition) for condition in self.conditions)
        except Fault:
            return False

    def _values(self, name: str, form: Form, draft: _Draft, made: Assignment) -> Rows | None:
        height, width = (size_of(dimension, draft.sizes) for dimension in self.interpreter.dimensions[name])
        numbers = draft.numbers.get(name, ())
        if form is Form.ONE_HOT:
            at = self._hot_at(name)
            positions = draft.numbers[at] if at else numbers
            if self.interpreter.dimensions[name][1] == ONE:
                return _hot(positions[0], height, column=True)
            hot = [_hot(position, width) for position in positions]
            return None if None in hot else tuple(row[0] for row in hot if row is not None)
        if form is Form.SPAN:
            within = self.symbols[name].in_span_of
            assert within is not None
            try:
                basis = self.interpreter.at(made).symbol(within)
            except Fault:
                return None
            columns = [numbers[start :: width or 1] for start in range(width)]
            rows = basis.entries if isinstance(basis, Matrix) else ((basis,),)
            return tuple(
                tuple(sum((a * b for a, b in zip(row, column, strict=True)), start=ZERO) for column in columns)
                for row in rows
            )
        if form is Form.DISTRIBUTION:
            by_row = self._by_row(name)
            length = width if by_row else height * width
            parts = [numbers[start : start + length] for start in range(0, len(numbers), length)]
            numbers = tuple(number / sum(part, start=ZERO) for part in parts for number in part)
        return tuple(numbers[start : start + width] for start in range(0, height * width, width))


def _changed(draft: _Draft, name: str, numbers: tuple[fmpq, ...]) -> _Draft | None:
    """Return a draft with other numbers for a symbol, None if they are the same."""
    return None if draft.numbers[name] == numbers else _Draft(draft.sizes, {**draft.numbers, name: numbers})


def _stepped(draft: _Draft, name: str, place: int, ladder: tuple[fmpq, ...], rung: int) -> _Draft | None:
    """Return a draft with one number on a rung of a ladder, None if it stands there already or on a simpler one."""
    numbers = draft.numbers[name]
    if numbers[place] in ladder[: rung + 1]:
        return None
    return _changed(draft, name, (*numbers[:place], ladder[rung], *numbers[place + 1 :]))


def _hot(position: fmpq, length: int, *, column: bool = False) -> Rows | None:
    """Return the row or column that is 1 at a position and 0 elsewhere."""
    if not 1 <= position <= length:
        return None
    hot = tuple(UNIT if place == position else ZERO for place in range(1, length + 1))
    return tuple((entry,) for entry in hot) if column else (hot,)


def _burden(sizes: Sequence[int]) -> int:
    """Return how little a choice of sizes recommends itself: large ones, ones, and equal ones hide mistakes."""
    return sum(sizes) + 2 * sum(size == 1 for size in sizes) + 3 * (len(sizes) - len(set(sizes)))


def _level(seed: int) -> int:
    return 0 if seed < 8 else 1 if seed < 20 else 2 if seed < 36 else 3


def assignments(symbols: Symbols) -> Iterator[Assignment]:
    """Yield assignments of all symbols that are not defined by others, smallest first, always in the same order."""
    recipe = _Recipe(symbols, Interpreter(symbols), [read_comparison(text, symbols) for text in symbols.given])
    for _, made in recipe.drafts():
        yield made


# --- What a formula depends on ---------------------------------------------------------------------------------------


def _behind(names: set[str], interpreter: Interpreter) -> set[str]:
    """Return names and all that their definitions, means, covariances and spans mention."""
    found: set[str] = set()
    pending = sorted(names)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        name = interpreter.matrix_of_column.get(name, name)
        symbol = interpreter.symbols.by_name.get(name)
        if symbol is not None:
            found.add(name)
            pending.extend(_mentioned(symbol, interpreter))
    return found


def _mentioned(symbol: Symbol, interpreter: Interpreter) -> Iterator[str]:
    if "function" in symbol.properties:
        return
    if symbol.definition is not None:
        yield from names_in(interpreter.definition(symbol.name))
    if symbol.mean is not None:
        yield from names_in(interpreter.read(symbol.mean))
    covariance = interpreter.covariance(symbol.name)
    if covariance is not None:
        yield from names_in(covariance)
    for name in (symbol.at, symbol.in_span_of):
        if name is not None:
            yield name
    if "index" in symbol.properties:  # its range is that of the vectors it is a place in
        yield from (other.name for other in interpreter.symbols.by_name.values() if other.at == symbol.name)
    for size in symbol.shape:
        yield from (part.name for part in size.free_symbols)


# --- Comparing -------------------------------------------------------------------------------------------------------


class _Finding(StrEnum):
    SAME = "same"
    CLOSE = "close"  # balls overlap
    UNKNOWN = "unknown"  # no value found, of one or the other
    SKIPPED = "skipped"  # the expected formula has no value here
    VALUE = "value"
    SHAPE = "shape"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class _Outcome:
    finding: _Finding
    yours: Value = None
    wanted: Value = None
    why: str = ""
    gap: float = 0.0

    @property
    def is_too_large(self) -> bool:
        return self.why == TOO_LARGE

    def refutes(self) -> bool:
        return self.finding in {_Finding.VALUE, _Finding.SHAPE, _Finding.UNDEFINED}


@dataclass(slots=True)
class _Question:
    """Two formulas of one question, and how they should be related."""

    answer: Node
    expected: Node
    interpreter: Interpreter
    tolerance: fmpq | None = None
    loose: bool = field(init=False)  # a component form says nothing of rows and columns
    steps: int = 0  # taken by all evaluations

    def __post_init__(self) -> None:
        self.loose = bool(self.interpreter.free(self.answer) or self.interpreter.free(self.expected))

    def at(self, made: Assignment, precision: int) -> _Outcome:
        """Compare both formulas at an assignment. Raises what is wrong with the shapes of the expected one."""
        if self.steps > MOST_STEPS_IN_ALL:
            return _Outcome(_Finding.UNKNOWN, why=TOO_LARGE)
        with ctx.workprec(precision):
            evaluation = self.interpreter.at(made)
            try:
                return self._evaluated(evaluation)
            finally:
                self.steps += evaluation.steps

    def _evaluated(self, evaluation: Evaluation) -> _Outcome:
        try:
            wanted = evaluation.value(self.expected)
        except Undecided as fault:
            return _Outcome(_Finding.UNKNOWN, why=str(fault))
        except NoValue:
            return _Outcome(_Finding.SKIPPED)
        try:
            yours = evaluation.value(self.answer)
        except ShapeError as fault:
            return _Outcome(_Finding.SHAPE, None, wanted, str(fault))
        except Undecided as fault:
            return _Outcome(_Finding.UNKNOWN, why=str(fault))
        except NoValue as fault:
            return _Outcome(_Finding.UNDEFINED, None, wanted, str(fault))
        return self._compared(self._laid_out(yours, wanted), wanted)

    def _laid_out(self, yours: Value, wanted: Value) -> Value:
        mine, its = dimensions_of(yours), dimensions_of(wanted)
        if isinstance(self.answer, Number) and self.answer.value == 0 and isinstance(wanted, Matrix):
            return wanted.each(lambda _: ZERO)  # 0 is also how a zero vector or matrix is written
        if self.loose and mine != its and mine == its[::-1]:
            return transposed(yours)
        return yours

    def _compared(self, yours: Value, wanted: Value) -> _Outcome:
        if dimensions_of(yours) != dimensions_of(wanted):
            why = f"yours is {shape_in_words(yours)}, expected {shape_in_words(wanted)}"
            return _Outcome(_Finding.SHAPE, yours, wanted, why)
        finding, gap = _Finding.SAME, 0.0
        for mine, its in zip(entries_of(yours), entries_of(wanted), strict=True):
            found = self._numbers(mine, its)
            if found is _Finding.VALUE:
                return _Outcome(_Finding.VALUE, yours, wanted)
            if found is _Finding.CLOSE:
                finding = found
                gap = max(gap, float(abs(arb(mine) - arb(its)).upper()))
        return _Outcome(finding, yours, wanted, gap=gap)

    def _numbers(self, mine: Scalar, its: Scalar) -> _Finding:
        if self.tolerance is not None:
            room = self.tolerance * abs(its) - abs(mine - its)
            return _Finding.VALUE if room < 0 else _Finding.SAME if room >= 0 else _Finding.CLOSE
        if type(mine) is fmpq and type(its) is fmpq:
            return _Finding.SAME if mine == its else _Finding.VALUE
        return _Finding.CLOSE if arb(mine).overlaps(arb(its)) else _Finding.VALUE


def _tolerance(relation: str) -> fmpq | None:
    if relation in {"equal", "equal_up_to_transpose"}:
        return None
    match = re.fullmatch(r"approx:(\d+(?:\.\d+)?(?:[eE]-?\d+)?)", relation)
    if match is None:
        raise ValueError(f"{relation!r} is no relation of two values; equal, equal_up_to_transpose and approx:0.01 are")
    return exact(Fraction(match[1]))


# --- Searching -------------------------------------------------------------------------------------------------------


def refute(
    answer: Node,
    expected: Node,
    symbols: Symbols,
    relation: str = "equal",
    limit: int = TRIED,
) -> Counterexample | Agreement:
    """Search for the smallest assignment where the answer is not related to the expected formula as it should be.

    An expected formula that does not fit together is a fault of the question: its ShapeError is raised.
    """
    try:
        search = _Search(answer, expected, symbols, relation)
    except Undecided as fault:
        return Agreement(0, why=str(fault))
    found = search.run(limit)
    if relation == "equal_up_to_transpose" and isinstance(found, Counterexample):
        other = _Search(Transposed(answer), expected, symbols, relation).run(limit)
        if isinstance(other, Agreement) or found.kind is Kind.SHAPE:
            return other
    return found


class _Search:
    """The search for a counterexample to one answer."""

    def __init__(
        self,
        answer: Node,
        expected: Node,
        symbols: Symbols,
        relation: str,
    ) -> None:
        self._interpreter = Interpreter(symbols)
        self._symbols = symbols
        self.question = _Question(answer, expected, self._interpreter, _tolerance(relation))
        conditions = [read_comparison(text, symbols) for text in symbols.given]
        self._conditions = [(condition, names_in(condition)) for condition in conditions]
        mentioned = names_in(answer) | names_in(expected)
        self.shown = _behind(mentioned, self._interpreter)
        self.recipe = self._recipe()

    def _recipe(self, fixed: Mapping[str, fmpq] | None = None) -> _Recipe:
        """Return the recipe for what the formulas depend on, and all that is given about it."""
        needed, before = set(self.shown), -1
        while len(needed) != before:
            before = len(needed)
            for _, names in self._conditions:
                if names & needed:
                    needed |= _behind(names, self._interpreter)
        by_name = {name: symbol for name, symbol in self._symbols.by_name.items() if name in needed}
        conditions = [condition for condition, names in self._conditions if names & needed]
        return _Recipe(Symbols(by_name, self._symbols.given), self._interpreter, conditions, fixed)

    def run(self, limit: int) -> Counterexample | Agreement:
        """Return the smallest counterexample found among the first `limit` assignments, or that there is none."""
        undefined: _Draft | None = None
        unsure: list[tuple[_Draft, Assignment, _Outcome]] = []
        tried, exactly = 0, 0
        for (draft, made), _ in zip(self.recipe.drafts(), range(limit), strict=False):
            outcome = self.question.at(made, FIRST_PRECISION)
            if outcome.finding is _Finding.SHAPE:
                return self._misshapen(made, outcome)
            if outcome.finding is _Finding.VALUE:
                return self._shrunk(draft, _Finding.VALUE)
            if outcome.finding is _Finding.UNDEFINED:
                undefined = undefined or draft
            elif outcome.finding is _Finding.SAME:
                tried, exactly = tried + 1, exactly + 1
            elif outcome.finding is not _Finding.SKIPPED:
                unsure.append((draft, made, outcome))
            if sum(each.is_too_large for _, _, each in unsure) == MOST_TOO_LARGE:
                break
        closer = self._closer(unsure)
        if isinstance(closer, Counterexample):
            return closer
        if undefined is not None:
            return self._shrunk(undefined, _Finding.UNDEFINED)
        tried += closer.tried
        why = closer.why or ("" if tried else "the expected formula has no value at any assignment tried")
        return Agreement(tried, exactly + closer.exact, closer.worst, why, closer.unknown)

    def _closer(self, unsure: Sequence[tuple[_Draft, Assignment, _Outcome]]) -> Counterexample | Agreement:
        """Look with more precision where balls overlapped or no value was found."""
        tried, exactly, looked, worst, why, unknown = 0, 0, 0, 0.0, "", 0
        for draft, made, first in unsure:
            outcome = first
            wide = outcome.finding is _Finding.UNKNOWN or outcome.gap > 1e-9
            if outcome.is_too_large:
                pass  # more precision takes more work, not less
            elif looked < MOST_LOOKED_AT_CLOSER or (wide and looked < 2 * MOST_LOOKED_AT_CLOSER):
                looked += 1
                outcome = self.question.at(made, LAST_PRECISION)
            if outcome.finding is _Finding.SHAPE:
                return self._misshapen(made, outcome)
            if outcome.refutes():
                return self._shrunk(draft, outcome.finding)
            if outcome.finding in {_Finding.SAME, _Finding.CLOSE}:
                tried += 1
                exactly += outcome.finding is _Finding.SAME
                worst = max(worst, outcome.gap)
            else:
                why = why or outcome.why
                unknown += 1
        return Agreement(tried, exactly, worst, why, unknown)

    # Shrinking

    def _shrunk(self, draft: _Draft, finding: _Finding) -> Counterexample:
        """Make a counterexample smaller as long as it stays one: sizes first, then entries."""
        for sizes in islice(self.recipe.small_sizes(draft.total()), MOST_SMALLER_SIZES):
            # Without zeros first: what is different at all differs there.
            drafts = [self.recipe.draft(sizes, level, seed) for level, seed in ((3, 0), (3, 1), (1, 8))]
            found = next((candidate for candidate in drafts if self._refutes(candidate, finding)), None)
            if found is not None:
                draft = found
                break
        trials = 0
        for simpler in (self._simpler_symbols, self._simpler_entries, self._simpler_entries):
            for change in simpler(draft):
                if trials == MOST_SHRINKS:
                    break
                candidate = change(draft)
                if candidate is not None:
                    trials += 1
                    draft = candidate if self._refutes(candidate, finding) else draft
        return self._told(draft, finding)

    def _simpler_symbols(self, draft: _Draft) -> Iterator[Callable[[_Draft], _Draft | None]]:
        """Yield changes of all numbers of a symbol to the simplest."""
        for name, numbers in draft.numbers.items():
            simplest = (self._ladder(name)[0],) * len(numbers)
            if len(numbers) > 1:
                yield partial(_changed, name=name, numbers=simplest)

    def _simpler_entries(self, draft: _Draft) -> Iterator[Callable[[_Draft], _Draft | None]]:
        """Yield changes of one number to a simpler one, the simplest first."""
        for name, numbers in draft.numbers.items():
            for place in range(len(numbers)):
                for rung in range(len(self._ladder(name))):
                    yield partial(_stepped, name=name, place=place, ladder=self._ladder(name), rung=rung)

    def _ladder(self, name: str) -> tuple[fmpq, ...]:
        return _SIMPLEST_FIRST[self.recipe.forms[name]]

    def _refutes(self, draft: _Draft, finding: _Finding) -> bool:
        made = self.recipe.assignment(draft)
        return made is not None and self._certain(made, finding).finding is finding

    def _certain(self, made: Assignment, finding: _Finding) -> _Outcome:
        outcome = self.question.at(made, FIRST_PRECISION)
        return outcome if outcome.finding is finding else self.question.at(made, LAST_PRECISION)

    # Telling

    def _told(self, draft: _Draft, finding: _Finding) -> Counterexample:
        made = self.recipe.assignment(draft)
        assert made is not None
        self.question.steps = 0  # what was found is told, whatever it took
        with ctx.workprec(LAST_PRECISION):
            outcome = self.question.at(made, LAST_PRECISION)
            where = self._where(made)
            expected = value_in_words(outcome.wanted)
            if finding is _Finding.UNDEFINED:
                yours = f"no value there: {outcome.why}"
                sentence = f"{where}yours has {yours}; expected {expected}"
                return Counterexample(made, yours, expected, sentence, Kind.UNDEFINED)
            yours, expected = _told_apart(outcome.yours, outcome.wanted)
        return Counterexample(made, yours, expected, f"{where}yours {yours}, expected {expected}")

    def _misshapen(self, made: Assignment, outcome: _Outcome) -> Counterexample:
        yours = "does not fit together" if outcome.yours is None else shape_in_words(outcome.yours)
        return Counterexample(made, yours, shape_in_words(outcome.wanted), outcome.why, Kind.SHAPE)

    def _where(self, made: Assignment) -> str:
        parts = [f"{name} = {size}" for name, size in made.sizes.items() if name in self.shown]
        shown = (name for name in self._symbols.by_name if name in made.values and name in self.shown)
        parts.extend(f"{name_in_words(name)} = {rows_in_words(made.values[name])}" for name in shown)
        return f"{', '.join(parts)}: " if parts else ""

    # Where they agree

    def agree_when(self, fixed: Mapping[str, fmpq]) -> bool:
        """Tell whether no difference is found, at several assignments, with some symbols or sizes fixed."""
        recipe = self._recipe(fixed)
        agreed = 0
        for _, made in recipe.drafts():
            outcome = self.question.at(made, FIRST_PRECISION)
            if outcome.finding is _Finding.CLOSE:
                outcome = self.question.at(made, LAST_PRECISION)
            if outcome.refutes() or outcome.finding is _Finding.UNKNOWN:
                return False
            agreed += outcome.finding is not _Finding.SKIPPED
            if agreed == 8:
                return True
        return agreed > 0  # fewer than 8 there are not: all were tried

    def special_cases(self) -> Iterator[tuple[str, fmpq]]:
        """Yield what may make formulas agree by chance: a small size, a symbol that is 0 or 1."""
        sizes = [name for name in self.recipe.own_sizes if name in self.shown]
        for size in (1, 2, 3):
            yield from ((name, fmpq(size)) for name in sizes)
        for name, form in self.recipe.forms.items():
            if name in self.shown and form in {Form.REAL, Form.POSITIVE, Form.INTEGER, Form.PROBABILITY}:
                yield from ((name, number) for number in _SIMPLEST_FIRST[form][:2])


def agrees_when(
    answer: Node,
    expected: Node,
    symbols: Symbols,
    relation: str = "equal",
) -> str | None:
    """Say where a wrong formula happens to be right, if there is such a case: `they agree when d = 1`."""
    try:
        search = _Search(answer, expected, symbols, relation)
    except Undecided:
        return None
    for name, number in search.special_cases():
        if search.agree_when({name: number}):
            return f"they agree when {name_in_words(name)} = {number_in_words(number)}"
    return None


# --- Words -----------------------------------------------------------------------------------------------------------

_GREEK: Final = dict(
    zip(
        (
            *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
            *("nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "lam"),
        ),
        "αβγδεζηθικλμνξπρστφχψωλ",
        strict=True,
    )
)


def name_in_words(name: str) -> str:
    """Write a name as it is spelled on paper.

    >>> name_in_words("mu")
    'μ'
    """
    return _GREEK.get(name, name)


def value_in_words(value: Value, digits: int = 6, *, decimal: bool = False) -> str:
    """Write a value: `1/2`, `(0, 1)` for a vector or row, `[1 0; 0 1]` for a matrix."""
    if not isinstance(value, Matrix):
        return number_in_words(value, digits, decimal=decimal)
    rows = [[number_in_words(entry, digits, decimal=decimal) for entry in row] for row in value.entries]
    return _array_in_words(rows)


def rows_in_words(rows: Rows) -> str:
    """Write the entries of a symbol; all zeros are one zero."""
    if all(entry == 0 for row in rows for entry in row):
        return "0"
    return _array_in_words([[number_in_words(entry) for entry in row] for row in rows])


def _array_in_words(rows: Sequence[Sequence[Any]]) -> str:
    if len(rows) == 1 or len(rows[0]) == 1:
        flat = [entry for row in rows for entry in row]
        return flat[0] if len(flat) == 1 else f"({', '.join(flat)})"
    return f"[{'; '.join(' '.join(row) for row in rows)}]"


def _told_apart(yours: Value, wanted: Value) -> tuple[str, str]:
    """Write two different values with as many digits as it takes to see that they differ."""
    decimal = any(type(entry) is arb for entry in (*entries_of(yours), *entries_of(wanted)))
    texts = ("", "")
    for digits in (6, 12, 24, 48, 96):
        texts = (
            value_in_words(yours, digits, decimal=decimal),
            value_in_words(wanted, digits, decimal=decimal),
        )
        if texts[0] != texts[1]:
            break
    return texts
