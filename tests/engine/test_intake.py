"""What a submission is, and what becomes of everything that is not one."""

import io
import json
import os
import stat
import struct
import time
import zipfile
from pathlib import Path

import pytest

from engine import intake
from engine.intake import take_in
from engine.records import Submission, UsageError

NOTHING = "nothing to grade: no .py file, notebook or answers.toml"


def write(path: Path, content: str | bytes = "x = 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_zip(path: Path, entries: dict[str, str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def notebook(*cells: str | list[str]) -> str:
    code = [{"cell_type": "code", "source": cell} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Title"]}, *code], "nbformat": 4})


def only(path: Path) -> Submission:
    (submission,) = take_in([path])
    return submission


def ids(*paths: Path) -> list[str]:
    return [submission.id for submission in take_in(paths)]


def names(submission: Submission) -> list[str]:
    return [source.name for source in submission.sources]


# --- which paths are submissions, and what they are called


def test_a_missing_path_is_wrong_usage_and_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere does not exist\.$"):
        take_in([tmp_path / "nowhere"])


def test_an_empty_folder_is_wrong_usage_and_is_named(tmp_path):
    with pytest.raises(UsageError, match=f"^{tmp_path} holds no submission"):
        take_in([tmp_path])


def test_a_folder_with_only_a_readme_is_wrong_usage(tmp_path):
    write(tmp_path / "README.txt")
    with pytest.raises(UsageError, match="holds no submission"):
        take_in([tmp_path])


def test_a_file_of_another_kind_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match=r"notes\.txt holds no submission"):
        take_in([write(tmp_path / "notes.txt")])


def test_a_link_in_a_circle_is_wrong_usage(tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(UsageError, match="circle does not exist"):
        take_in([tmp_path / "circle"])


@pytest.mark.parametrize("module", intake.MODULES)
def test_a_folder_with_a_module_is_one_submission(tmp_path, module):
    write(tmp_path / "alice" / f"{module}.py")
    write(tmp_path / "alice" / "my_own.py")
    write(tmp_path / "alice" / "data" / "notes.txt")
    submission = only(tmp_path / "alice")
    assert submission.id == "alice"
    assert names(submission) == sorted([f"{module}.py", "my_own.py"])


def test_a_folder_with_notebooks_named_by_module_is_one_submission(tmp_path):
    write(tmp_path / "alice" / "attention.ipynb", notebook())
    write(tmp_path / "alice" / "gates.ipynb", notebook())
    assert ids(tmp_path / "alice") == ["alice"]


def test_a_folder_with_answers_is_one_submission(tmp_path):
    write(tmp_path / "alice" / "answers.toml", "[number]\n")
    assert only(tmp_path / "alice").answers == "[number]\n"


def test_a_folder_of_submissions_takes_folders_zips_scripts_and_notebooks(tmp_path):
    write(tmp_path / "alice" / "attention.py")
    write_zip(tmp_path / "bob.zip", {"attention.py": ""})
    write(tmp_path / "carol.py")
    write(tmp_path / "dave.ipynb", notebook("x = 1"))
    write(tmp_path / "README.txt")
    write(tmp_path / "grades.csv")
    assert ids(tmp_path) == ["alice", "bob", "carol", "dave"]


def test_hidden_and_tool_folders_are_no_submissions(tmp_path):
    for folder in ("__pycache__", "__MACOSX", ".git", ".ipynb_checkpoints", ".venv", "venv", "node_modules", "alice"):
        write(tmp_path / folder / "attention.py")
    assert ids(tmp_path) == ["alice"]


def test_a_students_empty_folder_is_a_submission_with_nothing_to_grade(tmp_path):
    (tmp_path / "alice").mkdir()
    assert only(tmp_path).problems == (NOTHING,)


@pytest.mark.parametrize("name", ["solution.py", "Submission.py", "HW.ipynb", "Untitled1.ipynb", "main.py"])
def test_a_lone_file_of_a_general_name_takes_the_name_of_its_folder(tmp_path, name):
    write(tmp_path / "alice" / name, notebook())
    assert ids(tmp_path / "alice") == ["alice"]


def test_a_lone_file_of_another_name_gives_its_own(tmp_path):
    write(tmp_path / "upload" / "bob.py")
    assert ids(tmp_path / "upload") == ["bob"]


def test_a_general_name_among_others_makes_them_its_helpers(tmp_path):
    write(tmp_path / "alice" / "solution.py")
    write(tmp_path / "alice" / "plots.py")
    submission = only(tmp_path / "alice")
    assert (submission.id, names(submission)) == ("alice", ["plots.py", "solution.py"])


def test_a_general_name_beside_a_data_folder_is_one_submission(tmp_path):
    write(tmp_path / "alice" / "solution.ipynb", notebook())
    write(tmp_path / "alice" / "data" / "corpus.txt")
    assert ids(tmp_path / "alice") == ["alice"]


def test_a_stray_solution_does_not_swallow_the_class(tmp_path):
    write(tmp_path / "solution.py")
    write(tmp_path / "alice" / "attention.py")
    assert ids(tmp_path) == ["alice", "solution"]


def test_several_named_files_are_several_submissions(tmp_path):
    write(tmp_path / "alice.py")
    write(tmp_path / "bob.py")
    assert ids(tmp_path) == ["alice", "bob"]


def test_a_dot_in_a_folder_name_belongs_to_the_id(tmp_path):
    write(tmp_path / "v1.0.py" / "attention.py")
    write(tmp_path / "jane.doe" / "attention.py")
    assert ids(tmp_path) == ["jane.doe", "v1.0.py"]


def test_a_file_loses_only_its_last_ending(tmp_path):
    assert ids(write(tmp_path / "jane.doe.py"), write_zip(tmp_path / "j.v2.ZIP", {"a.py": ""})) == ["j.v2", "jane.doe"]


def test_unicode_names_are_kept(tmp_path):
    write(tmp_path / "Zoë 李" / "attention.py")
    write(tmp_path / "Zoë 李" / "größe.py")
    submission = only(tmp_path)
    assert (submission.id, names(submission)) == ("Zoë 李", ["attention.py", "größe.py"])


def test_names_that_cannot_be_shown_are_made_printable(tmp_path):
    os.makedirs(os.fsencode(tmp_path) + b"/a\xff\n")  # noqa: PTH103 - a Path cannot be made of bytes
    submission = only(tmp_path)
    assert submission.id == "a\ufffd\ufffd"
    submission.origin.encode()


def test_a_folder_and_a_zip_of_one_name_are_both_kept(tmp_path):
    write(tmp_path / "alice" / "attention.py", "folder = 1")
    write_zip(tmp_path / "alice.zip", {"attention.py": "zip = 1"})
    submissions = take_in([tmp_path])
    assert [(each.id, each.sources[0].cells) for each in submissions] == [
        ("alice", ("folder = 1",)),
        ("alice~2", ("zip = 1",)),
    ]


def test_a_number_for_a_repeated_id_is_never_anothers_name(tmp_path):
    for folder in ("a/alice", "b/alice", "c/alice~2"):
        write(tmp_path / folder / "attention.py")
    submissions = take_in([tmp_path / "a", tmp_path / "b", tmp_path / "c"])
    origins = {each.id: Path(each.origin).relative_to(tmp_path).as_posix() for each in submissions}
    assert origins == {"alice": "a/alice", "alice~3": "b/alice", "alice~2": "c/alice~2"}


def test_one_place_given_in_several_ways_is_taken_once(tmp_path):
    write(tmp_path / "class" / "alice" / "attention.py")
    (tmp_path / "link").symlink_to(tmp_path / "class")
    alice = tmp_path / "class" / "alice"
    assert ids(tmp_path / "class", alice, alice / ".." / "alice", tmp_path / "link") == ["alice"]


def test_the_order_of_the_arguments_does_not_matter(tmp_path):
    places = [write(tmp_path / folder / "alice.py", folder) for folder in "abc"] + [write(tmp_path / "zoe.py")]
    assert take_in(places) == take_in(places[::-1])
    assert ids(*places) == ["alice", "alice~2", "alice~3", "zoe"]


# --- what is read of a submission


def test_scripts_in_sub_folders_keep_their_path(tmp_path):
    write(tmp_path / "alice" / "attention.py")
    write(tmp_path / "alice" / "pkg" / "helper.py")
    write(tmp_path / "alice" / "pkg" / "draft.ipynb", notebook())
    assert names(only(tmp_path)) == ["attention.py", "pkg/helper.py"]


def test_scripts_in_sub_folders_count_only_beside_something_at_the_top(tmp_path):
    write(tmp_path / "alice" / "src" / "attention.py")
    write(tmp_path / "alice" / "old" / "attention.py")
    assert only(tmp_path).problems == (NOTHING,)


@pytest.mark.parametrize(("levels", "found"), [(1, ["attention.py"]), (3, ["attention.py"]), (4, [])])
def test_a_single_sub_folder_is_entered_up_to_three_levels(tmp_path, levels, found):
    write(tmp_path.joinpath("alice", *"wxyz"[:levels], "attention.py"))
    write_zip(tmp_path / "bob.zip", {"/".join([*"wxyz"[:levels], "attention.py"]): "x = 1\n"})
    assert [names(submission) for submission in take_in([tmp_path])] == [found, found]


def test_a_students_folder_with_one_zip_is_read_through_the_zip(tmp_path):
    write_zip(tmp_path / "alice_123" / "work.zip", {"work/attention.py": "x = 1\n"})
    (tmp_path / "bob_456").mkdir()
    alice, _ = take_in([tmp_path])
    assert (alice.id, names(alice)) == ("alice_123", ["attention.py"])


def test_what_tools_leave_behind_is_ignored(tmp_path):
    junk = ["__MACOSX/._attention.py", "__pycache__/a.py", ".hidden.py", "venv/a.py", ".git/a.py", "node_modules/a.py"]
    for name in ["attention.py", *junk]:
        write(tmp_path / "alice" / name)
    write_zip(tmp_path / "bob.zip", {f"bob/{name}": "x = 1\n" for name in ["attention.py", *junk]} | {junk[0]: b"\0"})
    for submission in take_in([tmp_path]):
        assert (names(submission), submission.problems) == (["attention.py"], ())


def test_only_the_first_two_hundred_sources_are_read(tmp_path):
    write(tmp_path / "alice" / "zz" / "deep.py")
    for number in range(200):
        write(tmp_path / "alice" / f"m{number:03}.py")
    submission = only(tmp_path)
    assert len(submission.sources) == 200
    assert "zz/deep.py" not in names(submission)
    assert submission.problems == ("more than 200 source files: only the first 200 are read",)


def test_a_script_over_one_mebibyte_is_refused_and_the_others_are_read(tmp_path):
    write(tmp_path / "attention.py", b"#" * (2**20 + 1))
    write(tmp_path / "gates.py", b"#" * 2**20)
    write(tmp_path / "answers.toml", b"#" * (2**20 + 1))
    submission = only(tmp_path)
    assert names(submission) == ["gates.py"]
    assert submission.problems == ("answers.toml: larger than 1 MiB", "attention.py: larger than 1 MiB")


def test_a_huge_folder_is_not_walked_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "FOLDER_ENTRIES_LIMIT", 5)
    write(tmp_path / "alice" / "attention.py")
    for number in range(9):
        write(tmp_path / "alice" / "data" / f"{number}.txt")
    write(tmp_path / "alice" / "data" / "more" / "deep.py")
    submission = only(tmp_path)
    assert names(submission) == ["attention.py"]
    assert submission.problems == ("alice: more than 5 entries: deeper folders are not read",)


def test_links_are_not_followed(tmp_path):
    secret = write(tmp_path / "secret" / "secret.py", "key = 1")
    write(tmp_path / "class" / "alice" / "attention.py")
    (tmp_path / "class" / "alice" / "link.py").symlink_to(secret)
    (tmp_path / "class" / "alice" / "pkg").symlink_to(secret.parent)
    submission = only(tmp_path / "class")
    assert names(submission) == ["attention.py"]
    assert submission.problems == ("link.py: links are not followed", "pkg: links are not followed")


def test_a_student_who_is_a_link_is_told_so(tmp_path):
    secret = write(tmp_path / "secret" / "attention.py", "key = 1")
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "alice").symlink_to(secret.parent)
    (tmp_path / "class" / "bob.py").symlink_to(secret)
    (tmp_path / "class" / "carol.zip").symlink_to("carol.zip")
    submissions = take_in([tmp_path / "class"])
    assert [submission.problems for submission in submissions] == [
        ("alice: links are not followed", NOTHING),
        ("bob.py: links are not followed", NOTHING),
        ("carol.zip: links are not followed", NOTHING),
    ]


