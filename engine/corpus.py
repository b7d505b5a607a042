"""The inputs of an assignment, drawn once: every check's examples, the calls they make, the truths they need.

Hypothesis is the cost of property-based grading, not isolation. So it draws each check's
examples once per assignment and seed, the check's body runs on the reference under a
recorder, and for every submission the recorded calls are replayed.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from types import ModuleType
from typing import Any, NamedTuple

from checks.check import Check
from checks.contract import SIGNATURES, signature_of
from checks.contract.signature import Shape
from checks.expect import Failure
from checks.subject import InProcess, Kept
from engine import cache
from engine.forking import forked
from engine.records import GraderFault
from engine.truth import Truth
from engine.worker import tools, wire
from engine.worker.serving import TOOLS, reply_of

WORTH_A_POOL = 20  # checks; each takes a fifth of a second


@dataclass(frozen=True, slots=True, eq=False)
class RecordedCall:
    """One call a check's body made, ready to be sent, and what the reference returned."""

    function: str
    keep: bool  # whether the arguments are wanted back
    store: int | None  # the number its result stays in the worker under, if it is an object
    payload: bytes
    shapes: tuple[Shape, ...]  # of the results
    frame: bytes  # the reply of a worker whose function returns the very same; nothing if it is long or unknown
    known: Sequence[tuple[tuple[Any, ...], Any]]  # arguments and results of some calls
    place: int = 0  # of this one among them

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What it was called with."""
        return self.known[self.place][0]

    @property
    def returned(self) -> Any:
        """What the reference returned."""
        return self.known[self.place][1]

    @property
    def reply(self) -> Any:
        """What its frame says."""
        return wire.unpack(self.frame)


class Example:
    """One drawn input with what the body did on it."""

    __slots__ = ("_content", "calls")

    def __init__(self, drawn: dict[str, Any], calls: Sequence[RecordedCall] = ()) -> None:
        self.calls = list(calls)
        self._content: _Content | _Packed = _Content(drawn, [], [])

    @property
    def drawn(self) -> dict[str, Any]:
        """What the body is handed beside functions."""
        return self._content.drawn

    @property
    def truths(self) -> list[tuple[tuple[Any, ...], Any]]:
        """The truths it asked for, each with what it asked."""
        return self._content.truths

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave what only a body wants packed: of a submission that is right in the usual way, no body is run."""
        content = _Content(self.drawn, [(call.arguments, call.returned) for call in self.calls], self.truths)
        sent = [(call.function, call.keep, call.store, call.payload, call.shapes, call.frame) for call in self.calls]
        return _restored, (sent, cache.packed(tuple(content)))


class _Content(NamedTuple):
    """The larger part of an example."""

    drawn: dict[str, Any]
    known: list[tuple[tuple[Any, ...], Any]]  # arguments and results of its calls
    truths: list[tuple[tuple[Any, ...], Any]]


class _Packed(Sequence[tuple[tuple[Any, ...], Any]]):
    """The content of an example, unpacked when it is first wanted; as a sequence, what is known of its calls."""

    __slots__ = ("_bytes", "_content")

    def __init__(self, content: bytes) -> None:
        self._bytes = content
        self._content: _Content | None = None

    def _unpacked(self) -> _Content:
        if self._content is None:
            self._content = _Content(*cache.unpacked(self._bytes))
            self._bytes = b""
        return self._content

    @property
    def drawn(self) -> dict[str, Any]:
        return self._unpacked().drawn

    @property
    def truths(self) -> list[tuple[tuple[Any, ...], Any]]:
        return self._unpacked().truths

    def __getitem__(self, place: Any) -> Any:
        return self._unpacked().known[place]

    def __len__(self) -> int:
        return len(self._unpacked().known)


def _restored(sent: Sequence[tuple[str, bool, int | None, bytes, tuple[Shape, ...], bytes]], content: bytes) -> Example:
    packed = _Packed(content)
    example = Example({}, [RecordedCall(*each, packed, place) for place, each in enumerate(sent)])
    example._content = packed  # noqa: SLF001 - this is its other constructor
    return example


@dataclass(frozen=True, slots=True)
class Recording:
    """All examples of one check."""

    check: Check
    number: int  # the grade's seed
    requested: int  # how many examples were asked for; a small space may hold fewer
    examples: tuple[Example, ...]


def draw(checks: Sequence[Check], *, number: int, examples: int) -> list[Recording]:
    """Draw and record every check, or find it drawn before; the reference must hold, or nobody can be graded."""
    known = {check.id: cache.load(_name(check, number, examples)) for check in checks}
    missing = [check for check in checks if known[check.id] is None]
    for check, recorded in zip(missing, _drawn(missing, number, examples), strict=True):
        known[check.id] = recorded
        cache.store(_name(check, number, examples), recorded)
    return [Recording(check, number, examples, known[check.id]) for check in checks]


