"""What a check may expect, and the one exception it raises when the expectation fails.

Tolerances come from the problem. `Expected.margin` is measured by the judge for the
input at hand (docs/tolerances.md); a law that compares a submission with itself states
the size of the numbers that were added up and takes `ROUNDING` of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The contract accepts float32 wherever the values are right, so single precision is
# the roundoff a right answer may have. A few hundred operations, each off by 2^-24:
SINGLE = 2.0**-24
ROUNDING = 256 * SINGLE  # 1.5e-5, two orders below the 1e-3 that must never pass
DIGITS = 6
ENTRIES_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Expected:
    """A true value, and how far a right implementation may be from it on this input."""

    value: Array
    margin: float


@dataclass(frozen=True, slots=True)
class Call:
    """A call a student can paste, e.g. softmax(np.array([1.0, 2.0])).sum(axis=-1)."""

    name: str
    arguments: tuple[Any, ...]
    suffix: str = ""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(shown(argument) for argument in self.arguments)}){self.suffix}"


def call(name: str, *arguments: Any, then: str = "") -> Call:
    """Describe the call a check is about; `then` is what the check looks at, such as `.sum(axis=-1)`."""
    return Call(name, arguments, then)


class Failure(Exception):
    """A claim does not hold: the sentence, and the smallest evidence at hand."""

    def __init__(self, sentence: str, *, call: str = "", gave: str = "", expected: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.call = call
        self.gave = gave
        self.expected = expected


def expect_close(
    about: Call, *, got: Any, want: Any, scale: float = 1.0, sentence: str = "", same_as: Call | None = None
) -> None:
    """Expect two results to be equal up to rounding; infinities must match exactly.

    A law that compares a submission with itself says so with `same_as`: what the other call gave is
    what this one should have given, whether or not it is right.
    """
    margin = want.margin if isinstance(want, Expected) else ROUNDING * scale
    expected = np.asarray(want.value if isinstance(want, Expected) else want, dtype=np.float64)
    given = np.asarray(got, dtype=np.float64)
    if given.shape == expected.shape and _all_close(given, expected, margin):
        return
    source = f", as {same_as} gives" if same_as else ""  # written only now: most laws hold most of the time
    if given.shape != expected.shape:
        raise Failure(
            f"The result has shape {given.shape}, expected {expected.shape}.",
            call=str(about), gave=f"shape {given.shape}", expected=f"shape {expected.shape}{source}",
        )  # fmt: skip
    gave, wanted = shown_apart(given, expected)
    raise Failure(sentence or _difference(given, expected), call=str(about), gave=gave, expected=wanted + source)


def expect(about: Call, *, holds: bool, gave: Any, expected: str, sentence: str = "") -> None:
    """Expect a condition; `expected` says it in words, `gave` is what was returned."""
    if not holds:
        text = shown(gave, DIGITS)
        raise Failure(sentence or f"It gave {_clipped(text)}.", call=str(about), gave=text, expected=expected)


def expect_finite(about: Call, *, got: Any) -> None:
    """Expect no NaN and no infinity."""
    given = np.asarray(got, dtype=np.float64)
    kind = "NaN" if np.isnan(given).any() else "an infinite number"
    expect(about, holds=bool(np.isfinite(given).all()), gave=given, expected="finite numbers",
           sentence=f"The result contains {kind}.")  # fmt: skip


def expect_unchanged(about: Call, *, before: tuple[Any, ...], after: tuple[Any, ...], names: tuple[str, ...]) -> None:
    """Expect that the arguments come back as they went in."""
    for name, old, new in zip(names, before, after, strict=False):  # defaults may be left out
        if changed(old, new):
            raise Failure(
                f"The call changed its argument {name}.",
                call=str(about), gave=f"{name} became {shown(new)}", expected=f"{name} still {shown(old)}",
            )  # fmt: skip


def changed(before: Any, after: Any) -> bool:
    """Return whether any array in an argument was written to."""
    if isinstance(before, np.ndarray):
        equal = isinstance(after, np.ndarray) and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
        return not equal
    if isinstance(before, dict):
        return not isinstance(after, dict) or any(changed(value, after.get(key)) for key, value in before.items())
    if isinstance(before, list | tuple):
        pairs = zip(before, after, strict=False) if isinstance(after, list | tuple) else ()
        return not isinstance(after, list | tuple) or len(before) != len(after) or any(changed(a, b) for a, b in pairs)
    return False


def _all_close(given: Array, expected: Array, margin: float) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):  # NaN compares false, which is the verdict we want
        if margin < np.inf and (np.abs(given - expected) <= margin).all():
            return True
        finite = np.isfinite(expected)  # the difference of two equal infinities is no number
        return np.array_equal(given[~finite], expected[~finite]) and bool(
            (np.abs(given[finite] - expected[finite]) <= margin).all()
        )


def _difference(given: Array, expected: Array) -> str:
    if np.isnan(given).any():
        return "The result contains NaN."
    if np.isinf(given).any() and not np.isinf(expected).any():
        return "The result contains an infinite number."
    both = np.isfinite(given) & np.isfinite(expected)
    if not both.any():
        return "The result differs from what is expected."
    return f"The result is off by {np.abs(given - expected)[both].max():.3g}."


def shown_apart(given: Array, expected: Array) -> tuple[str, str]:
    """Write two arrays with as many digits as it takes to tell them apart."""
    for digits in (DIGITS, 9, 13, 17):
        gave, wanted = shown(given, digits), shown(expected, digits)
        if gave != wanted:
            break
    return gave, wanted


def shown(value: Any, digits: int | None = None) -> str:
    """Write a value as Python that can be pasted; results get `digits`, inputs are written in full."""
    if isinstance(value, np.ndarray):
        body = _shown_array(value, digits)
        return body if digits is not None else f"np.array({body})"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return _shown_number(float(value), digits)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {shown(entry, digits)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        inside = ", ".join(shown(entry, digits) for entry in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    return _clipped(repr(value))


def _shown_array(array: Array, digits: int | None) -> str:
    if array.size > ENTRIES_SHOWN:
        return f"<{array.dtype} of shape {array.shape}, first entries {_shown_array(array.ravel()[:6], digits)}>"
    if array.ndim == 0:
        return _shown_number(array.item(), digits)
    if array.size == 0:
        return f"<empty, shape {array.shape}>"
    if array.ndim == 1:
        return "[" + ", ".join(_shown_number(entry, digits) for entry in array.tolist()) + "]"
    return "[" + ", ".join(_shown_array(row, digits) for row in array) + "]"


def _shown_number(number: Any, digits: int | None) -> str:
    if isinstance(number, bool | int):
        return str(number)
    if isinstance(number, complex):
        return repr(number)
    if not np.isfinite(number):
        return {"inf": "np.inf", "-inf": "-np.inf"}.get(str(number), "np.nan")
    if digits is None:
        return repr(number)
    text = f"{number:.{digits}g}"
    return text if any(mark in text for mark in ".en") else f"{text}.0"


def _clipped(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
