"""A test says how sure it is, where that can be said."""

from __future__ import annotations

import pytest

from formulas.chance import chance_of_error
from formulas.decide import Verdict, decide
from formulas.reader import read
from formulas.symbols import declared

SYMBOLS = declared({"A": {"shape": ["d", "d"]}, "x": {"is": ["real"]}, "y": {"is": ["real"]}, "v": {"shape": ["d"]}})


def chance(left, right, symbols=SYMBOLS):
    return chance_of_error(read(left, symbols), read(right, symbols), symbols)


@pytest.mark.parametrize(
    ("left", "right"),
    [("(x + y)^2", "x^2 + 2 x y + y^2"), ("v'A v", "sum_i sum_j v_i A_ij v_j"), ("(x^2 - y^2)/(x - y)", "x + y")],
)
def test_equal_fractions_of_polynomials_are_surely_equal(left, right):
    assert 0 < chance(left, right) < 1e-20


@pytest.mark.parametrize(
    ("left", "right"),
    [("(x + y)^2", "x^2 + y^2"), ("exp(x)", "exp(x)"), ("x^y", "x^y"), ("v'A v", "v'A'A v"), ("e x", "e x")],
)
def test_nothing_is_said_of_what_differs_or_is_no_fraction(left, right):
    assert chance(left, right) is None


def test_nothing_is_said_of_symbols_that_cannot_be_drawn_at_will():
    frames = declared({"A": {"shape": ["d", "m"], "is": ["orthonormal_columns"]}})
    assert chance("A'A", "A'A", frames) is None


def test_the_message_of_a_test_has_the_bound():
    """The inverse of a general matrix is beyond the prover, and within exact arithmetic."""
    found = decide("A A A^-1 v", "A v", SYMBOLS)
    assert found.verdict is Verdict.TESTED
    assert "chance below" in found.message or "exact arithmetic" in found.message
