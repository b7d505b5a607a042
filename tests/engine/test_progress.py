"""Progress on stderr: lines for programs, a bar for people, nothing where nobody asked."""

import json
import os
import pty
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from engine.progress import Lines, Silent
from engine.records import Status, SubmissionResult

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "submissions" / "examples"
ALICE = SubmissionResult("alice", Status.GRADED, Fraction(1), Fraction(1), ())
QUICK = ("--only", "attention.causal_mask", "--examples", "5", "--jobs", "1")


def command(tmp_path, *options):
    """Grade alice and bob, who are both right."""
    for name in ("alice", "bob"):
        (tmp_path / "class" / name).mkdir(parents=True, exist_ok=True)
        text = (EXAMPLES / "right_numpy" / "attention.py").read_text(encoding="utf-8")
        (tmp_path / "class" / name / "attention.py").write_text(f"{text}\n# {name}\n", encoding="utf-8")
    return [sys.executable, str(ROOT / "grader.py"), "grade", str(tmp_path / "class"), "--out", str(tmp_path / "out"),
            *QUICK, *options]  # fmt: skip


def graded(tmp_path, *options):
    return subprocess.run(command(tmp_path, *options), capture_output=True, text=True, check=True)


def test_programs_read_a_line_per_submission_and_the_results_apart_from_it(tmp_path):
    done = graded(tmp_path, "--progress", "json", "--json")
    _, *lines = done.stderr.splitlines()
    records = [json.loads(line) for line in lines]
    assert [sorted(record) for record in records] == [["done", "id", "rate", "seconds", "status", "total"]] * 2
    assert {record["id"] for record in records} == {"alice", "bob"}
    assert [(record["done"], record["total"], record["status"]) for record in records] == [
        (1, 2, "graded"),
        (2, 2, "graded"),
    ]
    assert records[0]["seconds"] <= records[1]["seconds"]
    assert [each["id"] for each in json.loads(done.stdout)["submissions"]] == ["alice", "bob"]
    again = graded(tmp_path, "--progress", "json")
    assert len(again.stderr.splitlines()) == 1  # nothing was graded: only the line on the lock-down


def test_nothing_but_the_lock_down_is_said_into_a_pipe(tmp_path):
    (line,) = graded(tmp_path).stderr.splitlines()
    assert line.startswith("lock-down: ")


def test_a_terminal_gets_a_bar_with_rate_and_time_left_unless_it_is_not_wanted(tmp_path):
    for options, is_shown in (((), True), (("--fresh", "--progress", "none"), False)):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            command(tmp_path, *options), stderr=theirs, stdout=subprocess.DEVNULL,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        )  # fmt: skip
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:
            assert process.wait() == 0  # Linux' way to say that the other end was closed
        os.close(ours)
        assert process.wait() == 0
        assert (
            bool(re.search(rb"2/2.*\d\.\d/s, 0 s left  bob", re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", seen))) is is_shown
        )


def test_results_of_an_earlier_run_count_as_done_but_not_for_the_rate():
    progress = Silent()
    progress.tell(ALICE)
    progress.start(3)
    assert (progress.done, progress.total, progress.rate) == (1, 3, 0)
    progress.tell(ALICE)
    assert progress.done == 2
    assert progress.rate > 0


def test_an_id_cannot_forge_a_line(capsys):
    lines = Lines()
    lines.start(1)
    lines.tell(SubmissionResult('x"\n{"id": "bob', Status.GRADED, Fraction(1), Fraction(1), ()))
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["id"] == 'x"\n{"id": "bob'
