"""Growth is decided exactly: against hand-verified cases, numbers, and curves that share none of the algebra."""

import random
from fractions import Fraction
from itertools import product
from math import prod

import mpmath
import pytest
import sympy as sp

from formulas import growth
from formulas.growth import (
    NONE,
    Growth,
    Monomial,
    NotAGrowth,
    Ray,
    assumptions_of,
    compare,
    dominating,
    explain,
    growth_of,
    growth_of_tree,
)
from formulas.tree import (
    Addition,
    Big,
    Block,
    Call,
    Chain,
    Comparison,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Quotient,
    Range,
    Times,
)

VARIABLES = M, N, T, k, n = sp.symbols("M N T k n", positive=True)
log, sqrt = sp.log, sp.sqrt
HALF = sp.Rational(1, 2)


def compared(f, g, *given, constants=()):
    return compare(
        growth_of(sp.S(f), VARIABLES), growth_of(sp.S(g), VARIABLES), assumptions_of(given, constants=constants)
    )


def bounds(f, g, *given, constants=()):
    both = compared(f, g, *given, constants=constants)
    return both.upper, both.lower


# The judged formulas whose relation is theta (cases/formulas.jsonl), by id.
JUDGED = [
    ("bigo_cross-02", M * N * k, N * k**2 + M * k**2 + M * N * k, [k <= sp.Min(M, N)], True),
    ("bigo_cross-03", M * N * k, N * k**2 + M * k**2 + M * N * k, [], False),
    ("bigo_cross-07", M * N * k, M**2 * N * k, [], False),
    ("bigo_dec-03", N**2 * k + N * k**2, N * k**2 + N**2 * k + N * k, [], True),
    ("bigo_dec-04", N**2 * k + N * k**2, N**2 * k, [k <= N], True),
    ("bigo_dec-06", N**2 * k + N * k**2, N * k**2, [], False),
    ("bigo_dec-07", N**2 * k + N * k**2, (N + k) ** 3, [], False),
    ("bigo_enc-01", M**2 * k, M**2 * k, [], True),
    ("bigo_enc-02", M**2 * k, k * M**2, [], True),
    ("bigo_enc-07", M**2 * k, M**2, [], False),
    ("bigo_enc-08", M**2 * k, M**2 * k**2, [], False),
    ("bigo_sparse-01", n * sqrt(n), n ** sp.Rational(3, 2), [], True),
    ("bigo_sparse-04", n * sqrt(n), n**2, [], False),
    ("bigo_total-03", M * N + N**2, N * sp.Max(M, N), [], True),
    ("bigo_total-05", M * N + N**2, (M + N) ** 2, [], False),
]


@pytest.mark.parametrize(
    ("expected", "answer", "given", "verdict"), [row[1:] for row in JUDGED], ids=[row[0] for row in JUDGED]
)
def test_judged_formulas(expected, answer, given, verdict):
    assert compared(answer, expected, *given).tight is verdict


@pytest.mark.parametrize(
    ("f", "g", "upper", "lower"),
    [
        (M**2, M**2 * k, True, False),
        (M**2 * N**2, M**3 + N**3, False, False),  # SymPy's Order says it is contained
        (M * N, M**2 + N**2, True, False),
        (M * N * k, M**3 + N**3 + k**3, True, False),
        (M**2 * N, M**3 + N**2, False, False),
        (M**2 * N, M**3 + N**3, True, False),
        (sp.S(5), sp.S(1), True, True),
        (sp.S(1), n, True, False),
        (1 / n, sp.S(1), True, False),
        (n**2 / n, n, True, True),
        (sp.pi * n + sp.E, n, True, True),
        ((n + 1) ** 400, n**400, True, True),
        ((M + N) ** HALF, sqrt(M) + sqrt(N), True, True),
        (M**2 / (M + N), M, True, False),
        (n ** sp.Float("1.01"), n ** sp.Rational(101, 100), True, True),
    ],
)
def test_sums_of_powers(f, g, upper, lower):
    assert bounds(f, g) == (upper, lower)
    assert bounds(g, f) == (lower, upper)


