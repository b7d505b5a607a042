"""What every format is handed, and what it gives back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.records import CheckText, Outcome, Status, SubmissionResult
from engine.results import file_name


@dataclass(frozen=True, slots=True)
class Asked:
    """The results of a run, and how somebody wants them."""

    results: Collection[SubmissionResult]  # each may be read when it is its turn
    texts: Mapping[str, CheckText]
    title: str
    rubric: str = ""
    seed: int = 0
    roster: Path | None = None  # a file of the other system, to be filled in
    column: str = ""  # which of the roster's columns
    scale: bool = False  # whether to turn our points into the roster's
    source: Path | None = None  # where the submission lies, for annotations


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export, and one sentence for every submission that has no final score in them."""

    files: Mapping[str, str | None]  # by name within the target, "" being the target itself; None: must not be there
    left_out: Sequence[str] = ()
    told: Sequence[str] = ()  # worth knowing, and nothing lacks


def one_each(records: Mapping[str, Any], ending: str = ".json") -> dict[str, str | None]:
    """Return one file for one submission, a folder of files for several; no record, no file."""
    texts = {name: None if record is None else as_json(record) for name, record in records.items()}
    if len(texts) == 1:
        return {"": next(iter(texts.values()))}
    return {file_name(name) + ending: text for name, text in texts.items()}


def as_json(record: Any) -> str:
    """Return strict JSON: no NaN, nothing that UTF-8 cannot carry."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    # Twice the backslash: with one, JSON would read the surrogate back, and strict readers refuse it.
    return "".join(f"\\\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def unfinished(result: SubmissionResult) -> str:
    """Say why there is no final score, or nothing if there is one."""
    if result.status is Status.WITHHELD or result.score is None:
        named = _items(result, Outcome.UNJUDGED)
        return f"the grader failed on {named}: the score is withheld until staff look at it"
    if result.status is Status.WAITING:
        return f"{_items(result, Outcome.MANUAL)} waits for a person: the score is not final"
    return ""


def withheld(results: Iterable[SubmissionResult]) -> list[str]:
    """Return a sentence for each score that is withheld."""
    return [f"{r.id}: {unfinished(r)}" for r in results if r.status is Status.WITHHELD or r.score is None]


def _items(result: SubmissionResult, outcome: Outcome) -> str:
    concerned = [item.id for item in result.items if any(c.verdict.outcome is outcome for c in item.checks)]
    more = f" and {len(concerned) - 3} more" if len(concerned) > 3 else ""
    return (", ".join(concerned[:3]) or "this submission") + more
