"""Downloads of whole classes, named as course platforms name them: everybody is found, nobody is mixed up or lost."""

import json
import os
import stat
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import intake
from engine.downloads import Listing, recognised
from engine.intake import take_in

ROOT = Path(__file__).resolve().parents[2]
RIGHT = (ROOT / "submissions" / "examples" / "right_numpy" / "attention.py").read_text(encoding="utf-8")
NOTHING = "nothing to grade: no .py file, notebook or answers.toml"
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": "x = 1"}]})


def packed(entries: dict[str, str | bytes], path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def laid(entries: dict[str, str | bytes], folder: Path) -> Path:
    for name, content in entries.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def inner(tmp_path: Path, entries: dict[str, str | bytes]) -> bytes:
    return packed(entries, tmp_path / "inner.zip").read_bytes()


def found(path: Path) -> dict[str, list[str]]:
    """Take in and return the names of each one's files, by id."""
    return {one.id: [source.name for source in one.sources] for one in take_in([path])}


# --- one download of each platform, packed and unpacked, taken apart and graded


def canvas(tmp_path):
    entries = {
        "lovelaceada_1001_70001_attention-2.py": RIGHT,
        "lovelaceada_1001_70002_answers-1.toml": "[number]\n",
        "müllerlüdenscheidtsörenjörg_LATE_1002_70003_work.zip": inner(tmp_path, {"work/attention.py": RIGHT, "__MACOSX/x": ""}),
        "obrien_1003_70004_Untitled 1.ipynb": NOTEBOOK,
        "obrien_1003_70005_report.pdf": "%PDF",
        "groupb_1004_70006_attention.py": RIGHT,
        "李小龙_1005_text.html": "<p>I could not upload it</p>",
        ".DS_Store": b"\0",
    }  # fmt: skip
    expected = {
        "1001": (["attention.py"], ["lovelaceada"], False),
        "1002": (["attention.py"], ["müllerlüdenscheidtsörenjörg"], True),
        "1003": (["Untitled 1.ipynb"], ["obrien"], False),
        "1004": (["attention.py"], ["groupb"], False),
        "1005": ([], ["李小龙"], False),
    }
    return entries, expected, ["a Canvas download: 5 submissions, 1 of them late", "not read: 李小龙_1005_text.html"]


def moodle(tmp_path):
    entries = {
        "Ada Lovelace_2001_assignsubmission_file/attention.py": RIGHT,
        "Ada Lovelace_2001_assignsubmission_file/src/helper.py": "x = 1\n",
        "Jörg Müller-Lüdenscheidt_2002_assignsubmission_file/mein projekt/attention.py": RIGHT,
        "Mary-Jane O'Brien_2003_assignsubmission_file_/work.zip": inner(tmp_path, {"a/b/attention.py": RIGHT}),
        "Mary-Jane O'Brien_2003_assignsubmission_onlinetext_/onlinetext.html": "<p>see the zip</p>",
        "Nur Text_2004_assignsubmission_onlinetext/onlinetext.html": "<p>here</p>",
        "Gruppe B_31_assignsubmission_file/attention.ipynb": NOTEBOOK,
        "Default group_assignsubmission_file/attention.py": RIGHT,
    }
    expected = {
        "2001": (["attention.py", "src/helper.py"], ["Ada Lovelace"], False),
        "2002": (["attention.py"], ["Jörg Müller-Lüdenscheidt"], False),
        "2003": (["attention.py"], ["Mary-Jane O'Brien"], False),
        "2004": ([], ["Nur Text"], False),
        "31": (["attention.ipynb"], ["Gruppe B"], False),
        "Default group": (["attention.py"], ["Default group"], False),
    }
    return entries, expected, ["a Moodle download: 6 submissions", "Nur Text_2004_assignsubmission_onlinetext"]


def moodle_flat(tmp_path):
    entries = {
        "Ada Lovelace_2001_assignsubmission_file_attention.py": RIGHT,
        "Ada Lovelace_2001_assignsubmission_file_my_own_1_2_helper.py": "x = 1\n",
        "Jörg Müller_2002_assignsubmission_file_work.zip": inner(tmp_path, {"attention.py": RIGHT}),
        "Jörg Müller_2002_assignsubmission_onlinetext_onlinetext.html": "<p></p>",
    }
    expected = {
        "2001": (["attention.py", "my_own_1_2_helper.py"], ["Ada Lovelace"], False),
        "2002": (["attention.py"], ["Jörg Müller"], False),
    }
    return entries, expected, ["a Moodle download: 2 submissions", "not read: Jörg Müller_2002_assignsubmission_onlin"]


METADATA = """---
submission_3001:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0012'
    :email: ada@example.org
  :created_at: 2026-11-01 12:30:00.861687000 Z
  :score: 2.0
  :results:
    output: |-
      submission_9:
      :submitters:
      - :name: Mallory
submission_3002:
  :submitters:
  - :name: "Jörg \\"Müller\\""
    :sid:
    :email: joerg@example.org
  - :name: Mary-Jane O'Brien
    :sid: 77
    :email: mj@example.org
submission_3003:
  :submitters:
  - :name: 'Yes: No'
    :sid: 'off'
submission_3004:
  :submitters:
  - :name: Absent
    :sid: '4'
"""


def gradescope(tmp_path):
    export = "assignment_555_export/"
    entries = {
        f"{export}submission_metadata.yml": METADATA,
        f"{export}submission_3001/attention.py": RIGHT,
        f"{export}submission_3001/.git/config": "[core]",
        f"{export}submission_3002/group work/attention.py": RIGHT,
        f"{export}submission_3003/": "",
    }
    expected = {
        "submission_3001": (["attention.py"], ["Ada Lovelace"], False),
        "submission_3002": (["attention.py"], ['Jörg "Müller"', "Mary-Jane O'Brien"], False),
        "submission_3003": ([], ["Yes: No"], False),
    }
    return entries, expected, ["a Gradescope export: 3 submissions", "lists what is not there: submission_3004"]


def receipt(name: str, user: str) -> str:
    return f"Name: {name} ({user})\nAssignment: Week_1 (Attention)\nDate Submitted: Sunday, November 1, 2026\n"


def blackboard(tmp_path):
    week = "Week_1 (Attention)"
    entries = {
        f"{week}_ada12_attempt_2026-11-01-12-30-00_attention.py": "x = 1  # the first attempt\n",
        f"{week}_ada12_attempt_2026-11-01-12-30-00.txt": receipt("Ada Lovelace", "ada12"),
        f"{week}_ada12_attempt_2026-11-02-09-00-00_attention.py": RIGHT,
        f"{week}_ada12_attempt_2026-11-02-09-00-00.txt": receipt("Ada Lovelace", "ada12"),
        f"{week}_jm_7_attempt_2026-11-01-12-30-00_mein projekt.zip": inner(tmp_path, {"attention.py": RIGHT}),
        f"{week}_jm_7_attempt_2026-11-01-12-30-00.txt": "\ufeff" + receipt("Jörg Müller (Ing.)", "jm_7"),
        f"{week}_mjo_attempt_2026-11-01-23-59-59.txt": receipt("Mary-Jane O'Brien", "mjo"),
        f"{week}_nn_attempt_2026-11-01-23-59-59_attention.py": RIGHT,
    }
    expected = {
        "ada12": (["attention.py"], ["Ada Lovelace"], False),
        "jm_7": (["attention.py"], ["Jörg Müller (Ing.)"], False),
        "mjo": ([], ["Mary-Jane O'Brien"], False),
        "nn": (["attention.py"], [""], False),
    }
    first = f"{week}_ada12_attempt_2026-11-01-12-30-00.txt, {week}_ada12_attempt_2026-11-01-12-30-00_attention.py"
    return entries, expected, ["a Blackboard download: 4 sub", f"ada12: earlier attempts are left out: {first}"]


def github(tmp_path):
    entries = {}
    for login in ("ada", "team-a", "team-b"):
        entries[f"homework-1-submissions/homework-1-{login}/attention.py"] = RIGHT
        entries[f"homework-1-submissions/homework-1-{login}/.git/HEAD"] = "ref: refs/heads/main"
        entries[f"homework-1-submissions/homework-1-{login}/.git/hooks/attention.py"] = "no = 1"
    entries["homework-1-submissions/homework-1-empty/.git/HEAD"] = "ref: refs/heads/main"
    entries["homework-1-submissions/homework-1-empty/README.md"] = ""
    expected = {login: (["attention.py"], [""], False) for login in ("ada", "team-a", "team-b")}
    expected["empty"] = ([], [""], False)
    return entries, expected, ["GitHub Classroom repositories: 4 submissions"]


PLATFORMS = {each.__name__: each for each in (canvas, moodle, moodle_flat, gradescope, blackboard, github)}


@pytest.mark.parametrize("how", ["zip", "unpacked"])
@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=PLATFORMS.keys())
def test_a_download_is_taken_apart(tmp_path, capsys, platform, how):
    entries, expected, told = platform(tmp_path)
    path = packed(entries, tmp_path / "all.zip") if how == "zip" else laid(entries, tmp_path / "all")
    submissions = take_in([path])
    assert {
        one.id: ([source.name for source in one.sources], [student.name for student in one.students], one.late)
        for one in submissions
    } == expected
    assert {one.id: one.problems for one in submissions if one.problems} == {
        name: (NOTHING,) for name, (names, _, _) in expected.items() if not names
    }
    said = capsys.readouterr().err
    assert all(sentence in said for sentence in told), said


