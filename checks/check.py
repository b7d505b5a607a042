"""What a check is: a property, a sentence the student reads, and a hint.

    @check(
        of="attention.softmax",
        claim="Adding one number to every logit of a row leaves that row unchanged.",
        hint="exp(x + c) = exp(x) exp(c), and exp(c) cancels. Which axis do you sum over?",
    )
    @given(logits=..., shift=...)
    def shift_invariance(softmax, logits, shift): ...

Arguments that `given` does not fill are handed in: functions of the submission by
their name, and `truth`, the reference behind the same names. A check imports neither,
so the same check runs on the reference, on a mutant, and on a worker in another process.
Points and visibility are the rubric's business.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.conjecture.engine import ConjectureRunner
from hypothesis.internal.constants_ast import Constants
from hypothesis.strategies import SearchStrategy

# Hypothesis mixes constants found in imported files into what it draws, so the same seed
# would draw other inputs in another process. Empty, the seed alone decides
# (tests/checks/test_check.py holds us to it).
providers.HypothesisProvider._local_constants = Constants()  # type: ignore[assignment]  # noqa: SLF001

# It also tries inputs again with parts exchanged. Where sizes vary, a part that does not fit becomes zeros: without
# this line a third of all arrays would be zero throughout, and show nothing.
ConjectureRunner.generate_mutations_from = lambda *_: None  # type: ignore[method-assign]


class Property(NamedTuple):
    """A law and what to draw for it."""

    body: Callable[..., None]
    strategies: Mapping[str, SearchStrategy[Any]]


@dataclass(frozen=True, slots=True)
class Check:
    """One property of one item."""

    id: str
    of: str
    claim: str
    hint: str
    examples: int | None  # None: as many as the rubric says
    takes: tuple[str, ...]  # functions handed in, and "truth"
    strategies: Mapping[str, SearchStrategy[Any]]
    body: Callable[..., None]
    file: str  # where it is written

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions of the submission this check calls."""
        return tuple(name for name in self.takes if name != "truth")

    @property
    def needs_truth(self) -> bool:
        """Whether the check compares with the reference; such a check cannot run at a student's home."""
        return "truth" in self.takes

    def run(self, judge: Callable[..., None], *, number: int, examples: int, shrink: bool) -> None:
        """Let Hypothesis draw inputs for `judge`; with `shrink`, stop at the smallest input it raises on.

        The seed is made of the grade's number and the check's id, so no check's inputs
        depend on which others run. No example database: it would replay one student's
        failure on the next. Never `explain`: it costs seconds per failure.
        """

        def driver(**drawn: Any) -> None:
            judge(**drawn)

        policy = settings(
            max_examples=self.examples or examples,
            phases=[Phase.generate, *([Phase.shrink] if shrink else [])],
            database=None,
            deadline=None,
            derandomize=False,
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        )
        seed(_seed_of(number, self.id))(policy(hypothesis.given(**self.strategies)(driver)))()


def given(**strategies: SearchStrategy[Any]) -> Callable[[Callable[..., None]], Property]:
    """Say what to draw for which argument; Hypothesis itself is applied when the check runs."""
    return lambda body: Property(body, strategies)


def check(*, of: str, claim: str, hint: str, examples: int | None = None) -> Callable[[Property], Check]:
    """Turn a Hypothesis property into a check of item `of`."""

    def wrap(law: Property) -> Check:
        if not isinstance(law, Property):
            raise TypeError(f"{getattr(law, '__name__', law)!r} draws nothing: put @given under @check")
        parameters = inspect.signature(law.body).parameters
        return Check(
            id=f"{of}.{law.body.__name__}",
            of=of,
            claim=claim,
            hint=hint,
            examples=examples,
            takes=tuple(name for name in parameters if name not in law.strategies),
            strategies=law.strategies,
            body=law.body,
            file=law.body.__code__.co_filename,
        )

    return wrap


def checks_in(module: ModuleType) -> list[Check]:
    """Return the checks of a module in the order they are written."""
    return [value for value in vars(module).values() if isinstance(value, Check)]


def _seed_of(number: int, check_id: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{number}:{check_id}".encode()).digest()[:8], "big")
