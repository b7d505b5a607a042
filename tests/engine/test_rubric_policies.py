"""What a rubric adds to plain points: late policies, bonus points, and several assignments side by side."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from engine.commands import main
from engine.exports.canvas import canvas
from engine.exports.gradescope import gradescope
from engine.exports.moodle import moodle
from engine.exports.prairielearn import prairielearn
from engine.exports.record import Asked
from engine.exports.seen import for_students
from engine.feedback import item_points, paint, submission_feedback
from engine.late import Late, adjusted, moment
from engine.records import CheckResult, ItemResult, Outcome, Status, Student, SubmissionResult, Verdict
from engine.results import gradebook_csv, results_json

ROOT = Path(__file__).resolve().parents[2]
SOFTMAX = (ROOT / "submissions" / "examples" / "right_numpy" / "attention.py").read_text(encoding="utf-8")
DEADLINE = datetime.fromisoformat("2026-11-01T23:59:00+01:00")


def result(score, most=40, **more):
    check = CheckResult(
        Verdict("attention.softmax.law", Outcome.HELD, examples=1), Fraction(score), Fraction(most), "public"
    )
    item = ItemResult("attention.softmax", "code", Outcome.HELD, Fraction(score), Fraction(most), (check,))
    return SubmissionResult("alice", Status.GRADED, Fraction(score), Fraction(most), (item,), **more)


# ── late ────────────────────────────────────────────────────────────────────────────────────────────────────────

TENTH = Fraction(1, 10)
BY_DAY = Late(TENTH, is_share=True, per="day", deadline=DEADLINE)
LATE = {
    "in time": (BY_DAY, "2026-11-01 22:58:59 Z", False, 30, ""),
    "a minute late is a day": (BY_DAY, "2026-11-01 23:00:00 Z", False, 26, "Handed in 1 minute late: 10 % of the maximum for one day begun. Deducted: 4 points."),
    "a day and a minute is two": (BY_DAY, "2026-11-02 23:00:00 Z", False, 22, "for each of 2 days begun. Deducted: 8 points."),
    "without a zone it is the deadline's": (BY_DAY, "2026-11-02 00:59:00", False, 26, "Handed in 1 hour late"),
    "of the score": (Late(TENTH, is_share=True, of="score", deadline=DEADLINE), "2026-11-02 00:59:00", False, 27, "10 % of the score. Deducted: 3 points."),
    "points by the hour": (Late(Fraction(3, 2), is_share=False, per="hour", deadline=DEADLINE), "2026-11-02 02:00:00", False, Fraction(51, 2), "1.5 points for each of 3 hours begun. Deducted: 4.5 points."),
    "no more than the cap": (Late(TENTH, is_share=True, per="day", cap=Fraction(1, 4), deadline=DEADLINE), "2026-11-30 00:00:00", False, 20, "at most 25 % of the maximum. Deducted: 10 points."),
    "never below zero": (Late(Fraction(100), is_share=False, deadline=DEADLINE), "2026-11-30 00:00:00", False, 0, "Deducted: 30 points."),
    "within the grace": (Late(TENTH, is_share=True, grace=timedelta(minutes=15), deadline=DEADLINE), "2026-11-02 00:14:00", False, 30, ""),
    "beyond the grace": (Late(TENTH, is_share=True, grace=timedelta(minutes=15), deadline=DEADLINE), "2026-11-02 00:14:01", False, 26, "Handed in 16 minutes late"),
    "only a flag, once": (Late(TENTH, is_share=True), "", True, 26, "Handed in late: 10 % of the maximum. Deducted: 4 points."),
    "only a flag, by the day": (BY_DAY, "", True, 26, "The platform does not tell by how much, so one day counts."),
    "a time that cannot be read leaves the flag": (BY_DAY, "yesterday", True, 26, "so one day counts"),
    "a time is believed before a flag": (BY_DAY, "2026-11-01 12:00:00", True, 30, ""),
    "no flag, no time": (BY_DAY, "", False, 30, ""),
}  # fmt: skip


@pytest.mark.parametrize(("policy", "at", "late", "score", "says"), LATE.values(), ids=LATE.keys())
def test_a_deduction_is_exact_and_said(policy, at, late, score, says):
    after = adjusted(result(30, late=late, handed_in=at), policy)
    assert after.score == Fraction(score)
    assert isinstance(after.score, Fraction)
    assert [says in each.note for each in after.adjustments] == ([True] if says else [])
    assert sum(each.points for each in after.adjustments) == after.score - 30


def test_shares_are_exact_fractions():
    assert adjusted(
        result(Fraction(1, 3), late=True), Late(Fraction(1, 3), is_share=True, of="score")
    ).score == Fraction(2, 9)


def test_who_is_excused_by_submission_or_student_loses_nothing_and_it_is_said():
    for excused, students in (("alice", ()), ("1001", (Student("1001", "Alice"),))):
        after = adjusted(
            result(30, late=True, students=students), Late(TENTH, is_share=True, excused=frozenset({excused}))
        )
        assert after.score == 30
        assert "excused" in after.adjustments[0].note


def test_a_withheld_score_has_nothing_taken_off():
    withheld = SubmissionResult("alice", Status.WITHHELD, None, Fraction(40), (), late=True)
    assert adjusted(withheld, Late(TENTH, is_share=True)) == withheld


def test_no_policy_changes_nothing():
    late = result(30, late=True)
    assert adjusted(late, None) is late
    assert "adjustments" not in results_json([late], rubric="r", seed=0)
    assert "adjustment" not in gradebook_csv([late])


@pytest.mark.parametrize("written", ["", "soon", "2026-13-01 10:00:00", "2026-11-01 25:00:00 Z", "!ruby/object"])
def test_what_is_no_time_is_none(written):
    assert moment(written, DEADLINE) is None


def canvas_download(folder):
    folder.mkdir()
    (folder / "lovelacealice_LATE_1001_70001_attention.py").write_text(SOFTMAX, encoding="utf-8")
    (folder / "hopperbob_1002_70002_attention.py").write_text(SOFTMAX, encoding="utf-8")
    return folder


RUBRIC = """
[item."attention.softmax"]
rows_sum_to_one = { points = 6, visibility = "public" }
shift_invariance = { points = 2, visibility = "hidden", bonus = true }
[item.why_positions]
person = { points = 4, visibility = "hidden" }
"""
POLICY = "[late]\nshare = 0.25\n"


def graded(tmp_path, text, folder, *more):
    path = tmp_path / "rubric.toml"
    path.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    assert (
        main(["grade", str(folder), "--rubric", str(path), "--out", str(out), "--jobs", "1", "--examples", "8", *more])
        == 0
    )
    return {row["id"]: row for row in json.loads((out / "results.json").read_text(encoding="utf-8"))["submissions"]}


def stored(out):
    with closing(sqlite3.connect(out / "gradebook.sqlite")) as connection:
        return connection.execute("SELECT rowid, id FROM results ORDER BY rowid").fetchall()


def test_late_from_a_download_to_the_gradebook_and_an_excuse_grades_nobody_anew(tmp_path, capsys):
    folder = canvas_download(tmp_path / "class")
    rows = graded(tmp_path, POLICY + RUBRIC, folder)
    assert (rows["1001"]["score"], rows["1002"]["score"]) == (5.5, 8.0)  # 6 and the bonus; a quarter of 10 less
    assert rows["1001"]["max_score"] == 10.0
    assert rows["1001"]["adjustments"] == [
        {"reason": "late", "points": -2.5, "note": "Handed in late: 25 % of the maximum. Deducted: 2.5 points."}
    ]
    assert "adjustments" not in rows["1002"]
    table = list(csv.DictReader(io.StringIO((tmp_path / "out" / "gradebook.csv").read_text(encoding="utf-8"))))
    assert [(row["id"], row["score"], row["adjustment"]) for row in table] == [
        ("1001", "5.5", "-2.5"),
        ("1002", "8", "0"),
    ]
    before = stored(tmp_path / "out")
    excused = graded(tmp_path, POLICY + 'excused = ["1001"]\n' + RUBRIC, folder)
    assert excused["1001"]["score"] == 8.0
    assert excused["1001"]["adjustments"][0]["points"] == 0.0
    assert stored(tmp_path / "out") == before
    capsys.readouterr()


def test_a_mark_that_comes_later_is_under_the_policy_too(tmp_path, capsys):
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "lovelacealice_LATE_1001_70001_answers.toml").write_text(
        '[text]\nwhy_positions = "Because."\n', encoding="utf-8"
    )
    (folder / "hopperbob_1002_70002_attention.py").write_text(SOFTMAX, encoding="utf-8")
    assert graded(tmp_path, POLICY + RUBRIC, folder)["1001"]["score"] == 0.0  # waits: there is nothing to take from yet
    (tmp_path / "marks.csv").write_text("submission,item,score\n1001,why_positions,4\n", encoding="utf-8")
    options = ["--rubric", str(tmp_path / "rubric.toml"), "--out", str(tmp_path / "out"), "--examples", "8"]
    assert main(["mark", str(tmp_path / "marks.csv"), *options]) == 0
    rows = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))["submissions"]
    assert rows[0]["score"] == 1.5
    assert main(["export", "--format", "csv", *options]) == 0
    exported = (tmp_path / "out" / "export" / "csv.csv").read_text(encoding="utf-8")
    assert "late; Handed in late: 25 % of the maximum. Deducted: 2.5 points." in exported
    capsys.readouterr()


def test_gradescope_tells_when_and_days_are_counted(tmp_path, capsys):
    folder = tmp_path / "export"
    for number in (3001, 3002):
        (folder / f"submission_{number}").mkdir(parents=True)
        (folder / f"submission_{number}" / "attention.py").write_text(SOFTMAX, encoding="utf-8")
    rows = "".join(
        f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{number}'\n  :created_at: {at}\n  :score: 1.0\n"
        for number, name, at in (
            (3001, "Alice", "2026-11-03 10:00:00.861687000 Z"),
            (3002, "Bob", "2026-11-01 22:00:00.0 Z"),
        )
    )
    (folder / "submission_metadata.yml").write_text(f"---\n{rows}", encoding="utf-8")
    policy = '[late]\npoints = 1\nper = "day"\ndeadline = 2026-11-01T23:59:00+01:00\n'
    found = graded(tmp_path, policy + RUBRIC, folder)
    assert found["submission_3001"]["adjustments"][0]["points"] == -2.0
    assert "1 day 11 hours late: 1 point for each of 2 days begun" in found["submission_3001"]["adjustments"][0]["note"]
    assert "adjustments" not in found["submission_3002"]
    capsys.readouterr()


# ── bonus ───────────────────────────────────────────────────────────────────────────────────────────────────────


def with_bonus(name="alice"):
    def check(law, score, most, *, bonus, visibility="public"):
        verdict = Verdict(f"attention.softmax.{law}", Outcome.HELD if score else Outcome.BROKEN, examples=1)
        return CheckResult(verdict, Fraction(score), Fraction(most), visibility, bonus)

    checks = (
        check("rows_sum_to_one", 5, 5, bonus=False),
        check("shift_invariance", 2, 2, bonus=True, visibility="hidden"),
        check("any_axis", 0, 1, bonus=True),
    )
    item = ItemResult("attention.softmax", "code", Outcome.BROKEN, Fraction(7), Fraction(5), checks)
    return SubmissionResult(name, Status.GRADED, Fraction(7), Fraction(5), (item,))


def test_bonus_is_told_apart_from_points():
    text = submission_feedback(with_bonus(), {})
    assert "7 of 5" in text.splitlines()[0]
    assert "2 of 3 bonus points are in this score." in text
    assert "5 of 5 + 2 of 3 bonus" in text
    assert "0 of 1 bonus" in text
    assert paint(text, colour=True).count("\x1b[31m") == 1  # the item's words, as without a bonus
    assert item_points(for_students(with_bonus()).items[0]) == "5 of 5 + 2 of 3 bonus"


def test_checks_say_in_results_that_they_are_a_bonus_and_no_other_does():
    (row,) = json.loads(results_json([with_bonus()], rubric="r", seed=0))["submissions"]
    assert (row["score"], row["max_score"]) == (7.0, 5.0)
    assert [check.get("bonus") for check in row["items"][0]["checks"]] == [None, True, True]


def test_each_export_takes_a_score_above_the_maximum_as_its_system_does(tmp_path):
    (tmp_path / "moodle.csv").write_text(
        'Identifier,"Full name",Grade,"Maximum Grade","Last modified (grade)","Feedback comments"\n'
        "Participant 1,alice,,5.00,-,\n", encoding="utf-8",
    )  # fmt: skip
    (tmp_path / "canvas.csv").write_text(
        "Student,ID,SIS Login ID,Section,Sheet (7)\n    Points Possible,,,,5.00\nAlice,1,alice,A,\n", encoding="utf-8"
    )
    asked = {"results": [with_bonus()], "texts": {}, "title": "Sheet"}
    filled = moodle(Asked(**asked, roster=tmp_path / "moodle.csv"))
    assert "alice,5.00,5.00" in filled.files[""]
    assert any("7.00 is above the maximum, so 5.00 is filled in" in said for said in filled.told)
    assert "Alice,1,alice,A,7.00" in canvas(Asked(**asked, roster=tmp_path / "canvas.csv")).files[""]
    assert json.loads(prairielearn(Asked(**asked)).files[""])["score"] == 1.0
    record = json.loads(gradescope(Asked(**asked)).files[""])
    assert record["score"] == 7.0
    assert [test["name"] for test in record["tests"]][1] == "attention.softmax.shift_invariance (bonus)"
    assert "2 of 3 bonus points" in record["output"]


# ── several assignments ─────────────────────────────────────────────────────────────────────────────────────────

SHEETS = {
    "one": """