@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=PLATFORMS.keys())
def test_packed_or_not_it_is_the_same_work(tmp_path, platform):
    entries, _, _ = platform(tmp_path)
    packed_up = take_in([packed(entries, tmp_path / "all.zip")])
    unpacked = take_in([laid(entries, tmp_path / "all")])
    assert [(one.id, one.digest, one.students) for one in packed_up] == [
        (one.id, one.digest, one.students) for one in unpacked
    ]


def graded(path: Path, out: Path) -> tuple[dict[str, dict], str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "grader.py"), "grade", str(path), "--out", str(out), "--only", "attention.softmax", "--examples", "3"],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return {one["id"]: one for one in results["submissions"]}, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("platform", "how"),
    [(canvas, "unpacked"), (moodle, "zip"), (gradescope, "zip"), (blackboard, "unpacked"), (github, "unpacked")],
    ids=["canvas", "moodle", "gradescope", "blackboard", "github"],
)
def test_one_command_grades_a_download(tmp_path, platform, how):
    entries, expected, told = platform(tmp_path)
    path = packed(entries, tmp_path / "all.zip") if how == "zip" else laid(entries, tmp_path / "all")
    results, said = graded(path, tmp_path / "out")
    assert results.keys() == expected.keys()
    assert all(sentence in said for sentence in told)
    for name, (files, students, late) in expected.items():
        assert results[name]["score"] == (results[name]["max_score"] if "attention.py" in files else 0)
        assert [student["name"] for student in results[name]["students"]] == students
        assert results[name].get("late", False) is late


