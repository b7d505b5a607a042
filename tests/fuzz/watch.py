"""What the fuzzers share: a clock and a gauge on every case, findings kept in files, a tally at the end."""

from __future__ import annotations

import json
import re
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEBIBYTE = 2**20
PATIENCE = 6  # a busy machine makes everything wait


class Hang(BaseException):
    """A case took longer than anything may. Not an Exception: nothing on the way may swallow it."""


class Finding(Exception):
    """Something that must not happen happened; the sentence says what."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Interrupt whatever runs once it has had that much of a processor, or waited for PATIENCE times as long."""

    def interrupt(number: int, _: object) -> None:
        raise Hang(
            f"still running after {seconds:g} s"
            if number == signal.SIGPROF
            else f"still waiting after {PATIENCE * seconds:g} s"
        )

    for timer, number, limit in (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, PATIENCE * seconds),
    ):
        signal.signal(number, interrupt)
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        stop_clocks()


def stop_clocks() -> None:
    """Let whatever runs take its time."""
    for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
        signal.setitimer(timer, 0)


def memory(field: str = "VmRSS") -> float:
    """Return this process' memory in MiB: what it has now, or its high-water mark (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    (line,) = [line for line in lines if line.startswith(f"{field}:")]
    return int(line.split()[1]) / 1024


def forget_high_water() -> None:
    """Start the high-water mark anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def open_descriptors() -> int:
    """Return how many descriptors this process has."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


class Tally:
    """Counts what happened, and keeps every finding in a file that can be replayed."""

    def __init__(self, folder: Path, *, seconds: float, mebibytes: float) -> None:
        self.folder = folder
        self.seconds = seconds  # of processor time for one case
        self.mebibytes = mebibytes  # on top of what was there before it
        self.counts: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self.slowest = (0.0, "")
        self.largest = (0.0, "")
        self.started = time.monotonic()
        self._told = self.started

    def case(self, name: str, run: Callable[[], list[str]], record: Callable[[], dict[str, Any]]) -> None:
        """Run one case; it returns what to count, and whatever else it does is a finding."""
        started = time.process_time()
        try:
            with self._gauged(name), deadline(self.seconds):
                self.counts.update(run())
        except (Exception, Hang) as fault:  # noqa: BLE001 - that is what we are looking for
            self._keep(name, fault, record())
        self.counts["cases"] += 1
        self.slowest = max(self.slowest, (time.process_time() - started, name))
        self._progress()

    @contextmanager
    def _gauged(self, name: str) -> Iterator[None]:
        forget_high_water()
        before, descriptors = memory(), open_descriptors()
        yield
        grown = memory("VmHWM") - before
        self.largest = max(self.largest, (grown, name))
        if grown > self.mebibytes:
            raise Finding(f"memory grew by {grown:.0f} MiB, at most {self.mebibytes:.0f} are allowed")
        if (now := open_descriptors()) != descriptors:
            raise Finding(f"{descriptors} descriptors before, {now} after")

    def _keep(self, name: str, fault: BaseException, record: dict[str, Any]) -> None:
        said = str(fault) if isinstance(fault, Finding) else "".join(traceback.format_exception(fault))
        kind = re.sub(r"(?<=/)tmp\w+|\d[\d,]*|'.*'", "…", said.strip().splitlines()[-1])[:160]
        self.findings[kind] += 1
        if self.findings[kind] > 3:  # three examples of one kind are enough
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"finding": said, **record}), encoding="utf-8")
        print(f"\n{name}: {said}\n  replay: --replay {path}", flush=True)

    def _progress(self) -> None:
        if time.monotonic() - self._told > 5:
            self._told = time.monotonic()
            print(f"\r{self.counts['cases']} cases, {sum(self.findings.values())} findings", end="", file=sys.stderr)

    def report(self) -> int:
        """Print what happened; return the exit code."""
        seconds = time.monotonic() - self.started
        cases = self.counts.pop("cases")
        print(f"\n{cases} cases in {seconds:.0f} s: {cases / seconds:.1f} a second")
        for key, number in sorted(self.counts.items()):
            print(f"  {key:44} {number:>9,}")
        print(
            f"slowest case {self.slowest[0]:.2f} s of processor time ({self.slowest[1]}), most memory {self.largest[0]:.0f} MiB ({self.largest[1]})"
        )
        for kind, number in self.findings.most_common():
            print(f"  {number} × {kind}")
        print(f"{sum(self.findings.values())} findings")
        return 1 if self.findings else 0
