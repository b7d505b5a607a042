"""The files a run leaves behind: results.json for programs, gradebook.csv for spreadsheets, a page for people.

Same results, same bytes: nothing here reads a clock, and submissions are written in the order of their ids.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from engine.report.pages import FOLDER, pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from engine.derive import Library
    from engine.records import CheckResult, CheckText, ItemResult, SubmissionResult

SCHEMA = 1

# A spreadsheet takes a cell that begins with one of these for a formula, the wide forms in some locales.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

_SURROGATE = re.compile("[\ud800-\udfff]")

UNFINISHED = ".unfinished"  # what a killed run leaves behind is known by it

LONGEST_NAME = 150  # file systems stop at 255 bytes; the suffix and the temporary name need room


def results_json(results: Iterable[SubmissionResult], *, rubric: str, seed: int) -> str:
    """Return results.json, as CONTRACT.md section 5 has it."""
    record = {
        "schema": SCHEMA,
        "rubric": rubric,
        "seed": seed,
        "submissions": [_submission_record(result) for result in _by_id(results)],
    }
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
    # Twice the backslash: with one, JSON would read the surrogate back, and strict readers refuse it.
    return _SURROGATE.sub(lambda match: "\\" + encodable(match.group()), text) + "\n"


def gradebook_csv(results: Iterable[SubmissionResult]) -> str:
    """Return one row per submission, one column per item; a withheld score is an empty cell.

    What a policy took off has a column after the items, where it took something off anybody.
    """
    ordered = _by_id(results)
    adjusted = ["adjustment"] if any(result.adjustments for result in ordered) else []
    items = list(dict.fromkeys(item.id for result in ordered for item in result.items))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(["id", "status", "score", "max_score", *map(_cell, items), *adjusted])
    for result in ordered:
        scores = {item.id: item.score for item in result.items}
        row = [_cell(result.id), result.status.value, _plain(result.score), _plain(result.max_score)]
        taken = [_plain(sum((each.points for each in result.adjustments), Fraction(0))) for _ in adjusted]
        writer.writerow(row + [_plain(scores.get(item)) for item in items] + taken)
    return buffer.getvalue()


def write_results(  # noqa: PLR0913 - everything the three files say is handed in by name
    folder: Path,
    results: Iterable[SubmissionResult],
    *,
    rubric: str,
    seed: int,
    texts: Mapping[str, CheckText],
    title: str,
    proofs: Library | None = None,
) -> None:
    """Write every file of a run into `folder`; a reader never meets half a file."""
    ordered = _by_id(results)
    _remove_unfinished(folder)
    _write(folder / "results.json", results_json(ordered, rubric=rubric, seed=seed))
    _write(folder / "gradebook.csv", gradebook_csv(ordered))
    behind = proofs.behind if proofs else {}
    shown = pages(ordered, rubric=rubric, seed=seed, texts=texts, title=title, behind=behind, file_name=file_name)
    for place, text in shown:
        _write(folder / "report" / place, text)
    if proofs is not None:
        _write(folder / "report" / "proofs.html", proofs.page)
    kept = {f"{file_name(result.id)}.html" for result in ordered}
    for page in (folder / "report" / FOLDER).glob("*.html"):
        if page.name not in kept:
            page.unlink()  # from an earlier run in this folder
    for result in ordered:
        printed = folder / "output" / f"{file_name(result.id)}.txt"
        if result.output:
            _write(printed, result.output)
        else:
            printed.unlink(missing_ok=True)  # from an earlier run in this folder


def file_name(submission: str) -> str:
    """Return a file name for an id: readable, different for different ids, and never a path.

    >>> file_name("alice"), file_name("../etc/passwd")
    ('alice', '%2E.%2Fetc%2Fpasswd')
    """
    # The tilde is the one character `quote` keeps and we do not.
    name = quote(submission, safe="", encoding="utf-8", errors="surrogatepass").replace("~", "%7E")
    if name.startswith("."):
        name = "%2E" + name[1:]  # neither `.` nor `..` nor a hidden file
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(name.encode()).hexdigest()
        name = f"{name[: LONGEST_NAME - len(digest) - 1]}-{digest}"
    return name or "%"


def encodable(text: str) -> str:
    r"""Return `text` with lone surrogates spelled out: UTF-8 has no bytes for them.

    >>> print(encodable("caf\udce9"))
    caf\udce9
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _by_id(results: Iterable[SubmissionResult]) -> list[SubmissionResult]:
    return sorted(results, key=lambda result: result.id)


def _submission_record(result: SubmissionResult) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": result.id,
        "score": _number(result.score),
        "max_score": _number(result.max_score),
        "status": result.status.value,
        "items": [_item_record(item) for item in result.items],
    }
    if result.problems:
        record["problems"] = list(result.problems)
    if result.students:
        record["students"] = [{"id": student.id, "name": student.name} for student in result.students]
    if result.late:
        record["late"] = True
    if result.adjustments:
        record["adjustments"] = [
            {"reason": each.reason, "points": float(each.points), "note": each.note} for each in result.adjustments
        ]
    return record


def _item_record(item: ItemResult) -> dict[str, Any]:
    return {
        "id": item.id,
        "kind": item.kind,
        "score": _number(item.score),
        "max_score": _number(item.max_score),
        "outcome": item.outcome.value,
        "diagnosis": item.diagnosis,
        "checks": [_check_record(check) for check in item.checks],
    }


def _check_record(check: CheckResult) -> dict[str, Any]:
    verdict, example = check.verdict, check.verdict.counterexample
    return {
        "id": verdict.check,
        "outcome": verdict.outcome.value,
        "examples": verdict.examples,
        "score": _number(check.score),
        "max_score": _number(check.max_score),
        "visibility": check.visibility,
        **({"bonus": True} if check.bonus else {}),
        "proved": verdict.proved,
        "message": verdict.message,
        "counterexample": example
        and {
            "call": example.call,
            "gave": example.gave,
            "expected": example.expected,
        },
    }


def _number(score: Fraction | None) -> float | None:
    return None if score is None else float(score)


def _plain(score: Fraction | None) -> int | float | str:
    if score is None:
        return ""
    return int(score) if score.denominator == 1 else float(score)


def _cell(text: str) -> str:
    return encodable(f"'{text}" if text.startswith(FORMULA_STARTS) else text)


def _write(path: Path, text: str) -> None:
    """Write beside the target, then rename: the old file or the new one, never a part of either."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        with temporary.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """Have the names in a folder on disk, as their contents are."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_unfinished(folder: Path) -> None:
    for place in (folder, folder / "report", folder / "report" / FOLDER, folder / "output"):
        for left in place.glob(f".*{UNFINISHED}"):
            left.unlink()
