"""Written answers: right ones are accepted in many spellings, wrong ones named, bad input costs only itself."""

from __future__ import annotations

import pytest

from checks.question import questions
from engine.answers import judge_answers
from engine.records import Outcome
from engine.sheet import CHECKS, Marked, checks_of, read_sheet, unanswered


def marked(text: str, name: str) -> Marked:
    return judge_answers([questions()[name]], read_sheet(text))[name]


def outcomes(text: str, name: str) -> dict[str, Outcome]:
    return {verdict.check.rsplit(".", 1)[1]: verdict.outcome for verdict in marked(text, name).verdicts}


def message(text: str, name: str, check: str) -> str:
    return next(v.message for v in marked(text, name).verdicts if v.check == f"{name}.{check}")


HELD, BROKEN, MISSING, MANUAL, BLOCKED = Outcome.HELD, Outcome.BROKEN, Outcome.MISSING, Outcome.MANUAL, Outcome.BLOCKED

RIGHT = {
    "dot_product_mean": ["expression", '''"mu'mu"''', "'$\\mu^\\top \\mu$'", '"np.dot(mu, mu)"', '"‖μ‖²"', '"sum_i mu_i^2"'],
    "softmax_jacobian": ["expression", '"diag(yhat) - yhat yhat^T"', "'\\hat{y}_i (\\delta_{ij} - \\hat{y}_j)'"],
    "gru_update": ["expression", '"(1-z)*h_prev + z*h_cand"', "'(1 - z_t) \\circ h_{t-1} + z_t \\circ \\tilde{h}_t'"],
    "lstm_cell_derivative": ["expression", "'o_t (1 - \\tanh^2(C_t))'", '"o/cosh(C)^2"', '"o∘(1 - tanh(C)²)"'],
    "added_score": ["expression", "'x_1 \\cdot x_2 + x_1 \\cdot p_2 + p_1 \\cdot x_2 + p_1 \\cdot p_2'", '"(x1 + p1).(x2 + p2)"'],
    "relative_parameter_count": ["expression", '"(2T-1)m"', '"(2*(T-1)+1)*m"'],
    "receptive_field": ["expression", '["2^n", "3^n", "(k+1)^n"]', "['2^{n}', '3^{n}', '(1+k)^{n}']"],
    "encoder_self_attention": ["complexity", '"O(M^2 k + M k^2)"', "'\\mathcal{O}(M^2k)'", '"O(M k (M + k))"'],
    "sparse_attention": ["complexity", '"O(n sqrt n)"', '"O(n^(3/2))"', '"O(n^1.5)"'],
    "die_entropy": ["number", "2.585", "2.58", '"log2(6)"', '"log(6)/log(2)"'],
    "die_perplexity": ["number", "6", "6.0", '"2^(log2(6))"'],
    "lstm_memory_path": ["choice"],
    "encoder_or_seq2seq": ["choice", '{ summarise = "seq2seq", sentiment = "Encoder", retrieval = "encoder", translate = "Seq2Seq" }'],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "answer"), [(name, answer) for name, (_, *answers) in RIGHT.items() for answer in answers]
)
def test_a_right_answer_is_accepted_in_any_spelling(name, answer):
    found = outcomes(f"[{RIGHT[name][0]}]\n{name} = {answer}", name)
    assert set(found.values()) == {HELD}


@pytest.mark.parametrize("name", [n for n, q in questions().items() if q.kind in ("expression", "complexity")])
def test_the_truth_of_every_formula_is_accepted(name):
    question = questions()[name]
    texts = ", ".join(f"'''{part.expected}'''" for part in question.parts)
    answer = f"[{texts}]" if len(question.parts) > 1 else texts
    assert set(outcomes(f"[{question.kind}]\n{name} = {answer}", name).values()) == {HELD}


@pytest.mark.parametrize("name", [n for n, q in questions().items() if q.kind == "derivation"])
def test_from_the_question_to_the_truth_is_a_derivation(name):
    question = questions()[name]
    text = f"[derivation]\n{name} = ['''{question.asked}''', '''{question.parts[0].expected}''']"
    assert set(outcomes(text, name).values()) == {HELD}


@pytest.mark.parametrize("name", [n for n, q in questions().items() if q.kind == "derivation"])
def test_a_truth_that_is_only_stated_is_no_derivation(name):
    question = questions()[name]
    found = outcomes(f"[derivation]\n{name} = ['''{question.parts[0].expected}''']", name)
    assert found["follows"] is BROKEN


