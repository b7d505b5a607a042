"""Hostile formulas are refused quickly, in bounded memory, with one sentence; nothing in them is run."""

from __future__ import annotations

import resource
import time

import pytest

from formulas.decide import Verdict, decide
from formulas.symbols import declared

SYMBOLS = declared(
    {
        "mu": {"shape": ["d"]}, "sigma": {"is": ["positive"]}, "d": {"is": ["integer"]}, "x": {"is": ["real"]},
        "A": {"shape": ["d", "d"]}, "n": {"is": ["integer"]},
    }
)  # fmt: skip

REFUSED = {
    "import": "__import__('os').system('true')",
    "attribute": "x.__class__.__bases__[0].__subclasses__()",
    "lambda": "(lambda: x)()",
    "format": "f'{open(1)}'",
    "exec": "exec('x = 1')",
    "comprehension": "[x for x in (1).__class__.__mro__]",
    "five megabytes": "x + " * 1_250_000 + "x",
    "five megabytes of digits": "9" * 5_000_000,
    "brackets": "(" * 100_000 + "x" + ")" * 100_000,
    "open brackets": "(" * 100_000,
    "LaTeX braces": "{" * 100_000 + "}" * 100_000,
    "fractions": "\\frac{1}{" * 2_000 + "x" + "}" * 2_000,
    "roots": "\\sqrt{" * 2_000,
    "minus signs": "-" * 100_000 + "x",
    "tower": "9^9^9^9^9",
    "tower in brackets": "((9^9)^9)^9^9^9",
    "LaTeX tower": "9^{9^{9^{9^{9}}}}",
    "exponent": "x^99999999999",
    "digits": "1" * 3_000 + " x",
    "decimal exponent": "1e999999999",
    "factorial-like binomial": "binomial(10^9, 5*10^8)^1000000",
    "null bytes": "x\x00y",
    "direction marks": "x \u202e + 1",
    "surrogate": "x \ud800",
    "nothing": "",
    "blank": " \t\n",
    "not a number": "nan",
    "infinity": "inf",
}

# These can be read. They must be judged, or given up, within bounds.
BOUNDED = {
    "a large power": "(x + sigma + 1)^900",
    "a product of sums": "*".join(["(x + sigma + d + n + 1)"] * 60),
    "nested powers": "((((x + 1)^9 + 1)^9 + 1)^9 + 1)^9",
    "a sum over a large range": "\\sum_{i=1}^{10^9} x",
    "nested sums": "\\sum_{i=1}^{d} \\sum_{j=1}^{d} \\sum_{k=1}^{d} \\sum_{l=1}^{d} A_{ij} A_{jk} A_{kl} A_{li}",
    "an assignment": "(x := 3)",
    "sums of sums": "\\sum_{i=1}^{10^9} " * 50 + "x",
    "a matrix power": "A^9",
    "nested exponentials": "exp(exp(exp(exp(exp(exp(x))))))",
    "many functions": " + ".join(f"tanh({n}*x)" for n in range(1, 60)),
}


@pytest.fixture(autouse=True)
def bounded_memory():
    """No formula may take more than 600 MB beyond what the process has."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used < 600 * 1024


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_formula_is_refused_at_once(name):
    started = time.perf_counter()
    found = decide(REFUSED[name], "mu'mu", SYMBOLS)
    assert found.verdict is Verdict.UNREADABLE
    assert found.message
    assert len(found.message) < 1_000
    assert time.perf_counter() - started < 2  # a bound against hanging; `make fuzz` has the figures


@pytest.mark.parametrize("name", BOUNDED)
def test_what_is_too_much_is_given_up(name):
    started = time.perf_counter()
    found = decide(BOUNDED[name], "mu'mu", SYMBOLS)
    assert found.verdict in (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.UNREADABLE)
    assert time.perf_counter() - started < 30


@pytest.mark.parametrize("text", ["log(x - x) + mu", "(log(mu'mu - mu'mu) + A)^2", "1/(x - x) + A mu"])
def test_what_has_no_value_and_no_shape_is_refuted(text):
    """Where a value is missing the shapes are never compared: they are when it is computed against itself."""
    assert decide(text, "mu'mu", SYMBOLS).verdict in (Verdict.REFUTED, Verdict.UNKNOWN)
