"""The rules that prove steps: each is exact, and each is small enough to be believed.

`algebra` compares normal forms and knows nothing else. The others allow one more thing: to put in definitions, to
use the premises, to take derivatives or expectations, limits, an induction, a bound that is plainly not negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from formulas import growth
from formulas.calculus import Definition, expected, unfolded
from formulas.matrices import entry, fresh_index, indexed
from formulas.normal import NO_FACTS, Facts, Meaning, NormalForm, TooLarge, Unsupported
from formulas.polynomial import Polynomial
from reference.derivations.proof import Context, Refused


@dataclass(frozen=True)
class Equality:
    """left = right, by normal form, with what else this rule allows."""

    name: str
    unfold: tuple[str, ...] = ()  # definitions that may be put in; "*" is all of them
    premises: bool = False
    derivatives: bool = False
    expectations: bool = False
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the two are equal in every entry, raise Refused otherwise."""
        facts = context.facts if self.premises else Facts(ranges=context.facts.ranges)
        left, right, ranges = _as_entries(left, right)
        facts = replace(facts, ranges={**facts.ranges, **ranges})
        form = NormalForm(facts, functions=_functions(context) if self.expectations else None)
        try:
            difference = form.of(self._prepared(left, context)) - form.of(self._prepared(right, context))
            if not form.is_zero(difference):
                raise Refused(f"by {self.name}, the two sides differ")
        except (TooLarge, Unsupported) as reason:
            raise Refused(f"by {self.name}, it could not be decided: {reason}") from reason

    def _prepared(self, expression: sp.Expr, context: Context) -> sp.Expr:
        wanted = context.definitions if "*" in self.unfold else _chosen(context, self.unfold)
        if self.derivatives or wanted:
            return _taken(expression, wanted, derivatives=self.derivatives)
        return indexed(expression)


def _chosen(context: Context, names: Sequence[str]) -> dict[str, Definition]:
    unknown = [name for name in names if name not in context.definitions]
    if unknown:
        raise Refused(f"no premise defines {unknown[0]}")
    return {name: context.definitions[name] for name in names}


def _taken(expression: sp.Expr, definitions: Mapping[str, Definition], *, derivatives: bool) -> sp.Expr:
    if expression.has(sp.Derivative) and not derivatives:
        raise Refused("this rule takes no derivatives")
    return unfolded(expression, definitions)


def _as_entries(left: sp.Basic, right: sp.Basic) -> tuple[sp.Expr, sp.Expr, dict[sp.Symbol, tuple[sp.Expr, sp.Expr]]]:
    """Return an equation between matrices as one between their entries (i, j), and the ranges of i and j."""
    if not (isinstance(left, sp.MatrixExpr) or isinstance(right, sp.MatrixExpr)):
        return left, right, {}
    if not (isinstance(left, sp.MatrixExpr) and isinstance(right, sp.MatrixExpr)) or left.shape != right.shape:
        shapes = [getattr(side, "shape", "a number") for side in (left, right)]
        raise Refused(f"the shapes differ: {shapes[0]} and {shapes[1]}")
    i, j = (sp.Integer(1) if size == 1 else fresh_index() for size in left.shape)
    ranges = {index: (sp.Integer(1), size) for index, size in zip((i, j), left.shape, strict=True) if size != 1}
    return entry(left, i, j), entry(right, i, j), ranges


def _functions(context: Context) -> dict[str, Meaning]:
    def mean(form: NormalForm, arguments: Sequence[sp.Expr]) -> Polynomial:
        return expected(indexed(arguments[0]), context.randoms, form)

    return {"E": mean}


algebra = Equality("algebra")
premises = Equality("the premises", premises=True)
expectation = Equality("linearity, independence and the moments of a Gaussian", premises=True, expectations=True)


def definition(*names: str) -> Equality:
    """Return the rule that puts in these definitions."""
    return Equality(f"the definition of {', '.join(names)}", unfold=names)


def definition_and_premises(*names: str) -> Equality:
    """Return the rule that puts in these definitions and uses the premises."""
    return Equality(f"the definition of {', '.join(names)} and the premises", unfold=names, premises=True)


def differentiation(*names: str) -> Equality:
    """Return the rule that puts in these definitions ("*": all) and takes derivatives, premises allowed."""
    return Equality("differentiation", unfold=names, premises=True, derivatives=True)


