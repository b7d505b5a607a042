"""The command line as programs see it: exit codes, streams, JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "submissions" / "examples"
QUICK = ["--only", "attention.softmax", "--examples", "10"]


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, str(ROOT / "grader.py"), *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_grade_writes_what_the_contract_names(tmp_path):
    done = run("grade", EXAMPLES / "right_numpy", EXAMPLES / "softmax_over_the_wrong_axis", "--out", tmp_path, *QUICK)
    assert done.returncode == 0, done.stderr
    assert "right_numpy" in done.stdout
    assert "7 of 7" in done.stdout
    assert "lock-down: " in done.stderr
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert set(results) == {"schema", "rubric", "seed", "submissions"}
    item = results["submissions"][1]["items"][0]
    assert item["id"] == "attention.softmax"
    assert item["outcome"] == "broken"
    assert item["diagnosis"] == "softmax over the wrong axis"
    assert (
        (tmp_path / "gradebook.csv")
        .read_text(encoding="utf-8")
        .startswith("id,status,score,max_score,attention.softmax")
    )
    assert "<html" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_grade_json_prints_the_results_file_and_nothing_else(tmp_path):
    done = run("grade", EXAMPLES / "right_numpy", "--out", tmp_path, "--json", *QUICK)
    assert done.stdout == (tmp_path / "results.json").read_text(encoding="utf-8")


def test_check_runs_public_checks_only_and_fails_when_one_fails():
    right = run("check", EXAMPLES / "right_numpy", *QUICK)
    wrong = run("check", EXAMPLES / "softmax_over_the_wrong_axis", *QUICK)
    assert right.returncode == 0, right.stderr
    assert "agrees_with_definition" not in right.stdout + wrong.stdout
    assert wrong.returncode == 1
    assert "This looks like: softmax over the wrong axis." in wrong.stdout
    assert "\x1b" not in wrong.stdout


def test_list_and_explain_tell_what_there_is():
    listed = run("list")
    assert listed.returncode == 0
    assert "attention.softmax" in listed.stdout
    rows = json.loads(run("list", "--json").stdout)
    assert all(check["claim"] and check["hint"] for row in rows for check in row["checks"])
    explained = run("explain", "attention.softmax.shift_invariance")
    assert "Adding one number to every logit of a row" in explained.stdout
    assert "softmax(x, axis=-1)" in explained.stdout


WRONG_USAGE = {
    "no such path": (["grade", "nowhere"], "nowhere"),
    "no such id": (["explain", "attention.sofmax"], "did you mean attention.softmax"),
    "no such item": (["grade", str(EXAMPLES / "right_numpy"), "--only", "attention.sofmax"], "did you mean attention.softmax"),
    "no such rubric": (["grade", str(EXAMPLES / "right_numpy"), "--rubric", "no.toml"], "no.toml cannot be read"),
    "no such command": (["mark-everything"], "invalid choice"),
    "no jobs": (["grade", str(EXAMPLES / "right_numpy"), "--jobs", "0"], "0 is not at least 1"),
    "several for check": (["check", str(EXAMPLES)], "check takes one, grade takes many"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), WRONG_USAGE.values(), ids=WRONG_USAGE.keys())
def test_wrong_usage_is_exit_code_2_and_one_sentence(arguments, says, tmp_path):
    if arguments[0] == "grade":
        arguments = [*arguments, "--out", str(tmp_path / "out")]
    done = run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_folder_is_wrong_usage(tmp_path):
    (tmp_path / "empty").mkdir()
    done = run("grade", tmp_path / "empty", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "empty" in done.stderr


RUBRICS = {
    "not TOML": ("[item", "is not valid TOML"),
    "unknown check": ('[item."attention.softmax"]\nrows_sum_to_two = { points = 1, visibility = "public" }', "did you mean attention.softmax.rows_sum_to_one"),
    "points missing": ('[item."attention.softmax"]\nrows_sum_to_one = { visibility = "public" }', "needs points and visibility"),
    "negative points": ('[item."attention.softmax"]\nrows_sum_to_one = { points = -1, visibility = "public" }', "at least 0, not -1"),
    "unknown visibility": ('[item."attention.softmax"]\nrows_sum_to_one = { points = 1, visibility = "secret" }', "not 'secret'"),
    "unknown limit": ('[limits]\npatience = 3\n[item."attention.softmax"]\nrows_sum_to_one = { points = 1, visibility = "public" }', "has no 'patience'"),
    "no items": ("title = 'x'", "has no items"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), RUBRICS.values(), ids=RUBRICS.keys())
def test_a_broken_rubric_is_exit_code_2_and_names_the_row(text, says, tmp_path):
    (tmp_path / "rubric.toml").write_text(text, encoding="utf-8")
    done = run("grade", EXAMPLES / "right_numpy", "--rubric", tmp_path / "rubric.toml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert says in done.stderr


def test_points_are_exact(tmp_path):
    rubric = '[item."attention.softmax"]\n' + "".join(
        f'{name} = {{ points = 0.1, visibility = "public" }}\n'
        for name in ("rows_sum_to_one", "shift_invariance", "any_axis")
    )
    (tmp_path / "rubric.toml").write_text(rubric, encoding="utf-8")
    done = run(
        "grade", EXAMPLES / "right_numpy", "--rubric", tmp_path / "rubric.toml", "--out", tmp_path / "out", "--json"
    )
    assert json.loads(done.stdout)["submissions"][0]["score"] == 0.3


def test_a_submission_that_cannot_be_read_does_not_stop_the_others(tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 no zip at all")
    (folder / "alice.py").write_text(
        (EXAMPLES / "right_numpy" / "attention.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (folder / "bob.py").write_bytes(b"def softmax(x):\n    return '\xff'\n")
    (folder / "empty").mkdir()
    done = run("grade", folder, "--out", tmp_path / "out", "--json", *QUICK)
    assert done.returncode == 0, done.stderr
    rows = {row["id"]: row for row in json.loads(done.stdout)["submissions"]}
    assert rows["alice"]["score"] == 7.0
    assert "not a readable zip" in rows["broken"]["problems"][0]
    assert "UTF-8" in rows["bob"]["problems"][0]
    assert rows["empty"]["items"][0]["outcome"] == "missing"


def test_pytest_runs_the_same_checks():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "checks", "--submission", str(EXAMPLES / "softmax_modifies_its_input"), *QUICK],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert "FAILED checks/attention.py::attention.softmax.leaves_arguments_alone" in done.stdout
    assert "The call changed its argument x." in done.stdout
    assert "1 failed" in done.stdout
