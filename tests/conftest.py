"""What several tests need: a place to put submissions, and a judge that stays warm."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.core.function import AppliedUndef

# Before torch is imported: a process that ever ran several threads leaves its forks waiting for them.
os.environ["OMP_NUM_THREADS"] = "1"

from engine.corpus import draw
from engine.intake import take_in
from engine.pipeline import Judge, tier_for
from engine.rubric import read_rubric
from formulas.calculus import Definition, unfolded
from formulas.matrices import entry, indexed

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def root():
    return ROOT


def pytest_sessionstart():
    """What is read while tests are collected is kept nowhere: the cache of the run is not there yet."""
    os.environ["XDG_CACHE_HOME"] = os.devnull


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Drawn inputs are shared within a run of the tests, never with the user's own cache."""
    patch = pytest.MonkeyPatch()
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # one cache for all processes of the run
    patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def softmax_judge(own_cache):
    """Judges softmax on a few inputs per check: enough for every outcome there is."""
    rubric = read_rubric().only(["attention.softmax"])
    with Judge(rubric, draw(rubric.checks, number=0, examples=12), tier_for(trusted=False)) as judge:
        yield judge


@pytest.fixture
def judged(softmax_judge, tmp_path):
    """Judge one file's text as alice's attention.py (or another name) and return the item's result."""

    def run(text: str, name: str = "attention.py"):
        folder = tmp_path / "alice"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        (submission,) = take_in([folder])
        return softmax_judge.result(submission)

    return run


# ── the value of an expression in index notation, at concrete sizes ─────────────────────────────────────────────

Known = Mapping[str, Any]

_FUNCTIONS: dict[type, Callable[..., float]] = {
    sp.exp: math.exp, sp.log: math.log, sp.tanh: math.tanh, sp.cosh: math.cosh, sp.sinh: math.sinh,
    sp.sin: math.sin, sp.cos: math.cos, sp.Abs: abs, sp.Max: max, sp.Min: min, sp.binomial: math.comb,
    sp.sech: lambda x: 1 / math.cosh(x), sp.erf: math.erf,
}  # fmt: skip


def evaluate(expression: sp.Basic, known: Known, definitions: Mapping[str, Definition] | None = None) -> Any:
    """Return the value of an expression, arrays indexed from 1; a matrix expression gives an array.

    `known` maps names of symbols to numbers and names of arrays to arrays; definitions are put in and derivatives taken
    first. Sums are added up term by term: nothing of the prover is used.
    """
    if isinstance(expression, sp.MatrixExpr):
        rows, columns = (int(evaluate(size, known)) for size in expression.shape)
        entries = [
            [
                evaluate(entry(expression, sp.Integer(r), sp.Integer(c)), known, definitions)
                for c in range(1, columns + 1)
            ]
            for r in range(1, rows + 1)
        ]
        return np.array(entries, dtype=float)
    prepared = (
        unfolded(expression, definitions or {}) if definitions or expression.has(sp.Derivative) else indexed(expression)
    )
    return _number(prepared, dict(known))


def _number(e: sp.Basic, known: dict[str, Any]) -> Any:
    if e.is_Number or e.is_NumberSymbol:
        return float(e) if not e.is_Integer else int(e)
    if e.is_Symbol:
        return known[str(e)]
    if isinstance(e, sp.Indexed):
        place = tuple(round(_number(i, known)) - 1 for i in e.indices)
        assert all(p >= 0 for p in place), f"{e} is out of range"
        return known[str(e.base)][place]
    if isinstance(e, sp.Add):
        return sum(_number(a, known) for a in e.args)
    if isinstance(e, sp.Mul):
        return math.prod(_number(a, known) for a in e.args)
    if isinstance(e, sp.Pow):
        return _number(e.base, known) ** _number(e.exp, known)
    if isinstance(e, sp.KroneckerDelta):
        return float(round(_number(e.args[0], known)) == round(_number(e.args[1], known)))
    if isinstance(e, sp.Sum | sp.Product):
        return _over(e, list(e.limits), known)
    if isinstance(e, AppliedUndef):
        return known[str(e.func)](*(_number(a, known) for a in e.args))
    return _FUNCTIONS[e.func](*(_number(a, known) for a in e.args))


def _over(e: Any, limits: list[Any], known: dict[str, Any]) -> Any:
    if not limits:
        return _number(e.function, known)
    *inner, (index, low, high) = limits
    span = range(round(_number(low, known)), round(_number(high, known)) + 1)
    values = [_over(e, inner, {**known, str(index): at}) for at in span]
    return math.prod(values) if isinstance(e, sp.Product) else sum(values)


@pytest.fixture(scope="session")
def value() -> Callable[..., Any]:
    """Evaluate an expression at concrete sizes and values."""
    return evaluate