@pytest.mark.slow
def test_a_new_download_of_the_same_work_may_take_the_late_mark_away(tmp_path):
    names = {"adal_LATE_1001_70001_attention.py": "x = 1\n", "bob_1002_70002_attention.py": "x = 2\n"}
    laid(names, tmp_path / "all")
    results, _ = graded(tmp_path / "all", tmp_path / "out")
    assert {name: one.get("late") for name, one in results.items()} == {"1001": True, "1002": None}
    os.rename(tmp_path / "all" / "adal_LATE_1001_70001_attention.py", tmp_path / "all" / "adal_1001_70001_attention.py")  # noqa: PTH104
    results, _ = graded(tmp_path / "all", tmp_path / "out")
    assert {name: one.get("late") for name, one in results.items()} == {"1001": None, "1002": None}


# --- Canvas


def test_canvas_numbers_for_files_handed_in_again_are_taken_off(tmp_path, capsys):
    names = [
        "attention.py",
        "attention-1.py",
        "helper-3.py",
        "part-1.py",
        "part-2.py",
        "x-1-2.py",
        "gates-1.py",
        "gates-4.py",
    ]
    entries = {f"ada_1001_{70001 + number}_{name}": f"n = {number}" for number, name in enumerate(names)}
    laid({**entries, "bob_1002_70900_attention.py": ""}, tmp_path / "all")
    ada, _ = take_in([tmp_path / "all"])
    cells = {source.name: source.cells[0] for source in ada.sources}
    assert cells == {
        "attention.py": "n = 1",
        "gates.py": "n = 7",
        "helper.py": "n = 2",
        "part-1.py": "n = 3",
        "part-2.py": "n = 4",
        "x-1.py": "n = 5",
    }
    said = capsys.readouterr().err
    assert "1001: earlier attempts are left out: ada_1001_70001_attention.py, ada_1001_70007_gates-1.py" in said


