r"""The questions are those of the syllabus, their formulas can be read, what is true is true and what is wrong is wrong."""

import json
import re
import tomllib
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest

from checks.question import FOLDER, IDS, SHEETS, Kind, QuestionError, published, questions, read_questions
from engine.handout import answers_template
from formulas.decide import decide
from formulas.growth import assumptions_of, compare, growth_of_tree
from formulas.reader import read, read_comparison
from formulas.refute import Agreement, Counterexample, refute
from formulas.symbols import Symbols, declared
from formulas.values import ShapeError

ROOT = Path(__file__).resolve().parents[2]
CASES = [json.loads(line) for line in (ROOT / "tests" / "formulas" / "cases.jsonl").read_text().splitlines()]

# The second table of the syllabus.
SYLLABUS = {
    "expression": """softmax_jacobian output_weight_gradient hidden_gradient sigmoid_derivative dot_product_mean
        dot_product_scale averaging_query averaging_weight projection_applied single_head_weight head_queries added_score
        relative_bias relative_parameter_count receptive_field self_attention_matrix_form feed_forward_form
        transformer_layer_form layer_norm_form gru_update lstm_cell_derivative entropy_of_sequence entropy_rate
        cross_entropy_rate""",
    "derivation": """softmax_ce_gradient input_gradient sigmoid_symmetry dot_product_variance projection_matrix
        added_vs_concatenated residual_gradient heads_add lstm_weight_gradient perplexity_form
        perplexity_base_invariance""",
    "claim": """unscaled_attention attention_weights_categorical copy_condition gru_update_gate_zero
        gru_update_one_reset_zero lstm_zero_input lstm_forget_zero lstm_gates_non_negative lstm_gates_distribution
        encoder_depends_on_decoder masked_autoencoder_position""",
    "complexity": """attention_cost encoder_self_attention cross_attention decoder_self_attention translation_extra
        sparse_attention""",
    "number": "die_entropy die_perplexity wavelengths",
    "choice": """lstm_memory_path pretraining_labels encoder_or_seq2seq register_buffer encoder_class_is_decoder_only
        causal_mask_form checkpoint""",
    "text": "why_positions why_heads why_gradients_vanish perplexity_gap dan_errors character_or_word",
}
TRUE_CLAIMS = {
    "unscaled_attention", "attention_weights_categorical", "copy_condition", "gru_update_gate_zero", "lstm_gates_non_negative"
}  # fmt: skip
SEVERAL = {"averaging_query": 2, "head_queries": 2, "receptive_field": 3, "wavelengths": 2}
DERIVATIONS = """
    sigmoid_symmetry sigmoid_derivative softmax_jacobian softmax_cross_entropy_gradient network_input_gradient
    network_weight_gradients dot_product_mean dot_product_variance dot_product_scale softmax_saturation residual_gradient
    heads_add projection_matrix averaging_weight single_head_weight head_variance added_against_concatenated relative_bias
    relative_parameter_count receptive_field positional_rotation perplexity_forms gibbs_inequality uniform_entropy
    layer_norm_invariance gru_limits lstm_memory_path lstm_weight_gradient rnn_gradient_product attention_costs
    attention_form transformer_forms copy_condition
"""

FORMULAS = [
    pytest.param(question, part, id=f"{question.id}{f'-{part.label}' if part.label else ''}")
    for question in questions().values()
    for part in question.parts
]
EVERY = [pytest.param(question, id=question.id) for question in questions().values()]
formulas = pytest.mark.parametrize(("question", "part"), FORMULAS)
every = pytest.mark.parametrize("question", EVERY)


# ── the syllabus ────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_question_of_the_syllabus_is_there_with_its_kind_and_no_other():
    wanted = {name: kind for kind, names in SYLLABUS.items() for name in names.split()}
    assert {name: str(question.kind) for name, question in read_questions(FOLDER).items() if name in IDS} == wanted
    assert len(wanted) == 68


def test_questions_come_in_the_order_of_the_syllabus():
    assert tuple(questions())[: len(IDS)] == IDS  # a course's own come after them
    assert IDS[:3] == ("softmax_ce_gradient", "softmax_jacobian", "input_gradient")
    assert IDS[-1] == "character_or_word"


