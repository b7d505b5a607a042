"""Prove that a submission's function equals the reference, for all real inputs of a few small shapes.

The worker runs the function on symbols (engine/worker/symbolic.py) and sends what it computed as a list of nodes.
Here they are read as data and proved equal to what the reference computes on the same symbols, exactly
(formulas/identity.py). Whether the function returns what it says it computes is not taken on trust: a fresh worker
calls it in the ordinary way at points of those shapes, and the replies must be the values of the expressions.

What a proof means, and what it does not, is written down in docs/proofs.md.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from checks.contract import SIGNATURES
from checks.expect import Failure
from engine.corpus import has_reference, reference_module
from engine.experiments import EXPERIMENTS, WHOLE_INPUT, Call, Experiment, Input
from engine.judge import answers, traces
from engine.records import Outcome, Submission, Verdict
from engine.worker import symbolic, wire
from engine.workers import Budget, Zygotes
from formulas import identity
from formulas.identity import ARITY, CONNECTIVES, OF_SEVERAL, POSITIVE_INPUT, Computation

AGREEMENT = "agrees_with_definition"  # the check that a proof says more about
POINTS = 5  # at which the function is called in the ordinary way
PATHS = (0, 1, POINTS - 1)  # points whose paths are followed; at the last one everything is tied
CLOSE = 1e-6  # relative: of a value computed twice in double precision
LONGEST_SIDE = 60  # characters of one side of a comparison that is shown
MOST_SHOWN = 4  # comparisons of one path
LARGEST_CONSTANT = 10**300
SHARE = 4  # proofs may take a quarter of the time a submission has
MOST_KNOWN = 20_000  # proofs that are remembered

LEAVES = ("input", "constant")

Reply = Mapping[str, Any]  # of a worker that was asked for expressions


@dataclass(frozen=True, slots=True)
class Proof:
    """What was proved of one function: at which shapes, and for which inputs of these (none said: for all)."""

    item: str
    shapes: str
    condition: str
    seconds: float = field(compare=False)  # of the judge's processor time

    @property
    def sentence(self) -> str:
        """What it says, for people."""
        if self.condition:
            return f"Proved at {self.shapes}, for real inputs where {self.condition}."
        return f"Proved for all real inputs at {self.shapes}."


def prove(submission: Submission, items: Sequence[str], zygotes: Zygotes, budget: Budget) -> dict[str, Proof]:
    """Prove functions of a submission equal to the reference; without items of which there is no proof.

    It says nothing about overflow, rounding, errors or arguments that are changed: that is what checks are for, and a
    proof is worth reporting only for a function whose checks all held.
    """
    if not has_reference():
        return {}
    where = (zygotes, replace(budget, submission_seconds=budget.submission_seconds / SHARE))
    requests = {item: [[*_requests(each)] for each in EXPERIMENTS[item]] for item in items if item in EXPERIMENTS}
    if not requests:
        return {}
    replies = {
        item: rows
        for item, rows in traces(submission, requests, _has_ways, *where).items()
        if all(_hopeful(item, place, row[0]) for place, row in enumerate(rows))
    }
    given = answers(submission, {item: _all_calls(item) for item in replies}, *where) if replies else {}
    proofs = {item: _proof(item, replies[item], given[item]) for item in given}
    return {item: proof for item, proof in proofs.items() if proof is not None}


def with_proofs(verdicts: Sequence[Verdict], submission: Submission, zygotes: Zygotes, budget: Budget) -> list[Verdict]:
    """Return the verdicts, with what could be proved said where a function agreed with its definition.

    Only functions whose checks all held are tried. Whatever goes wrong here costs the proofs alone.
    """
    held: dict[str, bool] = {}
    for verdict in verdicts:
        item = verdict.check.rsplit(".", 1)[0]
        held[item] = held.get(item, True) and verdict.outcome is Outcome.HELD
    judged = {verdict.check for verdict in verdicts}
    asked = [item for item, all_held in held.items() if all_held and f"{item}.{AGREEMENT}" in judged]
    try:
        proofs = prove(submission, asked, zygotes, budget)
    except Exception:  # noqa: BLE001 - a worker may send what nobody thought of: the run goes on
        print(f"{submission.id}: proofs\n{traceback.format_exc()}", file=sys.stderr)
        return list(verdicts)
    said = {f"{item}.{AGREEMENT}": proof.sentence for item, proof in proofs.items()}
    return [
        replace(verdict, proved=True, message=said[verdict.check]) if verdict.check in said else verdict
        for verdict in verdicts
    ]


def prove_in_process(
    item: str, find: Callable[[str], Callable[..., Any]], namespaces: Sequence[dict[str, Any]]
) -> Proof | None:
    """Prove a function of this process, such as a mutant; `namespaces` are the globals of all modules it uses."""
    replies: list[list[Reply]] = []
    for place, experiment in enumerate(EXPERIMENTS[item]):
        first, *others = _requests(experiment)
        row = [_traced(find, first, namespaces)]
        if not _hopeful(item, place, row[0]):  # most mutants end here
            return None
        if _has_ways(item, place, row[0]):
            row += [_traced(find, request, namespaces) for request in others]
        replies.append(row)
    try:
        given = [_called(find, calls) for calls in _all_calls(item)]
    except Failure:
        return None
    return _proof(item, replies, given)


def namespaces_of(module: ModuleType) -> list[dict[str, Any]]:
    """Return the globals of a module, and of those of its package whose functions it uses."""
    found: list[dict[str, Any]] = []
    waiting = [vars(module)]
    while waiting:
        space = waiting.pop()
        if all(space is not other for other in found):
            found.append(space)
            functions = [each for each in space.values() if isinstance(each, FunctionType)]
            package = module.__name__.split(".", 1)[0] + "."
            waiting += [each.__globals__ for each in functions if (each.__module__ or "").startswith(package)]
    return found


def _requests(experiment: Experiment) -> Iterator[Any]:
    """Yield what to ask of a worker: for each path, the calls with their symbols, and which symbols are positive."""
    points = experiment.points(POINTS)
    for column in PATHS:
        calls = zip(experiment.at(points[:, column]), experiment.symbols, strict=True)
        yield [[function, list(given), symbols] for (function, given), symbols in calls], experiment.positive


def _all_calls(item: str) -> list[list[Call]]:
    """Return the ordinary calls at all points of all experiments."""
    return [each.at(point) for each in EXPERIMENTS[item] for point in each.points(POINTS).T]


def _hopeful(item: str, place: int, reply: Reply) -> bool:
    """Return whether what was replied about an experiment are expressions with the reference's values at a point."""
    experiment = EXPERIMENTS[item][place]
    try:
        made = computation(item, reply, experiment)
        _expect_alike(made, _reference(item, place, 0), experiment.points(POINTS)[:, :1])
    except (identity.Unproved, Unreadable, Failure):
        return False
    return True