def test_canvas_files_without_names_of_students(tmp_path):
    entries = {
        "anon_x7Fg2_70001_attention.py": "",
        "LATE_anon_Yy1z9_70002_hw_1_2_x.py": "",
        "anon_x7Fg2_70003_gates.py": "",
    }
    submissions = take_in([laid(entries, tmp_path / "all")])
    assert [(one.id, len(one.sources), one.late) for one in submissions] == [
        ("anon_Yy1z9", 1, True),
        ("anon_x7Fg2", 2, False),
    ]


def test_accents_in_two_characters_are_the_same_name(tmp_path):
    entries = {"müller_1001_70001_attention.py": "", "bob_1002_70002_größe.py": ""}
    apart = {unicodedata.normalize("NFD", name): content for name, content in entries.items()}
    assert found(laid(apart, tmp_path / "all")) == {"1001": ["attention.py"], "1002": ["größe.py"]}


def test_a_students_zip_that_somebody_unpacked_is_still_theirs(tmp_path):
    entries = {"ada_1001_70001_work/attention.py": "", "bob_1002_70002_attention.py": "", "bob_1002_70003_gates.py": ""}
    assert found(laid(entries, tmp_path / "all")) == {"1001": ["attention.py"], "1002": ["attention.py", "gates.py"]}


def test_one_students_canvas_files_are_one_submission(tmp_path):
    entries = {"ada_1001_70001_attention.py": "", "ada_1001_70002_gates-1.py": "", "ada_1001_70003_answers.toml": ""}
    assert found(laid(entries, tmp_path / "all")) == {"1001": ["attention.py", "gates.py"]}


# --- the others


def test_a_blackboard_username_with_underscores_and_no_receipt_mixes_up_nobody(tmp_path):
    when = "attempt_2026-11-01-12-30-00"
    entries = {f"HW_1_{user}_{when}_attention.py": user for user in ("al_1", "bo_1", "carol")}
    submissions = take_in([laid(entries, tmp_path / "all")])
    assert {one.id: one.sources[0].cells for one in submissions} == {
        "HW_1_al_1": ("al_1",),
        "HW_1_bo_1": ("bo_1",),
        "carol": ("carol",),
    }


@pytest.mark.parametrize(
    "metadata",
    ["", "submission_1: [", "- a\n- b\n", "submission_1:\n  :submitters: 5\n", b"\xff\xfe\0", "submission_1:\n  :submitters:\n  - " + "[" * 5000],
    ids=["empty", "cut short", "a list", "a number", "bytes", "deep"],
)  # fmt: skip
def test_unreadable_metadata_costs_the_names_only(tmp_path, capsys, metadata):
    entries = {"submission_metadata.yml": metadata, "submission_1/attention.py": "", "submission_2/attention.py": ""}
    submissions = take_in([laid(entries, tmp_path / "all")])
    assert [(one.id, one.students) for one in submissions] == [("submission_1", ()), ("submission_2", ())]
    assert "submission_metadata.yml does not say who handed in: submission_1, submission_2" in capsys.readouterr().err


