"""Each export against its system's published rules, read back by a reader that shares nothing with what wrote it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from defusedxml import ElementTree as SafeET

from engine.commands import EXPORTS, main
from engine.exports.canvas import canvas
from engine.exports.export import AUTOGRADER, FORMATS, _place
from engine.exports.github import github
from engine.exports.gradescope import gradescope
from engine.exports.junit import junit
from engine.exports.moodle import moodle
from engine.exports.prairielearn import prairielearn
from engine.exports.record import Asked
from engine.exports.table import table
from engine.records import (
    CheckResult,
    CheckText,
    Counterexample,
    ItemResult,
    Outcome,
    Status,
    Student,
    SubmissionResult,
    UsageError,
    Verdict,
)
from engine.results import FORMULA_STARTS

ROOT = Path(__file__).resolve().parents[2]
SECRETS = ("agrees_with_definition", "SECRET-MESSAGE", "SECRET-CALL", "SECRET-CLAIM", "SECRET-HINT")
TEXTS = {
    "attention.softmax.rows_sum_to_one": CheckText("Every row sums to 1.", "Subtract the maximum."),
    "attention.softmax.shift_invariance": CheckText("Shifting a row changes nothing.", "exp(c) cancels."),
    "attention.softmax.agrees_with_definition": CheckText("SECRET-CLAIM", "SECRET-HINT"),
    "why_positions.person": CheckText("The text says why.", "Read it again."),
}


def check(name, outcome, score, most, *, visibility="public", message="", example=None):
    verdict = Verdict(name, outcome, examples=100, message=message, counterexample=example)
    return CheckResult(verdict, None if score is None else Fraction(score), Fraction(most), visibility)


def item(name, *checks, kind="code", diagnosis=""):
    scores = [each.score for each in checks]
    total = None if None in scores else sum(scores)
    worst = max((each.verdict.outcome for each in checks), key=list(Outcome).index)
    most = sum(each.max_score for each in checks)
    return ItemResult(name, kind, worst, total, most, checks, diagnosis, "They sum over columns." if diagnosis else "")


def submission(name, *items, problems=()):
    scores = [each.score for each in items]
    outcomes = {each.outcome for each in items}
    status = Status.WAITING if Outcome.MANUAL in outcomes else Status.GRADED
    status = Status.WITHHELD if Outcome.UNJUDGED in outcomes else status
    total = None if None in scores else sum(scores, Fraction(0))
    most = sum((each.max_score for each in items), Fraction(0))
    return SubmissionResult(name, status, total, most, items, problems, output="x = [0.25, 1.5]")


def softmax(outcome=Outcome.HELD, score=1, *, hidden=Outcome.HELD, diagnosis=""):
    example = Counterexample("softmax([1000.0])", "attention.py line 7, in softmax: 50 % of\n::error::x", "[1.0]")
    secret = Counterexample("SECRET-CALL", "1", "2")
    return item(
        "attention.softmax",
        check("attention.softmax.rows_sum_to_one", outcome, score, 1, message="" if outcome is Outcome.HELD else "A, b: 50 %", example=example if outcome is Outcome.BROKEN else None),
        check("attention.softmax.shift_invariance", Outcome.HELD, "1/3", "1/3"),
        check("attention.softmax.agrees_with_definition", hidden, 2 if hidden is Outcome.HELD else 0, 2, visibility="hidden", message="SECRET-MESSAGE", example=secret if hidden is Outcome.BROKEN else None),
        diagnosis=diagnosis,
    )  # fmt: skip


def text(outcome=Outcome.HELD, score=1, message=""):
    return item("why_positions", check("why_positions.person", outcome, score, 1, message=message), kind="text")


ALICE = submission("alice", softmax(Outcome.BROKEN, 0, hidden=Outcome.BROKEN, diagnosis="wrong axis"), text())
BOB = submission("bob", softmax(Outcome.UNJUDGED, None), text())
CAROL = submission("carol", softmax(), text(Outcome.MANUAL, 0))
DAVE = submission("dave", softmax(), text(message="Well put."))
ERIN = submission("erin", softmax(hidden=Outcome.BROKEN, diagnosis="secret mistake"), text())
HOSTILE = submission("=cmd|'/C calc'!A0,\"<script>\x1b[2J\udce9\uffff", softmax(Outcome.MISSING, 0), text())
EVERYBODY = (ALICE, BOB, CAROL, DAVE, ERIN, HOSTILE)


def asked(*results, **more):
    return Asked(results=results, texts=TEXTS, title="Sheet 4", rubric="r", seed=7, **more)


# ── Gradescope ──────────────────────────────────────────────────────────────────────────────────────────────────

VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}
TEXT_FORMATS = {"text", "html", "simple_format", "md", "ansi"}
TOP_KEYS = {
    "score": (int, float), "execution_time": (int, float), "output": str, "output_format": TEXT_FORMATS,
    "test_output_format": TEXT_FORMATS, "test_name_format": TEXT_FORMATS, "visibility": VISIBILITIES,
    "stdout_visibility": VISIBILITIES, "extra_data": dict, "tests": list, "leaderboard": list,
}  # fmt: skip
TEST_KEYS = {
    "score": (int, float), "max_score": (int, float), "status": {"passed", "failed"}, "name": str, "name_format": TEXT_FORMATS,
    "number": str, "output": str, "output_format": TEXT_FORMATS, "tags": list, "visibility": VISIBILITIES, "extra_data": dict,
}  # fmt: skip


def follows(record, rules):
    assert set(record) <= set(rules), set(record) - set(rules)
    for key, value in record.items():
        rule = rules[key]
        assert value in rule if isinstance(rule, set) else isinstance(value, rule), (key, value)
        assert not isinstance(value, bool), key


def read_gradescope(document):
    """Read a results.json by the specification; msgspec refuses NaN and lone surrogates."""
    record = msgspec.json.decode(document.encode("utf-8"))
    follows(record, TOP_KEYS)
    for test in record["tests"]:
        follows(test, TEST_KEYS)
        assert ("score" in test) == ("max_score" in test)
    assert "score" in record or all("score" in test for test in record["tests"])
    return record


def test_gradescope_scores_every_check_and_keeps_hidden_ones_until_marks_are_published():
    record = read_gradescope(gradescope(asked(ALICE)).files[""])
    assert record["score"] == pytest.approx(4 / 3)
    assert record["stdout_visibility"] == "hidden"
    tests = {test["name"]: test for test in record["tests"]}
    broken = tests["attention.softmax.rows_sum_to_one"]
    assert (broken["score"], broken["max_score"], broken["status"], broken["visibility"]) == (0, 1, "failed", "visible")
    for said in (
        "Every row sums to 1.",
        "softmax([1000.0])",
        "Hint: Subtract the maximum.",
        "This looks like: wrong axis",
    ):
        assert said in broken["output"]
    assert "Held for 100 inputs." in tests["attention.softmax.shift_invariance"]["output"]
    assert tests["attention.softmax.agrees_with_definition"]["visibility"] == "after_published"


def shown_before_publishing(record):
    """Return what a student sees: the top of the record, and the tests that are visible."""
    visible = [test for test in record["tests"] if test["visibility"] == "visible"]
    return json.dumps({**record, "tests": visible})


@pytest.mark.parametrize("result", [ALICE, CAROL, DAVE, ERIN, HOSTILE], ids=lambda result: result.id[:5])
def test_gradescope_shows_nothing_of_hidden_checks_before_publishing(result):
    shown = shown_before_publishing(read_gradescope(gradescope(asked(result)).files[""]))
    assert not [secret for secret in (*SECRETS, "secret mistake", "0.25, 1.5") if secret in shown]


def test_gradescope_gets_no_file_for_a_withheld_score():
    made = gradescope(asked(BOB))
    assert made.files == {"": None}
    assert made.left_out == [
        "bob: the grader failed on attention.softmax: the score is withheld until staff look at it"
    ]


def test_gradescope_shows_what_waits_for_a_person_without_a_score():
    record = read_gradescope(gradescope(asked(CAROL)).files[""])
    assert "score" not in record["tests"][-1]
    assert "wait for a person" in record["output"]
    assert record["score"] == pytest.approx(10 / 3)


def test_an_old_result_does_not_pass_for_a_withheld_one(tmp_path):
    _place(gradescope(asked(DAVE)), tmp_path / "results.json")
    assert read_gradescope((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert _place(gradescope(asked(with_id(BOB, "dave"))), tmp_path / "results.json") == []
    assert not list(tmp_path.iterdir())


def test_several_submissions_are_a_folder_of_files():
    files = gradescope(asked(*EVERYBODY)).files
    assert {"alice.json", "bob.json", "carol.json"} < set(files)
    assert all("/" not in name and not name.startswith(("=", ".")) for name in files)
    assert files["bob.json"] is None
    hostile = next(text for name, text in files.items() if name.startswith("%3D"))
    assert read_gradescope(hostile)["extra_data"]["submission"].endswith("\\udce9\uffff")


# ── PrairieLearn ────────────────────────────────────────────────────────────────────────────────────────────────


def read_prairielearn(document):
    """Read a results.json by the documentation of external grading."""
    assert len(document.encode("utf-8")) <= 1_000_000
    record = msgspec.json.decode(document.encode("utf-8"))
    if record.get("gradable", True):
        assert 0.0 <= record["score"] <= 1.0
        for test in record["tests"]:  # one test without both disables the display of all
            assert isinstance(test["points"], int | float)
            assert isinstance(test["max_points"], int | float)
            assert all(isinstance(test[key], str) for key in ("name", "description", "message", "output"))
    else:
        assert record["format_errors"]
        assert "score" not in record
    return record


def test_prairielearn_scores_from_zero_to_one_and_folds_hidden_checks():
    record = read_prairielearn(prairielearn(asked(ALICE)).files[""])
    assert record["score"] == pytest.approx(4 / 13)
    assert [(test["name"], test["points"], test["max_points"]) for test in record["tests"]] == [
        ("attention.softmax.rows_sum_to_one", 0, 1),
        ("attention.softmax.shift_invariance", 1 / 3, 1 / 3),
        ("attention.softmax.hidden_checks", 0, 2),
        ("why_positions.person", 1, 1),
    ]
    assert record["tests"][0]["message"].startswith("This looks like: wrong axis")
    assert "0 of 1 hidden checks held." in record["tests"][2]["output"]


@pytest.mark.parametrize(
    ("result", "why"), [(BOB, "The grader failed on attention.softmax"), (CAROL, "Why_positions waits for a person")]
)
def test_prairielearn_takes_no_attempt_where_there_is_no_final_score(result, why):
    made = prairielearn(asked(result))
    assert read_prairielearn(made.files[""])["format_errors"][0].startswith(why)
    assert len(made.left_out) == 1


def test_prairielearn_calls_what_cannot_be_read_not_gradable():
    empty = submission("zoe", softmax(Outcome.MISSING, 0, hidden=Outcome.MISSING), problems=("a.py: not a notebook",))
    empty = submission("zoe", item("a.b", check("a.b.c", Outcome.MISSING, 0, 1)), problems=empty.problems)
    assert read_prairielearn(prairielearn(asked(empty)).files[""])["format_errors"] == ["a.py: not a notebook"]


def test_prairielearn_stays_below_a_megabyte_and_above_no_maximum():
    long = Counterexample("f(" + "é" * 20_000 + ")", "1", "2")
    checks = [check(f"a.b.c{n}", Outcome.BROKEN, 0, 1, example=long) for n in range(300)]
    record = read_prairielearn(prairielearn(asked(submission("zoe", item("a.b", *checks)))).files[""])
    assert len(record["tests"]) == 300
    assert record["tests"][0]["output"].endswith(" …")
    extra = submission("zoe", item("a.b", check("a.b.c", Outcome.HELD, 3, 2)))
    assert read_prairielearn(prairielearn(asked(extra)).files[""])["score"] == 1.0


# ── Canvas ──────────────────────────────────────────────────────────────────────────────────────────────────────

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,Sheet 3 (88),Sheet 4 (99),Assignments Current Score,Current Score (2026)
,,,,,,,Manual Posting,,
    Points Possible,,,,,,10.00,4.33,(read only),(read only)
"Able, Alice",1001,S-1,alice,"A, b",+1 late,7.50,,70.00,1
"Bond, Bob",1002,S-2,bob@uni.example,One,,,3.25,,
"Cole, Carol",1003,S-3,carol,One,,,,,
"Dale, Dave",1004,S-4,d.dale@uni.example,One,,9.00,EX,,
"=Evil(""x""), Erin",1005,S-5,-erin,@One,-,,2.00,,
"Free, Fay",1006,S-6,fay,One,,,1.00,,
"""


