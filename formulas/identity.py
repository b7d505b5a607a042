"""Whether two computations are the same function of the real numbers, proved by exact arithmetic.

A computation is a list of nodes, each an operation on earlier ones. Both computations are brought into one normal
form: quotients of polynomials over generators (formulas/quotients.py). An exponential is a product of powers of a few
e^b, since e^(a+b) = e^a e^b; tanh and sigmoids are rational in these; a logarithm is a sum over the factors of its
argument, where they are positive; |x| is x times its sign; the largest of several numbers is a generator of its own.
Every step is an identity at each point, so two equal normal forms are proved equal, for all inputs at which no
denominator is zero and every logarithm and root is real. Two that differ may be equal all the same.

A floating constant is read as the simple number it is the rounding of: 1/3, 0.001, sqrt(2), log(10), pi.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq_mpoly, fmpz

from formulas.quotients import (
    ALWAYS,
    NEGATIVE,
    NOT_NEGATIVE,
    POSITIVE,
    Quotient,
    Quotients,
    Signs,
    TooFewGenerators,
    TooLarge,
    exactly,
)

ARITY = {
    "add": 2, "subtract": 2, "multiply": 2, "divide": 2, "power": 2, "negative": 1, "absolute": 1, "exp": 1, "log": 1,
    "sqrt": 1, "tanh": 1, "sin": 1, "cos": 1, "greater": 2, "greater_equal": 2, "equal": 2, "not": 1, "and": 2,
    "where": 3,
}  # fmt: skip
OF_SEVERAL = "largest"
GENERATORS = {"exp": 1, "tanh": 1, "log": 1, "sqrt": 1, "sin": 2, "cos": 2, OF_SEVERAL: 1, "where": 1, "absolute": 1}
COMPARISONS: Mapping[str, Signs] = {
    "greater": POSITIVE,
    "greater_equal": NOT_NEGATIVE,
    "equal": frozenset({0}),
}
CONNECTIVES = frozenset({*COMPARISONS, "not", "and"})

REAL, POSITIVE_INPUT, SHARE, LAST_SHARE = "real", "positive", "share", "last share"  # kinds of inputs

ULPS = 4  # how far a constant may be from the simple number it stands for, in units of its last place
MOST_WORK = 1_500_000  # steps; a second or two
MOST_RESTARTS = 12
MOST_GENERATORS = 400
LARGEST_POWER = 12
NO_SWITCH = -1
MOST_HIDDEN = 3  # signs of one node that are tried both ways
ROUNDED = 9  # decimals in which values must agree to be worth a proof
LARGE = 10  # terms: what is smaller stays as it is

Node = tuple[Any, ...]  # an operation and the numbers of its arguments, or a leaf and what it is
Path = Sequence[tuple[int, bool]]  # comparisons and their outcomes


class Unproved(Exception):
    """There is no proof by these rules."""


class Computation(NamedTuple):
    """Nodes in an order in which arguments come first, the numbers of its results, and the path it took."""

    nodes: Sequence[Node]
    results: Sequence[int]
    path: Path = ()


class Outcome(NamedTuple):
    """What was proved: under which comparisons, each a node of the first or second computation and its outcome."""

    first: Path
    second: Path


def prove(
    first: Computation, second: Computation, kinds: Sequence[str], points: np.ndarray[Any, Any], work: int = MOST_WORK
) -> Outcome:
    """Prove two computations equal, result by result, or raise Unproved; `kinds` are those of the inputs.

    Values at a few points (a row for each input) show where both compute the same on the way. There, a proof is
    tried first, and what has been proved is one generator from then on: so a long computation is many short proofs.

    >>> x, minus, e, f = ("input", 0), ("negative", 0), ("exp", 0), ("exp", 1)
    >>> one, both, share = ("constant", 1), ("add", 3, 2), ("divide", 2, 4)
    >>> left = Computation([x, minus, e, one, both, share], [5])  # e^x / (1 + e^x)
    >>> right = Computation([x, minus, f, one, both, ("divide", 3, 4)], [5])  # 1 / (1 + e^-x)
    >>> prove(left, right, ["real"], np.array([[0.5, -0.7]]))
    Outcome(first=(), second=())
    """
    if len(first.results) != len(second.results):
        raise Unproved("they have different numbers of results")
    nodes, numbers = _merged(first.nodes, second.nodes)
    pairs = [(numbers[0][a], numbers[1][b]) for a, b in zip(first.results, second.results, strict=True)]
    paths = [[(numbers[place][n], outcome) for n, outcome in each.path] for place, each in enumerate((first, second))]
    for twins, share in ((_twins(nodes, numbers, points), work), ({}, work // 4)):
        try:
            needed = _attempt(nodes, kinds, [*paths[0], *paths[1]], pairs, twins, share)
        except Unproved:
            if not twins:
                raise
        else:
            theirs = tuple(row for row, merged in zip(first.path, paths[0], strict=True) if merged in needed)
            new = [row for row in needed if row not in paths[0]]
            ours = tuple(row for row, merged in zip(second.path, paths[1], strict=True) if merged in new)
            return Outcome(theirs, ours)
    raise AssertionError


def _attempt(  # noqa: PLR0913, PLR0917 - all that is known
    nodes: Sequence[Node],
    kinds: Sequence[str],
    path: Path,
    pairs: Sequence[tuple[int, int]],
    twins: Mapping[int, int],
    work: int,
) -> Path:
    """Prove all pairs equal; return what is needed of the path. Begins again where a choice was too small."""
    size = 24 + len(kinds) + sum(GENERATORS.get(node[0], 0) for node in nodes)
    units: dict[int, int] = {}
    for _ in range(MOST_RESTARTS):
        if size > MOST_GENERATORS:
            raise Unproved("it has too many parts")
        field = Quotients(size, work)
        try:
            form = NormalForm(nodes, kinds, field, units, twins)
            needed = form.assume(path)
            for a, b in pairs:
                form.expect_same(a, b)
        except TooFewGenerators:
            size += size // 2
            work = field.left
        except FinerUnit as finer:
            units[finer.base] = finer.unit
            work = field.left
        except (TooLarge, RecursionError, ZeroDivisionError) as failure:
            raise Unproved(type(failure).__name__) from None
        else:
            return needed
    raise Unproved("it began again too often")


def _twins(nodes: Sequence[Node], numbers: Sequence[Sequence[int]], points: np.ndarray[Any, Any]) -> dict[int, int]:
    """Return which nodes have the same values as one of the other computation: by node, a number for its values."""
    found = values(nodes, points)
    classes: dict[bytes, int] = {}
    known = [classes.setdefault(np.float64(row).round(ROUNDED).tobytes(), len(classes)) for row in found]
    shared = set.intersection(*({known[node] for node in each} for each in numbers))
    return {node: number for node, number in enumerate(known) if number in shared}


class FinerUnit(Exception):
    """An exponential is needed to a power that is not whole; begin again with a finer one."""

    def __init__(self, base: int, unit: int) -> None:
        super().__init__(base, unit)
        self.base = base
        self.unit = unit


def _merged(*lists: Sequence[tuple[Any, ...]]) -> tuple[list[tuple[Any, ...]], list[list[int]]]:
    """Return the nodes of several computations as one list, equal ones once, and where each went."""
    nodes: list[tuple[Any, ...]] = []
    known: dict[tuple[Any, ...], int] = {}
    places = []
    for each in lists:
        moved: list[int] = []
        for name, *arguments in each:
            leaf = name in ("input", "constant")
            rows = arguments if leaf else [moved[argument] for argument in arguments]
            if name in ("add", "multiply", "and", OF_SEVERAL):
                rows = sorted(rows)
            key = (name, *((type(row), row) for row in rows)) if leaf else (name, *rows)
            if key not in known:
                known[key] = len(nodes)
                nodes.append((name, *rows))
            moved.append(known[key])
        places.append(moved)
    return nodes, places


# ── values ────────────────────────────────────────────────────────────────────────────────────────────────────────

_COMPUTED: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": np.divide, "power": np.power,
    "negative": operator.neg, "absolute": np.absolute, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh,
    "sin": np.sin, "cos": np.cos, "greater": np.greater, "greater_equal": np.greater_equal, "equal": np.equal,
    "not": np.logical_not, "and": np.logical_and, "where": np.where, OF_SEVERAL: lambda *a: np.max(a, axis=0),
}  # fmt: skip


def values(nodes: Sequence[tuple[Any, ...]], points: np.ndarray[Any, Any]) -> list[Any]:
    """Return the value of each node at each point; `points` has a row for each input."""
    found: list[Any] = []
    with np.errstate(all="ignore"):
        for name, *arguments in nodes:
            if name == "input":
                found.append(points[arguments[0]])
            elif name == "constant":
                found.append(np.full(points.shape[1], arguments[0], dtype=np.float64))
            else:
                found.append(_COMPUTED[name](*(found[argument] for argument in arguments)))
    return found


# ── the normal form ───────────────────────────────────────────────────────────────────────────────────────────────

Context = tuple[tuple[int, Signs], ...]  # what is assumed of switches


@dataclass(slots=True)
class _Base:
    """One e^b: its terms, the one that finds it again, its generator; a `gate`'s generator is e^b / (1 + e^b)."""

    terms: dict[Any, Fraction]
    pivot: Any
    generator: int
    unit: int
    gate: bool


