"""Moodle: its offline grading worksheet with grades and feedback filled in.

Moodle reads back the identifier, the grade, when it was last modified, and the feedback. A grade that is empty is left
alone, one above the maximum is dropped without a word: so maxima are compared here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from fractions import Fraction

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
from engine.exports.seen import for_students, looks_like
from engine.feedback import item_points, item_words, one_line, points, remarks
from engine.records import SubmissionResult, UsageError

GRADE, MAXIMUM, SCALE, FEEDBACK = "Grade", "Maximum Grade", "Scale", "Feedback comments"
READ_BACK = (GRADE, FEEDBACK, "Last modified (grade)")
LOGINS = ("Email address", "Username", "ID number")


def moodle(asked: Asked) -> Export:
    """Return the worksheet with our scores; where we have none, its row stays as it was."""
    if asked.roster is None:
        raise UsageError("moodle needs --roster FILE: the grading worksheet, downloaded from the assignment's page")
    roster = read_roster(asked.roster)
    grade = pick(asked.column or GRADE, {name: place for place, name in enumerate(roster.header)}, asked.roster)
    if grade == 0 or not all(re.search(r"\d+$", row[0].strip()) for row in roster.rows):
        raise UsageError(f"{asked.roster} is not a grading worksheet: its first column must be {'Identifier'!r}")
    students = dict(_students(roster))
    rows, said = match(asked.results, students)
    comments = roster.find(FEEDBACK)
    told = list(without_submission(students, rows))
    for result in asked.results:
        if result.id in rows and (why := unfinished(result)):
            said.append(f"{result.id}: {why}")
            continue
        for row in (roster.rows[number] for number in rows.get(result.id, ())):
            most = _maximum(roster, row, grade)
            score = scaled(result, most, scale=asked.scale)
            if most and score > most:  # a bonus; Moodle would drop the grade
                told.append(f"{result.id}: {decimals(score)} is above the maximum, so {decimals(most)} is filled in")
            row[grade] = decimals(min(score, most) if most else score)
            if comments is not None:
                row[comments] = feedback(result)
    _guard(roster, grade)
    return Export({"": roster.text()}, said, told)


def feedback(result: SubmissionResult) -> str:
    """Return a line per item, in HTML, which is what Moodle takes feedback for; nothing of hidden checks."""
    lines = [points(result.score, result.max_score), *remarks(result)]
    lines += [
        f"{item.id}: {item_words(item)}, {item_points(item)}. {looks_like(item)}".rstrip()
        for item in for_students(result).items
    ]
    return "<br>".join(html.escape(one_line(line)) for line in lines)


def _maximum(roster: Roster, row: list[str], grade: int) -> Fraction | None:
    """Return the maximum grade: the column of that name or, in another language, the one after the grade."""
    place = roster.find(MAXIMUM)
    if place is None and roster.header[grade + 1 : grade + 2] == [SCALE]:
        raise UsageError("the assignment is graded by a scale of words, which takes no points: change it in Moodle")
    after = row[grade + 1] if place is None and grade + 1 < len(row) else ""
    return fraction(after if place is None else row[place])


def _students(roster: Roster) -> Iterator[tuple[int, Entry]]:
    name = roster.find("Full name")
    logins = [place for column in LOGINS if (place := roster.find(column)) is not None]
    for number, row in enumerate(roster.rows):
        participant = re.sub(r"^.*?(\d+)\s*$", r"\1", row[0])
        yield number, entry([row[0], participant, *(row[place] for place in logins)], row[name] if name else "")


def _guard(roster: Roster, grade: int) -> None:
    kept = {0, grade, *(place for place, name in enumerate(roster.header) if name in READ_BACK)}
    for row in roster.rows:
        row[:] = [cell if place in kept else guarded(cell) for place, cell in enumerate(row)]