def read_canvas(document, assignment):
    """Read a gradebook as Canvas' importer does: header, points, then students by ID; numbers with point or comma."""
    lines = document.removeprefix("\ufeff").splitlines()[:3]
    fields = {separator: {len(next(csv.reader([line], delimiter=separator))) for line in lines} for separator in ";,"}
    semicolon = len(fields[";"]) == 1 and max(fields[";"]) > (max(fields[","]) if len(fields[","]) == 1 else 0)
    rows = list(
        csv.reader(io.StringIO(document.removeprefix("\ufeff"), newline=""), delimiter=";" if semicolon else ",")
    )
    header = rows[0]
    assert len(header) > 3
    assert "Student" in header[0]
    assert "ID" in header[1]
    known = 3
    if re.match(r"SIS\s+Login\s+ID", header[2]):
        known = 4
    elif re.match(r"SIS\s+User\s+ID", header[2]) and re.match(r"SIS\s+Login\s+ID", header[3]):
        known = 5
    assert "Section" in header[known - 1]
    column = header.index(assignment)
    grades, most = {}, None
    for row in rows[1:]:
        assert len(row) == len(header)
        if "Points Possible" in row[0]:
            most = row[column]
        elif not all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.IGNORECASE) for cell in row):
            grade = row[column].strip()
            assert grade in ("", "EX", "N/A") or re.fullmatch(r"-?[0-9]+[.,][0-9]{2}", grade), grade
            grades[row[1] or row[known - 2] or row[0]] = grade
    return grades, most