def test_pipes_are_not_opened(tmp_path):
    write(tmp_path / "class" / "alice" / "gates.py")
    os.mkfifo(tmp_path / "class" / "alice" / "attention.py")
    os.mkfifo(tmp_path / "class" / "bob.py")
    os.mkfifo(tmp_path / "class" / "carol.zip")
    alice, bob, carol = take_in([tmp_path / "class"])
    assert names(alice) == ["gates.py"]
    assert alice.problems == ("attention.py: not a regular file",)
    assert bob.problems == ("bob.py: not a regular file", NOTHING)
    assert carol.problems == ("carol.zip: not a regular file", NOTHING)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_a_problem(tmp_path):
    write(tmp_path / "alice" / "attention.py").chmod(0)
    assert only(tmp_path).problems == ("attention.py: cannot be read (Permission denied)", NOTHING)


# --- scripts and answers


def test_bad_utf8_is_a_problem_with_its_position(tmp_path):
    write(tmp_path / "attention.py", b"# ok\n# ok\n# \xff\n")
    write(tmp_path / "gates.py", b"# \xff in the first line\n")
    write(tmp_path / "answers.toml", b"\xef\xbb\xbf# \xff")
    write(tmp_path / "network.py")
    submission = only(tmp_path)
    assert names(submission) == ["network.py"]
    assert submission.problems == (
        "answers.toml: not valid UTF-8 (byte 5)",
        "attention.py: not valid UTF-8 (byte 12)",
        "gates.py: not valid UTF-8 (byte 2)",
    )


