"""What handing in late costs: the rubric's policy, laid over a finished score.

It is the last thing that is done to a score, after a person's marks, so that excusing somebody grades nobody anew.
A platform that tells only *that* something was late (Canvas) is not asked by how much: the least it can be counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil

from engine.feedback import number
from engine.records import Adjustment, SubmissionResult

REASON = "late"
UNITS = {"day": timedelta(days=1), "hour": timedelta(hours=1)}
PER = ("submission", *UNITS)
OF = ("maximum", "score")


@dataclass(frozen=True, slots=True)
class Late:
    """A late policy, as `[late]` of a rubric has it."""

    deduct: Fraction  # points, or a share of them
    is_share: bool
    of: str = "maximum"
    per: str = "submission"
    cap: Fraction | None = None  # as deduct
    grace: timedelta = timedelta(0)
    deadline: datetime | None = None
    excused: frozenset[str] = frozenset()

    def rule(self, units: int) -> str:
        """Say what is deducted for so many days or hours begun."""
        rule = self._amount(self.deduct)
        if self.per != "submission":
            rule += f" for {f'each of {units} {self.per}s' if units > 1 else f'one {self.per}'} begun"
        if self.cap is not None and self.deduct * units > self.cap:
            rule += f", at most {self._amount(self.cap)}"
        return rule

    def deduction(self, units: int, score: Fraction, most: Fraction) -> Fraction:
        """Return the points that go; never more than there are."""
        amount = self.deduct * units if self.cap is None else min(self.deduct * units, self.cap)
        if self.is_share:
            amount *= score if self.of == "score" else most
        return min(amount, score)

    def _amount(self, amount: Fraction) -> str:
        return f"{number(100 * amount)} % of the {self.of}" if self.is_share else counted(amount)


def adjusted(result: SubmissionResult, policy: Late | None) -> SubmissionResult:
    """Return the result with the deduction taken off, and said; a withheld score has nothing to take from."""
    if policy is None or result.score is None:
        return result
    is_late, by = _lateness(result, policy)
    if not is_late:
        return result
    how = f"{_duration(by)} late" if by is not None else "late"
    if {result.id, *(student.id for student in result.students)} & policy.excused:
        return _with(result, Fraction(0), f"Handed in {how}, and excused: nothing is deducted.")
    units = 1 if by is None or policy.per == "submission" else ceil(by / UNITS[policy.per])
    unknown = by is None and policy.per != "submission"
    guessed = f" The platform does not tell by how much, so one {policy.per} counts." if unknown else ""
    points = policy.deduction(units, result.score, result.max_score)
    return _with(result, points, f"Handed in {how}: {policy.rule(units)}. Deducted: {counted(points)}.{guessed}")


def counted(points: Fraction) -> str:
    """Return a number of points in words.

    >>> counted(Fraction(1)), counted(Fraction(5, 2))
    ('1 point', '2.5 points')
    """
    return f"{number(points)} point{'' if points == 1 else 's'}"


def _with(result: SubmissionResult, points: Fraction, note: str) -> SubmissionResult:
    assert result.score is not None, "a withheld score is never adjusted"
    return replace(result, score=result.score - points, adjustments=(Adjustment(REASON, -points, note),))


def _lateness(result: SubmissionResult, policy: Late) -> tuple[bool, timedelta | None]:
    """Return whether it is late, and by how much where that is known; a known time is believed before a flag."""
    at = moment(result.handed_in, policy.deadline) if policy.deadline is not None else None
    if at is None or policy.deadline is None:
        return result.late, None
    by = at - policy.deadline
    return by > policy.grace, by


def moment(written: str, deadline: datetime) -> datetime | None:
    """Read a platform's time; one without a zone is the course's own, so the deadline's.

    >>> moment("2026-11-01 12:30:00.861687000 Z", datetime.fromisoformat("2026-11-01T12:00:00+00:00"))
    datetime.datetime(2026, 11, 1, 12, 30, 0, 861687, tzinfo=datetime.timezone.utc)
    """
    day, _, rest = written.strip().partition(" ")
    time, _, zone = rest.partition(" ")
    try:
        at = datetime.fromisoformat(f"{day}T{time[:15]}{zone.replace(' ', '')}" if rest else day)
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=deadline.tzinfo)


def _duration(by: timedelta) -> str:
    """Return a length of time in its two largest units, rounded up to the minute.

    >>> _duration(timedelta(days=1, hours=2, minutes=5)), _duration(timedelta(seconds=61))
    ('1 day 2 hours', '2 minutes')
    """
    minutes = ceil(by / timedelta(minutes=1))
    parts = [(minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")]
    shown = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return " ".join(shown[:2])
