"""Values of trees, against NumPy, enumeration, and exact numbers worked out by hand. Trees are built without the reader."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

from formulas.decide import Verdict, decide
from formulas.symbols import Symbols, declared
from formulas.tree import (
    Addition,
    Big,
    Block,
    Call,
    Cases,
    Comparison,
    Derivative,
    Entry,
    Name,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Range,
    Times,
    Transposed,
)
from formulas.values import (
    ONE,
    Interpreter,
    Matrix,
    NoValue,
    ShapeError,
    Undecided,
    assignment,
    dimension_in_words,
    dimension_of,
    entries_of,
    evaluate,
    free_indices,
    named,
    number_in_words,
    shape_in_words,
)


def number(value) -> Number:
    return Number(Fraction(value))


def tree(part) -> Node:
    """Names for texts, numbers for numbers."""
    return part if isinstance(part, Node) else Name(part) if isinstance(part, str) else number(part)


def call(function: str, *arguments, base=None) -> Call:
    return Call(function, tuple(map(tree, arguments)), None if base is None else tree(base))


def times(left, right, how: Times = Times.JUXTAPOSED) -> Product:
    return Product(tree(left), tree(right), how)


def plus(*terms) -> Addition:
    return Addition(tuple(map(tree, terms)))


def minus(left, right) -> Addition:
    return Addition((tree(left), Negation(tree(right))))


def over(above, below) -> Quotient:
    return Quotient(tree(above), tree(below))


def to(base, exponent) -> Power:
    return Power(tree(base), tree(exponent))


def entry(value, *indices) -> Entry:
    return Entry(tree(value), tuple(map(tree, indices)))


def total(index: str, body, lower=None, upper=None, **kwargs) -> Range:
    bounds = [None if bound is None else tree(bound) for bound in (lower, upper)]
    return Range(kwargs.pop("operator", Big.SUM), index, *bounds, tree(body), **kwargs)


NOTHING = declared({})
SYMBOLS = declared(
    {
        "x": {"shape": ["n"]},
        "y": {"shape": ["n"]},
        "r": {"shape": [1, "n"]},
        "s": {"shape": [1, "n"]},
        "u": {"shape": ["m"]},
        "A": {"shape": ["n", "m"], "columns": "a"},
        "B": {"shape": ["m", "n"]},
        "S": {"shape": ["n", "n"]},
        "I": {"shape": ["n", "n"], "is": ["identity"]},
        "c": {},
        "n": {"is": ["integer"]},
    }
)
AT = assignment(
    {"n": 2, "m": 3},
    x=[1, 2],
    y=[3, 5],
    r=[[1, 2]],
    s=[[3, 5]],
    u=[1, 0, -1],
    A=[[1, 2, 3], [4, 5, 6]],
    B=[[1, 0], [0, 1], [2, 2]],
    S=[[2, 1], [1, 1]],
    c=3,
)


def rows(value):
    """Entries as plain Fractions, a number as one."""
    if isinstance(value, Matrix):
        return [[Fraction(int(entry.p), int(entry.q)) for entry in row] for row in value.entries]
    assert type(value) is fmpq, f"{value!r} is not exact"
    return Fraction(int(value.p), int(value.q))


def at(node, symbols: Symbols = SYMBOLS, where=AT):
    return rows(evaluate(tree(node), symbols, where))


# --- Products and shapes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "how", "expected"),
    [
        ("c", "x", Times.MATRIX, [[3], [6]]),
        ("x", "c", Times.ELEMENTWISE, [[3], [6]]),
        ("A", "B", Times.MATRIX, [[7, 8], [16, 17]]),
        ("A", "B", Times.JUXTAPOSED, [[7, 8], [16, 17]]),
        ("r", "x", Times.JUXTAPOSED, 5),
        ("x", "r", Times.JUXTAPOSED, [[1, 2], [2, 4]]),
        ("x", "y", Times.JUXTAPOSED, [[3], [10]]),
        ("r", "s", Times.JUXTAPOSED, [[3, 10]]),
        ("x", "y", Times.STAR, [[3], [10]]),
        ("S", "S", Times.STAR, [[4, 1], [1, 1]]),
        ("S", "S", Times.JUXTAPOSED, [[5, 3], [3, 2]]),
        ("r", "x", Times.STAR, 5),
        ("x", "y", Times.ELEMENTWISE, [[3], [10]]),
        ("x", "y", Times.DOT, 13),
        ("x", "s", Times.DOT, 13),
        ("r", "s", Times.DOT, 13),
        ("c", "c", Times.DOT, 9),
        ("A", "u", Times.DOT, [[-2], [-2]]),
    ],
)
def test_a_product_means_what_its_sign_and_shapes_say(left, right, how, expected):
    assert at(times(left, right, how)) == expected


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (times("r", "s", Times.MATRIX), "r is 1×n, it cannot multiply s, which is 1×n, from the left"),
        (times("A", plus("r", "s"), Times.MATRIX), "A is n×m, it cannot multiply a 1×n from the left"),
        (times(plus("r", "s"), "B", Times.MATRIX), "B is m×n, it cannot multiply a 1×n from the right"),
        (times(Transposed(Name("A")), "u"), "Aᵀ is m×n, it cannot multiply u, which is m×1, from the left"),
        (times(plus("u", "u"), plus("A", "A")), "an m×1 cannot multiply an n×m from the left"),
        (times("x", "u", Times.ELEMENTWISE), "x is n×1, it has no elementwise product with u, which is m×1"),
        (times("x", "r", Times.ELEMENTWISE), "x is n×1, it has no elementwise product with r, which is 1×n"),
        (plus("x", "r"), "x is n×1, it cannot be added to r, which is 1×n"),
        (plus("x", "y", "u"), "an n×1 cannot be added to u, which is m×1"),
        (over("x", "u"), "x is n×1, it cannot be divided by u, which is m×1"),
        (call("trace", "A"), "a trace needs a square matrix, this is n×m"),
        (call("inv", "A"), "an inverse needs a square matrix, this is n×m"),
        (entry("A", 1, 1, 1), "A is n×m, not with 3 indices"),
        (entry("c", 1), "c is a number, not with one index"),
        (entry("S", 1), "S is n×n, an entry of it has two indices"),
        (Block(((Name("A"), Name("u")),)), "parts of different height cannot stand side by side: n×m, m×1"),
        (Block(((Name("A"),), (Name("x"),))), "parts of different width cannot stand on each other: n×m, n×1"),
        (plus(entry("x", "i"), "y"), "with the free index i this should be a number, it is n×1"),
        (call("norm", "x", "y"), "norm has one argument, this has 2"),
        (call("delta", "x", 1), "delta is of two indices, this is n×1 and a number"),
        (call("argmax", "A"), "argmax is of a vector, this is n×m"),
    ],
)
def test_what_does_not_fit_is_said_with_symbolic_dimensions(node, sentence):
    with pytest.raises(ShapeError) as caught:
        evaluate(node, SYMBOLS, AT)
    assert str(caught.value) == sentence


def test_sizes_that_happen_to_coincide_do_not_make_a_product_fit():
    where = assignment({"n": 2, "m": 2}, A=[[1, 2], [3, 4]])
    with pytest.raises(ShapeError):
        evaluate(times("A", "A"), SYMBOLS, where)


def test_a_vector_of_size_one_is_still_a_vector():
    value = evaluate(times("x", Transposed(Name("x"))), SYMBOLS, assignment({"n": 1}, x=[3]))
    assert shape_in_words(value) == "n×n"
    assert rows(value) == [[9]]


def test_what_is_declared_one_by_one_is_a_number():
    symbols = declared({"x": {"shape": [1, 1]}, "y": {"shape": [1]}})
    assert at(times("x", "y", Times.MATRIX), symbols, assignment(x=[[2]], y=[3])) == 6


def test_numbers_spread_over_sums_and_a_row_over_the_rows_of_a_matrix():
    assert at(minus(1, "x")) == [[0], [-1]]
    assert at(plus("x", "c")) == [[4], [5]]
    assert at(plus("S", "r")) == at(plus("r", "S")) == [[3, 3], [2, 3]]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("A", "column", [[2, 4, 6], [12, 15, 18]]),
        ("column", "A", [[2, 4, 6], [12, 15, 18]]),
        ("A", "row", [[1, 4, 9], [4, 10, 18]]),
        ("row", "A", [[1, 4, 9], [4, 10, 18]]),
    ],
)
def test_a_star_repeats_a_row_or_column_as_numpy_does(left, right, expected):
    symbols = declared({"A": {"shape": ["m", "n"]}, "row": {"shape": [1, "n"]}, "column": {"shape": ["m", 1]}})
    values = {"A": [[1, 2, 3], [4, 5, 6]], "row": [[1, 2, 3]], "column": [[2], [3]]}
    assert decide(f"{left} * {right}", f"{right} * {left}", symbols).verdict is Verdict.PROVED
    assert decide(f"{left} ∘ {right}", f"{left} * {right}", symbols).verdict is Verdict.REFUTED
    assert (np.array(values[left]) * np.array(values[right])).tolist() == expected
    scaled = {"column": "diag(column) A", "row": "A diag(row)"}[left if right == "A" else right]
    assert decide(f"{left} * {right}", scaled, symbols).verdict is Verdict.PROVED


def test_an_index_may_be_called_as_a_random_vector_is():
    normal = {"shape": ["d"], "is": ["normal"], "mean": "mu", "covariance": "sigma^2 I"}
    symbols = declared({"mu": {"shape": ["d"]}, "sigma": {}, "q": normal, "k": normal})
    assert decide(r"\sum_{k=1}^d \mu_k^2", "mu^T mu", symbols).verdict is Verdict.PROVED
    assert decide(r"\sum_{k=1}^d \mu_k q_k", "mu^T mu", symbols).message == "q is random, and what is asked for is not."
    assert decide(r"\mu^\top k", "mu^T mu", symbols).message == "k is random, and what is asked for is not."


def test_dimensions_are_written_as_on_paper():
    assert dimension_in_words(dimension_of(plus("p", "m", 1))) == "m+p+1"
    assert dimension_in_words(dimension_of(minus(times(2, "d"), 1))) == "2d-1"
    assert dimension_in_words(ONE) == "1"
    assert dimension_of(to("d", 2)) is None


def test_a_size_defined_by_another_is_that_size():
    symbols = declared({"x": {"shape": ["D"]}, "y": {"shape": ["2d"]}, "D": {"def": "2 d"}})
    where = assignment({"d": 1, "D": 2}, x=[1, 2], y=[3, 4])
    value = evaluate(plus("x", "y"), symbols, where, read=lambda text, symbols: times(2, "d"))
    assert rows(value) == [[4], [6]]


# --- Powers, quotients, entries --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (to(2, 10), 1024),
        (to(2, -2), Fraction(1, 4)),
        (to(0, 0), 1),
        (to(4, Number(Fraction(1, 2))), 2),
        (to(Number(Fraction(8, 27)), Number(Fraction(-2, 3))), Fraction(9, 4)),
        (to(-1, 1001), -1),
        (to("x", 2), [[1], [4]]),
        (to("r", 2), [[1, 4]]),
        (to("x", -1), [[1], [Fraction(1, 2)]]),
        (to("S", 2), [[5, 3], [3, 2]]),
        (to("S", 0), [[1, 0], [0, 1]]),
        (to("S", -1), [[1, -1], [-1, 2]]),
        (to("S", -2), [[2, -3], [-3, 5]]),
        (to("A", 2), [[1, 4, 9], [16, 25, 36]]),
        (to(2, "x"), [[2], [4]]),
        (to("x", "y"), [[1], [32]]),
        (to(call("norm", "x"), 2), 5),
        (to(call("sqrt", 2), 4), 4),
        (over("x", 2), [[Fraction(1, 2)], [1]]),
        (over("y", "x"), [[3], [Fraction(5, 2)]]),
        (over(1, "x"), [[1], [Fraction(1, 2)]]),
    ],
)
def test_powers_and_quotients(node, expected):
    assert at(node) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (entry("x", 2), 2),
        (entry("r", 2), 2),
        (entry("r", 1, 2), 2),
        (entry("A", 2, 3), 6),
        (entry(Transposed(Name("A")), 3, 2), 6),
        (entry("A", 3), [[3], [6]]),
        (entry("a", 3), [[3], [6]]),
        (entry(plus("x", "y"), 2), 7),
    ],
)
def test_entries_count_from_one(node, expected):
    assert at(node) == expected


def test_named_columns_make_sums_of_outer_products():
    node = total("j", times(entry("A", "j"), Transposed(entry("A", "j"))), 1, "m")
    assert at(node) == at(times("A", Transposed(Name("A"))))


# --- Sums, components, blocks, cases ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (total("i", "i", 1, 4), 10),
        (total("i", "i", 1, 4, operator=Big.PRODUCT), 24),
        (total("i", "i", 1, 4, excluding=number(3)), 7),
        (total("i", 1, Negation(number(2)), 2), 5),
        (total("j", entry("x", "j")), 3),
        (total("j", entry("A", 1, "j")), 6),
        (total("j", total("k", times(entry("A", "j", "k"), entry("u", "k")))), -4),
        (total("j", entry(plus("x", "y"), "j")), 11),
        (total("j", entry("r", "j"), 2), 2),
        (total("i", "i", 3, 2), 0),
        (total("i", "x", 3, 2), [[0], [0]]),
        (total("i", "S", 3, 2, operator=Big.PRODUCT), [[1, 0], [0, 1]]),
        (total("i", "S", 1, 2, operator=Big.PRODUCT), [[5, 3], [3, 2]]),
        (total("c", "c", 1, 2), 3),
        (total("i", total("j", call("delta", "i", "j"), 1, 3), 1, 3), 3),
    ],
)
def test_sums_and_products_over_a_range(node, expected):
    assert at(node) == expected


def test_free_indices_make_a_vector_or_a_matrix():
    assert free_indices(minus(entry("x", "i"), entry("y", "i")), SYMBOLS) == ("i",)
    assert free_indices(entry("A", "j", "i"), SYMBOLS) == ("i", "j")
    assert free_indices(total("i", times(entry("x", "i"), "n")), SYMBOLS) == ()
    assert free_indices(times(entry("a", "j"), "pi"), SYMBOLS) == ("j",)
    assert at(minus(entry("x", "i"), entry("y", "i"))) == [[-2], [-3]]
    assert at(times(entry("x", "i"), entry("u", "j"))) == [[1, 0, -1], [2, 0, -2]]
    assert at(entry("A", "j", "i")) == [[1, 4], [2, 5], [3, 6]]
    assert at(times(entry("x", "i"), call("delta", "i", "j"))) == [[1, 0], [0, 2]]


def test_three_free_indices_are_too_many():
    node = times(times(entry("x", "i"), entry("x", "j")), entry("x", "k"))
    with pytest.raises(ShapeError, match=r"3 free indices \(i, j, k\)"):
        evaluate(node, SYMBOLS, AT)


def test_an_index_that_runs_over_nothing_known_is_undecided():
    with pytest.raises(Undecided, match="what i runs over is not said"):
        evaluate(total("i", 1), SYMBOLS, AT)


def test_an_index_runs_over_what_it_is_compared_with_under_a_sum():
    symbols = declared({"y": {"shape": ["n"]}})
    matched = Call("delta", (Name("i"), Name("j")))
    node = Range(Big.SUM, "j", None, None, Product(entry("y", "j"), matched, Times.STAR))
    assert at(node, symbols, assignment({"n": 3}, y=[4, 5, 6])) == [[4], [5], [6]]


def test_a_declared_index_is_not_free():
    symbols = declared({"y": {"shape": ["n"], "is": ["one_hot"], "at": "k"}, "k": {"is": ["index"]}})
    where = assignment({"n": 3}, y=[0, 1, 0], k=2)
    assert free_indices(entry("y", "k"), symbols) == ()
    assert at(entry("y", "k"), symbols, where) == 1
    by_cases = Cases(((number(7), Comparison(Name("i"), "=", Name("k"))), (entry("y", "i"), None)))
    assert at(by_cases, symbols, where) == [[0], [7], [0]]


def test_an_index_is_known_from_the_sum_it_bounds():
    assert at(total("j", entry("y", "j"), 1, "i")) == [[3], [8]]
    assert at(total("j", entry("y", "j"), excluding=Name("i"))) == [[5], [3]]


def test_an_index_is_known_from_what_it_is_compared_with():
    symbols = declared({"y": {"shape": ["n"], "is": ["one_hot"], "at": "k"}, "k": {"is": ["index"]}})
    assert at(call("delta", "i", "k"), symbols, assignment({"n": 3}, y=[0, 1, 0], k=2)) == [[0], [1], [0]]


@pytest.mark.parametrize(
    ("block", "expected", "shape"),
    [
        (Block(((Name("x"), Name("S")),)), [[1, 2, 1], [2, 1, 1]], "n×(n+1)"),
        (Block(((Name("A"),), (Name("A"),))), [[1, 2, 3], [4, 5, 6]] * 2, "2n×m"),
        (Block(((Name("x"),), (Name("u"),))), [[1], [2], [1], [0], [-1]], "(m+n)×1"),
        (Block(((Name("x"), Name("u")),)), [[1], [2], [1], [0], [-1]], "(m+n)×1"),
        (Block(((number(1), number(2)), (number(3), number(4)))), [[1, 2], [3, 4]], "2×2"),
    ],
)
def test_blocks_add_up_their_dimensions(block, expected, shape):
    value = evaluate(block, SYMBOLS, AT)
    assert rows(value) == expected
    assert shape_in_words(value) == shape


# --- Functions -------------------------------------------------------------------------------------------------------

X = np.array([[1.0], [2.0]])
S = np.array([[2.0, 1.0], [1.0, 1.0]])
WEIGHTS = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (call("exp", "x"), np.exp(X)),
        (to("e", "x"), np.exp(X)),
        (call("log", "c"), math.log(3)),
        (call("log", 5, base=3), math.log(5, 3)),
        (call("log2", "x"), np.log2(X)),
        (call("log10", 7), math.log10(7)),
        (call("sqrt", "x"), np.sqrt(X)),
        (call("sin", "x"), np.sin(X)),
        (call("cos", "x"), np.cos(X)),
        (call("tan", "x"), np.tan(X)),
        (call("sinh", "x"), np.sinh(X)),
        (call("cosh", "x"), np.cosh(X)),
        (call("tanh", "x"), np.tanh(X)),
        (call("sech", "x"), 1 / np.cosh(X)),
        (call("sigmoid", "x"), 1 / (1 + np.exp(-X))),
        (call("softmax", "x"), np.exp(X) / np.exp(X).sum()),
        (call("softmax", "r"), np.exp(X.T) / np.exp(X).sum()),
        (call("softmax", "S"), WEIGHTS),
        (call("softmax_rows", "S"), WEIGHTS),
        (call("log_softmax", "S"), np.log(WEIGHTS)),
        (call("relu", minus("x", 2)), np.maximum(X - 2, 0)),
        (call("relu", minus(call("exp", "x"), 5)), np.maximum(np.exp(X) - 5, 0)),
        (call("abs", Negation(Name("x"))), X),
        (call("max", "x"), 2),
        (call("min", "S"), 1),
        (call("max", "c", 2, 1), 3),
        (call("max", "x", call("sqrt", 2)), np.maximum(X, math.sqrt(2))),
        (call("min", "x", Negation(Name("y"))), np.array([[-3.0], [-5.0]])),
        (call("norm", "x"), math.sqrt(5)),
        (call("norm", "S"), np.linalg.norm(S)),
        (call("trace", "S"), 3),
        (call("diag", "x"), np.diag([1.0, 2.0])),
        (call("diag", "S"), np.array([[2.0], [1.0]])),
        (call("inv", "S"), np.linalg.inv(S)),
        (call("inv", call("exp", "S")), np.linalg.inv(np.exp(S))),
        (call("det", "S"), 1),
        (call("dot", "x", "s"), 13),
        (call("outer", "r", "u"), np.outer([1, 2], [1, 0, -1])),
        (call("sum", "A"), 21),
        (call("prod", "x"), 2),
        (call("mean", "A"), 3.5),
        (call("var", "A"), np.var([1, 2, 3, 4, 5, 6])),
        (call("binomial", 5, 2), 10),
        (call("factorial", 5), 120),
        (call("floor", over(-3, 2)), -2),
        (call("floor", call("exp", "x")), np.floor(np.exp(X))),
        (call("ceil", call("exp", "x")), np.ceil(np.exp(X))),
        (call("argmax", "u"), 1),
        (call("concat", "x", "u"), np.array([[1], [2], [1], [0], [-1]])),
        (call("concat", "r", "s"), np.array([[1, 2, 3, 5]])),
        (call("concat", "S", "A"), np.array([[2, 1, 1, 2, 3], [1, 1, 4, 5, 6]])),
        (call("ones", "n"), np.ones((2, 1))),
        (call("zeros", "n", "m"), np.zeros((2, 3))),
        (call("eye", "m"), np.eye(3)),
        (call("transpose", "A"), np.array([[1, 4], [2, 5], [3, 6]])),
        (times("pi", "x"), math.pi * X),
        (to("c", call("sqrt", 2)), 3 ** math.sqrt(2)),
        (plus("S", "I"), S + np.eye(2)),
    ],
)
def test_functions_agree_with_numpy(node, expected):
    value = evaluate(node, SYMBOLS, AT)
    got = np.array([float(entry) for entry in entries_of(value)])
    assert np.allclose(got, np.asarray(expected, dtype=float).ravel(), rtol=1e-14)
    if isinstance(value, Matrix):
        assert np.shape(expected) == (len(value.entries), len(value.entries[0]))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (call("exp", 0), 1),
        (call("log", 1), 0),
        (call("log", 8, base=2), 3),
        (call("log2", Number(Fraction(1, 4))), -2),
        (call("sqrt", Number(Fraction(9, 4))), Fraction(3, 2)),
        (call("sin", 0), 0),
        (call("cosh", 0), 1),
        (call("sigmoid", 0), Fraction(1, 2)),
        (call("softmax", minus("x", "x")), [[Fraction(1, 2)], [Fraction(1, 2)]]),
        (call("inv", "S"), [[1, -1], [-1, 2]]),
        (Number(Fraction("2.50")), Fraction(5, 2)),
    ],
)
def test_what_is_rational_stays_exact(node, expected):
    assert at(node) == expected


def test_a_ball_holds_the_true_number():
    root = evaluate(call("sqrt", 2), NOTHING, assignment(), precision=64)
    assert type(root) is arb
    assert (root * root).contains(2)
    finer = evaluate(call("sqrt", 2), NOTHING, assignment(), precision=512)
    assert root.contains(finer)
    assert float(finer.rad()) < 1e-150


def test_sizes_of_ones_are_symbolic():
    with pytest.raises(ShapeError):
        evaluate(plus("x", call("ones", "m")), SYMBOLS, assignment({"n": 2, "m": 2}, x=[1, 2]))
    assert at(plus("x", call("ones", "n"))) == [[2], [3]]


def test_declared_functions_are_their_definition():
    symbols = declared({"sigma": {"is": ["function"], "def": "sigmoid"}, "f": {"is": ["function"]}})
    assert at(call("sigma", 0), symbols, assignment()) == Fraction(1, 2)
    with pytest.raises(Undecided, match="what f is at a point is not known"):
        evaluate(call("f", 0), symbols, assignment())
    with pytest.raises(ShapeError, match="sigma is a function, it stands here without an argument"):
        evaluate(plus("sigma", 1), symbols, assignment())


# --- Definitions -----------------------------------------------------------------------------------------------------


def reader(**trees):
    return lambda text, symbols: trees[text]


def test_definitions_are_read_when_needed():
    symbols = declared({"x": {"shape": ["n"]}, "z": {"shape": ["n"], "def": "double"}, "w": {"def": "unread"}})
    value = evaluate(plus("z", "x"), symbols, assignment({"n": 2}, x=[1, 2]), read=reader(double=plus("x", "x")))
    assert rows(value) == [[3], [6]]


def test_a_definition_by_components_has_the_declared_layout():
    symbols = declared({"x": {"shape": [1, "n"]}, "z": {"shape": [1, "n"], "def": "double"}})
    read = reader(double=times(2, entry("x", "i")))
    assert rows(evaluate(Name("z"), symbols, assignment({"n": 2}, x=[[1, 2]]), read=read)) == [[2, 4]]


def test_a_bound_index_does_not_leak_into_a_definition():
    symbols = declared({"x": {"shape": ["n"]}, "i": {}, "z": {"def": "i"}})
    node = total("i", times("z", entry("x", "i")))
    assert rows(evaluate(node, symbols, assignment({"n": 2}, x=[1, 2], i=10), read=reader(i=Name("i")))) == 30


def test_definitions_that_are_wrong_say_so():
    symbols = declared({"x": {"shape": ["n"]}, "z": {"def": "x"}, "w": {"def": "w"}})
    read = reader(x=Name("x"), w=plus("w", 1))
    with pytest.raises(ShapeError, match="z is declared otherwise than its definition, which is n×1"):
        evaluate(Name("z"), symbols, assignment({"n": 1}, x=[1]), read=read)
    with pytest.raises(NoValue, match="w is defined by itself"):
        evaluate(Name("w"), symbols, assignment(), read=read)


# --- Expectations ----------------------------------------------------------------------------------------------------

NORMAL = declared(
    {
        "mu": {"shape": ["d"]},
        "sigma": {"is": ["positive"]},
        "q": {"shape": ["d"], "is": ["normal"], "mean": "mu", "covariance": "spread"},
        "k": {"shape": ["d"], "is": ["normal"], "mean": "mu", "covariance": "spread"},
        "z": {"is": ["normal"]},
        "s": {"def": "score"},
        "C": {"shape": ["d", "d"]},
        "p": {"shape": ["d"], "is": ["normal"], "mean": "mu", "covariance": "C"},
    }
)
READ = reader(mu=Name("mu"), spread=times(to("sigma", 2), "I"), C=Name("C"), score=times("q", "k", Times.DOT))
# Five points with the first five moments of a standard normal number, all of them rational.
POINTS = {
    -2: Fraction(1, 12),
    -1: Fraction(1, 6),
    0: Fraction(1, 2),
    1: Fraction(1, 6),
    2: Fraction(1, 12),
}
MU, SIGMA = (Fraction(1), Fraction(-1, 2)), Fraction(3)


def enumerated(function) -> Fraction:
    """Return E of a function of two independent vectors q and k by going through all points."""
    mean = Fraction(0)
    for choice in product(POINTS, repeat=4):
        weight = math.prod(POINTS[point] for point in choice)
        entries = [MU[place % 2] + SIGMA * point for place, point in enumerate(choice)]
        mean += weight * function(entries[:2], entries[2:])
    return mean


def inner(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    ("argument", "function"),
    [
        (times("q", "k", Times.DOT), inner),
        (times(Transposed(Name("q")), "q"), lambda q, k: inner(q, q)),
        (to(entry("q", 1), 2), lambda q, k: q[0] ** 2),
        (plus(entry("q", 1), times(2, entry("k", 2)), 5), lambda q, k: q[0] + 2 * k[1] + 5),
        (Name("s"), inner),
        (total("i", times(entry("q", "i"), entry("k", "i"))), inner),
    ],
)
def test_expectation_and_variance_are_those_of_enumeration(argument, function):
    where = assignment({"d": 2}, mu=list(MU), sigma=SIGMA)
    mean = enumerated(function)
    variance = enumerated(lambda q, k: function(q, k) ** 2) - mean**2
    assert rows(evaluate(call("E", argument), NORMAL, where, read=READ)) == mean
    assert rows(evaluate(call("Var", argument), NORMAL, where, read=READ)) == variance
    assert rows(evaluate(call("var", argument), NORMAL, where, read=READ)) == variance


def test_higher_moments_of_a_normal_number():
    for power, moment in [(1, 0), (2, 1), (3, 0), (4, 3), (6, 15), (8, 105)]:
        assert at(call("E", to("z", power)), NORMAL, assignment()) == moment


def test_correlated_entries():
    where = assignment({"d": 2}, mu=[1, 2], C=[[2, 1], [1, 3]])
    pair = times(entry("p", 1), entry("p", 2))
    assert rows(evaluate(call("E", pair), NORMAL, where, read=READ)) == 1 * 2 + 1
    assert rows(evaluate(call("Cov", "p"), NORMAL, where, read=READ)) == [[2, 1], [1, 3]]
    assert rows(evaluate(call("Cov", entry("p", 1), entry("p", 2)), NORMAL, where, read=READ)) == 1
    assert rows(evaluate(call("E", "p"), NORMAL, where, read=READ)) == [[1], [2]]


def test_a_random_symbol_alone_has_no_value():
    where = assignment({"d": 1}, mu=[0], sigma=1)
    with pytest.raises(NoValue, match=r"^q is random: only E\[...\] and Var\(...\) of it have a value$"):
        evaluate(times("q", "q"), NORMAL, where, read=READ)
    assert rows(evaluate(minus("q", "q"), NORMAL, where, read=READ)) == [[0]]
    with pytest.raises(Undecided, match="exp of a random number"):
        evaluate(call("E", call("exp", "z")), NORMAL, where, read=READ)


def test_a_factor_that_may_be_zero_stays():
    tiny = minus(call("exp", 1), call("exp", 1))
    value = evaluate(call("E", plus(1, times(tiny, to("z", 2)))), NORMAL, assignment())
    assert type(value) is arb
    assert value.contains(1)


# --- Faults and budgets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (over(1, minus("c", 3)), "division by zero"),
        (to(0, -1), "division by zero"),
        (to(0, Number(Fraction(-1, 2))), "division by zero"),
        (call("log", 0), "the log of zero"),
        (call("log", -1), "the log of a negative number"),
        (call("log", 2, base=0), "a logarithm to the base 0"),
        (call("log", 2, base=1), "division by zero"),
        (call("sqrt", -1), "the square root of a negative number"),
        (call("sqrt", Negation(call("exp", 1))), "the square root of a negative number"),
        (to(-8, Number(Fraction(1, 3))), "a fractional power of a negative number"),
        (call("inv", minus("S", "S")), "a matrix has no inverse"),
        (entry("x", 3), "x is n×1, without an entry 3"),
        (entry("x", 0), "x is n×1, without an entry 0"),
        (entry("A", 3, 1), "A is n×m, without an entry 3,1"),
        (entry("A", 4), "A is n×m, without a column 4"),
        (entry("x", over(1, 2)), "an index of x is 1/2, not a whole number"),
        (total("i", "i", 1, over(1, 2)), "where i ends is 1/2, not a whole number"),
        (call("binomial", over(1, 2), 1), "the upper number of a binomial is 1/2, not a whole number"),
        (Cases(((number(1), Comparison(Name("c"), "<", number(0))),)), "none of the cases applies"),
    ],
)
def test_where_there_is_no_value_the_reason_is_said(node, sentence):
    with pytest.raises(NoValue) as caught:
        evaluate(node, SYMBOLS, AT)
    assert str(caught.value) == sentence
    assert not isinstance(caught.value, Undecided)


def nested(levels: int) -> Node:
    node: Node = number(1)
    for _ in range(levels):
        node = Negation(node)
    return node


LOOPS = total("i", total("j", total("k", total("l", 1, 1, 1000), 1, 1000), 1, 1000), 1, 1000)
TOWER = to(2, to(2, to(2, 100)))


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (TOWER, "too large"),
        (to(Number(Fraction(3, 2)), 20_000), "too large"),
        (LOOPS, "too large"),
        (total("i", 1, 1, 10**9), "too large"),
        (total("i", "i", 1, 1999, operator=Big.PRODUCT), "too large"),
        (call("factorial", 10**9), "too large"),
        (call("binomial", 10**9, 5), "too large"),
        (call("exp", call("exp", call("exp", call("exp", 10)))), "too large"),
        (call("eye", 10**6), "a size in eye is 1000000"),
        (to("S", 10**6), "too large"),
        (nested(200), "too deeply nested"),
        (nested(100_000), "too deeply nested"),
        (over(1, minus(call("exp", 1), call("exp", 1))), "a divisor is too close to zero"),
        (call("log", minus(call("exp", 1), call("exp", 1))), "the log of a number too close to zero"),
        (Derivative(Name("c"), Name("c")), "a derivative is not evaluated"),
        (call("nonsense", 1), "what nonsense is at a point is not known"),
    ],
)
def test_what_we_cannot_tell_is_undecided(node, sentence):
    with pytest.raises(Undecided) as caught:
        evaluate(node, SYMBOLS, AT)
    assert str(caught.value) == sentence


def test_polynomials_in_random_entries_are_bounded():
    where = assignment({"d": 6}, mu=[0] * 6, sigma=1)
    with pytest.raises(Undecided, match="too large"):
        evaluate(call("E", to(call("dot", "q", "k"), 16)), NORMAL, where, read=READ)


def test_one_evaluation_serves_many_trees_and_forgets_a_fault():
    evaluation = Interpreter(SYMBOLS).at(AT)
    with pytest.raises(NoValue):
        evaluation.value(total("i", over(1, minus("i", 2)), 1, 3))
    assert rows(evaluation.value(entry("x", "i"))) == [[1], [2]]


def test_conditions_hold_for_certain_or_are_undecided():
    evaluation = Interpreter(SYMBOLS).at(AT)
    assert evaluation.holds(Comparison(Name("c"), ">=", number(3)))
    assert not evaluation.holds(Comparison(Name("c"), "!=", number(3)))
    assert evaluation.holds(Comparison(minus("S", "S"), "=", number(0)))
    with pytest.raises(Undecided):
        evaluation.holds(Comparison(call("exp", 1), "=", call("exp", 1)))


def test_numbers_are_written_short():
    assert number_in_words(fmpq(1, 3)) == "1/3"
    assert number_in_words(fmpq(1, 3), decimal=True) == "0.333333"
    assert number_in_words(fmpq(1, 3**60), 3) == "2.36e-29"
    assert number_in_words(arb("2.5")) == "2.5"
    assert named("n") == ((("n",), 1),)
