"""What students read: the exact wording, and nothing in it that could act on their terminal."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

import pytest

from engine.feedback import UNJUDGED, check_feedback, paint, submission_feedback, summary, visible
from engine.records import (
    CheckResult,
    CheckText,
    Counterexample,
    ItemResult,
    Outcome,
    Status,
    SubmissionResult,
    Verdict,
)

TEXT = CheckText(
    claim="Every row sums to 1, however large the logits are.",
    hint="exp(1000) is inf. Subtract the row maximum before you exponentiate.",
)
EXAMPLE = Counterexample("softmax([[1000.0, 0.0]]).sum(axis=-1)", "[nan]", "[1.0]")

# Word for word the example of the project's style guide, its points at the last column.
STYLE_GUIDE = """\
attention.softmax.rows_sum_to_one                                        0 of 3
Every row sums to 1, however large the logits are.

  softmax([[1000.0, 0.0]]).sum(axis=-1)
  gave      [nan]
  expected  [1.0]

Hint: exp(1000) is inf. Subtract the row maximum before you exponentiate.
"""


def check(
    name: str = "attention.softmax.rows_sum_to_one",
    outcome: Outcome = Outcome.BROKEN,
    *,
    score: Fraction | None = Fraction(0),
    maximum: Fraction = Fraction(3),
    examples: int = 0,
    message: str = "",
    example: Counterexample | None = None,
    proved: bool = False,
) -> CheckResult:
    return CheckResult(Verdict(name, outcome, examples, message, example, proved), score, maximum, "public")


def item(name: str, *checks: CheckResult, outcome: Outcome = Outcome.BROKEN, diagnosis: str = "") -> ItemResult:
    scores = [one.score for one in checks if one.score is not None]
    score = sum(scores, Fraction(0)) if len(scores) == len(checks) else None
    return ItemResult(name, "code", outcome, score, sum((c.max_score for c in checks), Fraction(0)), checks, diagnosis)


def submission(
    *items: ItemResult,
    name: str = "alice",
    status: Status = Status.GRADED,
    output: str = "",
    problems: tuple[str, ...] = (),
) -> SubmissionResult:
    score = None if status is Status.WITHHELD else sum((i.score or Fraction(0) for i in items), Fraction(0))
    return SubmissionResult(
        name, status, score, sum((i.max_score for i in items), Fraction(0)), items, problems, output
    )


def held(name: str, examples: int = 100, maximum: Fraction = Fraction(4), *, proved: bool = False) -> CheckResult:
    return check(name, Outcome.HELD, score=maximum, maximum=maximum, examples=examples, proved=proved)


def test_a_block_reads_as_the_style_guide_shows_it() -> None:
    assert check_feedback(check(example=EXAMPLE), TEXT) == STYLE_GUIDE
    assert len(STYLE_GUIDE.splitlines()[0]) == 79


def test_a_long_id_keeps_its_distance_from_the_points() -> None:
    name = "attention." + "x" * 80
    assert check_feedback(check(name), TEXT).startswith(f"{name}   0 of 3\n")


def test_values_of_several_lines_stay_in_their_column() -> None:
    example = Counterexample("softmax(\n    x\n)", "[[nan, 0.0],\n [0.5, 0.5]]", "[[1.0, 0.0],\n [0.5, 0.5]]")
    block = check_feedback(check(example=example, message="The first row is wrong."), TEXT)
    assert block.splitlines()[3:-2] == [
        "  softmax(",
        "      x",
        "  )",
        "  gave      [[nan, 0.0],",
        "             [0.5, 0.5]]",
        "  expected  [[1.0, 0.0],",
        "             [0.5, 0.5]]",
        "",
        "The first row is wrong.",
    ]


def test_a_traceback_keeps_its_shape() -> None:
    trace = '  File "attention.py", line 3, in softmax\n    return x / 0\nZeroDivisionError: division by zero'
    block = check_feedback(check(outcome=Outcome.RAISED, message=trace), TEXT)
    assert '\n    File "attention.py", line 3, in softmax\n      return x / 0\n  ZeroDivisionError: ' in block


def test_our_own_failure_is_told_as_ours() -> None:
    block = check_feedback(check(outcome=Outcome.UNJUDGED, score=None, message="worker 7 vanished"), TEXT)
    assert block == (
        "attention.softmax.rows_sum_to_one" + " " * 40 + "– of 3\n"
        "Every row sums to 1, however large the logits are.\n"
        "\n"
        "The grader failed on this check. Your score is withheld until staff look at it.\n"
    )


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.HELD])
def test_every_failure_says_something(outcome: Outcome) -> None:
    assert len(check_feedback(check(outcome=outcome), CheckText("", "")).strip().splitlines()) > 1


def test_a_whole_submission() -> None:
    result = submission(
        item("attention.softmax", held("attention.softmax.agrees"), outcome=Outcome.HELD),
        item(
            "gates.gru_cell",
            check("gates.gru_cell.keeps", maximum=Fraction(3, 2), example=EXAMPLE),
            held("gates.gru_cell.takes", maximum=Fraction(1, 2)),
            diagnosis="z and 1 - z swapped.",
        ),
        item("die_entropy", held("die_entropy.answer", 0, Fraction(1), proved=True), outcome=Outcome.HELD),
        item("why_positions", check("why_positions.answer", Outcome.MANUAL, score=None), outcome=Outcome.MANUAL),
        status=Status.WAITING,
        problems=("notes.ipynb is not JSON.",),
        output="loss 1\nloss 2\n",
    )
    texts = {"gates.gru_cell.keeps": CheckText("With z = 0 the state is kept.", "Which of z and 1 - z keeps?")}
    expected = """\
