"""The data of a normal form: polynomials with exact coefficients over atoms.

A polynomial maps monomials to fractions; a monomial is a product of atoms with rational exponents. An atom is
anything arithmetic does not look into: a symbol, an entry x_i, a Kronecker delta, a whole sum over an index, the
exponential of a monomial, a polynomial under a negative or fractional power. Atoms are ordered and compared by a
key spelled out from their parts, so two equal polynomials are equal dictionaries on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

ONE = Fraction(1)


class Kind(StrEnum):
    """What an atom is; the comment says what its `parts` are."""

    SYMBOL = "symbol"  # (sympy symbol or constant,)
    ENTRY = "entry"  # (name of the array, *indices)
    DELTA = "delta"  # (index, index)
    SUM = "sum"  # (((bound, lower, upper), …), monomial)
    EXP = "exp"  # (monomial,)
    POLYNOMIAL = "polynomial"  # (polynomial,): raised to a power that cannot be multiplied out
    LOG = "log"  # (polynomial,)
    PRIME = "prime"  # (whole number,): a root of it
    IMAGINARY = "imaginary"  # ()
    ABSOLUTE = "absolute"  # (polynomial,)
    FUNCTION = "function"  # (name, polynomial, …)


@dataclass(frozen=True, eq=False)
class Atom:
    """One indivisible factor. `positive` and `non_negative` are what is known, not what is true."""

    kind: Kind
    parts: tuple[Any, ...]
    positive: bool = False
    non_negative: bool = False

    @cached_property
    def key(self) -> str:
        """Return the spelling that orders and identifies this atom."""
        return f"{self.kind}({','.join(map(_spelled, self.parts))})"

    @cached_property
    def symbols(self) -> frozenset[sp.Symbol]:
        """Return the symbols this atom depends on; the bound indices of a sum are not among them."""
        if self.kind is Kind.SUM:
            bounds, body = self.parts
            limits = {symbol for _, low, high in bounds for symbol in (low.free_symbols | high.free_symbols)}
            return frozenset((symbols_of(body) - {bound for bound, _, _ in bounds}) | limits)
        return frozenset().union(*map(_symbols, self.parts)) if self.parts else frozenset()

    @cached_property
    def height(self) -> int:
        """Return how many sums stand in one another here: it names bound indices, so that none captures another."""
        inside = max(map(_height, self.parts), default=0)
        return inside + 1 if self.kind is Kind.SUM else inside

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.key == other.key)

    def __repr__(self) -> str:
        return self.key


Monomial = tuple[tuple[Atom, Fraction], ...]


class Polynomial:
    """A sum of coefficient times monomial, in no order; zero has no terms. Never changed once made."""

    __slots__ = ("_key", "terms")

    def __init__(self, terms: Mapping[Monomial, Fraction]) -> None:
        self.terms = {monomial: coefficient for monomial, coefficient in terms.items() if coefficient}
        self._key: str | None = None

    @property
    def key(self) -> str:
        """Return the spelling that identifies this polynomial."""
        if self._key is None:
            rows = sorted(f"{coefficient}*{spelled(monomial)}" for monomial, coefficient in self.terms.items())
            self._key = " + ".join(rows)
        return self._key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __repr__(self) -> str:
        return self.key or "0"

    def __add__(self, other: Polynomial) -> Polynomial:
        return total((self, other))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return total((self, other.scaled(-ONE)))

    def scaled(self, factor: Fraction) -> Polynomial:
        """Return this polynomial times a number."""
        return Polynomial({monomial: coefficient * factor for monomial, coefficient in self.terms.items()})

    @property
    def constant(self) -> Fraction | None:
        """Return the number this polynomial is, or None if it has an atom."""
        if not self.terms:
            return Fraction(0)
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def single(self) -> tuple[Monomial, Fraction] | None:
        """Return the one term there is, or None if there are none or several."""
        return next(iter(self.terms.items())) if len(self.terms) == 1 else None

    @property
    def symbols(self) -> frozenset[sp.Symbol]:
        """Return the symbols the polynomial depends on."""
        return frozenset().union(*map(symbols_of, self.terms)) if self.terms else frozenset()

    @property
    def positive(self) -> bool:
        """Return whether every term is known to be positive."""
        return bool(self.terms) and all(
            coefficient > 0 and all(atom.positive for atom, _ in monomial)
            for monomial, coefficient in self.terms.items()
        )

    def atoms(self) -> set[Atom]:
        """Return the atoms of all terms, not those inside of them."""
        return {atom for monomial in self.terms for atom, _ in monomial}


ZERO = Polynomial({})


def constant(value: int | Fraction) -> Polynomial:
    """Return a number as a polynomial."""
    return Polynomial({(): Fraction(value)})


UNIT = constant(1)


def of_atom(atom: Atom, exponent: Fraction = ONE) -> Polynomial:
    """Return an atom, or a power of it, as a polynomial."""
    return Polynomial({((atom, exponent),): ONE})


def total(polynomials: Iterable[Polynomial]) -> Polynomial:
    """Return the sum of polynomials."""
    terms: dict[Monomial, Fraction] = {}
    for polynomial in polynomials:
        for monomial, coefficient in polynomial.terms.items():
            terms[monomial] = terms.get(monomial, Fraction(0)) + coefficient
    return Polynomial(terms)


def ordered(factors: Mapping[Atom, Fraction]) -> Monomial:
    """Return the monomial with these factors."""
    rows = [(atom, exponent) for atom, exponent in factors.items() if exponent]
    return tuple(sorted(rows, key=lambda row: row[0].key))


def symbols_of(monomial: Monomial) -> frozenset[sp.Symbol]:
    """Return the symbols a monomial depends on."""
    return frozenset().union(*(atom.symbols for atom, _ in monomial)) if monomial else frozenset()


def spelled(monomial: Monomial) -> str:
    """Return the spelling of a monomial."""
    return "*".join(f"{atom.key}^{exponent}" for atom, exponent in monomial)


def _spelled(part: Any) -> str:
    if isinstance(part, Polynomial):
        return part.key
    if isinstance(part, tuple):
        if part and isinstance(part[0], tuple) and isinstance(part[0][0], Atom):
            return spelled(part)
        return "(" + ",".join(map(_spelled, part)) + ")"
    return str(part)


def _height(part: Any) -> int:
    if isinstance(part, Polynomial):
        return max((atom.height for atom in part.atoms()), default=0)
    if isinstance(part, tuple):
        return max((atom.height for atom, *_ in part if isinstance(atom, Atom)), default=0)
    return 0


def _symbols(part: Any) -> frozenset[sp.Symbol]:
    if isinstance(part, Polynomial):
        return part.symbols
    if isinstance(part, tuple):
        return symbols_of(part)
    return frozenset(part.free_symbols) if isinstance(part, sp.Basic) else frozenset()
