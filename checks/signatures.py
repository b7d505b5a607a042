"""The contract's functions: what they take, what they return, in shapes.

A shape is written as in the contract: `... n d` has any leading dimensions, then n
and d. A parameter written `=n` is a number whose value is the size n. The same table
says what a reply must look like, what a handout's stub shows, and what a message
means by "expected shape".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.expect import Array, Failure

NUMBER = ""  # the shape of a plain number


@dataclass(frozen=True, slots=True)
class Signature:
    """One function of the contract."""

    module: str
    name: str
    parameters: Mapping[str, str | None]  # None: anything, its shape binds nothing
    returns: tuple[str, ...]  # one shape per result
    defaults: Mapping[str, str]
    whole: bool = False  # results are whole numbers
    weights_allowed: bool = False  # (output, weights) is as good as output
    steps: bool = False  # jumps: rounding of the input is no excuse for another output

    @property
    def id(self) -> str:
        """The id of the item, module.function."""
        return f"{self.module}.{self.name}"

    def __str__(self) -> str:
        shown = [name + (f"={self.defaults[name]}" if name in self.defaults else "") for name in self.parameters]
        return f"{self.name}({', '.join(shown)})"

    def shapes(self, arguments: tuple[Any, ...]) -> tuple[tuple[int, ...], ...]:
        """Return the shapes the results must have for these arguments."""
        sizes: dict[str, tuple[int, ...]] = {}
        for pattern, argument in zip(self.parameters.values(), arguments, strict=False):
            _bind(pattern, argument, sizes)
        return tuple(sum((_size(token, sizes) for token in shape.split()), ()) for shape in self.returns)

    def accept(self, value: Any, arguments: tuple[Any, ...]) -> Any:
        """Return the reply as float64 arrays of the right shapes, or raise the Failure that says what it is."""
        shapes = self.shapes(arguments)
        if len(shapes) > 1:
            return self._accept_several(value, shapes)
        array = _as_numbers(value)
        if array is not None and array.shape == shapes[0]:
            return self._checked(array)
        if self.weights_allowed and isinstance(value, tuple) and len(value) == 2:
            array = _as_numbers(value[0])
        if array is None:
            raise Failure(f"{self.name} returned {_described(value)}; expected {_expected(shapes[0])}.")
        if shapes[0] == () and array.size == 1:
            array = array.reshape(())
        if array.shape != shapes[0]:
            raise _wrong_shape(self.name, array.shape, shapes[0])
        return self._checked(array)

    def _accept_several(self, value: Any, shapes: tuple[tuple[int, ...], ...]) -> tuple[Array, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(shapes):
            wanted = " and ".join(_expected(shape) for shape in shapes)
            raise Failure(f"{self.name} returned {_described(value)}; expected {len(shapes)} results: {wanted}.")
        results = []
        for position, (part, shape) in enumerate(zip(value, shapes, strict=True), start=1):
            array = _as_numbers(part)
            if array is None:
                raise Failure(f"Result {position} of {self.name} is {_described(part)}; expected {_expected(shape)}.")
            if array.shape != shape:
                raise _wrong_shape(f"Result {position} of {self.name}", array.shape, shape)
            results.append(self._checked(array))
        return tuple(results)

    def _checked(self, array: Array) -> Array:
        if np.iscomplexobj(array):
            raise Failure(f"{self.name} returned complex numbers; expected real ones.")
        return array.astype(np.float64)


def _bind(pattern: str | None, argument: Any, sizes: dict[str, tuple[int, ...]]) -> None:
    if pattern is None or argument is None:
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
        sizes.setdefault(token, (size,))


def _size(token: str, sizes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    return (int(token),) if token.isdigit() else sizes[token]


def _as_numbers(value: Any) -> Array | None:
    """Return the value as an array of numbers, or None if it is none."""
    if value is None or isinstance(value, str | dict):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):  # a ragged list, a list of arrays of different shapes
        return None
    if array.dtype == object and array.ndim == 0 and isinstance(value, int):
        array = np.asarray(float(value)) if abs(value) < 10**300 else array
    return array if array.dtype.kind in "biufc" else None


def _described(value: Any) -> str:
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, np.ndarray):
        return f"one array of shape {value.shape}"
    if isinstance(value, list | tuple):
        return (
            f"a {type(value).__name__} of {len(value)} that is no array of numbers"
            if len(value) != 2
            else (f"a {type(value).__name__} of two")
        )
    if type(value).__name__ == "Opaque":  # all that crossed the border is the name of its type
        return f"an object of type {value.type_name}"
    return f"a {type(value).__name__}"


def _expected(shape: tuple[int, ...]) -> str:
    return "a number" if shape == () else f"an array of shape {shape}"


def _wrong_shape(subject: str, got: tuple[int, ...], want: tuple[int, ...]) -> Failure:
    wanted = "a number" if want == () else f"shape {want}"
    return Failure(
        f"{subject} {'returned' if 'Result' not in subject else 'has'} shape {got}, expected {wanted}.",
        gave=f"shape {got}",
        expected=wanted,
    )


def _table(module: str, *rows: Signature) -> dict[str, Signature]:
    return {row.id: row for row in rows}


def _attention(name: str, parameters: Mapping[str, str | None], *returns: str, **more: Any) -> Signature:
    defaults = {"axis": "-1"} if name == "softmax" else {}
    defaults |= {"mask": "None"} if "mask" in parameters else {}
    return Signature("attention", name, parameters, returns, defaults, **more)


SIGNATURES: dict[str, Signature] = _table(
    "attention",
    _attention("softmax", {"x": "...", "axis": None}, "..."),
    _attention("dot_product_attention", {"q": "d", "K": "n d", "V": "n v"}, "v", "n"),
    _attention(
        "scaled_dot_product_attention",
        {"Q": "... n d", "K": "... m d", "V": "... m v", "mask": None}, "... n v", weights_allowed=True,
    ),
    _attention("causal_mask", {"n": "=n"}, "n n", steps=True),
    _attention(
        "self_attention",
        {"X": "... n d", "W_q": "d h", "W_k": "d h", "W_v": "d h", "mask": None}, "... n h", weights_allowed=True,
    ),
    _attention(
        "multi_head_attention",
        {"X": "... n d", "W_q": "heads d h", "W_k": "heads d h", "W_v": "heads d h", "W_o": "rows d", "mask": None},
        "... n d", weights_allowed=True,
    ),
    _attention(
        "relative_bias_attention",
        {"Q": "n d", "K": "n d", "V": "n v", "bias": "offsets"}, "n v", weights_allowed=True,
    ),
    _attention("argmax_attention", {"Q": "n d", "K": "m d", "V": "m v"}, "n v", weights_allowed=True, steps=True),
    _attention("receptive_field", {"heads": None, "levels": None}, NUMBER, whole=True, steps=True),
    _attention("additive_attention", {"q": "a", "H": "n b", "W1": "s a", "W2": "s b", "v": "s"}, "b", "n"),
    _attention("attentive_rnn", {"xs": "T d", "h0": "h", "W": "h d", "U": "h h"}, "T h", weights_allowed=True),
    _attention("projection_matrix", {"A": "d m"}, "d d"),
    _attention("averaging_query", {"k_a": "d", "k_b": "d", "scale": None}, "d"),
    _attention("head_queries", {"mu_a": "d", "mu_b": "d", "scale": None}, "d", "d"),
)  # fmt: skip