def test_a_coding_line_is_honoured(tmp_path):
    write(tmp_path / "attention.py", b"# -*- coding: latin-1 -*-\nname = '\xe9'\n")
    assert "name = 'é'" in only(tmp_path).sources[0].cells[0]


@pytest.mark.parametrize("coding", ["klingon", "rot-13", "punycode", "IDNA", "unicode-escape", "undefined"])
def test_a_coding_line_that_names_no_encoding_of_text_is_a_problem(tmp_path, coding):
    write(tmp_path / "attention.py", f"# coding: {coding}\nx = 1\n")
    problem, nothing = only(tmp_path).problems
    assert problem.lower() == f"attention.py: unknown encoding: {coding.lower()}"
    assert nothing == NOTHING


def test_bytes_outside_the_named_encoding_are_a_problem(tmp_path):
    write(tmp_path / "attention.py", b"# coding: ascii\n# \xe9\n")
    assert only(tmp_path).problems[0] == "attention.py: not valid ascii (byte 18)"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    write(tmp_path / "attention.py", b"\xef\xbb\xbfx = 1\n")
    write(tmp_path / "answers.toml", b"\xef\xbb\xbf[number]\n")
    submission = only(tmp_path)
    assert (submission.sources[0].cells, submission.answers) == (("x = 1\n",), "[number]\n")


