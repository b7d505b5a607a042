"""What the peers have in common: an environment of their own, a measured command, and what grading came to."""

from __future__ import annotations

import ast
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from checks.check import Check, checks_in
from checks.contract import FILES
from engine.records import GraderFault
from engine.rubric import all_checks

ROOT = Path(__file__).resolve().parents[2]
PINS = Path(__file__).resolve().parent
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # as our workers have it

# A process carries the size of the one that started it as its own peak, and a bench is large. So a small process starts
# the command, and measures its whole tree: the seconds, those of them on a core, and the peak of its largest process.
STARTER = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
with open(sys.argv[1], "w") as out:
    code = os.waitstatus_to_exitcode(status)
    print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss, code, file=out)
"""


class NotInstalled(GraderFault):
    """A peer whose environment cannot be made here; the message says why, and the bench reports it as absent."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run: what it took and what it said."""

    seconds: float
    core_seconds: float  # of all its processes: what stays the same on a machine that others use, too
    peak_memory_mib: float  # of its largest process
    exit_code: int
    said: str


@dataclass(frozen=True, slots=True)
class Graded:
    """What a peer made of some submissions, and what it took."""

    seconds: float  # per submission
    core_seconds: float  # per submission, of all its processes
    peak_memory_mib: float  # of the largest process
    checks: tuple[str, ...]
    failed: Mapping[str, frozenset[str]]  # by the name of the submission's folder: the checks it failed

    @property
    def scores(self) -> dict[str, float]:
        """The share of the checks that each submission passed."""
        return {name: 1 - len(failed) / len(self.checks) for name, failed in self.failed.items()}


class Peer(Protocol):
    """A tool that courses grade with."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def version(self) -> str:
        """The version that is measured."""

    def prepare(self, checks: Sequence[str], examples: int) -> None:
        """Make its environment, if it is not there, and an assignment of these checks; raise NotInstalled."""

    def grade(self, folders: Sequence[Path]) -> Graded:
        """Grade submissions, folders of the contract's files."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment with exactly the packages of a file of pins, made once and kept."""

    place: Path
    pins: Path

    def version(self, package: str) -> str:
        """Return the version a package is pinned to."""
        pinned = dict(line.split("==") for line in self.pins.read_text(encoding="utf-8").splitlines() if "==" in line)
        return pinned[package]

    def program(self, name: str) -> str:
        """Return the path of one of its programs."""
        return str(self.place / "bin" / name)

    def install(self) -> None:
        """Make it, unless it is there with the same pins."""
        done = self.place / "installed.txt"  # written last: an installation that was stopped is begun again
        pins = self.pins.read_text(encoding="utf-8")
        if done.is_file() and done.read_text(encoding="utf-8") == pins:
            return
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(self.place)],
            [self.program("python"), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(self.pins)],
        ):
            told = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
            if told.returncode != 0:
                last = (told.stderr.strip() or told.stdout.strip() or "it said nothing").splitlines()[-1]
                raise NotInstalled(f"the packages of {self.pins.name} cannot be installed: {last}")
        done.write_text(pins, encoding="utf-8")


@dataclass(slots=True)
class Assignment:
    """The checks a peer tries, and where it keeps what belongs to them."""

    place: Path
    checks: tuple[Check, ...]
    examples: int
    _runs: int = field(default=0, init=False)

    @classmethod
    def of(cls, place: Path, ids: Sequence[str], examples: int) -> Assignment:
        """Return the assignment of the checks with these ids, in an empty folder."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        return cls(place, tuple(all_checks()[check_id] for check_id in ids), examples)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its checks."""
        return tuple(check.id for check in self.checks)

    def next_run(self) -> Path:
        """Return an empty folder for one run of grading."""
        self._runs += 1
        folder = self.place / f"run-{self._runs}"
        folder.mkdir()
        return folder

    def graded(self, ran: Sequence[Ran], failed: Mapping[str, frozenset[str]]) -> Graded:
        """Return what these commands took per submission, with the checks that each submission failed."""
        seconds = sum(each.seconds for each in ran) / len(failed)
        core_seconds = sum(each.core_seconds for each in ran) / len(failed)
        return Graded(seconds, core_seconds, max(each.peak_memory_mib for each in ran), self.ids, failed)

    def failures(self, name: str, passed: Mapping[str, bool]) -> frozenset[str]:
        """Return the checks that did not pass; every check must have been tried, or nothing was measured."""
        if passed.keys() != set(self.ids):
            raise GraderFault(f"{name}: {len(passed)} checks were tried, not {len(self.ids)}")
        return frozenset(check for check, good in passed.items() if not good)


def call(check: Check, names: str, examples: int) -> str:
    """Return the call of `trial` that a test of this check is."""
    return f"trial({_files()[check.id]!r}, {check.id!r}, {names}, {examples})"


@cache
def _files() -> dict[str, str]:
    """Return the file of each check. Its own word for it is that of its body, which may come from a decorator."""
    return {check.id: file for file in FILES for check in checks_in(importlib.import_module(f"checks.{file}"))}


def run(command: Sequence[str], *, cwd: Path, home: Path, extra: Mapping[str, str] | None = None) -> Ran:
    """Run a command with one thread per library, our source tree to import from, and a home of its own."""
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        "PATH": f"{Path(command[0]).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(home / "hypothesis"),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        **THREADS,
        **(extra or {}),
    }
    figures = cwd / "figures.txt"
    figures.unlink(missing_ok=True)
    starter = [sys.executable, "-I", "-S", "-c", STARTER, str(figures), *command]
    said = _said(starter, cwd, environment)
    if not figures.is_file():
        raise GraderFault(f"{command[0]} cannot be started: {said.strip()[-500:]}")
    seconds, core_seconds, kibibytes, exit_code = figures.read_text(encoding="utf-8").split()
    return Ran(float(seconds), float(core_seconds), int(kibibytes) / 1024, int(exit_code), said)


def _said(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> str:
    """Run a command in a group of its own, which ends with us if we are interrupted, and return what it said."""
    with subprocess.Popen(  # noqa: S603 - our own words
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        cwd=cwd, env=environment, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return process.communicate()[0]
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def require(ran: Ran, what: str) -> Ran:
    """Return the run, or raise if its command failed."""
    if ran.exit_code != 0:
        raise GraderFault(f"{what} failed with exit code {ran.exit_code}: {ran.said.strip()[-1000:]}")
    return ran


def cells_of(folder: Path) -> list[str]:
    """Return a submission's files as the cells of a notebook, in which all of them share their names."""
    owner: dict[str, str] = {}
    cells = []
    for path in sorted(folder.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and owner.setdefault(node.name, path.name) != path.name:
                raise GraderFault(f"{folder.name}: {node.name} is in {owner[node.name]} and {path.name}: no notebook")
        cells.append(source)
    return cells


def notebook(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return a notebook of code cells, each given as its source, its id and its metadata."""
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "execution_count": None, "outputs": [], "metadata": {}, **cell} for cell in cells
            ],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )
