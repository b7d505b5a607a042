"""`compare`: formulas judged one record a line, for any question with declared symbols.

A record has `expected`, `answer` and `symbols`, and may have `id`, `given` and `relation`. A record that also says what
the verdict should be (`"verdict": true`) is counted as judged right or wrong: that is how we measure ourselves.
"""

from __future__ import annotations

import json
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from formulas.decide import Verdict, decide, last_part, sentence
from formulas.reader import Unreadable, read
from formulas.repair import repair
from formulas.symbols import SymbolError, Symbols, declared
from formulas.values import Fault

LONGEST_LINE = 100_000
RELATIONS = ("equal", "equal_up_to_transpose", "theta", "approx:0.01")


@dataclass
class Tally:
    """What became of all records."""

    verdicts: Counter[str] = field(default_factory=Counter)
    false_accepts: list[str] = field(default_factory=list)
    false_rejects: list[str] = field(default_factory=list)
    right_proved: int = 0
    right: int = 0
    milliseconds: list[float] = field(default_factory=list)

    def add(self, record: dict[str, Any], should: object, seconds: float) -> None:
        """Count one judged record; `should` is what its verdict should be, if it says so."""
        verdict = Verdict(record["verdict"])
        self.verdicts[verdict] += 1
        self.milliseconds.append(1000 * seconds)
        if should is True:
            self.right += 1
            self.right_proved += verdict is Verdict.PROVED
            if verdict not in (Verdict.PROVED, Verdict.TESTED):
                self.false_rejects.append(str(record["id"]))
        elif should is False and verdict in (Verdict.PROVED, Verdict.TESTED):
            self.false_accepts.append(str(record["id"]))

    @property
    def good(self) -> bool:
        """Return whether no verdict contradicts what a record says it should be."""
        return not self.false_accepts and not self.false_rejects

    def __str__(self) -> str:
        counts = ", ".join(f"{self.verdicts[verdict]} {verdict}" for verdict in Verdict if self.verdicts[verdict])
        lines = [f"{sum(self.verdicts.values())} formulas: {counts or 'none'}"]
        if self.right:
            share = round(100 * self.right_proved / self.right)
            lines.append(f"{self.right_proved} of {self.right} right ones proved for all sizes ({share} %)")
        for name, several in (("accepted", self.false_accepts), ("rejected", self.false_rejects)):
            if several:
                lines.append(f"wrongly {name}: {', '.join(several)}")
        if self.milliseconds:
            lines.append(f"median {median(self.milliseconds):.1f} ms, longest {max(self.milliseconds):.0f} ms")
        return "\n".join(lines)


def compare(lines: Iterable[str], tally: Tally) -> Iterator[dict[str, Any]]:
    """Judge each line; what cannot be read is a record of its own, and the rest is judged."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        started = time.perf_counter()
        record, should = _judged(line, number)
        tally.add(record, should, time.perf_counter() - started)
        yield record


def _judged(line: str, number: int) -> tuple[dict[str, Any], object]:
    try:
        row = _row(line)
    except _BadRecord as error:
        return _record(f"line {number}", Verdict.UNREADABLE, f"Line {number}: {error}."), None
    name = str(row.get("id", f"line {number}"))
    try:
        symbols = declared(row["symbols"], tuple(row.get("given", ())))
        relation = row.get("relation", "equal")
        judgement = decide(row["answer"], row["expected"], symbols, relation)
        hint = ""
        if judgement.verdict is Verdict.REFUTED:
            hint = _hint(row["answer"], row["expected"], symbols, relation)
            if judgement.agrees:
                hint = f"{hint} As it happens, {judgement.agrees}.".strip()
        record = _record(name, judgement.verdict, judgement.message, judgement.counterexample, hint)
    except (SymbolError, Unreadable, Fault) as error:
        record = _record(name, Verdict.UNREADABLE, f"The question itself cannot be read: {error}")
    except Exception:  # noqa: BLE001 - a fault of ours on one formula must not take the others with it
        last = traceback.format_exc().strip().splitlines()[-1]
        record = _record(name, Verdict.UNKNOWN, f"The grader failed on this formula: {last}")
    return record, row.get("verdict")


def _hint(answer: str, expected: str, symbols: Symbols, relation: str) -> str:
    trees = [last_part(read(text, symbols)) for text in (answer, expected)]
    found = repair(trees[0], trees[1], symbols, relation)
    return sentence(found.sentence) if found else ""


class _BadRecord(Exception):
    """A line is no record: what is wrong with it."""


def _row(line: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise _BadRecord(f"a record has at most {LONGEST_LINE:,} characters")
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _BadRecord(f"not a JSON record ({error})") from None
    if not isinstance(row, dict):
        raise _BadRecord("a record is an object with expected, answer and symbols")
    for key in ("expected", "answer"):
        if not isinstance(row.get(key), str):
            raise _BadRecord(f"{key} must be a text")
    symbols = row.get("symbols")
    if not isinstance(symbols, dict) or not all(isinstance(rows, dict) for rows in symbols.values()):
        raise _BadRecord("symbols must be an object of objects")
    given = row.get("given", [])
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise _BadRecord("given must be a list of texts")
    relation = row.get("relation", "equal")
    if relation not in RELATIONS and not str(relation).startswith("approx:"):
        raise _BadRecord(f"relation must be one of {', '.join(RELATIONS)}, not {relation!r}")
    return row


def _record(name: str, verdict: Verdict, message: str, counterexample: str = "", hint: str = "") -> dict[str, Any]:
    return {
        "id": name,
        "verdict": verdict.value,
        "counterexample": counterexample or None,
        "hint": hint,
        "message": message,
    }