class NormalForm:
    """Brings the nodes of computations into normal form."""

    def __init__(
        self, nodes: Sequence[Node], kinds: Sequence[str], field: Quotients, units: Mapping[int, int],
        twins: Mapping[int, int],
    ) -> None:  # fmt: skip
        self._nodes = nodes
        self._field = field
        self._units = units
        self._twins = twins
        self._proved: dict[int, list[tuple[Quotient, Quotient]]] = {}  # by number of values: forms and their names
        self._known: dict[tuple[int, Context], Quotient] = {}
        self._bases: list[_Base] = []
        self._base_of: dict[int, _Base] = {}  # by generator
        self._logs: list[tuple[fmpq_mpoly, int]] = []
        self._log_of: dict[int, fmpq_mpoly] = {}  # by generator
        self._roots: list[tuple[int, fmpq_mpoly, int]] = []
        self._switches: list[tuple[fmpq_mpoly, int]] = []  # polynomials and the generators for their signs
        self._largest: list[tuple[list[Quotient], int]] = []
        self._waves: list[tuple[str, Quotient, int]] = []
        self._named: dict[str, int] = {}
        self._assumed: Context = ()
        self._gates = {a for name, *args in nodes if name == "add" for a in args if self._is_gate(a, args)}
        self._inputs = self._declared(kinds)

    def _is_gate(self, node: int, among: Sequence[int]) -> bool:
        """Return whether a node is the exponential in 1 + e^u."""
        return self._nodes[node][0] == "exp" and any(self._nodes[other] == ("constant", 1) for other in among)

    def _declared(self, kinds: Sequence[str]) -> list[Quotient]:
        field = self._field
        inputs: list[Quotient] = []
        rest = field.constant(1)  # of the distribution whose shares are being listed
        for kind in kinds:
            if kind == LAST_SHARE:
                inputs.append(rest)
                if rest.number is None:
                    field.declare_positive(rest.top)
                rest = field.constant(1)
                continue
            inputs.append(field.generator(field.new(ALWAYS if kind == REAL else POSITIVE)))
            if kind == SHARE:
                rest = field.subtract(rest, inputs[-1])
        return inputs

    def assume(self, path: Path) -> Path:
        """Take comparisons for true (or false) from now on; return those that are not so for all inputs anyway."""
        needed = []
        for node, outcome in path:
            share = self._indicator(node, ()).number
            if share is None:
                needed.append((node, outcome))
            elif share != outcome:
                raise Unproved("a path that no input takes")
        for node, outcome in needed:
            name, *arguments = self._nodes[node]
            if name == "not":
                (node,), outcome = arguments, not outcome  # noqa: PLW2901 - the same fact, said of what is negated
                name, *arguments = self._nodes[node]
            if name in COMPARISONS:
                switch, flip = self._switch(self._difference(arguments, ()))
                signs = COMPARISONS[name] if outcome else ALWAYS - COMPARISONS[name]
                self._assumed = _refined(self._assumed, switch, frozenset(flip * sign for sign in signs))
        if not all(signs for _, signs in self._assumed):  # what is tied may compare either way once it is rounded
            raise Unproved("a path that no input takes")
        self._known.clear()
        return needed

    def expect_same(self, first: int, second: int) -> None:
        """Prove two nodes equal or raise Unproved."""
        if first == second or self._same_constant(self._nodes[first], self._nodes[second]):
            return
        if not self._field.same_in_full(self.of(first), self.of(second)):
            raise Unproved("their normal forms differ")

    @staticmethod
    def _same_constant(first: Node, second: Node) -> bool:
        """Compare results that no input enters, such as a table: they are numbers, each rounded on its own way."""
        return first[0] == second[0] == "constant" and math.isclose(first[1], second[1], rel_tol=1e-13, abs_tol=1e-15)

    def of(self, node: int, context: Context | None = None) -> Quotient:
        """Return the normal form of a node."""
        context = self._assumed if context is None else context
        found = self._known.get((node, context))
        if found is None:
            found = self._of(node, context)
            found = self._unfolded(node, found, context)
            found = self._known[node, context] = self._short(node, found) if context == self._assumed else found
        return found

    def _short(self, node: int, found: Quotient) -> Quotient:
        """Return a name for a large form that both computations have."""
        field = self._field
        if node not in self._twins or field.hidden_in(found):
            return found
        earlier = self._proved.setdefault(self._twins[node], [])
        for form, name in earlier:
            if field.same_in_full(form, found):
                return name
        if len(found.top) < LARGE:
            return found
        earlier.append((found, field.name(found)))
        return earlier[-1][1]

    def _unfolded(self, node: int, found: Quotient, context: Context) -> Quotient:
        """Do without a sign that is hidden, as in e^-|x|, if both its values lead to the same normal form."""
        hidden = sorted(self._field.hidden_in(found) - {s for s, _ in context})
        for switch in hidden if len(hidden) <= MOST_HIDDEN else ():
            for one in (NOT_NEGATIVE, POSITIVE):
                first, second = (self.of(node, _refined(context, switch, s)) for s in (one, ALWAYS - one))
                if not self._field.hidden_in(first) & {switch} and self._field.same(first, second):
                    return first
        return found

    def _of(self, node: int, context: Context) -> Quotient:
        field = self._field
        name, *arguments = self._nodes[node]
        match name:
            case "input":
                return self._inputs[arguments[0]]
            case "constant":
                return self._constant(arguments[0])
            case "exp":
                return self._exp(arguments[0], Fraction(1), context, gate=node in self._gates)
            case "log":
                return self._log(self.of(arguments[0], context))
            case "tanh":
                up = self._exp(arguments[0], Fraction(2), context, gate=True)
                one = field.constant(1)
                return field.divide(field.subtract(up, one), field.add(up, one))
            case "where":
                return self._where(arguments, context)
            case "largest":
                return self._largest_of([self.of(each, context) for each in arguments], context)
            case _ if name in CONNECTIVES:
                return self._indicator(node, context)
        given = [self.of(each, context) for each in arguments]
        match name:
            case "add":
                return field.add(*given)
            case "subtract":
                return field.subtract(*given)
            case "multiply":
                return field.multiply(*given)
            case "divide":
                return field.divide(*given)
            case "negative":
                return field.subtract(field.constant(0), given[0])
            case "absolute":
                return self._absolute(given[0], context)
            case "sqrt":
                return self._power(given[0], Fraction(1, 2), context)
            case "power":
                return self._raised(given[0], given[1], context)
            case "sin" | "cos":
                return self._wave(name, given[0])
        raise Unproved(f"there is no rule for {name}")

    # ── constants ───────────────────────────────────────────────────────────────────────────────────────────────

    def _constant(self, value: float) -> Quotient:
        if math.isinf(value):
            raise Unproved("infinity inside")
        kind, number = meant_by(value)
        if kind == "number":
            return self._field.constant(number)
        if kind == "root":
            root = self._power(self._field.constant(abs(number)), Fraction(1, 2), ())
            return self._field.multiply(root, self._field.constant(1 if number > 0 else -1))
        if kind == "log":
            return self._log(self._field.constant(number))
        if kind in ("log2", "log10"):
            base = self._log(self._field.constant(int(kind[3:])))
            return self._field.divide(self._log(self._field.constant(number)), base)
        if kind == "exp":
            return self._exp_of(self._field.constant(number))
        if kind not in self._named:
            self._named[kind] = self._field.new(POSITIVE)
        return self._field.multiply(self._field.generator(self._named[kind]), self._field.constant(number))

    # ── exponentials and logarithms ─────────────────────────────────────────────────────────────────────────────

    def _exp(self, node: int, factor: Fraction, context: Context, *, gate: bool) -> Quotient:
        """Return e^(factor · node), of a sum as a product where its terms have different denominators."""
        name, *arguments = self._nodes[node]
        argument = self.of(node, context)
        if argument.below and name in ("add", "subtract", "negative"):
            signs = {"add": (1, 1), "subtract": (1, -1), "negative": (-1,)}[name]
            product = self._field.constant(1)
            for each, sign in zip(arguments, signs, strict=True):
                product = self._field.multiply(product, self._exp(each, factor * sign, context, gate=gate))
            return product
        return self._exp_of(self._field.multiply(argument, self._field.constant(factor)), gate=gate)

    def _exp_of(self, argument: Quotient, *, gate: bool = False) -> Quotient:
        """Return e^argument as powers of the bases there are, and of a new one for what they do not reach."""
        field = self._field
        product = field.constant(1)
        terms = dict[Any, Fraction]()
        for monomial, coefficient in argument.top.to_dict().items():
            number = Fraction(int(coefficient.p), int(coefficient.q))
            log = self._log_alone(monomial) if not argument.below else None
            if log is not None:
                product = field.multiply(product, self._power(Quotient(log), number, ()))
            else:
                terms[argument.below, monomial] = number
        for place, base in enumerate(self._bases):
            times = terms.get(base.pivot, Fraction(0)) / base.terms[base.pivot]
            if times:
                product = field.multiply(product, self._base_power(place, times))
                for key, share in base.terms.items():
                    terms[key] = terms.get(key, Fraction(0)) - times * share
        terms = {key: share for key, share in terms.items() if share}
        if terms:
            self._new_base(terms, field.hidden_in(argument) | self._switches_in(argument), gate=gate)
            product = field.multiply(product, self._base_power(len(self._bases) - 1, Fraction(1)))
        return product

    def _log_alone(self, monomial: tuple[int, ...]) -> fmpq_mpoly | None:
        """Return p if the monomial is log(p) and nothing else."""
        used = [number for number, exponent in enumerate(monomial) if exponent]
        return self._log_of.get(used[0]) if len(used) == 1 and monomial[used[0]] == 1 else None

    def _new_base(self, terms: dict[Any, Fraction], hidden: set[int], *, gate: bool) -> None:
        generator = self._field.new(POSITIVE, hidden)
        if gate:
            self._field.declare_positive(1 - self._field.generator(generator).top)
        unit = self._units.get(len(self._bases), 1)
        base = _Base(terms, max(terms), generator, unit, gate)
        self._bases.append(base)
        self._base_of[generator] = base
        for polynomial, switch in self._switches:
            self._tie(base, polynomial, switch)

    def _tie(self, base: _Base, polynomial: fmpq_mpoly, switch: int) -> None:
        """Note that e^(c p) is 1 where p is zero, and a gate 1/2."""
        if all(not below for below, _ in base.terms):
            exponent = self._field.constant(0).top
            for (_, monomial), coefficient in base.terms.items():
                exponent = exponent + _term(self._field, monomial, coefficient)
            if exactly(exponent, polynomial) is not None:
                self._field.tie(switch, base.generator, Fraction(1, 2) if base.gate else Fraction(1))

    def _base_power(self, place: int, times: Fraction) -> Quotient:
        base = self._bases[place]
        exponent = times * base.unit
        if exponent.denominator != 1:
            raise FinerUnit(place, base.unit * exponent.denominator)
        if abs(exponent) > 8 * LARGEST_POWER:
            raise Unproved("a large power")
        generator = self._field.generator(base.generator)
        if base.gate:
            generator = self._field.divide(generator, self._field.subtract(self._field.constant(1), generator))
        return self._field.power(generator, int(exponent))

    def _log(self, argument: Quotient) -> Quotient:
        """Return the logarithm: a sum over the factors that are positive, and one generator for the rest."""
        field = self._field
        leading, powers = field.split(argument.top)
        for factor, power in argument.below:
            powers[factor] = powers.get(factor, 0) - power
        total = self._log_of_number(Fraction(int(abs(leading).p), int(leading.q)))
        rest: dict[int, int] = {}
        for factor, power in powers.items():
            if field.signs_of(field.factor(factor)) == POSITIVE:
                part = self._log_of_factor(factor)
                total = field.add(total, field.multiply(part, field.constant(power)))
            else:
                rest[factor] = power
        if not rest and leading > 0:
            return total
        if not rest or min(rest.values()) < 0:
            raise Unproved("a logarithm of what may be negative")
        return field.add(total, self._log_atom(field.product(rest) * (1 if leading > 0 else -1)))

    def _log_of_factor(self, factor: int) -> Quotient:
        field = self._field
        base = self._base_of.get(factor)
        if base is not None:  # of a gate s = e^b (1 - s), the logarithm is b + log(1 - s)
            total = self._log_atom(1 - field.factor(factor)) if base.gate else field.constant(0)
            for (below, monomial), coefficient in base.terms.items():
                term = Quotient(_term(field, monomial, coefficient / base.unit), below)
                total = field.add(total, term)
            return total
        root = next((row for row in self._roots if row[2] == factor), None)
        if root is not None:
            return field.multiply(self._log(Quotient(root[1])), field.constant(Fraction(1, root[0])))
        return self._log_atom(field.factor(factor))

    def _log_of_number(self, number: Fraction) -> Quotient:
        field = self._field
        total = field.constant(0)
        for prime, power in _primes(number):
            total = field.add(total, field.multiply(self._log_atom(field.constant(prime).top), field.constant(power)))
        return total

    def _log_atom(self, argument: fmpq_mpoly) -> Quotient:
        for known, generator in self._logs:
            if known == argument:
                return self._field.generator(generator)
        hidden = self._field.hidden_in(Quotient(argument))
        generator = self._field.new(POSITIVE if argument.is_constant() else ALWAYS, hidden)
        self._logs.append((argument, generator))
        self._log_of[generator] = argument
        return self._field.generator(generator)

    # ── powers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _raised(self, base: Quotient, exponent: Quotient, context: Context) -> Quotient:
        number = exponent.number
        if number is not None:
            return self._power(base, number, context)
        if self._field.signs_of_quotient(base) != POSITIVE:
            raise Unproved("a power of what may be negative")
        return self._exp_of(self._field.multiply(exponent, self._log(base)))

    def _power(self, base: Quotient, exponent: Fraction, context: Context) -> Quotient:
        """Return a rational power: positive factors on their own, what is left under one root."""
        field = self._field
        if exponent.denominator == 1:
            if abs(exponent) > LARGEST_POWER:
                raise Unproved("a large power")
            return field.power(base, int(exponent))
        if exponent < 0:
            return field.inverse(self._power(base, -exponent, context))
        if base.number == 0:
            return base
        degree = exponent.denominator
        if max(degree, exponent.numerator) > LARGEST_POWER:
            raise Unproved("a large power")
        leading, powers = field.split(base.top)
        for factor, power in base.below:
            powers[factor] = powers.get(factor, 0) - power
        result = self._root_of_number(Fraction(int(leading.p), int(leading.q)), degree)
        inside: dict[int, int] = {}
        for factor, power in powers.items():
            known = self._base_of.get(factor)
            if known is not None and not known.gate:  # a root of e^b is another power of e
                part = field.multiply(self._log_of_factor(factor), field.constant(Fraction(power, degree)))
                result = field.multiply(result, self._exp_of(part))
                continue
            whole, rest = divmod(power, degree)
            outside = Quotient(field.factor(factor))
            if whole:
                size = self._absolute(outside, context) if degree % 2 == 0 and whole % 2 else outside
                result = field.multiply(result, field.power(size, whole))
            if rest and field.signs_of(field.factor(factor)) == POSITIVE:
                result = field.multiply(result, field.power(self._root(field.factor(factor), degree), rest))
            elif rest:
                inside[factor] = rest
        root = self._root(field.product(inside), degree)
        return field.power(field.multiply(result, root), exponent.numerator)

    def _root_of_number(self, number: Fraction, degree: int) -> Quotient:
        if number < 0:
            raise Unproved("a root of what may be negative")
        field = self._field
        result = field.constant(1)
        for prime, power in _primes(number):
            whole, rest = divmod(power, degree)
            root = field.power(self._root(field.constant(prime).top, degree), rest) if rest else field.constant(1)
            result = field.multiply(result, field.multiply(root, field.constant(Fraction(prime) ** whole)))
        return result

    def _root(self, inside: fmpq_mpoly, degree: int) -> Quotient:
        field = self._field
        if inside.is_one():
            return field.constant(1)
        inside = field.reduced(inside)
        for known_degree, known, generator in self._roots:
            if known_degree == degree and known == inside:
                return field.generator(generator)
        hidden = field.hidden_in(Quotient(inside))
        signs = POSITIVE if field.signs_of(inside) == POSITIVE else NOT_NEGATIVE
        generator = field.new(signs, hidden)
        field.relate(generator, degree, inside)
        self._roots.append((degree, inside, generator))
        return field.generator(generator)

    # ── signs ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _switch(self, argument: Quotient) -> tuple[int, int]:
        """Return the generator for the sign of a quotient, and -1 if that has the opposite sign, else 1.

        Factors whose sign is known are left out, all others are taken together: x y has one sign, not two. If none is
        left, the sign is 1 or -1 itself.
        """
        field = self._field
        leading, powers = field.split(argument.top)
        flip = 1 if leading > 0 else -1
        unknown: dict[int, int] = {}
        for factor, power in [*powers.items(), *argument.below]:
            signs = field.signs_of(field.factor(factor))
            if signs == NEGATIVE and power % 2:
                flip = -flip
            elif signs not in (POSITIVE, NEGATIVE):
                unknown[factor] = power % 2 or 2
        if not unknown:
            return NO_SWITCH, flip
        inside = field.product(unknown)
        for known, generator in self._switches:
            if known == inside:
                return generator, flip
        self._switches.append((inside, field.new_switch(inside)))
        for base in self._bases:
            self._tie(base, *self._switches[-1])
        return self._switches[-1][1], flip

    def _switches_in(self, argument: Quotient) -> set[int]:
        polynomials = [argument.top, *(self._field.factor(factor) for factor, _ in argument.below)]
        return {g for _, g in self._switches if any(each.degrees()[g] > 0 for each in polynomials)}

    def _signs(self, argument: Quotient, context: Context) -> tuple[Signs, Quotient]:
        """Return the signs an argument can have here, and its sign: 1 or -1 except at zero, if it is one of these."""
        field = self._field
        signs = field.signs_of_quotient(argument)
        if len(signs) == 1:
            return signs, field.constant(*signs)
        switch, flip = self._switch(argument)
        if switch == NO_SWITCH:
            return frozenset({flip}), field.constant(flip)
        signs &= {flip * sign for sign in dict(context).get(switch, ALWAYS)}
        if signs >= {-1, 1}:
            return signs, field.multiply(field.generator(switch), field.constant(flip))
        return signs, field.multiply(field.generator(switch, 2), field.constant(-1 if -1 in signs else 1))

    def _absolute(self, argument: Quotient, context: Context) -> Quotient:
        signs, sign = self._signs(argument, context)
        if signs <= NOT_NEGATIVE:
            return argument
        return self._field.multiply(argument, self._field.constant(-1) if signs <= {-1, 0} else sign)

    def _difference(self, arguments: Sequence[int], context: Context) -> Quotient:
        return self._field.subtract(self.of(arguments[0], context), self.of(arguments[1], context))

    def _indicator(self, node: int, context: Context) -> Quotient:
        """Return 1 where a comparison holds and 0 elsewhere."""
        field = self._field
        name, *arguments = self._nodes[node]
        match name:
            case "constant":
                return field.constant(int(bool(arguments[0])))
            case "not":
                return field.subtract(field.constant(1), self._indicator(arguments[0], context))
            case "and":
                return field.multiply(*(self._indicator(each, context) for each in arguments))
            case _ if name in COMPARISONS:
                return self._compared(COMPARISONS[name], self._difference(arguments, context), context)
        raise Unproved(f"{name} is no comparison")

    def _compared(self, wanted: Signs, difference: Quotient, context: Context) -> Quotient:
        field = self._field
        signs, sign = self._signs(difference, context)
        if signs <= wanted or not signs & wanted:
            return field.constant(int(signs <= wanted))
        square = field.multiply(sign, sign)
        total = field.constant(0)
        for each in wanted:  # (s² + s)/2 is 1 for s = 1 alone, (s² - s)/2 for s = -1, 1 - s² for s = 0
            signed = field.multiply(sign, field.constant(each))
            half = field.multiply(field.add(square, signed), field.constant(Fraction(1, 2)))
            total = field.add(total, half if each else field.subtract(field.constant(1), square))
        return total

    def _where(self, arguments: Sequence[int], context: Context) -> Quotient:
        field = self._field
        condition, yes, no = arguments
        share = self._indicator(condition, context)
        if share.number is not None:
            return self.of(yes if share.number else no, context)
        first, second = self.of(yes, context), self.of(no, context)
        return field.add(second, field.multiply(share, field.subtract(first, second)))

    # ── generators that nothing is known of ─────────────────────────────────────────────────────────────────────

    def _largest_of(self, arguments: list[Quotient], context: Context) -> Quotient:
        field = self._field
        different: list[Quotient] = []
        for each in arguments:
            if not any(field.same(each, other) for other in different):
                different.append(each)
        if len(different) == 1:
            return different[0]
        if len(different) == 2 and not self._twins:  # the last resort: mostly it does not matter which it is
            gain = field.subtract(*different)
            return field.add(different[1], field.multiply(self._compared(POSITIVE, gain, context), gain))
        for known, generator in self._largest:
            if len(known) == len(different) and all(any(field.same(a, b) for b in known) for a in different):
                return field.generator(generator)
        signs = [field.signs_of_quotient(each) for each in different]
        best = POSITIVE if POSITIVE in signs else NOT_NEGATIVE if any(s <= NOT_NEGATIVE for s in signs) else ALWAYS
        generator = field.new(best, {s for each in different for s in field.hidden_in(each)})
        self._largest.append((different, generator))
        return field.generator(generator)

    def _wave(self, name: str, argument: Quotient) -> Quotient:
        """Return a sine or cosine; sin(-x) = -sin(x), cos(-x) = cos(x), and cos² = 1 - sin²."""
        field = self._field
        if not len(argument.top):
            return field.constant(0 if name == "sin" else 1)
        flip = 1
        if argument.top.leading_coefficient() < 0:
            argument, flip = Quotient(-argument.top, argument.below), -1
        found = next((g for kind, known, g in self._waves if kind == name and field.same(known, argument)), None)
        if found is None:
            hidden = field.hidden_in(argument)
            sine, cosine = field.new(hidden=hidden), field.new(hidden=hidden)
            field.relate(cosine, 2, 1 - field.generator(sine).top ** 2)
            self._waves += [("sin", argument, sine), ("cos", argument, cosine)]
            found = sine if name == "sin" else cosine
        return field.multiply(field.generator(found), field.constant(flip if name == "sin" else 1))


