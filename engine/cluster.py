"""Many machines: `grade --cluster ADDRESS` hands submissions to a Dask scheduler, and results come back as they are found.

What runs on the machines is engine/remote.py. Dask gives a task to another worker when one is lost; a few tasks more
than there are judges are under way at a time, so that a scheduler never holds a whole class.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import msgspec

from engine import remote
from engine.gradebook import decoded
from engine.pipeline import Judged, Options, withheld
from engine.records import GraderFault, Submission, UsageError
from engine.rubric import Rubric

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 5.0  # how often we look who is there
PATIENCE = 60.0  # seconds without any worker; nannies and queues replace those that are lost
AHEAD = 2  # tasks under way for each judge: the next one is there when one is done


@contextmanager
def connected(address: str, options: Options, patience: float = PATIENCE) -> Iterator[Cluster]:
    """Connect to a scheduler whose workers all judge as this machine would, or say why nobody can."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--cluster needs Dask: pip install 'proofmark[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters we say ourselves
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
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
        found = self._client.run(remote.version, on_error="return")
        for worker, theirs in sorted(found.items()):
            if isinstance(theirs, OSError):
                continue  # lost in this moment: others do its work
            if isinstance(theirs, Exception):
                raise UsageError(f"the worker {worker} cannot judge: {_named(theirs)}")
            if theirs != ours:
                raise UsageError(f"the worker {worker} cannot judge: {remote.another_version(theirs, ours)}")

    def judged(self, submissions: Sequence[Submission], rubric: Rubric) -> Judged:
        """Hand out submissions and yield each result as it comes."""
        try:
            if submissions:
                yield from self._judged(submissions, rubric)
        finally:
            self._client.close()  # outputs are written next, by processes that are forked: no threads by then

    def _judged(self, submissions: Sequence[Submission], rubric: Rubric) -> Judged:
        job = self._job(rubric)
        waiting = iter(submissions)
        asked: dict[str, Submission] = {}
        arrived: SimpleQueue[Future] = SimpleQueue()
        while True:
            for submission in islice(waiting, max(0, AHEAD * self.judges - len(asked))):
                line = msgspec.json.encode(submission)
                future = self._client.submit(remote.judge_here, job, line, pure=False)
                asked[future.key] = submission
                future.add_done_callback(arrived.put)
            if not asked:
                return
            ...
