"""The audit: every wrong implementation against every check that calls its function, every right one too.

What it finds depends on the code and the seeds alone, not on the number of jobs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from checks.check import Check
from checks.contract import SIGNATURES, TOOLS
from checks.misconception import Misconception, functions_of
from engine import cache
from engine.audit import typical
from engine.audit.apart import TimeIsUp, apart, within_time
from engine.audit.change import Change, Mutant, compatible
from engine.audit.mutate import wrong_changes
from engine.audit.sample import Sample, reseed
from engine.audit.source import Find, Implementation, Loaded, is_item, load, parts_of
from engine.audit.variant import BY_HAND, Variant, variants_of
from engine.corpus import Recording, draw, reference_module
from engine.diagnosis import Diagnostician, misconceptions
from engine.experiments import EXPERIMENTS
from engine.forking import forked
from engine.proving import prove_in_process
from engine.records import GraderFault
from engine.rubric import Item, Rubric
from engine.verify import diagnosed, failure_on, first_calls
from engine.worker import tools

SEED, OTHER_SEED = 0, 1  # the standard grade's, and that of the sample
MOST = 80  # mutants of one change, for each item: of more, a fixed choice is tried
PAIRS = 16  # mutants of two changes, for each item
NAMED = "named"  # what makes a mistake that is no change of ours
BORROWED = 12  # changes of a function that is an item of its own, for each item that calls it
TORCH = frozenset({"transformer.PositionalEncoding", "transformer.CausalLM"})
# The contract says what their predictions must fulfil, not what they are: another model may be as right as ours.
OPEN = frozenset({
    "language_model.train_neural_bigram", "language_model.neural_log_probs", "language_model.char_model",
    "transformer.CausalLM",
})  # fmt: skip


class Kind(StrEnum):
    """What an implementation turned out to be."""

    WRONG = "wrong"
    RAISES = "raises on everything"  # caught by any call at all: no merit of the checks
    EQUAL = "equal on the sample"
    OPEN = "right in another way"  # of a model whose values the contract leaves open


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one wrong implementation."""

    name: str
    operator: str
    kind: Kind
    kills: Mapping[str, int]  # check -> inputs it took; a check that held is not there
    stopped: bool = False  # it ran for too long or died, which is as good as caught
    typical: bool = False  # caught by the fixed examples of a typical test file
    diagnosis: tuple[str, ...] = ()
    diff: str = ""
    faults: tuple[str, ...] = ()  # checks that fell over: our own mistakes
    missed: bool = False  # the sample saw no difference
    proved: bool = False  # equal to the reference in exact arithmetic (engine/proving.py)

    @property
    def caught(self) -> bool:
        """Whether anything told it from a right one."""
        return bool(self.kills) or self.stopped

    @property
    def inputs(self) -> int:
        """How many inputs every check must see until one of them fails."""
        return min(self.kills.values(), default=1)


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of one right implementation."""

    name: str
    kind: str
    rejected: tuple[str, ...]  # checks, each with the input it failed on


@dataclass(frozen=True, slots=True)
class ItemAudit:
    """Everything found out about one item."""

    id: str
    checks: tuple[str, ...]  # that can catch its mutants
    sample: int
    mutants: tuple[Fate, ...]
    pairs: tuple[Fate, ...]
    named: tuple[Fate, ...]  # misconceptions
    variants: tuple[Accepted, ...]
    seconds: float


def audit(
    rubric: Rubric, only: Sequence[str], jobs: int, told: Callable[[str], None], *, fresh: bool = False
) -> list[ItemAudit]:
    """Audit the items of code that are named, or all; unless `fresh`, what this very code found before is taken."""
    items = rubric.only(only).code_items
    found: dict[str, ItemAudit] = {}
    for item in () if fresh else items:
        known = cache.load(_kept(item.id))
        if known is not None:
            found[item.id] = known
    if found:
        told(f"{len(found)} of {len(items)} items were audited before by this very code (--fresh audits them anew)")
    missing = [item for item in items if item.id not in found]
    if missing:
        for result in _audited(missing, rubric, jobs, told):
            found[result.id] = result
            cache.store(_kept(result.id), result)
            told(f"{result.id}: {len(result.mutants)} mutants, {result.seconds:.0f} s")
    return [found[item.id] for item in items]


def _kept(item: str) -> str:
    return f"audit-{item}"


def _audited(items: Sequence[Item], rubric: Rubric, jobs: int, told: Callable[[str], None]) -> Iterator[ItemAudit]:
    """Yield what is found out about each item, the longest first."""
    if any(item.id in TORCH for item in items):
        import torch

        torch.set_num_threads(1)  # a fork after a parallel region hangs
    _courts.clear()
    _courts.update({item.id: Court(item) for item in items})
    told("drawing inputs")
    checks = [check for check in rubric.code_checks if any(court.is_judged_by(check) for court in _courts.values())]
    for number in (SEED, OTHER_SEED):
        _drawn[number] = draw(checks, number=number, examples=rubric.examples)
    misconceptions()  # imported here, once for all forks
    longest_first = sorted(_courts, key=lambda name: len(_courts[name].mutants()), reverse=True)
    with forked(jobs) as pool:
        faults = []
        for future in as_completed([pool.submit(_audit_item, name) for name in longest_first]):
            try:
                yield future.result()
            except GraderFault as fault:  # the other items are audited, and kept, all the same
                faults.append(fault)
        if faults:
            raise faults[0]


_drawn: dict[int, list[Recording]] = {}
_courts: dict[str, Court] = {}


def _audit_item(name: str) -> ItemAudit:
    began = time.monotonic()
    court = _courts[name]
    court.prepare()
    single = court.mutants()
    fates = [court.try_mutant(mutant) for mutant in single]
    wrong = [mutant.changes[0] for mutant, fate in zip(single, fates, strict=True) if fate.kind is Kind.WRONG]
    pairs = [court.try_mutant(mutant) for mutant in pairs_of(name, wrong)]
    named = [court.try_mistake(mistake) for mistake in misconceptions().get(name, ())]
    right = [court.try_variant(variant) for variant in variants_of(name, court.functions)]
    return ItemAudit(
        name, tuple(r.check.id for r in court.recordings), len(court.sample), tuple(fates), tuple(pairs),
        tuple(named), tuple(right), time.monotonic() - began,
    )  # fmt: skip


def pairs_of(item: str, single: Sequence[Change]) -> list[Mutant]:
    """Return some implementations with two changes, always the same ones."""
    chance = random.Random(item)  # noqa: S311 - a choice that must repeat itself
    found: dict[str, Mutant] = {}
    for _ in range(20 * PAIRS):
        if len(found) == PAIRS or len(single) < 2:
            break
        first, second = sorted(chance.sample(range(len(single)), 2))
        if compatible(single[first], single[second]):
            mutant = Mutant(item, (single[first], single[second]))
            found.setdefault(mutant.name, mutant)
    return list(found.values())


class Court:
    """All that is needed to try the implementations of one item, each in a process of its own."""

    recordings: list[Recording]
    sample: Sample

    def __init__(self, item: Item) -> None:
        self.item = item.id
        self.functions = _functions(item)

    def mutants(self) -> list[Mutant]:
        """Return the implementations with one change in the item's functions or in what they call."""
        found: list[Mutant] = []
        for part in parts_of(self.item.split(".", 1)[0], self.functions):
            possible = wrong_changes(part)
            if part.name not in self.functions and is_item(part):
                chance = random.Random(f"{self.item} {part.name}")  # noqa: S311 - a choice that must repeat itself
                possible = chance.sample(possible, min(BORROWED, len(possible)))
            found += [Mutant(self.item, (change,)) for change in possible]
        chosen = random.Random(self.item).sample(range(len(found)), min(MOST, len(found)))  # noqa: S311 - as above
        return [found[number] for number in sorted(chosen)]

    def prepare(self) -> None:
        """Find the checks that judge the item, and draw the sample."""
        self.recordings = self._judging(SEED)
        self.sample = Sample(self.item, self._judging(OTHER_SEED))
        self._calls = {r.check.id: first_calls(r) for r in self.recordings if r.check.of == self.item}
        self._diagnostician = Diagnostician()  # which remembers what each mistake answers, for all forks
        self._names = {m.name: self._named(m) for m in misconceptions().get(self.item, ())}

    def _named(self, suspect: Misconception) -> tuple[str, ...]:
        return tuple(diagnosed(self._diagnostician, suspect, self._calls))

    def is_judged_by(self, check: Check) -> bool:
        """Return whether a check calls the item's functions; it may belong to another item."""
        same_module = check.of.split(".", 1)[0] == self.item.split(".", 1)[0]
        return same_module and bool(set(check.functions) & set(self.functions))

    def _judging(self, number: int) -> list[Recording]:
        return [recording for recording in _drawn[number] if self.is_judged_by(recording.check)]

    def try_mutant(self, mutant: Mutant) -> Fate:
        """Find out what a mutant is and who catches it."""
        operator = mutant.changes[0].operator if len(mutant.changes) == 1 else "two changes"
        died = Fate(mutant.name, operator, Kind.WRONG, {}, stopped=True, diff=mutant.diff())
        return apart(partial(self._mutant_tried, mutant, died)) or died

    def _mutant_tried(self, mutant: Mutant, blank: Fate) -> Fate:
        try:
            loaded = load(self.item, mutant.trees(), self.functions)
        except Exception:  # noqa: BLE001 - whatever a mutant does when it is imported
            return replace(blank, kind=Kind.RAISES, stopped=False)
        fate = self._tried(loaded.find, blank)
        if fate.stopped or fate.kind is Kind.RAISES:
            return fate
        suspect = Misconception(self.item, mutant.name, "", Implementation(loaded.module, self.item.split(".", 1)[1]))
        return replace(fate, proved=self._proved(loaded), diagnosis=self._named(suspect) if fate.kills else ())

    def _proved(self, loaded: Loaded) -> bool:
        if self.item not in EXPERIMENTS:
            return False
        try:
            return within_time(partial(prove_in_process, self.item, loaded.find, loaded.namespaces)) is not None
        except TimeIsUp:
            return False

    def try_mistake(self, mistake: Misconception) -> Fate:
        """Find out who catches a named mistake, and whether it gets its name."""
        died = Fate(mistake.name, NAMED, Kind.WRONG, {}, stopped=True, diagnosis=self._names[mistake.name])
        find = functions_of(mistake, reference_module(mistake.of), tools)
        return apart(partial(self._tried, find, died)) or died

    def _tried(self, find: Find, blank: Fate) -> Fate:
        kind, stopped = self._kind(find)
        missed = kind is Kind.EQUAL
        if kind is Kind.RAISES:
            if blank.operator != NAMED:
                return replace(blank, kind=kind, stopped=False)
            kind = Kind.WRONG  # students make it all the same
        kills: dict[str, int] = {}
        faults: list[str] = []
        for recording in () if stopped else self.recordings:
            try:
                number, _ = within_time(partial(_first_failure, recording, find))
            except TimeIsUp:
                stopped = True
                break
            except Exception as error:  # noqa: BLE001 - a check must not fall over, whatever it is given
                faults.append(f"{recording.check.id} fell over: {type(error).__name__}: {error}")
                continue
            if number:
                kills[recording.check.id] = number
        if kills:
            kind = Kind.WRONG  # a check may see a difference that the sample does not
        elif kind is Kind.WRONG and not stopped and self.item in OPEN and self._holds_again(find):
            kind = Kind.OPEN
        by_examples = stopped or typical.catches(self.item, find)
        return replace(
            blank, kind=kind, kills=kills, stopped=stopped, typical=by_examples, faults=tuple(faults), missed=missed
        )

    def _holds_again(self, find: Find) -> bool:
        """Return whether every check holds under the other seed as well."""
        return not any(_first_failure(recording, find)[0] for recording in self._judging(OTHER_SEED))

    def _kind(self, find: Find) -> tuple[Kind, bool]:
        """Return what an implementation is, and whether it had to be stopped."""
        try:
            differs = within_time(partial(self.sample.disagreement, find))
            if differs is None:
                return Kind.EQUAL, False
            raises = differs == 0 and within_time(partial(self.sample.always_raises, find))
        except TimeIsUp:
            return Kind.WRONG, True
        return Kind.RAISES if raises else Kind.WRONG, False

    def try_variant(self, variant: Variant) -> Accepted:
        """Find out whether a right implementation is accepted by every check; by hand is the real test: two seeds."""
        rejected = apart(partial(self._rejecting, variant))
        return Accepted(variant.name, variant.kind, ("it died",) if rejected is None else tuple(rejected))

    def _rejecting(self, variant: Variant) -> list[str]:
        find = variant.find()
        found = []
        for recording in [*self.recordings, *(self._judging(OTHER_SEED) if variant.kind == BY_HAND else ())]:
            number, why = _first_failure(recording, find)
            if number:
                found.append(f"{recording.check.id}, input {number} of seed {recording.number}: {why}")
        return found


def _functions(item: Item) -> list[str]:
    """Return the functions an item asks for: its own, or all its checks call if it is made of several."""
    if item.id in SIGNATURES:
        return [item.id.split(".", 1)[1]]
    called: dict[str, Any] = dict.fromkeys(name for check in item.checks for name in getattr(check, "functions", ()))
    return [name for name in called if name not in TOOLS]


def _first_failure(recording: Recording, find: Find) -> tuple[int, str]:
    """Return the number of the first input a check fails on, from 1, and why; 0 if it holds."""
    for number, example in enumerate(recording.examples, start=1):
        reseed()
        failure = failure_on(recording.check, example, find)
        if failure is not None:
            return number, f"{failure.sentence} {failure.call} gave {failure.gave}, expected {failure.expected}"
    return 0, ""
