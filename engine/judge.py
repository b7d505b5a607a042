"""The judge: asks the worker, compares, and finds the smallest counterexample.

Two stages. Replay: the recorded calls of a check go to the worker in batches, and the
check's body runs on the replies; where they are, bit for bit, those of the reference, it has
already run, and held. Shrink: only a check that failed runs again under
Hypothesis, with the same seed, to find the smallest input that fails. Nothing that
comes back from a worker is trusted to be anything but data.
"""

from __future__ import annotations

import math
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate, count, groupby, islice
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from checks.check import Check
from checks.contract import MODULES, TOOLS, signature_of
from checks.expect import Call, Failure
from checks.subject import Kept, Raised, raised
from engine.corpus import Example, RecordedCall, Recording, call_payload, reference_module
from engine.policy import NO_RULES, Rules, told
from engine.records import Counterexample, GraderFault, Outcome, Source, Submission, Verdict
from engine.truth import Truth
from engine.worker import wire
from engine.worker.serving import OUTPUT_KEPT
from engine.workers import AS_RECORDED, BATCH_PATIENCE, Budget, Worker, WorkerLost, Zygotes

BATCH_CALLS = 100
BATCH_BYTES = 2**18
SHRINK_ATTEMPTS = 400  # counted, not timed: the same submission must get the same counterexample
SHRINK_SECONDS = 5.0  # a submission too slow for that keeps its first counterexample, which is the same every time too
LOAD_SECONDS = 60.0
LIVE_OBJECTS = 10**9  # objects of calls made now are numbered from here, those of recorded calls from zero
TIMEOUTS_PER_ITEM = 2
TIMEOUTS_PER_SUBMISSION = 6
ENOUGH_TO_SEE_A_CONSTANT = 10
REFUSED = {"PermissionError", "FileNotFoundError"}  # what reaching out of the sandbox looks like from inside
KEPT_CALLS = 25  # replies of a check that its mistake is named by
KEPT_BYTES = 64 * 2**20  # of replies, for one submission: a right one needs a tenth of that
LONGEST_MESSAGE = 2_000
LONGEST_SHOWN = 20_000  # characters of a counterexample
ASKED_AGAIN = 12  # calls of one function that are kept to be repeated (engine/honesty.py)
ASKED_BYTES = 2**18  # of a result that is kept for it
Sent = TypeVar("Sent")

SANDBOX_NOTE = " (submissions run without files, network and other processes)"


class Asked(NamedTuple):
    """A call that was made, behind those that made its objects, and what was returned."""

    item: str
    calls: tuple[RecordedCall, ...]
    given: Any  # as the contract takes it, or AS_RECORDED

    @property
    def value(self) -> Any:
        """Its result as the contract takes it."""
        return self.calls[-1].returned if self.given is AS_RECORDED else self.given

    @property
    def function(self) -> str:
        """The function it is a call of."""
        return self.calls[-1].function


@dataclass(slots=True)
class Judgement:
    """Everything found out about one submission's code."""

    verdicts: list[Verdict] = field(default_factory=list)
    replies: dict[str, list[tuple[RecordedCall, dict[str, Any]]]] = field(default_factory=dict)  # by check, first batch
    asked: dict[str, list[Asked]] = field(default_factory=dict)  # by check that held, a few of its calls
    output: str = ""
    room: int = KEPT_BYTES  # for replies

    def keep(self, check: str, calls: Sequence[RecordedCall], replies: Sequence[dict[str, Any]]) -> None:
        """Keep a check's first replies; of those that no longer fit, only that they were too large."""
        if check in self.replies:
            return
        kept = self.replies[check] = []
        for call, reply in islice(zip(calls, replies, strict=False), KEPT_CALLS):
            size = _size_of(reply)
            fits = size <= self.room
            self.room -= size if fits else 0
            kept.append((call, reply if fits else {"raised": "ResultTooLarge"}))


