"""The gradebook: older files keep what they hold, damage is found and never believed, one grader at a time."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from engine import gradebook
from engine.gradebook import FILE, LOCK, REBUILT, opened
from engine.marks import Mark
from engine.records import (
    CheckResult,
    ItemResult,
    Outcome,
    Status,
    Submission,
    SubmissionResult,
    UsageError,
    Verdict,
)  # fmt: skip

# The format before formats were numbered, as it was written then.
FORMAT_0 = """
CREATE TABLE results (
    id TEXT NOT NULL, digest TEXT NOT NULL, rubric TEXT NOT NULL, seed INTEGER NOT NULL, result BLOB NOT NULL,
    PRIMARY KEY (id, digest, rubric, seed)
);
CREATE TABLE marks (
    id TEXT NOT NULL, digest TEXT NOT NULL, item TEXT NOT NULL, score TEXT NOT NULL, comment TEXT NOT NULL,
    PRIMARY KEY (id, digest, item)
);
CREATE TABLE last_run (
    place INTEGER NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, rubric TEXT NOT NULL, seed INTEGER NOT NULL
);
INSERT INTO results VALUES ('alice', 'd1', 'r', 0, CAST('{"id":"alice","status":"graded","score":"7/2","max_score":"4","items":[],"problems":[],"output":"loss 1"}' AS BLOB));
INSERT INTO results VALUES ('bob', 'd2', 'other', 5, CAST('{}' AS BLOB));
INSERT INTO marks VALUES ('alice', 'd1', 'why_positions', '5/2', 'Naïve, but right.');
INSERT INTO last_run VALUES (0, 'alice', 'd1', 'r', 0);
"""
ALICE = Submission(id="alice", origin="", digest="d1")
MARK = Mark("alice", "why_positions", Fraction(5, 2), "Naïve, but right.")


def submission(number):
    return Submission(id=f"student {number}", origin="", digest=f"digest {number}")


def result(number, status=Status.GRADED, filling=0):
    verdict = Verdict("a.b.c", Outcome.HELD, examples=number, message="x" * filling)
    check = CheckResult(verdict, Fraction(number, 3), Fraction(number), "public")
    item = ItemResult("a.b", "code", Outcome.HELD, Fraction(number, 3), Fraction(number), (check,))
    return SubmissionResult(f"student {number}", status, Fraction(number, 3), Fraction(number), (item,), output="é\n")


def book(folder, rubric="r", seed=0):
    return opened(folder, rubric=rubric, seed=seed)


def fill(folder, count, filling=2000):
    """Write so many results and marks, and what the last run was about."""
    with book(folder) as kept:
        for number in range(count):
            kept.add(submission(number), result(number, filling=filling))
            kept.add_mark(Mark(f"student {number}", "essay", Fraction(number, 7), "good"), f"digest {number}")
        kept.remember_run([submission(number) for number in range(count)])
    return folder / FILE


def found(folder, count, filling=2000):
    """Return which results and marks are still there; each must be what was written."""
    with book(folder) as kept:
        results = {number: kept.find(submission(number)) for number in range(count)}
        marks = {number: kept.marks(f"student {number}", f"digest {number}") for number in range(count)}
    for number in range(count):
        assert results[number] in (None, result(number, filling=filling))
        assert marks[number] in ({}, {"essay": Mark(f"student {number}", "essay", Fraction(number, 7), "good")})
    return [number for number in results if results[number]], [number for number in marks if marks[number]]


def changed(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


# ── what is kept ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_result_comes_back_as_it_was_for_this_content_rubric_and_seed_only(tmp_path):
    with book(tmp_path) as kept:
        kept.add(submission(1), result(1))
        assert kept.find(submission(1)) == result(1)
        assert kept.find(submission(1)).output == "é\n"
        assert kept.find(Submission(id="student 1", origin="", digest="another")) is None
        assert kept.find(Submission(id="student 2", origin="", digest="digest 1")) is None
    for rubric, seed in (("other", 0), ("r", 1)):
        with book(tmp_path, rubric, seed) as kept:
            assert kept.find(submission(1)) is None


def test_what_we_failed_at_is_written_but_tried_again(tmp_path):
    with book(tmp_path) as kept:
        kept.add(submission(1), result(1, Status.WITHHELD))
        kept.remember_run([submission(1)])
        assert kept.find(submission(1)) is None
        assert [each.status for each in kept.last_run().values()] == [Status.WITHHELD]
        kept.add(submission(1), result(1))
        assert dict(kept.last_run()) == {"student 1": result(1)}
        assert kept.last_run().digests == {"student 1": "digest 1"}


def test_a_later_mark_replaces_an_earlier_one(tmp_path):
    with book(tmp_path) as kept:
        for score in (1, 2):
            kept.add_mark(Mark("alice", "essay", Fraction(score)), "d")
        assert kept.marks("alice", "d")["essay"].score == 2
        assert kept.marks("alice", "another version") == {}


def test_fresh_forgets_this_rubric_and_seed_and_no_mark(tmp_path):
    fill(tmp_path, 2)
    with book(tmp_path, seed=1) as kept:
        kept.add(submission(1), result(1))
        kept.forget()
    with book(tmp_path) as kept:
        assert kept.find(submission(1)) is not None
        kept.forget()
        assert kept.find(submission(1)) is None
    assert found(tmp_path, 2) == ([], [0, 1])


def test_every_commit_waits_for_the_disk(tmp_path):
    with book(tmp_path) as kept:
        assert kept._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert kept._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_seed_too_large_for_the_file_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="64 bits"), book(tmp_path, seed=2**63):
        pass


# ── formats ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_from_before_formats_were_numbered_keeps_its_results_and_marks(tmp_path, capsys):
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(FORMAT_0)
    for _ in range(2):  # when it is brought up to date, and after
        with book(tmp_path) as kept:
            assert kept.find(ALICE).score == Fraction(7, 2)
            assert kept.find(ALICE).output == "loss 1"
            assert kept.marks("alice", "d1") == {"why_positions": MARK}
            assert kept.last_run().digests == {"alice": "d1"}
            assert kept.last_run()["alice"].id == "alice"
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(gradebook.MIGRATIONS),)
        assert connection.execute("SELECT count(*) FROM results").fetchone() == (2,)
    assert capsys.readouterr().err == ""


def test_a_step_that_is_cut_off_is_done_again_from_the_start(tmp_path, monkeypatch):
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_0)

    def cut_off(connection):
        gradebook._with_seals(connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(gradebook, "MIGRATIONS", (cut_off,))
        with pytest.raises(KeyboardInterrupt), book(tmp_path):
            pass
    with book(tmp_path) as kept:
        assert kept.marks("alice", "d1") == {"why_positions": MARK}


def test_a_file_of_a_newer_format_is_left_alone(tmp_path):
    path = fill(tmp_path, 2)
    changed(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"made by a newer grader \(format 99"), book(tmp_path):
        pass
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == [LOCK, FILE]


# ── damage ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_damaged_result_is_not_used_and_a_damaged_mark_is_named(tmp_path, capsys):
    path = fill(tmp_path, 5)
    changed(path, "UPDATE results SET result = replace(result, '\"1\"', '\"9\"') WHERE id = 'student 3'")
    changed(path, "UPDATE results SET id = 'student 4', digest = 'x' WHERE id = 'student 0'")
    changed(path, "UPDATE marks SET score = '100' WHERE id = 'student 1'")
    changed(path, "UPDATE marks SET comment = CAST(x'ff' AS TEXT) WHERE id = 'student 2'")
    assert found(tmp_path, 5) == ([1, 2, 4], [0, 3, 4])
    said = capsys.readouterr().err
    assert "2 damaged results are not used; they are graded again" in said
    assert "the mark of 'student 1' for 'essay' is damaged and does not count" in said
    assert "'student 2'" in said
    assert found(tmp_path, 5) == ([1, 2, 4], [0, 3, 4])
    assert capsys.readouterr().err == ""


def test_results_are_not_written_as_if_a_damaged_one_had_never_been(tmp_path):
    changed(fill(tmp_path, 3), "UPDATE results SET seal = 'x' WHERE id = 'student 1'")
    with book(tmp_path) as kept, pytest.raises(UsageError, match="no result of 'student 1' any more: grade again"):
        kept.last_run()


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\0" + bytes(5000), os.urandom(20_000)])
def test_a_file_that_is_no_database_is_set_aside(tmp_path, content, capsys):
    for number in (1, 2):
        (tmp_path / FILE).write_bytes(content)
        (tmp_path / f"{FILE}-wal").write_bytes(b"and this beside it")
        assert found(tmp_path, 1) == ([], [])
        assert (tmp_path / f"{FILE}.damaged-{number}").read_bytes() == content
        assert (tmp_path / f"{FILE}.damaged-{number}-wal").read_bytes() == b"and this beside it"
        said = capsys.readouterr().err
        assert f"is kept as {FILE}.damaged-{number}" in said
        assert "0 results and 0 marks" in said


def test_a_database_without_our_tables_is_set_aside(tmp_path):
    path = fill(tmp_path, 2)
    changed(path, "ALTER TABLE marks RENAME TO merks")
    assert found(tmp_path, 2) == ([0, 1], [])
    assert (tmp_path / f"{FILE}.damaged-1").exists()


def test_what_is_whole_in_a_damaged_file_is_saved(tmp_path, capsys):
    path = fill(tmp_path, 100)
    content = bytearray(path.read_bytes())
    middle = len(content) // 4096 // 2 * 4096
    content[middle : middle + 4096] = os.urandom(4096)
    path.write_bytes(content)
    results, marks = found(tmp_path, 100)
    assert 90 <= len(results) < 100 or 90 <= len(marks) < 100
    assert len(results) + len(marks) >= 190
    said = capsys.readouterr().err
    assert f"{len(results)} results and {len(marks)} marks were saved" in said
    assert (tmp_path / f"{FILE}.damaged-1").read_bytes() == content


def test_whatever_is_damaged_nothing_wrong_is_believed(tmp_path, capsys):
    """Bytes are flipped, zeroed, cut off or doubled at random; `found` holds what is left against what was written."""
    whole = fill(tmp_path / "whole", 30, filling=300).read_bytes()
    lost = 0
    for seed in range(60):
        chance, folder = random.Random(seed), tmp_path / str(seed)
        folder.mkdir()
        content = bytearray(whole)
        for _ in range(chance.choice([1, 1, 4, 40])):
            place, length = chance.randrange(len(content)), chance.choice([1, 1, 8, 512, 4096])
            new = chance.choice([bytes(length), chance.randbytes(length), content[:length]])
            content[place : place + length] = new
        content[60:64] = whole[60:64]  # the number of the format: another one is refused, and has its own test
        if chance.random() < 0.2:
            del content[chance.randrange(len(content)) :]
        (folder / FILE).write_bytes(content)
        results, marks = found(folder, 30, filling=300)
        if len(results) + len(marks) < 60:
            lost += 1
            assert "damaged" in capsys.readouterr().err or not content
    assert lost > 20


def test_what_a_killed_run_left_beside_the_file_is_believed_only_as_far_as_it_is_whole(tmp_path):
    """The write-ahead log of a run that was killed, damaged at random: what is lost was written last."""
    with book(tmp_path) as kept:
        for number in range(20):
            kept.add(submission(number), result(number, filling=300))
        shutil.copytree(tmp_path, tmp_path / "killed")
    kept_by = []
    for seed in range(15):
        chance, folder = random.Random(seed), tmp_path / str(seed)
        shutil.copytree(tmp_path / "killed", folder)
        content = bytearray((folder / f"{FILE}-wal").read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        (folder / f"{FILE}-wal").write_bytes(content)
        results, _ = found(folder, 20, filling=300)
        assert results == list(range(len(results)))
        kept_by.append(len(results))
    assert len(set(kept_by)) > 5
    assert found(tmp_path / "killed", 20, filling=300) == (list(range(20)), [])


def test_a_repair_that_is_killed_loses_nothing(tmp_path, monkeypatch):
    """Killed before the damaged file has its new name, and before the repaired one has its own."""
    path = fill(tmp_path / "whole", 20)
    changed(path, "ALTER TABLE marks ADD COLUMN surplus")
    changed(path, "ALTER TABLE marks RENAME COLUMN comment TO remark")
    real = Path.rename
    for killed_at in (1, 2):
        folder = tmp_path / str(killed_at)
        shutil.copytree(tmp_path / "whole", folder)
        calls = []

        def rename(source, target, calls=calls, killed_at=killed_at):
            calls.append(source)
            if len(calls) == killed_at:
                raise KeyboardInterrupt
            return real(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", rename)
            for part in gradebook.PARTS[:-1]:
                (folder / f"{FILE}{part}").unlink(missing_ok=True)
            patch.setattr(gradebook, "PARTS", ("",))
            with pytest.raises(KeyboardInterrupt), book(folder):
                pass
        assert found(folder, 20) == (list(range(20)), [])
        assert not (folder / f"{FILE}{REBUILT}").exists()
        assert (folder / f"{FILE}.damaged-1").exists()


def test_a_file_whose_making_was_killed_is_made_again(tmp_path):
    """A rollback journal lies beside it: SQLite undoes what was not finished, which only a writer can."""
    child = os.fork()
    if child == 0:
        connection = sqlite3.connect(tmp_path / FILE)
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        for statement in FORMAT_0.split(";\n")[:3]:
            connection.execute(statement)
        connection.executemany("INSERT INTO marks VALUES (?, '', '', '', ?)", [(str(n), "x" * 900) for n in range(200)])
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert (tmp_path / f"{FILE}-journal").stat().st_size > 0
    with closing(gradebook._read_only(tmp_path / FILE)) as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("PRAGMA integrity_check")
    fill(tmp_path, 2)
    assert found(tmp_path, 2) == ([0, 1], [0, 1])
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOCK, FILE]


# ── one grader per folder ───────────────────────────────────────────────────────────────────────────────────────


def in_another_process(task):
    """Run a task in a forked process and return what it raised as usage error, or nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            task()
            os.write(writer, b"nothing")
        except UsageError as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as said:
        return said.read()


