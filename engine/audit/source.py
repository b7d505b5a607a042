"""The reference as trees that can be changed: what an item is made of, and how to run a changed copy of it.

A student writes all of an item's function, so a change in a function it calls makes a wrong
implementation of it as well: `parts` follows calls through the reference, across its files.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import reference
from checks.contract import SIGNATURES
from engine.corpus import reference_module
from engine.worker import tools

FOLDER = Path(reference.__path__[0])
# They turn what is given into an array. A change there is about types, not about the formula.
CONVERSIONS = frozenset({"_floating"})

Definition = ast.FunctionDef | ast.ClassDef | ast.Assign
Find = Callable[[str], Callable[..., Any]]  # from a name to the function behind it


@dataclass(frozen=True, slots=True)
class Part:
    """One definition of the reference: a function, a class, or a constant of a file."""

    stem: str  # of the file
    name: str


@cache
def tree_of(stem: str) -> ast.Module:
    """Return a file of the reference without what does nothing when it runs: docstrings, types, casts."""
    return _Plain().visit(ast.parse((FOLDER / f"{stem}.py").read_text(encoding="utf-8")))  # type: ignore[no-any-return]


class _Plain(ast.NodeTransformer):
    """Take docstrings, annotations of functions, and casts away."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        for argument in (*node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        node.body = [_unannotated(statement) for statement in node.body if not _declares_only(statement)]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node.args[1] if isinstance(node.func, ast.Name) and node.func.id == "cast" else node


def _declares_only(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and statement.value is None


def _unannotated(statement: ast.stmt) -> ast.stmt:
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return ast.copy_location(ast.Assign([statement.target], statement.value), statement)
    return statement


def definitions(stem: str) -> Mapping[str, Definition]:
    """Return what a file defines, by name; conversions and names of types are not for changing."""
    found: dict[str, Definition] = {}
    for node in tree_of(stem).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name not in CONVERSIONS:
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return found


def parts_of(stem: str, functions: Iterable[str]) -> list[Part]:
    """Return the definitions these functions are made of: themselves first, then what they call."""
    found: list[Part] = []
    waiting = [_located(stem, name) for name in functions]
    while waiting:
        part = waiting.pop(0)
        if part is None or part in found:
            continue
        found.append(part)
        names = [node.id for node in ast.walk(definitions(part.stem)[part.name]) if isinstance(node, ast.Name)]
        waiting += [_located(part.stem, name) for name in dict.fromkeys(names)]
    return found


def _located(stem: str, name: str) -> Part | None:
    """Return where a name that a file uses is defined: there, or in the file it is imported from."""
    if name in definitions(stem):
        return Part(stem, name)
    for node in tree_of(stem).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reference."):
            origin = str(node.module).removeprefix("reference.")
            if name in [alias.name for alias in node.names] and name in definitions(origin):
                return Part(origin, name)
    classes = f"{stem}_modules"  # the torch half of a module
    if (FOLDER / f"{classes}.py").exists() and name in definitions(classes):
        return Part(classes, name)
    return None


def is_item(part: Part) -> bool:
    """Return whether a definition is a function of the contract, and so tried by itself."""
    module = part.stem.removesuffix("_modules")
    return f"{module}.{part.name}" in SIGNATURES


class Implementation:
    """The functions of a module by name, called like the item's own function.

    This is what a `Misconception` holds: a mutant can be diagnosed like a student.
    """

    def __init__(self, module: ModuleType, main: str) -> None:
        self._module = module
        self._main = main

    def __call__(self, *arguments: Any) -> Any:
        """Call the item's function."""
        return getattr(self._module, self._main)(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def found_in(module: ModuleType) -> Find:
    """Return how to find the functions of a module, and our tools."""

    def find(name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(module, name, None) or getattr(tools, name)
        return found

    return find


@dataclass(frozen=True, slots=True)
class Loaded:
    """A changed reference: the module of an item, and the globals of all files it is made of."""

    module: ModuleType
    namespaces: list[dict[str, Any]]

    @property
    def find(self) -> Find:
        """How to find its functions."""
        return found_in(self.module)


def load(item: str, changed: Mapping[str, ast.Module], functions: Iterable[str]) -> Loaded:
    """Run changed files of the reference and return the item's module made with them.

    The reference itself stays as it is: the changed files are known by their names only meanwhile.
    """
    known = {name: module for name, module in sys.modules.items() if name.startswith("reference.")}
    for name in known:
        del sys.modules[name]
    try:
        for stem, tree in changed.items():
            module = ModuleType(f"reference.{stem}")
            sys.modules[module.__name__] = module
            exec(compile(ast.fix_missing_locations(tree), f"<changed {stem}>", "exec"), vars(module))  # noqa: S102 - our own code, changed
        module = reference_module(item)
        for name in functions:  # the torch half of a module is looked up when it is asked for: ask now
            setattr(module, name, getattr(module, name))
        return Loaded(module, [vars(each) for name, each in sys.modules.items() if name.startswith("reference.")])
    finally:
        for name in [name for name in sys.modules if name.startswith("reference.")]:
            del sys.modules[name]
        sys.modules.update(known)