def canvas_roster(folder, content=CANVAS):
    path = folder / "export.csv"
    path.write_text(content, encoding="utf-8")
    return path


def with_id(result, name):
    return SubmissionResult(name, result.status, result.score, result.max_score, result.items)


def cells(document, delimiter=","):
    return list(csv.reader(io.StringIO(document.removeprefix("\ufeff"), newline=""), delimiter=delimiter))


def test_canvas_fills_in_one_column_and_keeps_everything_else(tmp_path):
    results = (ALICE, with_id(DAVE, "bob"), with_id(ERIN, "1006"))
    made = canvas(asked(*results, roster=canvas_roster(tmp_path)))
    assert made.left_out == []
    grades, most = read_canvas(made.files[""], "Sheet 4 (99)")
    assert most == "4.33"
    assert grades == {"1001": "1.33", "1002": "4.33", "1003": "", "1004": "EX", "1005": "2.00", "1006": "2.33"}
    before, after = cells(CANVAS), cells(made.files[""])
    assert after[0] == before[0]
    changed = {
        (row, column)
        for row, cells_ in enumerate(before)
        for column, cell in enumerate(cells_)
        if after[row][column] != cell
    }
    # The one column, and the two cells of names that were formulas.
    assert changed == {(3, 7), (4, 7), (8, 7), (7, 0), (7, 4)}
    assert (after[7][0], after[7][4]) == ('\'=Evil("x"), Erin', "'@One")
    assert after[7][1:4] == ["1005", "S-5", "-erin"]  # ids stay what they are
    assert after[3][5] == "+1 late"  # Canvas would take an apostrophe back into its notes


def test_canvas_never_writes_a_score_that_is_not_final(tmp_path):
    made = canvas(asked(with_id(BOB, "1005"), CAROL, with_id(DAVE, "1004"), roster=canvas_roster(tmp_path)))
    grades, _ = read_canvas(made.files[""], "Sheet 4 (99)")
    assert (grades["1003"], grades["1004"], grades["1005"]) == ("", "EX", "2.00")
    assert [said.split(":")[0] for said in made.left_out] == ["1005", "carol", "1004"]