def open_and_close(folder):
    with book(folder):
        pass


def test_a_second_grader_is_told_who_is_at_work(tmp_path):
    with book(tmp_path):
        said = in_another_process(lambda: open_and_close(tmp_path))
        assert f"another grader (process {os.getpid()}) is at work in {tmp_path}" in said
        assert in_another_process(lambda: open_and_close(tmp_path / "elsewhere")) == "nothing"
        assert "another grader" in in_another_process(
            lambda: open_and_close(tmp_path)
        )  # the first refusal freed nothing
    assert in_another_process(lambda: open_and_close(tmp_path)) == "nothing"


def test_the_lock_of_a_dead_grader_is_no_obstacle_even_if_its_children_live(tmp_path):
    reader, writer = os.pipe()
    grader = os.fork()
    if grader == 0:
        with book(tmp_path):
            if os.fork() == 0:  # a judge, which inherits every descriptor
                signal.pause()
            os.write(writer, b"held")
            signal.pause()
    assert os.read(reader, 4) == b"held"
    assert "another grader" in in_another_process(lambda: open_and_close(tmp_path))
    judge = next(Path(f"/proc/{grader}/task/{grader}").glob("children")).read_text().split()[0]
    os.kill(grader, signal.SIGKILL)
    os.waitpid(grader, 0)
    try:
        assert in_another_process(lambda: open_and_close(tmp_path)) == "nothing"
    finally:
        os.kill(int(judge), signal.SIGKILL)