def _has_ways(item: str, place: int, reply: Reply) -> bool:
    """Return whether the data decide which way the code goes, the student's or the reference's."""
    return bool(reply.get("path")) or bool(_reference(item, place, 0).path)


def _proof(item: str, replies: Sequence[Sequence[Reply]], given: Sequence[Any]) -> Proof | None:
    """Prove what was replied about each experiment; `given` is what the function gives at all points."""
    started = time.process_time()
    try:
        said = [
            _conditions(item, place, replies[place], given[place * POINTS : (place + 1) * POINTS])
            for place in range(len(EXPERIMENTS[item]))
        ]
    except (identity.Unproved, Unreadable, Failure):
        return None
    shapes = "; ".join(each.text for each in EXPERIMENTS[item])
    return Proof(item, shapes, "; ".join(filter(None, said)), time.process_time() - started)


# ── one experiment ────────────────────────────────────────────────────────────────────────────────────────────────


def _conditions(item: str, place: int, replies: Sequence[Reply], given: Sequence[Any]) -> str:
    """Prove one experiment; return under which condition, "" if there is none. Unproved if it is not proved.

    Where the data decide which way the code goes, the proof is for that way only. Then it is done again for another
    way and for one where everything is tied, and each of them must be proved.
    """
    found = [_proved_on_path(item, place, 0, replies[0], given)]
    if found[0]:
        rest = zip(PATHS[1:], replies[1:], strict=True)
        found += [_proved_on_path(item, place, column, reply, given) for column, reply in rest]
    several = len(EXPERIMENTS[item]) > 1
    text = ", or ".join(dict.fromkeys(each or "any values" for each in found))
    return f"{text} (at {EXPERIMENTS[item][place].text})" if found[0] and several else text if found[0] else ""


def _proved_on_path(item: str, place: int, column: int, reply: Reply, given: Sequence[Any]) -> str:
    """Prove an experiment along the path of one point; return the condition for being on that path."""
    experiment = EXPERIMENTS[item][place]
    points = experiment.points(POINTS)
    theirs, ours = computation(item, reply, experiment), _reference(item, place, column)
    where = _on_path(theirs, points) & _on_path(ours, points)
    if not where[column]:
        raise identity.Unproved("a path that its own point does not take")
    at = points[:, where]
    _expect_alike(theirs, ours, at)
    _expect_returned(item, experiment, theirs, at, [value for value, here in zip(given, where, strict=True) if here])
    outcome = _identical(theirs, ours, experiment, at)
    said = [
        _comparison(made.nodes, node, holds, experiment.inputs)
        for made, kept in ((theirs, outcome.first), (ours, outcome.second))
        for node, holds in kept
    ]
    more = [f"{len(said) - MOST_SHOWN} more comparisons"] if len(said) > MOST_SHOWN else []
    return " and ".join([*dict.fromkeys(said[:MOST_SHOWN]), *more])