MATCHES = {
    "1001": 1001, "S-1": 1001, "alice": 1001, "ALICE": 1001, "Alice Able": 1001, "able_alice": 1001, "Able, Alice": 1001, "ablealice": 1001,
    "bob": 1002, "bob@uni.example": 1002, "d.dale": 1004, "-erin": 1005, "nobody": None, "alice~2": None, "": None,
}  # fmt: skip


@pytest.mark.parametrize("name", MATCHES)
def test_a_submission_is_matched_by_id_login_address_and_name(name, tmp_path):
    made = canvas(asked(with_id(DAVE, name), roster=canvas_roster(tmp_path, CANVAS.replace("EX", ""))))
    grades, _ = read_canvas(made.files[""], "Sheet 4 (99)")
    filled = [int(student) for student, grade in grades.items() if grade == "4.33"]
    assert filled == ([MATCHES[name]] if MATCHES[name] else [])
    assert bool(made.left_out) == (MATCHES[name] is None)


AMBIGUOUS = {
    "two of one name": (
        ("Alice Able",),
        '"Able, Alice",2001,T-1,a2,One,,,,,\n',
        "2 rows of the roster could be meant (4, 10)",
    ),
    "one's id is another's number": (
        ("1001",),
        '"New, Ned",2001,1001,ned,One,,,,,\n',
        "2 rows of the roster could be meant",
    ),
    "two addresses": (
        ("bob",),
        '"Bell, Bob",2001,T-1,bob@other.example,One,,,,,\n',
        "2 rows of the roster could be meant",
    ),
    "two submissions for one row": (("alice", "1001"), "", "could also be meant by"),
}


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_what_is_ambiguous_is_never_guessed(case, tmp_path):
    names, line, said = AMBIGUOUS[case]
    made = canvas(asked(*(with_id(DAVE, name) for name in names), roster=canvas_roster(tmp_path, CANVAS + line)))
    assert len(made.left_out) == len(names)
    assert all(said in each for each in made.left_out)
    grades, _ = read_canvas(made.files[""], "Sheet 4 (99)")
    assert "4.33" not in grades.values()


def handed_in_by(result, name, *students):
    return SubmissionResult(name, result.status, result.score, result.max_score, result.items, students=students)


def test_a_group_gets_its_score_in_every_row(tmp_path):
    group = handed_in_by(
        DAVE, "submission_7", Student("alice", "Alice Able"), Student("bob@uni.example", ""), Student("x", "Nobody")
    )
    made = canvas(asked(group, roster=canvas_roster(tmp_path)))
    grades, _ = read_canvas(made.files[""], "Sheet 4 (99)")
    assert [student for student, grade in grades.items() if grade == "4.33"] == ["1001", "1002"]
    assert made.left_out == ["submission_7 (Nobody): nobody in the roster has this id, login, address or name"]


def test_a_number_of_another_platform_does_not_outweigh_a_name(tmp_path):
    made = canvas(asked(handed_in_by(DAVE, "1001", Student("1001", "Bob Bond")), roster=canvas_roster(tmp_path)))
    assert made.left_out == ["1001: 2 rows of the roster could be meant (4, 5)"]
    assert "4.33" not in read_canvas(made.files[""], "Sheet 4 (99)")[0].values()


def test_canvas_roster_with_semicolons_and_a_byte_order_mark_comes_back_as_it_was(tmp_path):
    content = (
        "\ufeffStudent;ID;SIS Login ID;Section;Sheet 4 (99)\n    Points Possible;;;;4,33\nAble, Alice;1001;alice;One;\n"
    )
    made = canvas(asked(ALICE, roster=canvas_roster(tmp_path, content))).files[""]
    assert made.startswith("\ufeffStudent;ID;")
    assert read_canvas(made, "Sheet 4 (99)") == ({"1001": "1.33"}, "4,33")


def test_canvas_columns_are_named_when_they_are_not_clear(tmp_path):
    path = canvas_roster(tmp_path, CANVAS.replace("Sheet 4 (99)", "Homework (99)"))
    with pytest.raises(
        UsageError, match=r"no assignment 'Sheet 4'; say --column and one of: Sheet 3 \(88\), Homework \(99\)"
    ):
        canvas(asked(ALICE, roster=path))
    for name in ("Homework (99)", "Homework", "99"):
        assert (
            read_canvas(canvas(asked(ALICE, roster=path, column=name)).files[""], "Homework (99)")[0]["1001"] == "1.33"
        )
    with pytest.raises(UsageError, match="no column 'Homwork'; did you mean 'Homework'"):
        canvas(asked(ALICE, roster=path, column="Homwork"))


def test_points_are_scaled_only_when_asked(tmp_path):
    path = canvas_roster(tmp_path, CANVAS.replace("10.00,4.33", "10.00,100.00"))
    with pytest.raises(
        UsageError, match=r"the roster's maximum is 100, the rubric's 4.33\d*: make them equal, or say --scale"
    ):
        canvas(asked(ALICE, roster=path))
    assert read_canvas(canvas(asked(ALICE, roster=path, scale=True)).files[""], "Sheet 4 (99)")[0]["1001"] == "30.77"