def test_claims_have_the_truths_of_the_syllabus():
    claims = {name: question.truth for name, question in questions().items() if question.kind is Kind.CLAIM}
    assert {name for name, truth in claims.items() if truth} == TRUE_CLAIMS
    assert all(isinstance(truth, bool) for truth in claims.values())


def test_several_parts_are_where_the_template_has_arrays():
    assert {name: len(q.parts) for name, q in questions().items() if len(q.parts) > 1} == SEVERAL
    template = answers_template(list(questions().values()))
    for name, question in questions().items():
        arrays = re.search(rf"^# {name} = \[(.*)\]", template, re.MULTILINE)
        if question.kind in {Kind.EXPRESSION, Kind.NUMBER}:
            assert (arrays[1].count(",") + 1 if arrays else 1) == len(question.parts), name
        assert re.search(rf"^# (\[claim\.)?{name}\b", template, re.MULTILINE), name


def test_sub_questions_of_a_choice_are_those_of_the_contract():
    question = questions()["encoder_or_seq2seq"]
    assert dict(question.answers) == {
        "summarise": "seq2seq", "sentiment": "encoder", "retrieval": "encoder", "translate": "seq2seq"
    }  # fmt: skip
    assert set(question.options.values()) == {("encoder", "seq2seq")}


def test_numbers_are_those_of_the_syllabus():
    wanted = {"die_entropy": ["2.585"], "die_perplexity": ["6"], "wavelengths": ["6.28", "198.69"]}
    for name, numbers in wanted.items():
        question = questions()[name]
        assert question.tolerance == Fraction(1, 100)
        for part, number in zip(question.parts, numbers, strict=True):
            assert part.relation == "approx:0.01"
            assert decide(number, part.expected, part.symbols, part.relation).right, (name, number)
    assert questions()["die_entropy"].unit == "bits"


# ── what people read ────────────────────────────────────────────────────────────────────────────────────────────


@every
def test_texts_are_whole_sentences_in_plain_words(question):
    sentences = [question.ask, question.hint, question.explains, question.statement]
    sentences += [wrong.why for part in question.parts for wrong in part.wrong]
    for text in filter(None, sentences):
        assert text[-1] in ".?)", text
        assert not re.search(r"\b(simply|obviously|just|trivial\w*|clearly|of course)\b", text, re.IGNORECASE), text
    assert question.ask.count("?") + question.ask.count(".") >= 1
    assert question.title[0].isupper()
    assert question.title[-1] != "."


@every
def test_every_question_but_a_text_says_why(question):
    assert bool(question.explains) == (question.kind is not Kind.TEXT)


@formulas
def test_mistakes_are_named_once_and_there_are_enough_of_them(question, part):
    names = [wrong.name for wrong in part.wrong]
    assert len(set(names)) == len(names)
    assert all(name == name.strip(". ") for name in names)
    assert 4 <= len(names) <= 12


@every
def test_what_is_marked_by_a_person_has_shares_that_sum_to_one(question):
    if question.kind is Kind.TEXT:
        assert sum(Fraction(line.partition(":")[0]) for line in question.marking) == 1
        assert len(question.marking) >= 3
    else:
        assert not question.marking


@every
def test_choices_are_plausible_in_number_and_the_right_one_is_among_them(question):
    assert (question.kind is Kind.CHOICE) == bool(question.options)
    assert question.options.keys() == question.answers.keys()
    for key, options in question.options.items():
        assert 2 <= len(options) <= 5
        assert question.answers[key] in options


@every
def test_derivations_prove_what_they_are_said_to_prove(question):
    name = question.derivation_id
    if name is None:
        return
    assert name in DERIVATIONS.split()
    proof = ROOT / "reference" / "derivations" / f"{name}.py"
    assert proof.is_file()
    assert question.id in import_module(f"reference.derivations.{name}").DERIVATION.explains


# ── formulas ────────────────────────────────────────────────────────────────────────────────────────────────────