@pytest.mark.parametrize(
    ("f", "g", "upper", "lower"),
    [
        (sp.Max(M, N, k), M + N + k, True, True),
        (sp.Min(M, N) * sp.Max(M, N), M * N, True, True),
        (sp.Min(M, N), sqrt(M * N), True, False),
        (sp.Min(M, N), M * N / (M + N), True, True),
        (sp.Min(M, N, k) ** 2, sp.Min(M**2, N**2, k**2), True, True),
        (log(sp.Min(M, N)), sp.Min(log(M), log(N)), True, True),
        (log(sp.Max(M, N)), log(M * N), True, True),
        (sp.Min(1 + k, N), sp.Min(k, N), True, True),
        (sp.floor(n / 2) * sp.ceiling(log(n, 2)), n * log(n), True, True),
    ],
)
def test_max_min_and_rounding(f, g, upper, lower):
    assert bounds(f, g) == (upper, lower)


@pytest.mark.parametrize(
    ("f", "g", "upper", "lower"),
    [
        (n * log(n), n ** sp.Rational(101, 100), True, False),
        (n * log(n) ** 5, n * log(n) ** 4, False, True),
        (n * log(n**3), n * log(n), True, True),
        (n * log(2 * n), n * log(n, 10), True, True),
        (log(M * N), log(M) + log(N), True, True),
        (log(M + N), log(M * N), True, True),
        (log(M**2 / M), log(M), True, True),
        (log(n * log(n)), log(n), True, True),
        (log(n / 2 + 1 / n), log(n), True, True),
        (log(M / k) + log(k), log(M), True, True),
        (M * log(N), N * log(M), False, False),
        (M * log(N), M * log(M) + N, True, False),  # N <= M^2: log N <= 2 log M; else M log N <= √N log N
        (M * log(N), (M + N) * log(M), True, False),
        (sqrt(log(n)), log(n), True, False),
        (n / log(n), n, True, False),
        (log(M) * log(N), log(M) ** 2 + log(N) ** 2, True, False),
        (log(M) ** 2 * log(N), log(M) ** 2 + log(N) ** 2, False, False),
        (M * log(M), M * k + M * log(M) ** 2 / k, True, False),  # by the inequality of the means
    ],
)
def test_logarithms(f, g, upper, lower):
    assert bounds(f, g) == (upper, lower)


@pytest.mark.parametrize(
    ("f", "g", "along"),
    [
        # No ray of pure powers tells these apart: each needs a curve on a finer scale.
        (M * log(M) ** 2, M * k + M * log(M) ** 3 / k**2, "M = t, k = log t"),
        (M * k * log(M), k**2 * log(M) ** sp.Rational(3, 2) + M**2, "M = t (log t)^(2/3), k = t"),
        (M * log(k) ** 2 * log(M), M * log(M) ** 2 + M * log(k) ** 3, "M = exp(t^(3/2)), k = exp(t)"),
    ],
)
def test_curves_finer_than_powers_are_found(f, g, along):
    found = compared(f, g)
    assert not found.upper
    assert str(found.above) == along
    assert found.above.order(found.first) > found.above.order(found.second)


