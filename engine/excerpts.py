"""The student's own lines behind each item, cut out of what was handed in: nothing is run.

They are kept with the result, so that a page can be written again from the gradebook alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from checks.contract import MODULES, SIGNATURES
from engine.reading import Definition, Reading
from engine.records import Excerpt, Source, Submission, SubmissionResult
from engine.sheet import Sheet

MOST_LINES = 200  # of one item
MOST_COLUMNS = 400
MOST_CHARACTERS = 200 * 1024  # of one submission
MOST_READ = 2**20  # characters of code: of a submission with more, no lines are shown
ANSWERS = "answers.toml"


def with_excerpts(
    result: SubmissionResult, submission: Submission, sheet: Sheet | None, functions: Mapping[str, Sequence[str]]
) -> SubmissionResult:
    """Return the result with the lines each item is about; `functions` are those of each item of code."""
    texts = _texts(submission.sources)
    # A syntax tree takes a hundred times the room of its text, and nobody writes that much by hand.
    small = sum(map(len, texts.values())) <= MOST_READ
    reading = Reading(submission.sources if small else (), has=lambda _: False)
    left = MOST_CHARACTERS
    items = []
    for item in result.items:
        if item.id in functions:
            found = [_of_code(reading, texts, name) for name in functions[item.id]]
        else:
            found = [_of_answer(sheet.answers[item.id])] if sheet is not None and item.id in sheet.answers else []
        written = _bounded([excerpt for excerpt in found if excerpt is not None], left)
        left -= sum(len(excerpt.text) for excerpt in written)
        items.append(replace(item, written=written))
    return replace(result, items=tuple(items))


def _texts(sources: Sequence[Source]) -> dict[str, str]:
    """Return the text of every script and cell, by the name `Reading` and tracebacks give it."""
    return {
        f"{source.name}[{number}]" if source.is_notebook else source.name: cell
        for source in sources
        for number, cell in enumerate(source.cells, start=1)
    }


def _of_code(reading: Reading, texts: Mapping[str, str], function: str) -> Excerpt | None:
    row = SIGNATURES[function]
    found = reading.find(row.module, row.name, len(row.parameters), MODULES)
    if found is None:
        return None
    meaning, file, line = found
    first = last = line
    if isinstance(meaning, Definition):
        file, first, last = meaning.file, *_extent(meaning.node)
    # As the parser counts lines: `splitlines` would also break at form feeds and the like.
    lines = texts[file].replace("\r\n", "\n").replace("\r", "\n").split("\n")[first - 1 : last]
    return Excerpt(file, first, "\n".join(lines))


def _extent(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[int, int]:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return first, node.end_lineno or node.lineno


def _of_answer(answer: Any) -> Excerpt:
    """Return an answer as lines: those of a derivation, the parts of a formula, the names of a table."""
    if isinstance(answer, list):
        lines = [_one(value) for value in answer]
    elif isinstance(answer, dict):
        lines = [f"{name} = {_one(value)}" for name, value in answer.items()]
    else:
        lines = [answer if isinstance(answer, str) else _one(answer)]
    return Excerpt(ANSWERS, 1, "\n".join(lines).strip("\n"))


def _one(value: Any) -> str:
    """Return a value of TOML on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_one, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_one(entry)}' for name, entry in value.items())} }}"
    if isinstance(value, int) and abs(value) >= 10**MOST_COLUMNS:
        return f"a number of more than {MOST_COLUMNS} digits"  # Python refuses to write the longest
    return " ".join(str(value).split("\n"))


def _bounded(excerpts: Sequence[Excerpt], characters: int) -> tuple[Excerpt, ...]:
    """Return as much as may be kept; what is cut says so by its `more` lines."""
    kept = []
    lines_left = MOST_LINES
    for excerpt in excerpts:
        every = excerpt.text.split("\n")
        lines: list[str] = []
        for line in every[:lines_left]:
            shown = line if len(line) <= MOST_COLUMNS else f"{line[:MOST_COLUMNS]} …"
            characters -= len(shown) + 1
            if characters < 0:
                break
            lines.append(shown)
        lines_left -= len(lines)
        kept.append(replace(excerpt, text="\n".join(lines), more=len(every) - len(lines)))
    return tuple(kept)