@formulas
def test_every_formula_can_be_read(question, part):
    forms = [part.expected, *(one.form for one in part.accepted), *(one.form for one in part.wrong)]
    forms += [question.asked] if question.asked else []
    forms += [
        symbol.definition
        for symbol in part.symbols.by_name.values()
        if symbol.definition is not None and "function" not in symbol.properties
    ]
    for form in forms:
        read(form, part.symbols)
    for given in (*part.symbols.given, *(text for one in part.accepted for text in one.given)):
        read_comparison(given, part.symbols)


@cache
def growth(form, symbols_of):
    symbols = questions()[symbols_of].symbols
    variables = [name for name, symbol in symbols.by_name.items() if "grows" in symbol.properties]
    return growth_of_tree(read(form, symbols), variables)


def differ(question, part, one, other):
    """Return whether two forms are known to be different."""
    if part.relation == "theta":
        return not compare(growth(one, question.id), growth(other, question.id)).tight
    first, second = read(one, part.symbols), read(other, part.symbols)
    try:
        return isinstance(refute(first, second, part.symbols, part.relation), Counterexample)
    except ShapeError:  # the second does not fit together: a mistake that is found before any value is
        return first != second


@formulas
def test_what_is_expected_or_accepted_agrees_with_itself(question, part):
    for form in (part.expected, *(one.form for one in part.accepted)):
        if part.relation == "theta":
            assert not differ(question, part, form, form)
        else:
            found = refute(read(form, part.symbols), read(form, part.symbols), part.symbols, part.relation)
            assert isinstance(found, Agreement), form
            assert found.tried > 0, (form, found.why)
            assert decide(form, form, part.symbols, part.relation).right, form


@formulas
def test_every_wrong_form_is_wrong(question, part):
    for wrong in part.wrong:
        for form in (part.expected, *(one.form for one in part.accepted)):
            assert differ(question, part, wrong.form, form), f"{wrong.form} is {form}"


@formulas
def test_no_two_wrong_forms_are_the_same(question, part):
    for one, other in combinations(part.wrong, 2):
        assert differ(question, part, one.form, other.form), f"{one.name} is {other.name}"


@formulas
def test_an_accepted_big_o_is_tight_under_its_assumption_and_not_without(question, part):
    if part.relation == "theta":
        for one in part.accepted:
            given = assumptions_of([read_comparison(text, part.symbols) for text in one.given])
            assert compare(growth(one.form, question.id), growth(part.expected, question.id), given).tight, one.form
            assert differ(question, part, one.form, part.expected)


@every
def test_what_is_asked_for_is_what_is_expected(question):
    assert question.kind is not Kind.DERIVATION or question.asked
    if question.asked:
        (part,) = question.parts
        assert decide(question.asked, part.expected, part.symbols, part.relation).verdict == "proved"


# ── the judged formulas ─────────────────────────────────────────────────────────────────────────────────────────

PART_OF = {"receptive_field": 2}
# Judged against O(M N k) as expected; here the form with the projections is the expected one.
OTHERWISE = {"bigo_cross-03"}


