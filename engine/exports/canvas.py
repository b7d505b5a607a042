"""Canvas: its exported gradebook with one column filled in, or a small table that its import can read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from engine.exports.record import Asked, Export, unfinished
from engine.exports.roster import (
    Entry,
    Roster,
    decimals,
    entry,
    fraction,
    guarded,
    match,
    pick,
    read_roster,
    scaled,
    without_submission,
)  # fmt: skip
from engine.records import UsageError
from engine.results import encodable

POINTS = "Points Possible"
MINIMAL = ("Student", "ID", "SIS Login ID", "Section")
SHOWN = ("Student", "LastName", "FirstName", "Section")  # read by Canvas only where a row has no ID
NOT_OURS = ("EX", "N/A")  # excused, not assigned
_ASSIGNMENT = re.compile(r"(?P<title>.*?)\s*\((?P<id>\d+)\)")
_TOTAL = re.compile("(Current|Final|Override) (Score|Points|Grade|Status)")
_POSTING = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE)


def canvas(asked: Asked) -> Export:
    """Return the roster with our scores in one column; an empty cell, or one we have no score for, stays as it was."""
    if asked.roster is None:
        return _without_roster(asked)
    roster = read_roster(asked.roster)
    if len(roster.header) < 4 or "ID" not in roster.header or roster.find("Section") is None:
        raise UsageError(f"{asked.roster} is not a gradebook exported by Canvas: it needs Student, ID and Section")
    column = _column(roster, asked, asked.roster)
    students = dict(_students(roster))
    most = next((fraction(row[column]) for row in roster.rows if POINTS in row[0]), None)
    rows, said = match(asked.results, students)
    for result in asked.results:
        if result.id in rows and (why := unfinished(result)):
            said.append(f"{result.id}: {why}")
            continue
        for row in (roster.rows[number] for number in rows.get(result.id, ())):
            if row[column].strip().upper() in NOT_OURS:
                said.append(f"{result.id}: Canvas has {row[column].strip()} here, which is kept")
            else:
                row[column] = decimals(scaled(result, most, scale=asked.scale))
    _guard(roster, students)
    told = [f"filled in: {roster.header[column]}", *without_submission(students, rows)]
    return Export({"": roster.text()}, said, told)


def _column(roster: Roster, asked: Asked, path: Path) -> int:
    """Return the assignment's column: the one asked for, the one of the rubric's title, or the only one."""
    section = roster.find("Section") or 0
    named: dict[str, int] = {}
    found = []
    for place, name in enumerate(roster.header):
        shape = _ASSIGNMENT.fullmatch(name)
        if place > section and shape and not _TOTAL.search(name):
            found.append(place)
            for key in (name, shape["title"], shape["id"]):
                named[key] = -1 if key in named and named[key] != place else place  # two of one title: neither
    usable = {key: place for key, place in named.items() if place >= 0}
    if not found:
        raise UsageError(f"{path} has no column of an assignment: make the assignment in Canvas, then export again")
    if not asked.column and asked.title not in usable and len(found) == 1:
        return found[0]
    if not asked.column and asked.title not in usable:
        known = ", ".join(roster.header[place] for place in found)
        raise UsageError(f"{path} has no assignment {asked.title!r}; say --column and one of: {known}")
    return pick(asked.column or asked.title, usable, path)


def _students(roster: Roster) -> Iterator[tuple[int, Entry]]:
    ids = [roster.find(name) for name in ("ID", "SIS User ID", "SIS Login ID", "Integration ID")]
    apart = roster.find("FirstName")
    for number, row in enumerate(roster.rows):
        if POINTS in row[0] or all(_POSTING.fullmatch(cell) for cell in row):
            continue
        name = row[0] if apart is None else f"{row[0]}, {row[apart]}"
        yield number, entry([row[place] for place in ids if place is not None], name)


def _guard(roster: Roster, students: dict[int, Entry]) -> None:
    places = [place for place, name in enumerate(roster.header) if name in SHOWN]
    known = roster.header.index("ID")
    for number in students:
        row = roster.rows[number]
        for place in places if row[known].strip() else ():
            row[place] = guarded(row[place])


def _without_roster(asked: Asked) -> Export:
    """Return the least that Canvas imports: it looks for the login, then the name, and asks about the others."""
    left_out = [f"{result.id}: {why}" for result in asked.results if (why := unfinished(result))]
    final = [(result.id, result.score) for result in asked.results if not unfinished(result)]
    most = max((result.max_score for result in asked.results), default=None)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*MINIMAL, guarded(asked.title)])
    writer.writerow([f"    {POINTS}", "", "", "", "" if most is None else decimals(most)])
    for name, score in final:
        assert score is not None, "a final score is a number"
        writer.writerow([guarded(name), "", guarded(name), "", decimals(score)])
    told = ["without --roster Canvas makes a new assignment of this title; its own export keeps everything in place"]
    return Export({"": encodable(buffer.getvalue())}, left_out, told)