class Unavailable(Exception):
    """A function that cannot be called at all."""

    def __init__(self, outcome: Outcome, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.sentence = sentence


class TooSlow(BaseException):
    """Looking for a smaller counterexample takes too long. Not an Exception: Hypothesis would go on."""


class Exhausted(Raised):
    """It ran into a limit of memory or size: trying again with less would only take long."""


def judge(
    submission: Submission, recordings: Sequence[Recording], zygotes: Zygotes, budget: Budget, rules: Rules = NO_RULES
) -> Judgement:
    """Run every recorded check on a submission; what uses something forbidden is blocked as a whole."""
    judgement = Judgement()
    functions = {(each.check.of, function) for each in recordings for function in each.check.functions}
    with _Session(submission, functions, zygotes, budget, rules) as session:
        for recording in recordings:
            judgement.verdicts.append(_judge_check(recording, session, judgement))
    judgement.output = session.output
    for place, recording in enumerate(recordings):
        said = session.blocked.get(recording.check.of)
        if said is not None:
            judgement.verdicts[place] = Verdict(recording.check.id, Outcome.BLOCKED, message=said)
    return judgement


def asked_again(
    submission: Submission, asked: Sequence[Asked], zygotes: Zygotes, budget: Budget, *, number: int
) -> list[dict[str, Any] | None]:
    """Make calls again, in this order, in a fresh worker whose random numbers start from `number`.

    Returns a reply to each, None where none came in time: that is no answer, and no other answer.
    """
    replies: list[dict[str, Any] | None] = []
    functions = {(each.item, call.function) for each in asked for call in each.calls}
    with _Session(submission, functions, zygotes, budget) as session:
        for item, group in groupby(asked, key=lambda each: each.item):
            several = [Example({}, list(each.calls)) for each in group]
            replies += _repeated(session, item, several, number)
    return replies


def _repeated(session: _Session, item: str, several: Sequence[Example], number: int) -> list[dict[str, Any] | None]:
    last: list[dict[str, Any] | None] = []
    try:
        for function in dict.fromkeys(call.function for each in several for call in each.calls):
            session.require(item, function)
        session.begin(item, number)
        for batch in batches(several):
            replies, _ = session.batch(item, [call for each in batch for call in each.calls])
            ends = accumulate(len(each.calls) for each in batch)
            calls = [each.calls[-1] for each in batch]
            last += [
                said(call, replies[end - 1]) if end <= len(replies) else None
                for call, end in zip(calls, ends, strict=True)
            ]
    except (Unavailable, WorkerLost):
        pass  # what was not answered stays unanswered
    return last + [None] * (len(several) - len(last))


def sampled(asked: Sequence[Asked]) -> list[Asked]:
    """Return a few calls of each function, evenly spread, in their order."""
    by_function: dict[str, list[int]] = {}
    for place, each in enumerate(asked):
        by_function.setdefault(each.function, []).append(place)
    chosen: set[int] = set()
    for places in by_function.values():
        few = min(ASKED_AGAIN, len(places))
        chosen.update(places[(len(places) - 1) * step // max(1, few - 1)] for step in range(few))
    return [asked[place] for place in sorted(chosen)]


def counts(
    submission: Submission, calls: Mapping[str, Sequence[tuple[Any, ...]]], zygotes: Zygotes, budget: Budget
) -> dict[str, list[dict[str, Any]]]:
    """Have the operations of calls of items' functions counted; without items that cannot be called.

    In a worker of its own: counting replaces functions of NumPy while it goes on, and no verdict should depend on that.
    """
    found = {}
    with _Session(submission, {(item, item.split(".", 1)[1]) for item in calls}, zygotes, budget) as session:
        for item, several in calls.items():
            with suppress(Unavailable, WorkerLost):
                session.require(item, item.split(".", 1)[1])
                session.begin(item)
                requests = [wire.pack(["count", *item.split(".", 1), list(arguments)]) for arguments in several]
                found[item] = session.every(item, requests)
    return found


def traces(
    submission: Submission,
    requests: Mapping[str, Sequence[Sequence[Any]]],
    has_ways: Callable[[str, int, dict[str, Any]], bool],
    zygotes: Zygotes,
    budget: Budget,
) -> dict[str, list[list[dict[str, Any]]]]:
    """Have functions run on symbols, as each item's rows of requests say; without items that cannot be.

    The first request of a row is made, the others only if its reply `has_ways` the data choose between. In a worker of
    its own, for the reason counting has.
    """
    found = {}
    called = {item: {call[0] for row in rows for calls, _ in row for call in calls} for item, rows in requests.items()}
    functions = {(item, function) for item, names in called.items() for function in names}
    with _Session(submission, functions, zygotes, budget) as session:
        for item, rows in requests.items():
            with suppress(Unavailable, WorkerLost):
                for function in called[item]:
                    session.require(item, function)
                session.begin(item)
                packed = [[wire.pack(["trace", item.split(".", 1)[0], *request]) for request in row] for row in rows]
                firsts = session.every(item, [first for first, *_ in packed])
                found[item] = [
                    [reply, *(session.every(item, others) if has_ways(item, place, reply) else ())]
                    for place, (reply, (_, *others)) in enumerate(zip(firsts, packed, strict=True))
                ]
    return found


def answers(
    submission: Submission, calls: Mapping[str, Sequence[Sequence[Any]]], zygotes: Zygotes, budget: Budget
) -> dict[str, list[Any]]:
    """Return what the last of each of an item's calls gives, made in the ordinary way in a worker of its own.

    Without items that have a call with no answer.
    """
    found = {}
    functions = {(item, function) for item, chains in calls.items() for chain in chains for function, _ in chain}
    with _Session(submission, functions, zygotes, budget) as session:
        for item, chains in calls.items():
            with suppress(Failure, Unavailable, WorkerLost):
                for function in dict.fromkeys(function for chain in chains for function, _ in chain):
                    session.require(item, function)
                session.begin(item)
                linked = [request for number, chain in enumerate(chains) for request in _linked(item, number, chain)]
                replies = session.every(item, linked)
                found[item] = [returned(replies[end - 1]) for end in accumulate(map(len, chains))]
    return found


def _linked(item: str, number: int, chain: Sequence[Any]) -> Iterator[bytes]:
    """Yield the requests of a chain of calls, each on the result of the last, which stays in the worker."""
    for place, (function, arguments) in enumerate(chain):
        given = (Kept(number), *arguments) if place else arguments
        store = number if place < len(chain) - 1 else None
        yield call_payload(item.split(".", 1)[0], function, given, keep=False, store=store)


def _judge_check(recording: Recording, session: _Session, judgement: Judgement) -> Verdict:
    """Judge one check; whatever a worker had to say, it is told in a sentence of bounded length."""
    verdict = _verdict_on(recording, session, judgement)
    shown = verdict.counterexample
    if shown is not None:
        shown = Counterexample(*(_cut(each, LONGEST_SHOWN) for each in (shown.call, shown.gave, shown.expected)))
    return replace(verdict, message=_cut(verdict.message, LONGEST_MESSAGE), counterexample=shown)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _verdict_on(recording: Recording, session: _Session, judgement: Judgement) -> Verdict:
    check = recording.check
    try:
        for function in check.functions:
            session.require(check.of, function)
        session.begin(check.of)
        with np.errstate(all="ignore"):  # the numbers are a student's: what overflows is judged, not warned about
            return _replay(recording, session, judgement)
    except Unavailable as unavailable:
        return Verdict(check.id, unavailable.outcome, message=unavailable.sentence)
    except WorkerLost as lost:
        session.note_loss(check.of, lost)
        return Verdict(check.id, lost.outcome, message=lost.sentence)
    except Exception:  # noqa: BLE001 - whatever it is, it is ours: the score is withheld, the run goes on
        print(f"{session.submission.id}: {check.id}\n{traceback.format_exc()}", file=sys.stderr)
        return Verdict(check.id, Outcome.UNJUDGED, message="The grader failed on this check.")


def _replay(recording: Recording, session: _Session, judgement: Judgement) -> Verdict:
    check = recording.check
    held = 0
    handed = _Replayed(check, session)
    for batch in batches(recording.examples):
        calls = [call for example in batch for call in example.calls]
        replies, lost = session.batch(check.of, calls)
        judgement.keep(check.id, calls, replies)
        end = 0
        for example in batch:
            start, end = end, end + len(example.calls)
            answered = _Answered(example, replies[start:end], lost)
            handed.turn_to(answered)
            try:
                if answered.as_the_reference:
                    handed.note_all()
                else:
                    check.body(**handed.arguments(), **example.drawn)
            except Failure as failure:
                return _broken(recording, session, failure, held)
            except WorkerLost as event:
                session.note_loss(check.of, event)
                return _lost(check, answered, event, held)
            held += 1
    if handed.seen.is_constant and held >= ENOUGH_TO_SEE_A_CONSTANT:
        message = "It returned the same values for every input, so there is nothing this law could show."
        return Verdict(check.id, Outcome.BROKEN, held, message)
    judgement.asked[check.id] = sampled(handed.asked)
    return Verdict(check.id, Outcome.HELD, held)


def batches(examples: Sequence[Example]) -> Iterator[list[Example]]:
    """Split examples into batches that can be sent at once."""
    return _grouped(examples, lambda each: (len(each.calls), sum(len(call.payload) for call in each.calls)))


def _grouped(several: Iterable[Sent], weigh: Callable[[Sent], tuple[int, int]]) -> Iterator[list[Sent]]:
    """Split into groups small enough that a whole one fits the socket's buffer; `weigh` tells calls and bytes."""
    group: list[Sent] = []
    calls = size = 0
    for each in several:
        more_calls, more = weigh(each)
        if group and (calls + more_calls > BATCH_CALLS or size + more > BATCH_BYTES):
            yield group
            group, calls, size = [], 0, 0
        group.append(each)
        calls += more_calls
        size += more
    if group:
        yield group


def _broken(recording: Recording, session: _Session, first: Failure, held: int) -> Verdict:
    """Find the smallest input that fails, and report that one."""
    check = recording.check
    smallest, note = _smallest(recording, session, first)
    outcome = Outcome.RAISED if isinstance(smallest, Raised) else Outcome.BROKEN
    counterexample = Counterexample(smallest.call, smallest.gave, smallest.expected) if smallest.call else None
    return Verdict(check.id, outcome, held + 1, smallest.sentence + note, counterexample)


def _smallest(recording: Recording, session: _Session, first: Failure) -> tuple[Failure, str]:
    if isinstance(first, Exhausted):
        return first, ""
    check = recording.check
    best = first
    attempts = 0
    live = _Handed(check, session)
    deadline = time.monotonic() + SHRINK_SECONDS

    def attempt(**drawn: Any) -> None:
        nonlocal best, attempts
        if attempts > SHRINK_ATTEMPTS:
            return
        if time.monotonic() > deadline:
            raise TooSlow
        try:
            check.body(**live.arguments(), **drawn)
        except Failure as failure:
            best = failure
            raise
        finally:
            attempts += best is not first  # drawing up to the known failure is free

    from hypothesis.errors import HypothesisException  # long to import, and needed by nobody whose checks hold

    try:
        check.run(attempt, number=recording.number, examples=recording.requested, shrink=True)
    except Failure as failure:
        return failure, ""
    except HypothesisException:
        # It ran out of attempts, or the submission answers the same call differently: the best so far is still true.
        return best, ""
    except TooSlow:
        return first, ""
    except WorkerLost as event:
        session.note_loss(check.of, event)
        return best, ""
    return best, "" if best is not first else " (It did not happen again when the same calls were repeated.)"


def _lost(check: Check, answered: _Answered, event: WorkerLost, held: int) -> Verdict:
    calls = answered.example.calls
    fatal = calls[min(len(answered.replies), len(calls) - 1)]
    text = str(Call(fatal.function, fatal.arguments))
    counterexample = Counterexample(text, "no result", "a result")
    return Verdict(check.id, event.outcome, held + 1, event.sentence, counterexample)


class _Answered(NamedTuple):
    """An example with the replies there are, and how the worker was lost if it was."""

    example: Example
    replies: list[dict[str, Any]]
    lost: WorkerLost | None

    @property
    def as_the_reference(self) -> bool:
        """Whether every reply is, to the last bit, the one the body held on when it was recorded.

        Where nothing was recorded, at a student's home, the body has to run.
        """
        calls = self.example.calls
        return bool(calls) and len(calls) == len(self.replies) and all(each is AS_RECORDED for each in self.replies)


class _Distinct:
    """Notices a function that returns the same values whatever it is given, where the reference clearly does not.

    Clearly: in the second decimal. A right answer follows the reference there, so only a wrong one can be noticed.
    """

    def __init__(self) -> None:
        self._given: set[bytes] = set()
        self._wanted: set[bytes] = set()

    def note(self, given: Any, wanted: Any) -> None:
        """Hear of one more result."""
        if len(self._given) < 2:
            self._given.add(_values(given, decimals=6))
            self._wanted.add(_values(wanted, decimals=2))

    def note_reference(self, call: RecordedCall) -> None:
        """Hear of a result that is the reference's."""
        if len(self._given) < 2:
            self.note(call.returned, call.returned)

    @property
    def is_constant(self) -> bool:
        return len(self._given) == 1 and len(self._wanted) > 1


def _values(result: Any, *, decimals: int) -> bytes:
    if isinstance(result, tuple | dict):
        parts = result.values() if isinstance(result, dict) else result
        return b"|".join(_values(part, decimals=decimals) for part in parts)
    if isinstance(result, str):
        return result.encode("utf-8", "replace")
    # Adding zero makes a -0.0 a 0.0, and numbers of booleans, which cannot be rounded.
    return (np.unique(np.round(result + 0.0, decimals)) + 0.0).tobytes()


class _Handed:
    """What a check's body is handed: subjects and, if it asks, the truth."""

    def __init__(self, check: Check, session: _Session) -> None:
        self.check = check
        self.session = session
        self.module = check.of.split(".", 1)[0]
        self._truth = Truth(reference_module(check.of)) if check.needs_truth else None
        self._numbers = count(LIVE_OBJECTS)

    def arguments(self) -> dict[str, Any]:
        handed: dict[str, Any] = {name: _Subject(self, name) for name in self.check.functions}
        if self.check.needs_truth:
            handed["truth"] = _Truths(self)
        return handed

    def truth(self, name: str, arguments: tuple[Any, ...]) -> Any:
        return getattr(self._truth, name)(*arguments)

    def reply(self, function: str, arguments: tuple[Any, ...], *, keep: bool) -> tuple[dict[str, Any], RecordedCall]:
        """Return the submission's reply, and the call it replies to."""
        store = next(self._numbers) if signature_of(self.module, function).makes_object else None
        call = call_now(self.check.of, function, arguments, keep=keep, store=store)
        return self.session.make(self.check.of, call), call

    def note(self, value: Any, call: RecordedCall) -> None:
        """Hear of an accepted result."""


class _Replayed(_Handed):
    """Replies and truths from the recording, example after example, as long as the body asks what it asked then."""

    def __init__(self, check: Check, session: _Session) -> None:
        super().__init__(check, session)
        self._makers: dict[int, RecordedCall] = {}  # of objects, by their number
        self.seen = _Distinct()
        self.asked: list[Asked] = []

    def turn_to(self, answered: _Answered) -> None:
        """Take up the next example."""
        self._example, self._replies, self._lost = answered
        self._next_call = self._next_truth = 0

    def reply(self, function: str, arguments: tuple[Any, ...], *, keep: bool) -> tuple[dict[str, Any], RecordedCall]:
        reply, call = self._reply(function, arguments, keep=keep)
        if call.store is not None:
            self._makers[call.store] = call
        return reply, call

    def _reply(self, function: str, arguments: tuple[Any, ...], *, keep: bool) -> tuple[dict[str, Any], RecordedCall]:
        position = self._next_call
        self._next_call += 1
        if position < len(self._example.calls):
            call = self._example.calls[position]
            if call.function == function and call.keep == keep and _same(call.arguments, arguments):
                if position < len(self._replies):
                    return said(call, self._replies[position]), call
                if self._lost is not None:
                    raise self._lost
        return super().reply(function, arguments, keep=keep)

    def truth(self, name: str, arguments: tuple[Any, ...]) -> Any:
        position = self._next_truth
        self._next_truth += 1
        if position < len(self._example.truths):
            asked, value = self._example.truths[position]
            if _same(asked, (name, *arguments)):
                return value
        return super().truth(name, arguments)

    def note_all(self) -> None:
        """Hear of every result of a submission that gave those of the reference."""
        for call in self._example.calls:
            if call.store is None:
                self.seen.note_reference(call)
                self._keep(AS_RECORDED, call)
            else:
                self._makers[call.store] = call

    def note(self, value: Any, call: RecordedCall) -> None:
        if call.returned is not None:
            self.seen.note(value, call.returned)
        if _size_of(value) <= ASKED_BYTES:
            self._keep(value, call)

    def _keep(self, value: Any, call: RecordedCall) -> None:
        makers = (
            [self._makers[each.number] for each in call.arguments if isinstance(each, Kept)] if self._makers else ()
        )
        self.asked.append(Asked(self.check.of, (*makers, call), value))


class _Truths:
    """The reference's functions, as a check's body sees them."""

    def __init__(self, handed: _Handed) -> None:
        self._handed = handed

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self._handed.truth(name, arguments)


class _Subject:
    """A function of the submission, as a check's body sees it."""

    def __init__(self, handed: _Handed, name: str) -> None:
        self._handed = handed
        self._name = name
        self._signature = signature_of(handed.module, name)

    def __call__(self, *arguments: Any) -> Any:
        return self._ask(arguments, keep=False)[0]

    def with_arguments(self, *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        return self._ask(arguments, keep=True)

    def _ask(self, arguments: tuple[Any, ...], *, keep: bool) -> tuple[Any, tuple[Any, ...]]:
        reply, call = self._handed.reply(self._name, arguments, keep=keep)
        try:
            value = self._signature.accept(returned(reply), arguments, call.shapes)
        except Failure as failure:
            if not failure.call:
                failure.call = str(Call(self._name, arguments))
            raise
        if call.store is not None:
            return Kept(call.store), arguments
        self._handed.note(value, call)
        after = reply.get("arguments")
        return value, tuple(after) if isinstance(after, list | tuple) and keep else arguments


def call_now(item: str, function: str, arguments: tuple[Any, ...], *, keep: bool, store: int | None) -> RecordedCall:
    """Return a call that was not recorded, as if it had been; nobody knows its result."""
    payload = call_payload(item.split(".", 1)[0], function, arguments, keep=keep, store=store)
    return RecordedCall(function, keep, store, payload, (), b"", [(arguments, None)])


def returned(reply: dict[str, Any]) -> Any:
    """Return what the student's function returned, or raise Raised with what it raised."""
    if "returned" in reply:
        return reply["returned"]
    if "raised" not in reply:
        raise Raised("It answered with something that is no result.")
    type_name, message = str(reply["raised"]), _steady(str(reply.get("message", "")))
    if type_name == "OutputFlood":
        raise Exhausted(f"It {message}; what a submission prints is limited.")
    if type_name == "ResultTooLarge":
        raise Exhausted(f"It {message}.")
    if type_name == "MemoryError":
        raise Exhausted(
            f"It ran out of memory (MemoryError{': ' if message else ''}{message}).", gave=student_lines(reply)
        )
    if type_name in REFUSED:
        message += SANDBOX_NOTE
    raise raised(type_name, message, student_lines(reply))


def said(call: RecordedCall, reply: dict[str, Any]) -> dict[str, Any]:
    """Return what was replied to a call, read if it had not to be so far."""
    return call.reply if reply is AS_RECORDED else reply


def student_lines(reply: dict[str, Any]) -> str:
    """Return the student's own lines of a traceback, innermost last."""
    trace = reply.get("trace")
    lines = []
    for frame in trace if isinstance(trace, list) else []:
        if isinstance(frame, list) and len(frame) == 4:
            file, number, function, text = map(str, frame)
            where = f", in {function}" if function and function != "<module>" else ""
            lines.append(f"{file} line {number}{where}: {text}")
    return "\n".join(lines)


def _steady(message: str) -> str:
    """Take addresses out of a message: they differ from run to run."""
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", message)


def _size_of(value: Any) -> int:
    """Return about how many bytes a value takes."""
    if isinstance(value, np.ndarray):
        return 256 + value.nbytes
    if isinstance(value, list | tuple | dict):
        return 64 + sum(_size_of(entry) for entry in (value.values() if isinstance(value, dict) else value))
    return 64 + (len(value) if isinstance(value, str | bytes) else 0)


def _same(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if isinstance(first, np.ndarray):
        return isinstance(second, np.ndarray) and first.shape == second.shape and first.tobytes() == second.tobytes()
    if isinstance(first, list | tuple):
        return (
            isinstance(second, list | tuple)
            and len(first) == len(second)
            and all(_same(a, b) for a, b in zip(first, second, strict=True))
        )
    if isinstance(first, dict):
        return (
            isinstance(second, dict)
            and first.keys() == second.keys()
            and all(_same(first[k], second[k]) for k in first)
        )
    return type(first) is type(second) and bool(first == second)


class _Session:
    """A submission with a worker behind it, replaced whenever one is lost, within the budget."""

    def __init__(
        self,
        submission: Submission,
        functions: Iterable[tuple[str, str]],  # that will be called, each behind its item
        zygotes: Zygotes,
        budget: Budget,
        rules: Rules = NO_RULES,
    ) -> None:
        self.submission = submission
        self.output = ""
        self.blocked = dict(rules.found)  # items that use what they must not, and the sentence on it
        self._rules = rules
        self._armed = ""  # the item whose rules the worker knows
        self._zygotes = zygotes
        self._budget = budget
        self._worker: Worker | None = None
        self._found: dict[str, Unavailable | None] = {}  # by function, for the current worker unless unavailable
        self._failed_files: dict[str, Unavailable] = {}
        self._timeouts: dict[str, int] = {}
        self._deadline = time.monotonic() + budget.submission_seconds
        self._cpu_left = budget.cpu_seconds
        self._with_torch = _needs_torch(submission.sources, functions)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._drop_worker()

    def require(self, item: str, function: str) -> None:
        """Make sure the function can be called, or raise Unavailable."""
        module = item.split(".", 1)[0]
        if item in self.blocked:
            raise Unavailable(Outcome.BLOCKED, self.blocked[item])
        self._within_limits(item)
        if function in TOOLS:
            return
        if module in self._failed_files:
            raise self._failed_files[module]
        key = f"{module}.{function}"
        if key not in self._found:
            self._found[key] = self._find(module, function)
        unavailable = self._found[key]
        if unavailable is not None:
            raise unavailable

    def begin(self, item: str, number: int = 0) -> None:
        """Start a check: random generators anew, so that no verdict depends on what ran before."""
        self._ask("reseed", number, seconds=self._budget.call_seconds, doing=item)
        if self._armed or item in self._rules.forbidden:
            self._armed = item
            self._ask(*self._refusals(), seconds=self._budget.call_seconds, doing=item)

    def batch(self, item: str, calls: Sequence[RecordedCall]) -> tuple[list[dict[str, Any]], WorkerLost | None]:
        """Send recorded calls; return the replies there were, and how the worker was lost if it was."""
        name = item.split(".", 1)[1]
        try:
            payloads = [call.payload for call in calls]
            # Objects would be gone with a worker that is dropped for being slow, and training one is slow.
            patience = math.inf if any(call.store is not None for call in calls) else BATCH_PATIENCE
            known = [call.frame for call in calls]
            replies = self._live().requests(
                payloads, seconds=self._seconds(), doing=name, patience=patience, known=known
            )
        except WorkerLost as lost:
            self._drop_worker()
            self._refused(item, lost.answers)
            return lost.answers, lost
        if len(replies) < len(calls):
            self._drop_worker()  # answers nobody waited for would come first next time
        self._refused(item, replies)
        return replies, None

    def make(self, item: str, call: RecordedCall) -> dict[str, Any]:
        """Make one call now."""
        self.require(item, call.function)
        try:
            replies = self._live().requests([call.payload], seconds=self._seconds(), doing=call.function)
        except WorkerLost:
            self._drop_worker()
            raise
        self._refused(item, replies)
        return replies[0]

    def every(self, item: str, requests: Sequence[bytes]) -> list[dict[str, Any]]:
        """Ask several things and wait for all the answers, as long as the submission has time."""
        replies: list[dict[str, Any]] = []
        for group in _grouped(requests, lambda request: (1, len(request))):
            self._within_limits(item)
            try:
                worker = self._live()
                left = self._deadline - time.monotonic()
                answers = worker.requests(group, seconds=self._seconds(), doing=item.split(".", 1)[1], patience=left)
            except WorkerLost:
                self._drop_worker()
                raise
            if len(answers) < len(group):
                self._drop_worker()  # see batch
                self._within_limits(item)
            replies += answers
        return replies

    def note_loss(self, item: str, lost: WorkerLost) -> None:
        """Count a timeout against the item."""
        if lost.outcome is Outcome.TIMED_OUT:
            self._timeouts[item] = self._timeouts.get(item, 0) + 1

    def _refusals(self) -> tuple[str, list[str], list[list[str]]]:
        names, apart = self._rules.forbidden.get(self._armed, ()), self._rules.apart.get(self._armed, ())
        return "forbid", list(names), [list(place) for place in apart]

    def _refused(self, item: str, replies: Sequence[dict[str, Any]]) -> None:
        """Block the item if the worker refused it a call."""
        for reply in replies:
            match reply.get("forbidden"):
                case [str(name), str(file), int(line)] if name in self._rules.forbidden.get(item, ()):
                    known = any(file.split("[", 1)[0] == source.name for source in self.submission.sources)
                    self.blocked[item] = told(name, file if known else "", line)
                    raise Unavailable(Outcome.BLOCKED, self.blocked[item])

    def _within_limits(self, item: str) -> None:
        if self._timeouts.get(item, 0) >= TIMEOUTS_PER_ITEM:
            raise Unavailable(Outcome.BLOCKED, "Not run: earlier checks of this function ran out of time.")
        if sum(self._timeouts.values()) >= TIMEOUTS_PER_SUBMISSION:
            raise Unavailable(Outcome.BLOCKED, "Not run: too many earlier checks ran out of time.")
        if time.monotonic() > self._deadline:
            seconds = f"{self._budget.submission_seconds:g}"
            raise Unavailable(Outcome.TIMED_OUT, f"Not run: the submission's {seconds} s are used up.")
        if self._cpu_left <= 0:
            seconds = f"{self._budget.cpu_seconds:g}"
            raise Unavailable(
                Outcome.TIMED_OUT, f"Not run: the submission's {seconds} s of processor time are used up."
            )

    def _seconds(self) -> float:
        return max(0.1, min(self._budget.call_seconds, self._deadline - time.monotonic()))

    def _find(self, module: str, function: str) -> Unavailable | None:
        seconds = self._budget.import_seconds
        doing = f"Importing the file with {function}"
        try:
            reply = self._ask("find", module, function, _arity(module, function), seconds=seconds, doing=doing)
        except WorkerLost as lost:
            own = next((s.name for s in self.submission.sources if s.stem == module), None)
            unavailable = Unavailable(
                lost.outcome, lost.sentence.replace(doing, f"Importing {own}") if own else lost.sentence
            )
            if own:
                self._failed_files[module] = unavailable
            return unavailable
        if "found" in reply:
            return None
        if "import_failed" in reply:
            unavailable = Unavailable(Outcome.RAISED, _import_failure(reply))
            self._failed_files[module] = unavailable
            return unavailable
        if "absent" in reply:
            return Unavailable(Outcome.MISSING, _absence(reply, module, function))
        return Unavailable(Outcome.RAISED, f"{doing} answered with something that is no result.")

    def _ask(self, *message: Any, seconds: float, doing: str) -> dict[str, Any]:
        try:
            return self._live().request(*message, seconds=seconds, doing=doing)
        except WorkerLost:
            self._drop_worker()
            raise

    def _live(self) -> Worker:
        """Return the worker, a new one with every known function found again if the last was lost."""
        if self._worker is None:
            started = time.monotonic()
            self._worker = self._zygotes.spawn(with_torch=self._with_torch, cpu_seconds=self._cpu_left)
            self._load()
            self._deadline += time.monotonic() - started  # starting a zygote takes long, and is not the student's doing
            for key, unavailable in self._found.items():
                if unavailable is None:
                    module, function = key.split(".", 1)
                    doing = f"Importing the file with {function} again"
                    lookup = ("find", module, function, _arity(module, function))
                    self._worker.request(*lookup, seconds=self._budget.import_seconds, doing=doing)
            if self._armed:
                self._worker.request(*self._refusals(), seconds=self._budget.call_seconds, doing="Starting again")
        return self._worker

    def _load(self) -> None:
        """Hand the sources over. Nothing of the student's runs yet, so whatever goes wrong here is ours."""
        assert self._worker is not None
        files = [[s.name, list(s.cells), s.is_notebook] for s in self.submission.sources]
        try:
            known = (list(MODULES), self._rules.names)
            self._worker.request("load", files, *known, seconds=LOAD_SECONDS, doing="Loading the submission")
        except WorkerLost as lost:
            worker, self._worker = self._worker, None
            raise GraderFault(f"{lost.sentence} {worker.close()}") from None

    def _drop_worker(self) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            self.output = (self.output + worker.close())[:OUTPUT_KEPT]
            self._cpu_left -= worker.ended["cpu_seconds"]


def _arity(module: str, function: str) -> int:
    return len(signature_of(module, function).parameters)


def _needs_torch(sources: Sequence[Source], functions: Iterable[tuple[str, str]]) -> bool:
    """Return whether a file with one of these functions, or one it may import, has to do with torch.

    A fork of a process that has imported torch takes three times as long as one that has not.
    """
    waiting = [source for item, function in functions for source in _places(sources, item.split(".", 1)[0], function)]
    reached: set[str] = set()
    while waiting:
        source = waiting.pop()
        if _mentions(source, "torch"):
            return True
        reached.add(source.name)
        waiting += [other for other in sources if other.name not in reached and _mentions(source, other.stem)]
    return False


def _places(sources: Sequence[Source], module: str, function: str) -> list[Source]:
    """Return the files a function may be found in: its module's own, if that has it at all, or any."""
    own = [source for source in sources if source.stem == module]
    if any(_mentions(source, function) for source in own):
        return own
    return [*own, *(source for source in sources if _mentions(source, function))]


def _mentions(source: Source, name: str) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", cell) for cell in source.cells)


def _import_failure(reply: dict[str, Any]) -> str:
    file = str(reply["import_failed"])
    lines = student_lines(reply)
    place = f" ({lines.splitlines()[-1]})" if lines else ""
    message = _steady(str(reply.get("message", "")))
    if reply.get("raised") in REFUSED:
        message += SANDBOX_NOTE
    return f"{file} fails at import: {reply.get('raised')}: {message}{place}."


def _absence(reply: dict[str, Any], module: str, function: str) -> str:
    near = f" Found {reply['near']}: is that the one?" if isinstance(reply.get("near"), str) else ""
    if reply.get("absent"):
        return f"{reply['absent']} has no function {function}.{near}"
    return f"There is no {module}.py, and no other file defines {function}.{near}"