@pytest.mark.parametrize(
    ("f", "g", "given", "upper", "lower"),
    [
        (M * k**2 + M**2 * k, M**2 * k, [k <= M], True, True),
        (M * k**2 + M**2 * k, M**2 * k, [sp.Ge(M, k)], True, True),
        (M * k**2 + M**2 * k, M**2 * k, [k < M], True, True),
        (M * k**2 + M**2 * k, M**2 * k, [], False, True),
        (M * k, M**2, [sp.Eq(k, M)], True, True),
        (M * N, M**2, [sp.Eq(N, 2 * M + 1)], True, True),
        (k**2, M, [k <= sqrt(M)], True, False),
        (k**2, M * N, [sp.Le(sp.Max(k, 1), sp.Min(M, N))], True, False),
        (k, M, [k <= N, N <= M], True, False),  # through a variable that neither side has
        (M * k, M, [k <= 64], True, True),
        (M * k, M, [sp.Eq(k, 64)], True, True),
        (M * k, M, [n >= 2, k > 0, sp.Ne(k, 3)], False, True),  # nothing is said about growth
        (M * log(M), M * k, [k >= log(M)], True, False),
        (k**2, M, [k <= log(M)], True, False),
        (M + k, M, [sp.Eq(k, log(M))], True, True),
        (sp.Min(M, N), M, [M <= N], True, True),
    ],
)
def test_assumptions(f, g, given, upper, lower):
    assert bounds(f, g, *given) == (upper, lower)


def test_a_constant_does_not_grow():
    assert bounds(M * k, M, constants=["k"]) == (True, True)
    assert bounds(M * log(k) * k**3, M, constants=["k"]) == (True, True)


def number(value):
    return Number(Fraction(value))


def equal(left, right):
    return Comparison(left, "=", right)


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        (Comparison(Name("k"), "<=", Name("M")), ["M k^(-1)"]),
        (Comparison(Name("M"), ">=", Name("k")), ["M k^(-1)"]),
        (Comparison(Name("k"), "<=", Call("min", (Name("M"), Name("N")))), ["M k^(-1)", "N k^(-1)"]),
        (equal(Name("N"), Name("M")), ["M N^(-1)", "M^(-1) N"]),
        (Chain((Name("N"), Name("M"))), ["M N^(-1)", "M^(-1) N"]),
        (equal(Name("k"), Name("constant")), ["k^(-1)"]),
        (equal(Name("k"), Call("O", (number(1),))), ["k^(-1)"]),
        (equal(Name("k"), Call("O", (Name("M"),))), ["M k^(-1)"]),
        (Comparison(Name("n"), ">=", number(2)), []),
        (Comparison(Name("n"), "!=", number(2)), []),
        (
            Comparison(Call("max", (Name("M"), Name("N"))), "<=", Power(Name("k"), number(2))),
            ["M^(-1) k^2", "N^(-1) k^2"],
        ),
        (sp.true, []),
    ],
)
def test_assumptions_are_linear_in_the_logarithms(given, rows):
    assert sorted(map(str, assumptions_of([given]).above_zero)) == sorted(rows)


@pytest.mark.parametrize("given", [k <= M + N, sp.Min(M, N) <= k, k <= M - N, sp.false, Name("k")])
def test_assumptions_that_are_no_cone_are_refused(given):
    with pytest.raises(NotAGrowth):
        assumptions_of([given])


