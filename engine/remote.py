"""What a machine of a cluster does: it judges the submissions it is handed.

A worker of Dask's is full of threads, may be a daemon, and has to answer its scheduler all the time; a judge forks
and wants to be left alone. So each thread of the worker keeps a judge as a process of its own, as it would be
on one machine, and speaks with it in lines of JSON: the job, then one submission after the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from engine.cache import ROOT, code_digest
from engine.gradebook import encoded
from engine.records import GraderFault, RubricError, Submission, UsageError
from engine.worker.lockdown import die_with_parent

if TYPE_CHECKING:
    from engine.pipeline import Judge

BOOTSTRAP = "import sys; sys.path.insert(0, sys.argv[2]); from engine.remote import main; main()"
READY, RESULT, REFUSED, FAULT = b"ready", b"result", b"refused", b"fault"  # the first word of a judge's line
DIED, LOST = b"died", b"lost"  # what stands for a line that never came: the judge ended, or its worker did


@dataclass(frozen=True, slots=True)
class Job:
    """All but the submission that decides a result; plain data, of which each machine makes its own checks."""

    version: str
    file: str  # the name of the rubric's
    rubric: bytes
    digest: str
    only: tuple[str, ...]
    examples: int | None
    seed: int
    trusted: bool
    closer: bool


def version() -> str:
    """Return what must be the same on every machine for results to be the same."""
    return f"{code_digest()} on Python {sys.version_info.major}.{sys.version_info.minor}"


def another_version(theirs: str, ours: str) -> str:
    """Return the sentence on a machine that would judge by other code."""
    return f"it has another version of the grader ({theirs}, not {ours}): install the same on every machine"


# ── in a worker of Dask's ───────────────────────────────────────────────────────────────────────────────────────

_of_this_thread = threading.local()
_starting = threading.Lock()  # the first judge of a machine draws the inputs, the others find them drawn


def judge_here(job: bytes, submission: bytes) -> tuple[str, bytes]:
    """Judge one submission; return this worker's address and the judge's line. This is the task Dask is given."""
    from distributed import get_worker

    line = b""
    for _ in range(2):  # a judge that dies is replaced, and what it had not finished is tried once more
        judge = _judge_for(job)
        line = judge.ask(submission) if judge.greeting.startswith(READY) else judge.greeting
        if line.startswith(RESULT):
            break
        del _of_this_thread.judge
        judge.close()
        if line:
            break
    return get_worker().address, line or DIED


def _judge_for(job: bytes) -> _JudgeProcess:
    """Return this thread's judge; one that was started for another job makes room."""
    judge: _JudgeProcess | None = getattr(_of_this_thread, "judge", None)
    if judge is None or judge.job != job:
        if judge is not None:
            judge.close()
        with _starting:
            _of_this_thread.judge = judge = _JudgeProcess(job)
    return judge


class _JudgeProcess:
    """A judge at the other end of two pipes."""

    def __init__(self, job: bytes) -> None:
        self.job = job
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-P", "-c", BOOTSTRAP, str(os.getpid()), str(ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "HYPOTHESIS_NO_PLUGINS": "1"},  # as the command line has it
            start_new_session=True,  # Ctrl-C is for the worker
        )
        self.greeting = self.ask(job)

    def ask(self, line: bytes) -> bytes:
        """Send a line and return the answer, or nothing if the judge died over it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return b""
        answer: bytes = self._process.stdout.readline()
        return answer[:-1] if answer.endswith(b"\n") else b""

    def close(self) -> None:
        """Let it end: it does when there is nothing more to read."""
        with suppress(BrokenPipeError):
            self._process.communicate()


# ── in the judge's process ──────────────────────────────────────────────────────────────────────────────────────


def main() -> None:
    """Read a job and then submissions, one a line, and answer each with a line."""
    die_with_parent(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints is not to be taken for an answer

    def answer(word: bytes, line: bytes) -> None:
        answers.write(word + b" " + line + b"\n")
        answers.flush()

    lines: Any = sys.stdin.buffer
    try:
        with _started(msgspec.json.decode(next(lines), type=Job)) as judge:
            answer(READY, b"")
            for line in lines:
                answer(RESULT, encoded(judge.result(msgspec.json.decode(line, type=Submission))))
    except (UsageError, RubricError) as error:
        answer(REFUSED, msgspec.json.encode(str(error)))
    except GraderFault as fault:
        answer(FAULT, msgspec.json.encode(str(fault)))


@contextmanager
def _started(job: Job) -> Iterator[Judge]:
    """Start the judge of a job, if this machine judges as the one that asks.

    It is not pinned to a core, as judges of one run are: workers of the same machine, in containers of
    their own, do not know of each other and might all choose the same one.
    """
    if job.version != version():
        raise UsageError(another_version(version(), job.version))
    from engine.corpus import draw
    from engine.pipeline import Judge, tier_for
    from engine.rubric import read_rubric

    tier = tier_for(trusted=job.trusted)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / job.file
        file.write_bytes(job.rubric)
        whole = read_rubric(file)
    if whole.digest != job.digest:
        raise UsageError(f"it reads the rubric as {whole.digest}, not as {job.digest}")
    rubric = whole.only(job.only)
    recordings = draw(rubric.code_checks, number=job.seed, examples=job.examples or rubric.examples)
    with Judge(rubric, recordings, tier, closer=job.closer) as judge:
        yield judge
