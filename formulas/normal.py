"""Proof by normal form: two expressions are equal for all sizes and values if their normal forms are.

Everything is written with indices: a matrix product is a sum over k, a transpose swaps two indices, the identity is
a Kronecker delta. Sums over an index are linear, a delta in a sum picks its term, bound indices have no names of
their own, exponentials of sums are products, and a premise such as AᵀA = I rewrites the sum it speaks about. Each
rule is an identity, so an equality found this way is proved; one that is not found may still be true.

Denominators are assumed not to be zero, arguments of a logarithm and bases of a real power to be positive where the
symbols say so, and free indices to lie within their range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from math import floor, gcd, lcm
from typing import cast

import sympy as sp
from sympy.core.function import AppliedUndef

from formulas.polynomial import (
    ONE,
    UNIT,
    ZERO,
    Atom,
    Kind,
    Monomial,
    Polynomial,
    constant,
    of_atom,
    ordered,
    spelled,
    total,
)

HALF = Fraction(1, 2)
IMAGINARY = Atom(Kind.IMAGINARY, ())
_MOST_RENAMINGS = 5  # bound indices of one sum that are renamed in every order; beyond, the order given stays
_LONGEST_RANGE = 12  # of a sum that is written out
_MOST_COPIES = 4  # of a sum to a whole power that is drawn into a surrounding sum
_LARGEST_POWER = 12  # of a sum that is multiplied out; beyond, the power stays as it is
_FAULHABER = {  # sum of b^p for b = 1 … m, as a polynomial in m
    1: {2: HALF, 1: HALF},
    2: {3: Fraction(1, 3), 2: HALF, 1: Fraction(1, 6)},
    3: {4: Fraction(1, 4), 3: HALF, 2: Fraction(1, 4)},
}

_RULES = {  # the method that reads each kind of SymPy expression
    sp.Indexed: "_entry", sp.Add: "_add", sp.Mul: "_mul", sp.Pow: "_pow", sp.exp: "_exponential", sp.log: "_log",
    sp.Sum: "_sum", sp.Product: "_product", sp.KroneckerDelta: "_delta", sp.sin: "_trigonometric",
    sp.cos: "_trigonometric", sp.tanh: "_hyperbolic", sp.cosh: "_hyperbolic", sp.sinh: "_hyperbolic",
    sp.sech: "_hyperbolic", sp.Abs: "_absolute", sp.Max: "_extreme", sp.Min: "_extreme", sp.binomial: "_binomial",
    sp.Derivative: "_derivative",
}  # fmt: skip

Meaning = Callable[["NormalForm", Sequence[sp.Expr]], Polynomial]  # what a function means, beyond being one
Bound = tuple[sp.Symbol, sp.Expr, sp.Expr]  # index, lower, upper


class TooLarge(Exception):
    """The normal form outgrew its budget: nothing was proved and nothing refuted."""


class Unsupported(Exception):
    """An expression holds something the normal form has no rule for."""


@dataclass(frozen=True)
class Facts:
    """What may be used besides algebra.

    `orthonormal` names matrices with AᵀA = I, `orthogonal` pairs of them with AᵀB = 0, `totals` arrays whose sum over
    the last index is 1; each with the size the sum runs to, since over any other range it says nothing. `one_hot` are
    vectors of one 1 and zeros, `distinct` pairs of indices that differ, `ranges` the range of a free index.
    """

    orthonormal: Mapping[str, sp.Expr] = field(default_factory=dict)
    orthogonal: Mapping[frozenset[str], sp.Expr] = field(default_factory=dict)
    totals: Mapping[str, sp.Expr] = field(default_factory=dict)
    one_hot: frozenset[str] = frozenset()
    distinct: frozenset[frozenset[sp.Expr]] = frozenset()
    ranges: Mapping[sp.Symbol, tuple[sp.Expr, sp.Expr]] = field(default_factory=dict)


NO_FACTS = Facts()


def equal(left: sp.Expr, right: sp.Expr, facts: Facts = NO_FACTS, budget: int = 200_000) -> bool:
    """Return whether the two are proved equal for all sizes and values.

    >>> x = sp.Symbol("x", real=True)
    >>> equal(1 / (1 + sp.exp(x)), 1 - 1 / (1 + sp.exp(-x)))
    True
    """
    form = NormalForm(facts, budget)
    return form.is_zero(form.of(left) - form.of(right))


class NormalForm:
    """Brings expressions into normal form under some facts, within a budget of products."""

    def __init__(
        self, facts: Facts = NO_FACTS, budget: int = 200_000, functions: Mapping[str, Meaning] | None = None
    ) -> None:
        self.facts = facts
        self.functions = functions or {}
        self._left = budget
        self._ranges: dict[sp.Symbol, tuple[sp.Expr, sp.Expr]] = dict(facts.ranges)
        self._fresh = 0
        self._seen: dict[sp.Expr, Polynomial] = {}

    # ── from SymPy ──────────────────────────────────────────────────────────────────────────────────────────────

    def of(self, expression: sp.Expr) -> Polynomial:
        """Return the normal form of a SymPy expression in index notation."""
        expression = sp.sympify(expression)
        known = self._seen.get(expression)
        if known is None:
            known = self._seen[expression] = self._of(expression)
        return known

    def _of(self, expression: sp.Expr) -> Polynomial:
        if expression.is_Rational:
            return constant(Fraction(int(expression.p), int(expression.q)))
        if expression.is_Symbol or expression.is_NumberSymbol:
            return self._symbol(expression)
        rule = _RULES.get(expression.func)
        if rule is not None:
            return cast("Polynomial", getattr(self, rule)(expression))
        if isinstance(expression, AppliedUndef):
            name = expression.func.__name__
            if name in self.functions:
                return self.functions[name](self, expression.args)
            return self._function(name, [self.of(a) for a in expression.args], expression)
        raise Unsupported(f"there is no rule for {expression.func.__name__}")

    def _symbol(self, symbol: sp.Expr) -> Polynomial:
        if symbol is sp.E:
            return self.exp(UNIT)
        return of_atom(Atom(Kind.SYMBOL, (symbol,), bool(symbol.is_positive), bool(symbol.is_nonnegative)))

    def _entry(self, entry: sp.Indexed) -> Polynomial:
        parts = (str(entry.base), *entry.indices)
        return of_atom(Atom(Kind.ENTRY, parts, bool(entry.is_positive), bool(entry.is_nonnegative)))

    def _derivative(self, derivative: sp.Derivative) -> Polynomial:
        """A derivative that is not taken is an array: ∂p_i/∂θ_j has the indices i and j."""
        of, *by = derivative.args
        names, indices = [], []
        for part in (of, *(variable for variable, _ in by)):
            names.append(str(part.base) if isinstance(part, sp.Indexed) else str(part))
            indices += list(part.indices) if isinstance(part, sp.Indexed) else []
            if not (part.is_Symbol or isinstance(part, sp.Indexed)):
                raise Unsupported("only derivatives of symbols and entries can stand untaken")
        return of_atom(Atom(Kind.ENTRY, ("∂" + "/∂".join(names), *indices)))

    def _add(self, expression: sp.Add) -> Polynomial:
        return total(self.of(term) for term in expression.args)

    def _mul(self, expression: sp.Mul) -> Polynomial:
        product = UNIT
        for factor in expression.args:
            product = self.times(product, self.of(factor))
        return product

    def _pow(self, expression: sp.Pow) -> Polynomial:
        return self.power(self.of(expression.base), self.of(expression.exp))

    def _sum(self, expression: sp.Sum) -> Polynomial:
        return self._over_ranges(expression.function, list(expression.limits))

    def _over_ranges(self, body: sp.Expr, limits: list[sp.Tuple]) -> Polynomial:
        """Sum `body` over its limits, the last of which is the outermost, as in SymPy."""
        if not limits:
            return self.of(body)
        *inner, (index, low, high) = limits
        bound = self.fresh()
        renaming = {index: bound}
        outer, self._ranges[bound] = dict(self._ranges), (low, high)
        inside = [sp.Tuple(name, a.xreplace(renaming), b.xreplace(renaming)) for name, a, b in inner]
        form = self._over_ranges(_renamed(body, renaming), inside)
        self._ranges = outer
        return self.summed(form, bound, low, high)

    def _product(self, expression: sp.Product) -> Polynomial:
        """Π f = exp Σ ln f, for positive f."""
        return self.exp(self._sum(sp.Sum(sp.log(expression.function), *expression.limits)))

    def _delta(self, expression: sp.KroneckerDelta) -> Polynomial:
        return self.delta(*expression.args[:2])

    def _trigonometric(self, expression: sp.Expr) -> Polynomial:
        turn = self.exp(self.times(of_atom(IMAGINARY), self.of(expression.args[0])))
        back = self.power(turn, constant(-1))
        if expression.func is sp.cos:
            return (turn + back).scaled(HALF)
        return self.times(of_atom(IMAGINARY), back - turn).scaled(HALF)

    def _hyperbolic(self, expression: sp.Expr) -> Polynomial:
        argument = self.of(expression.args[0])
        up, down = self.exp(argument), self.exp(argument.scaled(-ONE))
        if expression.func is sp.cosh:
            return (up + down).scaled(HALF)
        if expression.func is sp.sinh:
            return (up - down).scaled(HALF)
        if expression.func is sp.sech:
            return self.power(up + down, constant(-1)).scaled(Fraction(2))
        return self.times(up - down, self.power(up + down, constant(-1)))

    def _absolute(self, expression: sp.Abs) -> Polynomial:
        return self.absolute(self.of(expression.args[0]))

    def _extreme(self, expression: sp.Expr) -> Polynomial:
        """max(a, b) = (a + b + |a - b|) / 2, one pair after the other; min with the other sign."""
        sign = ONE if expression.func is sp.Max else -ONE
        best, *others = (self.of(argument) for argument in sorted(expression.args, key=str))
        for other in others:
            best = (best + other + self.absolute(best - other).scaled(sign)).scaled(HALF)
        return best

    def _binomial(self, expression: sp.binomial) -> Polynomial:
        return self._function("binomial", [self.of(a) for a in expression.args])

    def _function(self, name: str, arguments: list[Polynomial], known: sp.Expr | None = None) -> Polynomial:
        positive, non_negative = (bool(known.is_positive), bool(known.is_nonnegative)) if known else (False, False)
        return of_atom(Atom(Kind.FUNCTION, (name, *arguments), positive, non_negative))

    # ── arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────

    def fresh(self) -> sp.Symbol:
        """Return a bound index nobody else uses."""
        self._fresh += 1
        return sp.Symbol(f"~fresh{self._fresh}", integer=True, positive=True)

    def spend(self, amount: int) -> None:
        """Take from the budget."""
        self._left -= amount
        if self._left < 0:
            raise TooLarge("the normal form has too many terms")

    def times(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return the product of two polynomials."""
        self.spend(len(left.terms) * len(right.terms))
        if right.constant is not None:
            return left.scaled(right.constant)
        if left.constant is not None:
            return right.scaled(left.constant)
        terms: dict[Monomial, Fraction] = {}
        others: list[Polynomial] = []
        for first, a in left.terms.items():
            for second, b in right.terms.items():
                product = self._merged(first, second)
                if isinstance(product, Polynomial):
                    others.append(product.scaled(a * b))
                else:
                    terms[product] = terms.get(product, Fraction(0)) + a * b
        return total((Polynomial(terms), *others))

    def _merged(self, first: Monomial, second: Monomial) -> Monomial | Polynomial:
        if not first:
            return second
        if not second:
            return first
        factors = dict(first)
        for atom, exponent in second:
            factors[atom] = factors.get(atom, Fraction(0)) + exponent
        return self.product_of(factors) if _needs_rules(factors, self.facts) else ordered(factors)

    def product_of(self, factors: Mapping[Atom, Fraction]) -> Polynomial:
        """Return a product of powers of atoms, with the rules that hold between atoms applied."""
        factors = {atom: exponent for atom, exponent in factors.items() if exponent}
        for atom in sorted(factors, key=lambda a: a.key):
            rewritten = self._rewritten(atom, factors)
            if rewritten is not None:
                return rewritten
        return Polynomial({ordered(factors): ONE})

    def _rewritten(self, atom: Atom, factors: dict[Atom, Fraction]) -> Polynomial | None:
        """Apply the first rule there is for `atom` among these factors, or return None."""
        exponent = factors[atom]
        rest = {other: power for other, power in factors.items() if other != atom}
        if atom.kind is Kind.IMAGINARY and exponent not in (0, 1):
            sign = -ONE if int(exponent) % 4 in (2, 3) else ONE
            return self.product_of({**rest, atom: Fraction(int(exponent) % 2)}).scaled(sign)
        if atom.kind is Kind.PRIME and not 0 < exponent < 1:
            whole = floor(exponent)
            return self.product_of({**rest, atom: exponent - whole}).scaled(Fraction(atom.parts[0]) ** whole)
        if atom.kind is Kind.ABSOLUTE and exponent.denominator == 1 and exponent >= 2:
            square = self.times(atom.parts[0], atom.parts[0])
            return self.times(self.product_of({**rest, atom: exponent - 2}), square)
        if atom.kind is Kind.POLYNOMIAL and exponent >= 1:
            whole = min(floor(exponent), _LARGEST_POWER)
            if exponent - whole >= 1:
                return None
            return self.times(
                self.product_of({**rest, atom: exponent - whole}), self._whole_power(atom.parts[0], whole)
            )
        if atom.kind is Kind.POLYNOMIAL and exponent < 0 and exponent.denominator == 1:
            return self._divided(atom, exponent, rest)
        if atom.kind is Kind.DELTA:
            return self._with_delta(atom, exponent, rest)
        if atom.kind is Kind.ENTRY and atom.parts[0] in self.facts.one_hot:
            return self._with_one_hot(atom, exponent, rest)
        return None

    def _divided(self, atom: Atom, exponent: Fraction, rest: dict[Atom, Fraction]) -> Polynomial | None:
        """Divide by a sum as far as it goes: e^x / (1 + e^x) = 1 - 1 / (1 + e^x), so that one form is left of many."""
        below: Polynomial = atom.parts[0]
        inside = below.atoms()
        if any(a.kind is Kind.POLYNOMIAL and p < 0 and a.parts[0].atoms() & inside for a, p in rest.items()):
            return None  # two denominators in the same atoms could undo each other's divisions for ever
        end = _end_to_divide(below, rest)
        if end is None:
            return None
        tail = Polynomial({monomial: c for monomial, c in below.terms.items() if monomial != end})
        quotient = self.times(self.product_of(rest), self._monomial_power(end, below.terms[end], -ONE))
        fewer = self.times(quotient, self.product_of({atom: exponent + 1}))
        return fewer - self.times(self.times(quotient, tail), Polynomial({((atom, exponent),): ONE}))

    def _with_delta(self, atom: Atom, exponent: Fraction, rest: dict[Atom, Fraction]) -> Polynomial | None:
        """δ_ij f(j) = δ_ij f(i), and δ² = δ."""
        if exponent < 0:
            raise Unsupported("a Kronecker delta stands in a denominator, where it may be zero")
        keep, drop = sorted(atom.parts, key=_index_order)
        if exponent == 1 and not any(drop in other.symbols for other in rest):
            return None
        unified = UNIT
        for other, power in rest.items():
            unified = self.times(unified, self.power(self._replaced_atom(other, {drop: keep}), constant(power)))
        return self.times(unified, of_atom(atom))

    def _with_one_hot(self, atom: Atom, exponent: Fraction, rest: dict[Atom, Fraction]) -> Polynomial | None:
        """y_i² = y_i, and y_i y_j = δ_ij y_i."""
        if exponent > 1 and exponent.denominator == 1:
            return self.product_of({**rest, atom: ONE})
        for other, power in rest.items():
            if other.kind is Kind.ENTRY and other.parts[0] == atom.parts[0] and power > 0 and exponent > 0:
                fewer = {a: p for a, p in rest.items() if a != other}
                return self.times(self.product_of({**fewer, atom: ONE}), self.delta(atom.parts[1], other.parts[1]))
        return None

    def delta(self, i: sp.Expr, j: sp.Expr) -> Polynomial:
        """Return the Kronecker delta of two indices."""
        difference = sp.expand(i - j)
        if difference == 0:
            return UNIT
        if difference.is_Integer or frozenset((i, j)) in self.facts.distinct:
            return ZERO
        return of_atom(Atom(Kind.DELTA, tuple(sorted((i, j), key=_index_order))))

    # ── powers, exponentials, logarithms ────────────────────────────────────────────────────────────────────────

    def power(self, base: Polynomial, exponent: Polynomial) -> Polynomial:
        """Return `base` to the `exponent`."""
        number = exponent.constant
        if number is None:
            if base.positive:
                return self.exp(self.times(exponent, self.log(base)))
            if base == UNIT:
                return UNIT
            return self._function("power", [base, exponent])
        if number.denominator == 1 and 0 <= number <= _LARGEST_POWER:
            return self._whole_power(base, int(number))
        single = base.single
        if single is not None:
            return self._monomial_power(*single, number)
        if not base.terms:
            if number > 0:
                return ZERO
            raise Unsupported("a division by zero")
        return self._by_cases(base, lambda value: self.power(value, exponent)) or self._sum_power(base, number)

    def _whole_power(self, base: Polynomial, exponent: int) -> Polynomial:
        result = UNIT
        for _ in range(exponent):
            result = self.times(result, base)
        return result

    def _monomial_power(self, monomial: Monomial, coefficient: Fraction, exponent: Fraction) -> Polynomial:
        whole = exponent.denominator == 1
        if not whole and coefficient < 0:
            return of_atom(self._power_atom(Polynomial({monomial: coefficient})), exponent)
        result = constant(coefficient**exponent.numerator) if whole else self._root(coefficient, exponent)
        for atom, power in monomial:
            result = self.times(result, self._atom_power(atom, power, exponent))
        return result

    def _atom_power(self, atom: Atom, power: Fraction, exponent: Fraction) -> Polynomial:
        if atom.kind is Kind.DELTA and exponent > 0:
            return of_atom(atom)
        if atom.positive or exponent.denominator == 1:
            return self.product_of({atom: power * exponent})
        if power.denominator == 1 and power % 2 == 0:  # (x²)^(1/2) = |x|
            return self.power(self.absolute(of_atom(atom)), constant(power * exponent))
        return of_atom(self._power_atom(of_atom(atom, power)), exponent)

    def _root(self, number: Fraction, exponent: Fraction) -> Polynomial:
        """Return a fractional power of a positive number as powers of primes."""
        factors = {Atom(Kind.PRIME, (p,), positive=True): m * exponent for p, m in _primes(number).items()}
        return self.product_of(factors)

    def _sum_power(self, base: Polynomial, exponent: Fraction) -> Polynomial:
        """Return a sum to a power that is not a small whole number: common factors taken out, the rest an atom."""
        content, rest = self._content(base, whole=exponent.denominator == 1)
        if rest.single is not None:
            return self.power(self.times(content, rest), constant(exponent))
        (monomial, coefficient), *_ = content.terms.items()
        taken = self._monomial_power(monomial, coefficient, exponent)
        return self.times(taken, self.product_of({self._power_atom(rest): exponent}))

    @staticmethod
    def _power_atom(base: Polynomial) -> Atom:
        return Atom(Kind.POLYNOMIAL, (base,), positive=base.positive)

    def _content(self, base: Polynomial, *, whole: bool) -> tuple[Polynomial, Polynomial]:
        """Split into a common factor and the rest. Under a fractional power only positive factors may be taken out."""
        coefficients = list(base.terms.values())
        number = Fraction(gcd(*(c.numerator for c in coefficients)), lcm(*(c.denominator for c in coefficients)))
        leading = base.terms[min(base.terms, key=spelled)]
        if whole and leading < 0:
            number = -number
        lowest: dict[Atom, Fraction] = {}
        for atom in base.atoms():
            if whole or atom.positive:
                exponents = [dict(monomial).get(atom, Fraction(0)) for monomial in base.terms]
                if min(exponents) != 0 and atom.kind is not Kind.DELTA:
                    lowest[atom] = min(exponents)
        inverse = {atom: -exponent for atom, exponent in lowest.items()}
        rest = self.times(base.scaled(1 / number), self.product_of(inverse))
        return Polynomial({ordered(lowest): number}), rest

    def exp(self, argument: Polynomial) -> Polynomial:
        """e^(Σ c m) = Π (e^m)^c."""
        split = self._by_cases(argument, self.exp)
        if split is not None:
            return split
        product = UNIT
        for monomial, coefficient in argument.terms.items():
            product = self.times(product, self._exp_of_term(monomial, coefficient))
        return product

    def _exponential(self, expression: sp.exp) -> Polynomial:
        return self.exp(self.of(expression.args[0]))

    def _exp_of_term(self, monomial: Monomial, coefficient: Fraction) -> Polynomial:
        logs = [(atom, power) for atom, power in monomial if atom.kind is Kind.LOG]
        if len(monomial) == 1 and logs and logs[0][1] == 1:
            return self.power(logs[0][0].parts[0], constant(coefficient))
        real = not any(atom.kind is Kind.IMAGINARY for atom, _ in monomial)
        return of_atom(Atom(Kind.EXP, (monomial,), positive=real), coefficient)

    def _log(self, expression: sp.log) -> Polynomial:
        return self.log(self.of(expression.args[0]))

    def log(self, argument: Polynomial) -> Polynomial:
        """Return the natural logarithm: of a product the sum of the logarithms, where the factors are positive."""
        split = self._by_cases(argument, self.log)
        if split is not None:
            return split
        if not argument.terms:
            raise Unsupported("a logarithm of zero")
        content, rest = (argument, UNIT) if argument.single is not None else self._content(argument, whole=False)
        (monomial, coefficient), *_ = content.terms.items()
        if coefficient < 0 or not all(atom.positive for atom, _ in monomial):
            return of_atom(Atom(Kind.LOG, (argument,)))
        parts = [
            of_atom(Atom(Kind.LOG, (constant(p),), positive=True)).scaled(Fraction(m))
            for p, m in _primes(coefficient).items()
        ]
        parts += [self._log_of_atom(atom).scaled(exponent) for atom, exponent in monomial]
        if rest != UNIT:
            parts.append(of_atom(Atom(Kind.LOG, (rest,))))
        return total(parts)

    def _log_of_atom(self, atom: Atom) -> Polynomial:
        if atom.kind is Kind.EXP:
            return Polynomial({atom.parts[0]: ONE})
        if atom.kind is Kind.POLYNOMIAL:
            return of_atom(Atom(Kind.LOG, atom.parts))
        return of_atom(Atom(Kind.LOG, (of_atom(atom),)))

    def absolute(self, argument: Polynomial) -> Polynomial:
        """Return |argument|: |−x| = |x|, and positive factors stand outside."""
        single = argument.single
        if argument.constant is not None:
            return constant(abs(argument.constant))
        if single is not None:
            monomial, coefficient = single
            outside = {
                atom: power for atom, power in monomial if atom.positive or (power.denominator == 1 and power % 2 == 0)
            }
            inside = tuple(row for row in monomial if row[0] not in outside)
            rest = self._absolute_atom(Polynomial({inside: ONE})) if inside else UNIT
            return self.times(self.product_of(outside), rest).scaled(abs(coefficient))
        content, rest = self._content(argument, whole=True)
        return self.times(self.absolute(content), self._absolute_atom(rest))

    @staticmethod
    def _absolute_atom(inside: Polynomial) -> Polynomial:
        return of_atom(Atom(Kind.ABSOLUTE, (inside,), positive=False))

    def _by_cases(self, argument: Polynomial, function: Callable[[Polynomial], Polynomial]) -> Polynomial | None:
        """f(δ) = (1-δ) f(0) + δ f(1): a function of an expression with a delta in it, one case for each value."""
        deltas = sorted((a for a in argument.atoms() if a.kind is Kind.DELTA), key=lambda a: a.key)
        if not deltas:
            return None
        delta = deltas[0]
        without = Polynomial({m: c for m, c in argument.terms.items() if delta not in dict(m)})
        with_it = total(Polynomial({tuple(row for row in m if row[0] != delta): c}) for m, c in argument.terms.items())
        both = of_atom(delta)
        return self.times(function(without), UNIT - both) + self.times(function(with_it), both)

    # ── sums ────────────────────────────────────────────────────────────────────────────────────────────────────

    def summed(self, body: Polynomial, index: sp.Symbol, low: sp.Expr, high: sp.Expr) -> Polynomial:
        """Return the sum of `body` over `index` from `low` to `high`."""
        parts = []
        for monomial, coefficient in body.terms.items():
            outside = {atom: power for atom, power in monomial if index not in atom.symbols}
            inside = {atom: power for atom, power in monomial if index in atom.symbols}
            inner = self._sum_of_product([(index, low, high)], inside)
            parts.append(self.times(self.product_of(outside), inner).scaled(coefficient))
        return total(parts)

    def _sum_of_product(self, bounds: list[Bound], factors: Mapping[Atom, Fraction]) -> Polynomial:
        """Sum a product of atoms over several indices at once."""
        self.spend(1)
        bounds, factors = self._flattened(bounds, factors)
        for bound in bounds:
            done = self._one_bound(bound, [b for b in bounds if b != bound], factors)
            if done is not None:
                return done
        product = UNIT
        for some, part in _components(bounds, factors):
            product = self.times(product, self._sum_atom(some, part))
        return product

    def _flattened(
        self, bounds: list[Bound], factors: Mapping[Atom, Fraction]
    ) -> tuple[list[Bound], dict[Atom, Fraction]]:
        """Draw sums among the factors into the sum itself: Σ_i x_i Σ_j w_ij = Σ_ij x_i w_ij."""
        indices = {index for index, _, _ in bounds}
        powers = dict(factors)
        inner, flat = self.opened_sums(
            tuple(factors.items()),
            lambda atom: (
                bool(atom.symbols & indices) and powers[atom].denominator == 1 and 0 < powers[atom] <= _MOST_COPIES
            ),
        )
        return [*bounds, *inner], flat

    def opened_sums(
        self, monomial: Monomial, wanted: Callable[[Atom], bool]
    ) -> tuple[list[Bound], dict[Atom, Fraction]]:
        """Return a monomial as a product under one list of bounds: the sums that are `wanted` are opened."""
        bounds: list[Bound] = []
        flat: dict[Atom, Fraction] = {}
        for atom, exponent in monomial:
            opens = atom.kind is Kind.SUM and wanted(atom)
            if opens and (exponent.denominator != 1 or exponent < 0):
                raise Unsupported("a sum under a root or in a denominator cannot be opened")
            for _ in range(int(exponent) if opens else 0):
                inner_bounds, body = self._opened(atom)
                bounds += inner_bounds
                for inner, power in body:
                    flat[inner] = flat.get(inner, Fraction(0)) + power
            if not opens:
                flat[atom] = flat.get(atom, Fraction(0)) + exponent
        return bounds, flat

    def _opened(self, atom: Atom) -> tuple[list[Bound], Monomial]:
        """Return the bounds and the body of a sum, its bound indices renamed to fresh ones."""
        bounds, body = atom.parts
        renaming = {index: self.fresh() for index, _, _ in bounds}
        opened = [(renaming[index], low.xreplace(renaming), high.xreplace(renaming)) for index, low, high in bounds]
        self._ranges.update({index: (low, high) for index, low, high in opened})
        renamed = self._replaced(Polynomial({body: ONE}), renaming)
        (monomial, _), *_ = renamed.terms.items()
        return opened, monomial

    def _one_bound(self, bound: Bound, others: list[Bound], factors: Mapping[Atom, Fraction]) -> Polynomial | None:
        """Do away with one index where a rule allows it: no factor has it, a delta fixes it, a premise speaks of it."""
        index = bound[0]
        if any(index in a.free_symbols or index in b.free_symbols for _, a, b in others):
            return None
        inside = {atom: power for atom, power in factors.items() if index in atom.symbols}
        rest = {atom: power for atom, power in factors.items() if index not in atom.symbols}
        found = self._without_index(inside, bound)
        if found is None:
            return None
        product = self.times(self.product_of(rest), found)
        for other in others:
            product = self.summed(product, *other)
        return product

    def _without_index(self, inside: dict[Atom, Fraction], bound: Bound) -> Polynomial | None:
        index, low, high = bound
        if not inside:
            return self.of(high - low + 1)
        for atom in inside:
            if atom.kind is Kind.DELTA:
                other = next(i for i in atom.parts if i != index) if index in atom.parts else None
                if other is not None and index not in other.free_symbols and self._in_range(other, low, high):
                    kept = self.product_of({a: p for a, p in inside.items() if a != atom})
                    return self._replaced(kept, {index: other})
        for rule in (self._by_premise, self._power_sum, self._binomial_sum, self._peeled):
            found = rule(inside, bound)
            if found is not None:
                return found
        return None

    def _in_range(self, index: sp.Expr, low: sp.Expr, high: sp.Expr) -> bool:
        return self._ranges.get(index) == (low, high) or (low == 1 and index == 1 and bool(high.is_positive))

    def _peeled(self, inside: dict[Atom, Fraction], bound: Bound) -> Polynomial | None:
        """Σ_{1}^{n+1} f = Σ_1^n f + f(n+1): ranges begin at 1 and end at a symbol, or are written out.

        An empty range is zero, and one that ends before it begins counts backwards, so this holds for all bounds.
        """
        index, low, high = bound
        body = self.product_of(inside)
        length = sp.expand(high - low)
        if length.is_Integer and abs(length) <= _LONGEST_RANGE:
            sign, first, last = (1, low, high) if length >= 0 else (-1, high + 1, low - 1)
            terms = (self._replaced(body, {index: first + step}) for step in range(int(last - first) + 1))
            return total(terms).scaled(Fraction(sign))
        offset = high.as_coeff_Add()[0]
        if offset.is_Integer and 0 < abs(offset) <= _LONGEST_RANGE and high.free_symbols:
            return self.summed(body, index, low, high - offset) + self.summed(body, index, high - offset + 1, high)
        if low.is_Integer and low != 1 and abs(low - 1) <= _LONGEST_RANGE:
            return self.summed(body, index, sp.Integer(1), high) - self.summed(body, index, sp.Integer(1), low - 1)
        return None

    def _by_premise(self, inside: dict[Atom, Fraction], bound: Bound) -> Polynomial | None:
        """Use AᵀA = I, AᵀB = 0 and Σ p = 1 where nothing else depends on the index."""
        index, low, high = bound
        entries = [
            atom for atom, power in inside.items() for _ in range(int(power)) if power.denominator == 1 and power > 0
        ]
        if low != 1 or any(a.kind is not Kind.ENTRY for a in inside) or len(entries) != sum(inside.values()):
            return None
        names = [entry.parts[0] for entry in entries]
        if len(entries) == 1 and entries[0].parts[-1] == index:
            return UNIT if self.facts.totals.get(names[0]) == high else None
        if len(entries) != 2 or any(len(e.parts) != 3 or e.parts[1] != index for e in entries):
            return None
        if names[0] == names[1] and self.facts.orthonormal.get(names[0]) == high:
            return self.delta(entries[0].parts[2], entries[1].parts[2])
        return ZERO if names[0] != names[1] and self.facts.orthogonal.get(frozenset(names)) == high else None

    def _power_sum(self, inside: dict[Atom, Fraction], bound: Bound) -> Polynomial | None:
        _, low, high = bound
        ((atom, power), *others) = inside.items()
        if others or atom.kind is not Kind.SYMBOL or power not in _FAULHABER:
            return None
        upper, lower = self.of(high), self.of(low - 1)
        rows = _FAULHABER[int(power)].items()
        return total((self._whole_power(upper, e) - self._whole_power(lower, e)).scaled(c) for e, c in rows)

    def _binomial_sum(self, inside: dict[Atom, Fraction], bound: Bound) -> Polynomial | None:
        """Σ_j binomial(n, j) x^j = (1 + x)^n for j from 0 to n; without its first or last term one less, x^n less."""
        index, low, high = bound
        chosen = [a for a in inside if a.kind is Kind.FUNCTION and a.parts[0] == "binomial"]
        powers = {a: p for a, p in inside.items() if a not in chosen}
        if low not in (0, 1) or len(chosen) != 1:
            return None
        top = next((n for n in (high, high + 1) if chosen[0].parts[1:] == (self.of(n), self.of(index))), None)
        if top is None:
            return None
        if not all(a.kind is Kind.EXP and _linear_in(a.parts[0], index) for a in powers):
            return None
        term = self.product_of(powers)
        whole = self.power(UNIT + self._replaced(term, {index: sp.Integer(1)}), self.of(top))
        last = ZERO if top == high else self._replaced(term, {index: top})
        return whole - last - (UNIT if low == 1 else ZERO)

    def _sum_atom(self, bounds: Sequence[Bound], factors: Mapping[Atom, Fraction]) -> Polynomial:
        """Return one sum that does not split further, its bound indices renamed in the one way that spells least."""
        orders = permutations(bounds) if len(bounds) <= _MOST_RENAMINGS else iter([tuple(bounds)])
        best: tuple[str, Atom] | None = None
        level = 1 + max(atom.height for atom in factors)
        for order in orders:
            renaming = {index: _bound_index(level, place) for place, (index, _, _) in enumerate(order)}
            renamed = self._replaced(Polynomial({ordered(factors): ONE}), renaming)
            (monomial, coefficient), *_ = renamed.terms.items()
            if len(renamed.terms) != 1 or coefficient != 1:
                raise Unsupported("a sum changed its form when an index was renamed")
            limits = tuple((renaming[i], a.xreplace(renaming), b.xreplace(renaming)) for i, a, b in order)
            filled = all((high - low).is_nonnegative for _, low, high in limits)
            positive = filled and all(atom.positive for atom, _ in monomial)
            atom = Atom(Kind.SUM, (limits, monomial), positive=positive)
            if best is None or atom.key < best[0]:
                best = (atom.key, atom)
        assert best is not None
        return of_atom(best[1])

    # ── substitution of indices ─────────────────────────────────────────────────────────────────────────────────

    def _replaced(self, polynomial: Polynomial, renaming: Mapping[sp.Symbol, sp.Expr]) -> Polynomial:
        parts = []
        for monomial, coefficient in polynomial.terms.items():
            product = constant(coefficient)
            kept = {atom: power for atom, power in monomial if not atom.symbols & renaming.keys()}
            for atom, power in monomial:
                if atom not in kept:
                    product = self.times(product, self.power(self._replaced_atom(atom, renaming), constant(power)))
            parts.append(self.times(product, Polynomial({ordered(kept): ONE})))
        return total(parts)

    def _replaced_atom(self, atom: Atom, renaming: Mapping[sp.Symbol, sp.Expr]) -> Polynomial:
        if not atom.symbols & renaming.keys():
            return of_atom(atom)
        self.spend(1)
        match atom.kind:
            case Kind.SYMBOL:
                return self.of(atom.parts[0].xreplace(dict(renaming)))
            case Kind.ENTRY:
                name, *indices = atom.parts
                moved = (name, *(i.xreplace(dict(renaming)) for i in indices))
                return of_atom(Atom(Kind.ENTRY, moved, atom.positive, atom.non_negative))
            case Kind.DELTA:
                return self.delta(*(i.xreplace(dict(renaming)) for i in atom.parts))
            case Kind.EXP:
                return self.exp(self._replaced(Polynomial({atom.parts[0]: ONE}), renaming))
            case Kind.LOG:
                return self.log(self._replaced(atom.parts[0], renaming))
            case Kind.POLYNOMIAL:
                return self._replaced(atom.parts[0], renaming)
            case Kind.ABSOLUTE:
                return self.absolute(self._replaced(atom.parts[0], renaming))
            case Kind.FUNCTION:
                name, *arguments = atom.parts
                return self._function(name, [self._replaced(argument, renaming) for argument in arguments])
            case Kind.SUM:
                bounds, body = self._opened(atom)
                swap = dict(renaming)
                limits = [(i, a.xreplace(swap), b.xreplace(swap)) for i, a, b in bounds]
                form = self._replaced(Polynomial({body: ONE}), renaming)
                for limit in limits:
                    form = self.summed(form, *limit)
                return form
        raise Unsupported(f"there is no renaming in {atom.kind}")

    # ── questions ───────────────────────────────────────────────────────────────────────────────────────────────

    def is_zero(self, polynomial: Polynomial) -> bool:
        """Return whether the polynomial is proved to be zero, once its denominators are multiplied out."""
        return not self.cleared(polynomial).terms

    def cleared(self, polynomial: Polynomial) -> Polynomial:
        """Return the polynomial times all sums that stand in its denominators."""
        for _ in range(40):
            lowest: dict[Atom, Fraction] = {}
            for monomial in polynomial.terms:
                for atom, power in monomial:
                    if atom.kind is Kind.POLYNOMIAL and power < 0:
                        lowest[atom] = min(power, lowest.get(atom, Fraction(0)))
            if not lowest:
                return polynomial
            atom = min(lowest, key=lambda a: (len(a.key), a.key))
            shift = -floor(lowest[atom])
            polynomial = self._lifted(polynomial, atom, shift)
        raise TooLarge("the denominators do not end")

    def _lifted(self, polynomial: Polynomial, atom: Atom, shift: int) -> Polynomial:
        parts = []
        for monomial, coefficient in polynomial.terms.items():
            factors = dict(monomial)
            factors[atom] = factors.get(atom, Fraction(0)) + shift
            self.spend(1 + len(factors))
            parts.append(self.product_of(factors).scaled(coefficient))
        return total(parts)

    def is_non_negative(self, polynomial: Polynomial) -> bool:
        """Return whether every term is known to be at least zero, once positive denominators are multiplied out."""
        under = {a for a in polynomial.atoms() if a.kind is Kind.POLYNOMIAL}
        if not all(atom.positive for atom in under):
            return False
        return all(
            coefficient > 0 and all(_not_negative(atom, power) for atom, power in monomial)
            for monomial, coefficient in self.cleared(polynomial).terms.items()
        )