def test_a_nul_byte_is_a_problem(tmp_path):
    write(tmp_path / "attention.py", "x = 1\n".encode("utf-16-le"))
    assert only(tmp_path).problems[0] == "attention.py: holds a NUL byte (byte 1); is it saved as UTF-16?"


def test_nothing_is_run(tmp_path):
    write(tmp_path / "attention.py", f"open({str(tmp_path / 'ran')!r}, 'w')")
    write(tmp_path / "conftest.py", f"open({str(tmp_path / 'ran')!r}, 'w')")
    take_in([tmp_path])
    assert not (tmp_path / "ran").exists()


def test_code_with_an_error_is_still_handed_on(tmp_path):
    write(tmp_path / "attention.py", "def softmax(:\n")
    submission = only(tmp_path)
    assert (submission.sources[0].cells, submission.problems) == (("def softmax(:\n",), ())


# --- notebooks


def cells_of(tmp_path: Path, *cells: str | list[str]) -> tuple[str, ...]:
    submission = only(write(tmp_path / "alice.ipynb", notebook(*cells)))
    assert submission.problems == ()
    return submission.sources[0].cells


def test_a_notebook_gives_its_code_cells_in_order(tmp_path):
    assert cells_of(tmp_path, ["x = 1\n", "y = 2"], "z = 3", "") == ("x = 1\ny = 2", "z = 3", "")


