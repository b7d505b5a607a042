"""The suite against itself: the reference holds, every example gets its outcome, every named mistake is caught.

An example holds one mistaken function. It is graded as it is, and once more laid over a
right submission, so that a mistake that spoils another item would show.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from checks.check import Check
from checks.contract import signature_of
from checks.expect import Failure
from checks.misconception import Misconception, functions_of
from checks.subject import InProcess
from engine.corpus import Example, RecordedCall, Recording, draw, reference_module
from engine.diagnosis import Answers, Diagnostician, misconceptions
from engine.forking import forked
from engine.intake import take_in
from engine.judge import batches
from engine.pipeline import Options, judged, tier_for
from engine.records import ItemResult, Outcome, Source, Submission, SubmissionResult
from engine.rubric import Rubric, read_rubric
from engine.worker import tools

EXAMPLES = Path(__file__).resolve().parent.parent / "submissions" / "examples"
SHEET = "sheet"  # an example that holds the answers a sheet publishes; `broken` lists those that are wrong
FOUNDATION = "right_numpy"
EXAMPLES_LAID_OVER = 20  # enough to see a neighbour fall over; each example has met the full number alone


@dataclass
class Report:
    """What verifying found."""

    checks: int = 0
    examples: int = 0
    mistakes: dict[str, list[str]] = field(default_factory=dict)  # item -> named mistakes that were caught
    named: int = 0  # of them, those diagnosed by exactly their own name
    per_item: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether everything is as it must be."""
        return not self.problems

    def as_record(self) -> dict[str, Any]:
        """Return it for programs."""
        rows = [
            {"item": item, "checks": count, "mistakes": self.mistakes.get(item, [])}
            for item, count in self.per_item.items()
        ]
        return {
            "good": self.good,
            "examples": self.examples,
            "named": self.named,
            "items": rows,
            "problems": self.problems,
        }

    def __str__(self) -> str:
        caught = sum(map(len, self.mistakes.values()))
        width = max(map(len, self.per_item))
        lines = [f"{'function':<{width}}  checks  mistakes caught"]
        lines += [
            f"{item:<{width}}  {count:>6}  {len(self.mistakes.get(item, [])):>15}"
            for item, count in self.per_item.items()
        ]
        lines += [
            "",
            f"The reference holds on all {self.checks} checks.",
            f"{self.examples} examples graded, each alone and laid over {FOUNDATION}.",
            f"{caught} named mistakes caught, {self.named} of them diagnosed by exactly their own name.",
            *(f"NOT AS IT MUST BE  {problem}" for problem in self.problems),
            "all good" if self.good else f"{len(self.problems)} problems",
        ]
        return "\n".join(lines)


def verify(*, jobs: int, only: Sequence[str] = (), folder: Path = EXAMPLES) -> Report:
    """Run the suite against itself, or a part of it."""
    rubric = read_rubric().only(only)
    report = Report(checks=len(rubric.checks), per_item={item.id: len(item.checks) for item in rubric.items})
    recordings = draw(rubric.code_checks, number=0, examples=rubric.examples)  # raises unless the reference holds
    _examples(report, rubric, folder, jobs)
    _mistakes(report, recordings)
    return report


def _examples(report: Report, rubric: Rubric, folder: Path, jobs: int) -> None:
    everything = tomllib.loads((folder / "expected.toml").read_text(encoding="utf-8"))
    found = {s.id: s for s in take_in([path for path in sorted(folder.iterdir()) if path.is_dir()])}
    report.problems += [f"{name}: no entry in expected.toml" for name in found if name not in everything]
    report.problems += [f"{name}: expected, but there is no such example" for name in everything if name not in found]
    asked = {"*", SHEET, *(item.id for item in rubric.items)}
    expected = {name: wanted for name, wanted in everything.items() if wanted["item"] in asked and name in found}
    examples = {name: found[name] for name in expected}
    report.examples = len(examples)
    tier = tier_for(trusted=False)
    for submission, result in judged(list(examples.values()), rubric, Options(jobs=jobs, closer=False), tier):
        # A helper of one module may be another module's function, and right: a sigmoid in network.py.
        report.problems += _compare(result, expected[submission.id], elsewhere={Outcome.MISSING, Outcome.HELD})
    for module in {item.id.split(".", 1)[0]: None for item in rubric.items}:
        named = {name for name, wanted in expected.items() if wanted["item"].split(".", 1)[0] == module}
        laid_over = [_laid_over(s, examples[FOUNDATION]) for name, s in examples.items() if name in named]
        options = Options(jobs=jobs, examples=EXAMPLES_LAID_OVER, closer=False)
        for submission, result in judged(laid_over, rubric.only([module]), options, tier):
            report.problems += _compare(result, expected[submission.id], elsewhere={Outcome.HELD})


def _laid_over(example: Submission, foundation: Submission) -> Submission:
    """Return the example with every other function taken from a right submission (its own file wins)."""
    ground = tuple(Source(f"solution_{source.stem}.py", source.cells) for source in foundation.sources)
    return replace(example, sources=(*example.sources, *ground))