def _refined(context: Context, switch: int, signs: Signs) -> Context:
    known = dict(context)
    known[switch] = known.get(switch, ALWAYS) & signs
    return tuple(sorted(known.items()))


def _term(field: Quotients, monomial: tuple[int, ...], coefficient: Fraction) -> fmpq_mpoly:
    product = field.constant(coefficient).top
    for number, exponent in enumerate(monomial):
        if exponent:
            product = product * field.factor(number) ** exponent
    return product


def _primes(number: Fraction) -> Iterator[tuple[int, int]]:
    """Yield the primes of a positive number with their exponents."""
    if max(number.numerator, number.denominator).bit_length() > 80:
        raise Unproved("a constant with many digits")
    for part, sign in ((number.numerator, 1), (number.denominator, -1)):
        for prime, power in fmpz(part).factor():
            yield int(prime), sign * int(power)


# ── constants ─────────────────────────────────────────────────────────────────────────────────────────────────────


def meant_by(value: float) -> tuple[str, Fraction]:
    """Return the simple number a floating one is the rounding of: its kind, and what it is of that kind.

    Two simple numbers of one kind are further apart than roundings go, and a number that is none of them is itself.

    >>> meant_by(0.1 + 0.2)
    ('number', Fraction(3, 10))
    >>> meant_by(1 / math.sqrt(2)), meant_by(-math.sqrt(8))
    (('root', Fraction(1, 2)), ('root', Fraction(-8, 1)))
    >>> meant_by(math.log(10)), meant_by(2 * math.pi)
    (('log', Fraction(10, 1)), ('pi', Fraction(2, 1)))
    """
    if isinstance(value, int) or value == int(value):
        return "number", Fraction(value)
    simple = Fraction(value).limit_denominator(1000)
    if abs(simple) < 10**6 and _rounds(float(simple), value):
        return "number", simple
    decimal = Fraction(repr(value))
    if len(str(decimal.numerator).strip("-0")) <= 12 and decimal.denominator <= 10**30:
        return "number", decimal
    candidates: list[tuple[str, Fraction, float]] = []
    square = Fraction(value * value).limit_denominator(100)
    if 0 < square < 10**4:
        candidates.append(("root", square if value > 0 else -square, math.copysign(math.sqrt(square), value)))
    for kind, base, log in (("log", math.e, math.log), ("log2", 2.0, math.log2), ("log10", 10.0, math.log10)):
        argument = Fraction(base**value).limit_denominator(100) if abs(value) < 12 else Fraction(0)
        if 0 < argument < 10**5:
            candidates.append((kind, argument, log(argument)))
    if 0 < value < 10**4:
        candidates.append(("exp", Fraction(round(math.log(value))), math.exp(round(math.log(value)))))
    turns = Fraction(value / math.pi).limit_denominator(100)
    candidates.append(("pi", turns, float(turns) * math.pi))
    for kind, number, rounded in candidates:
        if number and _rounds(rounded, value):
            return kind, number
    return "number", Fraction(value)


def _rounds(simple: float, value: float) -> bool:
    return abs(simple - value) <= ULPS * math.ulp(value)