def test_metadata_makes_nothing_but_text(tmp_path):
    metadata = "submission_1:\n  :submitters: &a\n  - :name: !ruby/object:Kernel {}\n    :sid: !!python/object/apply:os.getcwd []\n    :email: a@b.c\nsubmission_2:\n  :submitters: *a\n"
    entries = {"submission_metadata.yml": metadata, "submission_1/attention.py": "", "submission_2/attention.py": ""}
    (one,) = take_in([laid(entries, tmp_path / "all")])  # both are by the same person: the second counts
    assert (one.id, [(student.id, student.name) for student in one.students]) == ("submission_2", [("a@b.c", "")])


def test_of_two_exports_of_one_person_the_later_counts_and_two_people_of_one_name_stay_two(tmp_path, capsys):
    people = {5: ("Ada", "12"), 30: ("Ada", "12"), 6: ("Ada", "13"), 7: ("Bob", ""), 8: ("Bob", ""), 9: ("Cyd", "12")}
    metadata = "".join(
        f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{sid}'\n"
        for number, (name, sid) in people.items()
    )
    entries = {f"submission_{number}/attention.py": "" for number in people}
    laid({**entries, "submission_metadata.yml": metadata}, tmp_path / "all")
    assert sorted(found(tmp_path / "all")) == [f"submission_{number}" for number in (30, 6, 7, 8, 9)]
    assert "submission_30: earlier attempts are left out: submission_5\n" in capsys.readouterr().err


def test_metadata_that_never_ends_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.downloads.WHO_LIMIT", 100)
    entries = {"submission_metadata.yml": METADATA, "submission_3001/attention.py": "", "submission_3002/gates.py": ""}
    assert [one.students for one in take_in([laid(entries, tmp_path / "all")])] == [(), ()]


def test_repositories_without_a_common_start_keep_their_names(tmp_path):
    for name in ("ada", "bob"):
        laid({"attention.py": "", ".git/HEAD": ""}, tmp_path / "all" / name)
    assert sorted(found(tmp_path / "all")) == ["ada", "bob"]


def test_the_start_of_repositories_is_found_without_the_folders_name(tmp_path):
    for name in ("lab-1-ada", "lab-1-bo-b"):
        laid({"attention.py": "", ".git/HEAD": ""}, tmp_path / "all" / name)
    assert sorted(found(tmp_path / "all")) == ["ada", "bo-b"]


# --- several attempts, numbered by hand


def test_the_latest_of_numbered_attempts_counts(tmp_path, capsys):
    entries = {f"ada_attempt_{number}/attention.py": f"n = {number}" for number in (2, 10)}
    entries |= {"bob attempt 1.py": "n = 1", "bob attempt 2.py": "n = 2"}
    submissions = take_in([laid(entries, tmp_path / "all")])
    assert [(one.id, one.sources[0].cells) for one in submissions] == [("ada", ("n = 10",)), ("bob", ("n = 2",))]
    assert "ada: earlier attempts are left out: ada_attempt_2" in capsys.readouterr().err


@pytest.mark.parametrize("names", [["attempt1", "attempt2"], ["Attempt 9", "Attempt 10"]])
def test_attempts_in_one_students_folder_are_one_submission(tmp_path, names):
    first, second = names
    laid(
        {f"ada/{first}/attention.py": "n = 1", f"ada/{second}/attention.py": "n = 2", "bob/gates.py": ""},
        tmp_path / "all",
    )
    ada, _ = take_in([tmp_path / "all"])
    assert (ada.id, ada.sources[0].cells) == ("ada", ("n = 2",))
    assert ada.problems == (f"{first}: an earlier attempt, {second} counts",)
    (alone,) = take_in([tmp_path / "all" / "ada"])
    assert (alone.id, alone.sources[0].cells) == ("ada", ("n = 2",))


