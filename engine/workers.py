"""The judge's side of a worker: start zygotes, have workers forked, talk to them, end them."""

from __future__ import annotations

import fcntl
import json
import math
import os
import signal
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import NoneType
from typing import Any, Self

from engine import sandbox
from engine.launching import Launched
from engine.records import GraderFault, Outcome
from engine.worker import wire
from engine.worker.lockdown import Limits
from engine.worker.scratch import MOST_FILES
from engine.worker.serving import OUTPUT_KEPT

START_SECONDS = 60.0  # importing torch from a cold disk takes long
SPAWN_SECONDS = 20.0
END_SECONDS = 60.0  # removing what a worker left in its scratch folder takes as long as it took to make
SOCKET_BUFFER = 2**20
# What the judge believes of a reply: fields of these names and types. What was returned is looked at later.
FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "returned": object, "arguments": (list, NoneType), "raised": str, "message": str, "trace": list,
    "loaded": int, "found": str, "absent": (str, NoneType), "near": (str, NoneType), "import_failed": str,
    "multiply_adds": int, "elementwise": int, "lost": str, "forbidden": list,
    "nodes": list, "results": object, "path": list,
}  # fmt: skip
BATCH_LIMIT = 4 * wire.FRAME_LIMIT  # what the judge holds in memory for one submission
BATCH_PATIENCE = 1.0  # seconds: with calls this slow, the first failure should not wait for twenty-four others
AS_RECORDED: dict[str, Any] = {}  # stands for an answer that is, bit for bit, the reference's


class WorkerLost(BaseException):
    """The worker hung or died. Not an Exception: Hypothesis would catch it and try again."""

    def __init__(self, outcome: Outcome, sentence: str, answers: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.sentence = sentence
        self.answers = list(answers)  # those that came before


@dataclass(frozen=True, slots=True)
class Budget:
    """What a worker may use; the numbers come from the rubric."""

    call_seconds: float
    import_seconds: float
    submission_seconds: float
    cpu_seconds: float
    memory_mib: int
    scratch_mib: int

    def limits(self) -> Limits:
        """Return the kernel's share of it."""
        return Limits(
            memory_bytes=int(self.memory_mib * 2**20),
            cpu_seconds=math.ceil(self.cpu_seconds),
            file_bytes=int(self.scratch_mib * 2**20),
            open_files=64,
        )


class Zygote:
    """A warm process that forks one locked-down worker at a time."""

    def __init__(self, launched: Launched, budget: Budget) -> None:
        self._launched = launched
        self._budget = budget
        self._control = launched.control
        self._replies = self._control.makefile("rb")
        answer = self._answer(START_SECONDS)
        if "ready" not in answer:
            self.close()
            raise GraderFault(f"The sandbox could not be prepared: {answer.get('failed', 'no answer')}")

    def spawn(self, cpu_seconds: float) -> Worker:
        """Fork a worker that may use so much processor time."""
        mine, theirs = socket.socketpair()
        for end in (mine, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
        output = _bounded_file()
        with theirs:
            request = {"verb": "spawn", "cpu_seconds": max(1, math.ceil(cpu_seconds)), "cores": _our_cores()}
            socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno(), output])
            self._answer(SPAWN_SECONDS)
        return Worker(self, wire.Channel(mine), output, self._budget)

    def end_worker(self) -> dict[str, Any]:
        """End the worker that runs now; return how it ended."""
        self._control.sendall(b'{"verb": "end"}')
        return self._answer(END_SECONDS)

    def _answer(self, seconds: float) -> dict[str, Any]:
        self._control.settimeout(seconds)
        try:
            line = self._replies.readline()
        except TimeoutError:
            raise GraderFault(f"The zygote did not answer within {seconds:.0f} s.") from None
        if not line:
            raise GraderFault(f"The zygote ended by itself (exit code {self._launched.process.wait(5)}).")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Let the zygote end."""
        self._replies.close()
        self._launched.close()


def _our_cores() -> list[int]:
    """Return the cores we may use: a worker stays on them, also if its zygote was started before we chose ours."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


class Zygotes:
    """The zygotes of one judge; each, with torch and without, is started when first needed, unless it was `ahead`."""

    def __init__(self, tier: sandbox.Tier | None, budget: Budget, ahead: Launched | None = None) -> None:
        self._tier = tier  # None: that of the zygote that was started ahead if it works, else the best that does
        self._budget = budget
        self._ahead = ahead
        self._lent: Zygote | None = None  # the one that was ahead: whoever started it ends it, after all is told
        self._running: dict[bool, Zygote] = {}

    def spawn(self, *, with_torch: bool, cpu_seconds: float) -> Worker:
        """Fork a worker of the right kind; a zygote that died is replaced once."""
        if with_torch not in self._running:
            self._running[with_torch] = self._started(with_torch=with_torch)
        try:
            return self._running[with_torch].spawn(cpu_seconds)
        except (GraderFault, OSError):
            self._running.pop(with_torch).close()
            self._running[with_torch] = self._started(with_torch=with_torch)
            return self._running[with_torch].spawn(cpu_seconds)

    def _started(self, *, with_torch: bool) -> Zygote:
        launched, self._ahead = self._ahead, None
        if launched is not None and (launched.limits, launched.with_torch) == (self._budget.limits(), with_torch):
            with suppress(GraderFault):  # it could not be locked down as hoped for: see what can be done here
                self._lent = Zygote(launched, self._budget)
                self._tier = self._tier or launched.tier
                return self._lent
        self._tier = self._tier or sandbox.probe()
        return Zygote(Launched(self._tier, self._budget.limits(), with_torch=with_torch), self._budget)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for zygote in self._running.values():
            if zygote is not self._lent:
                zygote.close()
        self._running.clear()