def test_canvas_without_a_roster_is_the_least_it_imports():
    made = canvas(asked(*EVERYBODY))
    grades, most = read_canvas(made.files[""], "Sheet 4")
    assert most == "4.33"
    assert grades["alice"] == "1.33"
    assert not {"bob", "carol"} & set(grades)
    assert [said.split(":")[0] for said in made.left_out] == ["bob", "carol"]
    assert not is_formula(made.files[""])


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "Student,ID,Section,Notes\n"])
def test_what_is_no_gradebook_is_refused(content, tmp_path):
    with pytest.raises(UsageError):
        canvas(asked(ALICE, roster=canvas_roster(tmp_path, content)))


# ── Moodle ──────────────────────────────────────────────────────────────────────────────────────────────────────

MOODLE = """\
Identifier,"Full name","Email address",Status,Group,Grade,"Maximum Grade","Grade can be changed","Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 123456","Alice Able",alice@uni.example,"Submitted for grading",-,,4.33,Yes,"Monday, 16 November 2026, 11:51 AM",-,
"Participant 123457","Bob Bond",bob@uni.example,"Submitted for grading",+Group,2.00,4.33,Yes,"Monday, 16 November 2026, 11:51 AM","Monday, 16 November 2026, 11:52 AM","<p>kept</p>"
"Participant 123458","=Evil()",carol@uni.example,"No submission",-,,4.33,Yes,-,-,
"""


def read_moodle(document):
    """Read a worksheet as Moodle's importer does: UTF-8, commas, three columns by name, ids after `Participant `."""
    rows = list(csv.reader(io.StringIO(document, newline="")))
    place = {
        name: rows[0].index(name) for name in ("Identifier", "Grade", "Last modified (grade)", "Feedback comments")
    }
    read = {}
    for row in rows[1:]:
        assert row[place["Identifier"]].startswith("Participant ")
        grade = row[place["Grade"]]
        assert grade == "" or 0 <= float(grade) <= float(row[rows[0].index("Maximum Grade")])  # beyond it is dropped
        read[int(row[place["Identifier"]][len("Participant ") :])] = (
            grade,
            row[place["Last modified (grade)"]],
            row[place["Feedback comments"]],
        )
    return read


def moodle_sheet(folder, content=MOODLE):
    path = folder / "grades.csv"
    path.write_text(content, encoding="utf-8")
    return path


def test_moodle_fills_in_grades_and_feedback_and_keeps_everything_else(tmp_path):
    made = moodle(asked(with_id(ALICE, "123456"), roster=moodle_sheet(tmp_path)))
    assert made.left_out == []
    sheet = read_moodle(made.files[""])
    grade, modified, feedback = sheet[123456]
    assert (grade, modified) == ("1.33", "-")
    assert feedback.startswith(
        "1.33 of 4.33<br>attention.softmax: broken, 1 of 3 held, 0.33 of 3.33. This looks like: wrong axis."
    )
    assert sheet[123457] == ("2.00", "Monday, 16 November 2026, 11:52 AM", "<p>kept</p>")
    before, after = cells(MOODLE), cells(made.files[""])
    changed = {
        (row, column)
        for row, cells_ in enumerate(before)
        for column, cell in enumerate(cells_)
        if after[row][column] != cell
    }
    assert changed == {(1, 5), (1, 10), (2, 4), (3, 1)}
    assert (after[2][4], after[3][1]) == ("'+Group", "'=Evil()")


@pytest.mark.parametrize("name", ["Participant 123457", "123457", "bob@uni.example", "bob", "Bob Bond", "bob_bond"])
def test_moodle_rows_are_found_by_participant_address_and_name(name, tmp_path):
    made = moodle(asked(with_id(DAVE, name), roster=moodle_sheet(tmp_path)))
    assert {number: grade for number, (grade, *_) in read_moodle(made.files[""]).items()} == {
        123456: "",
        123457: "4.33",
        123458: "",
    }


def test_moodle_leaves_alone_what_is_not_final(tmp_path):
    made = moodle(asked(BOB, CAROL, roster=moodle_sheet(tmp_path)))
    sheet = read_moodle(made.files[""])
    assert sheet[123457] == ("2.00", "Monday, 16 November 2026, 11:52 AM", "<p>kept</p>")
    assert sheet[123458][0] == ""
    assert len(made.left_out) == 2


def test_moodle_feedback_tells_nothing_of_hidden_checks_and_is_harmless_html(tmp_path):
    odd = submission(
        "alice",
        item("a<b>", check("a<b>.c", Outcome.BROKEN, 0, 1), diagnosis="<script>"),
        softmax(hidden=Outcome.BROKEN),
    )
    sheet = moodle_sheet(tmp_path, MOODLE.replace("4.33", "4.3333333333"))
    made = moodle(asked(odd, ERIN, roster=sheet, scale=True))
    feedback = read_moodle(made.files[""])[123456][2]
    assert "<script>" not in feedback
    assert not [secret for secret in (*SECRETS, "secret mistake") if secret in made.files[""]]


def test_moodle_sheets_in_other_languages_name_their_grade(tmp_path):
    german = (
        MOODLE.replace("Identifier", "ID")
        .replace("Participant ", "Teilnehmer/in")
        .replace(',Grade,"Maximum Grade"', ",Bewertung,Bestwertung")
        .replace("4.33", '"100,00"')
    )
    with pytest.raises(UsageError, match="no column 'Grade'"):
        moodle(asked(ALICE, roster=moodle_sheet(tmp_path, german)))
    with pytest.raises(UsageError, match="the roster's maximum is 100"):
        moodle(asked(ALICE, roster=moodle_sheet(tmp_path, german), column="Bewertung"))
    made = moodle(
        asked(with_id(ALICE, "123456"), roster=moodle_sheet(tmp_path, german), column="Bewertung", scale=True)
    )
    assert cells(made.files[""])[1][5] == "30.77"