@pytest.mark.parametrize(
    ("f", "same"),
    [
        (n**2 - n, n**2),
        ((n - 1) * n / 2, n**2),
        (2 * (T - 1) + 1, T),
        ((N + k) ** 3, N**3 + k**3),
        ((N + k) ** 2 - N**2 - 2 * N * k, k**2),
        (N * k * (N - 1), N**2 * k),  # N k is not negligible where N stays bounded, but N grows
        (M**2 + N**2 - M, M**2 + N**2),
        (M**3 + N**3 - M * N, M**3 + N**3),
        (sqrt(n - 1), sqrt(n)),
        ((n - 1) ** 40, n**40),
        (1 / (n - 1) - 1 / n, n**-2),
        (n**2 - n * log(n) ** 3, n**2),
        (sqrt(2) * n**2 - 3 * n, n**2),
        (log(n) - 1, log(n)),
        (log(n / 2), log(n)),
        (sp.Max(M, N) - 1, M + N),
    ],
)
def test_differences_are_expanded(f, same):
    assert compared(f, same).tight


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (M - N, "The term in N is negative"),
        (M**2 + N**2 - M * N, "The term in M N is negative"),  # right, but not decided by growth alone
        (M * N - M**2, "The term in M^2 is negative"),
        (sp.Max(M, N) - M, "The term in M may be negative"),
        (sqrt(2) * n - n, "Its sign cannot be decided"),
        (log(n + 1) - log(n), "Its sign cannot be decided"),
        (sp.ceiling(M / N), "The term in 1 may be negative"),
        (-n, "It is negative"),
        (n - n, "It is zero"),
        (log(M / N), "The term in log N is negative"),
        (log(log(n)), "The logarithm of log n is not"),
        (log(M * log(n)), "is not one of powers"),
        (log(1 + 1 / n), "is not one of powers"),
        (log(-n), "A logarithm is taken"),
        (n**sp.pi, "An exponent is not a rational number"),
        (n ** log(7, 2), "An exponent is not a rational number"),
        (2**n, "An exponent is not a rational number"),
        (sp.exp(n), "The growth of exp(n) cannot be decided"),
        (sp.factorial(n), "The growth of factorial(n) cannot be decided"),
        (sp.oo, "The growth of oo cannot be decided"),
        (sp.Symbol("d") * n, "d is not one of the variables that grow: M, N, T, k, n."),
        (prod(1 + M**i * N**j for i, j in product(range(1, 8), repeat=2)), "more than 500 terms"),
    ],
)
def test_what_cannot_be_decided_is_refused_with_a_sentence(f, why):
    with pytest.raises(NotAGrowth) as raised:
        growth_of(f, VARIABLES)
    assert why in str(raised.value)
    assert str(raised.value).endswith(".")


def times(*factors, how=Times.JUXTAPOSED):
    left, *rest = factors
    for right in rest:
        left = Product(left, right, how)
    return left


def summed(body, upper, index="t"):
    return Range(Big.SUM, index, number(1), upper, body)


a, b = Name("M"), Name("N")


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Call("O", (times(Power(a, number(2)), b),)), "M^2 N"),
        (Call("Theta", (times(a, b, how=Times.DOT),)), "M N"),
        (Addition((Call("O", (a,)), Call("O", (b,)))), "M + N"),
        (times(a, Call("max", (a, b)), how=Times.STAR), "M N + M^2"),
        (Call("min", (a, b)), "(M N)/(M + N)"),
        (times(a, Call("sqrt", (a,)), how=Times.ELEMENTWISE), "M^(3/2)"),
        (Power(a, Quotient(number(3), number(2))), "M^(3/2)"),
        (Power(a, Number(Fraction(5, 2), 1)), "M^(5/2)"),
        (times(a, Power(b, Negation(number(1)))), "M N^(-1)"),
        (Quotient(Power(a, number(2)), a), "M"),
        (Quotient(times(a, Addition((a, Negation(number(1))))), number(2)), "M^2"),
        (times(a, Power(Call("log", (a,), number(2)), number(2))), "M (log M)^2"),
        (times(a, Call("log2", (b,))), "M log N"),
        (Call("log", (a,), b), "log M (log N)^(-1)"),
        (Call("ln", (times(a, b, how=Times.MATRIX),)), "log M + log N"),
        (times(Name("pi"), a), "M"),
        (Power(a, number(0)), "1"),
        (summed(Addition((a, Name("t"))), b), "M N + N^2"),
        (summed(times(a, Call("sqrt", (Name("t"),))), b), "M N^(3/2)"),
        (summed(summed(a, Name("t"), "s"), Addition((b, Negation(number(1))))), "M N^2"),
    ],
)
def test_trees_are_read(tree, text):
    assert str(growth_of_tree(tree, ["M", "N"])) == text


