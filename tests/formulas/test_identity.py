"""Two computations are proved equal when they are, for all inputs; never when they differ somewhere."""

# ruff: noqa: PLW0108 - a case is a function of numbers, and is asked how many

import math
import random
import time
from fractions import Fraction

import numpy as np
import pytest

from engine.worker import symbolic
from formulas.identity import LAST_SHARE, REAL, SHARE, Computation, Unproved, meant_by, prove, values
from formulas.identity import POSITIVE_INPUT as POSITIVE

AT = np.array([0.7, -1.3, 1.9, 0.4])  # the shadow that decides


def made(function, number=4, at=AT):
    """Return the computation of a function of some numbers."""
    space = {"f": function, "np": np, "math": math, "max": max}
    reply = symbolic.traced([(function, list(at[:number]), list(range(number)))], [], [function.__globals__, space])
    results = np.ravel(reply["results"]).tolist()
    return Computation([tuple(row) for row in reply["nodes"]], results, [tuple(row) for row in reply["path"]])


def points(number, kinds, at=AT):
    drawn = np.random.default_rng(0).uniform(0.2, 1.6, size=(number, 4)) * np.sign(at[:number, None])
    return np.where([[kind != REAL] for kind in kinds], abs(drawn), drawn)


def proved(first, second, kinds=None, at=AT):
    """Return the outcome of a proof, None if there is none."""
    number = first.__code__.co_argcount
    kinds = kinds or [REAL] * number
    try:
        return prove(made(first, number, at), made(second, number, at), kinds, points(number, kinds, at))
    except Unproved:
        return None


def softmax(*z):
    e = np.exp(np.array(z) - max(z))
    return e / e.sum()


def softmax_of_four(a, b, c, d):
    return softmax(a, b, c, d)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def stable(z):
    e = np.exp(-abs(z))
    return np.where(z >= 0, 1, e) / (1 + e)