def test_magics_become_pass_and_lines_keep_their_numbers(tmp_path):
    cell = "%matplotlib inline\n!pip install x \\\n    y\nif True:\n    %time f()\nsoftmax??\n?softmax\nf = !ls\ny = 2"
    (text,) = cells_of(tmp_path, cell)
    assert text.split("\n") == [
        "pass  # %matplotlib inline",
        "pass  # !pip install x \\",
        "    pass  # y",
        "if True:",
        "    pass  # %time f()",
        "pass  # softmax??",
        "pass  # ?softmax",
        "pass  # f = !ls",
        "y = 2",
    ]


@pytest.mark.parametrize(
    "cell",
    [
        'print("%d"\n      % (1,\n  ))',
        'text = """\n%d\n!important\nwhy?\n\\"""\n% still\n"""',
        "y = 7 \\\n  % 2",
        "# why?\nx = 1  # a ' quote\ny = '('\nz = '#'",
        "x != 2",
    ],
)
def test_python_that_looks_like_a_magic_is_left_alone(tmp_path, cell):
    assert cells_of(tmp_path, cell) == (cell,)


def test_a_magic_after_a_string_or_bracket_has_ended_is_still_one(tmp_path):
    (text,) = cells_of(tmp_path, 'x = """a\n"""\ny = (1,\n 2)\nz = "don\'t"\n%time')
    assert text.endswith("\npass  # %time")


def test_cells_for_another_program_are_dropped(tmp_path):
    kept = ("pass  # %%time\nx = 1", "\npass  # %%capture out\ny = 2", "z = 3")
    assert cells_of(tmp_path, "%%bash\nrm x", "%%time\nx = 1", "\n%%capture out\ny = 2", "%%timeme\n", "z = 3") == kept


def test_half_a_surrogate_pair_is_replaced(tmp_path):
    write(tmp_path / "alice.ipynb", r'{"cells": [{"cell_type": "code", "source": "x = \"\ud800\""}]}')
    assert only(tmp_path).sources[0].cells == ('x = "\ufffd"',)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{\n "cells": [\n  1,,\n]}', "line 3, column 5: Expecting value"),
        ("", "line 1, column 1: Expecting value"),
        ('{"cells": {"a": 1}}', "no list of cells"),
        ("[1, 2]", "no list of cells"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "a number is too long"),
    ],
)
def test_what_is_no_notebook_is_a_problem(tmp_path, content, reason):
    write(tmp_path / "notes.ipynb", content)
    assert only(tmp_path).problems == (f"notes.ipynb: not a notebook ({reason})", NOTHING)


def test_an_unreadable_cell_leaves_the_others_standing(tmp_path):
    cells = [7, {"cell_type": "code"}, {"cell_type": "code", "source": [1]}, {"cell_type": "code", "source": "a\0"}]
    cells.append({"cell_type": "code", "source": "x = 1"})
    submission = only(write(tmp_path / "alice.ipynb", json.dumps({"cells": cells})))
    assert submission.sources[0].cells == ("x = 1",)
    assert submission.problems == tuple(f"alice.ipynb: cell {n} is not a readable code cell" for n in (1, 2, 3, 4))


def test_a_notebook_may_be_large_for_its_plots_but_not_for_its_code(tmp_path):
    plot = {"cell_type": "code", "source": "plot()", "outputs": ["x" * 2**21]}
    code = {"cell_type": "code", "source": "#" * (2**20 + 1)}
    write(tmp_path / "alice.ipynb", json.dumps({"cells": [plot]}))
    write(tmp_path / "bob.ipynb", json.dumps({"cells": [code]}))
    write(tmp_path / "carol.ipynb", b" " * (20 * 2**20 + 1))
    alice, bob, carol = take_in([tmp_path])
    assert (alice.sources[0].cells, alice.problems) == (("plot()",), ())
    assert bob.problems == ("bob.ipynb: more than 1 MiB of code", NOTHING)
    assert carol.problems == ("carol.ipynb: larger than 20 MiB", NOTHING)