def _not_negative(atom: Atom, power: Fraction) -> bool:
    even = power.denominator == 1 and power % 2 == 0
    inside = (
        atom.kind is Kind.SUM
        and all((high - low + 1).is_nonnegative for _, low, high in atom.parts[0])  # else it may count backwards
        and all(_not_negative(*row) for row in atom.parts[1])
    )
    return (
        atom.positive or (atom.non_negative and power > 0) or even or inside or atom.kind in (Kind.DELTA, Kind.ABSOLUTE)
    )


def _needs_rules(factors: Mapping[Atom, Fraction], facts: Facts) -> bool:
    special = (Kind.DELTA, Kind.IMAGINARY, Kind.PRIME, Kind.POLYNOMIAL, Kind.ABSOLUTE)
    return any(atom.kind in special or (atom.kind is Kind.ENTRY and atom.parts[0] in facts.one_hot) for atom in factors)


def _end_to_divide(below: Polynomial, above: Mapping[Atom, Fraction]) -> Monomial | None:
    """Return the highest or lowest term of a denominator in its main atom, whichever the numerator can be divided by.

    The main atom depends on the denominator alone: with two to choose from, each could undo the other's division.
    """
    for main in sorted(below.atoms(), key=lambda a: a.key):
        powers = {monomial: dict(monomial).get(main, Fraction(0)) for monomial in below.terms}
        highest = [monomial for monomial, power in powers.items() if power == max(powers.values())]
        if len(highest) == 1:
            power = above.get(main, Fraction(0))
            if power >= powers[highest[0]]:
                return highest[0]
            lowest = [monomial for monomial, exponent in powers.items() if exponent == 0]
            return lowest[0] if power < 0 and len(lowest) == 1 else None
    return None


