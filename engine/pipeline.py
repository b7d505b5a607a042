"""The whole flow in one function: start reading at `grade`."""

from __future__ import annotations

import hashlib
import multiprocessing
import multiprocessing.util
import os
import sys
import traceback
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from dataclasses import replace as changed
from itertools import islice
from pathlib import Path
from typing import Self

from checks.check import read_laws
from checks.question import Kind
from engine import gradebook, sandbox
from engine.cache import code_digest
from engine.corpus import Recording, draw
from engine.diagnosis import Diagnostician
from engine.excerpts import with_excerpts
from engine.forking import forked
from engine.honesty import held_again
from engine.intake import taken_in
from engine.judge import judge
from engine.late import adjusted
from engine.launching import Launched
from engine.marks import read_marks, refusal, with_marks
from engine.records import (
    CheckText,
    GraderFault,
    Outcome,
    Submission,
    SubmissionResult,
    UsageError,
    Verdict,
)  # fmt: skip
from engine.rubric import STANDARD, Rubric, read_rubric
from engine.score import score
from engine.sheet import Marked, Sheet, read_sheet, unanswered
from engine.shelf import shelf
from engine.workers import Zygotes

Told = Callable[[SubmissionResult], None]
Judged = Generator[tuple[Submission, SubmissionResult], None, None]  # one after the other, in any order
Judges = Callable[[Collection[Submission], Rubric], Judged]

AHEAD = 2  # submissions under way for each judge: the next one is there when one is done


@dataclass(frozen=True, slots=True)
class Options:
    """What a run was asked for."""

    out: Path = Path("graded")
    jobs: int = 1
    only: tuple[str, ...] = ()
    examples: int | None = None
    seed: int = 0
    rubric: Path = STANDARD
    fresh: bool = False
    trusted: bool = False
    closer: bool = True  # also prove, count operations and cut out the student's own lines; no points depend on it


def grade(
    paths: Sequence[Path],
    options: Options,
    told: Told,
    started: Callable[[int], None],
    judges: Judges | None = None,  # those of this machine, if no others are given
) -> list[SubmissionResult]:
    """Grade submissions: take in, judge each in its own worker, score, keep, and write what people read.

    Those of a class are returned without their items: thousands of whole results are never held at once.
    """
    judges = judges or _on_this_machine(options)
    rubric = read_rubric(options.rubric).only(options.only)
    with (
        taken_in(paths) as submissions,
        gradebook.opened(options.out, rubric=fingerprint(rubric, options), seed=options.seed) as book,
        shelf(options.out) as waiting,
    ):
        if options.fresh:
            book.forget()
        everybody = []
        for submission in submissions:
            everybody.append(changed(submission, sources=(), answers=None))
            known = _known(book, submission)
            if known is None:
                waiting.add(submission)
            else:
                told(known)
        started(len(everybody))
        with closing(judges(waiting.values(), rubric)) as fresh:
            for submission, result in fresh:
                book.add(submission, result)
                told(result)
        book.remember_run(everybody)
        return _written(book, rubric, options)


def _known(book: gradebook.Gradebook, submission: Submission) -> SubmissionResult | None:
    """Return the result of this very content; whether it is late, and whose it is, may have changed since."""
    result = book.find(submission)
    if result is None:
        return None
    today = changed(result, students=submission.students, late=submission.late, handed_in=submission.handed_in)
    if today != result:
        book.add(submission, today)
    return today


def mark(path: Path, options: Options) -> tuple[list[SubmissionResult], list[str]]:
    """Take a person's marks into the gradebook and write the results anew; what cannot be taken is said."""
    with _reopened(options) as (book, rubric):
        machine = book.last_run()
        refused = []
        for row in read_marks(path):
            said = row if isinstance(row, str) else refusal(row, machine)
            if said or isinstance(row, str):
                refused.append(said)
            else:
                book.add_mark(row, machine.digests[row.submission])
        return _written(book, rubric, options), refused


