"""Run a piece of work in a process of its own, and within a time: it may be wrong in any way there is."""

from __future__ import annotations

import gc
import os
import pickle
import resource
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from types import FrameType
from typing import NoReturn, TypeVar

from engine.records import GraderFault
from engine.worker.lockdown import die_with_parent

Result = TypeVar("Result")

SECONDS = 60.0  # of processor time for one piece of work: how slow the machine is makes no difference
ALL_SECONDS = 600  # of processor time for a whole process, should it be stuck where no handler runs
PATIENCE = 3600.0  # of wall-clock time: whoever waits for that long without computing is our own mistake
MEMORY = 4 << 30


class TimeIsUp(BaseException):
    """It took too long. Not an Exception: the code that does must not catch it."""


def within_time(work: Callable[[], Result], seconds: float = SECONDS) -> Result:
    """Do the work, or raise TimeIsUp."""

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        raise TimeIsUp

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def apart(work: Callable[[], Result], patience: float = PATIENCE) -> Result | None:
    """Do the work in a fork of this process; None if it died, of its own fault or of computing without end.

    What goes wrong in our own code there is raised here.
    """
    reading, writing = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        die_with_parent(parent)
        os.close(reading)
        _child(work, writing)
    os.close(writing)
    payload = _received(reading, time.monotonic() + patience)
    os.close(reading)
    if payload is None:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if payload is None:
        raise GraderFault(f"a process of the audit hung for {patience:g} seconds")
    if not payload:
        return None
    good, value = pickle.loads(payload)  # noqa: S301 - from our own fork
    if not good:
        raise GraderFault(value)
    result: Result = value
    return result


def _child(work: Callable[[], object], writing: int) -> NoReturn:
    gc.disable()  # it would visit, and so copy, all we have drawn
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (ALL_SECONDS, ALL_SECONDS))
    warnings.simplefilter("ignore")
    try:
        payload = pickle.dumps((True, work()))
    except BaseException:  # noqa: BLE001 - told to the parent
        payload = pickle.dumps((False, traceback.format_exc()))
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(payload)
    os._exit(0)


def _received(reading: int, deadline: float) -> bytes | None:
    """Return all that comes through the pipe until it is closed, or None if that takes too long."""
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
