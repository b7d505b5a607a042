"""How long a student waits for the first line of feedback: the real commands, warm, beside `import numpy`.

A machine may be shared and noisy, so the commands take turns in one run, and what counts are the ratios to an
interpreter that imports NumPy and does nothing else, taken round by round.
"""

from __future__ import annotations

import ast
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.cache import ROOT
from engine.records import GraderFault

ROUNDS = 5
NUMPY, LIST = "python -c 'import numpy'", "grader list"
ONE_FUNCTION, ONE_MODULE = "grader check, one function", "grader check, all of attention"
MODULE = ROOT / "submissions" / "examples" / "right_numpy" / "attention.py"
FUNCTION = "softmax"


@dataclass(frozen=True, slots=True)
class Start:
    """What one command took, round by round."""

    name: str
    first: tuple[float, ...]  # seconds until its first line is there
    whole: tuple[float, ...]  # seconds until it has ended
    processor: tuple[float, ...]  # seconds of its process; a zygote behind bubblewrap is nobody's child and not in it

    @property
    def median(self) -> float:
        """The middle round's seconds until the first line."""
        return statistics.median(self.first)

    @property
    def spread(self) -> tuple[float, float]:
        """The least and the most seconds until the first line."""
        return min(self.first), max(self.first)

    def times(self, other: Start) -> tuple[float, float, float]:
        """Return how many times the other's wait this one is: the median of the rounds, the least, the most."""
        ratios = [mine / theirs for mine, theirs in zip(self.first, other.first, strict=True)]
        return statistics.median(ratios), min(ratios), max(ratios)


def startup(rounds: int = ROUNDS) -> list[Start]:
    """Run each command once to warm the caches, then all of them in turn, so many times; `import numpy` comes first."""
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        for command in [*commands.values()] * 2:  # a rubric that is read for the first time says nothing in time
            _run(command)
        taken = [{name: _run(command) for name, command in commands.items()} for _ in range(rounds)]
    return [Start(name, *zip(*(round_[name] for round_ in taken), strict=True)) for name in commands]


def report(starts: Sequence[Start]) -> str:
    """Return the figures as people read them."""
    base = starts[0]
    lines = [f"{'':<32} {'first line, s':>14} {'spread':>14} {'end, s':>8} {'processor, s':>13}   times `import numpy`"]
    for start in starts:
        middle, least, most = start.times(base)
        spread = "{:.2f} to {:.2f}".format(*start.spread)
        whole, processor = statistics.median(start.whole), statistics.median(start.processor)
        figures = f"{start.median:>14.2f} {spread:>14} {whole:>8.2f} {processor:>13.2f}"
        lines.append(f"{start.name:<32} {figures}   {middle:.1f} ({least:.1f} to {most:.1f})")
    return "\n".join(lines)


def _commands(folder: Path) -> Mapping[str, list[str]]:
    grader = [sys.executable, str(ROOT / "grader.py")]
    alone = folder / MODULE.name
    alone.write_text(_only(FUNCTION, MODULE.read_text(encoding="utf-8")), encoding="utf-8")
    return {
        NUMPY: [sys.executable, "-c", "import numpy; print()"],
        LIST: [*grader, "list"],
        ONE_FUNCTION: [*grader, "check", str(alone)],
        ONE_MODULE: [*grader, "check", str(MODULE)],
    }


def _only(function: str, source: str) -> str:
    """Return a file with its imports and one of its functions."""
    body = ast.parse(source).body
    kept = [
        node
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.FunctionDef) and node.name == function)
    ]
    return "\n".join(map(ast.unparse, kept)) + "\n"


def _run(command: Sequence[str]) -> tuple[float, float, float]:
    """Run a command that must end well; return the seconds to its first line, to its end, and of processor."""
    # Whoever forbids bytecode to be kept has every file compiled again at each start, and that is not measured here.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    assert process.stdout is not None
    with process.stdout as output:
        output.readline()
        first = time.perf_counter() - started
        output.read()
    _, status, usage = os.wait4(process.pid, 0)
    whole = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise GraderFault(f"{' '.join(command)} ended with exit code {process.returncode}")
    return first, whole, usage.ru_utime + usage.ru_stime