title = "Sheet 1"
examples = 8
[late]
points = 1
[item."attention.softmax"]
rows_sum_to_one = { points = 3, visibility = "public" }
""",
    "two": """
title = "Sheet 2"
examples = 9
[limits]
call_seconds = 2
[item."attention.softmax"]
rows_sum_to_one = { points = 5, visibility = "hidden" }
[item."attention.causal_mask"]
bonus = true
past_is_visible = { points = 1, visibility = "public" }
[item.dot_product_mean]
reads = { points = 1, visibility = "public" }
""",
}


def test_two_assignments_of_one_class_live_side_by_side(tmp_path, capsys):
    folder = canvas_download(tmp_path / "class")
    rubrics = {name: tmp_path / f"{name}.toml" for name in SHEETS}
    for name, path in rubrics.items():
        path.write_text(SHEETS[name], encoding="utf-8")
        options = ["--rubric", str(path), "--out", str(tmp_path / name)]
        assert main(["grade", str(folder), *options, "--jobs", "1"]) == 0
        assert main(["export", "--format", "csv", *options]) == 0
        assert main(["handout", str(tmp_path / f"homework-{name}"), "--rubric", str(path)]) == 0
        assert main(["list", "--rubric", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "attention.causal_mask                      1 checks  0 points + 1 bonus" in printed
    tables = {
        name: {row["id"]: row for row in csv.DictReader(io.StringIO((tmp_path / name / "export" / "csv.csv").read_text(encoding="utf-8")))}
        for name in SHEETS
    }  # fmt: skip
    assert (tables["one"]["1001"]["score"], tables["one"]["1002"]["score"], tables["one"]["1002"]["max_score"]) == (
        "2",
        "3",
        "3",
    )
    assert (tables["two"]["1001"]["score"], tables["two"]["1002"]["score"], tables["two"]["1002"]["max_score"]) == (
        "6",
        "6",
        "6",
    )
    examples = {
        name: json.loads((tmp_path / name / "results.json").read_text(encoding="utf-8"))["submissions"][0]["items"][0]["checks"][0]["examples"]
        for name in SHEETS
    }  # fmt: skip
    assert examples == {"one": 8, "two": 9}
    stubs = {name: (tmp_path / f"homework-{name}" / "attention.py").read_text(encoding="utf-8") for name in SHEETS}
    assert ["causal_mask" in stubs[name] for name in SHEETS] == [False, True]
    assert all("def softmax(" in text and "multi_head_attention" not in text for text in stubs.values())
    assert "dot_product_mean" in (tmp_path / "homework-two" / "answers.toml").read_text(encoding="utf-8")
    assert "dot_product_mean" not in (tmp_path / "homework-one" / "answers.toml").read_text(encoding="utf-8")
