"""The functions of positional.py."""

from __future__ import annotations

from collections.abc import Mapping

from checks.contract.signature import NUMBER, Pattern, Result, Signature

_BASE = {"base": "10000.0"}


def _positional(name: str, parameters: Mapping[str, Pattern], returns: Result, *, steps: bool = False) -> Signature:
    defaults = _BASE if "base" in parameters else {}
    return Signature("positional", name, parameters, (returns,), defaults, steps=steps)


FUNCTIONS = (
    _positional("sinusoidal_encoding", {"length": "=length", "d": "=d", "base": None}, "length d"),
    _positional("wavelengths", {"d": None, "base": None}, lambda given: (int(given[0]) // 2,)),
    _positional("added_score", {"x1": "d", "p1": "d", "x2": "d", "p2": "d"}, NUMBER),
    _positional("concatenated_score", {"x1": "d", "p1": "e", "x2": "d", "p2": "e"}, NUMBER),
    _positional("relative_bias_matrix", {"bias": "offsets", "n": "=n"}, "n n"),
    _positional("relative_parameter_count", {"T": None, "heads": None}, NUMBER, steps=True),
)
