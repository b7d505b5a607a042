"""A wrong step cannot pass: every step of every derivation is broken in many ways, and each break is refused.

A break changes the right side: a sign, a factor, an index, a range, a transpose, a term or a factor dropped. Some changes
change nothing (the sign of a zero, an index of something symmetric); whether one does is decided by computing both sides at
numbers, which shares nothing with the prover. A step that is an inequality is broken only where it becomes false.
"""

from __future__ import annotations

import math
from itertools import islice, product

import numpy as np
import pytest
import sympy as sp
from sympy.core.function import AppliedUndef

from reference.derivations import NAMES, derivation
from reference.derivations.proof import Refused

KINDS = ("sign", "factor", "dropped", "index", "range", "transposed")
MOST_PER_KIND = 3  # of one step; keeps the whole test within a minute
TOLERANCE = 1e-7


def breaks(expression):
    """Return (kind, broken) pairs for one right side."""
    if isinstance(expression, sp.Eq):
        yield from (("sign", sp.Eq(expression.lhs, broken)) for _, broken in breaks(expression.rhs))
        return
    yield from (("sign", broken) for broken in _with_terms(expression, lambda term: -term))
    yield from (("factor", broken) for broken in _with_terms(expression, lambda term: 2 * term))
    yield from (("dropped", broken) for broken in _dropped(expression))
    yield from (("index", broken) for broken in _with_other_index(expression))
    yield from (("range", broken) for broken in _with_other_range(expression))
    yield from (("transposed", broken) for broken in _transposed(expression))


def _with_terms(e, change):
    is_sum = isinstance(e, sp.Add | sp.MatAdd)
    terms = list(e.args) if is_sum else [e]
    for place, term in enumerate(terms):
        others = terms[:place] + terms[place + 1 :]
        yield e.func(*others, change(term)) if is_sum else change(term)


def _dropped(e):
    if isinstance(e, sp.Add | sp.MatAdd):
        for place in range(len(e.args)):
            rest = e.args[:place] + e.args[place + 1 :]
            yield e.func(*rest) if len(rest) > 1 else rest[0]
    if isinstance(e, sp.Mul):
        for place, factor in enumerate(e.args):
            if not factor.is_Number:
                yield sp.Mul(*e.args[:place], *e.args[place + 1 :])


def _with_other_index(e):
    entries = sorted(e.atoms(sp.Indexed), key=str) + sorted(e.atoms(sp.KroneckerDelta), key=str)
    symbols = sorted({s for x in entries for s in x.free_symbols if s.is_integer and s.is_Symbol}, key=str)
    for x in entries:
        own = x.indices if isinstance(x, sp.Indexed) else x.args
        for place, other in product(range(len(own)), symbols):
            if own[place] != other:
                changed = [*own[:place], other, *own[place + 1 :]]
                yield e.xreplace(
                    {x: x.base[tuple(changed)] if isinstance(x, sp.Indexed) else sp.KroneckerDelta(*changed)}
                )


def _with_other_range(e):
    for total in sorted(e.atoms(sp.Sum, sp.Product), key=str):
        *others, (bound, low, high) = total.limits
        if not isinstance(high, sp.Integer):
            yield e.xreplace({total: total.func(total.function, *others, (bound, low, high - 1))})


def _transposed(e):
    if not isinstance(e, sp.MatrixExpr):
        return
    for symbol in sorted(e.atoms(sp.MatrixSymbol), key=str):
        if symbol.shape[0] == symbol.shape[1]:
            yield e.xreplace({symbol: symbol.T})


# ── numbers for the symbols of a derivation ─────────────────────────────────────────────────────────────────────


