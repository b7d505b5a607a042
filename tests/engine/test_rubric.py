"""The rubric's reader: every key is documented, everything that is wrong is told at once, with its line."""

import json
import re
from pathlib import Path

import pytest

from engine.commands import main
from engine.records import RubricError
from engine.rubric import STANDARD, examined, read_rubric
from engine.rubric_keys import KEYS, REQUIRED
from engine.toml_lines import lines_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "rubric.md").read_text(encoding="utf-8")
HEADINGS = {"The file": "the file", "`[limits]`": "[limits]", "`[late]`": "[late]", "`[item.ID]`": "[item.ID]", "A check": "a check"}  # fmt: skip
ROW = re.compile(r"^\| `(?P<key>\w+)` \| (?P<takes>[^|]+) \| (?P<default>[^|]+) \|", re.MULTILINE)
SOFTMAX = '[item."attention.softmax"]\nrows_sum_to_one = { points = 1, visibility = "public" }\n'


def problems(tmp_path, text):
    path = tmp_path / "rubric.toml"
    path.write_text(text, encoding="utf-8")
    return examined(path)


@pytest.mark.parametrize(("heading", "kind"), HEADINGS.items(), ids=HEADINGS.values())
def test_every_key_is_documented_with_its_type_and_default_and_no_other_is(heading, kind):
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)[1]
    rows = {row["key"]: (row["takes"].strip(), row["default"].strip()) for row in ROW.finditer(section)}
    assert list(rows) == list(KEYS[kind])
    for name, key in KEYS[kind].items():
        takes, default = rows[name]
        assert takes == key.takes, name
        if key.default is REQUIRED:
            assert default == "must be there", name
        elif key.default is None:
            assert not default.startswith("`"), name
        else:
            assert default == f"`{str(key.default).lower() if isinstance(key.default, bool) else key.default}`", name


def test_every_table_of_keys_has_its_section():
    assert set(HEADINGS.values()) == set(KEYS)


