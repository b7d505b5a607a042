"""Wrong answers are made right by one edit, and the edit is said in words that point at the mistake."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from formulas import repair as module
from formulas.decide import decide_trees
from formulas.reader import read
from formulas.repair import EDITS, MOST_EDITS, MOST_JUDGED, Repair, repair
from formulas.symbols import declared

CASES = {
    case["id"]: case
    for line in (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    for case in [json.loads(line)]
    if not case["verdict"]
}


def trees(case):
    symbols = declared(case["symbols"], tuple(case["given"]))
    return read(case["answer"], symbols), read(case["expected"], symbols), symbols


def repaired(answer: str, expected: str, symbols=None, given=(), relation: str = "equal") -> Repair | None:
    """Repair an answer, and see that the repair is right."""
    known = declared(symbols or {}, tuple(given))
    wanted = read(expected, known)
    found = repair(read(answer, known), wanted, known, relation)
    assert found is None or decide_trees(found.edited, wanted, known, relation).right
    return found


def said(answer: str, expected: str, symbols=None, given=(), relation: str = "equal") -> str | None:
    found = repaired(answer, expected, symbols, given, relation)
    return None if found is None else found.sentence


@pytest.fixture(scope="module")
def repairs():
    return {name: repair(*trees(case), case["relation"]) for name, case in CASES.items()}


# --- The judged formulas ---------------------------------------------------------------------------------------------

SENTENCES = {
    "attention-06": "the transpose belongs on K, not on Q",
    "attention-07": "the factor 1/√d is missing in the argument of softmax",
    "attn_weight_gamma-05": "the sign of the exponent is wrong",
    "backprop_dW2-06": "h should be transposed",
    "backprop_dh-05": "the factors are in the wrong order: W2ᵀ belongs on the right",
    "backprop_dx-13": "the whole should be transposed: it is Dx×1, 1×Dx is expected",
    "backprop_dx-14": "the factor h∘(1 − h) is missing",
    "backprop_dx-16": "1 − h² should be h∘(1 − h)",
    "backprop_dx-19": "W1 should be transposed",
    "backprop_dx-20": "the factors are in the wrong order: W1ᵀ belongs on the right",
    "bigo_cross-03": "this is an upper bound, but not tight: the terms M k² and N k² grow faster than the true cost",
    "bigo_cross-07": "there is an extra factor M",
    "bigo_dec-06": "the term N² k is missing",
    "bigo_enc-07": "the factor k is missing",
    "bigo_sparse-04": "there is an extra factor √n",
    "bigo_total-05": "this is an upper bound, but not tight: the term M² grows faster than the true cost",
    "entropy_die-07": "there is an extra factor 1/6",
    "gauss_mean-06": "the transpose belongs on the first μ, not on the second",
    "gauss_mean-08": "the square of ‖μ‖ is missing",
    "gauss_var-12": "the first term has an extra factor d",
    "gauss_var-14": "the factor d is missing in the second term",
    "gauss_var-17": "the square of σ is missing in the first term",
    "gauss_var-18": "the sign of the second term is wrong",
    "gauss_var-22": "the upper bound of the sum should be d, not d − 1",
    "gru_update-03": "z and 1 − z are swapped",
    "lstm_dh_dC-06": "only tanh(C)∘(1 − tanh(C)) is wrong, the rest is right",
    "mha_blocks-04": "the factors of each term are in the wrong order",
    "param_count-08": "the term 1 is missing next to 2 (T − 1)",
    "param_count-11": "only T² is wrong, the rest is right",
    "param_count-12": "brackets are missing around 2 T − 1",
    "perplexity-11": "the logarithm is to base 2 under a power of e: the bases must be the same",
    "perplexity-14": "the factor 1/M is missing in the exponent",
    "perplexity-15": "the exponential of the whole is missing",
    "pos_add_dot-04": "the terms x1·p2 and p1·x2 are missing",
    "projection-09": "B should be A throughout",
    "projection-12": "one sum is enough: k should be j",
    "projection_apply-07": "the term v_b should not be there",
    "receptive_field-06": "the term 1 is missing next to k",
    "receptive_field-10": "the exponent of k + 1 should be n, not n + 1",
    "residual_grad-03": "the term G is missing",
    "residual_grad-04": "the second term should be G, not 1",
    "sigmoid_deriv-08": "the sign of the whole is wrong",
    "sigmoid_deriv-10": "the square of the denominator is missing",
    "sigmoid_sym-08": "σ(x) and 1 are swapped",
    "sigmoid_sym-09": "the term 1 is missing",
    "softmax_ce_grad-13": "y and yhat are swapped",
    "softmax_jacobian-08": "yhat_j and δ_ij are swapped",
    "softmax_jacobian-09": "the transpose in the second term belongs on the second yhat, not on the first",
}
NOT_ONE_EDIT = {"attn_weight_two_keys-04", "receptive_field-12", "softmax_ce_grad-17"}


@pytest.mark.parametrize(("name", "sentence"), SENTENCES.items())
def test_sentences_point_at_the_mistake(name, sentence, repairs):
    assert repairs[name] is not None, CASES[name]["why"]
    assert repairs[name].sentence == sentence, CASES[name]["why"]


def test_all_but_three_of_the_wrong_answers_are_repaired(repairs):
    assert len(repairs) == 57
    assert {name for name, found in repairs.items() if found is None} == NOT_ONE_EDIT


@pytest.mark.parametrize("name", [name for name in CASES if name not in NOT_ONE_EDIT])
def test_what_is_repaired_is_right(name, repairs):
    answer, expected, symbols = trees(CASES[name])
    found = repairs[name]
    assert found.edited != answer
    assert decide_trees(found.edited, expected, symbols, CASES[name]["relation"]).right
    assert 1 <= found.likelihood <= len(EDITS)


@pytest.mark.parametrize("name", [name for name in CASES if name not in NOT_ONE_EDIT])
def test_a_sentence_is_one_line_and_does_not_tell_the_answer(name, repairs):
    answer, expected, symbols = trees(CASES[name])
    words = module._Words(symbols, lambda node: True)
    sentence = repairs[name].sentence
    assert "\n" not in sentence
    assert len(sentence) < 140
    assert not sentence.endswith(".")
    assert not re.match(r"[A-Z][a-z]", sentence)
    assert words.of(expected) not in sentence or words.of(expected) in words.of(answer)


@pytest.mark.parametrize("name", ["attention-07", "backprop_dx-16", "bigo_dec-07", "projection-12", "perplexity-15"])
def test_the_same_answer_gets_the_same_repair(name, repairs):
    assert repair(*trees(CASES[name]), CASES[name]["relation"]) == repairs[name]


# --- Other mistakes --------------------------------------------------------------------------------------------------

NUMBERS = {name: {"is": ["real"]} for name in "abcxy"}
POSITIVE = {name: {"is": ["positive"]} for name in "abcxy"}
VECTORS = {"u": {"shape": ["n"]}, "v": {"shape": ["n"]}, "w": {"shape": ["n"]}, "c": {"is": ["real"]}}
MATRICES = {"A": {"shape": ["n", "n"]}, "B": {"shape": ["n", "n"]}, "v": {"shape": ["n"]}, "c": {"is": ["real"]}}
HEADS = {name: {"shape": ["n", "d"]} for name in "QKV"}

OTHERS = [
    # signs
    ("a + b x", "a - b x", NUMBERS, "the sign of the second term is wrong"),
    ("a (x - y) + b", "a (x + y) + b", NUMBERS, "the sign of the second term of x − y is wrong"),
    ("exp(x - y)", "exp(y - x)", NUMBERS, "the sign of the argument of exp is wrong"),
    ("-a x", "a x", NUMBERS, "the sign of the whole is wrong"),
    # transposes and order
    ("A^T B v", "A B v", MATRICES, "A should not be transposed"),
    ("A B v", "B A v", MATRICES, "the factors are in the wrong order: A belongs to the right of B"),
    ("v^T A", "A^T v", MATRICES, "the whole should be transposed: it is 1×n, n×1 is expected"),
    ("A A v", "A A^T v", MATRICES, "the second A should be transposed"),
    ("A ∘ B", "A @ B", MATRICES, "the product of A and B should be a matrix product"),
    ("softmax_rows(K Q^T / sqrt(d)) V", "softmax_rows(Q K^T / sqrt(d)) V", HEADS, "K and Q are swapped"),
    # factors
    ("a x + b", "2 a x + b", NUMBERS, "the factor 2 is missing in the first term"),
    ("a x/2 + b", "a x + b", NUMBERS, "the first term has an extra factor 1/2"),
    ("x a + b/a", "x a + b a", POSITIVE, "a belongs in the numerator in the second term"),
    ("a/(b + c)", "(b + c)/a", POSITIVE, "the fraction a/(b + c) is upside down"),
    ("softmax_rows(Q K^T) V / sqrt(d)", "softmax_rows(Q K^T / sqrt(d)) V", HEADS, "the factor 1/√d belongs inside softmax_rows"),
    ("u + v", "u ∘ w + v", VECTORS, "the factor w is missing in the first term"),
    # terms and brackets
    ("a x + b", "a x + b - c", NUMBERS, "the term −c is missing"),
    ("a x + b + c y", "a x + b", NUMBERS, "the term c y should not be there"),
    ("x - a/b c + y", "(x - a)/b c + y", POSITIVE, "brackets are missing around x − a"),
    ("a x + y", "a (x + y)", NUMBERS, "brackets are missing around x + y"),
    ("a (x + y)", "a x + y", NUMBERS, "the brackets around x + y should not be there"),
    ("sum_i u_i v_i + w_i", "sum_i (u_i v_i + w_i)", VECTORS, "brackets are missing: w_i belongs under the sum"),
    # exponents
    ("a x^3 + b x", "a x^2 + b x", NUMBERS, "the exponent of x in the first term should be 2, not 3"),
    ("a x^2", "a x", NUMBERS, "x should not be squared"),
    ("a/b", "a/sqrt(b)", POSITIVE, "the square root of the denominator is missing"),
    ("a^2", "2^a", POSITIVE, "base and exponent of a² are swapped"),
    # ranges, logarithms, indices
    ("sum_{i=2}^{n} u_i v_i", "u^T v", VECTORS, "the lower bound of the sum should be 1, not 2"),
    ("sum_i u_i", "prod_i u_i", VECTORS, "the sum should be a product"),
    ("sum_{j \\ne k} u_j v_j", "u^T v", {**VECTORS, "k": {"is": ["index"]}, "y": {"shape": ["n"], "is": ["one_hot"], "at": "k"}}, "the sum should not leave out j = k"),
    ("a log2(x)", "a log(x)", POSITIVE, "the logarithm should be to base e, not 2"),
    ("sum_j A_{ji} v_j", "A v", MATRICES, "the indices are in the wrong order: A_ji should be A_ij"),
    # names, numbers, functions
    ("a x + b", "a y + b", NUMBERS, "x should be y in the first term"),
    ("a y + x b", "a x + y b", NUMBERS, "a and b are swapped"),
    ("3 a x + 5 b", "3 a x + 7 b", NUMBERS, "5 should be 7 in the second term"),
    ("a tanh(x) + b", "a exp(x) + b", NUMBERS, "tanh should be exp in the first term"),
    ("x (1 - x)", "tanh(x) (1 - tanh(x))", NUMBERS, "x should be tanh(x) throughout"),
    ("a + x", "a + exp(x)", NUMBERS, "the exponential of x is missing"),
    ("1 - a x", "1 - (1 - a) x", NUMBERS, "a should be 1 − a"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "expected", "symbols", "sentence"), OTHERS)
def test_other_mistakes(answer, expected, symbols, sentence):
    assert said(answer, expected, symbols) == sentence


def test_equal_in_value_is_the_same_factor():
    """The answer writes the sigmoid out: only the factor that it lacks is missing."""
    symbols = {"x": {"is": ["real"]}, "a": {"is": ["real"]}, "sigma": {"is": ["function"], "def": "sigmoid"}}
    assert said("1/(1 + exp(-x))", "a sigma(x)", symbols) == "the factor a is missing"


def test_what_would_tell_most_of_the_formula_is_only_located():
    wanted = "a (1 - tanh(x)^2)/(1 + exp(-y)) + b"
    assert said("a x^5 + b", wanted, NUMBERS) == "only x⁵ is wrong, the rest is right"
    assert said("c x^5 + b", wanted, NUMBERS) == "only the first term is wrong, the rest is right"


def test_up_to_transpose_neither_layout_is_a_mistake():
    assert said("2 v^T A", "A^T v", MATRICES, relation="equal_up_to_transpose") == "there is an extra factor 2"


def test_a_number_within_its_tolerance():
    assert said("2 * 3.1416", "pi", relation="approx:0.01") == "there is an extra factor 2"


# --- Growth ----------------------------------------------------------------------------------------------------------

GROWING = {name: {"is": ["grows"]} for name in "MNkn"}


@pytest.mark.parametrize(
    ("answer", "expected", "sentence"),
    [
        ("O(n log n)", "O(n^2)", "the factor log n should be n"),
        ("O(n)", "O(n log n)", "the factor log n is missing"),
        ("O(N^2 k^2 + M^3)", "O(N^2 k + M^3)", "the term N² k² has an extra factor k"),
        ("O(M N + N)", "O(M N k + N)", "the factor k is missing"),
        ("O(M^2 k)", "O(M N k)", "the factor M should be N"),
        ("O(M + N)", "O(M k + N k)", "the true cost also grows with k"),
        ("O(M^2)", "O(M k + M)", "the factor M should be k"),
        ("O(M^2 k^2)", "O(M^2 k + M k^2)", "this is an upper bound, but not tight"),
        ("O(M N k^2)", "O(M + N)", "this is an upper bound, but not tight: the true cost does not grow with k"),
        ("O(M + N)", "O(M N + N^2)", "the true cost grows faster than this"),
        ("O(N)", "O(N + M + k)", "the terms M and k are missing"),
    ],
)
def test_growth(answer, expected, sentence):
    assert said(answer, expected, GROWING, relation="theta") == sentence


def test_growth_under_what_is_given():
    assert said("O(N^2 k^2)", "O(N^2 k + N k^2)", GROWING, ["k <= N"], "theta") == "there is an extra factor k"


def test_what_has_no_growth_is_not_repaired():
    assert said("O(tanh(n))", "O(n)", GROWING, relation="theta") is None


# --- Limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected", "symbols"),
    [
        ("a x", "1/0 + a", NUMBERS),  # the expected formula has no value
        ("1/0", "a x^3 + y", NUMBERS),  # the answer has none
        ("u v^T", "A", {**VECTORS, **MATRICES}),
        ("u + A", "c", {**VECTORS, **MATRICES}),  # does not fit together
        ("0", "a x + b", NUMBERS),
        ("a", "b", NUMBERS),  # the only edit would be the answer
        ("7", "12", NUMBERS),
        ("x^(x^(x^x))", "a", NUMBERS),
        ("q", "x^2", {**NUMBERS, "q": {"is": ["normal"], "mean": "x"}}),
        ("+".join(["a x^2 y"] * 100), "b", NUMBERS),  # too long
        ("(" * 40 + "x" + ")^2" * 40, "y + a", NUMBERS),
    ],
)
def test_nothing_fits(answer, expected, symbols):
    assert repaired(answer, expected, symbols) is None


def test_an_answer_that_is_right_is_left_alone():
    assert repaired("2 x + a", "a + x + x", NUMBERS) is None


def test_few_edits_are_tried_and_fewer_judged(monkeypatch):
    tried, judged = [], []
    agree = module._Points.agree

    def agreeing(points, tree):
        tried.append(tree)
        return agree(points, tree)

    def refusing(*arguments):
        judged.append(arguments)
        return decide_trees(read("1", known), read("2", known), known)

    monkeypatch.setattr(module._Points, "agree", agreeing)
    monkeypatch.setattr(module, "decide_trees", refusing)
    known = declared(NUMBERS)
    long = " + ".join(f"{i} a^{i} x exp(-y/{i + 1}) tanh(b c)" for i in range(2, 9))
    assert repair(read(long, known), read(f"{long} + a b + x y - c^2 + 5/(1 + x^2)", known), known) is None
    assert 50 < len(tried) <= MOST_EDITS + 1
    tried.clear()
    for kind in ("x + a", "x - a", "2 x"):
        judged.clear()
        assert repair(read(kind, known), read("x + a + 2 x - b", known), known) is None
        assert len(judged) <= MOST_JUDGED


def test_steps_are_counted():
    symbols = declared(MATRICES)
    deep = "sum_{i=1}^{n} sum_{j=1}^{n} sum_{k=1}^{n} sum_{l=1}^{n} A_{ij} B_{jk} A_{kl} v_i v_l"
    answer, expected = read(deep, symbols), read(f"{deep} + c^3 - c/7", symbols)
    points = module._points(expected, symbols, "equal")
    module._searched(module._Work(answer, expected, symbols, points), "equal")
    assert points.steps < 2 * module.MOST_STEPS


# --- Words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("-a + b", "−a + b"),
        ("a - (b - c)", "a − (b − c)"),
        ("2 a x", "2 a x"),
        ("2 * 3", "2·3"),
        ("a/(b c)", "a/(b c)"),
        ("(a + b)^2 x^{a+1}", "(a + b)² x^(a + 1)"),
        ("x^-1", "x⁻¹"),
        ("sqrt(a) + sqrt(a + b)", "√a + √(a + b)"),
        ("u_i v_j", "u_i v_j"),
        ("sum_{i=1}^{n} u_i", "Σ_{i=1..n} u_i"),
        ("u * v", "u∘v"),
        ("norm(u)^2 - |a|", "‖u‖² − |a|"),
        ("log2(a) + log(b)", "log₂(a) + log(b)"),
        ("delta_ij", "δ_ij"),
        ("0.50 a", "0.50 a"),
        ("A^T A", "Aᵀ A"),
    ],
)
def test_formulas_in_words(formula, text):
    known = declared({**NUMBERS, **{name: VECTORS[name] for name in "uv"}, "A": {"shape": ["n", "n"]}})
    words = module._Words(known, lambda node: node in {read("u", known), read("v", known)})
    assert words.of(read(formula, known)) == text


def test_a_function_is_called_as_the_question_calls_it():
    known = declared({"x": {}, "sigma": {"is": ["function"], "def": "sigmoid"}})
    assert module._Words(known, lambda node: False).of(read("sigma(x)", known)) == "σ(x)"