@pytest.mark.parametrize(("name", "number"), [(n, k) for n, q in questions().items() if q.kind in ("expression", "complexity") and len(q.parts) == 1 for k in range(len(q.parts[0].wrong))])  # fmt: skip
def test_a_named_mistake_is_named(name, number):
    question = questions()[name]
    wrong = question.parts[0].wrong[number]
    found = marked(f"[{question.kind}]\n{name} = '''{wrong.form}'''", name)
    assert {v.outcome for v in found.verdicts} & {BROKEN}
    assert found.diagnosis is not None
    assert found.diagnosis.name == wrong.name


VARIANCE = """[derivation]
dot_product_variance = [
  "E[(q'k)^2] - E[q'k]^2",
  "(mu'mu)^2 + 2 sigma^2 mu'mu + d sigma^4 - (mu'mu)^2",
  "{last}",
]"""


def test_a_derivation_names_its_first_broken_line_and_says_apart_that_the_last_is_wrong():
    text = VARIANCE.format(last="2*d*sigma^2*mu'mu + d*sigma^4")
    assert outcomes(text, "dot_product_variance") == {"reads": HELD, "starts": HELD, "follows": BROKEN, "ends": BROKEN}
    assert message(text, "dot_product_variance", "follows").startswith("Line 3 does not equal line 2.")
    found = marked(text, "dot_product_variance")
    assert found.diagnosis.name == "one d too many"
    example = next(v.counterexample for v in found.verdicts if v.check.endswith("ends"))
    assert (example.call, example.gave, example.expected) == ("d = 2, μ = (1, 0), σ = 1", "6", "4")
    assert "they agree when d = 1" in message(text, "dot_product_variance", "ends")


def test_a_line_that_finds_its_way_back_is_not_to_blame():
    text = """[derivation]
softmax_ce_gradient = [
  '\\frac{\\partial CE}{\\partial \\theta_i} = \\frac{\\partial CE}{\\partial \\hat{y}_i} \\frac{\\partial \\hat{y}_i}{\\partial \\theta_i}',
  '= \\sum_j \\frac{\\partial CE}{\\partial \\hat{y}_j} \\frac{\\partial \\hat{y}_j}{\\partial \\theta_i}',
  '= -\\sum_j y_j (\\delta_{ij} - \\hat{y}_i)',
  '= \\hat{y}_i - y_i',
]"""
    assert outcomes(text, "softmax_ce_gradient") == {"reads": HELD, "starts": HELD, "follows": BROKEN, "ends": HELD}
    assert message(text, "softmax_ce_gradient", "follows") == "The right side of line 1 does not equal its left side."


def test_the_question_repeated_is_no_answer():
    text = '[derivation]\nsigmoid_symmetry = ["sigma(-x)", "1/(1 + exp(x))", "sigma(-x)"]'
    assert outcomes(text, "sigmoid_symmetry")["ends"] is BROKEN


CLAIMS = {
    "answer = false": (HELD, ""),
    "answer = true": (BROKEN, "A witness:"),
    "answer = false\nwitness = { h = [0.5], c = [1.0], W_i = [[1.0]] }": (HELD, "it is a witness"),
    "answer = false\nwitness = { h = [0.0], c = [0.0] }": (BROKEN, "False is right, but the witness is not one."),
    "answer = 1": (BROKEN, "takes answer = true or answer = false"),
    'answer = "false"': (BROKEN, "takes answer = true or answer = false"),
    "answer = false\nwitness = 3": (BROKEN, "A witness is a table"),
    "answer = false\nwitness = { hh = [0.5] }": (BROKEN, "hh"),
    "answer = false\nwitness = { h = [nan] }": (BROKEN, ""),
    "answer = false\nbecause = 3": (BROKEN, "no 'because'"),
}


@pytest.mark.parametrize("rows", CLAIMS)
def test_a_claim_and_its_witness(rows):
    outcome, said = CLAIMS[rows]
    text = f"[claim.lstm_zero_input]\n{rows}"
    assert outcomes(text, "lstm_zero_input") == {"right": outcome}
    assert said in message(text, "lstm_zero_input", "right")


