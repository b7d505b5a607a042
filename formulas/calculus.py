"""Definitions unfolded, derivatives taken and expectations computed, in index notation.

A definition says what an array's entry is for every index: p_i = e^{θ_i} / Σ_k e^{θ_k}. Bound indices are renamed
whenever a definition is put in, so that none is captured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from sympy.core.function import AppliedUndef

from formulas.matrices import entry, fresh_index, indexed
from formulas.normal import NormalForm, Unsupported
from formulas.polynomial import UNIT, Atom, Kind, Monomial, Polynomial, total

E = sp.Function("E")


@dataclass(frozen=True)
class Definition:
    """`head` is `body`, for all indices of the head: an entry p[i], a symbol CE, or a matrix."""

    head: sp.Expr
    body: sp.Expr

    @property
    def name(self) -> str:
        """Return the name that is defined."""
        if isinstance(self.head, sp.Indexed):
            return str(self.head.base)
        return str(self.head.func) if isinstance(self.head, AppliedUndef) else str(self.head)

    def at(self, indices: Iterable[sp.Expr]) -> sp.Expr:
        """Return the body with these indices in place of the head's."""
        own = self.head.indices if isinstance(self.head, sp.Indexed) else self.head.args
        return with_fresh_bounds(self.body).xreplace(dict(zip(own, indices, strict=True)))


def with_fresh_bounds(expression: sp.Expr) -> sp.Expr:
    """Return the expression with every bound index renamed to one that nothing else uses."""
    if isinstance(expression, sp.Sum | sp.Product):
        renaming = {limit[0]: fresh_index() for limit in expression.limits}
        limits = [tuple(part.xreplace(renaming) for part in limit) for limit in expression.limits]
        return expression.func(with_fresh_bounds(expression.function.xreplace(renaming)), *limits)
    if not expression.args or isinstance(expression, sp.Indexed | sp.MatrixExpr):
        return expression
    return expression.func(*map(with_fresh_bounds, expression.args))


def unfolded(expression: sp.Expr, definitions: Mapping[str, Definition]) -> sp.Expr:
    """Return the expression with definitions put in and derivatives taken."""
    expression = indexed(expression)
    if isinstance(expression, sp.Derivative):
        return _differentiated(expression, definitions)
    if isinstance(expression, sp.Indexed):
        definition = definitions.get(str(expression.base))
        if definition is None:
            return expression
        body = definition.body
        if isinstance(body, sp.MatrixExpr):
            return unfolded(entry(body, *expression.indices), definitions)
        return unfolded(definition.at(expression.indices), definitions)
    if expression.is_Symbol or isinstance(expression, AppliedUndef):
        definition = definitions.get(str(expression.func) if expression.args else str(expression))
        if definition is not None:
            body = definition.at(expression.args) if expression.args else with_fresh_bounds(definition.body)
            return unfolded(body, definitions)
    if not expression.args:
        return expression
    if isinstance(expression, sp.Sum | sp.Product):
        # A definition may speak of an index that a sum around it binds under the same name: that one is renamed.
        renaming = {limit[0]: fresh_index() for limit in expression.limits}
        limits = [tuple(part.xreplace(renaming) for part in limit) for limit in expression.limits]
        return expression.func(unfolded(expression.function.xreplace(renaming), definitions), *limits)
    return expression.func(*(unfolded(argument, definitions) for argument in expression.args))


def leads_to(name: str, targets: AbstractSet[str], definitions: Mapping[str, Definition]) -> bool:
    """Return whether what a name stands for depends on one of the targets, through however many definitions."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in targets:
            return True
        if current not in seen and current in definitions:
            seen.add(current)
            waiting += names_in(definitions[current].body)
    return False


def names_in(expression: sp.Basic) -> set[str]:
    """Return the names of the symbols, arrays, matrices and functions in an expression."""
    arrays = {str(each.base) for each in expression.atoms(sp.Indexed)}
    matrices = {each.name for each in expression.atoms(sp.MatrixSymbol)}
    functions = {str(each.func) for each in expression.atoms(AppliedUndef)}
    return arrays | matrices | functions | {str(each) for each in expression.atoms(sp.Symbol)}


def _differentiated(derivative: sp.Derivative, definitions: Mapping[str, Definition]) -> sp.Expr:
    """Take a derivative: what is differentiated by stays a variable until the derivative is taken."""
    of, *by = derivative.args
    variables = [indexed(variable) for variable, times in by for _ in range(int(times))]
    held = {str(v.base) if isinstance(v, sp.Indexed) else str(v) for v in variables}
    inner = unfolded(of, {name: d for name, d in definitions.items() if name not in held})
    for variable in variables:
        inner = sp.diff(with_fresh_bounds(inner), variable)
    return unfolded(inner, definitions)


@dataclass(frozen=True)
class Gaussian:
    """A random vector with independent normal entries: mean and variance of entry i are functions of i."""

    name: str
    mean: sp.IndexedBase
    variance: sp.Expr


def expected(argument: sp.Expr, randoms: Mapping[str, Gaussian], form: NormalForm) -> Polynomial:
    """Return the expectation of a polynomial in independent Gaussian vectors, as a normal form."""
    return total(
        _expected_term(monomial, randoms, form).scaled(coefficient)
        for monomial, coefficient in form.of(argument).terms.items()
    )


def _expected_term(monomial: Monomial, randoms: Mapping[str, Gaussian], form: NormalForm) -> Polynomial:
    bounds, factors = form.opened_sums(monomial, lambda atom: _is_random(atom, randoms))
    fixed = {atom: power for atom, power in factors.items() if not _is_random(atom, randoms)}
    result = form.product_of(fixed)
    for name, gaussian in sorted(randoms.items()):
        own = [(atom, power) for atom, power in factors.items() if atom.kind is Kind.ENTRY and atom.parts[0] == name]
        indices = [atom.parts[1] for atom, power in own for _ in range(_times(power))]
        result = form.times(result, _moment(indices, gaussian, form))
    for bound in reversed(bounds):
        result = form.summed(result, *bound)
    return result


def _moment(indices: list[sp.Expr], gaussian: Gaussian, form: NormalForm) -> Polynomial:
    """E[x_1 … x_n] = μ_1 E[x_2 … x_n] + Σ_j Cov(x_1, x_j) E[the others]."""
    if not indices:
        return UNIT
    first, *others = indices
    result = form.times(form.of(gaussian.mean[first]), _moment(others, gaussian, form))
    for place, other in enumerate(others):
        covariance = form.times(form.of(gaussian.variance), form.delta(first, other))
        rest = others[:place] + others[place + 1 :]
        result = result + form.times(covariance, _moment(rest, gaussian, form))
    return result


def _times(power: Fraction) -> int:
    if power.denominator != 1 or power < 0:
        raise Unsupported("only powers of a random entry have an expectation here")
    return int(power)


def _is_random(atom: Atom, randoms: Mapping[str, Gaussian]) -> bool:
    if atom.kind is Kind.ENTRY:
        return atom.parts[0] in randoms
    if atom.kind is Kind.SUM:
        return any(_is_random(inner, randoms) for inner, _ in atom.parts[1])
    if any(f"entry({name}," in atom.key for name in randoms):
        raise Unsupported("only polynomials in random entries have an expectation here")
    return False