@pytest.mark.parametrize(
    ("tree", "why"),
    [
        (Name("k"), "k is not one of the variables that grow: M, N."),
        (Power(number(2), a), "An exponent is not a rational number."),
        (Quotient(a, Addition((b, Negation(b)))), "It divides by zero."),
        (Call("sin", (a,)), "The growth of sin cannot be decided here."),
        (Call("sqrt", (a, b)), "sqrt has 2 arguments."),
        (Call("log", ()), "log has 0 arguments."),
        (Call("sqrt", (Negation(a),)), "A root is taken of something that is not known to be positive."),
        (Block(((a, b),)), "A block has no growth that can be decided here."),
        (summed(a, number(5)), "The growth of this sum cannot be decided here."),
        (summed(a, Quotient(a, b)), "The growth of this sum cannot be decided here."),
        (summed(Quotient(a, Name("t")), b), "The growth of this sum cannot be decided here."),
        (summed(Name("M"), b, "M"), "The growth of this sum cannot be decided here."),
    ],
)
def test_trees_that_are_no_growth(tree, why):
    with pytest.raises(NotAGrowth) as raised:
        growth_of_tree(tree, ["M", "N"])
    assert str(raised.value) == why


def test_a_variable_may_be_called_as_a_constant_is():
    assert str(growth_of_tree(Name("e"), ["e"])) == "e"
    assert str(growth_of(sp.E * sp.Symbol("e"), [sp.Symbol("e")])) == "e"


def test_denominators_known_up_to_a_factor_do_not_cancel():
    """1/Θ(M + N) twice need not be the same function."""
    unsure = Quotient(number(1), Call("Theta", (Addition((a, b)),)))
    with pytest.raises(NotAGrowth):
        growth_of_tree(Addition((unsure, unsure, Negation(unsure))), ["M", "N"])


def test_huge_powers_take_no_time():
    assert compared((2 * n + 1) ** 10**9, n**10**9).tight
    two = Power(Number(Fraction(2)), Number(Fraction(10**12)))
    assert str(growth_of_tree(times(two, a), ["M"])) == "M"


@pytest.mark.parametrize(
    ("f", "given", "text"),
    [
        (3 * M * k**2 + 2 * M**2 * k, [k <= M], "M^2 k"),
        (3 * M * k**2 + 2 * M**2 * k, [], "M k^2 + M^2 k"),
        (M**2 + M * N + N**2 + 7, [], "M^2 + N^2"),
        (M + N, [sp.Eq(M, N)], "M"),
        (n * log(n) + n + sqrt(n) * log(n) ** 9, [], "n log n"),
        (sp.Min(M, N), [M <= N], "M"),
        (sp.Min(M, N) + sp.Integer(1), [], "(M N)/(M + N)"),
        (sp.Integer(3), [], "1"),
    ],
)
def test_dominating_terms(f, given, text):
    assert str(dominating(growth_of(f, VARIABLES), assumptions_of(given))) == text


def test_rays_are_simple():
    assert str(compared(M * N**2, M**2 * N + N).above) == "N = t (M fixed)"
    assert str(compared(M**2 * N**2, M**3 + N**3).above) == "M = t, N = t"
    assert str(compared(M**5, M**4 * k + M**3).above) == "M = t (k fixed)"
    assert str(compared(M * k**2, M**3 + k**2).above) == "k = t^2, M = t"
    assert str(compared(k, M, k <= N).above) == "N = t, k = t (M fixed)"


def test_a_ray_tells_its_powers():
    ray = compared(M**2 * N**2, M**3 + N**3).above
    assert dict(ray.powers) == {"M": 1, "N": 1}


@pytest.mark.parametrize(
    ("f", "g", "sentence"),
    [
        (M, 2 * M, "Up to a constant factor, yours and ours grow alike."),
        (M**2 * k, M**2, "Along k = t (M fixed) yours grows as t, ours stays bounded."),
        (M**2, M**2 * k, "Along k = t (M fixed) ours grows as t, yours stays bounded."),
        (
            M**2 * N**2,
            M**3 + N**3,
            "Along M = t, N = t yours grows as t^4, ours only as t^3. Along M = t (N fixed) ours grows as t^3, yours only as t^2.",
        ),
        (n * log(n), n, "Along n = t yours grows as t log t, ours only as t."),
        (1 / n, 1 / n**2, "Along n = t yours shrinks as t^(-1), ours shrinks as t^(-2)."),
    ],
)
def test_explanations(f, g, sentence):
    assert explain(compared(f, g), "yours", "ours") == sentence