class Numbers:
    """Values for everything a derivation speaks of, the same for both sides of a step."""

    def __init__(self, about, seed):
        self.random = np.random.default_rng(seed)
        self.context = about.context
        parts = [p.statement for p in about.premises if isinstance(p.statement, sp.Basic)]
        parts += [side for step in about.steps for side in (step.left, step.right)]
        self.known = {}
        sizes = {s for part in parts for s in _sizes(part)}
        for number, size in enumerate(sorted(sizes, key=str)):
            self.known[str(size)] = 2 + (number + seed) % 3
        for part in parts:
            for symbol in sorted(part.atoms(sp.Symbol), key=str):
                self._symbol(symbol)
            for entry in part.atoms(sp.Indexed):
                self._array(str(entry.base), len(entry.indices), positive=bool(entry.is_positive))
            for matrix in part.atoms(sp.MatrixSymbol):
                self._array(matrix.name, 2, positive=False)
            for call in part.atoms(AppliedUndef):
                self.known.setdefault(str(call.func), lambda *a: math.tanh(sum(a) + 0.3) + 0.2 * sum(x * x for x in a))
        for bounds in self.context.facts.distinct:
            for place, index in enumerate(sorted(bounds, key=str)):
                self.known[str(index)] = 1 + place

    def _symbol(self, symbol):
        if str(symbol) in self.known or not symbol.is_Symbol:
            return
        if symbol.is_integer:
            self.known[str(symbol)] = int(self.random.integers(1, 3))
        else:
            value = float(self.random.uniform(0.3, 1.7))
            self.known[str(symbol)] = value if symbol.is_nonnegative or self.random.random() < 0.5 else -value

    def _array(self, name, rank, *, positive):
        values = self.random.uniform(0.2, 1.5, size=(14,) * rank)
        self.known[name] = self.known.get(name) if isinstance(self.known.get(name), np.ndarray) else (
            values if positive else values * self.random.choice([-1, 1], size=values.shape)
        )  # fmt: skip

    def of(self, value, expression, *, defined):
        return value(expression, self.known, self.context.definitions if defined else {})


def _sizes(e):
    for total in e.atoms(sp.Sum, sp.Product):
        for _, low, high in total.limits:
            yield from (s for s in (low.free_symbols | high.free_symbols) if s.is_Symbol)
    for matrix in e.atoms(sp.MatrixSymbol):
        for size in matrix.shape:
            yield from sp.sympify(size).free_symbols


def differs(value, about, step, broken, *, defined):
    """Return whether the broken right side differs from the true one, or breaks the inequality, at some numbers.

    With `defined` false, what the premises define is drawn at random like everything else: quicker, and surely the same
    where it finds no difference.
    """
    if isinstance(step.right, sp.Eq):
        return True  # an equation has no number; every break of one changes its solutions
    for seed in range(3):
        numbers = Numbers(about, seed)
        try:
            was, now = (numbers.of(value, side, defined=defined) for side in (step.right, broken))
            against = numbers.of(value, step.left, defined=True) if step.rule.relation in ("≤", "≥") else None
        except (ZeroDivisionError, OverflowError, ValueError, IndexError):
            continue
        except RecursionError:
            return True  # a derivative that is not taken has no number: what looks different is different
        was, now = np.asarray(was, complex), np.asarray(now, complex)
        if was.shape != now.shape:
            return True
        if against is not None:
            if (against - now.real) * (1 if step.rule.relation == "≤" else -1) > TOLERANCE:
                return True
        elif np.abs(was - now).max() > TOLERANCE * (1 + np.abs(was).max()):
            return True
    return False


@pytest.mark.parametrize("name", NAMES)
def test_every_broken_step_is_refused(name, value, record_property):
    about = derivation(name)
    passed, count = [], 0
    for step in about.steps:
        if step.rule.relation == "Θ":  # a factor of two or a sign changes no growth: these are broken by a variable
            held = {rel.lhs for rel in step.rule.assuming if str(rel.rhs) == "constant"}
            for variable in set(step.rule.variables) - held:
                count += 1
                with pytest.raises(Refused):
                    step.rule.prove(step.left, step.right * variable, about.context)
            continue
        found = {kind: [] for kind in KINDS}
        for kind, broken in breaks(step.right):
            found[kind].append(broken)
        for kind, several in found.items():
            for broken in islice(several, MOST_PER_KIND):
                if not differs(value, about, step, broken, defined=step.rule.relation != "="):
                    continue
                try:
                    step.rule.prove(step.left, broken, about.context)
                except Refused:
                    count += 1
                    continue
                if differs(value, about, step, broken, defined=True):
                    count += 1
                    passed.append(f"{kind}: {step.right}  became  {broken}")
    record_property("broken", count)
    print(f"{name}: {count} broken steps, {count - len(passed)} refused")
    assert not passed
    assert count >= 2
