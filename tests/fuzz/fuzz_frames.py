"""A hostile worker at the other end of a real socket, against everything in the judge that touches its replies.

    python -m tests.fuzz.fuzz_frames --seconds 600 --seed 1

A forked process answers the judge's requests with genuine replies (the reference's, as they were recorded) until its
moment comes, and then with lies (lies.py). The judge is the real one: session, replay, shrinking, diagnosis, counting,
score, gradebook and results.json. Each case must end in verdicts with a sentence. A finding is anything else: an
exception, a score withheld for bytes that were somebody else's, a hang, memory beyond a bound, a results.json that
strict readers refuse. Every case follows from the seed and its number; a finding is kept with all bytes that were sent.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from checks.subject import Kept
from engine import gradebook, judge, results, sandbox
from engine.corpus import Recording, draw, reference_module
from engine.diagnosis import Diagnostician
from engine.pipeline import Judge
from engine.proving import namespaces_of
from engine.records import Outcome, Source, Status, Submission, SubmissionResult
from engine.rubric import Rubric, read_rubric
from engine.worker import symbolic, wire
from engine.workers import Budget, Worker
from tests.fuzz import lies
from tests.fuzz.watch import Finding, Tally, stop_clocks

EXAMPLES = 4  # inputs per check: what is fuzzed are the replies
SECONDS = 20.0  # of processor time for one case: shrinking and the reference take most of it
MEBIBYTES = 400.0  # a case may take, on top of what was there: a batch is at most 64
LONGEST_MESSAGE = 5_000
LONGEST_RESULT = 2**20
COSTS = {"attention.self_attention": "attention_cost", "attention.scaled_dot_product_attention": "cross_attention"}
ANSWERS = '[complexity]\nattention_cost = "O(n^2 d)"\ncross_attention = "O(M N k)"\n'
VERBS = ("find", "reseed", "trace", "call", "call", "call", "call", "count")


@dataclass(frozen=True, slots=True)
class Plan:
    """When a worker lies, and how: from the `skip`-th request of one kind on, with a probability, in one way or all."""

    item: str
    verb: str
    skip: int
    often: float
    lie: str  # "" for any
    seed: int

    @classmethod
    def drawn(cls, items: Sequence[str], name: str) -> Plan:
        chance = Random(name)
        item = chance.choice(items)
        verb = chance.choice(VERBS if item in COSTS else VERBS[:-1])
        skip = chance.choice((0, 0, 0, 1, 2, 5, 20)) if verb == "call" else chance.choice((0, 0, 1, 3))
        (lie,) = chance.choices(lies.LIES, lies.WEIGHTS)
        often = chance.choice((1.0, 1.0, 0.3, 0.05))
        return cls(item, verb, skip, often, chance.choice((lie.__name__, lie.__name__, "")), chance.getrandbits(32))


class Objects:
    """The objects a worker has made: by number, the call that made each and how often that call was made before.

    The same call makes the same bigram model every time, and a network with other weights.
    """

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()
        self._makers: dict[int, tuple[str, int]] = {}

    def add(self, number: int, maker: str) -> None:
        self._makers[number] = maker, self._made[maker]
        self._made[maker] += 1

    def keys(self, function: str, arguments: Sequence[Any]) -> Iterator[str]:
        """Yield what tells a call apart, the very objects it was given first, then any that were made alike."""
        for shown in (lambda maker: f"{maker[0]} {maker[1]}", lambda maker: maker[0]):
            told = [
                shown(self._makers.get(each.number, ("", 0))) if isinstance(each, Kept | wire.Kept) else each
                for each in arguments
            ]
            yield hashlib.sha256(wire.pack([function, told])).hexdigest()


class Genuine:
    """What an honest worker would answer: what the reference returned when the calls were recorded."""

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self._returned: dict[str, Any] = {}  # by call, and by function for calls that were not recorded
        objects = Objects()
        for call in (call for each in recordings for example in each.examples for call in example.calls):
            returned = True if call.store is not None else call.returned
            keys = [*objects.keys(call.function, call.arguments), call.function]
            for key in keys:
                self._returned.setdefault(key, returned)
            if call.store is not None:
                objects.add(call.store, keys[-2])

    def reply(self, payload: bytes, objects: Objects) -> dict[str, Any]:
        """Answer a request of a worker that has made these objects by now."""
        verb, *rest = wire.unpack(payload)
        if verb == "load":
            return {"loaded": len(rest[0])}
        if verb == "find":
            return {"found": f"{rest[0]}.py"}
        if verb == "count":
            sizes = [len(each) for each in rest[2] if hasattr(each, "shape") and each.ndim]
            return {"multiply_adds": sum(sizes), "elementwise": sizes[0], "lost": ""}
        if verb == "trace":
            module, calls, positive = rest
            ours = reference_module(f"{module}.{calls[-1][0]}")
            made = [(getattr(ours, name), given, symbols) for name, given, symbols in calls]
            return symbolic.traced(made, positive, namespaces_of(ours))
        if verb != "call":
            return {}
        _, function, arguments, keep, store = rest
        keys = [*objects.keys(function, arguments), function]
        if store is not None:
            objects.add(store, keys[-2])
        returned = next(self._returned[key] for key in keys if key in self._returned)
        return {"returned": returned, "arguments": arguments if keep else None}


class Liar:
    """The forked process. It never returns to the fuzzer's code."""

    def __init__(self, connection: socket.socket, plan: Plan, number: int, genuine: Genuine, log: int) -> None:
        self._connection = connection
        self._channel = wire.Channel(connection)
        self._plan = plan
        self._number = number
        self._chance = Random(f"{plan.seed}:{number}")
        self._genuine = genuine
        self._asked: dict[str, int] = {}
        self._objects = Objects()
        self._log = log

    def live(self, told: Sequence[list[lies.Act]] | None) -> None:
        """Answer requests, as told before or as the plan has it."""
        try:
            for number in range(10**9):
                request = self._channel.receive()
                acts = self._acts(request) if told is None else told[number]
                packed = zlib.compress(msgspec.msgpack.encode(acts), 1)
                os.write(self._log, f"{self._number} {packed.hex()}\n".encode())
                for act in acts:
                    self._perform(*act)
        except (wire.Gone, OSError, IndexError):  # the judge has seen enough, or nothing more was told
            os._exit(0)

    def _acts(self, request: bytes) -> list[lies.Act]:
        verb = wire.unpack(request)[0]
        asked = self._asked[verb] = self._asked.get(verb, -1) + 1
        reply = self._genuine.reply(request, self._objects)
        payload = wire.pack(reply)
        plan = self._plan
        if verb != plan.verb or asked < plan.skip or self._chance.random() > plan.often:
            return [["send", lies.frame(payload)]]
        fields = {wire.pack(key): wire.pack(value) for key, value in reply.items()}
        return self._lie()(self._chance, payload, fields)

    def _lie(self) -> Any:
        known = {lie.__name__: lie for lie in lies.LIES}
        return known.get(self._plan.lie) or self._chance.choices(lies.LIES, lies.WEIGHTS)[0]

    def _perform(self, act: str, *details: Any) -> None:
        connection = self._connection
        connection.setblocking(True)
        if act == "send":
            connection.sendall(details[0])
        elif act == "repeat":
            for _ in range(details[1]):
                connection.sendall(details[0])
        elif act == "drip":
            for place in range(len(details[0])):
                connection.sendall(details[0][place : place + 1])
                time.sleep(details[1])
        elif act == "hang":
            time.sleep(60)
        elif act == "close":
            connection.shutdown(socket.SHUT_RDWR)
        elif act == "exit":
            os._exit(details[0])
        elif act == "signal":
            signal.signal(details[0], signal.SIG_DFL)
            os.kill(os.getpid(), details[0])
        connection.setblocking(False)


