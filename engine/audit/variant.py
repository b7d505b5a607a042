"""Right implementations that every check must accept: written by hand, rewritten by rule, or of another type.

A right one that is turned away is the worst mistake a grader can make, so there are many, and they are
as different from the reference as right ones can be.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from checks.contract import FILES, SIGNATURES
from checks.contract.signature import TEXT
from engine.audit.change import Mutant
from engine.audit.rewrite import right_changes
from engine.audit.source import Find, found_in, is_item, load, parts_of
from engine.corpus import reference_module

BY_HAND, BY_RULE, BY_TYPE = "written by hand", "rewritten by rule", "of another type"


@dataclass(frozen=True, slots=True)
class Right:
    """A right implementation of an item; a class holds the functions of an item that has several."""

    of: str
    function: Callable[..., Any]


def right(of: str) -> Callable[[Callable[..., Any]], Right]:
    """Declare a function, or a class of static methods, a right implementation of an item."""
    return partial(Right, of)


@dataclass(frozen=True, slots=True)
class Variant:
    """A right implementation that can be run; `find` loads it, so call it where that does no harm."""

    name: str
    kind: str
    find: Callable[[], Find]


def variants_of(item: str, functions: Sequence[str]) -> list[Variant]:
    """Return all right implementations of an item."""
    return [*_by_hand(item), *_by_rule(item, functions), *_by_type(item)]


def _by_hand(item: str) -> list[Variant]:
    return [
        Variant(f"{item} | {each.function.__name__}", BY_HAND, partial(_found, each))
        for each in _written()
        if each.of == item
    ]


@cache
def _written() -> list[Right]:
    modules = [importlib.import_module(f"engine.audit.variants.{stem}") for stem in FILES]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Right)]


def _found(each: Right) -> Find:
    """Return how to find its functions; what it does not have is taken from the reference, and our tools."""

    def find(name: str) -> Callable[..., Any]:
        if name in vars(each.function):
            found: Callable[..., Any] = getattr(each.function, name)
            return found
        return each.function if each.of.endswith(f".{name}") else found_in(reference_module(each.of))(name)

    return find


def _by_rule(item: str, functions: Sequence[str]) -> list[Variant]:
    parts = [p for p in parts_of(item.split(".", 1)[0], functions) if p.name in functions or not is_item(p)]
    mutants = [Mutant(item, (change,)) for part in parts for change in right_changes(part)]
    return [Variant(mutant.name, BY_RULE, partial(_loaded, mutant, functions)) for mutant in mutants]


def _loaded(mutant: Mutant, functions: Sequence[str]) -> Find:
    return load(mutant.item, mutant.trees(), functions).find


def _by_type(item: str) -> list[Variant]:
    """Return the reference computing in single precision, and returning other types than arrays."""
    signature = SIGNATURES.get(item)
    if signature is None or signature.makes_object or signature.returns == (TEXT,):
        return []
    forms = {
        "in single precision": (_single, _same),
        "returning lists": (_same, _listed),
        "returning tensors": (_same, _tensor),
    }
    return [
        Variant(f"{item} | {name}", BY_TYPE, partial(_typed, item, before, after))
        for name, (before, after) in forms.items()
    ]


def _typed(item: str, before: Callable[[Any], Any], after: Callable[[Any], Any]) -> Find:
    module, name = reference_module(item), item.split(".", 1)[1]

    def function(*arguments: Any) -> Any:
        return _mapped(after, getattr(module, name)(*_mapped(before, arguments)))

    return lambda asked: function if asked == name else found_in(module)(asked)


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply a change to every array and number of a value."""
    if isinstance(value, list | tuple):
        return type(value)(_mapped(change, entry) for entry in value)
    if isinstance(value, dict):
        return {key: _mapped(change, entry) for key, entry in value.items()}
    return change(value)


def _same(value: Any) -> Any:
    return value


def _single(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.float32) if value.dtype.kind == "f" else value
    return np.float32(value) if isinstance(value, float) else value


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _tensor(value: Any) -> Any:
    import torch

    return torch.as_tensor(np.asarray(value)) if isinstance(value, np.ndarray | np.generic) else value
