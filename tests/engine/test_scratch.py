"""The folder a submission may write in: there for its own use, bounded, and empty for whoever comes next."""

import os
import shutil

import pytest

from engine.corpus import draw
from engine.intake import take_in
from engine.pipeline import Judge
from engine.records import Outcome, Status
from engine.rubric import read_rubric
from engine.sandbox import Tier
from engine.worker.lockdown import kernel_support
from engine.worker.scratch import MOST_FILES, Scratch

RIGHT = """
import json, os, tempfile
import numpy as np

{before}

def softmax(x, axis=-1):
    {inside}
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
USES_FILES = """
np.save("table.npy", np.ones(3))
with open(os.path.join(tempfile.mkdtemp(), "vocabulary.json"), "w") as file:
    json.dump({"the": 0}, file)
assert np.load("table.npy").sum() == 3
"""
FAILS_UNLESS_EMPTY = "assert os.listdir('.') == [], os.listdir('.')"
LEAVES_A_MESS = """
os.makedirs("a/b/c")
os.mkdir("closed", 0)
open("a/b/c/note", "w").write("for whoever comes next")
open(b"\\xff\\xfe", "w").close()
"""
MANY_FILES = "[open(f'{number}', 'w').close() for number in range(10**6)]"
DEEP_FOLDERS = """
top = "x"
for depth in range(10**5):
    os.mkdir("y")
    os.rename(top, "y/x") if depth else os.mkdir("x")
    os.rename("y", "x") if depth else os.rmdir("y")
"""
LARGE_FILE = "open('large', 'wb').write(bytes(2**25))"
MUCH_IN_SMALL_FILES = (
    "[open(f'{number}', 'wb').write(bytes(2**20)) for number in range(100)]; __import__('time').sleep(1)"
)


@pytest.fixture(scope="module", params=[Tier.BUBBLEWRAP, Tier.KERNEL])
def judge(request, own_cache):
    missing = kernel_support() or ("" if request.param is Tier.KERNEL or shutil.which("bwrap") else "no bubblewrap")
    if missing:
        pytest.skip(missing)
    rubric = read_rubric().only(["attention.softmax"])
    with Judge(rubric, draw(rubric.checks, number=0, examples=4), request.param) as running:
        yield running


@pytest.fixture
def graded(judge, tmp_path):
    def run(before: str = "", inside: str = ""):
        (tmp_path / "attention.py").write_text(RIGHT.format(before=before, inside=inside), encoding="utf-8")
        (submission,) = take_in([tmp_path / "attention.py"])
        return judge.result(submission)

    return run


def messages(result):
    return " ".join(check.verdict.message for check in result.items[0].checks)


def test_files_may_be_written_and_read_back(graded):
    result = graded(before=USES_FILES)
    assert result.score == result.max_score, messages(result)


def test_what_one_submission_leaves_the_next_does_not_find(graded):
    assert graded(before=LEAVES_A_MESS).items[0].outcome is Outcome.HELD
    result = graded(before=FAILS_UNLESS_EMPTY)
    assert result.score == result.max_score, messages(result)


def test_a_lost_worker_leaves_nothing_for_its_successor(graded):
    result = graded(
        before=FAILS_UNLESS_EMPTY, inside="open('left', 'w').close(); np.abs(x).max() > 500 and os._exit(1)"
    )
    lost = [check.verdict for check in result.items[0].checks if check.verdict.outcome is not Outcome.HELD]
    assert [verdict.check for verdict in lost] == ["attention.softmax.survives_extreme_logits"], messages(result)


@pytest.mark.parametrize("attack", [MANY_FILES, DEEP_FOLDERS], ids=["many files", "deep folders"])
def test_whoever_makes_too_many_files_is_stopped(graded, attack):
    result = graded(before=attack)
    assert result.items[0].outcome is Outcome.RAISED
    assert "wrote more than 16 MiB or 1000 files" in messages(result)
    assert result.status is Status.GRADED
    assert graded(before=FAILS_UNLESS_EMPTY).items[0].outcome is Outcome.HELD


def test_a_file_has_a_largest_size(graded):
    result = graded(before=LARGE_FILE)
    assert result.items[0].outcome is Outcome.RAISED
    assert "OSError" in messages(result)


def test_all_files_together_have_a_largest_size(graded):
    result = graded(before=MUCH_IN_SMALL_FILES)
    assert result.items[0].outcome is Outcome.RAISED
    assert "No space left" in messages(result) or "wrote more than 16 MiB" in messages(result)


def test_an_overfull_folder_is_noticed_and_emptied(tmp_path):
    scratch = Scratch(str(tmp_path), most_bytes=10)
    assert not scratch.is_overfull()
    (tmp_path / "large").write_text("more than ten bytes")
    assert scratch.is_overfull()
    (tmp_path / "large").unlink()
    for number in range(MOST_FILES + 1):
        (tmp_path / str(number)).touch()
    assert scratch.is_overfull()
    scratch.empty()
    assert list(tmp_path.iterdir()) == []


def test_folders_nested_deeper_than_a_path_is_long_are_removed(tmp_path):
    top = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("n" * 100, dir_fd=top)
        inner = os.open("n" * 100, os.O_RDONLY, dir_fd=top)
        os.close(top)
        top = inner
    os.close(top)
    scratch = Scratch(str(tmp_path), most_bytes=10)
    assert scratch.is_overfull()
    scratch.empty()
    assert list(tmp_path.iterdir()) == []
