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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from engine.report.pages import FOLDER, INDEX, Report

if TYPE_CHECKING:
    from pathlib import Path

    from engine.derive import Library
    from engine.records import CheckResult, CheckText, ItemResult, SubmissionResult

SCHEMA = 1
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1)

# A spreadsheet takes a cell that begins with one of these for a formula, the wide forms in some locales.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

_SURROGATE = re.compile("[\ud800-\udfff]")

UNFINISHED = ".unfinished"  # what a killed run leaves behind is known by it

LONGEST_NAME = 150  # file systems stop at 255 bytes; the suffix and the temporary name need room


def results_json(results: Iterable[SubmissionResult], *, rubric: str, seed: int) -> str:
    """Return results.json, as CONTRACT.md section 5 has it."""
    listed = list(_listed(_by_id(results)))
    return "".join((_beginning(rubric, seed), *listed, _ending(is_empty=not listed)))


def gradebook_csv(results: Iterable[SubmissionResult]) -> str:
    """Return gradebook.csv."""
    table = _Table()
    for result in _by_id(results):
        table.add(result)
    return table.text()


def write_results(  # noqa: PLR0913 - everything the files say is handed in by name
    folder: Path,
    results: Iterable[SubmissionResult],
    *,
    rubric: str,
    seed: int,
    texts: Mapping[str, CheckText],
    title: str,
    proofs: Library | None = None,
) -> None:
    """Write every file of a run into `folder`; a reader never meets half a file.

    Results that come one after the other are in the order of their ids already, and pass through once: each goes into
    results.json and onto its page, and a few hundred bytes of it are kept for the table and the overview.
    """
    _remove_unfinished(folder)
    table, kept = _Table(), set()
    behind = proofs.behind if proofs else {}
    report = Report(rubric=rubric, seed=seed, texts=texts, title=title, behind=behind, file_name=file_name)
    with _replaced(folder / "results.json") as file:
        file.write(_beginning(rubric, seed))
        for before, result, after in _with_neighbours(_by_id(results)):
            file.writelines(_listed((result,), first=before is None))
            table.add(result)
            place, text = report.page(result, before, after)
            kept.add(place)
            _refresh(folder / "report" / place, text)
            _refresh(folder / "output" / f"{file_name(result.id)}.txt", result.output)
        file.write(_ending(is_empty=not kept))
    with _replaced(folder / "gradebook.csv") as file:
        file.write(table.text())
    with _replaced(folder / "report" / INDEX) as file:
        file.writelines(report.overview())
    if proofs is not None:
        _refresh(folder / "report" / "proofs.html", proofs.page)
    for page in (folder / "report" / FOLDER).glob("*.html"):
        if f"{FOLDER}/{page.name}" not in kept:
            page.unlink()  # from an earlier run in this folder
    os.sync()  # pages can be made anew at any time: they need not wait for the disk one by one


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


def _by_id(results: Iterable[SubmissionResult]) -> Iterable[SubmissionResult]:
    """Return results in the order of their ids; those that come one by one are in it, and must not be held."""
    return results if isinstance(results, Iterator) else sorted(results, key=lambda result: result.id)


def _with_neighbours(
    results: Iterable[SubmissionResult],
) -> Iterator[tuple[str | None, SubmissionResult, str | None]]:
    """Yield each result with the ids of the one before and the one after."""
    before = None
    for result, after in pairwise(chain(results, (None,))):
        assert result is not None, "nothing comes after the end"
        yield before, result, after.id if after else None
        before = result.id


# ── results.json ────────────────────────────────────────────────────────────────────────────────────────────────


def _beginning(rubric: str, seed: int) -> str:
    """Return the file up to the first submission."""
    head = _object({"schema": _json(SCHEMA), "rubric": _json(rubric), "seed": _json(seed), "submissions": "["})
    return _encodable_json(head.removesuffix("\n}"))


def _ending(*, is_empty: bool) -> str:
    return "]\n}\n" if is_empty else "\n ]\n}\n"


def _listed(results: Iterable[SubmissionResult], *, first: bool = True) -> Iterator[str]:
    """Yield submissions as they stand in the file, each with the comma before it."""
    for result in results:
        yield _encodable_json(f"{'' if first else ','}\n{_submission_json(result)}".replace("\n", "\n  "))
        first = False


def _json(value: Any) -> str:
    return ENCODER.encode(value)


def _object(members: Mapping[str, str]) -> str:
    """Return an object whose members are JSON already, laid out as the json module does with an indent of one."""
    return "{" + ",".join(f'\n "{name}": {_deeper(text)}' for name, text in members.items()) + "\n}"