@pytest.mark.parametrize("unit", [" ", '\\"', "\\", "(", "a", "\\\n"])
@pytest.mark.parametrize("start_of_cell", ["", '"""', "%"])
def test_no_cell_takes_long_to_read(tmp_path, start_of_cell, unit):
    start = time.monotonic()
    cells_of(tmp_path, start_of_cell + unit * 2**18)
    assert time.monotonic() - start < 5


def test_an_upper_case_ending_is_read_like_any_other(tmp_path):
    (source,) = only(write(tmp_path / "ALICE.IPYNB", notebook("x = 1"))).sources
    assert source.is_notebook


# --- zips


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\5\6" + b"\xff" * 18, b"PK\5\6" + b"\0" * 8 + b"\xff" * 10])
def test_a_broken_zip_is_a_problem(tmp_path, content):
    write(tmp_path / "work.zip", content)
    assert only(tmp_path).problems == ("work.zip: not a readable zip archive", NOTHING)


def test_a_zip_cut_short_is_a_problem(tmp_path):
    path = write_zip(tmp_path / "work.zip", {"attention.py": "x = 1\n" * 1000})
    path.write_bytes(path.read_bytes()[:-30])
    assert only(tmp_path).problems == ("work.zip: not a readable zip archive", NOTHING)


def test_a_damaged_entry_leaves_the_others_standing(tmp_path):
    with zipfile.ZipFile(tmp_path / "work.zip", "w") as archive:
        archive.writestr("attention.py", "x = 'spoil me'\n")
        archive.writestr("gates.py", "x = 1\n")
    path = tmp_path / "work.zip"
    path.write_bytes(path.read_bytes().replace(b"spoil", b"SPOIL"))
    submission = only(path)
    assert names(submission) == ["gates.py"]
    assert submission.problems == ("attention.py: damaged in the archive",)


def test_an_encrypted_entry_is_a_problem(tmp_path):
    path = write_zip(tmp_path / "work.zip", {"attention.py": "x = 1\n"})
    data = bytearray(path.read_bytes())
    data[6] |= 1  # the flag in the entry's own header
    data[data.index(b"PK\1\2") + 8] |= 1  # and in the directory
    path.write_bytes(data)
    assert only(path).problems == ("attention.py: encrypted", NOTHING)


