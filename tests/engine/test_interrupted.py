"""Runs that are stopped, killed, or out of room: what was graded stays, nobody is left behind, the rest is resumed."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from engine import gradebook, pipeline
from engine.commands import main
from engine.pipeline import Options, grade
from engine.records import Status, SubmissionResult, UsageError
from engine.results import write_results
from engine.stopping import Stopped, stoppable
from tests.engine.kill_runs import PR_SET_CHILD_SUBREAPER, left_after, living_descendants, results

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "submissions" / "examples"
QUICK = ["right_numpy", "softmax_over_the_wrong_axis", "softmax_forgets_keepdims"]
RUBRIC = """
title = "patient"
examples = 10
[limits]
call_seconds = 60.0
submission_seconds = 300.0
[item."attention.softmax"]
rows_sum_to_one = { points = 1, visibility = "public" }
"""


@pytest.fixture
def course(tmp_path):
    """Three submissions that are quickly graded, one that takes forever, and a rubric with the patience to wait for it."""
    folder = tmp_path / "class"
    for name in QUICK:
        (folder / name).mkdir(parents=True)
        (folder / name / "attention.py").write_bytes((EXAMPLES / name / "attention.py").read_bytes())
    endless = "def softmax(x, axis=-1):\n    while True: pass\n"
    (folder / "the_last").mkdir()
    (folder / "the_last" / "attention.py").write_text(endless, encoding="utf-8")
    (tmp_path / "rubric.toml").write_text(RUBRIC, encoding="utf-8")
    return folder


def command(course, *paths, jobs=2):
    paths = paths or (course,)
    return ["grade", *map(str, paths), "--out", str(course.parent / "out"), "--rubric", str(course.parent / "rubric.toml"),
            "--jobs", str(jobs)]  # fmt: skip


def started(arguments, **environment):
    def as_from_a_terminal():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setpgid(0, 0)

    return subprocess.Popen(
        [sys.executable, str(ROOT / "grader.py"), *arguments], env={**os.environ, **environment}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=as_from_a_terminal,  # noqa: PLW1509
    )  # fmt: skip


def wait_for_results(out, count, process):
    while len(results(out)) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


# ── signals ─────────────────────────────────────────────────────────────────────────────────────────────────────

STOPS = {
    "Ctrl-C": (signal.SIGINT, 2, True, 130),
    "Ctrl-C, one judge": (signal.SIGINT, 1, False, 130),
    "SIGTERM": (signal.SIGTERM, 2, False, 143),
    "SIGKILL": (signal.SIGKILL, 2, False, -9),
    "SIGKILL, one judge": (signal.SIGKILL, 1, True, -9),
}


@pytest.mark.parametrize("stop", STOPS)
def test_a_run_that_is_stopped_keeps_what_it_graded_and_leaves_nobody_behind(course, stop):
    """The worker is in an endless loop at that moment; with bubblewrap and, where PATH has none, without."""
    import ctypes

    number, jobs, bubblewrap, code = STOPS[stop]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = living_descendants()  # other tests of this process keep their workers
    process = started(command(course, jobs=jobs), **({} if bubblewrap else {"PATH": ""}))
    wait_for_results(course.parent / "out", 3, process)
    begun = time.monotonic()
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: everybody in the foreground gets it
    else:
        process.send_signal(number)
    _, said = process.communicate()
    seconds = time.monotonic() - begun
    assert left_after(2.0, before) == []
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert seconds < 5, "a second when nothing else runs on this machine"
    if number != signal.SIGKILL:
        assert said.endswith(
            "grader: stopped; 3 of 4 submissions are graded and kept, the same command goes on from there\n"
        )
    assert not (course.parent / "out" / "results.json").exists()
    kept = results(course.parent / "out")
    assert main(command(course, *(course / name for name in QUICK))) == 0
    assert results(course.parent / "out") == kept  # rows of the first run: nothing was graded again


def test_two_graders_exclude_each_other_until_the_first_is_dead(course, capsys):
    process = started(command(course))
    wait_for_results(course.parent / "out", 3, process)
    (course.parent / "marks.csv").write_text("submission,item,score\n")
    for arguments in (command(course), ["mark", str(course.parent / "marks.csv"), *command(course)[2:-2]]):
        assert main(arguments) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.startswith(f"grader: another grader (process {process.pid}) is at work in")
    process.kill()
    process.communicate()
    assert main(command(course, *(course / name for name in QUICK))) == 0


def test_killed_at_random_moments_a_run_resumes_to_the_same_bytes():
    """The long version is `make kills`."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "engine" / "kill_runs.py"), "--kills", "1", "--submissions", "3"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SIGKILL" in done.stdout
    assert "0 problems" in done.stdout


def test_a_signal_becomes_an_exception_and_only_inside_the_block():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Stopped) as stopped, stoppable():
        signal.raise_signal(signal.SIGTERM)
    assert stopped.value.exit_code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable():
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_stopping_is_the_main_threads_matter():
    ran = []

    def run():
        with stoppable():
            ran.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ran == [True]


