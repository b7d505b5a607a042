"""A formula is shown as it was written: every kind of node has a notation, and terms stay where they were put."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from formulas import tree
from formulas.reader import read
from formulas.symbols import declared
from formulas.written import written

SYMBOLS = declared({"x": {}, "y": {}, "a": {"shape": ["n"]}, "W": {"shape": ["n", "n"]}, "n": {}})


def shown(text: str) -> str:
    """Return the letters of a formula in reading order; what is above or below is in its place."""
    markup = written(read(text, SYMBOLS))
    ET.fromstring(markup)  # well-formed
    assert "<script" not in markup
    return re.sub(r"[\u2061-\u2063]|<[^>]*>", "", re.sub(r"&#x206[0-9];", "", markup))


@pytest.mark.parametrize(
    ("typed", "read_as"),
    [
        ("y + x - 1", "y+x−1"),
        ("-x + y", "−x+y"),
        ("2.50 x", "2.50x"),
        ("0.05", "0.05"),
        ("x/(x + y)", "xx+y"),
        ("(x + y) x", "(x+y)x"),
        ("x - (y - 1)", "x−(y−1)"),
        ("(x + y)^2", "(x+y)2"),
        ("sqrt(x)", "x"),
        ("exp(-x)", "e−x"),
        ("sigmoid(x) (1 - sigmoid(x))", "σ(x)(1−σ(x))"),
        ("W^T a", "WTa"),
        ("a_1", "a1"),
        ("sum_{i=1}^n a_i", "∑i=1nai"),
        ("log_2(x)", "log2(x)"),
        ("x = y = 1", "x=y=1"),
        ("|x|", "|x|"),
        ("a ∘ a", "a∘a"),
        (r"\frac{\partial y}{\partial x}", "∂y∂x"),
    ],
)
def test_terms_stand_where_they_were_put(typed: str, read_as: str) -> None:
    assert shown(typed) == read_as


X, ONE = tree.Name("x"), tree.Number(1)  # type: ignore[arg-type]
EXAMPLES: dict[type, tree.Node] = {
    tree.Cases: tree.Cases(((X, tree.Comparison(X, "<=", X)), (X, None))),
    tree.Block: tree.Block(((X, X), (X, X))),
    tree.Range: tree.Range(tree.Big.PRODUCT, "j", None, None, X, excluding=X),
    tree.Derivative: tree.Derivative(tree.Addition((X, X)), X),
    tree.Call: tree.Call("softmax_rows", (X,)),
    tree.Comparison: tree.Comparison(X, "!=", X),
    tree.Chain: tree.Chain((X, X)),
}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=[kind.__name__ for kind in EXAMPLES])
def test_kinds_that_are_rarely_typed_have_a_notation_too(example: tree.Node) -> None:
    assert ET.fromstring(written(example)).tag == "{http://www.w3.org/1998/Math/MathML}math"


def test_what_is_no_formula_is_refused() -> None:
    with pytest.raises(TypeError, match="no notation for Node"):
        written(tree.Node())


def test_no_name_becomes_markup() -> None:
    assert "<b>" not in written(tree.Name("<b>x</b>"))