class Forger:
    """Stands where the zygotes stand: hands out workers, each with a liar behind it."""

    def __init__(
        self, plan: Plan, genuine: Genuine, budget: Budget, told: Sequence[Sequence[list[lies.Act]]] | None = None
    ) -> None:
        self._plan = plan
        self._genuine = genuine
        self.budget = budget
        self._told = told
        self._pid = 0
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the case
        self.workers = 0

    def spawn(self, **_: object) -> Worker:
        mine, theirs = socket.socketpair()
        self.workers += 1
        self._pid = os.fork()
        if self._pid == 0:
            stop_clocks()
            mine.close()
            told = None if self._told is None else self._told[min(self.workers, len(self._told)) - 1]
            try:
                Liar(theirs, self._plan, self.workers, self._genuine, self._log.fileno()).live(told)
            except BaseException:  # noqa: BLE001 - a child must never go on as if it were the fuzzer
                os.write(2, traceback.format_exc().encode())
            finally:
                os._exit(99)
        theirs.close()
        return Worker(self, wire.Channel(mine), os.memfd_create("output"), self.budget)  # type: ignore[arg-type]

    def end_worker(self) -> dict[str, Any]:
        """End the liar as a zygote would: wait a moment, then kill."""
        patience = time.monotonic() + 0.02
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                if code == 99:
                    raise Finding("the fuzzer's own worker failed")
                return {"code": code, "killed": False, "cpu_seconds": 0.0, "memory_kib": 0, "overfull": False}
            if time.monotonic() > patience:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.0005)

    def transcript(self) -> list[list[str]]:
        """Return what each worker sent, request by request, packed and in hex."""
        self._log.seek(0)
        lines = [line.split() for line in self._log.read().decode("ascii").splitlines()]
        return [[acts for number, acts in lines if int(number) == worker + 1] for worker in range(self.workers)]

    def close(self) -> None:
        self._log.close()