# Witnesses that share none of the algebra.


def some_sum(draw, names, logs):
    """Draw a sum of one to four monomials with small exponents, some of them halves."""
    return frozenset(some_monomial(draw, names, logs) for _ in range(draw.randint(1, 4)))


def some_monomial(draw, names, logs):
    rows = [
        (name, Fraction(draw.randint(0, 6), draw.choice([1, 1, 2])), Fraction(draw.randint(-1, 3) if logs else 0))
        for name in names
    ]
    return Monomial(tuple(row for row in rows if row[1] or row[2]))


@pytest.mark.parametrize("seed", range(200))
def test_upper_bounds_hold_at_points_and_rays_refute(seed):
    """Without logarithms a monomial that is O(g) is at most g wherever all variables are at least 1."""
    draw = random.Random(seed)
    names = ["M", "N", "k"][: draw.randint(1, 3)]
    given = [k <= M] if "k" in names and draw.random() < 0.4 else []
    f, g = (some_sum(draw, names, logs=False) for _ in range(2))
    found = compare(Growth(f), Growth(g), assumptions_of(given))
    for one, other, ray in ((f, g, found.above), (g, f, found.below)):
        if ray is None:
            for _ in range(60):
                # Squares of whole numbers: halves of powers are exact.
                roots = {name: draw.choice([1, 2, 3, 10, 10**3, 10**9]) ** draw.randint(0, 3) for name in names}
                if not given or roots["k"] <= roots["M"]:
                    assert value(one, roots) <= len(one) * value(other, roots)
        else:
            assert all(power >= 0 for power in ray.powers.values())
            assert not given or ray.powers["k"] <= ray.powers["M"]
            at = {name: 2 ** int(20 * ray.powers.get(name, 0)) for name in names}
            assert value(one, at) > 1000 * value(other, at)


def value(monomials, roots):
    """Evaluate where each variable is the square of its root."""
    return sum(prod(roots[name] ** int(2 * power) for name, power, _ in one.factors) for one in monomials)


# Curves M = exp(a L + b L^(2/3) + c L^(1/2)) (log t)^d (log log t)^e with L = log t: log M is of the order of the first
# scale present. Orders are coefficients on these scales, and on log log log t.
SCALES = [Fraction(1), Fraction(2, 3), Fraction(1, 2)]


def some_curve(draw):
    steps = [Fraction(step, 2) for step in range(-4, 5)]
    leading = draw.choice([0, 0, 0, 1, 2, 3, 4])
    entries = [Fraction(0)] * leading + [Fraction(draw.randint(1, 2))]
    entries += [draw.choice([Fraction(0), draw.choice(steps)]) for _ in range(5 - len(entries))]
    log_of = [Fraction(0)] * 6
    if leading < 3:
        log_of[3] = SCALES[leading]  # log L^s = s log log t
    else:
        log_of[leading + 1] = Fraction(1)
    return ([*entries, Fraction(0)], log_of) if draw.random() < 0.8 else ([Fraction(0)] * 6, [Fraction(0)] * 6)


def order_along(curves, monomials):
    def order(one):
        return [
            sum(
                (power * curves[name][0][i] + logs * curves[name][1][i] for name, power, logs in one.factors),
                Fraction(0),
            )
            for i in range(6)
        ]

    return max(map(order, monomials))