def test_symbols_are_declared_as_in_the_judged_formulas():
    for case in CASES:
        known = questions()[case["item"]].symbols
        theirs = declared(case["symbols"], tuple(case["given"]))
        for name, symbol in theirs.by_name.items():
            ours = known[name]
            same = ("shape", "properties", "definition", "columns", "at", "in_span_of", "mean", "covariance")
            assert [getattr(ours, key) for key in same] == [getattr(symbol, key) for key in same], (case["id"], name)
        assert set(theirs.given) <= set(known.given) or case["relation"] == "theta", case["id"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_judged_formulas_get_their_verdict_from_our_questions(case):
    question = questions()[case["item"]]
    part = question.parts[PART_OF.get(case["item"], 0)]
    relation = part.relation if part.relation == "theta" else case["relation"]
    forms = (part.expected, *(one.form for one in part.accepted))
    right = any(decide(case["answer"], form, part.symbols, relation).right for form in forms)
    assert right is (case["verdict"] or case["id"] in OTHERWISE)


# ── as students write it ────────────────────────────────────────────────────────────────────────────────────────

# Question (and the accepted form that is meant, if not the expected one), and lines as they stand on sheets and in answers.
WRITTEN = {
    "softmax_ce_gradient": [
        r"\frac{\partial CE}{\partial \theta_i}",
        r"\sum_j \frac{\partial CE}{\partial \hat{y}_j} \cdot \frac{\partial \hat{y}_j}{\partial \theta_i}",
        r"\sum_j -\frac{y_j}{\hat{y}_j} \hat{y}_j (\delta_{ij} - \hat{y}_i)",
        r"-y_k(\delta_{ik} - \hat{y}_i)",
        r"\begin{cases} \hat{y}_i - 1, & \text{if } i = k\\ \hat{y}_i, & \text{if } i \neq k \end{cases}",
        r"\nabla_\theta CE",
        r"\partial J/\partial \theta",
    ],
    "input_gradient": [
        r"\frac{\partial J}{\partial z} \frac{\partial z}{\partial x}",
        r"\frac{\partial J}{\partial z} W_1^\top",
        r"\left[\left[(\hat{\boldsymbol{y}} - \boldsymbol{y}) \boldsymbol{W}_2^{\top} \right] \odot (\boldsymbol{h} \odot (1 - \boldsymbol{h})) \right] \boldsymbol{W}_1^{\top}",
        "dJ/du du/dh dh/dz dz/dx",
        "((yhat - y) W_2^T ∘ σ'(z)) W_1^T",
    ],
    "output_weight_gradient": ["outer(h, yhat - y)", "dJ/dW2 = h^T (yhat - y)"],
    "hidden_gradient": ["(ŷ - y) W₂ᵀ"],
    "sigmoid_symmetry": [r"\frac{1}{1+e^{x}}", r"1 - \frac{1}{1 + \exp(-x)}", r"\sigma(-x)"],
    "sigmoid_derivative": [r"\sigma(z)(1-\sigma(z))", "sigma(1-sigma)", "s(1 - s)"],
    "dot_product_mean": [r"\sum_i \mu_i^2", "||mu||^2"],
    "dot_product_variance": [
        "E[(q'k)^2] - E[q'k]^2",
        r"\mathbb{E}[\operatorname{Tr}(qq^{\top}kk^{\top})] - (\mu^\top\mu)^2",
        r"\operatorname{Tr}(\mathbb{E}[qq^{\top}]\mathbb{E}[kk^{\top}]) - (\mu^\top \mu)^2",
        r"\operatorname{Tr}\left((\mu\mu^\top + \sigma^2 I)(\mu\mu^\top + \sigma^2 I)\right) - (\mu^\top\mu)^2",
        "sum_i Var(q_i k_i)",
    ],
    "dot_product_scale": [r"\sqrt{d}", "sqrt(d_k)"],
    "projection_matrix": [
        "M v_a + M v_b",
        "A A^T (v_a + v_b)",
        r"\sum_{j=1}^m a_j a_j^\top \left(\sum_{k=1}^m c_k a_k\right)",
        r"\sum_{j=1}^m \sum_{k=1}^m c_k a_j (a_j^\top a_k)",
        r"\sum_{j=1}^m c_j a_j",
    ],
    "projection_matrix ~ A A^T": [r"A (A^T A)^{-1} A^T", r"\sum_j a_j a_j^T"],
    "averaging_query": [r"\lambda (k_a + k_b)", "lambda*k_a + lambda*k_b", r"\beta(k_a + k_b)"],
    "averaging_weight": [r"\frac{e^\lambda}{2e^\lambda + n - 2}", "exp(l)/(2exp(l) + (n-2))"],
    "single_head_weight": [
        r"\frac{\exp(\lambda(1+\gamma))}{\exp(\lambda(1+\gamma)) + \exp(\lambda)}",
        "sigmoid(lambda*gamma)",
    ],
    "head_queries": [r"\lambda \mu_a"],
    "added_score": [
        r"x_1^\top x_2 + x_1^\top p_2 + p_1^\top x_2 + p_1^\top p_2",
        "x1·x2 + x1·p2 + p1·x2 + p1·p2",
        "(x_1 + p_1)·(x_2 + p_2)",
    ],
    "added_score ~ x1 x2 + x1 p2 + p1 x2 + p1 p2": [
        r"x_1 x_2 + x_1 p_2 + p_1 x_2 + p_1 p_2"
    ],
    "added_vs_concatenated": ["(x_1+p_1)·(x_2+p_2) - [x_1, p_1]·[x_2, p_2]", "x1·p2 + p1·x2"],
    "added_vs_concatenated ~ x1.x2 + p1.p2": ["[x_1, p_1]·[x_2, p_2]", "[x1; p1]^T [x2; p2]"],
    "relative_bias": [
        "q_i_pos · k_j_pos",
        "q_i^{(pos)} . k_j^{(pos)}",
        "(q_i^{(pos)})^T k_j^{(pos)}",
        "q_{i,pos} . k_{j,pos}",
        "p_i . p_j",
        "q_pos^T k_pos",
    ],
    "relative_bias ~ q_pos k_pos": [r"q_i^{(\text{pos})} k_j^{(\text{pos})}"],
    "relative_parameter_count": ["(2T-1)m"],
    "self_attention_matrix_form": [
        r"\operatorname{softmax}\left(\frac{\boldsymbol{X}\boldsymbol{W}^{Q}(\boldsymbol{X}\boldsymbol{W}^{K})^{T}}{\sqrt{d}}\right)\boldsymbol{X}\boldsymbol{W}^{V}",
        "softmax(X W_q (X W_k)^T / sqrt(d)) X W_v",
        "softmax(Q @ K.T / np.sqrt(d_k)) @ V",
    ],
    "feed_forward_form": [
        r"ReLU((\boldsymbol{X}\boldsymbol{W}_1 + \boldsymbol{b}_1)) \boldsymbol{W}_2 + \boldsymbol{b}_2",
        r"\max(0, xW_1 + b_1)W_2 + b_2",
        "relu(x@W1 + b1)@W2 + b2",
    ],
    "transformer_layer_form": [
        r"LN_2(FNN(LN_1(SA(\boldsymbol{X}) + \boldsymbol{X})) + LN_1(SA(\boldsymbol{X}) + \boldsymbol{X}))",
        "LN_2(FNN(O_1) + O_1)",
        "LayerNorm2(FFN(LayerNorm1(X + SA(X))) + LayerNorm1(X + SA(X)))",
    ],
    "transformer_layer_form ~ LN(FNN(LN(SA(X) + X)) + LN(SA(X) + X))": [
        "LN(FFN(LN(X + MHA(X))) + LN(X + MHA(X)))"
    ],
    "layer_norm_form": [
        r"\frac{\boldsymbol{x} - \boldsymbol{\mu}}{\sigma} \gamma + \beta",
        r"\gamma \odot \frac{x - \mu}{\sigma} + \beta",
        "(x_i - mu)/sigma gamma_i + beta_i",
        "(x - mean(x))/std(x)*gamma + beta",
    ],
    "layer_norm_form ~ (x - mu)/sqrt(sigma^2 + eps) * gamma + beta": [
        r"\frac{x - \mathrm{E}[x]}{\sqrt{\mathrm{Var}[x] + \epsilon}} * \gamma + \beta"
    ],
    "residual_gradient": [
        r"\frac{\partial L}{\partial \boldsymbol{H}}",
        r"\frac{\partial L}{\partial \boldsymbol{O}_1} \frac{\partial \boldsymbol{O}_1}{\partial \boldsymbol{H}}",
        r"\frac{\partial L}{\partial \boldsymbol{O}_1} \frac{\partial (\mathrm{SA}(\boldsymbol{H}) + \boldsymbol{H})}{\partial \boldsymbol{H}}",
        r"\frac{\partial L}{\partial \boldsymbol{O}_1} \left( \frac{\partial \operatorname{SA}(\boldsymbol{H})}{\partial \boldsymbol{H}} + \frac{\partial \boldsymbol{H}}{\partial \boldsymbol{H}} \right)",
        r"\frac{\partial L}{\partial \boldsymbol{O}_1} \frac{\partial \operatorname{SA}(\boldsymbol{H})}{\partial \boldsymbol{H}} + \frac{\partial L}{\partial \boldsymbol{O}_1}",
        "dL/dO1 · dSA/dH + dL/dO1",
    ],
    "heads_add": [
        "MHA(X)",
        r"(SA_1(X) \oplus SA_2(X)) W^O + X",
        r"\left[\boldsymbol{O}^{1}\boldsymbol{O}^{2}\right] \begin{bmatrix} \boldsymbol{W}^{O_{1}} \\ \boldsymbol{W}^{O_{2}} \end{bmatrix} + \boldsymbol{X}",
        r"\sum_{i=1}^{2} O_i W_i + X",
        "O_1 W_{O_1} + O_2 W_{O_2} + X",
        "concat(O_1, O_2) W_O + X",
    ],
    "gru_update": [
        r"(1 - z_t) \circ h_{t-1} + z_t \circ \hat{h}_t",
        r"(1 - z_t) * h_{t-1} + z_t * \tilde{h}_t",
    ],
    "lstm_cell_derivative": [r"o_t \cdot (1 - \tanh^2(C_t))", "o∘(1 - tanh²(C))"],
    "lstm_weight_gradient": [
        r"\frac{\partial J}{\partial W_g}",
        r"\sum_{t=1}^{T} \frac{\partial J}{\partial h_t} \frac{\partial h_t}{\partial W_g}",
        r"\sum_{t=1}^T \frac{\partial J}{\partial h_t} \left( \frac{\partial h_t}{\partial C_t} \left(\frac{\partial C_t}{\partial W_g} + \frac{\partial C_t}{\partial C_{t-1}} \frac{\partial C_{t-1}}{\partial W_g} \right) + \frac{\partial h_t}{\partial h_{t-1}} \frac{\partial h_{t-1}}{\partial W_g} \right)",
        r"\sum_{t=1}^T \frac{\partial J}{\partial h_t} \left[o_t (1 - \tanh^2(C_t)) \left(i_t \frac{\partial \tilde{C}_t}{\partial W_g} + f_t \frac{\partial C_{t-1}}{\partial W_g} \right) + \frac{\partial h_t}{\partial h_{t-1}} \frac{\partial h_{t-1}}{\partial W_g} \right]",
        "sum_{t=1}^{T} dJ/dh_t (dh_t/dC_t (dC_t/dW_g + dC_t/dC_{t-1} dC_{t-1}/dW_g) + dh_t/dh_{t-1} dh_{t-1}/dW_g)",
    ],
    "entropy_of_sequence": [r"-\sum_{w} p(w) \ln p(w)", r"-\sum p(w_{1:n}) \log p(w_{1:n})", "-sum(p*log(p))"],
    "entropy_rate": [r"-\frac{1}{n} \sum_{w} p(w) \log p(w)"],
    "cross_entropy_rate": [r"-\frac{1}{n}\sum_{w} m(w) \log p(w)", "-1/n * sum(m*log(p))"],
    "perplexity_form": [
        "2^{H(W)}",
        r"2^{-\frac{1}{N}\log_2 p(W)}",
        r"(2^{\log_2 p(W)})^{-1/N}",
        r"p(W)^{-\frac{1}{N}}",
        "ppl(W)",
    ],
    "perplexity_base_invariance": [
        r"2^{-\frac{1}{M}\sum_{i=1}^{M}\log_2 p_i}",
        r"e^{-\frac{1}{M}\sum_{i=1}^{M}\ln p_i}",
        r"\left(\prod_{i=1}^{M} t^{\log_t p_i}\right)^{-1/M}",
        r"t^{-\frac{1}{M} \log_t \prod_i p_i}",
        "exp(-mean(log(p)))",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_lines_as_students_write_them_are_right(name):
    identity, _, accepted = name.partition(" ~ ")
    part = questions()[identity].parts[0]
    assert not accepted or accepted in {one.form for one in part.accepted}
    for line in WRITTEN[name]:
        found = decide(line, accepted or part.expected, part.symbols, part.relation)
        assert found.right, f"{line}: {found.message}"


# ── what is published ───────────────────────────────────────────────────────────────────────────────────────────

TOLD = {"sigmoid_symmetry": ["1 - sigma(x)"]}  # both sides are told, and a chain between them is asked for
SHOWN = {
    "id", "kind", "source", "title", "ask", "symbols", "given", "relation", "asked", "parts", "unit", "options", "statement",
}  # fmt: skip


@every
def test_what_is_published_leaks_no_truth(question):
    shown = published(question)
    assert shown.keys() <= SHOWN
    text = json.dumps(shown, ensure_ascii=False)
    secrets = [question.explains, question.hint, *question.marking]
    for part in question.parts:
        secrets += [one.note for one in part.accepted] + [one.why for one in part.wrong]
        # A name or a number alone is no secret: it is one of the symbols.
        secrets += [form for form in (part.expected, *(one.form for one in part.accepted)) if len(form) > 5]
    bare = re.sub(r"\s", "", text)
    told = {question.asked, *TOLD.get(question.id, ())}
    leaked = [secret for secret in secrets if secret and secret not in told and re.sub(r"\s", "", secret) in bare]
    assert leaked == []


@formulas
def test_no_published_definition_is_the_answer(question, part):
    definitions = {row.get("def") for row in published(question)["symbols"].values()} - {None}
    trees = [read(text, part.symbols) for text in definitions if text.isidentifier() is False]
    for form in (part.expected, *(one.form for one in part.accepted)):
        assert read(form, part.symbols) not in trees


def test_hidden_definitions_are_not_published():
    for question in questions().values():
        for name in question.hidden:
            assert "def" not in published(question)["symbols"][name]
    assert "def" not in published(questions()["projection_matrix"])["symbols"]["M"]


@formulas
def test_published_symbols_can_be_declared_again(question, part):
    shown = published(question)
    again = declared(shown["symbols"], tuple(shown["given"]))
    assert again.given == part.symbols.given
    for name, symbol in part.symbols.by_name.items():
        other = again[name]
        assert (other.shape, other.properties, other.at, other.mean) == (
            symbol.shape, symbol.properties, symbol.at, symbol.mean
        )  # fmt: skip
        assert other.definition == (None if name in question.hidden else symbol.definition)


# ── files that are not as they should be ────────────────────────────────────────────────────────────────────────

GOOD = """
[symbols.one]
x = { is = ["real"] }
given = ["x > 0"]

[sigmoid_derivative]
kind = "expression"
source = "S4.1b"
title = "A title"
ask = "An ask."
hint = "A hint."
symbols = "one"
expected = "x"
"""


def folder_with(tmp_path, text):
    for sheet in SHEETS:
        (tmp_path / f"{sheet}.toml").write_text(text if sheet == "S4" else "")
    return tmp_path


def refusal(tmp_path, text, ids=("sigmoid_derivative",)):
    with pytest.raises(QuestionError) as caught:
        read_questions(folder_with(tmp_path, text), ids)
    return str(caught.value)


def test_a_good_file_is_read(tmp_path):
    question = read_questions(folder_with(tmp_path, GOOD), ["sigmoid_derivative"])["sigmoid_derivative"]
    assert question.symbols.given == ("x > 0",)
    assert question.parts[0].relation == "equal"
    assert question.parts[0].label == ""
    assert question.truth is None
    assert isinstance(question.symbols, Symbols)


def replaced(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


REFUSED = {
    "unknown id": (replaced("[sigmoid_derivative]", "[sigmoid_derivativ]"), "S4.toml, sigmoid_derivativ: the syllabus has no such question; did you mean sigmoid_derivative?"),
    "unknown key": (replaced("hint =", "hnt ="), "S4.toml, sigmoid_derivative: unknown key 'hnt'; did you mean hint?"),
    "missing key": (replaced('hint = "A hint."', ""), "S4.toml, sigmoid_derivative: hint is missing"),
    "empty text": (replaced('"A hint."', '"  "'), "S4.toml, sigmoid_derivative: hint must be a text, not '  '"),
    "unknown kind": (replaced('"expression"', '"expresion"'), "kind is 'expresion', which is none of expression, derivation, claim, complexity, number, choice, text; did you mean expression?"),
    "other sheet": (replaced("S4.1b", "S3.1b"), "source 'S3.1b' must begin with this file's sheet, S4."),
    "unknown set": (replaced('symbols = "one"', 'symbols = "ones"'), "there is no set of symbols 'ones'; did you mean one?"),
    "unknown property": (replaced('"real"', '"rael"'), "symbol 'x': unknown property 'rael'"),
    "symbol is no table": (replaced('x = { is = ["real"] }', "x = 3"), "a symbol is declared by a table"),
    "symbol twice": (GOOD + "[sigmoid_derivative.also]\nx = { }\n", "'x' is declared by the set of symbols, and again in also"),
    "unknown relation": (GOOD + 'relation = "same"\n', "'same' is no relation; equal, equal_up_to_transpose, theta and approx:0.01 are"),
    "wrong without why": (GOOD + 'wrong = [{ form = "2", name = "two" }]\n', "S4.toml, sigmoid_derivative, wrong 1: why is missing"),
    "key of another kind": (GOOD + "truth = true\n", "unknown key 'truth'"),
    "hidden": (GOOD + 'hidden = ["x"]\n', "hidden 'x' is not a symbol with a definition"),
    "one part": (replaced('expected = "x"', "") + '[[sigmoid_derivative.part]]\nlabel = "one"\nexpected = "x"\n', "part must be an array of two or more tables"),
    "parts and expected": (GOOD + '[[sigmoid_derivative.part]]\nlabel = "one"\nexpected = "x"\n', "unknown key 'expected'"),
    "derivation without asked": (replaced('"expression"', '"derivation"'), "asked is missing"),
    "no TOML": ("[a", "S4.toml is not valid TOML"),
    "not a table": ("sigmoid_derivative = 3", "S4.toml, sigmoid_derivative: must be a table, not 3"),
    "missing question": ("", "no file has sigmoid_derivative"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_which_file_which_question_and_what(tmp_path, name):
    text, said = REFUSED[name]
    assert said in refusal(tmp_path, text)


HEAD = 'source = "S4.1b"\ntitle = "A title"\nask = "An ask."\nhint = "A hint."\n'
OTHER_KINDS = {
    "claim": ('kind = "claim"\nstatement = "A statement."\ntruth = "yes"', "truth must be true or false, not 'yes'"),
    "choice": ('kind = "choice"\noptions = ["left", "right"]\nanswer = "lft"', "answer is 'lft', which is none of left, right; did you mean left?"),
    "one option": ('kind = "choice"\noptions = ["left"]\nanswer = "left"', "answer needs two or more different options"),
    "choice without options": ('kind = "choice"\nanswer = "left"', "must be a table, not None"),
    "sub-question": ('kind = "choice"\noptions = { a = ["x", "y"] }\nanswer = { b = "x" }', "unknown key 'b'"),
    "marking": ('kind = "text"\nmarking = ["0.5: one", "0.4: two"]', "the shares of marking sum to 9/10, not to 1"),
    "marking without shares": ('kind = "text"\nmarking = ["one"]', "each with its share of the points"),
    "tolerance": ('kind = "number"\nexpected = "6"\ntolerance = 1.5', "tolerance must be a number between 0 and 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_KINDS)
def test_other_kinds_are_checked_too(tmp_path, name):
    text, said = OTHER_KINDS[name]
    assert said in refusal(tmp_path, f"[sigmoid_derivative]\n{HEAD}{text}\n")


def test_a_question_stands_in_one_file_only(tmp_path):
    folder = folder_with(tmp_path, GOOD)
    (folder / "S3.toml").write_text(GOOD.replace("S4.1b", "S3.1b"))
    with pytest.raises(QuestionError, match=r"S4.toml: sigmoid_derivative is also in S3.toml"):
        read_questions(folder, ["sigmoid_derivative"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(QuestionError, match=r"S0.toml cannot be read: No such file"):
        read_questions(tmp_path)


def test_the_files_hold_nothing_but_questions_and_sets_that_are_used():
    for sheet in SHEETS:
        tables = tomllib.loads((FOLDER / f"{sheet}.toml").read_text())
        sets = tables.pop("symbols", {})
        used = {row.get("symbols") for row in tables.values() if isinstance(row.get("symbols"), str)}
        assert used == sets.keys()