def test_moodle_needs_its_own_worksheet_with_points(tmp_path):
    with pytest.raises(UsageError, match="moodle needs --roster"):
        moodle(asked(ALICE))
    with pytest.raises(UsageError, match="is not a grading worksheet"):
        moodle(asked(ALICE, roster=moodle_sheet(tmp_path, "Name,Grade\nalice,1\n")))
    with pytest.raises(UsageError, match="scale of words"):
        moodle(asked(ALICE, roster=moodle_sheet(tmp_path, MOODLE.replace('"Maximum Grade"', "Scale"))))


# ── plain tables ────────────────────────────────────────────────────────────────────────────────────────────────


def is_formula(document):
    """Return the cells that a spreadsheet would compute; numbers and a lone dash it would not."""
    found = [cell for row in cells(document) for cell in row if cell.lstrip(" ").startswith(FORMULA_STARTS)]
    return [cell for cell in found if not re.fullmatch(r"[-+]?[\d.,]+|-", cell.strip())]


def test_the_plain_table_has_final_scores_only_and_says_why():
    made = table(asked(*EVERYBODY))
    header, *rows = cells(made.files[""])
    assert header == ["id", "status", "score", "max_score", "note", "attention.softmax", "why_positions"]
    by_id = {row[0]: row[1:] for row in rows}
    assert by_id["alice"] == ["graded", "1.3333333333333333", "4.333333333333333", "", "0.3333333333333333", "1"]
    assert by_id["bob"][:2] == ["withheld", ""]
    assert "the grader failed on attention.softmax" in by_id["bob"][3]
    assert by_id["carol"][:2] == ["waiting", ""]
    assert by_id["carol"][4:] == ["3.3333333333333335", ""]
    assert [said.split(":")[0] for said in made.left_out] == ["bob", "carol"]


@pytest.mark.parametrize("start", FORMULA_STARTS)
@pytest.mark.parametrize("make", [table, canvas])
def test_no_name_becomes_a_formula(start, make):
    document = make(asked(with_id(ALICE, f'{start}cmd(),"quoted"'))).files[""]
    assert not is_formula(document)
    assert any(cell == f'\'{start}cmd(),"quoted"' for row in cells(document) for cell in row)


# ── JUnit ───────────────────────────────────────────────────────────────────────────────────────────────────────

# The schema that Jenkins publishes (junit-10.xsd): children, required and optional attributes of each element.
JUNIT = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": ({"skipped", "error", "failure", "system-out", "system-err"}, {"name"}, {"time", "classname", "group"}),
    "failure": (set(), set(), {"type", "message"}),
    "error": (set(), set(), {"type", "message"}),
    "skipped": (set(), set(), {"type", "message"}),
}
MIXED = {"failure", "error", "skipped"}  # text is allowed in these only


def read_junit(document):
    """Read a report by the schema; the counts must be those of what is inside."""
    root = SafeET.fromstring(document.encode("utf-8"))
    assert root.tag == "testsuites"
    for element in root.iter():
        children, required, optional = JUNIT[element.tag]
        assert {child.tag for child in element} <= children
        assert required <= set(element.attrib) <= required | optional
        assert element.tag in MIXED or not (element.text or "").strip()
    for suite in [root, *root.iter("testsuite")]:
        assert int(suite.attrib["tests"]) == len(list(suite.iter("testcase")))
        for count, tag in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
            if count in suite.attrib:
                assert int(suite.attrib[count]) == len(list(suite.iter(tag)))
    assert ET.fromstring(document.encode("utf-8")).attrib == root.attrib
    return root


