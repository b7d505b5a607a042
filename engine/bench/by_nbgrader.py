"""nbgrader: a course folder, `nbgrader generate_assignment`, and one `nbgrader autograde` for all submissions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.bench.peer import PINS, Assignment, Environment, Graded, Ran, call, cells_of, notebook, require, run

NAME = "exercise"
CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "bench"
c.ExecutePreprocessor.timeout = 600  # seconds a cell: a busy machine must not cost a check
"""
SOLUTION = "### BEGIN SOLUTION\npass\n### END SOLUTION"
IMPORT = "from engine.bench.trial import trial"
TEST = "### BEGIN HIDDEN TESTS\n{call}\n### END HIDDEN TESTS"

# Runs in nbgrader's environment: where to write the outcomes that its gradebook holds.
READ = """
import json
import sys

from nbgrader.api import Gradebook

outcomes = {}
with Gradebook("sqlite:///gradebook.db") as gradebook:
    for submission in gradebook.assignment_submissions("exercise"):
        grades = [grade for part in submission.notebooks for grade in part.grades]
        outcomes[submission.student.id] = {grade.name: grade.auto_score == grade.max_score for grade in grades}
with open(sys.argv[1], "w", encoding="utf-8") as out:
    json.dump(outcomes, out)
"""


class Nbgrader:
    """nbgrader: a notebook per submission, one cell of hidden tests per check, all graded by one command."""

    name = "nbgrader"

    def __init__(self, place: Path) -> None:
        self._place = place / "nbgrader"
        self._environment = Environment(self._place / "environment", PINS / "nbgrader.txt")

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return self._environment.version(self.name)

    def prepare(self, checks: Sequence[str], examples: int) -> None:
        """Install it, write the source notebook, and let nbgrader make the students' version of it."""
        self._environment.install()
        self._assignment = Assignment.of(self._place / "assignment", checks, examples)
        source = self._course / "source" / NAME / f"{NAME}.ipynb"
        source.parent.mkdir(parents=True)
        source.write_text(notebook(self._source()), encoding="utf-8")
        (self._course / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
        require(self._run("generate_assignment", self._course), "nbgrader generate_assignment")

    def grade(self, folders: Sequence[Path]) -> Graded:
        """Grade all of them with one command."""
        course = self._assignment.next_run() / "course"
        shutil.copytree(self._course, course)
        for folder in folders:
            handed_in = course / "submitted" / folder.name / NAME / f"{NAME}.ipynb"
            handed_in.parent.mkdir(parents=True)
            handed_in.write_text(self._handed_in(folder), encoding="utf-8")
        ran = require(self._run("autograde", course), "nbgrader autograde")
        outcomes = self._outcomes(course)
        failed = {folder.name: self._assignment.failures(folder.name, outcomes[folder.name]) for folder in folders}
        return self._assignment.graded([ran], failed)

    @property
    def _course(self) -> Path:
        return self._assignment.place / "course"

    @property
    def _home(self) -> Path:
        return self._place / "home"

    def _run(self, command: str, course: Path) -> Ran:
        return run([self._environment.program("nbgrader"), command, NAME], cwd=course, home=self._home)

    def _source(self) -> list[Mapping[str, Any]]:
        """Return the cells that the teacher writes: one to be filled in, and the tests."""
        tests = [
            _cell(
                f"check-{number}", TEST.format(call=call(check, '{"": globals()}', self._assignment.examples)), points=1
            )
            for number, check in enumerate(self._assignment.checks)
        ]
        return [_cell("solution", SOLUTION, solution=True), _cell("import", IMPORT), *tests]

    def _handed_in(self, folder: Path) -> str:
        """Return the students' version with a submission filled in; the files after its first are cells they added."""
        released = self._course / "release" / NAME / f"{NAME}.ipynb"
        handed_in = json.loads(released.read_text(encoding="utf-8"))
        first, *others = cells_of(folder)
        solution, *rest = handed_in["cells"]
        solution["source"] = first
        added = [{**solution, "id": f"added-{n}", "metadata": {}, "source": source} for n, source in enumerate(others)]
        handed_in["cells"] = [solution, *added, *rest]
        return json.dumps(handed_in)

    def _outcomes(self, course: Path) -> dict[str, dict[str, bool]]:
        """Return, of each submission, which checks have their point in nbgrader's gradebook."""
        outcomes = course / "outcomes.json"
        command = [self._environment.program("python"), "-c", READ, str(outcomes)]
        require(run(command, cwd=course, home=self._home), "reading nbgrader's gradebook")
        ids = self._assignment.ids
        by_student = json.loads(outcomes.read_text(encoding="utf-8"))
        return {
            student: {ids[int(name.rsplit("-", 1)[1])]: passed for name, passed in grades.items()}
            for student, grades in by_student.items()
        }


def _cell(name: str, source: str, *, solution: bool = False, points: int = 0) -> dict[str, Any]:
    """Return a cell with what nbgrader keeps about it."""
    about = {
        "schema_version": 3, "grade_id": name, "grade": points > 0, "solution": solution, "locked": not solution,
        "task": False, **({"points": points} if points else {}),
    }  # fmt: skip
    return {"id": name, "source": source, "metadata": {"nbgrader": about}}
