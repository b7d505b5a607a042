"""pytest, one process per submission: what a course without a grader writes."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from engine.bench.peer import Assignment, Graded, Ran, call, require, run

TEST_FILE = """
import os
from pathlib import Path

from engine.bench.trial import imported, trial

NAMES = imported(Path(os.environ["SUBMISSION"]))
"""
TEST = """

def test_{number}():
    {call}
"""
OUTCOME = re.compile(r"^(PASSED|FAILED) .*::test_(\d+)\b", re.MULTILINE)
SOME_FAILED = 1  # pytest's exit code


class Pytest:
    """Hypothesis properties that import the student's files, run by the pytest of this environment."""

    name = "pytest"

    def __init__(self, place: Path) -> None:
        self._place = place / "pytest"

    @property
    def version(self) -> str:
        """The version that is installed here."""
        return version("pytest")

    def prepare(self, checks: Sequence[str], examples: int) -> None:
        """Write the file of tests."""
        self._assignment = Assignment.of(self._place / "assignment", checks, examples)
        tests = [
            TEST.format(number=number, call=call(check, "NAMES", examples))
            for number, check in enumerate(self._assignment.checks)
        ]
        self._tests.write_text(TEST_FILE + "".join(tests), encoding="utf-8")

    def grade(self, folders: Sequence[Path]) -> Graded:
        """Run pytest once for each submission."""
        ran = {folder.name: self._run(folder) for folder in folders}
        failed = {name: self._assignment.failures(name, self._passed(each)) for name, each in ran.items()}
        return self._assignment.graded(list(ran.values()), failed)

    @property
    def _tests(self) -> Path:
        return self._assignment.place / "test_submission.py"

    def _run(self, folder: Path) -> Ran:
        # Only its own plugins: a course's environment has fewer of them than ours, and loading them takes time.
        extra = {"SUBMISSION": str(folder.resolve()), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        options = ["-q", "-rfEp", "--tb=short", "-W", "ignore", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *options, str(self._tests)]
        ran = run(command, cwd=self._assignment.place, home=self._place / "home", extra=extra)
        return ran if ran.exit_code == SOME_FAILED else require(ran, f"pytest on {folder.name}")

    def _passed(self, ran: Ran) -> dict[str, bool]:
        ids = self._assignment.ids
        return {ids[int(number)]: outcome == "PASSED" for outcome, number in OUTCOME.findall(ran.said)}
