"""`pytest checks --submission PATH`: the same checks, as ordinary tests, in the same sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from engine.pipeline import Judge
    from engine.records import Submission, SubmissionResult
    from engine.rubric import Rubric


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the options of `grader grade` that make sense here."""
    group = parser.getgroup("proofmark")
    group.addoption("--submission", type=Path, metavar="PATH", help="the submission to check")
    group.addoption("--only", action="append", default=[], metavar="ID", help="a module, an item or a check")
    group.addoption("--examples", type=int, metavar="N", help="inputs per check")
    group.addoption("--grade-seed", type=int, default=0, metavar="N", help="another seed draws other inputs")
    group.addoption("--trusted", action="store_true", help="run even where code cannot be locked in")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect one test per check from each file of checks."""
    if parent.config.getoption("submission") is None or file_path.parent != Path(__file__).parent:
        return None
    from checks.contract import FILES

    return CheckFile.from_parent(parent, path=file_path) if file_path.stem in FILES else None


class CheckFile(pytest.File):
    """A file of checks."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its checks in the order they are written."""
        for check in _session(self.config).rubric.code_checks:
            if Path(check.file).stem == self.path.stem:
                yield CheckTest.from_parent(self, name=check.id)


class CheckTest(pytest.Item):
    """One check of one submission."""

    def runtest(self) -> None:
        """Fail unless the check held."""
        from engine.feedback import check_feedback
        from engine.pipeline import texts_of
        from engine.records import Outcome

        session = _session(self.config)
        for item in session.result().items:
            for result in item.checks:
                if result.verdict.check == self.name and result.verdict.outcome is not Outcome.HELD:
                    named = f"\nThis looks like: {item.diagnosis}.\n" if item.diagnosis else ""
                    raise CheckDidNotHold(check_feedback(result, texts_of(session.rubric)[self.name]) + named)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the feedback a student would read, none of our frames."""
        if isinstance(excinfo.value, CheckDidNotHold):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Say where the check is."""
        return self.path, None, self.name


class CheckDidNotHold(Exception):
    """The feedback on a check that did not hold."""


class CheckSession:
    """One submission, judged when the first of its checks runs."""

    def __init__(self, config: pytest.Config) -> None:
        from engine.intake import take_in
        from engine.pipeline import tier_for
        from engine.records import ProofmarkError
        from engine.rubric import read_rubric

        try:
            submissions: list[Submission] = take_in([config.getoption("submission")])
            self.rubric: Rubric = read_rubric().only(config.getoption("only"))
            self._tier = tier_for(trusted=config.getoption("trusted"))
        except ProofmarkError as error:
            raise pytest.UsageError(str(error)) from None
        if len(submissions) != 1:
            raise pytest.UsageError(f"{config.getoption('submission')} holds {len(submissions)} submissions, not one")
        self._submission = submissions[0]
        self._examples = config.getoption("examples") or self.rubric.examples
        self._seed = config.getoption("grade_seed")
        self._result: SubmissionResult | None = None

    def result(self) -> SubmissionResult:
        """Judge, once."""
        from engine.corpus import draw
        from engine.pipeline import Judge

        if self._result is None:
            recordings = draw(self.rubric.code_checks, number=self._seed, examples=self._examples)
            judge: Judge
            with Judge(self.rubric, recordings, self._tier) as judge:
                self._result = judge.result(self._submission)
        return self._result


_KEY = pytest.StashKey[CheckSession]()


def _session(config: pytest.Config) -> CheckSession:
    if _KEY not in config.stash:
        config.stash[_KEY] = CheckSession(config)
    return config.stash[_KEY]
