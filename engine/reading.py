"""What a submission's code uses, found by reading it: names are followed as Python follows them, nothing is run.

Only what is certain is said. A name that is bound twice, handed in or put together from strings means nothing
here; the worker sees such a call when it is made (engine/worker/forbidden.py).
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from engine.records import Source

READ_LIMIT = 2**20  # characters of one submission; a person writes a hundredth of that
WALK_LIMIT = 100_000  # nodes of its code that are looked at, likewise
DEEPEST_ALIAS = 20
LATER = 2**31  # the line of a binding that some call may make at any time
PRELOADED = {"numpy", "torch"} | sys.stdlib_module_names  # a submission's own file of that name is not what is imported
IMPORTERS = ("importlib.import_module", "builtins.__import__")
SHOWN = (
    "callable",
    "dir",
    "hasattr",
    "hash",
    "help",
    "id",
    "isinstance",
    "issubclass",
    "print",
    "repr",
    "str",
    "type",
    "vars",
)
COPIED = ("functools.update_wrapper", "functools.wraps", "inspect.getdoc", "inspect.getsource", "inspect.signature")
LOOKED_AT = frozenset((*(f"builtins.{name}" for name in SHOWN), *COPIED))  # these call nothing they are given

Function = ast.FunctionDef | ast.AsyncFunctionDef
Defined = Function | ast.ClassDef


class Role(StrEnum):
    """What the code does with a thing from outside; the words are the report's."""

    CALLS = "calls"
    USES = "uses"  # hands it on, inherits from it, offers it as its own
    NAMES = "names"
    IMPORTS = "imports"


class Use(NamedTuple):
    """One use of something that is not the submission's, by its full name."""

    path: str
    role: Role
    file: str
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A function or class of the submission."""

    node: Defined
    scope: Scope
    file: str  # as a traceback names it: a notebook's cells have numbers

    @property
    def place(self) -> tuple[str, str]:
        """File and name, as a running function's code object states them."""
        return self.file, self.node.name


@dataclass(frozen=True, slots=True, eq=False)
class _Expression:
    """The value of a name of a file, which is neither a definition nor a thing from outside."""

    node: ast.expr
    scope: Scope
    file: str


class _Outside(NamedTuple):
    """What an import binds."""

    path: str


_Value = _Outside | Defined | ast.expr | None


class _Bound(NamedTuple):
    """One binding of a name; no value: it can be anything."""

    value: _Value
    conditional: bool
    file: str
    line: int


@dataclass(eq=False, slots=True)
class Scope:
    """The names of a file, class, function or comprehension."""

    names: dict[str, list[_Bound]]
    parent: Scope | None = None
    is_class: bool = False
    stars: list[_Bound] = field(default_factory=list)

    @property
    def visible(self) -> Scope | None:
        """The scope a function in this one sees first: a class' names are not seen by its methods."""
        return self.parent if self.is_class else self


Meaning = str | Definition | _Expression | Scope | None  # a path outside, or something of the submission's


