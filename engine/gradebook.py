"""The gradebook: one SQLite file per output folder, so that nothing graded is graded twice or lost.

A row is keyed by what decides a result: the submission's content, the rubric with the
code that judges by it, and the seed. A run that was stopped goes on where it was.

Results and marks carry a seal, a digest of the rest of their row: damage on disk is found
when the file is opened, and a damaged row is never believed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from fractions import Fraction
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from engine.marks import Mark
from engine.records import Status, Submission, SubmissionResult, UsageError

FILE = "gradebook.sqlite"
LOCK = "gradebook.lock"
REBUILT = ".rebuilt"
PARTS = ("-wal", "-shm", "-journal", "")  # of a file of SQLite's; the file itself last

# What files held before they had a format. An empty file has none either.
UNSEALED = """
CREATE TABLE IF NOT EXISTS results (
    id TEXT NOT NULL, digest TEXT NOT NULL, rubric TEXT NOT NULL, seed INTEGER NOT NULL, result BLOB NOT NULL,
    PRIMARY KEY (id, digest, rubric, seed)
);
CREATE TABLE IF NOT EXISTS marks (
    id TEXT NOT NULL, digest TEXT NOT NULL, item TEXT NOT NULL, score TEXT NOT NULL, comment TEXT NOT NULL,
    PRIMARY KEY (id, digest, item)
);
CREATE TABLE IF NOT EXISTS last_run (
    place INTEGER NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, rubric TEXT NOT NULL, seed INTEGER NOT NULL
)
"""
# What is sealed; the seal is one more column after these.
SEALED = {"results": "id, digest, rubric, seed, result", "marks": "id, digest, item, score, comment"}


class Gradebook:
    """Results already known; every new one is on disk before the next is begun."""

    def __init__(self, connection: sqlite3.Connection, rubric: str, seed: int) -> None:
        self._connection = connection
        self._rubric = rubric
        self._seed = seed

    def find(self, submission: Submission) -> SubmissionResult | None:
        """Return the result of this very content, if there is one that can stand: what we failed at is tried again."""
        result = self._result(submission.id, submission.digest)
        return None if result is None or result.status is Status.WITHHELD else result

    def _result(self, submission: str, digest: str) -> SubmissionResult | None:
        row = self._connection.execute(
            "SELECT result FROM results WHERE id = ? AND digest = ? AND rubric = ? AND seed = ?",
            (submission, digest, self._rubric, self._seed),
        ).fetchone()
        return decoded(row[0]) if row else None

    def add(self, submission: Submission, result: SubmissionResult) -> None:
        """Keep a result."""
        row = (submission.id, submission.digest, self._rubric, self._seed, encoded(result))
        with self._connection:
            _keep(self._connection, "results", row)

    def marks(self, submission: str, digest: str) -> dict[str, Mark]:
        """Return a person's marks for this very content, by item."""
        rows = self._connection.execute(
            "SELECT item, score, comment FROM marks WHERE id = ? AND digest = ?", (submission, digest)
        )
        return {item: Mark(submission, item, Fraction(score), comment) for item, score, comment in rows}

    def add_mark(self, mark: Mark, digest: str) -> None:
        """Keep a mark; a later one for the same item takes its place."""
        with self._connection:
            _keep(self._connection, "marks", (mark.submission, digest, mark.item, str(mark.score), mark.comment))

    def remember_run(self, submissions: Iterable[Submission]) -> None:
        """Keep which submissions the last run was about: outputs, and marks that come later, are about those."""
        with self._connection:
            self._connection.execute("DELETE FROM last_run")
            self._connection.executemany(
                "INSERT INTO last_run VALUES (?, ?, ?, ?, ?)",
                ((place, s.id, s.digest, self._rubric, self._seed) for place, s in enumerate(submissions)),
            )

    def last_run(self) -> LastRun:
        """Return the results of the last run as the machine found them."""
        rows = self._connection.execute(
            "SELECT l.id, l.digest, r.id FROM last_run AS l LEFT JOIN results AS r USING (id, digest, rubric, seed)"
            " WHERE l.rubric = ? AND l.seed = ?",
            (self._rubric, self._seed),
        ).fetchall()
        lost = [name for name, _, kept in rows if kept is None]
        if lost:  # damage: results written without it would look like a class without this student
            raise UsageError(f"the gradebook has no result of {lost[0]!r} any more: grade again")
        return LastRun(self._result, {name: digest for name, digest, _ in sorted(rows)})

    def forget(self) -> None:
        """Forget what is known for this rubric and seed (`--fresh`)."""
        with self._connection:
            self._connection.execute("DELETE FROM results WHERE rubric = ? AND seed = ?", (self._rubric, self._seed))