def test_junit_tells_failures_errors_and_what_was_not_tried():
    made = junit(asked(*EVERYBODY))
    root = read_junit(made.files[""])
    suites = {suite.attrib["name"]: suite for suite in root}
    assert len(suites) == len(EVERYBODY)
    kinds = {name: [[child.tag for child in case] for case in suite.iter("testcase")] for name, suite in suites.items()}
    assert kinds["alice"] == [["failure"], [], ["failure"], []]
    assert kinds["bob"] == [["error"], [], [], []]
    assert kinds["carol"] == [[], [], [], ["skipped"]]
    facts = {
        name: {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")} for name, suite in suites.items()
    }
    assert facts["alice"]["score"] == "1.33"
    assert "score" not in facts["bob"]
    assert "score" not in facts["carol"]
    assert "withheld" in facts["bob"]["unfinished"]
    failure = next(suites["alice"].iter("failure"))
    assert (failure.attrib["type"], failure.attrib["message"]) == ("broken", "A, b: 50 %")
    assert "This looks like: wrong axis" in failure.text
    assert [said.split(":")[0] for said in made.left_out] == ["bob"]


# ── GitHub ──────────────────────────────────────────────────────────────────────────────────────────────────────


def read_annotations(document):
    """Read workflow commands as GitHub's runner does: one a line, properties and data unescaped apart."""
    read = []
    for line in document.split("\n")[:-1]:
        command = re.fullmatch(r"::(error|warning|notice) (.*?)::(.*)", line)
        assert command, line
        properties = {}
        for pair in command[2].split(","):
            name, _, value = pair.partition("=")
            assert name in ("file", "line", "title")
            for escape, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
                value = value.replace(escape, letter)
            properties[name] = value
        data = command[3].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
        read.append((command[1], properties, data))
    return read


def test_github_annotates_what_did_not_hold_on_one_line_each():
    made = github(asked(*EVERYBODY))
    read = read_annotations(made.files[""])
    assert ("notice", {"title": "alice"}, "1.33 of 4.33") in read
    assert [level for level, said, _ in read if said["title"].startswith(("attention", "why"))] == [
        "error", "error", "warning", "notice", "error", "warning",
    ]  # fmt: skip
    first = next(data for level, _, data in read if level == "error")
    assert "50 % of\n" in first
    assert "::error::x" in first  # within the data of another command, where it commands nothing
    assert next(data for _, said, data in read if said["title"] == "bob").startswith("– of 4.33: the grader failed")
    assert made.left_out


def test_github_names_the_line(tmp_path):
    (tmp_path / "attention.py").write_text(
        "import numpy as np\n\n\ndef softmax(x, axis=-1):\n    return x\n\n\n\n", encoding="utf-8"
    )
    (tmp_path / "answers.toml").write_text('[text]\nwhy_positions = "x"\n', encoding="utf-8")
    result = submission("alice", *ALICE.items[:1], text(Outcome.BROKEN, 0, "No."))
    read = read_annotations(github(asked(result, source=tmp_path)).files[""])
    places = [(Path(said["file"]).name, said["line"]) for _, said, _ in read if "file" in said]
    # The line that raised, the function itself where none did, the answer.
    assert places == [("attention.py", "7"), ("attention.py", "4"), ("answers.toml", "2")]
    with pytest.raises(UsageError, match="--source is where one submission lies"):
        github(asked(ALICE, DAVE, source=tmp_path))


# ── all of them ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("make", [github, junit, prairielearn], ids=lambda make: make.__name__)
@pytest.mark.parametrize("result", [ALICE, CAROL, DAVE, ERIN], ids=lambda result: result.id)
def test_what_students_see_at_once_tells_nothing_of_hidden_checks(make, result):
    document = make(asked(result)).files[""]
    assert not [secret for secret in (*SECRETS, "secret mistake", "0.25, 1.5") if secret in document]


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"moodle"}))
def test_the_same_results_give_the_same_bytes_in_utf8(name):
    files = FORMATS[name].make(asked(*EVERYBODY)).files
    assert files == FORMATS[name].make(asked(*EVERYBODY)).files
    assert all(document.encode("utf-8") for document in files.values() if document is not None)


def test_the_command_knows_every_format():
    assert sorted(EXPORTS) == sorted([*FORMATS, AUTOGRADER])


# ── the command, from a real run ────────────────────────────────────────────────────────────────────────────────

ITEMS = ("why_positions", "dot_product_mean", "die_entropy")
ANSWERS = """
[expression]
dot_product_mean = "{mean}"
[number]
die_entropy = 2.585
"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade alice and bob, whose texts wait for a person, and return the folder and what commands are called with."""
    folder = tmp_path_factory.mktemp("exports")
    for name, mean in (("alice", "mu'mu"), ("bob", "mu mu'")):
        (folder / "class" / name).mkdir(parents=True)
        (folder / "class" / name / "answers.toml").write_text(ANSWERS.format(mean=mean), encoding="utf-8")
    with (folder / "class" / "bob" / "answers.toml").open("a", encoding="utf-8") as file:
        file.write('[text]\nwhy_positions = "Attention does not see the order of its input."\n')
    options = ["--out", str(folder / "graded"), *(word for name in ITEMS for word in ("--only", name))]
    assert main(["grade", str(folder / "class"), "--jobs", "1", *options]) == 0
    return folder, options


