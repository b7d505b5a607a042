"""What a function of the contract takes and returns, in shapes.

A shape is written as in the contract: `... n d` has any leading dimensions, then n
and d; "" is a plain number. A parameter written `=n` is a number whose value is the
size n; a dict of arrays is written as a dict of shapes; None binds nothing. A result
is a shape, a dict of shapes, or a function of the arguments that returns the shape; or
one of the kinds OBJECT, TEXT and PARAMETERS.
The same table says what a reply must look like, what a handout's stub shows, and what
a message means by "expected shape".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from checks.expect import Array, Failure

NUMBER = ""  # the shape of a plain number
OBJECT = "object"  # a result that stays where it was made: a trained model, a module
TEXT = "text"  # a result that is a str
PARAMETERS = "parameters"  # a result that is a dict of arrays under names of the submission's own

Pattern = str | Mapping[str, str] | None
Result = str | Mapping[str, str] | Callable[[tuple[Any, ...]], tuple[int, ...]]
Shape = tuple[int, ...] | dict[str, tuple[int, ...]] | str  # TEXT and PARAMETERS stand for themselves


@dataclass(frozen=True, slots=True)
class Signature:
    """One function of the contract."""

    module: str
    name: str
    parameters: Mapping[str, Pattern]
    returns: tuple[Result, ...]  # one per result
    defaults: Mapping[str, str] = field(default_factory=dict)
    weights_allowed: bool = False  # (output, weights) is as good as output
    steps: bool = False  # jumps: rounding of the input is no excuse for another output

    @property
    def makes_object(self) -> bool:
        """Whether the result is an object of the submission's own, only ever handed back to it."""
        return self.returns == (OBJECT,)

    @property
    def id(self) -> str:
        """The id of the item, module.function."""
        return f"{self.module}.{self.name}"

    def __str__(self) -> str:
        shown = [name + (f"={self.defaults[name]}" if name in self.defaults else "") for name in self.parameters]
        return f"{self.name}({', '.join(shown)})"

    def shapes(self, arguments: tuple[Any, ...]) -> tuple[Shape, ...]:
        """Return the shapes the results must have for these arguments."""
        if self.makes_object:
            return ()
        sizes: dict[str, tuple[int, ...]] = {}
        for pattern, argument in zip(self.parameters.values(), arguments, strict=False):
            _bind(pattern, argument, sizes)
        return tuple(_resolved(result, sizes, arguments) for result in self.returns)

    def accept(self, value: Any, arguments: tuple[Any, ...], shapes: tuple[Shape, ...] = ()) -> Any:
        """Return the reply as float64 arrays of the right shapes, or raise the Failure that says what it is.

        `shapes` are those of the arguments, if somebody has worked them out before.
        """
        if self.makes_object:
            if value is None:
                raise Failure(f"{self.name} returned {_described(value)}; expected an object to work with.")
            return value
        shapes = shapes or self.shapes(arguments)
        if len(shapes) == 1:
            if self.weights_allowed and isinstance(value, tuple) and len(value) == 2 and not _fits(value, shapes[0]):
                value = value[0]
            return self._accept_one(value, shapes[0], "")
        if not isinstance(value, list | tuple) or len(value) != len(shapes):
            wanted = " and ".join(_expected(shape) for shape in shapes)
            raise Failure(f"{self.name} returned {_described(value)}; expected {len(shapes)} results: {wanted}.")
        return tuple(
            self._accept_one(part, shape, f"[{position}]")
            for position, (part, shape) in enumerate(zip(value, shapes, strict=True))
        )

    def _accept_one(self, value: Any, shape: Shape, place: str) -> Any:
        """Accept one result; `place` is the index that leads to it, "" if it is the only one."""
        if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == shape:
            return value.copy()  # as it should be: nearly all are, and there are tens of thousands
        subject = f"Result {place} of {self.name} is" if place else f"{self.name} returned"
        if isinstance(shape, dict):
            return self._accept_dict(value, shape, place)
        if isinstance(shape, str):
            return _accept_named(value, shape, subject)
        array = _as_numbers(value)
        if array is None:
            raise Failure(f"{subject} {_described(value)}; expected {_expected(shape)}.")
        if np.iscomplexobj(array):
            raise Failure(f"{subject} complex; expected real numbers.")
        if shape == () and array.size == 1:
            array = array.reshape(())
        if array.shape != shape:
            wanted = _expected(shape)
            sentence = f"{subject} {_described(array)}; expected {wanted}."
            raise Failure(sentence, gave=f"shape {array.shape}", expected=wanted)
        return array.astype(np.float64)

    def _accept_dict(self, value: Any, shapes: dict[str, tuple[int, ...]], place: str) -> dict[str, Array]:
        subject = f"Result {place} of {self.name} is" if place else f"{self.name} returned"
        keys = ", ".join(shapes)
        if not isinstance(value, dict):
            raise Failure(f"{subject} {_described(value)}; expected a dict with the keys {keys}.")
        absent = [key for key in shapes if key not in value]
        if absent:
            raise Failure(f"{subject} a dict without the key {absent[0]!r}; expected the keys {keys}.")
        return {key: self._accept_one(value[key], shape, f"{place}[{key!r}]") for key, shape in shapes.items()}