class LastRun(Mapping[str, SubmissionResult]):
    """The results of a run by id, in that order; each is read when it is asked for, a class is never held whole."""

    def __init__(self, read: Callable[[str, str], SubmissionResult | None], digests: Mapping[str, str]) -> None:
        self._read = read
        self.digests = digests  # of the contents, by id

    def __getitem__(self, submission: str) -> SubmissionResult:
        result = self._read(submission, self.digests[submission])
        assert result is not None, "who is in the last run has a result, and the folder is ours alone"
        return result

    def __iter__(self) -> Iterator[str]:
        return iter(self.digests)

    def __len__(self) -> int:
        return len(self.digests)


@contextmanager
def opened(folder: Path, *, rubric: str, seed: int) -> Iterator[Gradebook]:
    """Open the gradebook of an output folder, made if need be; until it is closed the folder is ours alone."""
    if not -(2**63) <= seed < 2**63:
        raise UsageError(f"the seed {seed} does not fit into 64 bits")
    try:
        with ExitStack() as held:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                held.enter_context(_locked(folder))
                connection = held.enter_context(closing(_connected(folder / FILE)))
            except FileExistsError:
                raise UsageError(f"the output folder {folder} is a file") from None
            except OSError as error:
                raise UsageError(f"the output folder {folder} cannot be used: {error.strerror}") from None
            yield Gradebook(connection, rubric, seed)
    except sqlite3.Error as error:
        raise UsageError(f"{folder / FILE} cannot be used: {error} (what it held before is kept)") from None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder. A record lock belongs to a process: it dies with it, and judges and workers inherit none."""
    with (folder / LOCK).open("a+", encoding="utf-8") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise UsageError(
                f"another grader (process {holder}) is at work in {folder}: wait for it, or say another --out"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


# ── opening ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _connected(path: Path) -> sqlite3.Connection:
    """Return a connection to a whole file of today's format whose every row is as it was written."""
    rebuilt = Path(f"{path}{REBUILT}")
    if rebuilt.exists() and not path.exists():
        rebuilt.rename(path)  # the last step of a repair that was killed
    damage = _damage(path)
    if damage:
        _repair(path, rebuilt, damage)
    connection = _current(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        _drop_damaged_rows(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a file so that looking at it does not change it, not even by finishing what a killed run began."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = _text
    return connection


def _damage(path: Path, connect: Callable[[Path], sqlite3.Connection] = _read_only) -> str:
    """Return what is wrong with a file, if it cannot be relied on."""
    if not path.exists():
        return ""
    try:
        with closing(connect(path)) as connection:
            said: str = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if said == "ok" and 0 < connection.execute("PRAGMA user_version").fetchone()[0] <= len(MIGRATIONS):
                for table, columns in SEALED.items():
                    connection.execute(f"SELECT {columns}, seal FROM {table} LIMIT 0")  # noqa: S608 - our own names
    except sqlite3.DatabaseError as error:
        kind = error.sqlite_errorcode & 0xFF
        if kind == sqlite3.SQLITE_READONLY and connect is _read_only:
            return _damage(path, sqlite3.connect)  # killed while it was made: only a writer can undo that
        if kind not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            raise
        said = str(error)
    except UnicodeDecodeError:  # SQLite names what it stumbled over, and Python cannot read the name
        said = "malformed database schema"
    return "" if said == "ok" else said.splitlines()[-1]


def _repair(path: Path, rebuilt: Path, damage: str) -> None:
    """Build a file from the whole rows of a damaged one, then exchange the two; a kill in between loses neither."""
    for part in PARTS:
        Path(f"{rebuilt}{part}").unlink(missing_ok=True)
    saved = dict.fromkeys(SEALED, 0)
    with closing(_current(rebuilt)) as connection, closing(_read_only(path)) as old, connection:
        for table in SEALED:
            for row in _whole_rows(old, table):
                _keep(connection, table, row)
            saved[table] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
    aside = _set_aside(path)
    rebuilt.rename(path)
    _say(
        f"{path} is damaged ({damage}) and is kept as {aside.name}; {saved['results']} results and {saved['marks']} "
        "marks were saved from it: results that are missing are graded again, marks must be given again"
    )


def _whole_rows(damaged: sqlite3.Connection, table: str) -> Iterator[list[Any]]:
    """Yield the rows whose seal holds, from both ends up to the damage."""
    for order in ("ASC", "DESC"):
        with suppress(
            sqlite3.DatabaseError, UnicodeDecodeError
        ):  # the damage: what lies behind it comes from the other end
            rows = damaged.execute(f"SELECT {SEALED[table]}, seal FROM {table} ORDER BY rowid {order}")  # noqa: S608
            yield from (row for *row, seal in rows if seal == _seal(table, row))


def _set_aside(path: Path) -> Path:
    """Give a file another name, and what SQLite keeps beside it; nothing is deleted."""
    free = (f"{path}.damaged-{number}" for number in count(1))
    name = next(name for name in free if not any(Path(f"{name}{part}").exists() for part in PARTS))
    for part in PARTS:
        with suppress(FileNotFoundError):
            Path(f"{path}{part}").rename(f"{name}{part}")
    return Path(name)


def _drop_damaged_rows(connection: sqlite3.Connection, path: Path) -> None:
    for table, columns in SEALED.items():
        rows = connection.execute(f"SELECT rowid, {columns}, seal FROM {table}")  # noqa: S608
        damaged = {number: row for number, *row, seal in rows if seal != _seal(table, row)}
        for name, _, item, *_ in damaged.values() if table == "marks" else ():
            _say(f"{path}: the mark of {name!r} for {item!r} is damaged and does not count; give it again")
        if damaged and table == "results":
            _say(f"{path}: {len(damaged)} damaged results are not used; they are graded again")
        with connection:
            connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(number,) for number in damaged])  # noqa: S608