class Frames:
    """The judge with liars for workers."""

    def __init__(self, only: Sequence[str], call_seconds: float = 0.15) -> None:
        self._rubric = read_rubric().only(only) if only else read_rubric()
        self._call_seconds = call_seconds
        started = time.monotonic()
        self._recordings = {}
        for recording in draw(self._rubric.code_checks, number=0, examples=EXAMPLES):
            self._recordings.setdefault(recording.check.of, []).append(recording)
        self.items = sorted(self._recordings)
        self._genuine = {item: Genuine(recordings) for item, recordings in self._recordings.items()}
        self._rubrics: dict[str, Rubric] = {}
        self._diagnostician = Diagnostician()
        print(f"{len(self.items)} items drawn in {time.monotonic() - started:.0f} s", file=sys.stderr)

    def forger(self, plan: Plan, told: Any = None, seconds: float | None = None) -> Forger:
        """Return what hands out workers for this plan; calls take no more than so many seconds."""
        each = seconds or self._call_seconds
        limits = {"call_seconds": each, "import_seconds": each, "submission_seconds": 20 * each}
        return Forger(plan, self._genuine[plan.item], replace(self._rubric.budget, **limits), told)

    def judged(self, plan: Plan, forger: Forger) -> tuple[SubmissionResult, Rubric]:
        """Judge one submission whose worker follows the plan; whatever is printed meanwhile is part of a finding."""
        rubric = replace(self._rubric_of(plan.item), budget=forger.budget)
        module = plan.item.split(".", 1)[0]
        answers = ANSWERS if plan.item in COSTS else None
        submission = Submission("alice", "alice", (Source(f"{module}.py", ("",)),), answers, digest="0")
        judge_ = Judge(rubric, self._recordings[plan.item], sandbox.Tier.NONE, closer=True)
        judge_._zygotes = forger  # type: ignore[assignment]
        judge_._diagnostician = self._diagnostician  # it remembers what misconceptions answer
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            result = judge_.result(submission)
        if errors.getvalue():
            raise Finding(errors.getvalue())
        return result, rubric

    def _rubric_of(self, item: str) -> Rubric:
        if item not in self._rubrics:
            self._rubrics[item] = read_rubric().only([item, COSTS[item]] if item in COSTS else [item])
        return self._rubrics[item]

    def run(self, plan: Plan, forger: Forger) -> list[str]:
        """Run one case and return what to count."""
        result, rubric = self.judged(plan, forger)
        _inspect(result, rubric)
        return [
            f"{plan.verb}: {plan.lie or 'any lie'}: {result.items[0].outcome}",
            f"judged on {'several workers' if forger.workers > 1 else 'one worker'}",
        ]

    def honest(self) -> None:
        """Make sure that a worker that never lies gets full points: otherwise we fuzz nothing."""
        for item in self.items:
            plan = Plan(item, "none", 0, 0.0, "", 0)
            forger = self.forger(plan, seconds=60)
            result, _ = self.judged(plan, forger)
            forger.close()
            for check in (check for each in result.items if each.kind == "code" for check in each.checks):
                if check.verdict.outcome is not Outcome.HELD:
                    raise SystemExit(
                        f"an honest worker gets {check.verdict.outcome} for {check.verdict.check}: {check.verdict.message}"
                    )


