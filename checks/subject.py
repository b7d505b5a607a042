"""The function a check is handed: called like the contract's, whatever is behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from checks.contract import Signature
from checks.expect import Failure


@dataclass(frozen=True, slots=True)
class Kept:
    """An object a submission made. A check hands it back and never looks inside."""

    number: int
    value: Any = field(default=None, compare=False, repr=False)  # only where it was made in this process

    def __repr__(self) -> str:
        return "model"


class InProcess:
    """A function of this process: the reference, a misconception, a mutant."""

    def __init__(self, function: Callable[..., Any], signature: Signature) -> None:
        self._function = function
        self._signature = signature

    def __call__(self, *arguments: Any) -> Any:
        """Return the result."""
        return self.with_arguments(*arguments)[0]

    def with_arguments(self, *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the result, and the arguments as they are after the call."""
        value, after = self.outcome(*arguments)
        return self.accepted(value, arguments), after

    def outcome(self, *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Call on copies, so that a function that changes its input harms nobody else; return just what it gives."""
        given = copied(arguments)
        try:
            with np.errstate(all="ignore"):
                return self._function(*(each.value if isinstance(each, Kept) else each for each in given)), given
        except Exception as error:
            raise raised(type(error).__name__, str(error)) from error

    def accepted(self, value: Any, arguments: tuple[Any, ...]) -> Any:
        """Return what a call gave as the contract takes it."""
        accepted = self._signature.accept(value, arguments)
        return Kept(id(accepted), accepted) if self._signature.makes_object else accepted


def copied(value: Any) -> Any:
    """Copy a value deep enough that writing into the copy's arrays leaves the original alone."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple):
        return type(value)(copied(entry) for entry in value)
    if isinstance(value, dict):
        return {key: copied(entry) for key, entry in value.items()}
    return value


def raised(type_name: str, message: str, lines: str = "") -> Failure:
    """Return the Failure for a submission that raised an exception of its own."""
    return Raised(f"It raised {type_name}: {message}" if message else f"It raised {type_name}.", gave=lines)


class Raised(Failure):
    """The submission's code raised; the sentence holds its message, `gave` its own lines."""