def _name(check: Check, number: int, examples: int) -> str:
    return f"{check.id}-{number}-{examples}"


def _drawn(checks: Sequence[Check], number: int, examples: int) -> Iterator[tuple[Example, ...]]:
    """Draw checks, on all cores if there are enough of them to be worth it."""
    tasks = [(check, number, examples) for check in checks]
    if len(checks) < WORTH_A_POOL or "fork" not in multiprocessing.get_all_start_methods():
        yield from (_recorded(*task) for task in tasks)
        return
    _tasks[:] = tasks  # inherited by the fork: a check is code, and code is not sent through a pipe
    with forked(os.cpu_count() or 1) as pool:
        yield from pool.map(_draw_task, range(len(tasks)))


_tasks: list[tuple[Check, int, int]] = []


def _draw_task(index: int) -> tuple[Example, ...]:
    return _recorded(*_tasks[index])


def has_reference() -> bool:
    """Return whether the reference is here; a student's handout comes without it."""
    return importlib.util.find_spec("reference") is not None


def reference_module(item: str) -> ModuleType:
    """Return the reference module an item belongs to."""
    return importlib.import_module(f"reference.{item.split('.', 1)[0]}")


def _recorded(check: Check, number: int, examples: int) -> tuple[Example, ...]:
    drawn_examples: list[Example] = []
    check.run(lambda **drawn: drawn_examples.append(Example(drawn)), number=number, examples=examples, shrink=False)
    if not has_reference():
        return tuple(drawn_examples)  # nothing to record the calls of: each is made when it comes up
    module = reference_module(check.of)
    numbers = count()
    for example in drawn_examples:
        handed: dict[str, Any] = {name: _Recorder(example, module, check, name, numbers) for name in check.functions}
        if check.needs_truth:
            handed["truth"] = _RecordedTruth(example, Truth(module))
        try:
            check.body(**handed, **example.drawn)
        except Failure as failure:
            raise GraderFault(
                f"The reference fails {check.id}: {failure.sentence} {failure.call} "
                f"gave {failure.gave}, expected {failure.expected}"
            ) from failure
    return tuple(drawn_examples)


def call_payload(module: str, function: str, arguments: Sequence[Any], *, keep: bool, store: int | None) -> bytes:
    """Encode the request to call a function; `store` is the number its result stays in the worker under."""
    given = [wire.Kept(each.number) if isinstance(each, Kept) else each for each in arguments]
    return wire.pack(["call", module if f"{module}.{function}" in SIGNATURES else TOOLS, function, given, keep, store])


class _Recorder:
    """The reference, noting each call."""

    def __init__(self, example: Example, module: ModuleType, check: Check, name: str, numbers: Iterator[int]) -> None:
        self._example = example
        self._numbers = numbers
        self._module = check.of.split(".", 1)[0]
        self._name = name
        self._signature = signature_of(self._module, name)
        function = getattr(module, name) if self._signature.id in SIGNATURES else getattr(tools, name)
        self._subject = InProcess(function, self._signature)

    def __call__(self, *arguments: Any) -> Any:
        return self._record(arguments, keep=False)[0]

    def with_arguments(self, *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        return self._record(arguments, keep=True)

    def _record(self, arguments: tuple[Any, ...], *, keep: bool) -> tuple[Any, tuple[Any, ...]]:
        result, after = self._subject.outcome(*arguments)
        value = self._subject.accepted(result, arguments)
        store = None
        if self._signature.makes_object:
            store = next(self._numbers)
            value = Kept(store, value.value)
        payload = call_payload(self._module, self._name, arguments, keep=keep, store=store)
        shapes = self._signature.shapes(arguments)
        asked = tuple(Kept(each.number) if isinstance(each, Kept) else each for each in arguments)
        returned = Kept(store) if store is not None else value  # the object itself is not worth keeping
        frame = wire.pack(reply_of(store is not None or result, list(after) if keep else None))
        short = frame if len(frame) <= wire.SMALL_FRAME else b""
        call = RecordedCall(self._name, keep, store, payload, shapes, short, [(asked, returned)])
        self._example.calls.append(call)
        return value, after


class _RecordedTruth:
    """The truth, noting each value so that no submission pays for it again."""

    def __init__(self, example: Example, truth: Truth) -> None:
        self._example = example
        self._truth = truth

    def __getattr__(self, name: str) -> Any:
        def compute(*arguments: Any) -> Any:
            value = getattr(self._truth, name)(*arguments)
            self._example.truths.append(((name, *arguments), value))
            return value

        return compute
