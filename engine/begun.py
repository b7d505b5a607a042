"""What is begun of a submission, found by reading it: nothing is run, and nothing but the standard library imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches

from engine.records import Source


class Written:
    """What the files of a submission define, by reading them."""

    def __init__(self, sources: Sequence[Source]) -> None:
        # A file that is as it was handed out is not even imported: one of them asks for torch, which takes seconds.
        own = {source.stem for source in sources}
        self.begun = tuple(each for each in sources if not all(_is_empty(cell, own) for cell in each.cells))
        cells = [cell for source in sources for cell in source.cells]
        self._words = frozenset(word for cell in cells for word in re.findall(r"\w+", cell))
        defined = [node for cell in cells for node in _definitions(cell)]
        self._names = [node.name for node in defined]
        written = {node.name for node in defined if not _is_stub(node)}
        self._stubs: Collection[str] = {node.name for node in defined} - written

    @property
    def mentions_torch(self) -> bool:
        """Whether what is begun may want torch."""
        return any(map(mentions_torch, self.begun))

    def has_begun(self, function: str, contract: Collection[str]) -> bool:
        """Return whether there is anything to judge a function by: itself, or a name near to it.

        A name that is in the `contract` is another function's, however near it is.
        """
        name = function.split(".", 1)[1]
        if name in self._stubs:
            return False
        names = [each for each in self._names if each not in contract]
        folded = {each.replace("_", "").lower() for each in names}
        is_near = name.replace("_", "").lower() in folded or get_close_matches(name, names, n=1, cutoff=0.75)
        return name in self._words or bool(is_near)  # as near as the worker calls it when it is asked for the function


def mentions_torch(source: Source) -> bool:
    """Return whether a file may want torch."""
    return any(re.search(r"\btorch\b", cell) for cell in source.cells)


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
