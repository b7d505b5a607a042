"""What a student runs at home: the public checks, of what is begun.

A function that is still as it was handed out, or that no file mentions, and a question without an answer are told as
not begun. They are found by reading; nothing is drawn or run for them, so the first word on the first function comes in
seconds. Only `check` asks: what is handed in is graded as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches

from checks.contract import SIGNATURES
from engine import sandbox
from engine.pipeline import Options, judged
from engine.records import Outcome, Source, Submission, SubmissionResult, Verdict
from engine.rubric import Rubric
from engine.score import score
from engine.sheet import read_sheet, unanswered

NOT_BEGUN = "Not begun."


def checked(submission: Submission, rubric: Rubric, options: Options) -> SubmissionResult:
    """Judge what is begun of a submission; the rest is missing.

    A student's own code on the student's own machine: it is locked in where that is possible, and run anyway.
    """
    written = _Written(submission.sources)
    functions = rubric.functions()
    sheet = read_sheet(submission.answers) if submission.answers is not None else None
    left = {name for name, several in functions.items() if not any(map(written.has_begun, several))}
    left |= {question.id for question in rubric.questions if unanswered(question, sheet)}
    begun, rest = (
        replace(rubric, items=tuple(item for item in rubric.items if (item.id in left) is is_left))
        for is_left in (False, True)
    )
    ((_, result),) = judged([replace(submission, sources=written.begun)], begun, options, sandbox.probe())
    verdicts = [Verdict(check.id, Outcome.MISSING, message=NOT_BEGUN) for check in rest.checks]
    missing = score(submission, rest, verdicts, {}, "")
    found = {item.id: item for item in (*result.items, *missing.items)}
    items = tuple(found[item.id] for item in rubric.items)
    return replace(result, items=items, max_score=result.max_score + missing.max_score)


def is_good(result: SubmissionResult, submission: Submission) -> bool:
    """Return whether all that is begun holds: a function missing from a file that is there does not."""
    files = {source.stem for source in submission.sources}
    begun = [
        item
        for item in result.items
        if item.outcome is not Outcome.MISSING
        or (item.id.split(".", 1)[0] in files and item.checks[0].verdict.message != NOT_BEGUN)
    ]
    return bool(begun) and all(item.outcome is Outcome.HELD for item in begun)


class _Written:
    """What the files of a submission define, by reading them."""

    def __init__(self, sources: Sequence[Source]) -> None:
        # A file that is as it was handed out is not even imported: one of them asks for torch, which takes seconds.
        own = {source.stem for source in sources}
        self.begun = tuple(each for each in sources if not all(_is_empty(cell, own) for cell in each.cells))
        cells = [cell for source in sources for cell in source.cells]
        self._words = frozenset(word for cell in cells for word in re.findall(r"\w+", cell))
        defined = [node for cell in cells for node in _definitions(cell)]
        others = {signature.name for signature in SIGNATURES.values()}
        self._names = [node.name for node in defined if node.name not in others]  # those of no function of the contract
        written = {node.name for node in defined if not _is_stub(node)}
        self._stubs: Collection[str] = {node.name for node in defined} - written

    def has_begun(self, function: str) -> bool:
        """Return whether there is anything to judge a function of the contract by: itself, or a name near to it."""
        name = function.split(".", 1)[1]
        if name in self._stubs:
            return False
        folded = {each.replace("_", "").lower() for each in self._names}
        is_near = name.replace("_", "").lower() in folded or get_close_matches(name, self._names, n=1, cutoff=0.75)
        return name in self._words or bool(is_near)  # as near as the worker calls it when it is asked for the function


Definition = ast.FunctionDef | ast.ClassDef


def _definitions(cell: str) -> list[Definition]:
    try:
        tree = ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # whoever runs it will say what is wrong; until then its words count
    return [node for node in tree.body if isinstance(node, Definition)]


def _is_empty(cell: str, own: Collection[str]) -> bool:
    """Return whether there is nothing in a cell but stubs, sentences, and imports from elsewhere than `own` files."""
    try:
        body = ast.parse(cell).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_is_sentence(each) or _imports_packages(each, own) or _is_stub(each) for each in body)


def _imports_packages(statement: ast.stmt, own: Collection[str]) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.level == 0 and (statement.module or "").split(".")[0] not in own
    return isinstance(statement, ast.Import) and not any(each.name.split(".")[0] in own for each in statement.names)


def _is_sentence(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_stub(node: ast.stmt) -> bool:
    """Return whether a function or class does nothing but say so."""
    if not isinstance(node, Definition):
        return False
    body = [each for each in node.body if not _is_sentence(each)]
    if isinstance(node, ast.ClassDef):
        methods = [each for each in body if isinstance(each, ast.FunctionDef)]
        return len(methods) == len(body) and all(_raises_not_implemented(each.body[-1]) for each in methods)
    return all(isinstance(each, ast.Pass) or _raises_not_implemented(each) for each in body)


def _raises_not_implemented(statement: ast.stmt) -> bool:
    raised = statement.exc if isinstance(statement, ast.Raise) else None
    name = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"
