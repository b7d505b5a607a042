"""Drawn inputs kept on disk: drawing them is most of what a first run costs.

A recording is found again by everything that decides it: our code, the versions of the
packages that draw and compute, the seed, and the number of examples. The files are
pickles, so the folder must belong to this user and be writable by nobody else.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import stat
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GENERATIONS_KEPT = 3
UNFINISHED = ".unfinished"  # after the process that writes it


def load(name: str) -> Any:
    """Return what was stored under the name, or None."""
    folder = _folder()
    if folder is None:
        return None
    try:
        return pickle.loads((folder / name).read_bytes())  # noqa: S301 - our own folder, closed to others
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        return None  # not there, or cut off by a full disk: it is drawn again


def store(name: str, value: Any) -> None:
    """Keep a value under a name; a cache that cannot be written costs time, nothing else."""
    folder = _folder()
    if folder is None:
        return
    temporary = folder / f"{name}.{os.getpid()}{UNFINISHED}"
    try:
        temporary.write_bytes(pickle.dumps(value, protocol=5))
        temporary.replace(folder / name)
    except OSError:
        with suppress(OSError):  # a folder that was closed to us in the meantime takes no deletions either
            temporary.unlink(missing_ok=True)


@cache
def code_digest() -> str:
    """Return a digest of everything of ours that decides a verdict."""
    digest = hashlib.sha256()
    for folder in ("checks", "engine", "formulas", "reference"):
        for path in sorted([*(ROOT / folder).rglob("*.py"), *(ROOT / folder).glob("questions/*.*")]):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    for package in ("hypothesis", "numpy", "sympy", "torch"):
        digest.update(f"{package} {version(package)}".encode())
    return digest.hexdigest()[:16]


@cache
def _folder() -> Path | None:
    """Return the folder of this version of the code, or None where none can be had."""
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    top = Path(base) / "proofmark"
    folder = top / code_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not all(_is_ours_alone(place) for place in (top, folder)):
            return None
        os.utime(folder)
        generations = sorted((path for path in top.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
        for old in generations[:-GENERATIONS_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        _remove_unfinished(folder)
    except OSError:
        return None
    return folder


def _remove_unfinished(folder: Path) -> None:
    """Remove what killed processes were about to store."""
    for left in folder.glob(f"*{UNFINISHED}"):
        writer = int(left.name.removesuffix(UNFINISHED).rsplit(".", 1)[1])
        with suppress(PermissionError):  # somebody else's process by now; it will end some day
            try:
                os.kill(writer, 0)
            except ProcessLookupError:
                left.unlink(missing_ok=True)


def _is_ours_alone(folder: Path) -> bool:
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