def _index_order(index: sp.Expr) -> tuple[bool, bool, str]:
    """Numbers first, then names, bound indices last: a delta replaces the later by the earlier."""
    return (not index.is_Integer, str(index).startswith("~"), str(index))


def _components(
    bounds: Sequence[Bound], factors: Mapping[Atom, Fraction]
) -> Iterable[tuple[list[Bound], dict[Atom, Fraction]]]:
    """Split a sum into sums that share no index: Σ_ij x_i y_j = Σ_i x_i · Σ_j y_j."""
    left = list(bounds)
    while left:
        group, names = [left.pop(0)], set[sp.Symbol]()
        names.add(group[0][0])
        grown = True
        while grown:
            linked = {s for atom in factors if atom.symbols & names for s in atom.symbols}
            linked |= {s for i, a, b in bounds if i in names for s in a.free_symbols | b.free_symbols}
            more = [b for b in left if b[0] in linked or (b[1].free_symbols | b[2].free_symbols) & names]
            grown = bool(more)
            group += more
            left = [b for b in left if b not in more]
            names |= {index for index, _, _ in more}
        yield group, {atom: power for atom, power in factors.items() if atom.symbols & names}


def _linear_in(monomial: Monomial, index: sp.Symbol) -> bool:
    return dict(monomial).get(Atom(Kind.SYMBOL, (index,))) == 1 and not any(
        index in atom.symbols for atom, _ in monomial if atom.kind is not Kind.SYMBOL
    )


def _primes(number: Fraction) -> dict[int, int]:
    """Return the prime factors of a positive fraction with their exponents."""
    found = {int(p): int(m) for p, m in sp.factorint(number.numerator, limit=10_000).items() if p != 1}
    for p, m in sp.factorint(number.denominator, limit=10_000).items():
        if p != 1:
            found[int(p)] = -int(m)
    return found


def _bound_index(level: int, place: int) -> sp.Symbol:
    """Return the name of a bound index: sums inside of one another have other levels, so no name is captured."""
    return sp.Symbol(f"~{level}.{place}", integer=True, positive=True)


def _renamed(body: sp.Expr, renaming: Mapping[sp.Symbol, sp.Symbol]) -> sp.Expr:
    return body.xreplace(dict(renaming))
