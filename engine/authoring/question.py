"""A question to begin with, for each kind of answer: it can be read, and its right answer holds."""

from __future__ import annotations

from checks.question import Kind

HEADER = """\
# Questions of this course that the syllabus does not have.
# The layout is told in checks/question.py; formulas/symbols.py says how symbols are declared.
"""

_COMMON = """\
[{name}]
kind = "{kind}"
source = "fill in: where on the sheet"
title = "Fill in a title"
ask = "Fill in: what is asked, as a question?"
hint = "Fill in: where to look, without the answer."
"""

_OF_A_FORMULA = """\
explains = "Fill in: why the answer is what it is."
wrong = [
  {{ form = "{wrong}", name = "fill in a name", why = "Fill in: where this wrong answer comes from." }},
]
symbols = {{ {symbols} }}
"""

_OF_A_KIND = {
    Kind.EXPRESSION: 'expected = "2 x"\n'
    + _OF_A_FORMULA.format(wrong="x^2", symbols='x = { is = ["real"], note = "fill in: what it stands for" }'),
    Kind.DERIVATION: 'asked = "x + x"\nexpected = "2 x"\n'
    + _OF_A_FORMULA.format(wrong="x^2", symbols='x = { is = ["real"], note = "fill in: what it stands for" }'),
    Kind.COMPLEXITY: 'expected = "O(n^2)"\n' + _OF_A_FORMULA.format(wrong="O(n)", symbols='n = { is = ["grows"] }'),
    Kind.NUMBER: 'expected = "5/2"\n' + _OF_A_FORMULA.format(wrong="2", symbols=""),
    Kind.CLAIM: 'statement = "Fill in: a sentence that is true or false."\ntruth = true\n'
    'explains = "Fill in: why it is so."\n',
    Kind.CHOICE: 'options = ["first", "second"]\nanswer = "first"\nexplains = "Fill in: why it is so."\n',
    Kind.TEXT: 'marking = ["1: fill in: what a person looks for"]\n',
}

_RIGHT = {
    Kind.EXPRESSION: '"2*x"',
    Kind.DERIVATION: '["x + x", "2*x"]',
    Kind.COMPLEXITY: '"O(n^2)"',
    Kind.NUMBER: "2.5",
    Kind.CHOICE: '"first"',
    Kind.TEXT: '"A text for a person."',
}


def asked(name: str, kind: Kind) -> str:
    """Return a question, to be filled in."""
    return _COMMON.format(name=name, kind=kind) + _OF_A_KIND[kind]


def answered(name: str, kind: Kind) -> str:
    """Return its right answer, for the table of its kind."""
    return f"\n[claim.{name}]\nanswer = true\n" if kind is Kind.CLAIM else f"{name} = {_RIGHT[kind]}\n"


def seen(check: str) -> str:
    """Return who sees a check: whether an answer can be read, and its lines follow, tells nothing of what is true."""
    return "public" if check in ("reads", "follows") else "hidden"