class Reading:
    """A submission's files, parsed when they are first needed."""

    def __init__(self, sources: Sequence[Source], has: Callable[[str], bool]) -> None:
        self._sources = {source.name.rsplit(".", 1)[0].replace("/", "."): source for source in sources}
        self._has = has  # whether a full name of something outside exists: for `from … import *`
        self._scopes: dict[str, Scope] = {}
        self._pieces: dict[ast.AST, _Piece] = {}
        self._mentions: dict[ast.AST, set[str]] = {}
        self._bound: dict[tuple[Scope, str], _Bound | None] = {}
        self._left = READ_LIMIT
        self._steps = WALK_LIMIT

    def find(self, module: str, function: str, arity: int, contract: Sequence[str]) -> tuple[Meaning, str, int] | None:
        """Return what a function of the contract is, and where it is bound, found as the worker finds it."""
        others = sorted(key for key in self._sources if key != module)
        for key in (module, *others):
            bound = self._last(self._scope(key), function)
            if bound is None:
                continue
            if key == module or key not in contract or _takes(bound.value, arity):
                return self._value(bound, self._scope(key), 0), bound.file, bound.line
        return None

    def uses(self, root: tuple[Meaning, str, int], apart: Sequence[Definition]) -> list[Use]:
        """Return what the code reached from a function uses, its own first; `apart` is not looked into."""
        first = _Piece(self)
        first.refer(root[0], Role.USES, root[1], root[2])
        closed: set[ast.AST] = {each.node for each in apart}
        reached: set[ast.AST] = set()
        found = first.uses
        waiting = deque(first.leads_to)
        while waiting:
            each = waiting.popleft()
            if each.node not in reached and each.node not in closed:
                reached.add(each.node)
                piece = self._piece(each)
                found += piece.uses
                waiting += piece.leads_to
        return found + self._imports(reached)

    def _piece(self, code: Definition | _Expression) -> _Piece:
        """Return what one definition or value uses; each is looked into once, whoever leads there."""
        if code.node not in self._pieces:
            piece = self._pieces[code.node] = _Piece(self, code.file)
            with suppress(RecursionError, _Endless):  # what was found so far is true all the same
                piece.visit(code.node, code.scope, Role.USES)
        return self._pieces[code.node]

    def step(self) -> None:
        """Count one more node; a submission that never ends is not read to its end."""
        self._steps -= 1
        if self._steps < 0:
            raise _Endless

    def _imports(self, reached: set[ast.AST]) -> list[Use]:
        """Return the imports of the files read from, but for those that only other functions are there for."""
        found = []
        for scope in self._scopes.values():
            definitions = [b.value for several in scope.names.values() for b in several if isinstance(b.value, Defined)]
            if not any(node in reached for node in definitions):
                continue
            used = set().union(*(self._mentioned(node) for node in definitions if node not in reached))
            found += [
                Use(bound.value.path, Role.IMPORTS, bound.file, bound.line)
                for name, several in scope.names.items() if name not in used
                for bound in several if isinstance(bound.value, _Outside) and self.is_outside(bound.value.path)
            ]  # fmt: skip
        return found

    def _mentioned(self, node: ast.AST) -> set[str]:
        if node not in self._mentions:
            self._mentions[node] = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        return self._mentions[node]

    def is_outside(self, path: str) -> bool:
        """Return whether an import is of something that is not the submission's."""
        return isinstance(self._at(path, 0), str)

    def resolve(self, node: ast.expr, scope: Scope, depth: int = 0) -> Meaning:
        """Return what an expression means, None if that is not certain."""
        if depth > DEEPEST_ALIAS:
            return None
        match node:
            case ast.Name(id=name):
                return self._named(name, scope, depth)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(self.resolve(value, scope, depth + 1), name, depth)
            case ast.NamedExpr(value=value):
                return self.resolve(value, scope, depth + 1)
            case ast.Call(func=function, args=[ast.Constant(value=str(path)), *_]):
                importer = self.resolve(function, scope, depth + 1)
                if importer in IMPORTERS:
                    return self._at(path if importer == IMPORTERS[0] else path.split(".")[0], depth)
            case ast.Call(func=function, args=[value, ast.Constant(value=str(name)), *_]):
                if self.resolve(function, scope, depth + 1) == "builtins.getattr":
                    return self._attribute(self.resolve(value, scope, depth + 1), name, depth)
        return None

    def _named(self, name: str, scope: Scope, depth: int) -> Meaning:
        place: Scope | None = scope
        while place is not None:
            if place.parent is None:
                bound = self._last(place, name)
                if bound is not None:
                    return self._value(bound, place, depth)
            elif name in place.names:
                several = place.names[name]
                meaning = self._value(several[0], place, depth) if len(several) == 1 else None
                return None if isinstance(meaning, _Expression) else meaning
            place = place.parent
        return f"builtins.{name}" if hasattr(builtins, name) else None

    def _last(self, file: Scope, name: str) -> _Bound | None:
        """Return the binding of a file's name that counts once the file has run; no value where that is open."""
        if (file, name) not in self._bound:
            self._bound[file, name] = self._looked_up(file, name)
        return self._bound[file, name]

    def _looked_up(self, file: Scope, name: str) -> _Bound | None:
        stars = [
            _Bound(_Outside(f"{star.value.path}.{name}"), star.conditional, star.file, star.line)
            for star in file.stars
            if isinstance(star.value, _Outside) and self._offers(star.value.path, name)
        ]
        several = sorted([*file.names.get(name, []), *stars], key=_position)
        if not several:
            return None
        last = several[-1]
        return last._replace(value=None) if last.conditional and len(several) > 1 else last

    def _offers(self, module: str, name: str) -> bool:
        """Return whether `from module import *` binds a name."""
        if name.startswith("_"):
            return False
        if module in self._sources:
            return name in self._scope(module).names
        return self._has(f"{module}.{name}")

    def _value(self, bound: _Bound, scope: Scope, depth: int) -> Meaning:
        match bound.value:
            case None:
                return None
            case _Outside(path=path):
                return self._at(path, depth + 1)
            case ast.expr() as node:
                meaning = self.resolve(node, scope, depth + 1)
                return meaning if meaning is not None else _Expression(node, scope, bound.file)
            case node:
                return Definition(node, scope, bound.file)

    def _at(self, path: str, depth: int) -> Meaning:
        """Return what an absolute name means; a submission's own files go before packages."""
        parts = path.split(".")
        if parts[0] not in PRELOADED:
            for length in range(len(parts), 0, -1):
                key = ".".join(parts[:length])
                if key in self._sources:
                    meaning: Meaning = self._scope(key)
                    for name in parts[length:]:
                        meaning = self._attribute(meaning, name, depth)
                    return meaning
        return path

    def _attribute(self, meaning: Meaning, name: str, depth: int) -> Meaning:
        if isinstance(meaning, str):
            return self._at(f"{meaning}.{name}", depth) if depth <= DEEPEST_ALIAS else None
        if isinstance(meaning, Scope) and depth <= DEEPEST_ALIAS:
            bound = self._last(meaning, name)
            return self._value(bound, meaning, depth + 1) if bound is not None else None
        return None

    def _scope(self, key: str) -> Scope:
        """Return the names of a file; none if there is no such file, or it cannot be read."""
        if key not in self._scopes:
            self._scopes[key] = scope = Scope({})
            source = self._sources.get(key)
            for number, cell in enumerate(source.cells if source else (), start=1):
                assert source is not None
                file = f"{source.name}[{number}]" if source.is_notebook else source.name
                self._left -= len(cell)
                for name, bound in _bindings(_parsed(cell) if self._left >= 0 else [], file, key):
                    (scope.stars if name == "*" else scope.names.setdefault(name, [])).append(bound)
        return self._scopes[key]