class Worker:
    """One locked-down process with one student's code in it."""

    def __init__(self, zygote: Zygote, channel: wire.Channel, output: int, budget: Budget) -> None:
        self._zygote = zygote
        self._channel = channel
        self._output = output
        self._budget = budget
        self.ended: dict[str, Any] = {}  # how, once it has

    def request(self, *message: Any, seconds: float, doing: str) -> dict[str, Any]:
        """Ask one thing and wait for the answer."""
        return self.requests([wire.pack(list(message))], seconds=seconds, doing=doing)[0]

    def requests(
        self,
        payloads: Sequence[bytes],
        *,
        seconds: float,
        doing: str,
        patience: float = BATCH_PATIENCE,
        known: Sequence[bytes] = (),
    ) -> list[dict[str, Any]]:
        """Ask several things at once; each answer has its own deadline.

        `known` are the frames that were recorded: one that comes is not read, its answer is AS_RECORDED.

        Returns fewer answers than questions when they come too slowly to be worth waiting for all
        of them; the worker is then to be dropped. Raises WorkerLost when an answer does not come.
        """
        answers: list[dict[str, Any]] = []
        enough = time.monotonic() + patience
        size = 0
        try:
            self._channel.send(*payloads, deadline=time.monotonic() + seconds)
            for place in range(len(payloads)):
                now = time.monotonic()
                if answers and now > enough:
                    return answers
                frame = self._channel.receive(now + seconds)
                if frame and known and frame == known[place]:  # no frame is known by nothing, whatever comes
                    answers.append(AS_RECORDED)
                    continue
                size += wire.memory_of(frame, BATCH_LIMIT - size)
                answers.append(_checked(frame, size))
            self._channel.expect_silence()
        except (wire.Hung, wire.Gone, wire.ProtocolFault) as event:
            raise self._explain(event, seconds, doing, answers) from None
        return answers

    def _explain(self, event: Exception, seconds: float, doing: str, answers: Sequence[dict[str, Any]]) -> WorkerLost:
        outcome, sentence = self._ending(event, seconds)
        return WorkerLost(outcome, f"{doing} {sentence}.", answers)

    def _ending(self, event: Exception, seconds: float) -> tuple[Outcome, str]:
        code = self._end()["code"]
        if self.ended["overfull"]:
            return Outcome.RAISED, f"wrote more than {self._budget.scratch_mib:g} MiB or {MOST_FILES} files"
        if isinstance(event, wire.ProtocolFault):
            return Outcome.RAISED, f"answered with something that is no result ({event})"
        if isinstance(event, wire.Hung):
            if seconds < min(self._budget.call_seconds, self._budget.import_seconds):  # cut short by the whole budget
                return Outcome.TIMED_OUT, f"used up the submission's {self._budget.submission_seconds:g} s"
            return Outcome.TIMED_OUT, f"gave no answer within {seconds:g} s"
        if -code == signal.SIGXCPU:
            return Outcome.TIMED_OUT, f"used up the submission's {self._budget.cpu_seconds:g} s of processor time"
        if code >= 0:
            return Outcome.RAISED, f"ended the whole process (exit code {code})"
        known = {each.value: each.name for each in signal.Signals}  # those for real time have no names
        name = known.get(-code, f"signal {-code}")
        memory = f"; it may have run out of memory, the limit is {self._budget.memory_mib} MiB"
        return Outcome.RAISED, f"crashed the process ({name}{memory})"

    def _end(self) -> dict[str, Any]:
        self._channel.close()
        self.ended = self._zygote.end_worker()
        return self.ended

    def close(self) -> str:
        """End the worker if it still runs; return what its code printed."""
        if self._channel.connection.fileno() >= 0:
            self._end()
        printed = os.lseek(self._output, 0, os.SEEK_CUR)  # the worker shares the offset
        text = os.pread(self._output, min(printed, OUTPUT_KEPT), 0).decode("utf-8", "replace")
        os.close(self._output)
        return text


def _checked(frame: bytes, size: int) -> dict[str, Any]:
    """Read a reply of a batch that is so large by now; its fields are those of FIELDS, or it is none."""
    if size > BATCH_LIMIT:
        raise wire.ProtocolFault(f"more than {BATCH_LIMIT // 2**20} MiB in a row")
    reply = wire.unpack(frame)
    if type(reply) is not dict:
        raise wire.ProtocolFault("a reply that is no mapping")
    for name, value in reply.items():
        if not isinstance(value, FIELDS.get(name, ())):
            raise wire.ProtocolFault(f"a reply with {str(name)[:50]!r} of type {type(value).__name__}")
    return reply


def _bounded_file() -> int:
    """Return a file that keeps OUTPUT_KEPT bytes and refuses more; a pipe could block its writer."""
    if not hasattr(os, "memfd_create"):  # macOS, where code is trusted anyway
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
    descriptor = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, OUTPUT_KEPT)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return descriptor