# ── folders that cannot be used ─────────────────────────────────────────────────────────────────────────────────


def test_a_folder_that_is_a_file_is_said_so(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UsageError, match=r"the output folder .*out is a file"), book(tmp_path / "out"):
        pass
    with pytest.raises(UsageError, match="cannot be used: Not a directory"), book(tmp_path / "out" / "below"):
        pass
    assert (tmp_path / "out").read_text() == "a file"


def test_a_gradebook_that_is_a_folder_is_said_so(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(UsageError, match=f"{FILE} cannot be used"), book(tmp_path):
        pass


def as_nobody(task):
    def reduced():
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        task()

    return in_another_process(reduced)


@pytest.fixture
def common(tmp_path):
    """A folder of root's that everybody can reach."""
    if os.getuid() != 0:
        pytest.skip("becoming another user takes root")
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    return tmp_path


def test_a_folder_that_is_closed_to_us_is_said_so_and_stays_as_it_is(common):
    path = fill(common / "out", 2)
    before = path.read_bytes()
    assert "cannot be used: Permission denied" in as_nobody(lambda: open_and_close(common / "out"))
    assert "cannot be used: Permission denied" in as_nobody(lambda: open_and_close(common / "new"))
    assert path.read_bytes() == before
    assert found(common / "out", 2) == ([0, 1], [0, 1])


def test_a_gradebook_that_cannot_be_written_is_said_so(common):
    path = fill(common / "out", 2)
    (common / "out").chmod(0o777)
    (common / "out" / LOCK).chmod(0o666)
    assert "cannot be used: attempt to write a readonly database" in as_nobody(lambda: fill(common / "out", 3))
    assert found(path.parent, 3) == ([0, 1], [0, 1])


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for a megabyte."""
    if os.getuid() != 0:
        pytest.skip("mounting a small disk takes root")
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_a_full_disk_is_said_and_what_was_kept_stays(small_disk):
    fill(small_disk, 5)
    with pytest.raises(UsageError, match=f"{FILE} cannot be used: database or disk is full .what it held"):
        fill(small_disk, 500)
    results, marks = found(small_disk, 500)
    assert results == list(range(len(results)))
    assert len(results) > 5
    assert len(marks) in (len(results), len(results) - 1)


def test_a_disk_without_any_room_is_said(small_disk):
    fill(small_disk, 5)
    free = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(free.f_bavail * free.f_frsize))
    with pytest.raises(UsageError, match="disk"):
        fill(small_disk, 6)
    (small_disk / "filler").unlink()
    assert found(small_disk, 5) == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])


def test_a_disk_that_fails_is_said_and_what_was_kept_stays(tmp_path):
    """A limit on the size of files makes writing fail as a broken disk does."""
    import resource

    fill(tmp_path, 5)

    def on_a_failing_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        fill(tmp_path, 200)

    assert "cannot be used: disk I/O error" in in_another_process(on_a_failing_disk)
    results, _ = found(tmp_path, 200)
    assert len(results) >= 5
