"""Submissions that wait to be judged, on disk: memory holds the few that are being judged, however large the class.

What was read once is what is judged, even if its file changes in between. The file has no name: it is gone with us,
however we end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import msgspec

from engine.records import Submission, UsageError


class Shelf(Mapping[str, Submission]):
    """Submissions by id, in the order in which they came."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}  # where each begins, and how long it is

    def add(self, submission: Submission) -> None:
        """Put one more at the end."""
        line = memoryview(msgspec.json.encode(submission))
        self._places[submission.id] = (self._file.seek(0, 2), len(line))
        try:
            while line:  # a disk may take the first part of it
                line = line[self._file.write(line) :]
        except OSError as error:
            raise UsageError(f"{submission.id} cannot be set aside for judging: {error.strerror}") from None

    def __getitem__(self, name: str) -> Submission:
        start, length = self._places[name]
        self._file.seek(start)
        return msgspec.json.decode(self._file.read(length), type=Submission)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@contextmanager
def shelf(folder: Path) -> Iterator[Shelf]:
    """Open a shelf on the disk of `folder`."""
    with ExitStack() as closing:
        try:
            file = closing.enter_context(tempfile.TemporaryFile(dir=folder, buffering=0))
        except OSError as error:
            raise UsageError(f"the output folder {folder} cannot be used: {error.strerror}") from None
        yield Shelf(file)
