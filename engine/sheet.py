"""The sheet a student wrote, `answers.toml`: what is claimed of each answer, and the answers, read but not judged.

Here is all that a rubric and a submission without answers need: judging formulas takes SymPy, which takes longer to
import than checking a function takes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Any

from checks.question import Kind, Question, questions
from engine.records import Diagnosis, Outcome, Verdict

DEEPEST_KEY = 30  # parts of a name
MOST_TOLD = 20  # of what is wrong with a file: nobody reads more
LONGEST_NAME = 80
_DEEP_KEY = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]++\s*+\.\s*+){{{DEEPEST_KEY}}}""")


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """What is claimed of an answer; the same shape as a check of code, as far as people read it."""

    id: str
    claim: str
    hint: str
    functions: tuple[str, ...] = ()


_CLAIMS = {
    "reads": "The answer can be read, its names are those of the question, and its shapes fit together.",
    "right": "The answer is right.",
    "digits": "Every printed digit is right.",
    "starts": "The first line is the quantity asked for.",
    "follows": "Each line equals the one before it.",
    "ends": "The last line is the answer, in simplified form.",
    "person": "A person reads this.",
}

CHECKS: Mapping[Kind, tuple[str, ...]] = {
    Kind.EXPRESSION: ("reads", "right"),
    Kind.DERIVATION: ("reads", "starts", "follows", "ends"),
    Kind.CLAIM: ("right",),
    Kind.COMPLEXITY: ("reads", "right"),
    Kind.NUMBER: ("right", "digits"),
    Kind.CHOICE: ("right",),
    Kind.TEXT: ("person",),
}


def checks_of(question: Question) -> tuple[AnswerCheck, ...]:
    """Return the checks of a question."""
    return tuple(AnswerCheck(f"{question.id}.{name}", _CLAIMS[name], question.hint) for name in CHECKS[question.kind])


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a student wrote: the answers by id, and one sentence for whatever could not be placed."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)  # by id: why this one cannot be read
    problems: tuple[str, ...] = ()


def read_sheet(text: str) -> Sheet:
    """Read answers.toml. A mistake in one answer costs that answer only."""
    refusal = _refusal(text)
    if refusal:
        return Sheet(problems=(refusal,))
    known = questions()
    tables, broken, problems = _tables(text)
    unknown: list[str] = []
    answers: dict[str, Any] = {}
    for kind, table in tables.items():
        if kind not in set(Kind):
            problems.append(f"answers.toml has no table [{kind}]; it has {', '.join(Kind)}.")
            continue
        if not isinstance(table, dict):
            problems.append(f"answers.toml: {kind} must be a table, [{kind}].")
            continue
        for name, value in table.items():
            if name not in known:
                unknown.append(name)
            elif known[name].kind != kind:
                broken[name] = (
                    f"{name} is a {known[name].kind}: it belongs under [{known[name].kind}], not under [{kind}]."
                )
            else:
                answers[name] = value
    return Sheet(answers, broken, (*problems[:MOST_TOLD], *_told_unknown(unknown)))


def _told_unknown(names: Sequence[str]) -> Iterator[str]:
    for name in names[:MOST_TOLD]:
        near = get_close_matches(name[:LONGEST_NAME], questions(), n=2, cutoff=0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else "."
        yield f"answers.toml: there is no question {name[:LONGEST_NAME]!r}{hint}"
    if len(names) > MOST_TOLD:
        yield f"answers.toml: nor are there {len(names) - MOST_TOLD:,} more of the questions it names."


def _refusal(text: str) -> str:
    """Say what makes a file too much to read; TOML's reader takes minutes over some short ones."""
    deep = _DEEP_KEY.search(text)
    if deep:
        line = text.count("\n", 0, deep.start()) + 1
        return f"answers.toml, line {line}: a name of more than {DEEPEST_KEY} parts is no question's."
    return ""


def _tables(text: str) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """Return the tables of the file; if it is not valid, those of its parts that are."""
    try:
        return _toml(text), {}, []
    except ValueError as error:  # a TOMLDecodeError, or a whole number of more digits than Python reads
        problems = [f"answers.toml is not valid TOML: {error}. Answers that can be read on their own are graded."]
    except RecursionError:
        return {}, {}, ["answers.toml is nested too deeply to be read."]
    tables: dict[str, Any] = {}
    broken: dict[str, str] = {}
    for header, part, line in _parts(text):
        try:
            found = _toml(f"{header}\n{part}")
        except (ValueError, RecursionError) as error:
            name = part.split("=", 1)[0].strip().strip("\"'") if "=" in part else header.strip("[] ").split(".")[-1]
            if name in questions():
                broken[name] = f"answers.toml, line {line}: this is not valid TOML: {error}."
            continue
        for kind, rows in found.items():
            if isinstance(rows, dict):
                tables.setdefault(kind, {}).update(rows)
    return tables, broken, problems


def _toml(text: str) -> dict[str, Any]:
    return tomllib.loads(text, parse_float=_printed)


def _printed(number: str) -> Decimal:
    """Return a number with the digits that were printed."""
    try:
        return Decimal(number)
    except InvalidOperation:
        raise ValueError(f"{number[:40]} is beyond all numbers") from None


def _parts(text: str) -> Iterator[tuple[str, str, int]]:
    """Cut a file into its assignments, each with the header it stands under and its line."""
    header, first = "", 1
    part: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        is_header = bare.startswith("[") and bare.endswith("]") and "=" not in bare and '"' not in bare
        starts = is_header or (
            bare.partition("=")[0].strip().replace("_", "").isalnum() and "=" in bare and not line[:1].isspace()
        )
        if starts:
            if part:
                yield header, "\n".join(part), first
            part, first = [], number
        if is_header:
            header = bare
        else:
            part.append(line)
    if part:
        yield header, "\n".join(part), first


@dataclass(frozen=True, slots=True)
class Marked:
    """What was found out about one question."""

    verdicts: tuple[Verdict, ...]
    diagnosis: Diagnosis | None = None


def unanswered(question: Question, sheet: Sheet | None) -> Marked | None:
    """Return what is said of a question without an answer; None where there is one to judge."""
    if sheet is None:
        where = "There is no answers.toml."
    elif question.id in sheet.broken:
        return None
    elif question.id not in sheet.answers:
        where = f"answers.toml has no {question.id}."
    elif _empty(sheet.answers[question.id]):
        where = "The answer is empty."
    else:
        return None
    return Marked(tuple(Verdict(check.id, Outcome.MISSING, message=where) for check in checks_of(question)))


def _empty(answer: Any) -> bool:
    if isinstance(answer, str):
        return not answer.strip()
    if isinstance(answer, list | dict):
        values = answer.values() if isinstance(answer, dict) else answer
        return all(_empty(value) for value in values)
    return False