class _Endless(Exception):
    """More code than anybody writes."""


class _Piece:
    """What one definition or value uses, and the code of the submission it leads to."""

    def __init__(self, reading: Reading, file: str = "") -> None:
        self.uses: list[Use] = []
        self.leads_to: list[Definition | _Expression] = []
        self._reading = reading
        self._file = file

    def refer(self, meaning: Meaning, role: Role, file: str, line: int) -> None:
        """Take note of a reference: to something outside, or to more code of the submission."""
        if isinstance(meaning, str):
            self.uses.append(Use(meaning, role, file, line))
        elif isinstance(meaning, Definition | _Expression):
            self.leads_to.append(meaning)

    def visit(self, node: ast.AST, scope: Scope, role: Role = Role.NAMES) -> None:
        """Look at a node; `role` is what happens to the value it has."""
        self._reading.step()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scope)
            case ast.ClassDef():
                outside = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
                self._all(outside, scope, Role.USES)
                inner = Scope(_grouped(_bindings(node.body, self._file, "")), scope.visible, is_class=True)
                self._all(node.body, inner)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inner = Scope(_opaque(_stored(node)), scope.visible)
                self._all(ast.iter_child_nodes(node), inner)
            case ast.Import() | ast.ImportFrom():
                self.uses += [
                    Use(bound.value.path, Role.IMPORTS, self._file, node.lineno)
                    for _, bound in _bindings([node], self._file, "")
                    if isinstance(bound.value, _Outside) and self._reading.is_outside(bound.value.path)
                ]
            case ast.AnnAssign():  # the annotation is no use
                self._all([node.target, *([node.value] if node.value else [])], scope)
            case ast.Name(ctx=ast.Store() | ast.Del()):
                pass
            case ast.expr() if (meaning := self._reading.resolve(node, scope)) is not None:
                self.refer(meaning, role, self._file, node.lineno)
            case ast.Call():
                self._call(node, scope)
            case _:
                self._all(ast.iter_child_nodes(node), scope)

    def _all(self, nodes: Sequence[ast.AST] | Iterator[ast.AST], scope: Scope, role: Role = Role.NAMES) -> None:
        for node in nodes:
            self.visit(node, scope, role)

    def _call(self, node: ast.Call, scope: Scope) -> None:
        self.visit(node.func, scope, Role.CALLS)
        looked_at = self._reading.resolve(node.func, scope) in LOOKED_AT
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        self._all(given, scope, Role.NAMES if looked_at else Role.USES)

    def _function(self, node: Function | ast.Lambda, scope: Scope) -> None:
        """Look into a function: decorators and defaults belong to the scope around, annotations are no use."""
        defaults = [default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None]
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        self._all([*getattr(node, "decorator_list", []), *defaults], scope, Role.USES)
        arguments = node.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = _opaque({argument.arg for argument in given if argument is not None})
        if not isinstance(node, ast.Lambda):
            shared = {name for each in ast.walk(node) if isinstance(each, ast.Global) for name in each.names}
            for name, several in _grouped(_bindings(node.body, self._file, "")).items():
                if name not in shared:
                    names[name] = [*names.get(name, []), *several]
        self._all(body, Scope(names, scope.visible))


