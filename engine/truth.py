"""The reference as the judge uses it: in extended precision, with the error a right answer may have.

The margin is measured, not chosen. A right algorithm in single precision returns the
exact result of slightly different inputs (that is what numerical stability means), so
the reference is evaluated again on inputs whose entries are moved by one unit of single
precision, up or down, and once in single precision throughout; the largest change says how
much rounding this input can cost. docs/tolerances.md has the argument and the measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from checks.contract import SIGNATURES, Signature
from checks.expect import SINGLE, Expected

PERTURBATIONS = 4
SAFETY = 16  # random signs reach a fraction of the worst case; intermediate steps round as well
SAFETY_IN_SINGLE = 8  # one right computation's real error; another order of the same steps may have a few times that
OWN_ROUNDING = 64 * SINGLE  # of the largest entry: sums and products that no perturbation of the input shows


class Truth:
    """The reference: functions by the contract's names return Expected values, any other function what it returns."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._stem = module.__name__.rsplit(".", 1)[-1]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(self._module, name)
        signature = SIGNATURES.get(f"{self._stem}.{name}")
        if signature is None:
            return function
        return lambda *arguments: expected(function, signature, arguments)


def expected(function: Callable[..., Any], signature: Signature, arguments: tuple[Any, ...]) -> Any:
    """Return what the function must give for these arguments: an Expected wherever its result has an array."""
    exact = signature.accept(function(*_cast(arguments, np.longdouble)), arguments)
    moved: list[tuple[float, Any]] = []
    if not signature.steps:
        with np.errstate(all="ignore"):  # what overflows in single precision is not finite, and not counted
            for number in range(PERTURBATIONS):
                nearby = _perturbed(_cast(arguments, np.longdouble), number)
                moved.append((SAFETY, signature.accept(function(*nearby), arguments)))
            moved.append((SAFETY_IN_SINGLE, signature.accept(function(*_cast(arguments, np.float32)), arguments)))
    return _with_margins(exact, moved)


def _with_margins(exact: Any, moved: list[tuple[float, Any]]) -> Any:
    if isinstance(exact, tuple):
        return tuple(_with_margins(part, [(s, other[i]) for s, other in moved]) for i, part in enumerate(exact))
    if isinstance(exact, dict):
        return {key: _with_margins(part, [(s, other[key]) for s, other in moved]) for key, part in exact.items()}
    spread = max((safety * _distance(exact, other) for safety, other in moved), default=0.0)
    return Expected(exact, spread + OWN_ROUNDING * _size(exact))


def _cast(value: Any, real: type[np.floating[Any]]) -> Any:
    """Return the arguments with every real number in another precision."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(real)
    if isinstance(value, float):
        return real(value)
    if isinstance(value, list | tuple):
        return type(value)(_cast(entry, real) for entry in value)
    if isinstance(value, dict):
        return {key: _cast(entry, real) for key, entry in value.items()}
    return value


def _perturbed(value: Any, number: int) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        signs = np.random.default_rng([number, *value.shape]).choice([-1.0, 1.0], size=value.shape)
        return value * (1 + np.longdouble(SINGLE) * signs)
    if isinstance(value, np.longdouble):
        return value * (1 + np.longdouble(SINGLE) * (-1.0) ** number)
    if isinstance(value, list | tuple):
        return type(value)(_perturbed(entry, number + 10 * i) for i, entry in enumerate(value, start=1))
    if isinstance(value, dict):
        return {key: _perturbed(entry, number + 10 * i) for i, (key, entry) in enumerate(value.items(), start=1)}
    return value


def _distance(first: Any, second: Any) -> float:
    finite = np.isfinite(first) & np.isfinite(second)
    return float(np.abs(first[finite] - second[finite]).max(initial=0.0))


def _size(value: Any) -> float:
    return float(np.abs(value[np.isfinite(value)]).max(initial=0.0))
