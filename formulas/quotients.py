"""Quotients of polynomials over generators that may be tied by relations: the arithmetic of exact proofs.

A generator stands for a real function of the inputs: an input, e^u, a root, the sign of something. A relation
g^n = polynomial holds at every point, so rewriting with it changes no value. Hence a difference whose numerator
comes out as zero is zero wherever its denominators are not; one that does not may be zero all the same.

Polynomials are flint's, with rational coefficients. A denominator is kept as powers of factors, so that sums with
equal denominators stay small and no greatest common divisor is ever computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpz
from flint.utils.flint_exceptions import DomainError

ALWAYS = frozenset({-1, 0, 1})  # the signs a number may have, if nothing is known
POSITIVE, NEGATIVE = frozenset({1}), frozenset({-1})
NOT_NEGATIVE = frozenset({0, 1})

LONGEST_LOOKED_AT = 300  # terms of a sum whose sign is asked for
MOST_PRODUCTS = 2_000_000  # of terms, in one multiplication
PRODUCTS_PER_STEP = 8
STEPS_PER_TERM = 10  # of a result: for reading, reducing and dividing it
LARGEST_DEGREE = 256
MOST_BITS = 4096  # of a coefficient

Signs = frozenset[int]


class TooLarge(Exception):
    """The proof outgrew its budget: nothing was proved and nothing refuted."""


class TooFewGenerators(Exception):
    """More generators are needed than were set aside; begin again with more."""


class Quotient(NamedTuple):
    """A polynomial over powers of factors (number of the factor, exponent), in the order of their numbers."""

    top: fmpq_mpoly
    below: tuple[tuple[int, int], ...] = ()

    @property
    def number(self) -> Fraction | None:
        """Return the rational number this is, or None."""
        if self.below or not self.top.is_constant():
            return None
        value = self.top.leading_coefficient() if len(self.top) else fmpq(0)
        return Fraction(int(value.p), int(value.q))


@dataclass(slots=True)
class Generator:
    """What is known about one generator: its signs, its relation g^power = value, the switches inside of it."""

    signs: Signs = ALWAYS
    power: int = 0
    value: fmpq_mpoly | None = None
    hidden: frozenset[int] = frozenset()  # signs it depends on without showing them, as e^|x| does


class Quotients:
    """The field of quotients over so many generators, within a budget of steps."""

    def __init__(self, size: int, budget: int) -> None:
        self._context = fmpq_mpoly_ctx.get([f"g{number}" for number in range(size)])
        self.generators: list[Generator] = []
        self._factors: list[fmpq_mpoly] = [self._context.gen(number) for number in range(size)]
        self._meanings: dict[int, Quotient] = {}  # of generators that are names
        self._hiding: list[int] = []  # generators with hidden switches
        self._numeric: set[int] = set()  # those that are roots of numbers
        self._related: list[int] = []  # generators with a relation
        self._positive: list[fmpq_mpoly] = []  # sums that are positive, whatever their terms look like
        self._ties: dict[int, fmpq_mpoly] = {}  # by generator [p = 0]: p
        self._at_tie: dict[int, dict[str | int, int | fmpz | fmpq]] = {}  # and what other generators are where p = 0
        self._size = size
        self.left = budget  # steps

    # ── elements ────────────────────────────────────────────────────────────────────────────────────────────────

    def new(self, signs: Signs = ALWAYS, hidden: Iterable[int] = ()) -> int:
        """Return the number of a new generator."""
        if len(self.generators) >= self._size:
            raise TooFewGenerators
        self.generators.append(Generator(signs, hidden=frozenset(hidden)))
        number = len(self.generators) - 1
        if self.generators[number].hidden:
            self._hiding.append(number)
        return number

    def relate(self, generator: int, power: int, value: fmpq_mpoly) -> None:
        """Let g^power be `value` from now on."""
        self._related.append(generator)
        if value.is_constant():
            self._numeric.add(generator)
        self.generators[generator].power = power
        self.generators[generator].value = value

    def _relation(self, generator: int) -> tuple[int, fmpq_mpoly]:
        known = self.generators[generator]
        assert known.value is not None
        return known.power, known.value

    def new_switch(self, polynomial: fmpq_mpoly) -> int:
        """Return the generator for the sign of a polynomial; the next one is 1 where it is zero, 0 elsewhere."""
        sign, tie = self.new(), self.new(NOT_NEGATIVE)
        self.relate(sign, 2, 1 - self._context.gen(tie))
        self.relate(tie, 2, self._context.gen(tie))
        self._ties[tie] = polynomial
        self._at_tie[tie] = {sign: 0}
        return sign

    def tie(self, switch: int, generator: int, value: Fraction) -> None:
        """Let a generator have this value wherever the switch's polynomial is zero."""
        self._at_tie[switch + 1][generator] = fmpq(value.numerator, value.denominator)

    def declare_positive(self, polynomial: fmpq_mpoly) -> None:
        """Take a sum for positive."""
        self._positive.append(polynomial)

    def constant(self, value: int | Fraction) -> Quotient:
        """Return a rational number."""
        value = Fraction(value)
        return Quotient(self._context.constant(fmpq(value.numerator, value.denominator)))

    def generator(self, number: int, exponent: int = 1) -> Quotient:
        """Return a power of a generator."""
        power = self._context.gen(number) ** abs(exponent)
        return self._tidy(power, {}) if exponent >= 0 else self.inverse(Quotient(power))

    # ── arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, a: Quotient, b: Quotient) -> Quotient:
        """Return a + b."""
        if a.below == b.below:
            return self._tidy(a.top + b.top, dict(a.below))
        first, second = dict(a.below), dict(b.below)
        common = {f: max(first.get(f, 0), second.get(f, 0)) for f in first | second}
        top = self._times(a.top, self.product(common, first)) + self._times(b.top, self.product(common, second))
        return self._tidy(top, common)

    def subtract(self, a: Quotient, b: Quotient) -> Quotient:
        """Return a - b."""
        return self.add(a, Quotient(-b.top, b.below))

    def multiply(self, a: Quotient, b: Quotient) -> Quotient:
        """Return a b."""
        below = dict(a.below)
        for factor, power in b.below:
            below[factor] = below.get(factor, 0) + power
        return self._tidy(self._times(a.top, b.top), below)

    def divide(self, a: Quotient, b: Quotient) -> Quotient:
        """Return a / b."""
        return self.multiply(a, self.inverse(b))

    def inverse(self, a: Quotient) -> Quotient:
        """Return 1 / a."""
        leading, powers = self.split(a.top)
        return self._tidy(self.product(dict(a.below)) / leading, powers)

    def power(self, a: Quotient, exponent: int) -> Quotient:
        """Return a whole power of a."""
        if exponent < 0:
            return self.power(self.inverse(a), -exponent)
        result = self.constant(1)
        for _ in range(exponent):
            result = self.multiply(result, a)
        return result

    def same(self, a: Quotient, b: Quotient) -> bool:
        """Return whether the two are proved equal."""
        return len(self.subtract(a, b).top) == 0

    def name(self, meaning: Quotient) -> Quotient:
        """Return a generator that stands for a quotient, so that it is one term from now on."""
        generator = self.new(self.signs_of_quotient(meaning))
        self._meanings[generator] = meaning
        return self.generator(generator)

    def same_in_full(self, a: Quotient, b: Quotient) -> bool:
        """Return whether the two are proved equal, if need be with what names stand for."""
        top = self.subtract(a, b).top
        while len(top):
            degrees = top.degrees()
            named = [generator for generator in self._meanings if degrees[generator] > 0]
            if not named:
                return False
            top = self._substituted(top, max(named)).top  # the last one, whose meaning has earlier ones only
        return True

    def _substituted(self, polynomial: fmpq_mpoly, named: int) -> Quotient:
        """Return a polynomial with a name's meaning in its place."""
        total, power = self.constant(0), self.constant(1)
        for coefficient in self._coefficients(polynomial, named):
            total = self.add(total, self.multiply(Quotient(coefficient), power))
            power = self.multiply(power, self._meanings[named])
        return total

    def _coefficients(self, polynomial: fmpq_mpoly, number: int) -> Iterator[fmpq_mpoly]:
        """Yield c0, c1, c2, … of c0 + c1 g + c2 g² + …."""
        while len(polynomial):
            coefficient = polynomial.subs({number: 0})
            polynomial = (polynomial - coefficient) / self._context.gen(number)
            yield coefficient

    def split(self, polynomial: fmpq_mpoly) -> tuple[fmpq, dict[int, int]]:
        """Return a polynomial as a number times powers of factors, a new factor for what is left."""
        if not len(polynomial):
            raise ZeroDivisionError
        leading = polynomial.leading_coefficient()
        rest = polynomial / leading
        powers: dict[int, int] = {}
        shared = rest.term_content().degrees()
        for number, exponent in enumerate(shared):
            if exponent > 0:
                powers[number] = int(exponent)
                rest = rest / self._context.gen(number) ** exponent
        self.spend(len(self._factors))
        for number in range(self._size, len(self._factors)):
            while not rest.is_constant() and (divided := exactly(rest, self._factors[number])) is not None:
                rest = divided
                powers[number] = powers.get(number, 0) + 1
        leading = leading * rest.leading_coefficient()
        rest = rest / rest.leading_coefficient()
        if not rest.is_constant():
            sign = -1 if self.signs_of(rest) == NEGATIVE else 1  # 1 - s, if s is less than one
            self._factors.append(rest * sign)
            leading *= sign
            powers[len(self._factors) - 1] = 1
        return leading, powers

    def factor(self, number: int) -> fmpq_mpoly:
        """Return a factor: the generators come first, with their own numbers."""
        return self._factors[number]

    def product(self, powers: Mapping[int, int], without: Mapping[int, int] | None = None) -> fmpq_mpoly:
        """Return a product of powers of factors, fewer of those that are there already."""
        product = self._context.constant(1)
        for factor, power in powers.items():
            missing = power - (without or {}).get(factor, 0)
            for _ in range(missing):
                product = self._times(product, self._factors[factor])
        return product

    def _times(self, a: fmpq_mpoly, b: fmpq_mpoly) -> fmpq_mpoly:
        """Multiply, unless that would take too long: what a worker sends may be anything."""
        if len(a) * len(b) > MOST_PRODUCTS:
            raise TooLarge
        self.spend(len(a) * len(b) // PRODUCTS_PER_STEP)
        return a * b

    def _tidy(self, top: fmpq_mpoly, below: dict[int, int]) -> Quotient:
        """Apply the relations and cancel factors."""
        self._expect_bounded(top)
        for factor in [f for f in below if f in self._numeric]:  # 1 / √2 = √2 / 2
            power, value = self._relation(factor)
            missing = -below[factor] % power
            top = top * self._factors[factor] ** missing / value ** ((below.pop(factor) + missing) // power)
        top = self.reduced(top)
        self.spend(STEPS_PER_TERM * (1 + len(top) + len(below)) + self._size // 2)
        if not len(top):
            return Quotient(top)
        for factor, power in list(below.items()):
            left = power
            while left and (divided := exactly(top, self._factors[factor])) is not None:
                top, left = divided, left - 1
            below[factor] = left
        return Quotient(top, tuple(sorted((f, p) for f, p in below.items() if p)))

    def _expect_bounded(self, polynomial: fmpq_mpoly) -> None:
        if max(polynomial.degrees()) > LARGEST_DEGREE or any(
            coefficient.height_bits() > MOST_BITS for coefficient in polynomial.coeffs()
        ):
            raise TooLarge

    def reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """Return a polynomial with every relation applied."""
        if not self._related:
            return polynomial
        degrees = polynomial.degrees()
        for number in self._related:
            if degrees[number] >= self.generators[number].power:
                return self.reduced(self._rewritten(polynomial, number))
        for tie, base in self._ties.items():
            if degrees[tie] > 0:
                without = polynomial.subs({tie: 0})
                times = ((polynomial - without) / self._context.gen(tie)).subs(self._at_tie[tie])
                vanishes = not len(times) or exactly(times, base) is not None
                polynomial = without if vanishes else without + self._context.gen(tie) * times
        return polynomial

    def _rewritten(self, polynomial: fmpq_mpoly, number: int) -> fmpq_mpoly:
        """Replace g^power by its value wherever it stands."""
        power, value = self._relation(number)
        generator = self._context.gen(number)
        result = self._context.constant(0)
        factors = [generator**exponent for exponent in range(power)]
        for exponent, coefficient in enumerate(self._coefficients(polynomial, number)):
            place = exponent % power
            result = result + self._times(coefficient, factors[place])
            factors[place] = self._times(factors[place], value)
        self.spend(STEPS_PER_TERM * len(result))
        return result

    def spend(self, steps: int) -> None:
        """Take from the budget; a step is about a microsecond."""
        self.left -= steps
        if self.left < 0:
            raise TooLarge

    # ── what is known about signs ───────────────────────────────────────────────────────────────────────────────

    def signs_of(self, polynomial: fmpq_mpoly) -> Signs:
        """Return the signs a polynomial can have, as far as its terms tell."""
        if any(polynomial == known for known in self._positive):
            return POSITIVE
        if any(polynomial == -known for known in self._positive):
            return NEGATIVE
        unknown = [n for n, degree in enumerate(polynomial.degrees()) if degree > 0 and self.signs(n) != POSITIVE]
        if len(polynomial) > LONGEST_LOOKED_AT and unknown:
            return ALWAYS
        terms = zip(polynomial.monoms(), polynomial.coeffs(), strict=True)
        found = {self._signs_of_term(monomial, c, unknown) for monomial, c in terms}
        for sign in (1, -1):
            if found and all(signs <= {0, sign} for signs in found):
                return frozenset({sign}) if frozenset({sign}) in found else frozenset({0, sign})
        return ALWAYS if found else frozenset({0})

    def signs(self, generator: int) -> Signs:
        """Return the signs a generator can have."""
        return self.generators[generator].signs

    def _signs_of_term(self, monomial: tuple[int, ...], coefficient: fmpq, unknown: Sequence[int]) -> Signs:
        signs = {1 if coefficient > 0 else -1}
        for number in unknown:
            if monomial[number]:
                signs = {a * b ** monomial[number] for a in signs for b in self.signs(number)}
        return frozenset(signs)

    def signs_of_quotient(self, a: Quotient) -> Signs:
        """Return the signs a quotient can have; its denominators are not zero."""
        signs = set(self.signs_of(a.top))
        for factor, power in a.below:
            signs = {s * b**power for s in signs for b in self.signs_of(self._factors[factor]) if b}
        return frozenset(signs)

    def hidden_in(self, a: Quotient) -> set[int]:
        """Return the switches inside the generators of a quotient."""
        if not self._hiding:
            return set()
        degrees = [each.degrees() for each in (a.top, *(self._factors[factor] for factor, _ in a.below))]
        used = [number for number in self._hiding if any(row[number] > 0 for row in degrees)]
        return {switch for number in used for switch in self.generators[number].hidden}


def exactly(polynomial: fmpq_mpoly, factor: fmpq_mpoly) -> fmpq_mpoly | None:
    """Return polynomial / factor if that is a polynomial, and sure to be found in a moment.

    In the factor's variables the quotient has no more monomials than its degrees allow, whatever a worker sends.
    """
    box = len(polynomial) * len(factor)
    for degree, taken in zip(polynomial.degrees(), factor.degrees(), strict=True):
        if taken > degree:
            return None
        box *= degree - taken + 1 if taken else 1
        if box > MOST_PRODUCTS:
            return None
    try:
        return polynomial / factor
    except DomainError:
        return None
