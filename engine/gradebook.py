"""The gradebook: one SQLite file per output folder, so that nothing graded is graded twice or lost.

A row is keyed by what decides a result: the submission's content, the rubric with the
code that judges by it, and the seed. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from engine.marks import Mark
from engine.records import Status, Submission, SubmissionResult, UsageError

FILE = "gradebook.sqlite"
SCHEMA = """
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
);
"""


class Gradebook:
    """Results already known; every new one is on disk before the next is begun."""

    def __init__(self, connection: sqlite3.Connection, rubric: str, seed: int) -> None:
        self._connection = connection
        self._rubric = rubric
        self._seed = seed

    def find(self, submission: Submission) -> SubmissionResult | None:
        """Return the result of this very content, if there is one that can stand."""
        row = self._connection.execute(
            "SELECT result FROM results WHERE id = ? AND digest = ? AND rubric = ? AND seed = ?",
            (submission.id, submission.digest, self._rubric, self._seed),
        ).fetchone()
        return msgspec.json.decode(row[0], type=SubmissionResult, dec_hook=_decode) if row else None

    def add(self, submission: Submission, result: SubmissionResult) -> None:
        """Keep a result, unless it was withheld: what we failed at is tried again next time."""
        if result.status is Status.WITHHELD:
            return
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)",
                (
                    submission.id,
                    submission.digest,
                    self._rubric,
                    self._seed,
                    msgspec.json.encode(result, enc_hook=_encode),
                ),
            )

    def marks(self, submission: str, digest: str) -> dict[str, Mark]:
        """Return a person's marks for this very content, by item."""
        rows = self._connection.execute(
            "SELECT item, score, comment FROM marks WHERE id = ? AND digest = ?", (submission, digest)
        )
        return {item: Mark(submission, item, Fraction(score), comment) for item, score, comment in rows}

    def add_mark(self, mark: Mark, digest: str) -> None:
        """Keep a mark; a later one for the same item takes its place."""
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?)",
                (mark.submission, digest, mark.item, str(mark.score), mark.comment),
            )

    def remember_run(self, submissions: Sequence[Submission]) -> None:
        """Keep which submissions the last run was about: marks that come later are laid over those."""
        with self._connection:
            self._connection.execute("DELETE FROM last_run")
            self._connection.executemany(
                "INSERT INTO last_run VALUES (?, ?, ?, ?, ?)",
                [(place, s.id, s.digest, self._rubric, self._seed) for place, s in enumerate(submissions)],
            )

    def last_run(self) -> list[tuple[SubmissionResult, str]]:
        """Return the results of the last run as the machine found them, each with its content's digest."""
        rows = self._connection.execute(
            "SELECT r.result, r.digest FROM last_run AS l JOIN results AS r USING (id, digest, rubric, seed)"
            " WHERE l.rubric = ? AND l.seed = ? ORDER BY l.place",
            (self._rubric, self._seed),
        )
        return [(msgspec.json.decode(raw, type=SubmissionResult, dec_hook=_decode), digest) for raw, digest in rows]

    def forget(self) -> None:
        """Forget what is known for this rubric and seed (`--fresh`)."""
        with self._connection:
            self._connection.execute("DELETE FROM results WHERE rubric = ? AND seed = ?", (self._rubric, self._seed))


@contextmanager
def opened(folder: Path, *, rubric: str, seed: int) -> Iterator[Gradebook]:
    """Open the gradebook of an output folder, made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(folder / FILE)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"the output folder {folder} cannot be used: {error}") from None
    try:
        yield Gradebook(connection, rubric, seed)
    finally:
        connection.close()


def _encode(value: Any) -> str:
    assert isinstance(value, Fraction), f"{type(value).__name__} is not part of a result"
    return str(value)


def _decode(kind: type, value: Any) -> Any:
    assert kind is Fraction, f"{kind} is not part of a result"
    return Fraction(value)
