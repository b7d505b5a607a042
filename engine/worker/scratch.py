"""The folder a worker may write in: watched while it runs, and empty before the next one starts."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

MOST_FILES = 1000  # an honest submission writes a few; empty ones cost the kernel memory that no size bounds


class Scratch:
    """A folder with room for so many bytes. Behind bubblewrap it is a file system of that size, which counts for us."""

    def __init__(self, path: str, most_bytes: int) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._is_mount = os.path.ismount(path)

    def is_overfull(self) -> bool:
        """Return whether more was written than is allowed."""
        if self._is_mount:
            system = os.statvfs(self.path)
            return system.f_files - system.f_ffree > MOST_FILES
        try:
            files, size = _used(self.path)
        except OSError:
            return True  # hidden from us, or nested deeper than a path is long: nothing honest looks like that
        return files > MOST_FILES or size > self._most_bytes

    def empty(self) -> None:
        """Remove everything in it, from the top: folders may be nested deeper than a path is long."""
        top = Path(self.path)
        moved = (top / f"{secrets.token_hex(8)}.{number}" for number in count())
        while paths := list(top.iterdir()):
            for path in paths:
                _remove(path, moved)


def _used(folder: str) -> tuple[int, int]:
    """Return how many files and folders lie below a folder, and their bytes."""
    files = size = 0
    waiting = [folder]
    while waiting and files <= MOST_FILES:
        with suppress(FileNotFoundError):  # gone while we looked, as temporary files go
            for entry in os.scandir(waiting.pop()):
                files += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    size += entry.stat(follow_symlinks=False).st_size
    return files, size


def _remove(path: Path, moved: Iterator[Path]) -> None:
    """Remove a file, or a folder whose contents move up first."""
    if not path.is_dir():
        path.unlink()
        return
    path.chmod(0o700)  # it may have been made unreadable
    for child in path.iterdir():
        if child.is_dir():
            child.chmod(0o700)  # moving a folder changes its "..", which takes leave to write
        child.rename(next(moved))
    path.rmdir()