_KNOWN: dict[bytes, identity.Outcome | None] = {}  # what was proved, or could not be, by a digest of both sides


def _identical(
    theirs: Computation, ours: Computation, experiment: Experiment, points: np.ndarray[Any, Any]
) -> identity.Outcome:
    """Prove two computations equal; many submissions compute the same expressions, and each is proved once."""
    kinds = [POSITIVE_INPUT if kind == WHOLE_INPUT else kind for _, kind in experiment.inputs]
    key = hashlib.sha256(repr((theirs, ours, kinds, points.tolist())).encode()).digest()
    if key not in _KNOWN:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        try:
            _KNOWN[key] = identity.prove(theirs, ours, kinds, points)
        except identity.Unproved:
            _KNOWN[key] = None
    outcome = _KNOWN[key]
    if outcome is None:
        raise identity.Unproved("no proof was found")
    return outcome


def _on_path(made: Computation, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found = identity.values(made.nodes, points)
    on = np.ones(points.shape[1], dtype=bool)
    for node, holds in made.path:
        on &= found[node] == holds
    return on


def _expect_alike(theirs: Computation, ours: Computation, points: np.ndarray[Any, Any]) -> None:
    """Compare values first: what differs there needs no proof."""
    first, second = (_results(made, points) for made in (theirs, ours))
    if first.shape != second.shape or not _close(first, second):
        raise identity.Unproved("their values differ")


def _expect_returned(
    item: str, experiment: Experiment, theirs: Computation, points: np.ndarray[Any, Any], given: Sequence[Any]
) -> None:
    """Compare the expressions' values with what the function returns when it does not know that it is watched."""
    said = _results(theirs, points)
    for column, value in enumerate(given):
        returned = np.array([*_entries(_accepted(item, value, experiment))], dtype=np.float64)
        if returned.shape != said[:, column].shape or not _close(returned, said[:, column]):
            raise identity.Unproved("it returns other values than its expressions have")


def _results(made: Computation, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found = identity.values(made.nodes, points)
    return np.array([found[number] for number in made.results], dtype=np.float64).reshape(-1, points.shape[1])


def _close(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> bool:
    return bool(np.allclose(first, second, rtol=CLOSE, atol=CLOSE))


@cache
def _reference(item: str, place: int, column: int) -> Computation:
    """Return what the reference computes, along the path of one point."""
    module = reference_module(item)
    request = [*_requests(EXPERIMENTS[item][place])][PATHS.index(column)]
    reply = _traced(lambda name: getattr(module, name), request, namespaces_of(module))
    return computation(item, reply, EXPERIMENTS[item][place])


def _traced(find: Callable[[str], Callable[..., Any]], request: Any, namespaces: Sequence[dict[str, Any]]) -> Reply:
    """Do in this process what a worker does when it is asked for expressions."""
    calls, positive = request
    try:
        made = [(find(function), wire.copy(given), symbols) for function, given, symbols in calls]
        return symbolic.traced(made, positive, namespaces)
    except Exception as error:  # noqa: BLE001 - a wrong function can raise anything
        return {"raised": f"{type(error).__name__}: {error}"}


def _called(find: Callable[[str], Callable[..., Any]], calls: Sequence[Call]) -> Any:
    """Make calls in this process, each on the result of the last."""
    result: Any = None
    for place, (function, given) in enumerate(calls):
        try:
            with np.errstate(all="ignore"):
                result = find(function)(*([result] if place else []), *wire.copy(given))
        except Exception as error:
            raise Failure(f"It raised {type(error).__name__}.") from error
    return result


# ── reading a reply ───────────────────────────────────────────────────────────────────────────────────────────────


class Unreadable(Exception):
    """What should be expressions is none."""


def computation(item: str, reply: Reply, experiment: Experiment) -> Computation:
    """Read what a worker sent: only numbers, names of operations and their order are believed."""
    nodes = _read_nodes(reply.get("nodes"), len(experiment.inputs))
    accepted = _accepted(item, reply.get("results"), experiment)
    results = [_number(entry, len(nodes)) for entry in _entries(accepted)]
    path = []
    for row in _a_list(reply.get("path")):
        node, outcome = _a_list(row, 2)
        node = _number(node, len(nodes))
        if type(outcome) is not bool or nodes[node][0] not in CONNECTIVES:
            raise Unreadable
        path.append((node, outcome))
    return _needed(nodes, results, path)


def _needed(nodes: Sequence[tuple[Any, ...]], results: Sequence[int], path: Sequence[tuple[int, bool]]) -> Computation:
    """Return a computation without nodes that nothing comes of, such as a value that is computed and not used."""
    wanted = {*results, *(node for node, _ in path)}
    for number in range(len(nodes) - 1, -1, -1):
        if number in wanted and nodes[number][0] not in LEAVES:
            wanted.update(nodes[number][1:])
    new = {old: place for place, old in enumerate(sorted(wanted))}
    kept = [
        nodes[old] if nodes[old][0] in LEAVES else (nodes[old][0], *(new[each] for each in nodes[old][1:]))
        for old in new
    ]
    return Computation(kept, [new[each] for each in results], [(new[node], outcome) for node, outcome in path])


def _read_nodes(rows: Any, inputs: int) -> list[tuple[Any, ...]]:
    nodes: list[tuple[Any, ...]] = []
    for row in _a_list(rows):
        name, *arguments = _a_list(row) or [None]
        if name == "constant" and len(arguments) == 1 and type(arguments[0]) in (int, float):
            if LARGEST_CONSTANT < abs(arguments[0]) < math.inf or math.isnan(arguments[0]):
                raise Unreadable
        elif name == "input" and len(arguments) == 1:
            arguments = [_number(arguments[0], inputs)]
        elif type(name) is str and (ARITY.get(name) == len(arguments) or (name == OF_SEVERAL and arguments)):
            arguments = [_number(each, len(nodes)) for each in arguments]
        else:
            raise Unreadable
        nodes.append((name, *arguments))
        if len(nodes) > symbolic.MOST_NODES:
            raise Unreadable
    return nodes


def _a_list(value: Any, length: int | None = None) -> list[Any]:
    if type(value) is not list or (length is not None and len(value) != length):
        raise Unreadable
    return value


def _number(value: Any, below: int) -> int:
    if type(value) not in (int, float, np.float64) or not 0 <= value < below or value != int(value):
        raise Unreadable
    return int(value)


def _entries(accepted: Any) -> Iterator[Any]:
    """Yield the numbers of accepted results in order."""
    if isinstance(accepted, tuple | dict):
        for part in accepted.values() if isinstance(accepted, dict) else accepted:
            yield from _entries(part)
    else:
        yield from np.ravel(accepted)


def _accepted(item: str, value: Any, experiment: Experiment) -> Any:
    """Return a result of an experiment's last call, if it has the form the contract wants; Failure if not."""
    calls = experiment.at(experiment.points(POINTS)[:, 0])
    function, given = calls[-1]
    arguments = given if len(calls) == 1 else (None, *given)
    return SIGNATURES[f"{item.split('.', 1)[0]}.{function}"].accept(value, arguments)


# ── conditions in words ───────────────────────────────────────────────────────────────────────────────────────────

_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", "and": "and"}
_CALLED = {OF_SEVERAL: "max", "absolute": "abs"}
_COMPARED = {"greater": (">", "<="), "greater_equal": (">=", "<"), "equal": ("==", "!=")}


def _comparison(nodes: Sequence[tuple[Any, ...]], node: int, holds: bool, inputs: Sequence[Input]) -> str:
    """Write a comparison, or what is left of a long one."""
    name, *arguments = nodes[node]
    if name == "not":
        return _comparison(nodes, arguments[0], not holds, inputs)
    if name in _COMPARED:
        left, right = (_written(nodes, each, inputs) for each in arguments)
        return f"{_cut(left)} {_COMPARED[name][not holds]} {_cut(right)}"
    text = _cut(_written(nodes, node, inputs))
    return text if holds else f"not ({text})"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SIDE else text[:LONGEST_SIDE] + "…"


def _written(nodes: Sequence[tuple[Any, ...]], node: int, inputs: Sequence[Input], depth: int = 12) -> str:
    name, *arguments = nodes[node]
    if name == "input":
        return str(inputs[arguments[0]].name)
    if name == "constant":
        return f"{arguments[0]:g}"
    if not depth:
        return "…"
    parts = [_written(nodes, each, inputs, depth - 1) for each in arguments[:4]]
    if name in _SIGNS:
        text = f" {_SIGNS[name]} ".join(parts)
        return f"({text})" if name in ("add", "subtract") else text
    if name in _COMPARED:
        return f"{parts[0]} {_COMPARED[name][0]} {parts[1]}"
    return f"-{parts[0]}" if name == "negative" else f"{_CALLED.get(name, name)}({', '.join(parts)})"