def test_the_example_of_the_page_is_a_rubric(tmp_path):
    example = re.search(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    rubric, found = problems(tmp_path, example)
    assert found == []
    assert [item.id for item in rubric.items] == ["attention.softmax", "dot_product_variance"]
    assert rubric.late is not None


WRONG = """\
exmaples = 3
examples = 0
forbid = ["torch.nn.GRUCel", "nowhere to be found"]
title = ""

[limits]
patience = 3
call_seconds = "long"

[late]
share = 2
points = 1
per = "week"
deadline = 2026-11-01T23:59:00

[item."attention.sofmax"]
rows_sum_to_one = { points = 1, visibility = "public" }

[item."attention.softmax"]
bonus = "yes"
rows_sum_to_two = { points = 1, visibility = "public" }
rows_sum_to_one = { points = -1, visibility = "publik", colour = "red" }
shift_invariance = { visibility = "public" }
tilte = "Softmax"

[item.dot_product_mean]
forbid = ["torch"]
"""
TOLD = {
    1: ["has no 'exmaples'; did you mean examples?"],
    2: ["examples must be a whole number of at least 1, not 0"],
    3: ["there is no torch.nn.GRUCel; did you mean GRUCell?", "forbid takes names such as torch.nn.GRUCell"],
    4: ["title must be a text, not ''"],
    7: ["[limits] has no 'patience'; it has call_seconds"],
    8: ["limits.call_seconds must be a positive number, not 'long'"],
    10: ["[late] takes either share or points"],
    11: ["late.share must be a share above 0, at most 1, not 2"],
    13: ["late.per must be one of submission, day, hour, not 'week'"],
    14: ["late.deadline must be a time with its zone"],
    16: ["there is no item 'attention.sofmax'; did you mean attention.softmax?"],
    20: ["attention.softmax.bonus must be true or false, not 'yes'"],
    21: ["there is no check attention.softmax.rows_sum_to_two; did you mean attention.softmax.rows_sum_to_one?"],
    22: ["points must be a number of at least 0, not -1", "visibility must be one of public, hidden, not 'publik'", "has no 'colour'"],
    23: ["attention.softmax.shift_invariance needs points and visibility"],
    24: ["there is no check attention.softmax.tilte; did you mean title?"],
    26: ["dot_product_mean has no checks; it can have reads, right"],
    27: ["dot_product_mean is answered in words; forbid is for code"],
}  # fmt: skip


def test_everything_that_is_wrong_is_told_at_once_each_with_its_line(tmp_path):
    rubric, found = problems(tmp_path, WRONG)
    assert rubric is None
    assert {line: sum(p.line == line for p in found) for line in sorted({p.line for p in found})} == {
        line: len(texts) for line, texts in TOLD.items()
    }
    for line, texts in TOLD.items():
        for text in texts:
            assert any(text in problem.text for problem in found if problem.line == line), (line, text)


def test_the_command_has_exit_code_2_and_tells_lines(tmp_path, capsys):
    path = tmp_path / "sheet.toml"
    path.write_text(WRONG, encoding="utf-8")
    assert main(["rubric", str(path)]) == 2
    printed = capsys.readouterr().out
    assert "sheet.toml:1: error: the file has no 'exmaples'; did you mean examples?" in printed
    assert len(printed.splitlines()) == sum(map(len, TOLD.values()))
    assert main(["rubric", str(path), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["good"] is False


def test_the_standard_rubric_has_no_problems(capsys):
    assert examined(STANDARD)[1] == []
    assert main(["rubric"]) == 0
    assert "Neural language models: " in capsys.readouterr().out


WARNINGS = {
    "no points": ('[item."attention.softmax"]\nrows_sum_to_one = { points = 0, visibility = "public" }', "the maximum is 0"),
    "no parts": ('[item."attention.softmax"]\nrows_sum_to_one = { points = 1, visibility = "public", partial = true }', "partial changes nothing"),
    "needs the reference": ('[item."attention.softmax"]\nagrees_with_definition = { points = 1, visibility = "public" }', "needs the reference"),
    "limit never reached": (f"[limits]\ncall_seconds = 500\n{SOFTMAX}", "limits.call_seconds is more than limits.submission_seconds"),
    "no deadline": (f'[late]\npoints = 1\nper = "day"\n{SOFTMAX}', "without late.deadline nobody knows how late"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), WARNINGS.values(), ids=WARNINGS.keys())
def test_what_may_not_be_meant_is_a_warning_and_the_rubric_is_taken(tmp_path, capsys, text, says):
    rubric, found = problems(tmp_path, text)
    assert rubric is not None
    assert [problem.is_error for problem in found] == [False]
    assert says in found[0].text
    assert main(["rubric", str(tmp_path / "rubric.toml")]) == 0
    assert ": warning: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["item = 3", 'item."attention.softmax" = 3', "limits = 3\n" + SOFTMAX, "late = 3\n" + SOFTMAX]
)
def test_what_must_be_a_table_is_told_so(tmp_path, text):
    rubric, found = problems(tmp_path, text)
    assert rubric is None
    assert any("must be a table" in problem.text for problem in found)


def test_a_run_tells_the_first_twenty_and_where_the_rest_is(tmp_path):
    (tmp_path / "long.toml").write_text("".join(f"x{n} = 1\n" for n in range(30)) + SOFTMAX, encoding="utf-8")
    with pytest.raises(RubricError, match="and 10 more: grader rubric"):
        read_rubric(tmp_path / "long.toml")


def test_lines_are_found_behind_texts_and_lists_that_take_several():
    text = 'a = """\nb = 1\n[c]\n"""\nlist = [\n  1, # [x]\n  2,\n]\n\n["q.r"] # "]"\nd.e = 1\n[[f]]\ng = 2\n'
    assert lines_of(text) == {
        ("a",): 1, ("list",): 5, ("q.r",): 10, ("q.r", "d"): 11, ("q.r", "d", "e"): 11, ("f",): 12, ("f", "g"): 13,
    }  # fmt: skip