@pytest.mark.parametrize("seed", range(120))
def test_no_curve_refutes_an_upper_bound_with_logarithms(seed):
    draw = random.Random(seed)
    names = ["M", "N", "k"][: draw.randint(1, 3)]
    f = some_sum(draw, names, logs=True)
    # A second sum near the first, so that many comparisons are close.
    g = frozenset(
        one * some_monomial(draw, names, logs=True) ** Fraction(draw.choice([-1, 0, 1]), 4) for one in f
    ) | some_sum(draw, names, logs=True)
    found = compare(Growth(f), Growth(g))
    for one, other, ray in ((f, g, found.above), (g, f, found.below)):
        if ray is None:
            for _ in range(150):
                curves = {name: some_curve(draw) for name in names}
                if draw.random() < 0.5:  # the same on the larger scales
                    shared = draw.choice(names)
                    curves = {name: curves[shared] if draw.random() < 0.6 else curve for name, curve in curves.items()}
                assert order_along(curves, one) <= order_along(curves, other)
        else:
            assert outgrows(ray, one, other)


def outgrows(ray, faster, slower):
    """Say whether numbers far out on a ray bear it out: the gap of the logarithms widens."""
    with mpmath.workdps(200):  # logarithms of doubly exponential variables nearly cancel
        gaps = [gap(ray, faster, slower, mpmath.mpf(last)) for last in (30, 60, 120)]
    return gaps[0] < gaps[1] < gaps[2] and gaps[2] > 0


def gap(ray, faster, slower, last):
    """Return the logarithm of faster/slower where the last scale is `last`; equal leading parts cancel exactly."""
    sizes = [last]
    for row in reversed(ray.scales):
        below = row[len(row) - len(sizes) :]
        sizes.insert(0, mpmath.exp(sum(float(entry) * size for entry, size in zip(below, sizes, strict=True))))

    def log_of(one):
        total = mpmath.mpf(0)
        for i, size in enumerate(sizes):
            total += size * float(sum((power * ray.of(name)[i] for name, power, _ in one.factors), Fraction(0)))
        for name, _, log_power in one.factors:
            own = sum(float(entry) * size for entry, size in zip(ray.of(name), sizes, strict=True))
            total += float(log_power) * mpmath.log(own + 1)
        return total

    return max(min(log_of(one / other) for other in slower) for one in faster)


@pytest.mark.parametrize("seed", range(60))
def test_geometric_means_are_bounded_by_what_they_are_means_of(seed):
    """The inequality of the means certifies the bound; the search must exhaust all curves to say so."""
    draw = random.Random(seed)
    names = ["M", "N", "k"]
    g = frozenset(some_monomial(draw, names, logs=True) for _ in range(4))
    parts = [draw.choice(sorted(g, key=str)) for _ in range(3)]
    mean = (parts[0] * parts[1] * parts[2]) ** Fraction(1, 3)
    assert compare(Growth(frozenset({mean})), Growth(g)).upper
    larger = Growth(frozenset(one * growth.variable("T") for one in g))
    assert not compare(larger, Growth(g)).upper


@pytest.mark.parametrize("seed", range(60))
def test_bounds_are_transitive(seed):
    draw = random.Random(seed)
    f, g, h = (Growth(some_sum(draw, ["M", "k"], logs=True)) for _ in range(3))
    assert compare(f, f, NONE).tight
    if compare(f, g).upper and compare(g, h).upper:
        assert compare(f, h).upper


def test_large_sums_are_compared_quickly():
    assert compared((M + N + k + T) ** 7, M**7 + N**7 + k**7 + T**7).tight


def test_too_many_variables_with_logarithms_are_refused():
    names = [f"x{i}" for i in range(5)]
    logs = [Monomial(((name, Fraction(0), Fraction(1)),)) for name in names]
    with pytest.raises(NotAGrowth, match="More than 4 variables have logarithms"):
        compare(Growth(frozenset({prod(logs, start=growth.ONE)})), Growth(frozenset(one**5 for one in logs)))


def test_rays_without_finer_parts_print_powers_only():
    assert str(Ray({"k": Fraction(2), "M": Fraction(1)})) == "k = t^2, M = t"
