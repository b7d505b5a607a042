"""A written answer as mathematics: how each of its lines was read, beside what the student typed."""

from __future__ import annotations

from functools import cache

from markupsafe import Markup

from checks.question import Kind, questions

KINDS = frozenset({Kind.EXPRESSION, Kind.DERIVATION, Kind.COMPLEXITY})


@cache  # half a class writes the same formula
def as_read(item: str, number: int, line: str) -> Markup | None:
    """Return line `number` (from 0) of the answer to a question as MathML; None where it cannot be read."""
    from formulas.decide import read_answer  # SymPy: only where there are formulas to show
    from formulas.reader import read
    from formulas.tokens import Unreadable
    from formulas.written import written

    question = questions().get(item)
    if question is None:
        return None
    place = 0 if question.kind is Kind.DERIVATION else number
    if place >= len(question.parts):
        return None
    part = question.parts[place]
    bare = line.strip().removeprefix("$").strip().removeprefix("&").strip()
    continues = bare.startswith("=")  # joins the line to the one before
    try:
        tree = read_answer(bare[1:] if continues else line, part.symbols, read(part.expected, part.symbols))
    except Unreadable:
        return None
    return Markup("= " if continues else "") + Markup(written(tree))  # noqa: S704 - escaped by the printer
