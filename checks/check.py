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
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


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
    file: str  # where it is written
    law: Property | None = field(compare=False, repr=False)  # None: it is in that file, and read when it is wanted

    @property
    def body(self) -> Callable[..., None]:
        """What it asks of the submission."""
        return self._law().body

    @property
    def strategies(self) -> Mapping[str, SearchStrategy[Any]]:
        """What to draw for which argument of its body."""
        return self._law().strategies

    def _law(self) -> Property:
        return self.law or _laws_of(Path(self.file).stem)[self.id]

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the law behind, which is code, and the folder: whoever reads it has the same files in their own."""
        stem = Path(self.file).stem
        return _unread, (self.id, self.of, self.claim, self.hint, self.examples, self.takes, stem)

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
        from hypothesis import HealthCheck, Phase, given, seed, settings  # long to import: `check` may do without

        _have_the_seed_decide()

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
        seed(_seed_of(number, self.id))(policy(given(**self.strategies)(driver)))()


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
            file=inspect.unwrap(law.body).__code__.co_filename,
            law=law,
        )

    return wrap


def checks_in(module: ModuleType) -> list[Check]:
    """Return the checks of a module in the order they are written."""
    return [value for value in vars(module).values() if isinstance(value, Check)]


def read_laws(checks: Iterable[Check]) -> None:
    """Import the files these checks are written in, so that processes forked from this one need not."""
    for stem in {Path(check.file).stem for check in checks}:
        _laws_of(stem)


def _unread(id_: str, of: str, claim: str, hint: str, examples: int | None, takes: tuple[str, ...], stem: str) -> Check:
    return Check(id_, of, claim, hint, examples, takes, str(Path(__file__).with_name(f"{stem}.py")), None)


@cache
def _laws_of(stem: str) -> Mapping[str, Property]:
    """Return the laws of a file of checks, by the ids of the checks."""
    written = checks_in(importlib.import_module(f"checks.{stem}"))
    return {check.id: check.law for check in written if check.law is not None}


@cache
def _have_the_seed_decide() -> None:
    """Have Hypothesis draw the same inputs from the same seed in every process (tests/checks/test_check.py)."""
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.conjecture.engine import ConjectureRunner
    from hypothesis.internal.constants_ast import Constants

    # It mixes constants found in imported files into what it draws. Empty, the seed alone decides.
    providers.HypothesisProvider._local_constants = Constants()  # type: ignore[assignment]  # noqa: SLF001

    # It also tries inputs again with parts exchanged. Where sizes vary, a part that does not fit becomes zeros: without
    # this line a third of all arrays would be zero throughout, and show nothing.
    ConjectureRunner.generate_mutations_from = lambda *_: None  # type: ignore[method-assign]


def _seed_of(number: int, check_id: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{number}:{check_id}".encode()).digest()[:8], "big")