def _compare(result: SubmissionResult, wanted: Mapping[str, Any], *, elsewhere: set[Outcome]) -> list[str]:
    problems = []
    also = wanted.get("also", {})  # a second item that the same files serve, because the two share an object
    for item in result.items:
        if wanted["item"] == SHEET:
            if (item.outcome is Outcome.BROKEN) is not (item.id in wanted["broken"]):
                problems.append(f"{item.id} is {item.outcome}, but the sheet's mistakes are {wanted['broken']}")
        elif wanted["item"] == "*" and item.kind == "text":
            problems += [] if item.outcome is Outcome.MANUAL else [f"{item.id} is {item.outcome}, expected manual"]
        elif wanted["item"] in ("*", item.id):
            problems += _differences(item, wanted)
        elif also.get("item") == item.id:
            problems += _differences(item, also)
        elif item.outcome not in elsewhere:
            problems.append(f"{item.id} is {item.outcome}, not {' or '.join(sorted(elsewhere))}")
    return [f"{result.id}: {problem}" for problem in problems]


def _differences(item: ItemResult, wanted: Mapping[str, Any]) -> list[str]:
    problems = []
    if item.outcome != wanted["outcome"]:
        first = next((c.verdict.message for c in item.checks if c.verdict.outcome is not Outcome.HELD), "")
        problems.append(f"{item.id} is {item.outcome}, expected {wanted['outcome']} ({first})")
    if item.diagnosis != wanted.get("diagnosis", ""):
        problems.append(f"{item.id} is diagnosed as {item.diagnosis!r}, expected {wanted.get('diagnosis', '')!r}")
    return problems


def _mistakes(report: Report, recordings: Sequence[Recording]) -> None:
    """Every named mistake must fail a check of its item, and must not be taken for another one."""
    by_item: dict[str, list[Recording]] = {}
    for recording in recordings:
        by_item.setdefault(recording.check.of, []).append(recording)
    _by_item.clear()
    _by_item.update({item: by_item[item] for item in misconceptions() if item in by_item})
    with forked(os.cpu_count() or 1) as pool:  # checks and mistakes are code: inherited, not sent
        for item, caught, named, problems in pool.map(_mistakes_of, list(_by_item)):
            report.mistakes[item] = caught
            report.named += named
            report.problems += problems


_by_item: dict[str, list[Recording]] = {}


def _mistakes_of(item: str) -> tuple[str, list[str], int, list[str]]:
    """Return which mistakes of an item are caught, how many by exactly their own name, and what is wrong."""
    diagnostician = Diagnostician()
    calls = {recording.check.id: first_calls(recording) for recording in _by_item[item]}
    caught, named, problems = [], 0, []
    for mistake in misconceptions()[item]:
        if not any(_catches(recording, mistake) for recording in _by_item[item]):
            problems.append(f"{item}: no check catches the mistake {mistake.name!r}")
            continue
        caught.append(mistake.name)
        fitting = diagnosed(diagnostician, mistake, calls)
        named += fitting == [mistake.name]
        if fitting != [mistake.name]:
            problems.append(f"{item}: the mistake {mistake.name!r} is diagnosed as {fitting}")
    return item, caught, named, problems


def first_calls(recording: Recording) -> list[RecordedCall]:
    """Return the calls of a check's first batch, the ones a diagnosis looks at."""
    return [call for example in next(batches(recording.examples)) for call in example.calls]


def diagnosed(
    diagnostician: Diagnostician, mistake: Misconception, calls: Mapping[str, Sequence[RecordedCall]]
) -> list[str]:
    """Return the names a wrong implementation is given for what it answers to these calls."""
    answers = {}
    for check, asked in calls.items():
        own = Answers(mistake)
        answers[check] = [(call, own.answer(call, position)) for position, call in enumerate(asked)]
    return [fit.name for fit in diagnostician.fitting(mistake.of, answers)]


def _catches(recording: Recording, mistake: Misconception) -> bool:
    find = functions_of(mistake, reference_module(mistake.of), tools)
    return any(not holds(recording.check, example, find) for example in recording.examples)


def holds(check: Check, example: Example, function: Callable[[str], Callable[..., Any]]) -> bool:
    """Return whether a check's body holds on a recorded example for functions of this process."""
    return failure_on(check, example, function) is None


def failure_on(check: Check, example: Example, function: Callable[[str], Callable[..., Any]]) -> Failure | None:
    """Return how a check's body fails on a recorded example for functions of this process, or None."""
    module = check.of.split(".", 1)[0]
    handed: dict[str, Any] = {name: InProcess(function(name), signature_of(module, name)) for name in check.functions}
    if check.needs_truth:
        handed["truth"] = _Remembered(example)
    try:
        with np.errstate(all="ignore"):
            check.body(**handed, **example.drawn)
    except Failure as failure:
        return failure
    return None


class _Remembered:
    """The recorded truths of an example, in the order they were asked for."""

    def __init__(self, example: Example) -> None:
        self._values = iter(example.truths)

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments: next(self._values)[1]
