"""The nouns of the flow: what one stage hands to the next.

Every stage imports these records and no other stage.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction


class ProofmarkError(Exception):
    """The root of what we raise on purpose.

    ProofmarkError
    ├── UsageError    the user asked for something impossible (exit code 2)
    ├── RubricError   the rubric contradicts the checks        (exit code 2)
    └── GraderFault   our own failure: scores are withheld     (exit code 3)
    """


class UsageError(ProofmarkError):
    """A path, an option or an id that cannot be used; the message says which and why."""


class RubricError(ProofmarkError):
    """A rubric that does not fit the checks; the message names the row."""


class GraderFault(ProofmarkError):
    """Something of ours broke; nobody's score may suffer for it."""


class Outcome(StrEnum):
    """What became of a check, an item, or a question."""

    HELD = "held"
    MANUAL = "manual"
    MISSING = "missing"
    BLOCKED = "blocked"
    BROKEN = "broken"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    UNJUDGED = "unjudged"


# From best to worst: an item's outcome is its worst check's. A check that was
# blocked by an earlier failure is milder than that failure.
SEVERITY = {outcome: rank for rank, outcome in enumerate(Outcome)}


class Status(StrEnum):
    """What became of a whole submission."""

    GRADED = "graded"
    WITHHELD = "withheld"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Source:
    """One file of student code; `cells` has one entry for a script, one per code cell for a notebook."""

    name: str
    cells: tuple[str, ...]

    @property
    def stem(self) -> str:
        """The name a module of this file would be imported by."""
        return self.name.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    @property
    def is_notebook(self) -> bool:
        """Whether a failing cell leaves the other cells standing."""
        return self.name.endswith(".ipynb")


@dataclass(frozen=True, slots=True)
class Student:
    """One of those who handed in, as their course platform knows them."""

    id: str  # what the platform finds them by
    name: str  # as far as the platform tells


@dataclass(frozen=True, slots=True)
class Submission:
    """What one student or group sent, read but not run."""

    id: str
    origin: str
    sources: tuple[Source, ...] = ()
    answers: str | None = None
    problems: tuple[str, ...] = ()  # one sentence per file that could not be read
    digest: str = ""  # of the content: equal digests get equal marks
    students: tuple[Student, ...] = ()  # where a course platform told them
    late: bool = False
    handed_in: str = ""  # when, as the platform wrote it; most tell nothing


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest input found on which a claim fails."""

    call: str
    gave: str
    expected: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge found out about one check."""

    check: str
    outcome: Outcome
    examples: int = 0
    message: str = ""
    counterexample: Counterexample | None = None
    proved: bool = False
    share: Fraction = Fraction(0)  # of what does hold, where a rubric gives partial credit for it


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The name of a mistake, and a sentence on what it is and where it comes from."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A verdict with its points."""

    verdict: Verdict
    score: Fraction | None  # None: withheld
    max_score: Fraction
    visibility: str
    bonus: bool = False  # counts for the score, not for the maximum of its item


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines a student wrote, with the place they stand at."""

    file: str
    first: int  # the number of the first line
    text: str
    more: int = 0  # lines that were left out behind these


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One question of the course, with everything that was found out about it."""

    id: str
    kind: str
    outcome: Outcome
    score: Fraction | None
    max_score: Fraction
    checks: tuple[CheckResult, ...]
    diagnosis: str = ""  # the name of the mistake, if it has one
    explanation: str = ""  # a sentence on what it is and where it comes from
    work: str = ""  # a sentence on the multiply-adds the code does, where they were counted
    written: tuple[Excerpt, ...] = ()  # what it is about, as the student wrote it


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What a policy took off a score, and the sentence on it."""

    reason: str
    points: Fraction
    note: str


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """One student's result."""

    id: str
    status: Status
    score: Fraction | None
    max_score: Fraction
    items: tuple[ItemResult, ...]
    problems: tuple[str, ...] = ()
    output: str = field(default="", compare=False)  # what their code printed, bounded; never part of the verdict
    students: tuple[Student, ...] = ()
    late: bool = False
    handed_in: str = ""
    adjustments: tuple[Adjustment, ...] = ()  # already part of the score


@dataclass(frozen=True, slots=True)
class CheckText:
    """What a check says to people: the fact it claims, and where to look when the claim fails."""

    claim: str
    hint: str
