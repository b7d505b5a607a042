"""The published answers of the five sheets, judged: the mistakes that are known of them are found, and no others."""

from functools import cache
from pathlib import Path

import pytest

from checks.question import SHEETS, Kind, Question, questions
from engine.answers import judge_answers
from engine.records import Outcome
from engine.sheet import Marked, Sheet, read_sheet

EXAMPLES = Path(__file__).resolve().parents[2] / "submissions" / "examples"

# Sheet and check; what the report says, in its message or as the name of the mistake; whether it has a counterexample.
MISTAKES = [
    ("S0", "wavelengths.right", "This takes 2 numbers (i = 0, i = 1), not 4.", False),
    ("S0", "wavelengths.digits", "198.70 has 2 decimals, and with those it is 198.69.", False),
    ("S0", "perplexity_form.follows", "Line 4 does not equal line 3. The sign of the exponent is wrong.", True),
    ("S0", "perplexity_form.ends", "sign of the exponent lost", True),
    ("S3", "dot_product_variance.follows", "The right side of line 8 does not equal its left side.", True),
    ("S3", "dot_product_variance.follows", "The first term has an extra factor d.", True),
    ("S3", "dot_product_variance.ends", "one d too many", True),
    ("S3", "unscaled_attention.right", "gradients vanish, they do not explode", False),
    ("S4", "softmax_ce_gradient.follows", "The right side of line 1 does not equal its left side.", True),
    ("S4", "projection_matrix.follows", "The right side of line 3 does not equal its left side.", True),
    ("S4", "projection_matrix.follows", "The factor M is missing in the second term.", True),
    ("S4", "averaging_query.right", "weight: ", True),
    ("S4", "averaging_query.right", "other keys forgotten", True),
    ("S4", "averaging_weight.right", "other keys forgotten", True),
    ("S4", "single_head_weight.right", "bracket misplaced", True),
    ("S4", "head_queries.right", "keys 1 and 2 in place of a and b", True),
]

# What a question's source names, but the sheet does not answer.
UNANSWERED = {
    ("S3", "self_attention_matrix_form"),  # S3.5b asks for attention without a scale, and answers that
    ("S4", "output_weight_gradient"),  # in code only
}


def written(sheet: str) -> Sheet:
    return read_sheet((EXAMPLES / f"sheet_{sheet}" / "answers.toml").read_text(encoding="utf-8"))


def asked(sheet: str) -> list[Question]:
    """Return the questions that a sheet answers."""
    return [
        question
        for question in questions().values()
        if any(place.startswith(f"{sheet}.") for place in question.source.split())
        and (sheet, question.id) not in UNANSWERED
    ]


@cache
def judged(sheet: str) -> dict[str, Marked]:
    return judge_answers(asked(sheet), written(sheet))


def outcomes(sheet: str) -> dict[str, Outcome]:
    return {verdict.check: verdict.outcome for marked in judged(sheet).values() for verdict in marked.verdicts}


@pytest.mark.parametrize("sheet", SHEETS)
def test_every_question_of_the_sheet_is_answered_and_no_other(sheet):
    found = written(sheet)
    assert not found.broken
    assert not found.problems
    assert sorted(found.answers) == sorted(question.id for question in asked(sheet))


@pytest.mark.parametrize("sheet", SHEETS)
def test_exactly_the_known_mistakes_are_found(sheet):
    known = {check: Outcome.BROKEN for where, check, _, _ in MISTAKES if where == sheet}
    texts = {f"{question.id}.person": Outcome.MANUAL for question in asked(sheet) if question.kind is Kind.TEXT}
    assert {c: o for c, o in outcomes(sheet).items() if o is not Outcome.HELD} == known | texts


@pytest.mark.parametrize(("sheet", "check", "said", "shown"), MISTAKES)
def test_the_report_says_what_is_wrong(sheet, check, said, shown):
    marked = judged(sheet)[check.split(".")[0]]
    (verdict,) = (verdict for verdict in marked.verdicts if verdict.check == check)
    named = f" [{marked.diagnosis.name}]" if marked.diagnosis else ""
    assert said in verdict.message + named
    assert (verdict.counterexample is not None) is shown
    if verdict.counterexample is not None:
        assert verdict.counterexample.gave != verdict.counterexample.expected


@pytest.mark.parametrize(("sheet", "check"), sorted({row[:2] for row in MISTAKES if row[1].endswith(".follows")}))
def test_one_step_of_a_derivation_is_wrong_and_its_other_lines_are_right(sheet, check):
    marked = judged(sheet)[check.split(".")[0]]
    (verdict,) = (verdict for verdict in marked.verdicts if verdict.check == check)
    assert verdict.share.denominator - verdict.share.numerator == 1
    assert "does, too" not in verdict.message


def test_what_is_right_on_the_sheets_is_proved():
    unproved = {
        verdict.check
        for sheet in SHEETS
        for marked in judged(sheet).values()
        for verdict in marked.verdicts
        if verdict.outcome is Outcome.HELD and not verdict.proved and verdict.check.endswith((".follows", ".ends"))
    }
    assert not unproved


def test_the_weight_of_a_single_head_is_also_printed_with_the_bracket_where_it_belongs():
    last = r"\frac{exp(\lambda(1 + \gamma))}{exp(\lambda(1 + \gamma)) + exp(\lambda)}"
    marked = judge_answers([questions()["single_head_weight"]], Sheet({"single_head_weight": last}))
    assert {verdict.outcome for verdict in marked["single_head_weight"].verdicts} == {Outcome.HELD}
