"""A course platform's own table of students: read as it comes, matched without guessing, written back as it was.

What the platform reads back is not touched. What it only shows (names, sections) is kept from becoming a formula.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import floor
from pathlib import Path

from engine.records import Student, SubmissionResult, UsageError
from engine.results import FORMULA_STARTS, encodable

DELIMITERS = (",", ";", "\t")
Tiers = tuple[dict[str, set[int]], dict[str, set[int]], dict[str, set[int]]]  # rows by id, local part and name
_NUMBER = re.compile(r"[-+]?[\d.,]+%?")


@dataclass(frozen=True, slots=True)
class Roster:
    """A table with its header, and how it was written."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str = ","
    mark: str = ""  # a byte order mark, if it began with one

    def text(self) -> str:
        """Return the table as it came."""
        buffer = io.StringIO()
        csv.writer(buffer, delimiter=self.delimiter, lineterminator="\n").writerows([self.header, *self.rows])
        return self.mark + encodable(buffer.getvalue())

    def find(self, *names: str) -> int | None:
        """Return the first column of one of these names, if there is one."""
        return next((place for place, name in enumerate(self.header) if name.strip() in names), None)


def read_roster(path: Path) -> Roster:
    """Read a table of comma, semicolon or tab separated values, every row as long as its header."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"the roster {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"the roster {path} is not UTF-8 (byte {error.start}): export it again as UTF-8") from None
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    tables = [(delimiter, _table(text.removeprefix(mark), delimiter, path)) for delimiter in DELIMITERS]
    delimiter, table = max(tables, key=lambda each: len(each[1][0]) if each[1] else 0)
    if not table:
        raise UsageError(f"the roster {path} is empty")
    header, *rows = table
    return Roster(header, [row + [""] * (len(header) - len(row)) for row in rows if row], delimiter, mark)


def _table(text: str, delimiter: str, path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UsageError(f"the roster {path} is not a table: {error}") from None


# ── who is who ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Entry:
    """What a row tells about its student, in the order in which it is believed."""

    ids: frozenset[str]  # the platform's id, the registrar's, the login, the whole address
    local_parts: frozenset[str]  # of addresses
    names: frozenset[str]


def entry(ids: Sequence[str], name: str) -> Entry:
    """Return what a row tells; a name may be written `Last, First`."""
    last, comma, first = name.partition(",")
    written = {name, f"{first} {last}", f"{last}{first.strip()}"} if comma else {name}
    return Entry(
        frozenset(_same(each) for each in ids if each.strip()),
        frozenset(_same(each.partition("@")[0]) for each in ids if "@" in each),
        frozenset(filter(None, map(_same_name, written))),
    )


def match(results: Iterable[SubmissionResult], entries: Mapping[int, Entry]) -> tuple[dict[str, list[int]], list[str]]:
    """Return the rows of each submission's students, and a sentence for each student without exactly one."""
    tiers: Tiers = (defaultdict(set), defaultdict(set), defaultdict(set))
    for row, known in entries.items():
        for tier, keys in zip(tiers, (known.ids, known.local_parts, known.names), strict=True):
            for key in keys:
                tier[key].add(row)
    people = [
        (result.id, who, _rows(who, tiers))
        for result in results
        for who in result.students or (Student(result.id, ""),)
    ]
    claims: dict[int, set[str]] = defaultdict(set)
    for submission, _, rows in people:
        for row in rows:
            claims[row].add(submission)
    taken: dict[str, list[int]] = defaultdict(list)
    said = []
    for submission, who, rows in people:
        if why := _refusal(submission, rows, claims):
            said.append(f"{submission}{'' if who.id == submission else f' ({who.name or who.id})'}: {why}")
        else:
            taken[submission] += rows
    return dict(taken), said


def _rows(who: Student, tiers: Tiers) -> set[int]:
    """Return the rows that may be a student's: an id is believed before an address, an address before a name."""
    ids, local_parts, names = tiers
    by_id = ids.get(_same(who.id)) or local_parts.get(_same(who.id)) or set()
    by_name = names.get(_same_name(who.name or who.id), set())
    # Numbers of one platform may be somebody else's on another: a name that says otherwise is heard.
    if by_id and who.name and by_name and not by_id & by_name:
        return by_id | by_name
    return by_id or by_name


def _refusal(submission: str, rows: set[int], claims: Mapping[int, set[str]]) -> str:
    if not rows:
        return "nobody in the roster has this id, login, address or name"
    lines = ", ".join(str(row + 2) for row in sorted(rows))
    if len(rows) > 1:
        return f"{len(rows)} rows of the roster could be meant ({lines})"
    others = sorted(set.union(*(claims[row] for row in rows)) - {submission})
    return f"row {lines} of the roster could also be meant by {', '.join(others)}" if others else ""


def _same(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()


def _same_name(text: str) -> str:
    return " ".join(re.split(r"[\s_,.\-]+", unicodedata.normalize("NFKC", text).casefold())).strip()


# ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────


def guarded(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; numbers and a lone dash are none.

    >>> guarded("=1+1"), guarded("-2.50"), guarded("-")
    ("'=1+1", '-2.50', '-')
    """
    shown = text.lstrip(" ")
    harmless = len(shown) < 2 or _NUMBER.fullmatch(shown)
    return f"'{text}" if shown.startswith(FORMULA_STARTS) and not harmless else text


def decimals(score: Fraction) -> str:
    """Return a score with two decimals, halves rounded up.

    >>> decimals(Fraction(1, 8)), decimals(Fraction(41))
    ('0.13', '41.00')
    """
    hundredths = floor(score * 100 + Fraction(1, 2))
    return f"{'-' if hundredths < 0 else ''}{abs(hundredths) // 100}.{abs(hundredths) % 100:02}"


def fraction(cell: str) -> Fraction | None:
    """Return the number in a cell, written with a point or a comma; None if there is none.

    >>> fraction("12,50"), fraction("(read only)")
    (Fraction(25, 2), None)
    """
    whole = re.fullmatch(r"\s*(\d+)(?:[.,](\d+))?\s*", cell)
    return Fraction(f"{whole[1]}.{whole[2] or 0}") if whole else None


def scaled(result: SubmissionResult, most: Fraction | None, *, scale: bool) -> Fraction:
    """Return a final score in the platform's points; two different maxima are never mixed up in silence."""
    assert result.score is not None, "only final scores are filled in"
    if not most or decimals(most) == decimals(result.max_score):
        return result.score
    if not scale or not result.max_score:
        ours, theirs = float(result.max_score), float(most)
        raise UsageError(f"the roster's maximum is {theirs:g}, the rubric's {ours:g}: make them equal, or say --scale")
    return result.score * most / result.max_score


def pick(wanted: str, columns: Mapping[str, int], path: Path) -> int:
    """Return the column of this name, or say which there are."""
    if wanted in columns:
        return columns[wanted]
    near = get_close_matches(wanted, columns, n=1, cutoff=0.5)
    known = ", ".join(repr(name) for name in columns)
    hint = f"; did you mean {near[0]!r}?" if near else f"; it has {known}" if known else ""
    raise UsageError(f"{path} has no column {wanted!r}{hint}")


def without_submission(entries: Mapping[int, Entry], taken: Mapping[str, list[int]]) -> Iterator[str]:
    """Say how many rows stay as they came because nobody handed in for them."""
    left = len(set(entries) - {row for rows in taken.values() for row in rows})
    if left:
        yield f"{left} of {len(entries)} students of the roster have no submission here; their rows are as they were"
