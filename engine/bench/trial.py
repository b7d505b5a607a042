"""One check as a peer's test tries it: Hypothesis draws anew, and the submission's functions are in this process.

Every peer's tests call `trial`, so all of them judge by the same laws, on the same inputs, with the same tolerances.
It imports no more than the one file of checks needs: a peer must not wait for what it does not use.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from checks.check import Check, checks_in
from checks.contract import signature_of
from checks.subject import InProcess
from engine.truth import Truth
from engine.worker import tools

NUMBER = 0  # the seed of the grade: every peer draws the same inputs


def trial(file: str, check_id: str, names: Mapping[str, Mapping[str, Any]], examples: int) -> None:
    """Raise unless the check, written in `file`, holds for the submission's names, given per module."""
    check = _checks(file)[check_id]
    module = check.of.split(".", 1)[0]
    handed: dict[str, Any] = {
        name: InProcess(found(names, module, name), signature_of(module, name)) for name in check.functions
    }
    if check.needs_truth:
        handed["truth"] = Truth(importlib.import_module(f"reference.{module}"))
    check.run(lambda **drawn: check.body(**handed, **drawn), number=NUMBER, examples=examples, shrink=True)


def imported(folder: Path) -> dict[str, dict[str, Any]]:
    """Import a submission's files into this process, and return their names. It is what grading must never do."""
    names = {}
    for path in sorted(folder.glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        names[path.stem] = vars(module)
    return names


@cache
def _checks(file: str) -> dict[str, Check]:
    return {check.id: check for check in checks_in(importlib.import_module(f"checks.{file}"))}


def found(names: Mapping[str, Mapping[str, Any]], own: str, name: str) -> Callable[..., Any]:
    """Return a function of the submission, from the module's own file or another, or the tool of that name."""
    for place in (names.get(own, {}), *names.values(), vars(tools)):
        if name in place:
            function: Callable[..., Any] = place[name]
            return function
    raise LookupError(f"the submission has no {name}")
