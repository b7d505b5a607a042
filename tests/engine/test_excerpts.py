"""The lines shown beside a result are the student's own, the right ones, and never more than can be kept."""

from __future__ import annotations

import pytest

from engine import gradebook
from engine.excerpts import MOST_CHARACTERS, MOST_COLUMNS, MOST_LINES, MOST_READ, with_excerpts
from engine.pipeline import withheld
from engine.records import Excerpt, Source, Submission
from engine.rubric import STANDARD, read_rubric
from engine.sheet import read_sheet

RUBRIC = read_rubric(STANDARD)


def written(*sources: Source, answers: str | None = None) -> dict[str, tuple[Excerpt, ...]]:
    submission = Submission("alice", "alice", sources, answers)
    sheet = read_sheet(answers) if answers is not None else None
    result = with_excerpts(withheld(submission, RUBRIC, ""), submission, sheet, RUBRIC.functions())
    return {item.id: item.written for item in result.items if item.written}


def test_a_function_is_shown_whole_with_its_decorators_and_nothing_else() -> None:
    text = "import numpy as np\n\n@cached\ndef softmax(x):\n    return x\n\n\nx = softmax(1)\n"
    assert written(Source("attention.py", (text,))) == {
        "attention.softmax": (Excerpt("attention.py", 3, "@cached\ndef softmax(x):\n    return x"),)
    }


def test_of_a_notebook_the_cell_is_told() -> None:
    cells = ("x = 1", "def softmax(x):\n    return x")
    assert written(Source("work.ipynb", cells)) == {
        "attention.softmax": (Excerpt("work.ipynb[2]", 1, "def softmax(x):\n    return x"),)
    }


def test_a_function_by_another_name_is_followed() -> None:
    text = "def mine(x):\n    return x\n\n\nsoftmax = mine\n"
    assert written(Source("attention.py", (text,)))["attention.softmax"] == (
        Excerpt("attention.py", 1, "def mine(x):\n    return x"),
    )


def test_what_is_not_defined_here_is_shown_where_it_is_bound() -> None:
    text = "from scipy.special import softmax\n"
    assert written(Source("attention.py", (text,)))["attention.softmax"] == (
        Excerpt("attention.py", 1, "from scipy.special import softmax"),
    )


def test_an_item_of_several_functions_has_all_of_them() -> None:
    text = "def train_char_model(a, b):\n    return 1\n\n\ndef preprocess(t):\n    return t\n"
    shown = written(Source("language_model.py", (text,)))["language_model.char_model"]
    assert {excerpt.text.split("(")[0] for excerpt in shown} == {"def train_char_model", "def preprocess"}


def test_lines_are_counted_as_python_counts_them() -> None:
    text = "x = '\x0c\x1c'\r\n\r\ndef softmax(x):\r\n    return x\r\n"
    assert written(Source("attention.py", (text,)))["attention.softmax"] == (
        Excerpt("attention.py", 3, "def softmax(x):\n    return x"),
    )


@pytest.mark.parametrize(
    "text", ["def softmax(:", "", "\x00", "(" * 5_000, "def softmax(x): return " + "-" * 5_000 + "x"]
)
def test_code_that_cannot_be_read_has_no_lines_and_does_no_harm(text: str) -> None:
    assert written(Source("attention.py", (text,))) == {}


def test_answers_are_shown_line_by_line() -> None:
    answers = """
[expression]
dot_product_mean = '\\mu^\\top \\mu'
[derivation]
sigmoid_symmetry = ["a", "= b"]
[claim]
lstm_forget_zero = { answer = false, witness = { h = [0.5, 1.0] } }
[number]
die_entropy = 2.50
"""
    assert {name: shown[0].text for name, shown in written(answers=answers).items()} == {
        "dot_product_mean": "\\mu^\\top \\mu",
        "sigmoid_symmetry": "a\n= b",
        "lstm_forget_zero": "answer = false\nwitness = { h = [0.5, 1.0] }",
        "die_entropy": "2.50",
    }


def test_what_is_too_long_is_cut_and_says_so() -> None:
    body = "".join(f"    x = {number}\n" for number in range(1_000))
    (excerpt,) = written(Source("attention.py", (f"def softmax(x):\n{body}",)))["attention.softmax"]
    assert excerpt.text.count("\n") + 1 == MOST_LINES
    assert excerpt.more == 1_001 - MOST_LINES
    (wide,) = written(Source("attention.py", (f"def softmax(x): return '{'x' * 9_000}'",)))["attention.softmax"]
    assert len(wide.text) == MOST_COLUMNS + 2


def test_a_submission_keeps_no_more_than_its_share() -> None:
    body = "\n".join(f"    '{'x' * 390}'" for _ in range(25))
    names = [name.split(".", 1) for several in RUBRIC.functions().values() for name in several]
    sources = tuple(
        Source(f"{module}.py", ("\n".join(f"def {name}(*a):\n{body}" for other, name in names if other == module),))
        for module in {module for module, _ in names}
    )
    shown = written(*sources)
    assert len(shown) > 5
    assert sum(len(excerpt.text) for several in shown.values() for excerpt in several) <= MOST_CHARACTERS
    assert any(excerpt.more == 26 and not excerpt.text for several in shown.values() for excerpt in several)


def test_the_gradebook_keeps_them_as_they_are() -> None:
    submission = Submission("alice", "alice", (Source("attention.py", ("def softmax(x):\n    return 'é\u2028'",)),))
    result = with_excerpts(withheld(submission, RUBRIC, ""), submission, None, RUBRIC.functions())
    assert gradebook.decoded(gradebook.encoded(result)) == result
    assert result.items[0].written[0].text.endswith("'é\u2028'")


def test_of_more_code_than_anybody_writes_nothing_is_read() -> None:
    text = "def softmax(x):\n    return x\n" + "x = 1  # and so on\n" * (MOST_READ // 10)
    assert written(Source("attention.py", (text,))) == {}
