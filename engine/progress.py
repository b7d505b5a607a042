"""A bar on stderr while grading; nothing at all where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from engine.records import SubmissionResult


class Silent:
    """Progress nobody watches."""

    total = 0
    done = 0

    def start(self, total: int) -> None:
        """Hear how many there are."""
        self.total = total

    def tell(self, result: SubmissionResult) -> None:  # noqa: ARG002 - a bar says whose
        """Hear of one more result."""
        self.done += 1


class Bar(Silent):
    """A bar with the id last graded and the time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
        )
        # No refresh thread: judges are forked while the bar is up, and threads do not survive a fork.
        self.display = Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
        self._task = self.display.add_task("drawing inputs", total=None)

    def start(self, total: int) -> None:
        """Hear how many there are."""
        super().start(total)
        self.display.update(self._task, total=total)
        self.display.refresh()

    def tell(self, result: SubmissionResult) -> None:
        """Hear of one more result."""
        super().tell(result)
        self.display.update(self._task, advance=1, description=result.id[:40].encode("ascii", "replace").decode())
        self.display.refresh()


@contextmanager
def shown() -> Iterator[Silent]:
    """Show a bar if somebody can see it."""
    if not sys.stderr.isatty():
        yield Silent()
        return
    bar = Bar()
    with bar.display:
        yield bar
