"""What a rubric forbids: entries are read and refused here, and held against what a submission's code uses.

    [item."attention.scaled_dot_product_attention"]
    forbid = ["torch.nn.functional.scaled_dot_product_attention", "torch.nn.MultiheadAttention"]

An entry is a function, a class or a module. A function that is another item's own answers for itself: what it uses
is not held against those who call it. What reading cannot see, the worker refuses when it is called.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import inspect
import keyword
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from types import BuiltinFunctionType, ModuleType
from typing import Any

from checks.contract import MODULES, SIGNATURES
from engine.reading import Definition, Reading, Role, Use
from engine.records import RubricError, Source

IN_CALLS = (Role.CALLS, Role.USES)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a submission may not use, item by item, and where it does so all the same."""

    forbidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)  # functions of other items
    found: Mapping[str, str] = field(default_factory=dict)  # the sentence on it

    @property
    def names(self) -> list[str]:
        """Everything that is forbidden anywhere."""
        return sorted({name for several in self.forbidden.values() for name in several})


NO_RULES = Rules()


class Policy:
    """What every item of a rubric forbids.

    `functions` are what each item is about; `graded` are all items of the rubric, whether they are run or not.
    """

    def __init__(
        self, forbidden: Mapping[str, tuple[str, ...]], functions: Mapping[str, Sequence[str]], graded: Sequence[str]
    ) -> None:
        self._forbidden = {item: names for item, names in forbidden.items() if names}
        self._functions = functions
        self._graded = graded

    def rules(self, sources: Sequence[Source]) -> Rules:
        """Read a submission's code."""
        if not self._forbidden:
            return NO_RULES
        reading = Reading(sources, has=lambda path: _object(path) is not None)
        own = {
            name: reading.find(row.module, row.name, len(row.parameters), MODULES) for name, row in SIGNATURES.items()
        }
        apart: dict[str, tuple[tuple[str, str], ...]] = {}
        found: dict[str, str] = {}
        for item, names in self._forbidden.items():
            others = [
                root[0]
                for name in self._graded
                if name != item and (root := own.get(name)) is not None and isinstance(root[0], Definition)
            ]
            apart[item] = tuple(other.place for other in others)
            for root in (own[name] for name in self._functions[item]):
                uses = reading.uses(root, others) if root is not None else []
                if item not in found and (said := _first(uses, names)):
                    found[item] = said
        return Rules(self._forbidden, apart, found)


def _first(uses: Sequence[Use], names: Sequence[str]) -> str:
    """Return the sentence on the first use of something forbidden, "" if there is none."""
    for use in uses:
        for name in names:
            if (use.role in IN_CALLS or is_module(name)) and _is_of(use.path, name):
                return told(name, use.file, use.line, str(use.role))
    return ""


def told(name: str, file: str, line: int, does: str = Role.CALLS) -> str:
    """Say what is used where, and that it must not be."""
    place = f"{file}, line {line}: " if file else "It "
    if is_module(name):
        does = Role.IMPORTS if does == Role.IMPORTS else Role.USES
        return f"{place}{does} {name}, which this exercise asks you to do without."
    return f"{place}{does} {name}, which this exercise asks you to write yourself."


def _is_of(path: str, name: str) -> bool:
    """Return whether a full name is the forbidden one, lies in it, or is another name of the same thing."""
    if f"{path}.".startswith(f"{name}."):
        return True
    wanted = _thing(name)
    parts = path.split(".")
    if wanted is None or parts[0] != name.split(".", 1)[0]:
        return False
    return any(_is_same(_object(".".join(parts[:length])), wanted) for length in range(2, len(parts) + 1))


def _is_same(first: Any, second: Any) -> bool:
    if isinstance(first, BuiltinFunctionType) and isinstance(second, BuiltinFunctionType):
        return first == second  # a method of a C class is made anew whenever it is asked for
    return first is second


def is_module(name: str) -> bool:
    """Return whether an entry forbids a whole module; a package that is not installed here counts as one."""
    found = _thing(name)
    return isinstance(found, ModuleType) if found is not None else "." not in name


def _object(path: str) -> Any:
    """Return what a full name stands for among the packages that are loaded, or None.

    Nothing is imported and no code of a module runs: the name may be a student's.
    """
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        found: Any = sys.modules.get(".".join(parts[:length]))
        if found is not None:
            for name in parts[length:]:
                found = inspect.getattr_static(found, name, None)
            return found
    return None


def read_entries(value: Any, where: str) -> tuple[str, ...]:
    """Return the names a rubric forbids, or raise RubricError: an entry that means nothing would forbid nothing."""
    if not isinstance(value, list):
        raise RubricError(f'{where}: forbid must be a list of names, as in ["torch.nn.GRUCell"], not {value!r}')
    for name in value:
        if not isinstance(name, str) or not all(_is_name(part) for part in name.split(".")):
            raise RubricError(f"{where}: forbid takes names such as torch.nn.GRUCell, not {name!r}")
        _resolve(name, where)
    return tuple(dict.fromkeys(value))


def _is_name(part: str) -> bool:
    return part.isidentifier() and not keyword.iskeyword(part)


def _resolve(name: str, where: str) -> None:
    """Refuse an entry that its package does not have; a package that is not installed cannot be called anyway."""
    package = name.split(".", 1)[0]
    if package == "builtins" or hasattr(builtins, package):
        raise RubricError(f"{where}: forbid: {name} is a builtin, and those cannot be forbidden")
    try:
        found = _thing(name)
    except AttributeError as error:
        names = [each for each in dir(error.obj) if not each.startswith("_")]
        near = get_close_matches(str(error.name), names, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise RubricError(f"{where}: forbid: there is no {name}{hint}") from None
    if found is not None and not callable(found) and not isinstance(found, ModuleType):
        raise RubricError(f"{where}: forbid: {name} is neither a module nor something that is called")


@cache
def _thing(name: str) -> Any:
    """Return what an entry of a rubric stands for, its package loaded; None if that is not installed."""
    package, *parts = name.split(".")
    if importlib.util.find_spec(package) is None:
        return None
    found: Any = importlib.import_module(package)
    for position, part in enumerate(parts, start=2):
        if not hasattr(found, part) and isinstance(found, ModuleType):
            with suppress(ImportError):
                importlib.import_module(".".join(name.split(".")[:position]))
        found = getattr(found, part)
    return found
