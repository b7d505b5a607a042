"""The prover proves what is true for all sizes, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from formulas.matrices import index
from formulas.normal import Facts, NormalForm, TooLarge, Unsupported, equal

i, j, k, l, n, m, d, T, t, s = map(index, ["i", "j", "k", "l", "n", "m", "d", "T", "t", "s"])
x, y, lam, g = sp.symbols("x y lam g", real=True)
a, b, sigma = sp.symbols("a b sigma", positive=True)
theta, mu, w, v = (sp.IndexedBase(name, real=True) for name in ("theta", "mu", "w", "v"))
A, B, c, W = (sp.IndexedBase(name, real=True) for name in ("A", "B", "c", "W"))
p, f = (sp.IndexedBase(name, positive=True) for name in ("p", "f"))
hot = sp.IndexedBase("y", real=True)
delta = sp.KroneckerDelta
RANGES = {i: (sp.Integer(1), n), j: (sp.Integer(1), n)}
PLAIN = Facts(ranges=RANGES)
FRAMES = Facts(
    orthonormal={"A": d}, orthogonal={frozenset("AB"): d}, ranges={i: (sp.Integer(1), d), j: (sp.Integer(1), m)}
)


def over(body, index_, high, low=1):
    return sp.Sum(body, (index_, low, high))


def softmax(at, bound=k):
    return sp.exp(theta[at]) / over(sp.exp(theta[bound]), bound, n)


def product(first, second, bound, size):
    return over(first * second, bound, size)


IDENTITIES = {
    "sigmoid": (1 / (1 + sp.exp(x)), 1 - 1 / (1 + sp.exp(-x)), PLAIN),
    "sigmoid as tanh": (1 / (1 + sp.exp(-x)), (1 + sp.tanh(x / 2)) / 2, PLAIN),
    "tanh and cosh": (1 - sp.tanh(x) ** 2, 1 / sp.cosh(x) ** 2, PLAIN),
    "sech": (sp.sech(x) * sp.cosh(x), sp.Integer(1), PLAIN),
    "addition theorem": (sp.sin(x + y), sp.sin(x) * sp.cos(y) + sp.cos(x) * sp.sin(y), PLAIN),
    "a circle": (sp.sin(x) ** 2 + sp.cos(x) ** 2, sp.Integer(1), PLAIN),
    "half as surd": (sp.sqrt(8) / 4, 1 / sp.sqrt(2), PLAIN),
    "a root of a square": (sp.sqrt(x**2), sp.Abs(x), PLAIN),
    "relu": (sp.Max(x, 0), (x + sp.Abs(x)) / 2, PLAIN),
    "change of base": (sp.log(x**2 + 1) / sp.log(4), sp.log(x**2 + 1) / (2 * sp.log(2)), PLAIN),
    "power of a base": (a ** (x + 1), a * a**x, PLAIN),
    "one level unrolled": ((n + 1) * (n + 1) ** (m - 1), (n + 1) ** m, PLAIN),
    "binomial theorem": (over(sp.binomial(n, j) * a**j, j, n, 0), (1 + a) ** n, PLAIN),
    "binomials without the first": (1 + over(sp.binomial(n, j) * a**j, j, n, 1), (1 + a) ** n, PLAIN),
    "binomials without the last": (over(sp.binomial(n, j) * a**j, j, n - 1, 0) + a**n, (1 + a) ** n, PLAIN),
    "inner binomials": (1 + over(sp.binomial(n, j) * a**j, j, n - 1, 1), (1 + a) ** n - a**n, PLAIN),
    "bound names": (over(mu[i], i, n), over(mu[k], k, n), PLAIN),
    "order of sums": (over(over(W[i, j] * v[j], j, n), i, m), over(over(W[i, j], i, m) * v[j], j, n), PLAIN),
    "product of sums": (over(mu[i], i, n) * over(v[i], i, n), over(over(mu[i] * v[j], j, n), i, n), PLAIN),
    "count": (over(1, t, T - 1, -(T - 1)), 2 * T - 1, PLAIN),
    "triangle": (over(t, t, n), n * (n + 1) / 2, PLAIN),
    "squares": (over(t**2, t, n), n * (n + 1) * (2 * n + 1) / 6, PLAIN),
    "peel the last": (over(mu[t], t, n + 1), over(mu[t], t, n) + mu[n + 1], PLAIN),
    "peel the first": (over(mu[t], t, n, 2), over(mu[t], t, n) - mu[1], PLAIN),
    "empty": (over(mu[t], t, n, n + 1), sp.Integer(0), PLAIN),
    "written out": (over(mu[t], t, 3), mu[1] + mu[2] + mu[3], PLAIN),
    "sifting": (over(mu[k] * delta(i, k), k, n), mu[i], PLAIN),
    "deltas are 0 or 1": (sp.exp(lam * delta(i, j)), 1 + (sp.exp(lam) - 1) * delta(i, j), PLAIN),
    "softmax sums to one": (over(softmax(j), j, n), sp.Integer(1), PLAIN),
    "softmax is shift invariant": (
        sp.exp(theta[i] + x) / over(sp.exp(theta[k] + x), k, n), softmax(i), PLAIN,
    ),
    "jacobian": (softmax(i).diff(theta[j]), softmax(i) * (delta(i, j) - softmax(j)), PLAIN),
    "norm": (sp.sqrt(over(mu[i] ** 2, i, d)) ** 2, over(mu[k] ** 2, k, d), PLAIN),
    "perplexity": (a ** (-over(sp.log(p[i]) / sp.log(a), i, n) / n), sp.Product(p[i], (i, 1, n)) ** (-1 / n), PLAIN),
    "a product peeled": (sp.Product(f[t], (t, 1, n + 1)), f[n + 1] * sp.Product(f[t], (t, 1, n)), PLAIN),
    "projection": (
        over(product(A[i, l], A[k, l], l, m) * product(A[k, j], c[j], j, m), k, d), product(A[i, j], c[j], j, m), FRAMES,
    ),
    "projection, summed the other way": (
        product(A[i, l], over(A[k, l] * product(A[k, j], c[j], j, m), k, d), l, m), product(A[i, j], c[j], j, m), FRAMES,
    ),
    "orthogonal": (over(A[k, j] * B[k, s], k, d), sp.Integer(0), FRAMES),
    "one hot": (hot[i] * hot[j], delta(i, j) * hot[i], Facts(one_hot=frozenset("y"), ranges=RANGES)),
    "a distribution": (over(hot[k] * x, k, n), x, Facts(totals={"y": n}, ranges=RANGES)),
    "two orders, one index each": (over(over(W[i, j] * W[j, i], i, n), j, n), over(over(W[j, i] * W[i, j], i, n), j, n), PLAIN),
}  # fmt: skip

FALSEHOODS = {
    "odd sigmoid": (1 / (1 + sp.exp(x)), -1 / (1 + sp.exp(-x)), PLAIN),
    "a root of a square without the bars": (sp.sqrt(x**2), x, PLAIN),
    "a sum of squares": (over(mu[i], i, n) ** 2, over(mu[i] ** 2, i, n), PLAIN),
    "the diagonal for the whole": (over(over(W[i, j], j, n), i, n), over(W[i, i], i, n), PLAIN),
    "a transpose": (over(W[i, k] * v[k], k, n), over(W[k, i] * v[k], k, n), PLAIN),
    "one too few": (over(mu[t], t, n - 1), over(mu[t], t, n), PLAIN),
    "another size": (over(mu[t], t, n), over(mu[t], t, m), PLAIN),
    "the wrong index": (over(mu[k] * delta(i, k), k, n), mu[j], PLAIN),
    "sifting out of range": (over(mu[k] * delta(s, k), k, n), mu[s], PLAIN),
    "a frame that is not square": (over(A[i, l] * A[k, l], l, m), delta(i, k), FRAMES),
    "the other product": (over(A[j, k] * A[l, k], k, m), delta(j, l), FRAMES),
    "log base": (a ** (-over(sp.log(p[i]), i, n) / n), sp.Product(p[i], (i, 1, n)) ** (-1 / n), PLAIN),
    "jacobian": (softmax(i).diff(theta[j]), softmax(i) * (delta(i, j) - softmax(i)), PLAIN),
    "part of a distribution": (over(hot[k], k, n, 2), sp.Integer(1), Facts(totals={"y": n}, ranges=RANGES)),
    "three of a distribution": (over(hot[k], k, 3), sp.Integer(1), Facts(totals={"y": n}, ranges=RANGES)),
    "another size of a distribution": (over(hot[k], k, m), sp.Integer(1), Facts(totals={"y": n}, ranges=RANGES)),
    "one past a distribution": (over(hot[k], k, n + 1), sp.Integer(1), Facts(totals={"y": n}, ranges=RANGES)),
    "part of a frame": (over(A[k, j] * A[k, l], k, d - 1), delta(j, l), FRAMES),
    "part of two frames": (over(A[k, j] * B[k, l], k, d - 1), sp.Integer(0), FRAMES),
    "no such distribution": (over(hot[k] * x, k, n), x, PLAIN),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_is_proved(name):
    left, right, facts = IDENTITIES[name]
    assert equal(left, right, facts)


@pytest.mark.parametrize("name", FALSEHOODS)
def test_a_falsehood_is_not_proved(name):
    left, right, facts = FALSEHOODS[name]
    assert not equal(left, right, facts)


@pytest.mark.parametrize("name", IDENTITIES)
@pytest.mark.parametrize(
    "spoiled", [lambda e: 2 * e + 1, lambda e: e + sp.Rational(1, 1000), lambda e: e * (1 + a) + a]
)
def test_an_identity_spoiled_is_not_proved(name, spoiled):
    left, right, facts = IDENTITIES[name]
    assert not equal(left, spoiled(right), facts)


def test_bound_indices_are_not_captured():
    """Σ_a Σ_b e^{w_ab} has an inner sum that speaks of the outer index: renaming both to one name would be a different sum."""
    inner = sp.exp(over(W[i, j] * v[j], j, n))
    other = sp.exp(over(W[j, j] * v[j], j, n))
    assert equal(over(inner, i, n), over(inner.xreplace({i: k}), k, n))
    assert not equal(over(inner, i, n), over(other, i, n))


def test_a_form_that_grows_too_large_is_given_up():
    many = sum(sp.symbols("z:40", real=True))
    with pytest.raises(TooLarge):
        equal(many**10, x, budget=5_000)


@pytest.mark.parametrize("strange", [sp.Integral(x, x), sp.gamma(x), sp.oo, sp.Piecewise((x, x > 0), (y, True))])
def test_what_has_no_rule_is_said_so(strange):
    with pytest.raises(Unsupported):
        equal(strange, x)


def test_the_form_is_the_same_whatever_the_order():
    first = NormalForm(PLAIN).of(softmax(i) * over(W[i, k] * v[k], k, n) + a * x)
    second = NormalForm(PLAIN).of(x * a + over(v[k] * W[i, k], k, n) * softmax(i, l))
    assert first.key == second.key


# ── random expressions: whatever is proved equal has equal values ───────────────────────────────────────────────

SIZES = {"n": 3, "m": 2, "i": 2, "j": 3, "x": 0.7, "y": -0.4, "a": 1.3}
ARRAYS = {
    "theta": [0.3, -0.8, 0.5, 0.1], "mu": [1.0, -0.5, 0.25, 0.75], "p": [0.2, 0.5, 0.3, 0.9],
    "W": [[0.5, -1.0, 0.3, 1.0], [0.7, 0.2, -0.6, 0.4], [-0.9, 0.8, 0.1, 0.6], [0.2, 0.3, 0.4, 0.5]],
}  # fmt: skip


@st.composite
def expressions(draw, depth=3, bound=()):
    names = [i, j, *bound]
    leaf = st.sampled_from([x, y, a, n, sp.Integer(2), sp.Rational(-1, 2), *(base[q] for base in (theta, mu, p) for q in names), *(W[q, r] for q in names for r in names), *(delta(q, r) for q in names for r in names if q != r)])  # fmt: skip
    if depth == 0:
        return draw(leaf)
    kind = draw(st.sampled_from(["leaf", "add", "mul", "exp", "tanh", "inverse", "sum", "sum", "square"]))
    if kind == "leaf":
        return draw(leaf)
    if kind == "sum":
        fresh = index(f"b{len(bound)}")
        return over(draw(expressions(depth - 1, (*bound, fresh))), fresh, draw(st.sampled_from([n, m])))
    first = draw(expressions(depth - 1, bound))
    if kind in ("add", "mul"):
        second = draw(expressions(depth - 1, bound))
        return first + second if kind == "add" else first * second
    return {"exp": lambda e: sp.exp(e / 4), "tanh": lambda e: sp.tanh(e / 4), "inverse": lambda e: 1 / (e**2 + 2), "square": lambda e: e**2}[kind](first)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(expressions(), expressions(depth=2))
def test_what_is_proved_has_equal_values(value: Callable, left, other):
    """Compare an expression with itself rebuilt from its normal form's point of view, and with a near miss."""
    rebuilt = sp.expand(left, mul=True, power_exp=False, power_base=False, log=False, multinomial=True)
    for right in (rebuilt, left + other, left * other, other):
        try:
            proved = equal(left, right, PLAIN, budget=20_000)
        except (TooLarge, Unsupported):
            continue
        if proved:
            known = {**SIZES, **{name: _array(rows) for name, rows in ARRAYS.items()}}
            assert math.isclose(value(left, known), value(right, known), rel_tol=1e-6, abs_tol=1e-6)


def _array(rows):
    import numpy as np

    return np.array(rows)