def _inspect(result: SubmissionResult, rubric: Rubric) -> None:
    """Hold a result against all that a result must be, whatever a worker says."""
    if result.status is Status.WITHHELD:
        raise Finding("the score is withheld")
    for check in (check for item in result.items for check in item.checks):
        verdict = check.verdict
        if verdict.outcome is not Outcome.HELD and not verdict.message.strip():
            raise Finding(f"{verdict.check} is {verdict.outcome} without a sentence")
        if len(verdict.message) > LONGEST_MESSAGE:
            raise Finding(f"a message of {len(verdict.message):,} characters")
    text = results.results_json([result], rubric="0", seed=0)
    if len(text.encode("utf-8")) > LONGEST_RESULT:
        raise Finding(f"a results.json of {len(text):,} characters")
    json.loads(text, parse_constant=_refuse)
    results.gradebook_csv([result]).encode("utf-8")
    stored = msgspec.json.encode(result, enc_hook=gradebook._encode)
    if msgspec.json.decode(stored, type=SubmissionResult, dec_hook=gradebook._decode) != result:
        raise Finding("the gradebook gives back another result")


def _refuse(constant: str) -> None:
    raise Finding(f"{constant} in results.json")


def _decode_many(chance: Random, count: int) -> Iterator[str]:
    """Decode values of every kind directly: many more than go through the socket."""
    for _ in range(count):
        data = lies.value(chance) if chance.random() < 0.5 else lies.mutated(chance, lies.array(chance))
        try:
            wire.unpack(data)
            yield "values read"
        except wire.ProtocolFault:
            yield "values refused"
        except Exception as fault:
            raise Finding(f"{data.hex()} is neither read nor refused: {fault!r}") from fault


def main() -> int:
    """Run and report; the exit code is 1 if there are findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", action="append", default=[], help="a module or an item")
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--replay", type=Path, help="a finding's file: the same bytes again")
    given = parser.parse_args()
    judge.SHRINK_ATTEMPTS = 15  # looking for smaller inputs is not what is fuzzed
    judge.SHRINK_SECONDS = 0.5
    tally = Tally(given.out, seconds=SECONDS, mebibytes=MEBIBYTES)
    if given.replay:
        kept = json.loads(given.replay.read_text(encoding="utf-8"))
        plan = Plan(**kept["plan"])
        _case(f"{given.replay.stem}-again", Frames([plan.item]), plan, tally, kept["told"])
        return tally.report()
    frames = Frames(given.only)
    frames.honest()
    number = given.first
    tally.started = time.monotonic()
    while time.monotonic() < tally.started + given.seconds:
        name = f"frames-{given.seed}-{number}"
        _case(name, frames, Plan.drawn(frames.items, name), tally)
        number += 1
    return tally.report()


def _case(name: str, frames: Frames, plan: Plan, tally: Tally, kept: list[list[str]] | None = None) -> None:
    """Judge a worker that follows the plan, or one that says again what was kept."""
    told = kept and [
        [msgspec.msgpack.decode(zlib.decompress(bytes.fromhex(acts))) for acts in worker] for worker in kept
    ]
    forger = frames.forger(plan, told)
    tally.case(
        name,
        lambda: [*frames.run(plan, forger), *_decode_many(Random(name), 100)],
        lambda: {"plan": asdict(plan), "told": forger.transcript()},
    )
    forger.close()


if __name__ == "__main__":
    sys.exit(main())