def test_an_unusual_method_is_refused_before_it_can_grow(tmp_path):
    with zipfile.ZipFile(tmp_path / "work.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("attention.py", b"#" * 2**16)
    assert only(tmp_path).problems[0] == "attention.py: packed by an unusual method: use an ordinary zip"


def test_a_zip_bomb_is_stopped_at_the_bound_of_its_file(tmp_path):
    write_zip(tmp_path / "bomb.zip", {"attention.py": bytes(64 * 2**20), "gates.py": "x = 1\n"})
    submission = only(tmp_path)
    assert names(submission) == ["gates.py"]
    assert submission.problems == ("attention.py: larger than 1 MiB",)


def test_a_size_that_the_header_understates_is_not_believed(tmp_path):
    path = write_zip(tmp_path / "bomb.zip", {"attention.py": bytes(4 * 2**20)})
    data = path.read_bytes().replace(struct.pack("<L", 4 * 2**20), struct.pack("<L", 10))
    path.write_bytes(data)
    assert only(path).problems == ("attention.py: damaged in the archive", NOTHING)


def test_all_files_of_a_zip_together_are_bounded(tmp_path):
    large = notebook() + " " * (19 * 2**20)
    write_zip(tmp_path / "alice.zip", {f"{name}.ipynb": large for name in "abcd"})
    submission = only(tmp_path)
    assert names(submission) == ["a.ipynb", "b.ipynb"]
    assert submission.problems == tuple(f"{name}.ipynb: not read, the submission exceeds 50 MiB" for name in "cd")


def test_large_data_beside_the_code_does_no_harm(tmp_path):
    write_zip(tmp_path / "alice.zip", {"attention.py": "x = 1\n", "corpus.bin": bytes(51 * 2**20)})
    assert only(tmp_path).problems == ()


def test_a_zip_of_too_many_entries_is_a_problem(tmp_path):
    write_zip(tmp_path / "full.zip", {f"{number}.txt": "" for number in range(1_000)})
    write_zip(tmp_path / "over.zip", {f"{number}.txt": "" for number in range(1_001)})
    full, over = take_in([tmp_path])
    assert full.problems == (NOTHING,)
    assert over.problems == ("over.zip: more than 1,000 entries", NOTHING)


def test_the_directory_of_a_zip_is_bounded_too(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "ZIP_READ_LIMIT", 2**16)
    write_zip(tmp_path / "work.zip", {f"{number:060}.txt": "" for number in range(900)})
    assert only(tmp_path).problems[0] == "work.zip: not a readable zip archive"


@pytest.mark.parametrize("name", ["../evil.py", "a/../../evil.py", "/etc/evil.py", "C:/evil.py", "..\\evil.py"])
def test_paths_that_lead_out_of_a_zip_are_refused(tmp_path, name):
    write_zip(tmp_path / "work.zip", {"attention.py": "x = 1\n", name: "evil = 1"})
    submission = only(tmp_path)
    assert names(submission) == ["attention.py"]
    shown = name.replace("\\", "/")
    assert submission.problems == (f"{shown}: paths that lead out of the archive are not read",)


def test_links_in_a_zip_are_not_followed(tmp_path):
    link, pipe = zipfile.ZipInfo("link.py"), zipfile.ZipInfo("pipe.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    pipe.external_attr = (stat.S_IFIFO | 0o777) << 16
    path = write_zip(tmp_path / "work.zip", {"attention.py": "x = 1\n"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr(pipe, "")
    submission = only(path)
    assert names(submission) == ["attention.py"]
    assert submission.problems == ("link.py: links are not followed", "pipe.py: not a regular file")


def test_the_last_of_two_entries_of_one_name_counts(tmp_path):
    path = write_zip(tmp_path / "work.zip", {"attention.py": "old = 1"})
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("attention.py", "new = 1")
    submission = only(path)
    assert submission.sources[0].cells == ("new = 1",)
    assert submission.problems == ("attention.py: more than once in the archive, the last one counts",)


def test_backslashes_and_empty_steps_in_a_zip_are_folders(tmp_path):
    write_zip(tmp_path / "work.zip", {"./work\\attention.py": "x = 1\n", "work//pkg/./helper.py": "y = 1\n"})
    assert names(only(tmp_path)) == ["attention.py", "pkg/helper.py"]


def test_reading_a_zip_writes_nothing(tmp_path):
    write_zip(tmp_path / "work.zip", {"attention.py": "x = 1\n"})
    take_in([tmp_path])
    assert os.listdir(tmp_path) == ["work.zip"]  # noqa: PTH208 - names are all we ask for


def test_no_zip_with_a_spoilt_byte_stops_the_intake(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("é/attention.py", "x = 1\n")
        archive.writestr("é/gates.ipynb", notebook("x = 1"))
    whole = buffer.getvalue()
    for position in range(len(whole)):
        spoilt = bytearray(whole)
        spoilt[position] ^= 0xFF
        (tmp_path / "work.zip").write_bytes(spoilt)
        assert only(tmp_path).id == "work"


# --- digests


def test_equal_content_has_an_equal_digest_wherever_it_lies(tmp_path):
    content = {"attention.py": "x = 1\n", "answers.toml": "[number]\n", "pkg/helper.py": b"\xff"}
    for name, data in content.items():
        write(tmp_path / "alice" / name, data)
    write_zip(tmp_path / "bob.zip", {f"deep/{name}": data for name, data in reversed(content.items())})
    write(tmp_path / "carol.zip", "broken")
    write(tmp_path / "dave.zip", "also broken")
    alice, bob, carol, dave = take_in([tmp_path])
    assert alice.digest == bob.digest
    assert carol.digest == dave.digest
    assert len(alice.digest) == 64


@pytest.mark.parametrize("name", ["attention.py", "answers.toml", "more.py"])
def test_any_change_of_content_changes_the_digest(tmp_path, name):
    for student in ("alice", "bob"):
        write(tmp_path / student / "attention.py", "x = 1\n")
        write(tmp_path / student / "answers.toml", "")
    write(tmp_path / "bob" / name, "# changed\n")
    alice, bob = take_in([tmp_path])
    assert alice.digest != bob.digest
