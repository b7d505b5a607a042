"""A person's marks join the gradebook; what the machine judged stays as it is."""

from __future__ import annotations

import json

import pytest

from engine.commands import main

ITEMS = ("why_positions", "dot_product_mean", "die_entropy")
ANSWERS = """
[expression]
dot_product_mean = "{mean}"
[number]
die_entropy = 2.585
[text]
why_positions = "Attention does not see the order of its input."
"""


@pytest.fixture
def graded(tmp_path):
    """Grade alice and bob and return what `grade` and `mark` are called with."""
    for name, mean in (("alice", "mu'mu"), ("bob", "mu mu'")):
        folder = tmp_path / "class" / name
        folder.mkdir(parents=True)
        (folder / "answers.toml").write_text(ANSWERS.format(mean=mean), encoding="utf-8")
    options = ["--out", str(tmp_path / "graded"), *(word for item in ITEMS for word in ("--only", item))]
    assert main(["grade", str(tmp_path / "class"), *options]) == 0
    return tmp_path, options


def results(folder):
    rows = json.loads((folder / "graded" / "results.json").read_text(encoding="utf-8"))["submissions"]
    return {row["id"]: row for row in rows}


def marked(folder, options, *rows):
    path = folder / "marks.csv"
    path.write_text("\n".join(["submission,item,score,comment", *rows]) + "\n", encoding="utf-8")
    return main(["mark", str(path), *options])


def items(row):
    return {item["id"]: item for item in row["items"]}


def test_a_text_waits_and_its_mark_joins(graded, capsys):
    folder, options = graded
    before = results(folder)
    assert before["alice"]["status"] == before["bob"]["status"] == "waiting"
    assert items(before["alice"])["why_positions"]["outcome"] == "manual"
    assert marked(folder, options, "alice,why_positions,2.5,No example given.") == 0
    after = results(folder)
    assert after["alice"]["status"] == "graded"
    assert after["alice"]["score"] == before["alice"]["score"] + 2.5
    item = items(after["alice"])["why_positions"]
    assert (item["outcome"], item["score"]) == ("broken", 2.5)
    assert item["checks"][0]["message"] == "No example given."
    assert after["bob"] == before["bob"]
    assert "1 of 2 submissions have their marks, 1 still wait" in capsys.readouterr().out


def test_machine_scores_are_never_disturbed(graded):
    folder, options = graded
    before = results(folder)
    assert marked(folder, options, "bob,why_positions,3,") == 0
    after = results(folder)
    for name in ("dot_product_mean", "die_entropy"):
        assert items(after["bob"])[name] == items(before["bob"])[name]
    assert items(after["bob"])["why_positions"]["outcome"] == "held"


def test_marks_outlive_another_run_and_can_be_corrected(graded):
    folder, options = graded
    assert marked(folder, options, "alice,why_positions,1,") == 0
    assert main(["grade", str(folder / "class"), *options]) == 0
    assert items(results(folder)["alice"])["why_positions"]["score"] == 1
    assert marked(folder, options, "alice,why_positions,2,Read again.") == 0
    assert items(results(folder)["alice"])["why_positions"]["score"] == 2


def test_another_version_waits_anew(graded):
    folder, options = graded
    assert marked(folder, options, "alice,why_positions,3,") == 0
    (folder / "class" / "alice" / "answers.toml").write_text(ANSWERS.format(mean="mu.mu"), encoding="utf-8")
    assert main(["grade", str(folder / "class"), *options]) == 0
    assert results(folder)["alice"]["status"] == "waiting"


REFUSED = {
    "carol,why_positions,1,": "no submission 'carol'",
    "alice,why_postions,1,": "did you mean why_positions",
    "alice,dot_product_mean,1,": "does not wait for a person; its outcome is held",
    "alice,why_positions,4,": "takes 0 to 3 points, not 4",
    "alice,why_positions,-1,": "takes 0 to 3 points, not -1",
    "alice,why_positions,many,": "'many' is not a number of points",
    "alice,why_positions,nan,": "'nan' is not a number of points",
    ",why_positions,1,": "needs a submission and an item",
}


@pytest.mark.parametrize("row", REFUSED)
def test_a_row_that_cannot_be_taken_is_said_and_the_others_are_taken(graded, row, capsys):
    folder, options = graded
    assert marked(folder, options, row, "bob,why_positions,2,") == 1
    assert REFUSED[row] in capsys.readouterr().err
    assert items(results(folder)["bob"])["why_positions"]["score"] == 2
    assert items(results(folder)["alice"])["why_positions"]["outcome"] == "manual"


def test_a_file_that_is_no_table_of_marks_is_wrong_usage(graded, capsys):
    folder, options = graded
    (folder / "other.csv").write_text("name,grade\nalice,3\n")
    assert main(["mark", str(folder / "other.csv"), *options]) == 2
    assert "has no column 'submission'" in capsys.readouterr().err
    assert main(["mark", str(folder / "absent.csv"), *options]) == 2


def test_a_folder_that_was_not_graded_is_wrong_usage(tmp_path, capsys):
    (tmp_path / "marks.csv").write_text("submission,item,score\n")
    assert main(["mark", str(tmp_path / "marks.csv"), "--out", str(tmp_path / "nothing")]) == 2
    assert "has no gradebook" in capsys.readouterr().err