BAD = {
    "[expression]\ndot_product_mean = 3": "A formula is a text in quotes, not 3.",
    '[expression]\ndot_product_mean = ["a", "b"]': "This takes one formula, not 2.",
    '[expression]\ndot_product_mean = "mu\' * (mu"': "^",
    '[expression]\ndot_product_mean = "__import__(\'os\')"': "^",
    '[expression]\ndot_product_mean = "mu\' mu\'"': "should not be transposed",
    '[derivation]\ndot_product_mean = "mu\'mu"': "it belongs under [expression]",
    '[expression]\ndot_product_mean = "nan"': "^",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_an_answer_that_cannot_be_used_says_why(text):
    found = marked(text, "dot_product_mean")
    assert BROKEN in {v.outcome for v in found.verdicts}
    assert BAD[text] in " ".join(v.message for v in found.verdicts)


NUMBERS = {
    "nan": "nan is not a number", "inf": "is not a number", "true": "A number is written", '"1/0"': "", "[2.585, 1.0]": "one number, not 2",
    "1e99999999999999999999": "beyond all numbers", "1e999999999": "at most 300 zeros", f"0x{9 ** 5000:x}": "at most 300 zeros",
    "2.9": "", '""': "", "3": "",
}  # fmt: skip


@pytest.mark.parametrize("value", NUMBERS)
def test_a_number_that_is_none_or_wrong(value):
    found = marked(f"[number]\ndie_entropy = {value}", "die_entropy")
    assert found.verdicts[0].outcome in (BROKEN, MISSING, MANUAL)
    if NUMBERS[value]:
        assert NUMBERS[value].casefold() in found.verdicts[0].message.casefold()


def test_printed_digits_are_held_to():
    text = "[number]\nwavelengths = [6.28, 198.70]"
    assert outcomes(text, "wavelengths") == {"right": HELD, "digits": BROKEN}
    assert "198.69" in message(text, "wavelengths", "digits")
    assert outcomes("[number]\nwavelengths = [6.28, 198.7]", "wavelengths") == {"right": HELD, "digits": HELD}


def test_empty_and_absent_answers_are_missing():
    assert outcomes("", "dot_product_mean") == {"reads": MISSING, "right": MISSING}
    assert outcomes('[expression]\ndot_product_mean = " "', "dot_product_mean") == {"reads": MISSING, "right": MISSING}
    assert outcomes('[derivation]\nheads_add = ["", ""]', "heads_add")["ends"] is MISSING
    assert unanswered(questions()["heads_add"], None).verdicts[0].outcome is MISSING


def test_free_text_waits_for_a_person_with_what_to_look_for():
    found = marked('[text]\nwhy_positions = "Because."', "why_positions")
    assert found.verdicts[0].outcome is MANUAL
    assert "Because." in found.verdicts[0].message
    assert "0.4:" in found.verdicts[0].message


def test_one_broken_line_of_toml_costs_only_itself():
    sheet = read_sheet(
        '[expression]\ndot_product_mean = "mu\'mu\ngru_update = "(1-z)*h_prev + z*h_cand"\n[number]\ndie_entropy = 2.585\n'
    )
    assert "line 2, column" in sheet.problems[0]
    found = judge_answers([questions()[n] for n in ("dot_product_mean", "gru_update", "die_entropy")], sheet)
    assert found["dot_product_mean"].verdicts[0].outcome is BROKEN
    assert found["gru_update"].verdicts[1].outcome is HELD
    assert found["die_entropy"].verdicts[0].outcome is HELD


def test_unknown_names_are_said_with_the_near_ones():
    sheet = read_sheet('[expression]\ndot_product_maen = "1"\n[expresion]\nx = "1"\n')
    tables, names = sheet.problems
    assert "no table [expresion]" in tables
    assert "did you mean dot_product_mean" in names


def test_a_partly_right_choice_earns_its_part():
    found = marked(
        '[choice]\nencoder_or_seq2seq = { summarise = "seq2seq", sentiment = "seq2seq" }', "encoder_or_seq2seq"
    )
    assert float(found.verdicts[0].share) == 0.25
    assert "sentiment, retrieval, translate" in found.verdicts[0].message


def test_every_kind_has_checks():
    for question in questions().values():
        assert [check.id.rsplit(".", 1)[1] for check in checks_of(question)] == list(CHECKS[question.kind])
