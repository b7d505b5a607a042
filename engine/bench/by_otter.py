"""Otter-Grader, without containers: `otter generate`, then its API for one notebook after the other.

`otter run` grades one submission per process; `otter.api.grade_submission`, which is documented for the same purpose,
grades one after the other in one process and spares each the start. It is the faster way, so it is the one measured.
`otter grade` grades several at once, each in a Docker container: that needs Docker.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from checks.check import Check
from engine.bench.peer import PINS, Assignment, Environment, Graded, call, cells_of, notebook, require, run

TEST_FILE = """
from engine.bench.trial import trial
from otter.test_files import test_case

OK_FORMAT = False

name = {name!r}
points = {points}
"""
TEST = """

@test_case(name={name!r}, points=1)
def test_{number}(env):
    {call}
"""

# Runs in Otter's environment: autograder, where to write the outcomes, the submissions.
GRADE = """
import json
import sys

from otter.api import grade_submission

outcomes = {}
for path in sys.argv[3:]:
    results = grade_submission(path, sys.argv[1], quiet=True)
    cases = [case for file in results.results.values() for case in file.test_case_results]
    outcomes[path] = {case.test_case.name: case.passed for case in cases}
with open(sys.argv[2], "w", encoding="utf-8") as out:
    json.dump(outcomes, out)
"""


class Otter:
    """Otter-Grader: a notebook per submission, a file of exception-based tests per function."""

    name = "otter-grader"

    def __init__(self, place: Path) -> None:
        self._place = place / "otter"
        self._environment = Environment(self._place / "environment", PINS / "otter.txt")

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return self._environment.version(self.name)

    def prepare(self, checks: Sequence[str], examples: int) -> None:
        """Install it, write the files of tests, and let Otter make its autograder of them."""
        self._environment.install()
        self._assignment = Assignment.of(self._place / "assignment", checks, examples)
        tests = self._assignment.place / "tests"
        tests.mkdir()
        for item, of_item in self._by_item().items():
            (tests / f"{item.replace('.', '_')}.py").write_text(_test_file(item, of_item, examples), encoding="utf-8")
        (self._assignment.place / "grade.py").write_text(GRADE, encoding="utf-8")
        command = [self._environment.program("otter"), "generate", "-t", str(tests), "-o", str(self._autograder)]
        require(run(command, cwd=self._assignment.place, home=self._place / "home"), "otter generate")

    def grade(self, folders: Sequence[Path]) -> Graded:
        """Grade all of them in one process."""
        place = self._assignment.next_run()
        notebooks = {folder.name: place / f"{folder.name}.ipynb" for folder in folders}
        for folder in folders:
            cells = [{"id": f"cell-{number}", "source": source} for number, source in enumerate(cells_of(folder))]
            notebooks[folder.name].write_text(notebook(cells), encoding="utf-8")
        outcomes = place / "outcomes.json"
        script = str(self._assignment.place / "grade.py")
        command = [self._environment.program("python"), script, str(self._autograder), str(outcomes)]
        ran = run([*command, *map(str, notebooks.values())], cwd=place, home=self._place / "home")
        require(ran, "grading with Otter")
        passed = json.loads(outcomes.read_text(encoding="utf-8"))
        failed = {name: self._assignment.failures(name, passed[str(path)]) for name, path in notebooks.items()}
        return self._assignment.graded([ran], failed)

    @property
    def _autograder(self) -> Path:
        return self._assignment.place / "autograder.zip"

    def _by_item(self) -> dict[str, list[Check]]:
        by_item = defaultdict(list)
        for check in self._assignment.checks:
            by_item[check.of].append(check)
        return by_item


def _test_file(item: str, checks: Sequence[Check], examples: int) -> str:
    tests = [
        TEST.format(name=check.id, number=number, call=call(check, '{"": env}', examples))
        for number, check in enumerate(checks)
    ]
    return TEST_FILE.format(name=item, points=len(checks)) + "".join(tests)