@contextmanager
def last_results(options: Options) -> Iterator[tuple[Rubric, Collection[SubmissionResult]]]:
    """Open the results of the last run, each read when it is its turn, and the rubric they were graded by."""
    with _reopened(options) as (book, rubric):
        yield rubric, Final(book, rubric).values()


class Final(Mapping[str, SubmissionResult]):
    """The results of the last run by id, in that order: a person's marks laid over them, then the late policy."""

    def __init__(self, book: gradebook.Gradebook, rubric: Rubric) -> None:
        self._book = book
        self._machine = book.last_run()
        self._late = rubric.late

    def __getitem__(self, name: str) -> SubmissionResult:
        marks = self._book.marks(name, self._machine.digests[name])
        return adjusted(with_marks(self._machine[name], marks), self._late)

    def __iter__(self) -> Iterator[str]:
        return iter(self._machine)

    def __len__(self) -> int:
        return len(self._machine)


@contextmanager
def _reopened(options: Options) -> Iterator[tuple[gradebook.Gradebook, Rubric]]:
    """Open the gradebook of a run that was made with these very options."""
    rubric = read_rubric(options.rubric).only(options.only)
    if not (options.out / gradebook.FILE).exists():
        raise UsageError(f"{options.out} has no gradebook: grade into it first, or say --out")
    with gradebook.opened(options.out, rubric=fingerprint(rubric, options), seed=options.seed) as book:
        if not book.last_run():
            raise UsageError(f"{options.out} was graded with another rubric, seed or version: grade again first")
        yield book, rubric


def _written(book: gradebook.Gradebook, rubric: Rubric, options: Options) -> list[SubmissionResult]:
    """Write what programs and people read of the last run, all of it from the gradebook, and return its results."""
    from engine.derive import library  # SymPy and Jinja take longer to import than `check` to begin
    from engine.results import write_results

    final = Final(book, rubric)
    returned: list[SubmissionResult] = []
    proofs = library()
    try:
        write_results(
            options.out,
            _noted(final.values(), returned, whole=len(final) == 1),
            rubric=rubric.digest,
            seed=options.seed,
            texts=texts_of(rubric),
            title=rubric.title,
            proofs=proofs,
        )
    except OSError as error:
        raise UsageError(
            f"the results cannot be written into {options.out}: {error.strerror} (they are kept in its gradebook)"
        ) from None
    return returned


def _noted(
    results: Iterable[SubmissionResult], returned: list[SubmissionResult], *, whole: bool
) -> Iterator[SubmissionResult]:
    """Pass results on, and keep what is returned of each."""
    for result in results:
        returned.append(result if whole else changed(result, items=(), output=""))
        yield result


def _on_this_machine(options: Options) -> Judges:
    tier = tier_for(trusted=options.trusted)
    return lambda submissions, rubric: judged(submissions, rubric, options, tier)


def judged(submissions: Collection[Submission], rubric: Rubric, options: Options, tier: sandbox.Tier) -> Judged:
    """Judge submissions, `options.jobs` at a time, each pair of judge and worker on a core of its own."""
    if not submissions:
        return
    recordings = draw(rubric.code_checks, number=options.seed, examples=options.examples or rubric.examples)
    if options.jobs == 1 or len(submissions) == 1:
        with pinned(), Judge(rubric, recordings, tier, closer=options.closer) as judge_:
            for submission in submissions:
                yield submission, judge_.result(submission)
        return
    waiting = iter(submissions)
    while True:
        asked: dict[str, Submission] = {}
        jobs = min(options.jobs, len(submissions))
        with (
            _pool(jobs, rubric, recordings, tier, closer=options.closer) as pool,
            suppress(BrokenProcessPool),  # a judge that dies takes its pool with it
        ):
            yield from _by_pool(pool, waiting, asked, AHEAD * jobs)
        if not asked:
            return
        for submission in asked.values():  # one of them was its end: each is tried once more, by itself
            with _pool(1, rubric, recordings, tier, closer=options.closer) as pool:
                try:
                    result = pool.submit(_judge_in_pool, submission).result()
                except BrokenProcessPool:
                    result = withheld(submission, rubric, "the judge's process died")
            yield submission, result