EQUAL = {
    "algebra": (lambda a, b: (a + b) ** 2 - (a - b) ** 2, lambda a, b: 4 * a * b),
    "fractions": (lambda a, b: a / b + b / a, lambda a, b: (a * a + b * b) / (a * b)),
    "nested fractions": (lambda a, b: 1 / (1 / a + 1 / b), lambda a, b: a * b / (a + b)),
    "exponentials": (lambda a, b: np.exp(a + b) / np.exp(b - a), lambda a, b: np.exp(a) ** 2 + 0 * b),
    "half of an exponent": (lambda a: np.exp(a / 2) ** 2, lambda a: np.exp(a)),
    "root of an exponential": (lambda a: np.sqrt(np.exp(2 * a)), lambda a: np.exp(a)),
    "softmax": (softmax_of_four, lambda a, b, c, d: np.exp([a, b, c, d]) / np.exp([a, b, c, d]).sum()),
    "another shift": (softmax_of_four, lambda a, b, c, d: softmax(a - b, 0, c - b, d - b)),
    "log-sum-exp": (lambda a, b: np.log(softmax(a, b)[0]), lambda a, b: a - np.logaddexp(a, b)),
    "sigmoids": (sigmoid, lambda z: (1 + np.tanh(z / 2)) / 2),
    "stable sigmoid": (sigmoid, stable),
    "another stable sigmoid": (stable, lambda z: np.where(z > 0, 1 / (1 + np.exp(-z)), np.exp(z) / (1 + np.exp(z)))),
    "stable softplus": (lambda z: np.log(1 + np.exp(z)), lambda z: np.maximum(z, 0) + np.log1p(np.exp(-abs(z)))),
    "mirror of a sigmoid": (lambda z: 1 - sigmoid(z), lambda z: sigmoid(-z)),
    "slope of a sigmoid": (lambda z: sigmoid(z) * (1 - sigmoid(z)), lambda z: 1 / (np.exp(z / 2) + np.exp(-z / 2)) ** 2),
    "slope of tanh": (lambda z: 1 - np.tanh(z) ** 2, lambda z: 1 / np.cosh(z) ** 2),
    "tanh inside tanh": (lambda a, b: np.tanh(a * np.tanh(b)), lambda a, b: 2 * sigmoid(2 * a * (2 * sigmoid(2 * b) - 1)) - 1),
    "relu": (lambda z: np.maximum(z, 0), lambda z: z * (z > 0)),
    "relu where equal": (lambda z: np.where(z >= 0, z, 0), lambda z: np.where(z > 0, z, 0)),
    "relu by absolute value": (lambda z: (z + abs(z)) / 2, lambda z: -np.minimum(-z, 0)),
    "relu of a positive multiple": (lambda a, b: np.maximum(np.exp(a) * b, 0), lambda a, b: np.exp(a) * np.maximum(b, 0)),
    "absolute value": (lambda a: abs(a), lambda a: np.sqrt(a * a)),
    "square of a sign": (lambda a: np.sign(a) * abs(a), lambda a: a),
    "known at zero": (lambda z: 0.5 + np.sign(z) * (sigmoid(abs(z)) - 0.5), sigmoid),
    "larger of two": (lambda a, b: np.maximum(a, b), lambda a, b: (a + b + abs(a - b)) / 2),
    "larger and smaller": (lambda a, b: np.maximum(a, b) + np.minimum(a, b), lambda a, b: a + b),
    "largest": (lambda a, b, c: np.max([a, b, c, a]), lambda a, b, c: max(c, b, a)),
    "roots of numbers": (lambda a: a / np.sqrt(8), lambda a: np.sqrt(2) * a / 4),
    "root of a sum": (lambda a, b: (a - b) / np.sqrt((a - b) ** 2 / 4 + 1), lambda a, b: 2 * (a - b) / np.sqrt(a * a - 2 * a * b + b * b + 4)),
    "waves": (lambda a: np.sin(a) ** 2 + np.cos(-a) ** 2, lambda a: 1.0 + 0 * a),
    "constants": (lambda a: a * 0.1 + a * (1 / 3), lambda a: 13 * a / 30),
    "pi": (lambda a: 2 * np.pi * a, lambda a: 8 * np.arctan(1.0) * a),
    "e": (lambda a: np.e**a, lambda a: np.exp(a)),
    "logarithm of a constant": (lambda a: a / np.log(8), lambda a: a / (3 * math.log(2))),
    "a root's powers": (lambda a: np.sqrt(a) ** 3, lambda a: a**1.5),
    "nothing": (lambda a: np.exp(a) - np.exp(a), lambda a: 0 * a),
}  # fmt: skip

DIFFERENT = {
    "one of many terms": (lambda a, b, c: a * b + b * c + 1e-3 * a, lambda a, b, c: a * b + b * c),
    "sign": (lambda a: np.exp(-a), lambda a: np.exp(a)),
    "an exponent": (lambda a: np.exp(a) ** 2, lambda a: np.exp(a * a)),
    "root of a square": (lambda a: np.sqrt(a * a), lambda a: a),
    "sum of roots": (lambda a, b: np.sqrt(a * a + b * b), lambda a, b: abs(a) + abs(b)),
    "logarithm of a sum": (lambda a, b: np.log(np.exp(a) + np.exp(b)), lambda a, b: a + b),
    "softmax of three": (lambda a, b, c: softmax(a, b, c), lambda a, b, c: softmax(a, b, 2 * c)),
    "shift that does not cancel": (lambda a, b: np.exp(a - max(a, b)), lambda a, b: np.exp(a)),
    "clipped far away": (lambda a: np.clip(a, -50, 50), lambda a: a),
    "clipped exponent": (lambda a: np.exp(np.minimum(a, 700)), lambda a: np.exp(a)),
    "different at ties alone": (lambda a: np.where(a >= 0, 1.0, 0.0), lambda a: np.where(a > 0, 1.0, 0.0)),
    "different at zero alone": (lambda a: np.where(a == 0, 1.0, a), lambda a: a),
    "sign and its negative": (lambda a: np.sign(a), lambda a: np.where(a > 0, 1, -1)),
    "leaky": (lambda a: np.where(a > 0, a, 1e-9 * a), lambda a: np.maximum(a, 0)),
    "a huge negative number for infinity": (lambda a: a + np.exp(-1e9 + a), lambda a: a),
    "a wave": (lambda a: np.sin(a), lambda a: np.cos(a)),
    "epsilon": (lambda a: a / (abs(a) + 1e-12), lambda a: np.sign(a)),
    "constants close by": (lambda a: 0.3333333333 * a, lambda a: a / 3),
    "largest of others": (lambda a, b, c: max(a, b, c), lambda a, b, c: max(a, b, c, 0)),
    "half steps": (lambda a: np.tanh(a), lambda a: 2 * sigmoid(a) - 1),
    "infinity": (lambda a: np.array([a, -np.inf]), lambda a: np.array([a, np.inf])),
    "not the same number of results": (lambda a: np.array([a, a]), lambda a: a),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), EQUAL.values(), ids=EQUAL.keys())
