"""How far a run is, on stderr: a bar where somebody watches, a line of JSON per submission for programs, or nothing."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.feedback import one_line
from engine.records import SubmissionResult


class Silent:
    """Progress nobody watches: counted, so that a run that is stopped can say how far it was."""

    def __init__(self) -> None:
        self.total = 0
        self.done = 0
        self._kept = 0
        self._begun = 0.0

    def start(self, total: int) -> None:
        """Hear how many there are; those told of before are results of an earlier run."""
        self.total, self._kept = total, self.done
        self._begun = time.monotonic()

    def tell(self, result: SubmissionResult) -> None:
        """Hear of one more result."""
        self.done += 1
        if self.total:
            self.show(result)

    def show(self, result: SubmissionResult) -> None:
        """Show how far we are."""

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self._begun

    @property
    def rate(self) -> float:
        """Submissions a second; those of an earlier run took no time and do not count."""
        return (self.done - self._kept) / max(self.seconds, 1e-6)


class Lines(Silent):
    """One JSON object a line, for programs."""

    def show(self, result: SubmissionResult) -> None:
        """Write a line, at once."""
        record = {
            "id": result.id,
            "status": result.status.value,
            "done": self.done,
            "total": self.total,
            "seconds": round(self.seconds, 3),
            "rate": round(self.rate, 3),
        }
        print(json.dumps(record), file=sys.stderr, flush=True)


class Bar(Silent):
    """A bar with the rate, the time left, and who was graded last."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        # No refresh thread: judges are forked while the bar is up, and threads do not survive a fork.
        self.display = Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
        self._task = self.display.add_task("drawing inputs", total=None)

    def start(self, total: int) -> None:
        """Hear how many there are."""
        super().start(total)
        self.display.update(self._task, total=total, completed=self.done)
        self.display.refresh()

    def show(self, result: SubmissionResult) -> None:
        """Move the bar."""
        left = time_left(self.total - self.done, self.rate)
        told = f"{self.rate:.1f}/s, {left} left  {one_line(result.id)[:40]}"
        self.display.update(self._task, completed=self.done, description=told.encode("ascii", "replace").decode())
        self.display.refresh()


def time_left(count: int, rate: float) -> str:
    """Return how long so many take at a rate, as people say it.

    >>> time_left(90, 2.0), time_left(900, 2.0), time_left(9000, 0.5)
    ('45 s', '8 min', '5.0 h')
    """
    seconds = count / max(rate, 1e-6)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


@contextmanager
def shown(mode: str = "auto") -> Iterator[Silent]:
    """Show progress in the way that was asked for; a bar only to somebody who can see it."""
    if mode == "json":
        yield Lines()
    elif mode == "none" or not sys.stderr.isatty():
        yield Silent()
    else:
        bar = Bar()
        with bar.display:
            yield bar