def _by_pool(
    pool: ProcessPoolExecutor, waiting: Iterator[Submission], asked: dict[str, Submission], ahead: int
) -> Judged:
    """Judge what waits, a few under way at a time; who is asked for and not judged stays in `asked`."""
    futures: dict[Future[SubmissionResult], str] = {}
    while True:
        for submission in islice(waiting, ahead - len(asked)):
            asked[submission.id] = submission
            futures[pool.submit(_judge_in_pool, submission)] = submission.id
        if not asked:
            return
        for future in wait(futures, return_when=FIRST_COMPLETED).done:
            result = future.result()
            yield asked.pop(futures.pop(future)), result


class Judge:
    """Everything one process needs to judge submission after submission."""

    def __init__(
        self,
        rubric: Rubric,
        recordings: Sequence[Recording],
        tier: sandbox.Tier | None,  # None: that of `ahead`, a zygote that was started before the rest was known
        *,
        closer: bool = False,
        ahead: Launched | None = None,
    ) -> None:
        self._rubric = rubric
        self._closer = closer
        self._recordings = recordings
        self._zygotes = Zygotes(tier, rubric.budget, ahead)
        self._diagnostician = Diagnostician()
        self._policy = rubric.policy()
        self._functions = rubric.functions()

    def __enter__(self) -> Self:
        self._zygotes.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._zygotes.__exit__(*error)

    def result(self, submission: Submission) -> SubmissionResult:
        """Judge, name the mistakes, give points; a fault of ours withholds this score and no other."""
        try:
            rules = self._policy.rules(submission.sources)
            judgement = judge(submission, self._recordings, self._zygotes, self._rubric.budget, rules)
            asked = (judgement, self._recordings, submission)
            judgement.verdicts = held_again(*asked, self._zygotes, self._rubric.budget)
            if self._closer:
                from engine.proving import with_proofs

                judgement.verdicts = with_proofs(judgement.verdicts, submission, self._zygotes, self._rubric.budget)
            diagnoses = self._diagnostician.diagnose(self._rubric.code_items, judgement)
            sheet = read_sheet(submission.answers) if submission.answers is not None else None
            marked = self._answers(submission, sheet)
            verdicts = [*judgement.verdicts, *(verdict for each in marked.values() for verdict in each.verdicts)]
            named = {name: each.diagnosis for name, each in marked.items() if each.diagnosis is not None}
            told = changed(submission, problems=(*submission.problems, *(sheet.problems if sheet else ())))
            result = score(told, self._rubric, verdicts, {**diagnoses, **named}, judgement.output)
            return self._looked_closer(result, submission, sheet) if self._closer else result
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is ours
            print(f"{submission.id}: the grader failed\n{traceback.format_exc()}", file=sys.stderr)
            return withheld(submission, self._rubric, str(fault))

    def _looked_closer(self, result: SubmissionResult, submission: Submission, sheet: Sheet | None) -> SubmissionResult:
        """Add what a report shows beside the verdicts: counted operations, and the student's own lines."""
        from engine.work import with_work

        worked = with_work(result, submission, self._zygotes, self._rubric.budget)
        return with_excerpts(worked, submission, sheet, self._functions)

    def _answers(self, submission: Submission, sheet: Sheet | None) -> dict[str, Marked]:
        """Judge the written answers; where there are none, without SymPy, which takes longer to import than that."""
        found = {question.id: unanswered(question, sheet) for question in self._rubric.questions}
        marked = {name: each for name, each in found.items() if each is not None}
        if sheet is None or len(marked) == len(found):
            return marked
        from engine.answers import judge_answers

        return self._with_costs(judge_answers(self._rubric.questions, sheet), submission, sheet)

    def _with_costs(self, marked: dict[str, Marked], submission: Submission, sheet: Sheet) -> dict[str, Marked]:
        """Say beside each claimed cost where the submission's own code does something else; no points depend on it."""
        from engine.counting import held_against_code

        for question in self._rubric.questions:
            claim = sheet.answers.get(question.id)
            if question.kind is Kind.COMPLEXITY and isinstance(claim, str):
                said = held_against_code(question, claim, submission, self._zygotes, self._rubric.budget)
                if said:
                    *others, last = marked[question.id].verdicts
                    told = changed(last, message=f"{last.message} {said}".strip())
                    marked[question.id] = changed(marked[question.id], verdicts=(*others, told))
        return marked


