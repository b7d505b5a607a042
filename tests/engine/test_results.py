"""results.json, gradebook.csv and the files on disk: exact, the same bytes every time, safe to open."""

from __future__ import annotations

import csv
import io
import json
import os
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec
import pytest

from engine.records import (
    CheckResult,
    CheckText,
    Counterexample,
    ItemResult,
    Outcome,
    Status,
    SubmissionResult,
    Verdict,
)
from engine.results import file_name, gradebook_csv, results_json, write_results

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {"attention.softmax.rows_sum_to_one": CheckText("Every row sums to 1.", "Subtract the maximum.")}


def item(name: str, score: Fraction | None, *, outcome: Outcome = Outcome.HELD) -> ItemResult:
    example = Counterexample("softmax([1000.0])", "[nan]", "[1.0]") if outcome is Outcome.BROKEN else None
    verdict = Verdict(f"{name}.rows_sum_to_one", outcome, examples=100, counterexample=example)
    check = CheckResult(verdict, score, Fraction(4), "public")
    return ItemResult(name, "code", outcome, score, Fraction(4), (check,))


def submission(name: str, *items: ItemResult, output: str = "", problems: tuple[str, ...] = ()) -> SubmissionResult:
    scores = [entry.score for entry in items]
    known = [score for score in scores if score is not None]
    whole = len(known) == len(scores)
    return SubmissionResult(
        name,
        Status.GRADED if whole else Status.WITHHELD,
        sum(known, Fraction(0)) if whole else None,
        Fraction(4 * len(items)),
        items,
        problems,
        output,
    )


ALICE = submission(
    "alice", item("attention.softmax", Fraction(3, 2), outcome=Outcome.BROKEN), item("gates.sigmoid", Fraction(4))
)
BOB = submission("bob", item("attention.softmax", None, outcome=Outcome.UNJUDGED))
HOSTILE = submission('=cmd(),"<script>\x1b[2J\udce9', item("attention.softmax", Fraction(4)))


def test_json_has_exactly_the_schema_of_the_contract() -> None:
    alice = submission("alice", item("attention.softmax", Fraction(3, 2), outcome=Outcome.BROKEN))
    text = results_json([alice], rubric="sheet 4", seed=7)
    expected = {
        "schema": 1,
        "rubric": "sheet 4",
        "seed": 7,
        "submissions": [
            {
                "id": "alice",
                "score": 1.5,
                "max_score": 4.0,
                "status": "graded",
                "items": [
                    {
                        "id": "attention.softmax",
                        "kind": "code",
                        "score": 1.5,
                        "max_score": 4.0,
                        "outcome": "broken",
                        "diagnosis": "",
                        "checks": [
                            {
                                "id": "attention.softmax.rows_sum_to_one",
                                "outcome": "broken",
                                "examples": 100,
                                "score": 1.5,
                                "max_score": 4.0,
                                "visibility": "public",
                                "proved": False,
                                "message": "",
                                "counterexample": {
                                    "call": "softmax([1000.0])",
                                    "gave": "[nan]",
                                    "expected": "[1.0]",
                                },
                            }
                        ],
                    }
                ],
            }
        ],
    }
    # Compared as text, so that the order of the keys counts too.
    assert text == json.dumps(expected, indent=1) + "\n"


def test_json_is_the_same_whatever_the_order_and_whatever_was_printed() -> None:
    chatty = submission("alice", *ALICE.items, output="hello")
    one = results_json([ALICE, BOB, HOSTILE], rubric="r", seed=0)
    assert one == results_json([HOSTILE, BOB, chatty], rubric="r", seed=0)
    assert [entry["id"] for entry in json.loads(one)["submissions"]][1:] == ["alice", "bob"]


def test_a_withheld_score_is_null_and_never_zero() -> None:
    record = json.loads(results_json([BOB], rubric="r", seed=0))["submissions"][0]
    assert record["score"] is None
    assert record["items"][0]["score"] is None
    assert record["items"][0]["checks"][0]["score"] is None
    assert record["status"] == "withheld"


def test_problems_are_a_key_only_where_there_are_some() -> None:
    troubled = submission("carol", problems=("a.py is not text.",))
    plain, with_problems = json.loads(results_json([ALICE, troubled], rubric="r", seed=0))["submissions"]
    assert "problems" not in plain
    assert with_problems["problems"] == ["a.py is not text."]


