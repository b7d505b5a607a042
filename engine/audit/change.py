"""Changes of the reference: a place in a definition, and what stands there instead.

An operator looks at one node and yields what somebody might have written in its place: something wrong
(mutate.py), or something as right as before (rewrite.py).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Any

from engine.audit.source import Definition, Part, definitions, tree_of

Place = tuple[tuple[str, int], ...]  # the way from a definition to a node: field and position, -1 if it is no list
SHORT = 16  # characters: a piece that does not speak for itself


@dataclass(frozen=True, slots=True)
class Change:
    """One node of a definition, and what stands in its place."""

    part: Part
    place: Place
    operator: str
    new: ast.AST = field(compare=False)
    text: str  # what it does, in code: `old → new`

    @property
    def name(self) -> str:
        """How it is called in reports and in explained.toml."""
        return f"{self.part.name}: {self.text}"


@dataclass(frozen=True, slots=True)
class Mutant:
    """An implementation of an item with one change of the reference, or two."""

    item: str
    changes: tuple[Change, ...]

    @property
    def name(self) -> str:
        """The item and what was changed."""
        return f"{self.item} | {' & '.join(change.name for change in self.changes)}"

    def trees(self) -> dict[str, ast.Module]:
        """Return the changed files of the reference, by stem."""
        changed: dict[str, ast.Module] = {}
        for part in dict.fromkeys(change.part for change in self.changes):
            tree = changed.setdefault(part.stem, ast.Module(list(tree_of(part.stem).body), []))
            tree.body[_position(part)] = self._definition(part)
        return changed

    def _definition(self, part: Part) -> Any:
        definition = copy.deepcopy(definitions(part.stem)[part.name])
        for change in self.changes:
            if change.part == part:
                _replace(definition, change.place, copy.deepcopy(change.new))
        return ast.fix_missing_locations(definition)

    def diff(self) -> str:
        """Return the changed definitions as a unified diff."""
        lines: list[str] = []
        for part in dict.fromkeys(change.part for change in self.changes):
            before, after = (ast.unparse(d) for d in (definitions(part.stem)[part.name], self._definition(part)))
            name = f"reference/{part.stem}.py"
            lines += unified_diff(before.splitlines(), after.splitlines(), name, f"{name} (changed)", n=1, lineterm="")
        return "\n".join(lines)


def _position(part: Part) -> int:
    return tree_of(part.stem).body.index(definitions(part.stem)[part.name])


def changes(part: Part, operators: Mapping[str, Operator]) -> list[Change]:
    """Return every change of one definition; those that come to the same text are one."""
    definition = definitions(part.stem)[part.name]
    scope = Scope.of(definition)
    texts: dict[str, int] = {}
    seen: set[tuple[int, str]] = set()
    found = []
    for place, node in _nodes(definition):
        line = _line(definition, place)
        seen.add((id(line), ast.unparse(line)))
        for name, look in operators.items():
            for new in look(node, scope):
                changed = id(line), _unparsed(definition, place, new)
                if changed in seen:
                    continue
                seen.add(changed)
                text = _described(node, new, line)
                texts[text] = texts.get(text, 0) + 1
                numbered = text if texts[text] == 1 else f"{text} ({texts[text]})"
                found.append(Change(part, place, name, new, numbered))
    return found


def _line(definition: Definition, place: Place) -> ast.AST:
    """Return the innermost statement that holds a place."""
    here: Any = definition
    line: ast.AST = definition
    for name, position in place[:-1]:
        value = getattr(here, name)
        here = value[position] if position >= 0 else value
        line = here if isinstance(here, ast.stmt) else line
    return line


def _unparsed(definition: Definition, place: Place, new: ast.AST) -> str:
    """Return the line with a change in it; the change is made and taken back."""
    old = _replace(definition, place, ast.fix_missing_locations(new))
    try:
        return ast.unparse(_line(definition, place))
    finally:
        _replace(definition, place, old)


def _described(node: ast.AST, new: ast.AST, line: ast.AST) -> str:
    """Say what a change does; a short piece is told with the line it stands in."""
    old = ast.unparse(node)
    text = f"{old} → {ast.unparse(new)}"
    if len(old) > SHORT or isinstance(node, ast.stmt):
        return text
    return f"{text} in {ast.unparse(line).splitlines()[0]}"


def compatible(first: Change, second: Change) -> bool:
    """Return whether two changes can be made together: neither lies in what the other replaces."""
    shared = min(len(first.place), len(second.place))
    return first.part != second.part or first.place[:shared] != second.place[:shared]


def _nodes(definition: Definition) -> Iterator[tuple[Place, ast.AST]]:
    """Yield the nodes that compute something, with their places."""
    skipped = {"decorator_list", "bases", "ctx", "targets", "target", "annotation"}

    def visit(node: ast.AST, place: Place) -> Iterator[tuple[Place, ast.AST]]:
        if place and not isinstance(node, ast.arguments | ast.arg | ast.operator | ast.cmpop | ast.unaryop):
            yield place, node
        for name, value in ast.iter_fields(node):
            if name in skipped or (name == "func" and isinstance(value, ast.Name)):
                continue
            several = value if isinstance(value, list) else [value]
            for position, child in enumerate(several):
                if isinstance(child, ast.AST) and not isinstance(child, ast.AnnAssign):
                    yield from visit(child, (*place, (name, position if isinstance(value, list) else -1)))

    yield from visit(definition, ())


def _replace(tree: ast.AST, place: Place, new: ast.AST) -> ast.AST:
    """Put a node in its place and return what was there."""
    node: Any = tree
    for name, position in place[:-1]:
        value = getattr(node, name)
        node = value[position] if position >= 0 else value
    name, position = place[-1]
    old: ast.AST = getattr(node, name)
    if position >= 0:
        old = getattr(node, name)[position]
        getattr(node, name)[position] = new
    else:
        setattr(node, name, new)
    return old


@dataclass(frozen=True, slots=True)
class Scope:
    """What else is at hand where a change is made."""

    names: tuple[str, ...]  # parameters and local variables, in the order of their first use
    arrays: tuple[str, ...]  # parameters that are arrays
    keys: tuple[str, ...]  # of dicts
    rebound: frozenset[str]  # names that had a value before

    @classmethod
    def of(cls, definition: Definition) -> Scope:
        """Return the names and keys of a definition."""
        nodes = list(ast.walk(definition))
        parameters = [node.arg for node in nodes if isinstance(node, ast.arg) and node.arg != "self"]
        bound = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        converted = {
            ast.unparse(node.args[0])
            for node in nodes
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"_floating", "np.asarray"} and node.args
        }
        return cls(
            tuple(dict.fromkeys([*parameters, *bound])),
            tuple(name for name in parameters if name in converted),
            tuple(dict.fromkeys(key_of(node) for node in nodes if key_of(node))),
            frozenset(name for name in bound if name in parameters or bound.count(name) > 1),
        )


def key_of(node: ast.AST) -> str:
    """Return the key of `params["W1"]` and the like, or nothing."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return node.slice.value
    return ""


Operator = Callable[[Any, Scope], Iterator[ast.AST]]


def expression(text: str, **parts: ast.AST) -> ast.expr:
    """Return an expression; names in it that are given stand for these nodes."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return copy.deepcopy(parts[node.id]) if node.id in parts else node

    return Fill().visit(ast.parse(text, mode="eval").body)  # type: ignore[no-any-return]


def called(node: ast.AST) -> str:
    """Return the last name of what a call calls: sum for x.sum(…) and for np.sum(…)."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


LIBRARIES = frozenset({"np", "math", "torch", "nn", "self", "unicodedata", "rng"})


def subject(node: ast.Call) -> ast.expr | None:
    """Return what a call is applied to: its first argument, or the array whose method it is."""
    if isinstance(node.func, ast.Name) or ast.unparse(node.func).split(".", 1)[0] in LIBRARIES:
        return node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def with_fields(node: ast.AST, **fields: Any) -> Any:
    """Return a copy of a node with other fields."""
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, copy.deepcopy(value))
    return changed
