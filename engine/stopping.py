"""Stopping on purpose: Ctrl-C and SIGTERM unwind a run like an exception, so that what is kept stays kept."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """Somebody asked us to stop. Not an Exception: it is no fault of ours and nobody's verdict."""

    def __init__(self, number: int, sentence: str = "stopped") -> None:
        super().__init__(sentence)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What a shell expects of a command that was ended by this signal."""
        return 128 + self.number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise Stopped inside the block when somebody asks us to stop; asked twice, we end at once."""
    if threading.current_thread() is not threading.main_thread():  # signals are for the main thread
        yield
        return
    main = os.getpid()

    def stop(number: int, _frame: FrameType | None) -> None:
        if os.getpid() != main:
            os._exit(128 + number)  # a judge; Ctrl-C reaches all of us, and the main process unwinds for all
        signal.signal(number, signal.SIG_DFL)
        raise Stopped(number)

    # A signal that is ignored stays ignored: that is what `nohup` and `&` ask for.
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = {number: handler for number, handler in before.items() if handler not in {signal.SIG_IGN, None}}
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)