def test_no_name_reaches_the_screen_as_it_is(tmp_path, capsys):
    laid(
        {"ada/\x07 attempt 1/attention.py": "", "ada/\x07 attempt 2/attention.py": "", "bob/gates.py": ""},
        tmp_path / "all",
    )
    ada, _ = take_in([tmp_path / "all"])
    assert ada.problems == ("\ufffd attempt 1: an earlier attempt, \ufffd attempt 2 counts",)
    laid({"\x1b[2J_1001_70001_a.py": "", "bob_1002_70002_a.py": "", "\x07.txt": ""}, tmp_path / "canvas")
    assert [one.students[0].name for one in take_in([tmp_path / "canvas"])] == ["\ufffd[2J", "bob"]
    said = capsys.readouterr().err
    assert "nobody's: \ufffd.txt" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("name", ["work-1.zip", "work (1).zip"])
def test_of_zips_that_are_copies_the_latest_is_read(tmp_path, name):
    packed({"attention.py": "n = 1"}, tmp_path / "all" / "ada" / "work.zip")
    packed({"work/attention.py": "n = 2"}, tmp_path / "all" / "ada" / name)
    laid({"gates.py": ""}, tmp_path / "all" / "bob")
    ada, _ = take_in([tmp_path / "all"])
    assert ada.sources[0].cells == ("n = 2",)
    assert ada.problems == (f"work.zip: an earlier attempt, {name} counts",)


@pytest.mark.parametrize("names", [("part1", "part2"), ("week-1", "week-2"), ("src", "attempt_2")])
def test_parts_are_not_attempts(tmp_path, names):
    laid({f"ada/{name}/attention.py": "" for name in names} | {"bob/gates.py": ""}, tmp_path / "all")
    ada, _ = take_in([tmp_path / "all"])
    assert ada.problems == (NOTHING,)


# --- what is no download, and what is only mostly one


@pytest.mark.parametrize(
    "names",
    [
        ["hw_1_1_alice.py", "hw_1_2_bob.py", "hw_1_3_carol.py"],
        ["hw_2026_1001_alice.py", "hw_2026_1002_bob.py"],
        ["alice_1_2_x.py", "bob_1_2_x.py"],
        ["alice_1_7_x.py", "bob_2_7_x.py"],
        ["alice.py", "bob.py", "carol_1001_70001_attention.py"],
        ["solution_1_2_x.py"],
        ["submission_1.py", "submission_2.py"],
    ],
)
def test_names_that_only_look_like_a_platforms_are_ordinary(tmp_path, capsys, names):
    laid(dict.fromkeys(names, "x = 1\n"), tmp_path / "all")
    assert sorted(found(tmp_path / "all")) == [name.removesuffix(".py") for name in names]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("how", ["zip", "unpacked"])
def test_what_a_platform_did_not_name_is_graded_or_told(tmp_path, capsys, how):
    entries = {
        f"{name}_100{number}_7000{number}_attention.py": ""
        for number, name in enumerate(("ada", "bob", "carol", "dan", "eve"))
    }
    entries |= {"late.py": "", "sent by mail/attention.py": "", "notes.txt": "", "marks.csv": ""}
    path = packed(entries, tmp_path / "all.zip") if how == "zip" else laid(entries, tmp_path / "all")
    assert found(path) == {f"100{number}": ["attention.py"] for number in range(5)} | {
        "late": ["late.py"],
        "sent by mail": ["attention.py"],
    }
    said = capsys.readouterr().err
    assert "named otherwise, graded as submissions of their own: late.py, sent by mail" in said
    assert "left out, nobody's: marks.csv, notes.txt" in said


