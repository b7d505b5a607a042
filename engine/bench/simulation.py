"""What a large class would cost on many machines: an event simulation of `grade --cluster`, from measured costs.

One command takes in, keeps every result in one gradebook and writes the report; one scheduler hands out the tasks; each
core of each machine has a judge. The command has a few tasks under way for each judge, as engine/cluster.py does.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import count

from engine.cluster import AHEAD

JUDGES, SCHEDULER, GRADEBOOK, STARTING, OUTPUTS = (
    "the judges", "the scheduler", "the gradebook", "starting the judges", "taking in and writing the report",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds and bytes, all of them measured (engine/bench/costs.py) but the rate at which workers are lost."""

    judging: tuple[float, ...]  # a sample of what one submission keeps one judge busy
    taking_in: float  # for one submission, in the command
    drawing: float  # the inputs, once on each machine
    starting: float  # one judge; those of one machine start one after the other
    handing_out: float  # one task, in the scheduler
    keeping: float  # one result, in the command: read, sealed, written and synced
    writing: float  # the outputs of one submission, in the command
    gradebook: int  # bytes of one submission
    outputs: int
    lost: float = 0.1  # times an hour that a judge is: a machine of eight loses one nearly every hour

    @property
    def mean(self) -> float:
        """Seconds of a judge for one submission."""
        return sum(self.judging) / len(self.judging)


@dataclass(frozen=True, slots=True)
class Cluster:
    """So many machines with so many cores each."""

    machines: int
    cores: int = 8
    is_local: bool = False  # judges that are forked by the command: nothing is started, nobody hands out

    @property
    def judges(self) -> int:
        """One for each core."""
        return self.machines * self.cores


@dataclass(frozen=True, slots=True)
class Simulated:
    """What became of a class."""

    submissions: int
    cluster: Cluster
    seconds: float  # until everything is written
    judged: float  # until the last result is kept
    busy: float  # the share of the judges' time until then in which they judge
    scheduler: float  # the share of that time in which the scheduler is busy
    gradebook: float  # and the command, keeping results
    lost: int  # tasks that were begun again
    bottleneck: str

    @property
    def core_hours(self) -> float:
        """What the machines of the judges are occupied for, idle or not."""
        return self.judged * self.cluster.judges / 3600


class _Event(IntEnum):
    READY = 0  # a task has been handed out
    FREE = 1  # a judge waits for a task
    LOST = 2  # a judge is gone, and its task has to be judged by another
    ARRIVED = 3  # a result is there, and waits for the gradebook
    KEPT = 4  # it is in the gradebook


def simulate(costs: Costs, submissions: int, cluster: Cluster, seed: int = 0) -> Simulated:
    """Let so many submissions go through so many judges, event by event."""
    run = _Run(costs, submissions, cluster, random.Random(seed))  # noqa: S311 - nothing secret
    begun = costs.taking_in * submissions
    judged = run.seconds()
    seconds = begun + judged + costs.writing * submissions
    judges = cluster.judges
    shares = {
        JUDGES: run.judging / (judges * judged),
        SCHEDULER: run.handing_out / judged,
        GRADEBOOK: run.keeping / judged,
        STARTING: run.starting / (judges * judged),
    }
    slowest = max(shares, key=shares.__getitem__)
    return Simulated(
        submissions=submissions,
        cluster=cluster,
        seconds=seconds,
        judged=judged,
        busy=shares[JUDGES],
        scheduler=shares[SCHEDULER],
        gradebook=shares[GRADEBOOK],
        lost=run.lost,
        bottleneck=OUTPUTS if seconds - judged > judged else slowest,
    )


class _Run:
    """The state between two events."""

    def __init__(self, costs: Costs, submissions: int, cluster: Cluster, drawn: random.Random) -> None:
        self._costs = costs if not cluster.is_local else replace(costs, starting=0.0, handing_out=0.0)
        self._drawn = drawn
        self._left = submissions  # not asked for yet
        self._under_way = 0  # asked for, and not kept yet
        self._most = max(1, AHEAD * cluster.judges)
        self._ready = 0  # handed out, and no judge is free
        self._idle: deque[int] = deque()
        self._scheduler = self._gradebook = 0.0  # when each is free again
        self._events: list[tuple[float, int, _Event, int]] = []
        self._number = count()  # events of one moment come in the order in which they were made
        self.judging = self.handing_out = self.keeping = self.starting = 0.0
        self.lost = 0
        for machine in range(cluster.machines):
            for core in range(cluster.cores):
                at = self._costs.drawing + self._costs.starting * (core + 1)
                self.starting += at
                self._add(at, _Event.FREE, machine * cluster.cores + core)

    def seconds(self) -> float:
        """Return when the last result is kept."""
        self._ask(0.0)
        now = 0.0
        while self._under_way or self._left:
            now, _, event, judge = heapq.heappop(self._events)
            if event is _Event.READY:
                self._ready += 1
            elif event is _Event.FREE:
                self._idle.append(judge)
            elif event is _Event.LOST:
                self.lost += 1
                self.starting += self._costs.starting
                self._hand_out(now)
                self._add(now + self._costs.starting, _Event.FREE, judge)
            elif event is _Event.ARRIVED:
                self._keep(now)
            else:
                self._under_way -= 1
                self._ask(now)
            while self._ready and self._idle:
                self._ready -= 1
                self._judge(now, self._idle.popleft())
        return now

    def _ask(self, now: float) -> None:
        while self._left and self._under_way < self._most:
            self._left -= 1
            self._under_way += 1
            self._hand_out(now)

    def _hand_out(self, now: float) -> None:
        self._scheduler = max(now, self._scheduler) + self._costs.handing_out
        self.handing_out += self._costs.handing_out
        self._add(self._scheduler, _Event.READY)

    def _judge(self, now: float, judge: int) -> None:
        takes = self._drawn.choice(self._costs.judging)
        until_lost = self._drawn.expovariate(self._costs.lost / 3600) if self._costs.lost else math.inf
        self.judging += min(takes, until_lost)
        if until_lost < takes:
            self._add(now + until_lost, _Event.LOST, judge)
            return
        self._add(now + takes, _Event.FREE, judge)
        self._add(now + takes, _Event.ARRIVED)

    def _keep(self, now: float) -> None:
        self._gradebook = max(now, self._gradebook) + self._costs.keeping
        self.keeping += self._costs.keeping
        self._add(self._gradebook, _Event.KEPT)

    def _add(self, at: float, event: _Event, judge: int = -1) -> None:
        heapq.heappush(self._events, (at, next(self._number), event, judge))


def scenarios(
    costs: Costs, submissions: Sequence[int] = (1_000, 10_000, 100_000), machines: Sequence[int] = (1, 4, 16, 64)
) -> list[Simulated]:
    """Simulate every class on every cluster."""
    return [simulate(costs, each, Cluster(number)) for each in submissions for number in machines]
