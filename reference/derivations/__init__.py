"""Why the reference is right: one file per result, each proved step by step. `grader derive` runs them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from reference.derivations.proof import Derivation

# In the order of the course: what a later one uses stands before it.
NAMES = (
    "sigmoid_symmetry",
    "sigmoid_derivative",
    "softmax_jacobian",
    "softmax_cross_entropy_gradient",
)


def derivation(name: str) -> Derivation:
    """Return one derivation; the file is read only now, since SymPy builds its expressions on import."""
    return cast("Derivation", import_module(f"reference.derivations.{name}").DERIVATION)