def test_hostile_strings_stay_strict_json_in_utf8() -> None:
    data = results_json([HOSTILE], rubric="\ud800", seed=0).encode("utf-8")
    # A reader that refuses lone surrogates, which the json module would let through.
    record = msgspec.json.decode(data)
    assert record["submissions"][0]["id"] == '=cmd(),"<script>\x1b[2J\\udce9'
    assert record["rubric"] == "\\ud800"


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_gradebook_has_a_column_per_item_and_an_empty_cell_for_no_score() -> None:
    carol = submission("carol", item("positional.wavelengths", Fraction(1, 3)))
    assert rows(gradebook_csv([carol, BOB, ALICE])) == [
        ["id", "status", "score", "max_score", "attention.softmax", "gates.sigmoid", "positional.wavelengths"],
        ["alice", "graded", "5.5", "8", "1.5", "4", ""],
        ["bob", "withheld", "", "4", "", "", ""],
        ["carol", "graded", "0.3333333333333333", "4", "", "", "0.3333333333333333"],
    ]


def test_gradebook_lines_end_as_rfc_4180_says() -> None:
    text = gradebook_csv([ALICE, BOB])
    assert text.count("\r\n") == text.count("\n") == 3
    assert text.endswith("\r\n")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_gradebook_is_a_formula(start: str) -> None:
    name = f'{start}cmd(),"quoted"\nsecond line'
    assert rows(gradebook_csv([submission(name)]))[1][0] == "'" + name


def test_numbers_of_the_gradebook_stay_numbers() -> None:
    penalty = submission("dan", item("attention.softmax", Fraction(-1, 2)))
    assert rows(gradebook_csv([penalty]))[1][2] == "-0.5"


def test_gradebook_can_be_encoded() -> None:
    assert rows(gradebook_csv([HOSTILE]).encode("utf-8").decode("utf-8"))[1][0].endswith("\\udce9")


def test_file_names_are_safe_and_different() -> None:
    names = ["alice", ".", "..", "", "%", "a/b", "a%2Fb", "../x", "~", "é", "\udce9", "x" * 300, "x" * 301, "é" * 99]
    safe = [file_name(name) for name in names]
    assert len(set(safe)) == len(names)
    assert safe[:4] == ["alice", "%2E", "%2E.", "%"]
    assert all(len(name) <= 150 and not name.startswith(".") for name in safe)
    assert not set("".join(safe)) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-%")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write(folder: Path, *results: SubmissionResult) -> dict[str, bytes]:
    write_results(folder, results, rubric="r", seed=0, texts=TEXTS, title="Sheet 4")
    return tree(folder)


def test_writing_leaves_the_files_of_the_contract_and_nothing_else(tmp_path: Path) -> None:
    chatty = submission("../carol", output="loss \udce9 1\r\n2")
    files = write(tmp_path / "new" / "graded", ALICE, BOB, HOSTILE, chatty)
    pages = {f"report/submissions/{file_name(result.id)}.html" for result in (ALICE, BOB, HOSTILE, chatty)}
    assert set(files) == pages | {
        "gradebook.csv", "output/%2E.%2Fcarol.txt", "report/index.html", "results.json"
    }  # fmt: skip
    assert files["output/%2E.%2Fcarol.txt"] == b"loss \\udce9 1\r\n2"
    assert b"\r\n" in files["gradebook.csv"]
    assert b"\r\r" not in files["gradebook.csv"]


def test_writing_twice_in_another_order_changes_no_byte(tmp_path: Path) -> None:
    assert write(tmp_path / "one", ALICE, BOB, HOSTILE) == write(tmp_path / "two", HOSTILE, BOB, ALICE)


def test_what_an_earlier_run_printed_does_not_stay(tmp_path: Path) -> None:
    assert "output/alice.txt" in write(tmp_path, submission("alice", output="old"))
    assert "output/alice.txt" not in write(tmp_path, ALICE)


def test_the_page_of_one_who_is_gone_does_not_stay(tmp_path: Path) -> None:
    assert "report/submissions/bob.html" in write(tmp_path, ALICE, BOB)
    assert "report/submissions/bob.html" not in write(tmp_path, ALICE)


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = write(tmp_path, ALICE)

    def refuse(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path, BOB)
    assert tree(tmp_path) == before
