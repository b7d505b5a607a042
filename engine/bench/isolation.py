"""Our own grading, and the same without a wall around it: the floor, which is what isolation is measured by.

Both replay the same recorded inputs, and both are warm: what is measured is what one more submission of a class takes.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from engine.bench.peer import Graded
from engine.bench.processes import below, core_seconds, kibibytes
from engine.bench.trial import found, imported
from engine.corpus import Recording, draw
from engine.intake import take_in
from engine.pipeline import Judge, pinned, tier_for
from engine.records import GraderFault, Outcome, SubmissionResult
from engine.rubric import Rubric, read_rubric
from engine.verify import holds


class Isolated:
    """Proofmark: a locked-down worker for each submission, and a judge that believes nothing it says."""

    version = "this one"

    def __init__(self, *, closer: bool) -> None:
        self.name = "Proofmark, as `grade` does" if closer else "Proofmark, verdicts"
        self._closer = closer
        self._closing = ExitStack()

    def prepare(self, checks: Sequence[str], examples: int) -> None:
        """Draw the inputs, or find them drawn, and start a judge."""
        self.close()
        rubric, recordings = _drawn(tuple(checks), examples)
        self._checks = tuple(checks)
        self._judge = self._closing.enter_context(
            Judge(rubric, recordings, tier_for(trusted=False), closer=self._closer)
        )

    def grade(self, folders: Sequence[Path]) -> Graded:
        """Judge one after the other, judge and worker on one core, as each of several judges has one."""
        submissions = take_in(folders)
        with _measured() as taken, pinned():
            results = [self._judge.result(submission) for submission in submissions]
        failed = {Path(result.id).name: self._failures(result) for result in results}
        return taken.graded(self._checks, failed)

    def _failures(self, result: SubmissionResult) -> frozenset[str]:
        verdicts = [each.verdict for item in result.items for each in item.checks]
        if any(verdict.outcome is Outcome.UNJUDGED for verdict in verdicts):
            raise GraderFault(f"{result.id} was not judged: there is nothing to measure")
        return frozenset(verdict.check for verdict in verdicts if verdict.outcome is not Outcome.HELD)

    def close(self) -> None:
        """End the judge, if there is one."""
        self._closing.close()


class Floor:
    """The same checks on the same recorded inputs in one process, with the submission in it: fast, and unsafe."""

    name = "in one process, no isolation"
    version = "this one"

    def prepare(self, checks: Sequence[str], examples: int) -> None:
        """Draw the inputs, or find them drawn."""
        _, self._recordings = _drawn(tuple(checks), examples)

    def grade(self, folders: Sequence[Path]) -> Graded:
        """Import each submission and call it."""
        with _measured() as taken, pinned():
            failed = {folder.name: frozenset(self._failures(folder)) for folder in folders}
        return taken.graded(tuple(recording.check.id for recording in self._recordings), failed)

    def _failures(self, folder: Path) -> Iterator[str]:
        names = imported(folder)
        for recording in self._recordings:
            find = partial(found, names, recording.check.of.split(".", 1)[0])
            if not all(holds(recording.check, example, find) for example in recording.examples):
                yield recording.check.id


@cache
def _drawn(checks: tuple[str, ...], examples: int) -> tuple[Rubric, list[Recording]]:
    """Draw the inputs once for all ways that replay them."""
    rubric = _only(checks)
    return rubric, draw(rubric.code_checks, number=0, examples=examples)


def _only(checks: Sequence[str]) -> Rubric:
    """Return the standard rubric with these checks alone."""
    rubric = read_rubric()
    items = [
        replace(item, checks=tuple(check for check in item.checks if check.id in checks)) for item in rubric.code_items
    ]
    return replace(rubric, items=tuple(item for item in items if item.checks))


@dataclass(slots=True)
class _Taken:
    seconds: float = 0.0
    core_seconds: float = 0.0

    def graded(self, checks: tuple[str, ...], failed: Mapping[str, frozenset[str]]) -> Graded:
        largest = max(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            *(kibibytes(pid, "status", "VmHWM") for pid in below(os.getpid())),
        )
        count = len(failed)
        return Graded(self.seconds / count, self.core_seconds / count, largest / 1024, checks, failed)


@contextmanager
def _measured() -> Iterator[_Taken]:
    """Measure what a block takes, here and in all processes below."""
    taken = _Taken()
    used = core_seconds(os.getpid())
    started = time.perf_counter()
    yield taken
    taken.seconds = time.perf_counter() - started
    taken.core_seconds = core_seconds(os.getpid()) - used