def test_exports_come_from_the_gradebook_with_marks_laid_over(graded, capsys):
    folder, options = graded
    assert main(["export", "--format", "csv", *options]) == 1
    said = capsys.readouterr()
    path = folder / "graded" / "export" / "csv.csv"
    assert said.out == f"{path}\n"
    assert said.err == "left out: bob: why_positions waits for a person: the score is not final\n"
    assert cells(path.read_text(encoding="utf-8"))[2][:3] == ["bob", "waiting", ""]
    (folder / "marks.csv").write_text("submission,item,score\nbob,why_positions,2.5\n", encoding="utf-8")
    assert main(["mark", str(folder / "marks.csv"), *options]) == 0
    capsys.readouterr()
    assert main(["export", "--format", "csv", "--json", *options]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": [str(path)], "left_out": []}
    record = json.loads((folder / "graded" / "results.json").read_text(encoding="utf-8"))["submissions"][1]
    row = cells(path.read_text(encoding="utf-8"))[2]
    assert (row[1], float(row[2])) == ("graded", record["score"])


def test_the_command_writes_files_folders_and_annotations(graded, capsys):
    folder, options = graded
    assert main(["export", "--format", "gradescope", "--to", str(folder / "uploads"), *options]) in (0, 1)
    assert sorted(path.name for path in (folder / "uploads").iterdir()) == ["alice.json", "bob.json"]
    read_gradescope((folder / "uploads" / "alice.json").read_text(encoding="utf-8"))
    capsys.readouterr()
    assert main(["export", "--format", "github", *options]) in (0, 1)
    assert read_annotations(capsys.readouterr().out)
    assert main(["export", "--format", "junit", "--to", str(folder / "junit.xml"), *options]) in (0, 1)
    read_junit((folder / "junit.xml").read_text(encoding="utf-8"))


def test_an_unmatched_submission_is_said_and_fails_the_command(graded, capsys):
    folder, options = graded
    roster = canvas_roster(folder, 'Student,ID,SIS Login ID,Section,Hw (1)\n"Able, Alice",1001,alice,One,\n')
    assert (
        main(["export", "--format", "canvas", "--roster", str(roster), "--to", str(folder / "canvas.csv"), *options])
        == 1
    )
    assert "left out: bob: nobody in the roster has this id, login, address or name" in capsys.readouterr().err
    grades, _ = read_canvas((folder / "canvas.csv").read_text(encoding="utf-8"), "Hw (1)")
    assert grades["1001"] not in ("", "0.00")


def test_wrong_usage_is_said_in_one_sentence(graded, capsys):
    folder, options = graded
    for words, said in (
        (["--format", "junit", "--roster", "x.csv"], "--roster is for canvas and moodle"),
        (["--format", "canvas", "--roster", str(folder / "absent.csv")], "cannot be read"),
        (["--format", "csv", "--seed", "5"], "was graded with another rubric, seed or version"),
        (["--format", "csv", "--to", str(folder / "marks.csv" / "x")], "cannot be written"),
    ):
        assert main(["export", *words, *options]) == 2
        assert said in capsys.readouterr().err
    assert main(["export", "--format", "csv", "--out", str(folder / "nothing")]) == 2


# ── Gradescope's zip, run for real ──────────────────────────────────────────────────────────────────────────────

SOFTMAX = """
import numpy as np
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis={axis}, keepdims=True))
    return weights / weights.sum(axis={axis}, keepdims=True)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Unpack the zip as Gradescope does: its files in source/, run_autograder beside it."""
    folder = tmp_path_factory.mktemp("gradescope")
    words = ["--only", "attention.softmax", "--examples", "10", "--to", str(folder / "autograder.zip")]
    assert main(["export", "--format", "gradescope-zip", *words]) == 0
    with zipfile.ZipFile(folder / "autograder.zip") as archive:
        assert archive.testzip() is None
        archive.extractall(folder / "home" / "source")
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    assert modes["run_autograder"] & 0o111
    assert modes["setup.sh"] & 0o111
    shutil.copy(folder / "home" / "source" / "run_autograder", folder / "home" / "run_autograder")
    return folder / "home"


def run_autograder(home, files, **environment):
    shutil.rmtree(home / "submission", ignore_errors=True)
    (home / "submission").mkdir()
    for name, content in files.items():
        (home / "submission" / name).write_text(content, encoding="utf-8")
    for name, target in environment.pop("links", {}).items():
        (home / "submission" / name).symlink_to(target)
    given = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    given |= {"AUTOGRADER_HOME": str(home), "AUTOGRADER_PYTHON": sys.executable, **environment}
    return subprocess.run(
        ["bash", home / "run_autograder"], cwd=home, env=given, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_autograder_grades_a_submission_in_an_empty_folder(home):
    # Two loose files of other names are still one student's.
    done = run_autograder(home, {"mine.py": SOFTMAX.format(axis="axis"), "other.py": "x = 1\n"})
    assert done.returncode == 0, done.stderr
    record = read_gradescope((home / "results" / "results.json").read_text(encoding="utf-8"))
    assert record["score"] == record["extra_data"]["max_score"] == 7.0
    assert (home / "source" / "engine" / "__pycache__").is_dir(), "the engine that ran was not the one in the zip"
    assert "agrees_with_definition" not in done.stdout + done.stderr
    done = run_autograder(home, {"attention.py": SOFTMAX.format(axis="0")})
    assert done.returncode == 0, done.stderr
    record = read_gradescope((home / "results" / "results.json").read_text(encoding="utf-8"))
    assert 0 < record["score"] < 7
    assert not [secret for secret in ("agrees_with_definition",) if secret in shown_before_publishing(record)]


@pytest.mark.slow
def test_a_link_to_the_reference_is_no_answer(home):
    done = run_autograder(home, {}, links={"attention.py": home / "source" / "reference" / "attention.py"})
    assert done.returncode == 0, done.stderr
    record = read_gradescope((home / "results" / "results.json").read_text(encoding="utf-8"))
    assert record["score"] == 0
    assert "links are not followed" in record["output"]


def test_a_run_that_fails_leaves_no_result_of_the_one_before(home):
    (home / "results").mkdir(exist_ok=True)
    (home / "results" / "results.json").write_text('{"score": 7}', encoding="utf-8")
    done = run_autograder(home, {"attention.py": ""}, AUTOGRADER_OPTIONS="--no-such-option")
    assert done.returncode == 2
    assert not (home / "results" / "results.json").exists()


def test_the_zip_is_the_same_bytes_each_time_and_holds_what_is_needed(tmp_path):
    for name in ("one.zip", "two.zip"):
        assert main(["export", "--format", "gradescope-zip", "--to", str(tmp_path / name)]) == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        names = set(archive.namelist())
        setup = archive.read("setup.sh").decode()
        wanted = {line.split(">")[0] for line in archive.read("requirements.txt").decode().splitlines()}
        pinned = {line.split("==")[0].lower() for line in archive.read("constraints.txt").decode().splitlines()}
    assert {
        "setup.sh",
        "run_autograder",
        "rubric.toml",
        "grader.py",
        "reference/attention.py",
        "engine/report/overview.html",
    } <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests/", "submissions/", "."))]
    assert wanted <= pinned
    subprocess.run(["bash", "-n"], input=setup, text=True, check=True)