PEOPLE = st.sampled_from(["ada", "bo_b", "müller", "LATE", "anon", "o'brien", "1", "HW_1_2", "x_1"])
NUMBERS = st.sampled_from(["1", "2", "22", "1001", "1002"])
OWN = st.sampled_from(
    ["attention.py", "attention-1.py", "part-1.py", "part-2.py", "a_1_2_b.py", "work.zip", "x", ".txt"]
)
DAYS = st.sampled_from(["2026-11-01-12-30-00", "2026-11-02-12-30-00"])
KINDS = st.sampled_from(["file", "onlinetext", "mahara"])
NAMED_BY = {
    "Canvas": st.builds(
        "{}_{}{}_{}_{}".format, PEOPLE, st.sampled_from(["", "LATE_"]), NUMBERS, st.integers(1, 99), OWN
    )
    | st.builds("{}_{}_text.html".format, PEOPLE, NUMBERS),
    "Moodle": st.builds("{}_{}_assignsubmission_{}_{}".format, PEOPLE, NUMBERS, KINDS, OWN | st.just(""))
    | st.builds("{}_assignsubmission_{}".format, PEOPLE, KINDS),
    "Gradescope": st.builds("submission_{}".format, NUMBERS),
    "Blackboard": st.builds("HW_{}_attempt_{}_{}".format, PEOPLE, DAYS, OWN)
    | st.builds("HW_{}_attempt_{}.txt".format, PEOPLE, DAYS),
    "GitHub": st.builds("lab-1-{}".format, PEOPLE),
    "attempts": st.builds("{}_attempt_{}{}".format, PEOPLE, NUMBERS, st.sampled_from(["", ".zip", ".py"])),
}
METADATA_OF = "".join(f"submission_{n}:\n  :submitters:\n  - :sid: '{n[0]}'\n" for n in ("1", "2", "22", "1001"))


@pytest.mark.parametrize("platform", NAMED_BY)
def test_no_name_is_lost_and_none_is_two_peoples(platform):
    """Whatever lies in a listing, each name is one submission's, or left to the ordinary rules, or told."""
    recognised_as: set[str] = set()
    companions = {"submission_metadata.yml"} if platform == "Gradescope" else set()

    @settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @given(
        named=st.frozensets(NAMED_BY[platform], min_size=1, max_size=8),
        noise=st.frozensets(st.one_of(*NAMED_BY.values(), OWN), max_size=3),
        are_folders=st.sampled_from(["all", "none", "some"]),
    )
    def holds(named, noise, are_folders):
        ordered = sorted(named | noise)
        folders = frozenset({"all": ordered, "none": [], "some": ordered[::2]}[are_folders])
        files = frozenset(ordered) - folders | companions
        listing = Listing(
            "all", files, folders, folders, intake._EXPECTED, read=lambda name, size: METADATA_OF.encode()
        )
        download = recognised(listing)
        if download is None:
            return
        recognised_as.add(download.platform)
        taken = [name for one in download.handed_in for name in (*one.files.values(), *one.folders)]
        assert len(set(taken)) == len(taken)
        assert not set(taken) & set(download.rest)
        places = [one.place for one in download.handed_in]
        assert len(set(places)) == len(places)
        receipts = {name for name in files if name.endswith("-00.txt")}
        lost = (files | folders) - set(taken) - set(download.rest) - receipts - companions
        told = "\n".join(download.notices)
        assert all(name in told for name in lost), download

    holds()
    wanted = "numbered attempts" if platform == "attempts" else platform
    assert any(wanted in name for name in recognised_as), recognised_as


# --- hostile and damaged downloads


def test_a_students_zip_among_others_cannot_pose_as_a_download(tmp_path):
    forged = {"ada_1001_70001_attention.py": "forged = 1", "bob_1002_70002_attention.py": "forged = 2"}
    packed(forged, tmp_path / "all" / "mallory.zip")
    packed({"attention.py": ""}, tmp_path / "all" / "zoe.zip")
    assert sorted(found(tmp_path / "all")) == ["mallory", "zoe"]
    assert [one.id for one in take_in(sorted((tmp_path / "all").iterdir()))] == ["mallory", "zoe"]


