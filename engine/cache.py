"""Drawn inputs kept on disk: drawing them is most of what a first run costs.

A recording is found again by everything that decides it: our code, the versions of the
packages that draw and compute, the seed, and the number of examples. The files are
pickles, so the folder must belong to this user and be writable by nobody else.
"""

from __future__ import annotations

import copyreg
import gc
import hashlib
import io
import os
import pickle
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GENERATIONS_KEPT = 3
PACKAGES = ("hypothesis", "numpy", "sympy", "torch")  # those whose versions decide what is drawn and computed
UNFINISHED = ".unfinished"  # after the process that writes it


def load(name: str) -> Any:
    """Return what was stored under the name, or None."""
    folder = _folder()
    if folder is None:
        return None
    try:
        with _uncollected():
            return unpacked((folder / name).read_bytes())
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        return None  # not there, or cut off by a full disk: it is drawn again


def store(name: str, value: Any) -> None:
    """Keep a value under a name; a cache that cannot be written costs time, nothing else."""
    folder = _folder()
    if folder is None:
        return
    temporary = folder / f"{name}.{os.getpid()}{UNFINISHED}"
    try:
        temporary.write_bytes(packed(value))
        temporary.replace(folder / name)
    except OSError:
        with suppress(OSError):  # a folder that was closed to us in the meantime takes no deletions either
            temporary.unlink(missing_ok=True)


def packed(value: Any) -> bytes:
    """Return a value as it is kept: what is part of another and seldom wanted can be left packed in it."""
    content = io.BytesIO()
    _Pickler(content, protocol=5).dump(value)
    return content.getvalue()


def unpacked(content: bytes) -> Any:
    """Return what was packed, by us and nobody else."""
    return pickle.loads(content)  # noqa: S301 - out of our own folder, closed to others


@contextmanager
def _uncollected() -> Iterator[None]:
    """Have nobody look for garbage meanwhile: among so many new objects, none of it any, that takes half the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Pickler(pickle.Pickler):
    """Pickles a view of a mapping, too, which Python's own does not."""

    dispatch_table = copyreg.dispatch_table | {MappingProxyType: lambda view: (_view, (dict(view),))}


def _view(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


@cache
def code_digest() -> str:
    """Return a digest of everything of ours that decides a verdict."""
    digest = hashlib.sha256()
    for folder in ("checks", "engine", "formulas", "reference"):
        for path in sorted([*(ROOT / folder).rglob("*.py"), *(ROOT / folder).glob("questions/*.*")]):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    for package in PACKAGES:
        digest.update(f"{package} {_version(package)}".encode())
    return digest.hexdigest()[:16]


def _version(package: str) -> str:
    """Return the version of an installed package, by the name of the folder that describes it."""
    for place in sys.path:
        with suppress(OSError):
            found = sorted(name for name in os.listdir(place or ".") if name.startswith(f"{package}-"))  # noqa: PTH208
            for name in found:
                if name.endswith(".dist-info"):
                    return name.removeprefix(f"{package}-").removesuffix(".dist-info")
    from importlib.metadata import version  # knows every other way, and takes longer to import than `list` to begin

    return version(package)


def _folder() -> Path | None:
    """Return the folder of this version of the code, or None where none can be had."""
    return _made_in(os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser()))


@cache
def _made_in(base: str) -> Path | None:
    top = Path(base) / "proofmark"
    folder = top / code_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not all(_is_ours_alone(place) for place in (top, folder)):
            return None
        os.utime(folder)
        generations = sorted((path for path in top.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
        for old in generations[:-GENERATIONS_KEPT]:
            _remove(old)
        _remove_unfinished(folder)
    except OSError:
        return None
    return folder


def _remove(folder: Path) -> None:
    from shutil import rmtree  # seldom needed

    rmtree(folder, ignore_errors=True)


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