def test_equal_computations_are_proved_equal(first, second):
    assert proved(first, second) == ((), ())


@pytest.mark.parametrize(("first", "second"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_different_computations_are_not(first, second):
    assert proved(first, second) is None


@pytest.mark.parametrize(("first", "second"), [
    (lambda p: np.log(p * p), lambda p: 2 * np.log(p)),
    (lambda p, q: np.log(p / q), lambda p, q: np.log(p) - np.log(q)),
    (lambda p, q: (p * q) ** (-1 / 3), lambda p, q: np.exp(-(np.log(p) + np.log(q)) / 3)),
    (lambda p, q: 2.0 ** -((np.log2(p) + np.log2(q)) / 2), lambda p, q: 1 / np.sqrt(p * q)),
    (lambda p, q: p ** np.log(q), lambda p, q: q ** np.log(p)),
    (lambda p: np.where(p > 0, p, 7), lambda p: abs(p)),
])  # fmt: skip
def test_some_identities_hold_for_positive_numbers_only(first, second):
    number = first.__code__.co_argcount
    at = abs(AT)
    assert proved(first, second, [POSITIVE] * number, at) == ((), ())
    assert proved(first, second, [REAL] * number, at) is None


def test_shares_add_up_to_one():
    kinds, at = [REAL, REAL, SHARE, LAST_SHARE], np.array([0.7, -1.3, 0.6, 0.4])

    def cost(a, b, y, z):
        return -(y * np.log(softmax(a, b)[0]) + z * np.log(softmax(a, b)[1]))

    def short(a, b, y, z):
        return np.logaddexp(a, b) - y * a - z * b

    drawn = np.array([[0.3, 0.5], [1.0, -2.0], [0.25, 0.5], [0.75, 0.5]])
    assert prove(made(cost, 4, at), made(short, 4, at), kinds, drawn) == ((), ())
    with pytest.raises(Unproved):
        prove(made(cost, 4, at), made(short, 4, at), [REAL] * 4, drawn)


# ── paths ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def branching(a, b):
    return a if a > b else b  # noqa: FURB136 - max would make no branch


def test_on_its_path_a_branch_is_known():
    outcome = proved(branching, lambda a, b: np.maximum(a, b))
    ((node, holds),) = outcome.first
    assert made(branching, 2).nodes[node][0] == "greater"
    assert (holds, outcome.second) == (True, ())


def test_a_comparison_that_both_make_is_said_once():
    outcome = proved(branching, lambda a, b: a + 0 if a > b else a - b)
    assert (len(outcome.first), outcome.second) == (1, ())


def test_a_comparison_that_always_holds_is_not_said():
    assert proved(lambda a: a if np.exp(a) > 0 else 0, lambda a: a) == ((), ())


def test_a_path_that_no_input_takes_proves_nothing():
    nodes = [("input", 0), ("exp", 0), ("constant", 0), ("greater", 2, 1)]
    with pytest.raises(Unproved, match="no input"):
        prove(Computation(nodes, [0], [(3, True)]), Computation(nodes[:1], [0]), [REAL], AT[None, :1])


# ── what a worker may send ────────────────────────────────────────────────────────────────────────────────────────

SQUARED = [("input", 0), *(("multiply", place, place) for place in range(40))]
SUMS = [("input", k) for k in range(30)] + [("add", 0, 1)] + [("add", 29 + k, k + 1) for k in range(1, 29)]
LARGE = {
    "a power of a power": (SQUARED, 1),
    "a constant squared": ([("input", 0), ("constant", 3), *(("multiply", 1 + place, 1 + place) for place in range(40))], 1),
    "a sum squared": ([*SUMS, *(("multiply", 58 + place, 58 + place) for place in range(20))], 30),
    "a quotient of large degree": ([*SUMS, *(("multiply", 58 + k, 58 + k) for k in range(4)), ("divide", 62, 40), ("add", 63, 0)], 30),
    "a quotient with many terms": (
        [("input", 0), ("constant", 1), ("constant", 12), ("power", 0, 2), ("subtract", 1, 3), ("subtract", 1, 0), ("divide", 4, 5)], 1
    ),
    "a large exponent": ([("input", 0), ("constant", 10**9), ("power", 0, 1)], 1),
    "exponents of exponents": ([("input", 0), *(("exp", place) for place in range(500))], 1),
    "roots of roots": ([("input", 0), *(("sqrt", place) for place in range(200))], 1),
    "a deep sum": ([("input", 0), *(("add", place, 0) for place in range(5000))], 1),
    "many signs": ([("input", 0), ("input", 1), *(("absolute", k) for k in range(2)), *(("subtract", 1 + k, 2 + k) if k % 2 else ("absolute", 2 + k) for k in range(1, 60))], 2),
    "a number with many digits": ([("input", 0), ("constant", 1.2345678901234567e-200), ("log", 1), ("multiply", 0, 2)], 1),
    "a division by zero": ([("input", 0), ("subtract", 0, 0), ("divide", 0, 1)], 1),
    "infinity inside": ([("input", 0), ("constant", math.inf), ("add", 0, 1)], 1),
    "the largest of thousands": ([*(("input", 0),) * 1, *(("constant", k) for k in range(2000)), ("largest", *range(2001))], 1),
}  # fmt: skip


@pytest.mark.parametrize(("nodes", "inputs"), LARGE.values(), ids=LARGE.keys())
def test_whatever_is_sent_a_proof_ends_soon(nodes, inputs):
    other = Computation([("input", 0), ("constant", 0.123), ("multiply", 0, 1)], [2])
    began = time.process_time()
    with pytest.raises(Unproved):
        prove(Computation(nodes, [len(nodes) - 1]), other, [REAL] * inputs, np.full((inputs, 2), 0.7))
    assert time.process_time() - began < 20


# ── at random ─────────────────────────────────────────────────────────────────────────────────────────────────────

UNARY = ["negative", "exp", "absolute", "tanh", "sqrt", "log", "square"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "where"]


def grown(rng, depth):
    """Return a random expression as nested tuples."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([("input", 0), ("input", 1), ("constant", 1), ("constant", 2), ("constant", 0.5)])
    if rng.random() < 0.45:
        return (rng.choice(UNARY), grown(rng, depth - 1))
    return (rng.choice(BINARY), grown(rng, depth - 1), grown(rng, depth - 1))


def rewritten(rng, tree):  # noqa: C901 - a table of rules
    """Return an expression that may or may not be the same function."""
    name, *parts = tree
    if name in ("input", "constant"):
        return tree
    parts = [rewritten(rng, part) for part in parts]
    if rng.random() < 0.2:
        match name, parts:
            case "add", [a, b]:
                return rng.choice([("add", b, a), ("subtract", a, ("negative", b)), ("maximum", a, b)])
            case "subtract", [a, b]:
                return rng.choice([("negative", ("subtract", b, a)), ("subtract", b, a)])
            case "multiply", [a, b]:
                return rng.choice([("multiply", b, a), ("divide", a, ("divide", ("constant", 1), b)), ("divide", a, b)])
            case "exp", [a]:
                return rng.choice([("square", ("exp", ("multiply", ("constant", 0.5), a))), ("exp", ("absolute", a))])
            case "absolute", [a]:
                return rng.choice([("maximum", a, ("negative", a)), ("sqrt", ("square", a)), a])
            case "tanh", [a]:
                return rng.choice([("negative", ("tanh", ("negative", a))), ("tanh", ("absolute", a))])
            case "square", [a]:
                return rng.choice([("multiply", a, a), ("square", ("absolute", a)), a])
            case "where", [a, b]:
                return rng.choice([("where", b, a), ("maximum", a, b)])
    return (name, *parts)


def flattened(tree):
    nodes = []

    def put(*row):
        nodes.append(row)
        return len(nodes) - 1

    def visit(tree):
        name, *parts = tree
        if name in ("input", "constant"):
            return put(*tree)
        numbers = [visit(part) for part in parts]
        match name:
            case "square":
                return put("multiply", numbers[0], numbers[0])
            case "maximum":
                return put("where", put("greater", *numbers), *numbers)
            case "where":
                return put("where", put("greater_equal", numbers[0], put("constant", 0)), numbers[1], numbers[0])
        return put(name, *numbers)

    return Computation(nodes, [visit(tree)])


def test_nothing_that_differs_at_a_point_is_proved():
    rng = random.Random(5)
    grid = np.array(np.meshgrid(*[[-2.3, -1, -0.6, 0, 0.4, 1, 1.7]] * 2)).reshape(2, -1)
    found = different = 0
    for _ in range(600):
        tree = grown(rng, 4)
        first, second = flattened(tree), flattened(rewritten(rng, tree))
        try:
            prove(first, second, [REAL] * 2, np.array([[0.7, -1.3], [0.4, 1.1]]), work=60_000)
        except Unproved:
            different += 1
            continue
        found += 1
        a, b = (values(made.nodes, grid)[made.results[0]] for made in (first, second))
        both = np.isfinite(a) & np.isfinite(b) & (abs(a) < 1e6)
        np.testing.assert_allclose(a[both], b[both], rtol=1e-6, atol=1e-6, err_msg=str((first, second)))
    assert found > 100
    assert different > 100


# ── constants ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("value", "meaning"), [
    (3, ("number", Fraction(3))), (0.5, ("number", Fraction(1, 2))), (1e-5, ("number", Fraction(1, 100000))),
    (1e-8, ("number", Fraction(1, 10**8))), (1 / 3, ("number", Fraction(1, 3))), (2 / 3 + 1 / 7, ("number", Fraction(17, 21))),
    (math.sqrt(2), ("root", Fraction(2))), (1 / np.sqrt(3), ("root", Fraction(1, 3))), (3**-0.5, ("root", Fraction(1, 3))),
    (math.log(2), ("log", Fraction(2))), (math.log(10000.0), ("log", Fraction(10000))), (-math.log(3), ("log", Fraction(1, 3))),
    (math.pi / 4, ("pi", Fraction(1, 4))), (np.log10(2.0), ("log10", Fraction(2))), (math.log2(3), ("log2", Fraction(3))), (math.e, ("exp", Fraction(1))), (1 / math.e, ("exp", Fraction(-1))),
    (0.044715, ("number", Fraction(44715, 10**6))), (1e9, ("number", Fraction(10**9))),
])  # fmt: skip
def test_a_constant_is_read_as_the_simple_number_it_rounds(value, meaning):
    assert meant_by(float(value)) == meaning


@pytest.mark.parametrize(
    "value", [math.sqrt(2) * (1 + 1e-14), 0.1234567890123456, math.pi**2, math.sqrt(2) + 1, 1 / 3 + 1e-15]
)
def test_a_constant_that_is_none_of_them_is_itself(value):
    assert meant_by(value) == ("number", Fraction(value))