# ── formats ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _current(path: Path) -> sqlite3.Connection:
    """Open a file for writing and bring it up to today's format, each step whole or not at all."""
    connection = sqlite3.connect(path)
    connection.text_factory = _text
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if not 0 <= version <= len(MIGRATIONS):
        connection.close()
        raise UsageError(
            f"{path} was made by a newer grader (format {version}, this one knows {len(MIGRATIONS)}): "
            "update the grader, or say another --out"
        )
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            step(connection)
            connection.execute(f"PRAGMA user_version = {number}")
    return connection


def _with_seals(connection: sqlite3.Connection) -> None:
    """Format 1: every row of results and marks is sealed."""
    for statement in UNSEALED.split(";"):
        connection.execute(statement)
    for table, columns in SEALED.items():
        connection.execute(f"ALTER TABLE {table} ADD COLUMN seal TEXT NOT NULL DEFAULT ''")
        for number, *row in connection.execute(f"SELECT rowid, {columns} FROM {table}").fetchall():  # noqa: S608
            connection.execute(f"UPDATE {table} SET seal = ? WHERE rowid = ?", (_seal(table, row), number))  # noqa: S608


# A file's format is the number of steps it has been through.
MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_with_seals,)


# ── rows ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _keep(connection: sqlite3.Connection, table: str, row: Sequence[Any]) -> None:
    places = ", ".join("?" * (len(row) + 1))
    connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({places})", (*row, _seal(table, row)))  # noqa: S608


def _seal(table: str, row: Sequence[Any]) -> str:
    digest = hashlib.sha256(table.encode())
    for value in row:
        raw = value if isinstance(value, bytes) else ascii(value).encode()
        digest.update(b"%d:" % len(raw) + raw)
    return digest.hexdigest()


def _text(raw: bytes) -> str:
    """Read a text as it is, even where damage made it something else: its seal will tell."""
    return raw.decode("utf-8", "surrogateescape")


def encoded(result: SubmissionResult) -> bytes:
    """Return a result as a line of JSON, its fractions exact."""
    return msgspec.json.encode(result, enc_hook=_encode)


def decoded(line: bytes) -> SubmissionResult:
    """Return the result that was encoded."""
    return msgspec.json.decode(line, type=SubmissionResult, dec_hook=_decode)


def _encode(value: Any) -> str:
    assert isinstance(value, Fraction), f"{type(value).__name__} is not part of a result"
    return str(value)


def _decode(kind: type, value: Any) -> Any:
    assert kind is Fraction, f"{kind} is not part of a result"
    return _fraction(value)


@lru_cache(maxsize=4096)  # a result has thousands of them, nearly all the same few: read once, and held once
def _fraction(text: str) -> Fraction:
    return Fraction(text)


def _say(sentence: str) -> None:
    print(f"grader: {sentence}", file=sys.stderr)
