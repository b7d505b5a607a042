"""What isolation costs, measured: the same checks three ways, side by side in one run.

The machine may be shared and noisy, so what counts are the ratios, taken round by
round, with their spread.
"""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.corpus import Recording, draw
from engine.intake import take_in
from engine.pipeline import Judge, pinned, tier_for
from engine.records import GraderFault
from engine.rubric import read_rubric
from engine.verify import EXAMPLES, FOUNDATION, holds
from engine.worker import tools

ROUNDS = 5
ISOLATED, UNSAFE, PYTEST = "isolated, recorded inputs", "in one process, recorded inputs (unsafe)", "one pytest process"

# What a course without a grader writes: Hypothesis properties that import the student's file.
PYTEST_FILE = """
import importlib.util
import pytest
from checks.subject import InProcess
from checks.contract import signature_of
from engine.corpus import reference_module
from engine.rubric import all_checks
from engine.truth import Truth
from engine.bench import found, imported
from pathlib import Path

SUBMISSION = imported(Path({folder!r}))

@pytest.mark.parametrize("check", all_checks().values(), ids=lambda check: check.id)
def test_check(check):
    module = check.of.split(".")[0]
    handed = {{name: InProcess(found(SUBMISSION, module, name), signature_of(module, name))
              for name in check.functions}}
    if check.needs_truth:
        handed["truth"] = Truth(reference_module(check.of))
    check.run(lambda **drawn: check.body(**handed, **drawn), number=0, examples={examples}, shrink=True)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds per submission of one way to grade, round by round."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.seconds)

    def times(self, other: Measured) -> tuple[float, float, float]:
        """Return how many times the other's cost this one is: the median of the rounds, the least, the most."""
        ratios = [mine / theirs for mine, theirs in zip(self.seconds, other.seconds, strict=True)]
        return statistics.median(ratios), min(ratios), max(ratios)


def bench(rounds: int = ROUNDS) -> list[Measured]:
    """Grade a right submission in a worker, in this process, and in a pytest process of its own."""
    rubric = read_rubric()
    recordings = draw(rubric.code_checks, number=0, examples=rubric.examples)
    folder = EXAMPLES / FOUNDATION
    (submission,) = take_in([folder])
    with pinned(), Judge(rubric, recordings, tier_for(trusted=False)) as judge, tempfile.TemporaryDirectory() as place:
        test = Path(place) / "test_submission.py"
        test.write_text(PYTEST_FILE.format(folder=str(folder), examples=rubric.examples), encoding="utf-8")

        def isolated() -> None:
            _require(judge.result(submission).score == sum(item.points for item in rubric.items), ISOLATED)

        ways: Mapping[str, Callable[[], None]] = {
            ISOLATED: isolated,
            UNSAFE: lambda: _in_process(folder, recordings),
            PYTEST: lambda: _pytest(test),
        }
        isolated()  # the zygote is warm before the first round
        taken = [{name: _seconds(way) for name, way in ways.items()} for _ in range(rounds)]
    return [Measured(name, tuple(round_[name] for round_ in taken)) for name in ways]


def report(measured: Sequence[Measured]) -> str:
    """Return the figures as people read them."""
    base = measured[0]
    lines = [f"{'seconds per submission':<44} {'median':>8} {'spread':>15}   ratio to isolated (least to most)"]
    for way in measured:
        middle, least, most = way.times(base)
        spread = f"{min(way.seconds):.2f} to {max(way.seconds):.2f}"
        lines.append(f"{way.name:<44} {way.median:>8.2f} {spread:>15}   {middle:.2f} ({least:.2f} to {most:.2f})")
    return "\n".join(lines)


def imported(folder: Path) -> dict[str, ModuleType]:
    """Import a submission's files into this process. Only for measuring: it is what grading must never do."""
    modules = {}
    for path in sorted(folder.glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise GraderFault(f"{path} cannot be imported")
        modules[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[path.stem])
    return modules


def _in_process(folder: Path, recordings: Sequence[Recording]) -> None:
    modules = imported(folder)
    for recording in recordings:
        find = partial(found, modules, recording.check.of.split(".", 1)[0])
        for example in recording.examples:
            _require(holds(recording.check, example, find), UNSAFE)


def found(modules: Mapping[str, ModuleType], own: str, name: str) -> Callable[..., Any]:
    """Return a function of the submission, from the module's own file or another, or the tool of that name."""
    for place in (modules.get(own), *modules.values(), tools):
        if hasattr(place, name):
            function: Callable[..., Any] = getattr(place, name)
            return function
    raise GraderFault(f"the submission has no {name}")


def _pytest(test: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", str(test)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=EXAMPLES.parents[1])  # noqa: S603
    _require(done.returncode == 0, f"{PYTEST}: {done.stdout[-500:]}")


def _seconds(way: Callable[[], None]) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start


def _require(condition: bool, way: str) -> None:
    if not condition:
        raise GraderFault(f"the right submission was not accepted: {way}")