alice                                                                 5.5 of 10
Some answers wait for a person: this score is not final.
Problem: notes.ipynb is not JSON.

attention.softmax   held for 100 inputs                                  4 of 4
gates.gru_cell      broken, 1 of 2 held                                0.5 of 2
die_entropy         proved                                               1 of 1
why_positions       waits for a person                                   – of 3

gates.gru_cell.keeps                                                   0 of 1.5
With z = 0 the state is kept.

  softmax([[1000.0, 0.0]]).sum(axis=-1)
  gave      [nan]
  expected  [1.0]

Hint: Which of z and 1 - z keeps?

This looks like: z and 1 - z swapped.

What your code printed:
  | loss 1
  | loss 2
"""
    assert submission_feedback(result, texts) == expected
    assert summary(result) == (
        "3 of 5 checks held. To try a call in Python, begin with\n\n  import numpy as np; from gates import *\n"
    )


def test_one_reason_for_many_checks_is_told_once() -> None:
    reason = "attention.py has no softmax; found soft_max."
    names = ["attention.softmax.a", "attention.softmax.b", "attention.softmax.c"]
    missing = [check(name, Outcome.MISSING, message=reason) for name in names]
    text = submission_feedback(submission(item("attention.softmax", *missing, outcome=Outcome.MISSING)), {})
    assert text.count(reason) == 1
    assert not any(name in text for name in names)


def test_equal_reasons_are_not_merged_where_each_has_its_counterexample() -> None:
    broken = [check(f"attention.softmax.{name}", example=EXAMPLE) for name in "ab"]
    text = submission_feedback(submission(item("attention.softmax", *broken)), {})
    assert text.count("gave      [nan]") == 2


def test_a_function_that_raises_in_one_line_whatever_is_asked_is_told_once_with_a_call() -> None:
    where = "attention.py line 3, in softmax: return undefined"
    raised = [
        check(
            f"attention.softmax.{name}",
            Outcome.RAISED,
            message="It raised NameError.",
            example=Counterexample(name, where, ""),
        )
        for name in "abc"
    ]
    raised[2] = check(
        "attention.softmax.c", Outcome.RAISED, message="It raised NameError.", example=Counterexample("c", "line 4", "")
    )
    text = submission_feedback(submission(item("attention.softmax", *raised, outcome=Outcome.RAISED)), {})
    assert text.count(where) == 1
    assert "\n  a\n  gave      attention.py line 3" in text
    assert text.count("It raised NameError.") == 2


def test_a_file_that_cannot_be_imported_is_told_once_for_all_its_functions() -> None:
    reason = "attention.py fails at import: SyntaxError: invalid syntax."
    items = [
        item(
            f"attention.{name}", check(f"attention.{name}.law", Outcome.RAISED, message=reason), outcome=Outcome.RAISED
        )
        for name in ("softmax", "causal_mask", "argmax_attention")
    ]
    text = submission_feedback(submission(*items), {})
    assert text.count(reason) == 1
    assert "\nattention.softmax and 2 more" + " " * 45 + "0 of 9\n\nattention.py fails" in text


def test_what_is_missing_has_no_line_of_its_own_and_many_are_counted() -> None:
    names = [*(f"gates.{name}" for name in "abcde"), "attention.f", "die_entropy", "wavelengths"]
    several = [
        item(name, check(f"{name}.law", Outcome.MISSING, message="Not begun."), outcome=Outcome.MISSING)
        for name in names
    ]
    text = submission_feedback(submission(*several), {})
    assert text.splitlines()[1:] == [
        "", "Missing:", "  Not begun: 5 of gates, 1 of attention, 2 of the written answers.",
    ]  # fmt: skip
    assert "  Not begun: gates.a, gates.b.\n" in submission_feedback(submission(*several[:2]), {})
    assert summary(submission(*several)).startswith("Nothing is begun: ")


def test_the_summary_claims_no_more_than_was_tried() -> None:
    result = submission(item("gates.sigmoid", held("gates.sigmoid.agrees"), outcome=Outcome.HELD))
    assert summary(result) == "1 check held. That is a good sign, not a proof: more is checked later.\n"


def test_a_withheld_submission_says_so() -> None:
    unjudged = check(outcome=Outcome.UNJUDGED, score=None)
    result = submission(item("attention.softmax", unjudged, outcome=Outcome.UNJUDGED), status=Status.WITHHELD)
    text = submission_feedback(result, {})
    assert text.splitlines()[0].endswith("– of 3")
    assert "The score is withheld until staff look at it." in text
    assert UNJUDGED in text


@pytest.mark.parametrize(("examples", "words"), [(1, "held for 1 input "), (250, "held for 250 inputs "), (0, "held ")])
def test_held_says_for_how_many_inputs(examples: int, words: str) -> None:
    result = submission(item("gates.sigmoid", held("gates.sigmoid.agrees", examples), outcome=Outcome.HELD))
    assert f"gates.sigmoid   {words}" in submission_feedback(result, {})


def test_output_is_bounded_in_lines_and_columns() -> None:
    text = submission_feedback(submission(output="x" * 10_000 + "\n" + "line\n" * 99), {})
    printed = text.split("What your code printed:\n")[1].splitlines()
    assert len(printed) == 41
    assert printed[-1] == "  | … 60 more lines"
    assert max(map(len, printed)) < 500


HOSTILE = "<script>\x1b[2J\x9b2J\x07\r\u202e\u2028\x00\udce9=cmd()"


def test_nothing_a_student_controls_reaches_the_terminal_raw() -> None:
    broken = check(HOSTILE, message=HOSTILE, example=Counterexample(HOSTILE, HOSTILE, HOSTILE))
    result = submission(item(HOSTILE, broken, diagnosis=HOSTILE), name=HOSTILE, output=HOSTILE, problems=(HOSTILE,))
    text = submission_feedback(result, {})
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff]", text)
    assert "<script>\\x1b[2J\\x9b2J\\x07\\r\\u202e\\u2028\\x00\\udce9=cmd()" in text
    text.encode("utf-8")


def test_an_id_cannot_forge_a_line() -> None:
    text = submission_feedback(submission(name="alice\nbob   60 of 60"), {})
    assert text.splitlines()[0].startswith("alice\\nbob")


def test_visible_keeps_what_people_write() -> None:
    assert visible("naïve Ω 中\tx\r\ny\n") == "naïve Ω 中\tx\ny\n"


def test_colour_is_the_callers_choice_and_changes_no_character() -> None:
    result = submission(
        item("attention.softmax", check(example=EXAMPLE)),
        item("gates.sigmoid", held("gates.sigmoid.agrees"), outcome=Outcome.HELD),
    )
    text = submission_feedback(result, {"attention.softmax.rows_sum_to_one": TEXT})
    painted = paint(text, colour=True)
    assert paint(text, colour=False) == text
    assert re.sub("\x1b\\[[0-9]*m", "", painted) == text
    assert "\x1b[32mheld for 100 inputs\x1b[0m" in painted
    assert "\x1b[31mbroken\x1b[0m" in painted
    codes = re.findall("\x1b\\[[0-9]*m", painted)
    assert all((one == "\x1b[0m") != (other == "\x1b[0m") for one, other in pairwise(codes))
