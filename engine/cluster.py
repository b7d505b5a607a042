"""Many machines: `grade --cluster ADDRESS` hands submissions to a Dask scheduler and takes results as they come.

What runs on the machines is engine/remote.py. Dask gives a task to another worker when one is lost; a few tasks more
than there are judges are under way at a time, so that a scheduler never holds a whole class.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import msgspec

from engine import remote
from engine.gradebook import decoded
from engine.pipeline import Judged, Options, withheld
from engine.records import GraderFault, Submission, SubmissionResult, UsageError
from engine.rubric import Rubric

if TYPE_CHECKING:
    from distributed import Client, Future

ADDRESS = re.compile(r"((tcp|tls|wss?)://)?[^\s/]+:\d+")
CONNECT_SECONDS = 10.0
LOOK_SECONDS = 5.0  # how often we look who is there
PATIENCE = 60.0  # seconds without any worker; nannies and queues replace those that are lost
KEPT = "what is graded is kept, and the same command (without --fresh) goes on from there"
AHEAD = 2  # tasks under way for each judge: the next one is there when one is done


@contextmanager
def connected(address: str, options: Options, patience: float = PATIENCE) -> Iterator[Cluster]:
    """Connect to a scheduler whose workers all judge as this machine would, or say why nobody can."""
    try:
        from distributed import Client, Security
    except ImportError:
        raise UsageError("--cluster needs Dask: pip install 'proofmark[cluster]'") from None
    if not ADDRESS.fullmatch(address):  # Dask would say so, too, and then wait for what it never began
        raise UsageError(f"{address!r} is no address of a scheduler, such as tcp://192.0.2.1:8786")
    for name in ("distributed", "distributed.client"):  # what matters of it we say ourselves
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        if address.startswith("tls:") and Security().get_connection_args("client")["ssl_context"] is None:
            raise UsageError(f"{address} takes certificates, and Dask's configuration names none (docs/clusters.md)")
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, RuntimeError) as error:
        raise UsageError(f"no scheduler answers at {address} ({error})") from None
    try:
        cluster = Cluster(client, address, options, patience)
        cluster.examine()
        yield cluster
    finally:
        client.close()


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, client: Client, address: str, options: Options, patience: float) -> None:
        self._client = client
        self._address = address
        self._options = options
        self._patience = patience
        self._seen = self._looked = time.monotonic()
        self.judges = 0

    def examine(self) -> None:
        """Refuse a cluster without workers, or with one that has another version of us."""
        self._look()
        if not self.judges:
            raise UsageError(
                f"the scheduler at {self._address} has no workers: start some with dask worker {self._address}"
            )
        ours = remote.version()
        try:
            found = self._client.run(remote.version, on_error="return")
        except OSError:
            raise self._gone() from None
        for worker, theirs in sorted(found.items()):
            if isinstance(theirs, OSError):
                continue  # lost in this moment: others do its work
            if isinstance(theirs, Exception):
                raise UsageError(f"the worker {worker} cannot judge: {_named(theirs)}")
            if theirs != ours:
                raise UsageError(f"the worker {worker} cannot judge: {remote.another_version(theirs, ours)}")

    def judged(self, submissions: Collection[Submission], rubric: Rubric) -> Judged:
        """Hand out submissions and yield each result as it comes."""
        from distributed.client import ClosedClientError

        try:
            if submissions:
                yield from self._judged(submissions, rubric)
        except ClosedClientError:  # it has closed itself, after trying to reconnect
            raise self._gone() from None
        finally:
            self._client.close()  # outputs are written next, by processes that are forked: no threads by then

    def _judged(self, submissions: Collection[Submission], rubric: Rubric) -> Judged:
        job = self._job(rubric)
        waiting = iter(submissions)
        asked: dict[str, tuple[Future, Submission]] = {}
        arrived: SimpleQueue[Future] = SimpleQueue()
        while True:
            for submission in islice(waiting, max(0, max(1, AHEAD * self.judges) - len(asked))):
                future = self._client.submit(remote.judge_here, job, msgspec.json.encode(submission), pure=False)
                future.add_done_callback(arrived.put)
                asked[future.key] = (future, submission)
            if not asked:
                return
            try:
                future = arrived.get(timeout=LOOK_SECONDS)
                line = self._line(future)
            except Empty:
                pass
            except TimeoutError:  # the worker was lost between finding the result and handing it over
                future.add_done_callback(arrived.put)
            else:
                _, submission = asked.pop(future.key)
                yield submission, self._result(line, submission, rubric)
            self._look()

    def _job(self, rubric: Rubric) -> bytes:
        asked = self._options
        try:
            text = asked.rubric.read_bytes()
        except OSError as error:
            raise UsageError(f"the rubric {asked.rubric} cannot be read: {error.strerror}") from None
        job = remote.Job(
            remote.version(), asked.rubric.name, text, rubric.digest, asked.only, asked.examples, asked.seed,
            asked.trusted, asked.closer,
        )  # fmt: skip
        return msgspec.json.encode(job)

    def _line(self, future: Future) -> tuple[str, bytes]:
        """Return who judged a submission, and the judge's line; raises TimeoutError if it has to be found again."""
        from distributed import CancelledError, KilledWorker

        try:
            found: tuple[str, bytes] = future.result(timeout=LOOK_SECONDS)
        except KilledWorker:
            return "", remote.LOST
        except CancelledError:  # we cancel nothing
            raise self._gone() from None
        except Exception as error:
            if future.status == "error":  # raised over there, so it may be anything
                raise UsageError(f"the cluster at {self._address} cannot judge: {_named(error)}") from None
            if isinstance(error, TimeoutError):
                raise
            raise self._gone() from None
        return found

    def _result(self, found: tuple[str, bytes], submission: Submission, rubric: Rubric) -> SubmissionResult:
        worker, line = found
        word, _, rest = line.partition(b" ")
        if word == remote.RESULT:
            return decoded(rest)
        if word == remote.LOST:
            return withheld(submission, rubric, "the workers that judged it were lost, one after the other")
        if word == remote.DIED:
            return withheld(submission, rubric, "the judge's process died")
        kind = GraderFault if word == remote.FAULT else UsageError
        raise kind(f"the worker {worker} cannot judge: {msgspec.json.decode(rest, type=str)}")

    def _look(self) -> None:
        """Count the judges from time to time; without any, or without a scheduler, nobody can go on."""
        now = time.monotonic()
        if self.judges and now < self._looked + LOOK_SECONDS:
            return
        try:
            self.judges = sum(self._client.nthreads().values())
        except (OSError, RuntimeError):
            raise self._gone() from None
        self._looked = now
        if self.judges:
            self._seen = now
        elif now > self._seen + self._patience:
            raise UsageError(f"the scheduler at {self._address} has lost all its workers; {KEPT}")

    def _gone(self) -> UsageError:
        return UsageError(f"the scheduler at {self._address} is gone; {KEPT}")


def _named(error: Exception) -> str:
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{said}; is the same grader installed on every machine, the scheduler's too?"
