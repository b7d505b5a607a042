"""Two mistakes at once: one in a function, and one in a function it is built on, such as attention's softmax.

A named mistake computes what it does with the reference's other functions. Here one of those is exchanged for a named
mistake of its own, so that the two together have answers to compare a submission with; and so has a right
function that is built on a wrong one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import reference
from checks.misconception import Misconception
from engine.corpus import reference_module

Mistakes = Mapping[str, Sequence[Misconception]]
# What students build other functions on. The reference's own shortcuts, such as an entropy that is a cross-entropy, are
# nobody else's.
BLOCKS = frozenset({
    "attention.softmax", "attention.scaled_dot_product_attention", "attention.self_attention", "gates.sigmoid",
    "transformer.layer_norm", "transformer.feed_forward",
})  # fmt: skip


def inherited(item: str, mistakes: Mistakes) -> Iterator[Misconception]:
    """Yield the item's right function, built on a wrong one."""
    for part in _parts(item, mistakes):  # none where the item is made of several functions
        for wrong in mistakes[part]:
            yield Misconception(item, _named(part, wrong), wrong.why, _built_on(_function(item), part, wrong))


def pairs(item: str, mistakes: Mistakes) -> Iterator[Misconception]:
    """Yield the item's wrong functions, each built on a wrong one."""
    for mistake in mistakes[item]:
        for part in _parts(item, mistakes):
            for wrong in mistakes[part]:
                name = f"{mistake.name}, and {_named(part, wrong)}"
                yield Misconception(item, name, f"{mistake.why} {wrong.why}", _built_on(mistake.function, part, wrong))


def _named(part: str, wrong: Misconception) -> str:
    return f"in its {part.split('.', 1)[1]}: {wrong.name}"


def _built_on(function: Callable[..., Any], part: str, wrong: Misconception) -> Callable[..., Any]:
    """Return a function that finds the mistake wherever it calls the part; the mistake itself finds the right one."""
    name, right = part.split(".", 1)[1], _function(part)

    def mistaken(*given: Any, **named: Any) -> Any:
        with _bound(name, mistaken, right):
            return wrong.function(*given, **named)

    def built(*given: Any, **named: Any) -> Any:
        with _bound(name, right, mistaken):
            return function(*given, **named)

    return built


@contextmanager
def _bound(name: str, old: Callable[..., Any], new: Callable[..., Any]) -> Iterator[None]:
    """Put one function in another's place, in every module of the reference."""
    spaces = [vars(module) for module in _modules() if vars(module).get(name) is old]
    for space in spaces:
        space[name] = new
    try:
        yield
    finally:
        for space in spaces:
            space[name] = old


def _parts(item: str, mistakes: Mistakes) -> list[str]:
    """Return the building blocks that an item's function calls, at any depth."""
    called: dict[str, None] = {}
    waiting = [_function(item)] if item in mistakes and hasattr(reference_module(item), item.split(".", 1)[1]) else []
    while waiting:
        function = waiting.pop()
        for name in _names(function.__code__) if isinstance(function, FunctionType) else ():
            found = function.__globals__.get(name)
            if isinstance(found, FunctionType) and (found.__module__ or "").startswith(f"{reference.__name__}."):
                key = f"{found.__module__.rsplit('.', 1)[1]}.{found.__name__}"
                if key not in called and key != item:
                    called[key] = None
                    waiting.append(found)
    return [key for key in called if key in BLOCKS]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _function(item: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(reference_module(item), item.split(".", 1)[1])
    return function


@cache
def _modules() -> tuple[ModuleType, ...]:
    """Return the modules of functions in NumPy: those in torch are imported by nobody who does not need them."""
    names = [each.name for each in pkgutil.iter_modules(reference.__path__) if not each.ispkg]
    return tuple(
        importlib.import_module(f"{reference.__name__}.{name}") for name in names if name != "transformer_modules"
    )