def _parsed(text: str) -> list[ast.stmt]:
    """Return the statements; none of a text that is no Python, which fails at import anyway."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _position(bound: _Bound) -> tuple[int, int]:
    """Return where a binding stands; a notebook's cells run in their order."""
    cell = bound.file.rsplit("[", 1)[-1].rstrip("]")
    return int(cell) if cell.isdigit() else 0, bound.line


def _bindings(
    body: Sequence[ast.stmt], file: str, module: str, *, conditional: bool = False
) -> Iterator[tuple[str, _Bound]]:
    """Yield the names statements bind, in order; what only a script does is left out."""
    for statement in body:
        for name, value in _bound_by(statement, module):
            yield name, _Bound(value, conditional, file, statement.lineno)
        if isinstance(statement, Defined):
            shared = [name for each in ast.walk(statement) if isinstance(each, ast.Global) for name in each.names]
            yield from ((name, _Bound(None, conditional=True, file=file, line=LATER)) for name in shared)
            continue
        perhaps = conditional or not isinstance(statement, ast.With)
        for block in _blocks(statement):
            yield from _bindings(block, file, module, conditional=perhaps)


def _bound_by(statement: ast.stmt, module: str) -> Iterator[tuple[str, _Value]]:
    """Yield the names one statement binds, without those of the statements in it."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name, statement
        case ast.Import(names=aliases):
            for alias in aliases:
                first = alias.name.split(".")[0]
                yield alias.asname or first, _Outside(alias.name if alias.asname else first)
        case ast.ImportFrom(names=aliases):
            package = _package(statement, module)
            for alias in aliases:
                path = package if alias.name == "*" else f"{package}.{alias.name}"
                yield alias.asname or alias.name, _Outside(path)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case _:
            parts = [each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt)]
            yield from ((name, None) for part in parts for name in sorted(_stored(part)))


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the statements inside a statement; not those of `if __name__ == "__main__"`, which never run here."""
    match statement:
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return
    inside = [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    for each in (statement, *inside):
        for name in ("body", "orelse", "finalbody"):
            if getattr(each, name, None):
                yield getattr(each, name)


def _package(statement: ast.ImportFrom, module: str) -> str:
    """Return the absolute name an import is from."""
    around = module.split(".")[: -statement.level] if statement.level else []
    return ".".join([*around, *([statement.module] if statement.module else [])])


def _stored(node: ast.AST) -> set[str]:
    """Return the names that anything in a node binds."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    caught = {each.name for each in ast.walk(node) if isinstance(each, ast.ExceptHandler | ast.MatchAs | ast.MatchStar)}
    return names | {name for name in caught if name}


def _opaque(names: set[str]) -> dict[str, list[_Bound]]:
    return {name: [_Bound(None, conditional=False, file="", line=0)] for name in names}


def _grouped(bindings: Iterator[tuple[str, _Bound]]) -> dict[str, list[_Bound]]:
    grouped: dict[str, list[_Bound]] = {}
    for name, bound in bindings:
        grouped.setdefault(name, []).append(bound)
    return grouped


def _takes(value: object, arity: int) -> bool:
    """Return whether a definition takes that many arguments by position."""
    if not isinstance(value, ast.FunctionDef):
        return True
    positional = [*value.args.posonlyargs, *value.args.args]
    required = len(positional) - len(value.args.defaults)
    return required <= arity and (arity <= len(positional) or value.args.vararg is not None)