# ── no room ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for two megabytes."""
    if os.getuid() != 0:
        pytest.skip("mounting a small disk takes root")
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.parametrize(("room", "says"), [(0, "cannot be used: "), (100_000, "cannot be written into")])
def test_a_full_disk_is_wrong_usage_and_costs_nothing(course, small_disk, room, says, capsys):
    """Full before anything could be kept, and full when the results are kept but cannot be written."""
    out = small_disk / "out"
    arguments = ["--rubric", str(course.parent / "rubric.toml"), "--jobs", "1", "--out", str(out)]
    first, everybody = [str(course / QUICK[0])], [str(course / name) for name in QUICK]
    assert main(["grade", *first, *arguments]) == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.suffix in (".json", ".csv", ".html")}
    assert len(before) == 5  # two tables, two pages for all, one of the submission
    free = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(free.f_bavail * free.f_frsize - room))
    capsys.readouterr()
    assert main(["grade", *everybody, *arguments]) == 2
    (_, said) = capsys.readouterr().err.splitlines()
    assert said.startswith("grader: ")
    assert says in said
    after = {path: path.read_bytes() for path in before}
    assert room or after == before
    (small_disk / "filler").unlink()
    assert main(["grade", *everybody, *arguments]) == 0
    assert main(["grade", *everybody, *arguments[:-1], str(course.parent / "elsewhere")]) == 0
    assert (out / "results.json").read_bytes() == (course.parent / "elsewhere" / "results.json").read_bytes()
    assert all(after[path] in (before[path], path.read_bytes()) for path in before)  # old or new, whole in any case
    assert not list(out.rglob("*.unfinished"))


def test_nobody_waits_for_the_other_judges_once_nothing_can_be_kept(course, monkeypatch):
    def refuse(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(gradebook.Gradebook, "add", refuse)
    options = Options(out=course.parent / "out", rubric=course.parent / "rubric.toml", jobs=2)
    begun = time.monotonic()
    with pytest.raises(UsageError, match="disk is full"):
        grade([course], options, lambda _: None, lambda _: None)
    assert time.monotonic() - begun < 50, "the slow one alone takes a minute"


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────


def write(folder, *results):
    write_results(folder, results, rubric="r", seed=0, texts={}, title="")


def test_what_a_killed_run_was_writing_is_removed(tmp_path):
    for name in (".results.json.unfinished", "report/.index.html.unfinished", "output/.bob.txt.unfinished"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("half a fi")
    write(tmp_path)
    assert not list(tmp_path.rglob(".*"))
    assert (tmp_path / "results.json").exists()


def test_a_file_is_on_disk_before_it_takes_its_name_and_its_name_soon_after(tmp_path, monkeypatch):
    done = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(descriptor):
        done.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real_sync(descriptor)

    def replace_(source, target):
        done.append(f"{source.name} -> {target.name}")
        return real_replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace_)
    write(tmp_path / "out")
    first = [".results.json.unfinished", ".results.json.unfinished -> results.json", "out"]
    assert done[:3] == first


# ── resuming ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def graded(course, monkeypatch):
    """Grade the three quick ones with a judge that is not asked twice; return who was judged."""
    asked = []

    def judged(submissions, *_):
        for submission in submissions:
            asked.append(submission.id)
            yield submission, SubmissionResult(submission.id, Status.GRADED, Fraction(1), Fraction(1), ())

    monkeypatch.setattr(pipeline, "judged", judged)
    monkeypatch.setattr(pipeline, "_written", lambda *_: [])
    options = Options(out=course.parent / "out", rubric=course.parent / "rubric.toml")

    def run(**changes):
        asked.clear()
        grade([course / name for name in QUICK], replace(options, **changes), lambda _: None, lambda _: None)
        return list(asked)

    return run


def test_nothing_is_graded_twice_until_something_that_decides_it_changes(course, graded, monkeypatch):
    everybody = sorted(QUICK)
    assert sorted(graded()) == everybody
    assert graded() == []
    with (course / QUICK[1] / "attention.py").open("a", encoding="utf-8") as file:
        file.write("# another version\n")
    assert graded() == [QUICK[1]]
    assert sorted(graded(seed=1)) == everybody
    assert sorted(graded(examples=11)) == everybody
    (course.parent / "rubric.toml").write_text(RUBRIC.replace("points = 1", "points = 2"), encoding="utf-8")
    assert sorted(graded()) == everybody
    (course.parent / "rubric.toml").write_text(RUBRIC, encoding="utf-8")
    assert graded() == graded(seed=1) == graded(examples=11) == []
    monkeypatch.setattr(pipeline, "code_digest", lambda: "another version of the grader")
    assert sorted(graded()) == everybody
    assert sorted(graded(fresh=True)) == everybody