def _accept_named(value: Any, kind: str, subject: str) -> Any:
    """Return a text, or a dict of arrays as they are: what goes back to the submission keeps its precision."""
    if kind == TEXT:
        if not isinstance(value, str):
            raise Failure(f"{subject} {_described(value)}; expected {_expected(kind)}.")
        return value
    if not isinstance(value, dict) or not value:
        given = "an empty dict" if isinstance(value, dict) else _described(value)
        raise Failure(f"{subject} {given}; expected {_expected(kind)}.")
    arrays = {key: _as_numbers(entry) for key, entry in value.items()}
    for key, array in arrays.items():
        if array is None:
            raise Failure(f"{subject} a dict whose entry {key!r} is {_described(value[key])}; expected an array.")
    return arrays


def _resolved(result: Result, sizes: Mapping[str, tuple[int, ...]], arguments: tuple[Any, ...]) -> Shape:
    if result in (TEXT, PARAMETERS):
        return str(result)
    if isinstance(result, Mapping):
        return {key: _sizes_of(shape, sizes) for key, shape in result.items()}
    return _sizes_of(result, sizes) if isinstance(result, str) else result(arguments)


def _sizes_of(shape: str, sizes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    return sum(((int(token),) if token.isdigit() else sizes[token] for token in shape.split()), ())


def _fits(value: Any, shape: Shape) -> bool:
    array = _as_numbers(value)
    return array is not None and array.shape == shape


def _bind(pattern: Pattern, argument: Any, sizes: dict[str, tuple[int, ...]]) -> None:
    if pattern is None or argument is None:
        return
    if isinstance(pattern, Mapping):
        for key, shape in pattern.items():
            _bind(shape, argument[key], sizes)
        return
    if pattern.startswith("="):
        sizes[pattern[1:]] = (int(argument),)
        return
    tokens = pattern.split()
    shape = np.shape(argument)
    if tokens[:1] == ["..."]:
        tokens = tokens[1:]
        split = len(shape) - len(tokens)
        sizes.setdefault("...", shape[:split])
        shape = shape[split:]
    for token, size in zip(tokens, shape, strict=True):
        if not token.isdigit():
            sizes.setdefault(token, (size,))


def _as_numbers(value: Any) -> Array | None:
    """Return the value as an array of numbers, or None if it is none."""
    if not _may_be_numbers(value):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):  # a ragged list, a list of arrays of different shapes
        return None
    if array.dtype == object and array.ndim == 0 and isinstance(value, int):
        array = np.asarray(float(value)) if abs(value) < 10**300 else array
    return array if array.dtype.kind in "biufc" else None


def _may_be_numbers(value: Any) -> bool:
    """Return whether no text lies in a value: NumPy would give every entry of a list the room of its longest one."""
    if isinstance(value, list | tuple):
        return all(map(_may_be_numbers, value))
    return value is not None and not isinstance(value, str | bytes | dict)


def _described(value: Any) -> str:
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}" if value.shape else "a number"
    if isinstance(value, list | tuple):
        return (
            f"a {type(value).__name__} of {len(value)} that is no array of numbers"
            if len(value) != 2
            else (f"a {type(value).__name__} of two")
        )
    if type(value).__name__ == "Opaque":  # all that crossed the border is the name of its type
        return f"an object of type {value.type_name}"
    return f"a {type(value).__name__}"


def _expected(shape: Shape) -> str:
    if isinstance(shape, dict):
        return f"a dict with the keys {', '.join(shape)}"
    if isinstance(shape, str):
        return "a str" if shape == TEXT else "a dict of arrays that is not empty"
    return "a number" if shape == () else f"an array of shape {shape}"