@dataclass(frozen=True)
class Bound:
    """left ≤ right, because right - left is plainly not negative: a sum of products of squares and of positive things.

    The plain form is `certificate`, proved equal to right - left first; without one the normal form itself must do.
    """

    name: str = "a term that is not negative"
    certificate: sp.Expr | None = None
    unfold: tuple[str, ...] = ()
    relation: str = "≤"

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if left is at most (for ≥: at least) right, raise Refused otherwise."""
        gap = right - left if self.relation == "≤" else left - right
        form = NormalForm(context.facts)
        if self.certificate is None:
            try:
                if not form.is_non_negative(form.of(unfolded(gap, _chosen(context, self.unfold)))):
                    raise Refused("the difference is not plainly non-negative")
            except (TooLarge, Unsupported) as reason:
                raise Refused(f"it could not be decided: {reason}") from reason
            return
        Equality("algebra", self.unfold, premises=True).prove(gap, self.certificate, context)
        if not _plainly_non_negative(self.certificate):
            raise Refused("the certificate is not plainly non-negative")


def bound(certificate: sp.Expr | None = None, *unfold: str, name: str = "a term that is not negative") -> Bound:
    """Return the rule for left ≤ right."""
    return Bound(name, certificate, unfold)


def bound_below(certificate: sp.Expr | None = None, *unfold: str, name: str = "a term that is not negative") -> Bound:
    """Return the rule for left ≥ right."""
    return Bound(name, certificate, unfold, relation="≥")


def _plainly_non_negative(expression: sp.Expr) -> bool:
    if expression.is_nonnegative:
        return True
    if isinstance(expression, sp.Pow):
        even = expression.exp.is_Integer and expression.exp % 2 == 0
        return bool(even or (_plainly_non_negative(expression.base) and expression.base.is_real))
    if isinstance(expression, sp.Sum):
        return _plainly_non_negative(expression.function)
    if isinstance(expression, sp.KroneckerDelta | sp.exp | sp.Abs):
        return True
    return isinstance(expression, sp.Add | sp.Mul) and all(map(_plainly_non_negative, expression.args))


@dataclass(frozen=True)
class Minimum:
    """f(x) ≥ f(a): f'(x) = (x - a) · slope with a positive slope, so f falls before a and rises after it."""

    variable: sp.Symbol
    at: sp.Expr
    slope: sp.Expr
    name: str = "the sign of the derivative"
    relation: str = field(default="≥", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if left, a function of the variable, is at least right, its value at the minimum."""
        if not self.slope.is_positive:
            raise Refused("the slope is not known to be positive")
        algebra.prove(sp.diff(left, self.variable), (self.variable - self.at) * self.slope, context)
        algebra.prove(left.xreplace({self.variable: self.at}), right, context)


@dataclass(frozen=True)
class Limiting:
    """The limit on the left is the right side, by SymPy's algorithm for limits of exp-log functions."""

    name: str = "the limit"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if every limit on the left can be taken and the outcome equals the right side."""
        taken = left.replace(sp.Limit, lambda f, x, to, side="+": sp.limit(f, x, to, str(side)))
        if taken.has(sp.Limit) or taken.has(sp.AccumBounds) or taken.has(sp.oo, -sp.oo, sp.zoo, sp.nan):
            raise Refused("the limit could not be taken")
        algebra.prove(taken, right, context)


limit = Limiting()


@dataclass(frozen=True)
class Induction:
    """left(n) = right(n) for all n, because it holds at the start and each n gives n + 1.

    `start` is left at n = `first`; `step` is left at n + 1, written with left(n): both are premises of the derivation.
    """

    variable: sp.Symbol
    first: sp.Expr
    start: sp.Expr
    step: sp.Expr
    unfold: tuple[str, ...] = ()
    relation: str = field(default="=", init=False)

    @property
    def name(self) -> str:
        """Return the name of the rule."""
        return f"induction on {self.variable}"

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if base and step hold, raise Refused otherwise."""
        rule = Equality("algebra", self.unfold)
        rule.prove(right.xreplace({self.variable: self.first}), self.start, context)
        if not self.step.has(left):
            raise Refused("the step does not speak of the claim it goes on from")
        rule.prove(right.xreplace({self.variable: self.variable + 1}), self.step.xreplace({left: right}), context)


@dataclass(frozen=True)
class Blocks:
    """Σ_{h=1}^{kd} f(h) = Σ_{b=1}^{k} Σ_{e=1}^{d} f((b-1)d + e): every h is (b-1)d + e for one pair (b, e)."""

    name: str = "counting in blocks"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the right side is the left one counted in blocks."""
        both = isinstance(left, sp.Sum) and isinstance(right, sp.Sum)
        if not both or (len(left.limits), len(right.limits)) != (1, 2):
            raise Refused("this rule turns one sum into two")
        (h, low, high), ((e, first, d), (b, one, k)) = left.limits[0], right.limits
        if (low, first, one) != (1, 1, 1) or sp.expand(high - k * d) != 0:
            raise Refused("the ranges do not match")
        algebra.prove(left.function.xreplace({h: (b - 1) * d + e}), right.function, context)


blocks = Blocks()


@dataclass(frozen=True)
class SameGrowth:
    """left = Θ(right) when all variables grow, under these assumptions and no others."""

    variables: tuple[sp.Symbol, ...]
    assuming: tuple[sp.Rel, ...] = ()
    relation: str = field(default="Θ", init=False)

    @property
    def name(self) -> str:
        """Return the name of the rule."""
        return "growth" + (f" while {', '.join(map(str, self.assuming))}" if self.assuming else "")

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:  # noqa: ARG002 - a rule's signature
        """Return if the two grow alike on every ray, raise Refused with the ray otherwise."""
        first, second = (growth.growth_of(side, self.variables) for side in (left, right))
        compared = growth.compare(first, second, growth.assumptions_of(self.assuming))
        if not (compared.upper and compared.lower):
            raise Refused(f"they part along {compared.above or compared.below}")


NOTHING = Context({}, NO_FACTS, {})