def _array(texts: Iterable[str]) -> str:
    inside = ",".join(f"\n {_deeper(text)}" for text in texts)
    return f"[{inside}\n]" if inside else "[]"


def _deeper(text: str) -> str:
    return text.replace("\n", "\n ")  # no text of a value has a line break of its own: JSON spells it


def _encodable_json(text: str) -> str:
    # Twice the backslash: with one, JSON would read the surrogate back, and strict readers refuse it.
    return _SURROGATE.sub(lambda match: "\\" + encodable(match.group()), text)


def _submission_json(result: SubmissionResult) -> str:
    members = {
        "id": _json(result.id),
        "score": _json(_number(result.score)),
        "max_score": _json(_number(result.max_score)),
        "status": _json(result.status.value),
        "items": _array(map(_item_json, result.items)),
    }
    if result.problems:
        members["problems"] = _json(result.problems)
    if result.students:
        members["students"] = _json([{"id": student.id, "name": student.name} for student in result.students])
    if result.late:
        members["late"] = _json(True)
    if result.adjustments:
        members["adjustments"] = _json(
            [{"reason": each.reason, "points": float(each.points), "note": each.note} for each in result.adjustments]
        )
    return _object(members)


def _item_json(item: ItemResult) -> str:
    return _object(
        {
            "id": _json(item.id),
            "kind": _json(item.kind),
            "score": _json(_number(item.score)),
            "max_score": _json(_number(item.max_score)),
            "outcome": _json(item.outcome.value),
            "diagnosis": _json(item.diagnosis),
            "checks": _array(map(_check_json, item.checks)),
        }
    )


@lru_cache(maxsize=4096)  # what holds for one holds for most of the class, word for word
def _check_json(check: CheckResult) -> str:
    verdict, example = check.verdict, check.verdict.counterexample
    record = {
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
    return _json(record)


def _number(score: Fraction | None) -> float | None:
    return None if score is None else float(score)


# ── gradebook.csv ───────────────────────────────────────────────────────────────────────────────────────────────


class _Table:
    """One row per submission, one column per item; a withheld score is an empty cell.

    What a policy took off has a column after the items, where it took something off anybody.
    """

    def __init__(self) -> None:
        self._columns: dict[str, None] = {}
        self._rows: list[tuple[str, tuple[str, ...], tuple[Fraction | None, ...], Fraction]] = []
        self._items: dict[tuple[str, ...], tuple[str, ...]] = {}  # so that a class of one rubric has its ids once
        self._adjusted = False

    def add(self, result: SubmissionResult) -> None:
        items = tuple(item.id for item in result.items)
        items = self._items.setdefault(items, items)
        self._columns.update(dict.fromkeys(items))
        self._adjusted = self._adjusted or bool(result.adjustments)
        start = [_cell(result.id), result.status.value, _plain(result.score), _plain(result.max_score)]
        taken = sum((each.points for each in result.adjustments), Fraction(0))
        self._rows.append((_line(start), items, tuple(item.score for item in result.items), taken))

    def text(self) -> str:
        adjusted = ["adjustment"] if self._adjusted else []
        lines = [_line(["id", "status", "score", "max_score", *map(_cell, self._columns), *adjusted])]
        for start, items, scores, taken in self._rows:
            known = dict(zip(items, scores, strict=True))
            cells = [_plain(known.get(item)) for item in self._columns] + [_plain(taken) for _ in adjusted]
            lines.append(",".join((start, *map(str, cells))))
        return "".join(f"{line}\r\n" for line in lines)


def _line(cells: Iterable[object]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(cells)
    return buffer.getvalue()


def _plain(score: Fraction | None) -> int | float | str:
    if score is None:
        return ""
    return int(score) if score.denominator == 1 else float(score)


def _cell(text: str) -> str:
    return encodable(f"'{text}" if text.startswith(FORMULA_STARTS) else text)


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _replaced(path: Path, *, settled: bool = True) -> Iterator[IO[str]]:
    """Write beside the target, then rename: the old file or the new one, never a part of either."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        with temporary.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
            file.flush()
            if settled:
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    if settled:
        _settle(path.parent)


def _refresh(path: Path, text: str) -> None:
    """Have a file say this, and leave one alone that does; nothing to say, no file."""
    if not text:
        path.unlink(missing_ok=True)
    elif not _says(path, text.encode("utf-8", "backslashreplace")):
        with _replaced(path, settled=False) as file:
            file.write(text)


def _says(path: Path, content: bytes) -> bool:
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:  # it is not there, or cannot be read: it is written anew
        return False


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