def test_several_parts_of_one_download_are_read_together(tmp_path):
    one = packed({"Ada_2001_assignsubmission_file/attention.py": ""}, tmp_path / "a.zip")
    two = packed({"Bob_2002_assignsubmission_file/attention.py": ""}, tmp_path / "b.zip")
    assert [each.id for each in take_in([two, one])] == ["2001", "2002"]


def test_links_and_ways_out_of_a_packed_download(tmp_path, capsys):
    path = packed(
        {"ada_1001_70001_attention.py": "", "bob_1002_70002_attention.py": "", "../evil.py": ""}, tmp_path / "all.zip"
    )
    link = zipfile.ZipInfo("carol_1003_70003_attention.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    submissions = take_in([path])
    assert {one.id: one.problems for one in submissions} == {
        "1001": (),
        "1002": (),
        "1003": ("attention.py: links are not followed", NOTHING),
    }
    assert "left out, nobody's: ../evil.py" in capsys.readouterr().err


def test_links_in_an_unpacked_download_are_not_followed(tmp_path):
    secret = laid({"attention.py": "key = 1"}, tmp_path / "secret")
    entries = {"Ada_2001_assignsubmission_file/gates.py": "", "Bob_2002_assignsubmission_file/gates.py": ""}
    laid(entries, tmp_path / "all")
    (tmp_path / "all" / "Carol_2003_assignsubmission_file").symlink_to(secret)
    (tmp_path / "all" / "Dan_2004_assignsubmission_file_attention.py").symlink_to(secret / "attention.py")
    problems = {one.id: one.problems for one in take_in([tmp_path / "all"])}
    assert problems == {
        "2001": (),
        "2002": (),
        "2003": ("Carol_2003_assignsubmission_file: links are not followed", NOTHING),
        "2004": ("attention.py: links are not followed", NOTHING),
    }


def test_a_students_zips_lie_beside_their_files_and_a_name_counts_once(tmp_path):
    work = inner(tmp_path, {"work/attention.py": "zipped = 1", "work/gates.py": "zipped = 1"})
    entries = {
        "Ada_2001_assignsubmission_file/attention.py": "loose = 1",
        "Ada_2001_assignsubmission_file/work.zip": work,
    }
    (ada,) = take_in([packed(entries, tmp_path / "all.zip")])
    assert {source.name: source.cells[0] for source in ada.sources} == {
        "attention.py": "loose = 1",
        "gates.py": "zipped = 1",
    }
    assert ada.problems == ("work.zip/attention.py: not read, there is another file of this name",)


def test_zips_within_a_download_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "TOTAL_LIMIT", 2**20)
    folder = "Ada_2001_assignsubmission_file/"
    noise = os.urandom(2**20)
    entries = {f"{folder}{name}.zip": inner(tmp_path, {f"{name}.py": ""}) for name in "abcdef"}
    entries["Bob_2002_assignsubmission_file/big.zip"] = inner(tmp_path, {"attention.py": "", "noise": noise})
    entries["Carol_2003_assignsubmission_file/broken.zip"] = b"PK nonsense"
    ada, bob, carol = take_in([packed(entries, tmp_path / "all.zip")])
    assert [source.name for source in ada.sources] == ["a.py", "b.py", "c.py", "d.py", "e.py"]
    assert ada.problems == ("f.zip: not read, more than 5 zips",)
    assert bob.problems == ("big.zip: larger than 1 MiB: unpack the download first", NOTHING)
    assert carol.problems == ("broken.zip: not a readable zip archive", NOTHING)


def test_a_download_may_have_more_entries_than_a_students_zip(tmp_path, monkeypatch):
    entries = {
        f"Nr {n}_{n}_assignsubmission_file/{name}": ""
        for n in range(100, 500)
        for name in ("attention.py", "a.txt", "b.txt")
    }
    path = packed(entries, tmp_path / "all.zip")
    assert len(take_in([path])) == 400
    monkeypatch.setattr(intake, "DOWNLOAD_ENTRIES_LIMIT", 1_199)
    (whole,) = take_in([path])
    assert whole.problems == ("all.zip: more than 1,000 entries", NOTHING)
