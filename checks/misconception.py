"""A misconception: a wrong implementation with a name, so that feedback can say what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


@dataclass(frozen=True, slots=True)
class Misconception:
    """One mistake in one function.

    `of` is the item's id, `name` the short phrase of the diagnosis, `why` one sentence for the
    student on what they seem to have done, and `function` computes what the mistake computes. For an
    item over several functions it is a class that holds the mistaken ones as static methods; what it
    does not hold is taken from the reference.
    """

    of: str
    name: str
    why: str
    function: Callable[..., Any]


def misconception(*, of: str, name: str, why: str) -> Callable[[Callable[..., Any]], Misconception]:
    """Turn the decorated function into a Misconception.

    >>> @misconception(of="perplexity.entropy", name="sign lost", why="Logarithms of probabilities are negative.")
    ... def sign_lost(p): ...
    >>> sign_lost.name
    'sign lost'
    """

    def declare(function: Callable[..., Any]) -> Misconception:
        if isinstance(function, type):
            return Misconception(of=of, name=name, why=why, function=function)
        # A wrong formula may overflow or divide by zero, as the student's does: its warning is no news.
        return Misconception(of=of, name=name, why=why, function=np.errstate(all="ignore")(function))

    return declare


def misconceptions_in(module: ModuleType) -> list[Misconception]:
    """Return the misconceptions that `module` defines, in the order of their definition.

    Those it imports belong to the module that defines them: counted twice, one mistake would
    look like two.
    """
    return [
        value
        for value in vars(module).values()
        if isinstance(value, Misconception) and value.function.__module__ == module.__name__
    ]


def functions_of(
    mistake: Misconception, reference: ModuleType, tools: ModuleType
) -> Callable[[str], Callable[..., Any]]:
    """Return how to find the functions of a submission with this one mistake."""

    def find(name: str) -> Callable[..., Any]:
        if name == mistake.of.split(".", 1)[1]:
            return mistake.function
        for place in (mistake.function, reference, tools):
            if hasattr(place, name):
                found: Callable[..., Any] = getattr(place, name)
                return found
        raise LookupError(f"{mistake.of} asks for {name}, which nobody has")

    return find
