"""The search finds the difference of every wrong answer we have, never one of a right answer, and makes it small."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest
from flint import fmpq

from formulas.reader import read, read_comparison
from formulas.refute import Agreement, Counterexample, Kind, agrees_when, assignments, refute
from formulas.symbols import declared
from formulas.tree import Negation, Node, Number
from formulas.values import Assignment, Interpreter, ShapeError, evaluate, names_in

CASES = [
    case
    for line in (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    for case in [json.loads(line)]
    if case["relation"] != "theta"
]
BY_ID = {case["id"]: case for case in CASES}


def judged(answer: str, expected: str, symbols=None, given=(), relation: str = "equal", **kwargs):
    known = declared(symbols or {}, tuple(given))
    return refute(read(answer, known), read(expected, known), known, relation, **kwargs)


def case_judged(name: str):
    case = BY_ID[name]
    return judged(case["answer"], case["expected"], case["symbols"], case["given"], case["relation"])


def agreeing(answer: str, expected: str, symbols=None, given=(), relation: str = "equal"):
    known = declared(symbols or {}, tuple(given))
    return agrees_when(read(answer, known), read(expected, known), known, relation)


# --- The judged formulas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_judged_formulas(case):
    symbols = declared(case["symbols"], tuple(case["given"]))
    answer, expected = read(case["answer"], symbols), read(case["expected"], symbols)
    found = refute(answer, expected, symbols, case["relation"])
    if case["verdict"]:
        assert isinstance(found, Agreement), found
        assert found.tried >= (1 if not case["symbols"] else 40)
        assert found.worst < 1e-9
    else:
        assert isinstance(found, Counterexample), found
        assert found.sentence
        assert found == refute(answer, expected, symbols, case["relation"]), "not the same the second time"


@pytest.mark.parametrize("case", [case for case in CASES if not case["verdict"]], ids=lambda case: case["id"])
def test_counterexamples_keep_to_what_is_given(case):
    found = case_judged(case["id"])
    symbols = declared(case["symbols"], tuple(case["given"]))
    evaluation = Interpreter(symbols).at(found.assignment)
    assigned = {*found.assignment.sizes, *found.assignment.values}
    for condition in (read_comparison(text, symbols) for text in case["given"]):
        if set(names_in(condition)) <= assigned:  # else about a symbol that neither formula depends on
            assert evaluation.holds(condition)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gauss_var-14", "d = 2, μ = 0, σ = 1: yours 1, expected 2"),
        ("gauss_var-17", "d = 1, μ = 1, σ = 2: yours 20, expected 24"),
        ("gauss_mean-06", "yours is d×d, expected a number"),
        ("gauss_mean-08", "d = 1, μ = 2: yours 2, expected 4"),
        ("backprop_dx-13", "yours is Dx×1, expected 1×Dx"),
        ("backprop_dx-19", "W1 is Dx×Dh, it cannot multiply a 1×Dh from the right"),
        ("backprop_dW2-06", "h is 1×Dh, it cannot multiply a 1×Dy from the left"),
        ("attn_weight_two_keys-04", "λ = 1, n = 3: yours 0.5, expected 0.422319"),
        ("param_count-11", "T = 2, m = 1: yours 4, expected 3"),
        ("entropy_die-07", "yours 0.430827, expected 2.58496"),
        ("sigmoid_deriv-08", "x = 0: yours -1/4, expected 1/4"),
        ("residual_grad-04", "n = 1, G = 0, J = 0: yours 1, expected 0"),
        ("softmax_ce_grad-13", "n = 2, θ = 0, y = (1, 0), k = 1: yours (1/2, -1/2), expected (-1/2, 1/2)"),
    ],
)
def test_what_a_student_reads(name, sentence):
    assert case_judged(name).sentence == sentence


def test_the_smallest_counterexample_of_the_design():
    found = case_judged("gauss_var-12")
    assert found.assignment.sizes == {"d": 2}
    assert sorted(entry for row in found.assignment.values["mu"] for entry in row) == [0, 1]
    assert (found.yours, found.expected) == ("6", "4")
    assert found.kind is Kind.VALUE


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("gauss_var-12", "they agree when d = 1"),
        ("gauss_var-14", "they agree when d = 1"),
        ("gauss_mean-08", "they agree when μ = 0"),
        ("projection-11", "they agree when m = 1"),
        ("projection-12", "they agree when m = 1"),
        ("perplexity-14", "they agree when p = 1"),
        ("receptive_field-12", "they agree when n = 1"),
        ("attention-07", "they agree when n = 1"),
        ("gauss_var-18", None),
        ("sigmoid_sym-08", None),
        ("gauss_mean-06", None),
    ],
)
def test_where_a_wrong_formula_happens_to_be_right(name, where):
    case = BY_ID[name]
    assert agreeing(case["answer"], case["expected"], case["symbols"], case["given"]) == where


# --- Assignments -----------------------------------------------------------------------------------------------------


def first(symbols, count: int, given=()) -> list[Assignment]:
    return list(islice(assignments(declared(symbols, tuple(given))), count))


def entries(made: Assignment, name: str) -> list[fmpq]:
    return [entry for row in made.values[name] for entry in row]


EVERY_KIND = {
    "r": {"shape": ["n"]},
    "z": {"shape": ["n"], "is": ["unit_interval"]},
    "p": {"shape": ["n"], "is": ["probability"]},
    "w": {"shape": ["n"], "is": ["distribution"]},
    "P": {"shape": ["n", "m"], "is": ["distribution"]},
    "y": {"shape": ["n"], "is": ["one_hot"], "at": "k"},
    "Y": {"shape": ["n", "m"], "is": ["one_hot"]},
    "k": {"is": ["index"]},
    "s": {"is": ["positive"]},
    "t": {"is": ["integer"]},
    "b": {"is": ["real"]},
}


def test_every_property_holds_in_every_assignment():
    made = first(EVERY_KIND, 200, ["b > 1", "t >= 3"])
    assert len(made) == 200
    for one in made:
        assert all(0 < entry < 1 for entry in entries(one, "z"))
        assert all(0 < entry <= 1 for entry in entries(one, "p"))
        assert sum(entries(one, "w")) == 1
        assert all(sum(row) == 1 for row in one.values["P"])
        assert all(entry > 0 for entry in entries(one, "w") + entries(one, "P"))
        assert sorted(entries(one, "y")) == [0] * (one.sizes["n"] - 1) + [1]
        assert entries(one, "y")[int(entries(one, "k")[0]) - 1] == 1
        assert all(sorted(row) == [0] * (one.sizes["m"] - 1) + [1] for row in one.values["Y"])
        assert entries(one, "s")[0] > 0
        assert entries(one, "t")[0] >= 3
        assert entries(one, "t")[0].q == 1
        assert entries(one, "b")[0] > 1


FRAMES = {
    "A": {"shape": ["d", "m"], "is": ["orthonormal_columns"]},
    "B": {"shape": ["d", "p"], "is": ["orthonormal_columns"]},
    "v": {"shape": ["d"], "in_span_of": "B"},
}


def matrix_product(left, right):
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]


def test_frames_are_orthonormal_exactly_and_not_only_axes():
    made = first(FRAMES, 40, ["A^T B = 0", "d > m + p"])
    slanted = 0
    for one in made:
        A, B = one.values["A"], one.values["B"]
        gram = matrix_product(list(zip(*A, strict=True)), A)
        assert gram == [[int(i == j) for j in range(len(gram))] for i in range(len(gram))]
        assert all(entry == 0 for row in matrix_product(list(zip(*A, strict=True)), B) for entry in row)
        assert matrix_product(B, matrix_product(list(zip(*B, strict=True)), one.values["v"])) == [
            list(row) for row in one.values["v"]
        ]
        assert one.sizes["d"] > one.sizes["m"] + one.sizes["p"]
        slanted += any(entry not in {-1, 0, 1} for entry in entries(one, "A"))
    assert slanted > 15


def test_a_square_frame_is_not_symmetric():
    made = first({"A": {"shape": ["d", "d"], "is": ["orthonormal_columns"]}}, 40)
    assert any(one.values["A"] != tuple(zip(*one.values["A"], strict=True)) for one in made)


def test_assignments_are_many_different_and_always_the_same():
    symbols = {"x": {"shape": ["n"]}, "s": {"is": ["positive"]}}
    made = first(symbols, 1000)
    assert len(made) == 1000
    assert made == first(symbols, 1000)
    assert len({str(one) for one in made}) == 1000
    assert made[0].sizes == {"n": 2}
    assert {one.sizes["n"] for one in made[:60]} >= {1, 2, 3, 4}


def test_different_sizes_and_different_entries_come_first():
    made = first({"A": {"shape": ["n", "m"]}, "x": {"shape": ["m"]}}, 6)
    for one in made:
        assert one.sizes["n"] != one.sizes["m"]
        assert len(set(map(str, entries(one, "A")))) > 1


def test_sizes_follow_each_other_where_they_are_given():
    made = first({"x": {"shape": ["D"]}, "y": {"shape": ["d"]}}, 20, ["D = 2 d"])
    assert made
    assert all(one.sizes["D"] == 2 * one.sizes["d"] for one in made)


def test_no_symbols_have_one_assignment():
    assert first({}, 10) == [Assignment({}, {})]


def test_what_is_given_and_impossible_has_no_assignment():
    assert first({"x": {"is": ["positive"]}}, 10, ["x < 0"]) == []
    found = judged("x", "2 x", {"x": {"is": ["positive"]}}, ["x < 0"])
    assert isinstance(found, Agreement)
    assert found.tried == 0
    assert found.why


# --- What counts as different ----------------------------------------------------------------------------------------


def test_differences_too_small_for_64_bits_are_found():
    found = judged("exp(x) + 10^(-40)", "exp(x)", {"x": {}})
    assert isinstance(found, Counterexample)
    assert found.yours != found.expected


def test_equal_numbers_in_different_clothes_are_not_refuted():
    assert isinstance(judged("sqrt(2) sqrt(3)", "sqrt(6)"), Agreement)
    assert isinstance(judged("log(8)/log(2)", "3"), Agreement)


def test_approximations_are_relative_to_what_is_expected():
    assert isinstance(judged("2.58", "log2(6)", relation="approx:0.01"), Agreement)
    assert isinstance(judged("2.62", "log2(6)", relation="approx:0.01"), Counterexample)
    assert isinstance(judged("2.58", "log2(6)"), Counterexample)
    assert isinstance(judged("-101", "-100", relation="approx:0.01"), Agreement)


def test_an_unknown_relation_is_refused():
    with pytest.raises(ValueError, match="'theta' is no relation of two values"):
        judged("1", "1", relation="theta")


LAYOUT = {"x": {"shape": ["n"]}, "r": {"shape": [1, "n"]}, "S": {"shape": ["n", "n"]}, "A": {"shape": ["n", "m"]}}


def test_layouts():
    assert judged("x^T", "x", LAYOUT).sentence == "yours is 1×n, expected n×1"
    assert isinstance(judged("x^T", "x", LAYOUT, relation="equal_up_to_transpose"), Agreement)
    assert isinstance(judged("S^T", "S", LAYOUT, relation="equal_up_to_transpose"), Agreement)
    assert isinstance(judged("2 S^T", "S", LAYOUT, relation="equal_up_to_transpose"), Counterexample)
    assert isinstance(judged("S^T", "S", LAYOUT), Counterexample)
    assert judged("A A", "A", LAYOUT, relation="equal_up_to_transpose").kind is Kind.SHAPE


def test_a_component_form_fits_both_layouts():
    assert isinstance(judged("x_i", "x", LAYOUT), Agreement)
    assert isinstance(judged("r_i", "r", LAYOUT), Agreement)
    assert isinstance(judged("2 r_i", "r", LAYOUT), Counterexample)
    assert isinstance(judged("A_{ij}", "A", LAYOUT), Agreement)
    assert isinstance(judged("x", "x_i", LAYOUT), Agreement)
    assert isinstance(judged("S_{ji}", "S", LAYOUT), Counterexample)


def test_zero_is_also_how_a_zero_vector_is_written():
    assert isinstance(judged("0", "x - x", LAYOUT), Agreement)
    assert judged("0", "x", LAYOUT).sentence == "n = 1, x = 1: yours 0, expected 1"
    assert judged("1", "x", LAYOUT).kind is Kind.SHAPE


def test_coinciding_sizes_do_not_hide_a_wrong_shape():
    symbols = {"A": {"shape": ["n", "m"]}, "x": {"shape": ["n"]}}
    found = judged("A x", "A^T x", symbols)
    assert found.sentence == "A is n×m, it cannot multiply x, which is n×1, from the left"
    assert found.kind is Kind.SHAPE


def test_an_index_keeps_within_the_vector_it_belongs_to():
    symbols = {"y": {"shape": ["n"], "is": ["one_hot"], "at": "k"}, "x": {"shape": ["n"]}, "k": {"is": ["index"]}}
    assert isinstance(judged("x^T y", "x_k", symbols), Agreement)
    assert judged("k + 1", "k", symbols).sentence == "n = 1, y = 1, k = 1: yours 2, expected 1"


# --- Formulas without a value ----------------------------------------------------------------------------------------


def test_an_answer_without_a_value_is_refuted_and_says_why():
    found = judged("x^2 / x", "x", {"x": {}})
    assert found.kind is Kind.UNDEFINED
    assert found.sentence == "x = 0: yours has no value there: division by zero; expected 0"


def test_a_difference_in_value_is_told_before_a_missing_one():
    found = judged("1/x", "x", {"x": {}})
    assert found.kind is Kind.VALUE


def test_where_the_expected_formula_has_no_value_nothing_is_compared():
    found = judged("1/x + 0", "1/x", {"x": {}})
    assert isinstance(found, Agreement)
    assert 40 <= found.tried < 60


def test_an_answer_too_large_to_compute_is_not_refuted():
    found = judged("2^(10^k) - 2^(10^k) + k", "k", {"k": {"is": ["integer", "positive"]}}, ["k >= 6"])
    assert found == Agreement(0, why="too large", unknown=found.unknown)
    assert found.unknown > 0


def test_a_tree_too_deep_for_us_is_not_refuted():
    answer: Node = Number(Fraction(1))
    for _ in range(5_000):
        answer = Negation(answer)
    assert refute(answer, Number(Fraction(2)), declared({})) == Agreement(0, why="too deeply nested")
    assert agrees_when(answer, Number(Fraction(2)), declared({})) is None


def test_many_long_evaluations_have_one_budget():
    sums = "sum_{i=1}^{50} sum_{j=1}^{50} sum_{l=1}^{8} x"
    found = judged(sums, "20000 x + 0 x", {"x": {}})
    assert isinstance(found, Agreement)
    assert 3 < found.tried < 40


def test_a_question_that_does_not_fit_together_is_our_fault():
    with pytest.raises(ShapeError):
        judged("x", "x x^T x^T", LAYOUT)


def test_random_symbols_are_compared_by_their_moments():
    case = BY_ID["gauss_var-03"]
    for expected, answer in [("Var(q^T k)", case["expected"]), ("E[q^T k]", "mu^T mu")]:
        assert isinstance(judged(answer, expected, case["symbols"]), Agreement)
        assert isinstance(judged(f"2 ({answer})", expected, case["symbols"]), Counterexample)
    found = judged("q^T k", "mu^T mu", case["symbols"])
    assert found.kind is Kind.UNDEFINED
    assert "is random: only E[...] and Var(...) of it have a value" in found.sentence


# --- Shrinking -------------------------------------------------------------------------------------------------------


def test_symbols_that_do_not_matter_are_not_shown():
    found = judged("2 x", "x", {"x": {}, "y": {}, "A": {"shape": ["n", "n"]}})
    assert found.sentence == "x = 1: yours 2, expected 1"


def test_large_symbols_shrink_to_what_matters():
    symbols = {"A": {"shape": ["n", "m"]}, "x": {"shape": ["m"]}}
    assert judged("A x + 1", "A x", symbols).sentence == "n = 1, m = 1, A = 0, x = 0: yours 1, expected 0"
    found = judged("sum_i sum_j A_{ij} x_j^3", "sum(A x)", symbols)
    assert found.sentence == "n = 1, m = 1, A = 1, x = 2: yours 8, expected 2"


def test_a_certificate_can_be_checked_again():
    symbols = declared(BY_ID["attention-07"]["symbols"])
    found = case_judged("attention-07")
    answer, expected = (read(BY_ID["attention-07"][side], symbols) for side in ("answer", "expected"))
    yours = evaluate(answer, symbols, found.assignment)
    wanted = evaluate(expected, symbols, found.assignment)
    pairs = zip(yours.flat(), wanted.flat(), strict=True)
    assert any(not (a - b).contains(0) for a, b in pairs if not isinstance(a - b, fmpq))
    assert all(isinstance(entry, fmpq) for rows in found.assignment.values.values() for row in rows for entry in row)
