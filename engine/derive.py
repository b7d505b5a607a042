"""Proves the derivations, and prints each proof as a person reads it: premises, steps with reasons, result."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from types import FrameType
from typing import Any

import sympy as sp

from engine import cache
from engine.records import UsageError
from formulas.printing import mathml, text
from reference.derivations import NAMES, derivation
from reference.derivations.proof import Chain, Derivation, Premise, Refused, Step

SECONDS = 30.0  # for one derivation; the slowest takes about one


class _TimeIsUp(BaseException):
    """Not an Exception, so that nothing on the way up mistakes it for one of its own."""


@dataclass(frozen=True, slots=True)
class StepProof:
    """One step and what came of it: `refused` is empty if it is proved."""

    step: Step
    refused: str


@dataclass(frozen=True, slots=True)
class Proof:
    """One derivation and what came of it."""

    derivation: Derivation
    steps: tuple[StepProof, ...]
    seconds: float

    @property
    def proved(self) -> bool:
        """Return whether every step is proved."""
        return bool(self.steps) and not any(step.refused for step in self.steps)


def chosen(ids: Sequence[str]) -> list[Derivation]:
    """Return the derivations of these ids, or all; an unknown id is an error that names the near ones."""
    for each in ids:
        if each not in NAMES:
            near = get_close_matches(each, NAMES, n=3, cutoff=0.4)
            known = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(NAMES)}"
            raise UsageError(f"there is no derivation {each!r}; {known}")
    return [derivation(name) for name in ids or NAMES]


def proofs(derivations: Iterable[Derivation], seconds: float = SECONDS) -> Iterator[Proof]:
    """Prove derivations one after another, each within its time."""
    for each in derivations:
        yield prove(each, seconds)


def prove(derivation: Derivation, seconds: float = SECONDS) -> Proof:
    """Prove one derivation. A step that does not finish in time is refused, and so are those after it."""
    started = time.monotonic()
    done: list[StepProof] = []
    steps = list(derivation.steps)
    try:
        with _at_most(seconds):
            for step in steps:
                done.append(StepProof(step, _refusal(derivation, step)))  # noqa: PERF401 - kept when time runs out
    except _TimeIsUp:
        late = f"not proved: the proof did not finish in {seconds:g} seconds"
        done += [StepProof(step, late) for step in steps[len(done) :]]
    return Proof(derivation, tuple(done), time.monotonic() - started)


def _refusal(derivation: Derivation, step: Step) -> str:
    try:
        step.prove(derivation.context)
    except Refused as refused:
        return f"not proved: {refused}"
    return ""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise _TimeIsUp inside the block once its time is over."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ── on the terminal ─────────────────────────────────────────────────────────────────────────────────────────────


def as_text(proof: Proof) -> str:
    """Return a proof as lines to read."""
    about = proof.derivation
    lines = [f"{about.id}  ({about.source})", about.title, about.shows, ""]
    lines += [f"  given    {_premise(premise)}" for premise in about.premises]
    done = iter(proof.steps)
    for chain in about.chains:
        lines += ["", *([f"  {chain.title}"] if chain.title else [])]
        lines.append(f"    {text(chain.start)}")
        for _ in chain.steps:
            lines += _step_lines(next(done))
        lines.append(f"  hence    {_ends(chain)}")
    lines += ["", f"  {outcome(proof)}, {proof.seconds:.2f} s", ""]
    return "\n".join(lines)


def _premise(premise: Premise) -> str:
    said = premise.statement if isinstance(premise.statement, str) else text(premise.statement)
    return f"{said}   ({premise.meaning})" if premise.meaning else said


def _step_lines(done: StepProof) -> list[str]:
    step = done.step
    lines = [f"  {step.rule.relation:>3} {text(step.right)}", f"          {step.reason} [{step.rule.name}]"]
    return [*lines, f"      !!! {done.refused}"] if done.refused else lines


def _ends(chain: Chain) -> str:
    return f"{text(chain.start)} {chain.relation} {text(chain.steps[-1].right)}"


def outcome(proof: Proof) -> str:
    """Return one line: proved or not, and the number of steps."""
    count = len(proof.steps)
    if proof.proved:
        return f"proved in {count} step{'' if count == 1 else 's'}"
    return f"NOT PROVED: {sum(bool(step.refused) for step in proof.steps)} of {count} steps refused"


def summary(done: Sequence[Proof]) -> str:
    """Return a table of all proofs and a line that sums it up."""
    width = max(len(proof.derivation.id) for proof in done)
    rows = [f"{proof.derivation.id:<{width}}  {outcome(proof)}, {proof.seconds:.2f} s" for proof in done]
    proved = sum(proof.proved for proof in done)
    steps = sum(len(proof.steps) for proof in done)
    seconds = sum(proof.seconds for proof in done)
    return "\n".join([*rows, "", f"{proved} of {len(done)} results proved, {steps} steps, {seconds:.1f} s"])


@dataclass(frozen=True, slots=True)
class Library:
    """All proofs as a page, and which of them stand behind an item: pairs of id and title."""

    page: str
    behind: Mapping[str, tuple[tuple[str, str], ...]]


def library() -> Library:
    """Return the proofs for a report; they are found once and kept until the code changes."""
    known = cache.load("proofs")
    if isinstance(known, Library):
        return known
    done = list(proofs(chosen([])))
    behind: dict[str, tuple[tuple[str, str], ...]] = {}
    for proof in done:
        for item in proof.derivation.explains:
            behind[item] = (*behind.get(item, ()), (proof.derivation.id, proof.derivation.title))
    found = Library(as_page(done), behind)
    cache.store("proofs", found)
    return found


# ── for programs and for the browser ────────────────────────────────────────────────────────────────────────────


def as_record(proof: Proof) -> dict[str, Any]:
    """Return a proof for programs."""
    about = proof.derivation
    done = iter(proof.steps)
    return {
        "id": about.id,
        "title": about.title,
        "source": about.source,
        "shows": about.shows,
        "explains": list(about.explains),
        "proved": proof.proved,
        "seconds": round(proof.seconds, 3),
        "premises": [_premise(premise) for premise in about.premises],
        "chains": [
            {
                "title": chain.title,
                "result": _ends(chain),
                "steps": [_step_record(next(done)) for _ in chain.steps],
            }
            for chain in about.chains
        ],
    }


def _step_record(done: StepProof) -> dict[str, Any]:
    step = done.step
    return {
        "left": text(step.left),
        "relation": step.rule.relation,
        "right": text(step.right),
        "reason": step.reason,
        "rule": step.rule.name,
        "proved": not done.refused,
        "message": done.refused,
    }


def as_page(done: Sequence[Proof]) -> str:
    """Return all proofs as one page with MathML: no scripts, no network."""
    from engine.report.environment import environment

    template = environment().get_template("proofs.html")
    return template.render(proofs=done, mathematics=_mathematics, outcome=outcome, is_text=_is_text)


def _is_text(statement: object) -> bool:
    return isinstance(statement, str)


def _mathematics(expression: sp.Basic, *, block: bool = False) -> Any:
    from markupsafe import Markup

    return Markup(mathml(expression, block=block))  # noqa: S704 - our own expressions, escaped by the printer