def withheld(submission: Submission, rubric: Rubric, why: str) -> SubmissionResult:
    """Return a result without a score: the fault is ours, not the student's."""
    message = f"The grader failed: {why}"
    verdicts = [Verdict(check.id, Outcome.UNJUDGED, message=message) for check in rubric.checks]
    return score(submission, rubric, verdicts, {}, "")


def tier_for(*, trusted: bool) -> sandbox.Tier:
    """Return the strongest lock-down there is; refuse untrusted code where there is none."""
    tier = sandbox.probe()
    if tier is sandbox.Tier.NONE and not trusted:
        raise UsageError(
            "this machine has no Landlock and seccomp to lock student code in; "
            "say --trusted to run it all the same, with your own rights"
        )
    return tier


def texts_of(rubric: Rubric) -> dict[str, CheckText]:
    """Return the sentences people read, by check."""
    return {check.id: CheckText(check.claim, check.hint) for check in rubric.checks}


def fingerprint(rubric: Rubric, options: Options) -> str:
    """Return what a stored result must match to be used again."""
    parts = [
        rubric.judging,
        code_digest(),
        str(options.examples or rubric.examples),
        *(c.id for c in rubric.checks),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


_judge_of_this_process: Judge | None = None


@contextmanager
def _pool(
    jobs: int, rubric: Rubric, recordings: Sequence[Recording], tier: sandbox.Tier, *, closer: bool
) -> Iterator[ProcessPoolExecutor]:
    """Start judges by forking: the recorded corpus is shared, not copied, and so is what is imported now."""
    import engine.answers
    import engine.work  # noqa: F401 - judges import both when they need them: once here, not once in each

    read_laws(rubric.code_checks)
    cores = multiprocessing.get_context("fork").SimpleQueue()
    for number in range(jobs):
        cores.put(os.getpid() + number)
    with forked(jobs, _start_judge, cores, rubric, recordings, tier, closer) as pool:
        yield pool


def _start_judge(
    cores: multiprocessing.SimpleQueue[int],
    rubric: Rubric,
    recordings: Sequence[Recording],
    tier: sandbox.Tier,
    closer: bool,
) -> None:
    global _judge_of_this_process  # noqa: PLW0603 - a pool's initializer has no other place to leave it
    _pin(cores.get())
    _judge_of_this_process = Judge(rubric, recordings, tier, closer=closer)
    # A pool's process leaves without unwinding; its zygotes must be ended all the same.
    multiprocessing.util.Finalize(None, _judge_of_this_process.__exit__, exitpriority=10)


def _judge_in_pool(submission: Submission) -> SubmissionResult:
    if _judge_of_this_process is None:
        raise GraderFault("the judge was not started")
    return _judge_of_this_process.result(submission)


@contextmanager
def pinned() -> Iterator[None]:
    """Run on one core: judge and worker take turns, and passing a turn between cores costs five times as much."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores, policy = os.sched_getaffinity(0), os.sched_getscheduler(0)
    _pin(os.getpid())  # by pid, so that two graders on one machine do not meet on its first core
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
        os.sched_setscheduler(0, policy, os.sched_param(0))


def _pin(number: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
        # A judge that is woken by the first of many replies lets the worker go on: two processes that take turns at
        # every call find nothing of theirs in the core's cache.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
