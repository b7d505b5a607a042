"""The rules that prove steps: each is exact, and each is small enough to be believed.

`algebra` compares normal forms and knows nothing else. The others allow one more thing: to put in definitions, to
use the premises, to take derivatives or expectations, limits, an induction, a bound that is plainly not negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from formulas import growth
from formulas.calculus import Definition, expected, leads_to, names_in, unfolded
from formulas.matrices import entry, index, indexed
from formulas.normal import Facts, Meaning, NormalForm, TooLarge, Unsupported
from formulas.polynomial import Polynomial
from reference.derivations.proof import Context, Refused

ROW, COLUMN = index("~row"), index("~column")  # of the entries that stand for a whole matrix
Ranges = dict[sp.Symbol, tuple[sp.Expr, sp.Expr]]


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
        left, right, ranges = _as_entries(left, right)
        try:
            difference = self._form(left, ranges, context) - self._form(right, ranges, context)
            if not NormalForm(self._facts(ranges, context)).is_zero(difference):
                raise Refused(f"by {self.name}, the two sides differ")
        except (TooLarge, Unsupported) as reason:
            raise Refused(f"by {self.name}, it could not be decided: {reason}") from reason
        except RecursionError as reason:
            raise Refused("a definition leads back to itself, or a derivative cannot be taken") from reason

    def _form(self, expression: sp.Expr, ranges: Ranges, context: Context) -> Polynomial:
        """Return the normal form of a side; most are met twice, as the right of one step and the left of the next."""
        known = context.forms.get((self, expression))
        if known is None:
            functions = _functions(context) if self.expectations else None
            form = NormalForm(self._facts(ranges, context), functions=functions)
            known = context.forms[self, expression] = form.of(self._prepared(expression, context))
        return known

    def _facts(self, ranges: Ranges, context: Context) -> Facts:
        facts = context.facts if self.premises else Facts(ranges=context.facts.ranges)
        return replace(facts, ranges={**facts.ranges, **ranges})

    def _prepared(self, expression: sp.Expr, context: Context) -> sp.Expr:
        wanted = context.definitions if "*" in self.unfold else _chosen(context, self.unfold)
        if self.derivatives:
            _no_constants_by_mistake(expression, wanted, context)
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


def _no_constants_by_mistake(expression: sp.Expr, allowed: Mapping[str, Definition], context: Context) -> None:
    """Refuse a derivative of something whose definition the rule may not put in: it would pass for a constant."""
    for derivative in indexed(expression).atoms(sp.Derivative):
        by = {str(v.base) if isinstance(v, sp.Indexed) else str(v) for v in map(indexed, derivative.variables)}
        reached, waiting = set[str](), list(names_in(derivative.expr) - by)
        while waiting:
            name = waiting.pop()
            if name not in reached and name in allowed:
                waiting += names_in(allowed[name].body) - by
            reached.add(name)
        hidden = [n for n in sorted(reached - set(allowed)) if n in context.definitions]
        for name in hidden:
            if leads_to(name, by, context.definitions):
                raise Refused(f"{name} depends on {' and '.join(sorted(by))}, and this rule may not say how")


def _as_entries(left: sp.Basic, right: sp.Basic) -> tuple[sp.Expr, sp.Expr, dict[sp.Symbol, tuple[sp.Expr, sp.Expr]]]:
    """Return an equation between matrices as one between their entries (i, j), and the ranges of i and j."""
    if not (isinstance(left, sp.MatrixExpr) or isinstance(right, sp.MatrixExpr)):
        return left, right, {}
    if not (isinstance(left, sp.MatrixExpr) and isinstance(right, sp.MatrixExpr)) or left.shape != right.shape:
        shapes = [getattr(side, "shape", "a number") for side in (left, right)]
        raise Refused(f"the shapes differ: {shapes[0]} and {shapes[1]}")
    i, j = (sp.Integer(1) if size == 1 else place for size, place in zip(left.shape, (ROW, COLUMN), strict=True))
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
        even = expression.exp.is_Integer and expression.exp % 2 == 0 and expression.base.is_real
        return bool(even or (_plainly_non_negative(expression.base) and expression.base.is_real))
    if isinstance(expression, sp.Sum):  # a range that ends before it begins counts backwards
        forward = all((high - low + 1).is_nonnegative for _, low, high in expression.limits)
        return forward and _plainly_non_negative(expression.function)
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
        if (self.variable.is_positive and not self.at.is_positive) or not self.at.is_real:
            raise Refused("the minimum lies outside of where the variable lives")
        algebra.prove(sp.diff(left, self.variable), (self.variable - self.at) * self.slope, context)
        algebra.prove(left.xreplace({self.variable: self.at}), right, context)


@dataclass(frozen=True)
class Limiting:
    """The limit on the left is the right side, by SymPy's algorithm for limits of exp-log functions."""

    name: str = "the limit"
    relation: str = field(default="=", init=False)

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if every limit on the left can be taken and the outcome equals the right side."""
        algebra.prove(self._taken(left), right, context)
        # SymPy takes n - 1 for a number that is not zero: a size must do at its smallest values too.
        for size in sorted((s for s in left.free_symbols if s.is_integer and s.is_positive), key=str):
            for small in (1, 2):
                algebra.prove(
                    self._taken(left.xreplace({size: sp.Integer(small)})),
                    right.xreplace({size: sp.Integer(small)}),
                    context,
                )

    @staticmethod
    def _taken(expression: sp.Expr) -> sp.Expr:
        try:
            taken = expression.replace(sp.Limit, lambda f, x, to, side="+": sp.limit(f, x, to, str(side)))
        except NotImplementedError as reason:
            raise Refused("the limit could not be taken") from reason
        if taken.has(sp.Limit, sp.AccumBounds, sp.oo, -sp.oo, sp.zoo, sp.nan):
            raise Refused("the limit could not be taken")
        return taken


limit = Limiting()


@dataclass(frozen=True)
class Induction:
    """left(n) = right(n) for all n, because it holds at the start and each n gives n + 1.

    `start` is left at n = `first`; `step` is left at n + 1, written with left(n). Both must follow by algebra, or be
    premises of the derivation or special cases of one.
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
        for at, said in ((self.first, self.start), (self.variable + 1, self.step)):
            if not _follows(left.xreplace({self.variable: at}), said, rule, context):
                raise Refused(f"nothing says what the left side is at {self.variable} = {at}")
        rule.prove(right.xreplace({self.variable: self.first}), self.start, context)
        if not self.step.has(left):
            raise Refused("the step does not speak of the claim it goes on from")
        rule.prove(right.xreplace({self.variable: self.variable + 1}), self.step.xreplace({left: right}), context)


def _follows(left: sp.Expr, right: sp.Expr, rule: Equality, context: Context) -> bool:
    """Return whether left = right is a special case of an equation that is given, or follows by algebra."""
    for equation in context.equations:
        if equation.lhs.func == left.func and len(equation.lhs.args) == len(left.args):
            pairs = list(zip(equation.lhs.args, left.args, strict=True))
            special = {own: given for own, given in pairs if own.is_Symbol}
            if all(own.is_Symbol or own == given for own, given in pairs) and equation.rhs.xreplace(special) == right:
                return True
    try:
        rule.prove(left, right, context)
    except Refused:
        return False
    return True


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
        try:
            first, second = (growth.growth_of(side, self.variables) for side in (left, right))
            compared = growth.compare(first, second, growth.assumptions_of(self.assuming))
        except growth.NotAGrowth as reason:
            raise Refused(str(reason)) from reason
        if not (compared.upper and compared.lower):
            raise Refused(f"they part along {compared.above or compared.below}")
