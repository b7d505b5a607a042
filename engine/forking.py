"""Pools of our own processes, which end when we do, however we end."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from engine.worker.lockdown import die_with_parent


@contextmanager
def forked(jobs: int, start: Callable[..., None] | None = None, *arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """Fork a pool of processes that do not outlive us, nor the block if it is left by an exception."""
    context = multiprocessing.get_context("fork")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_begin, initargs=(os.getpid(), start, *arguments)
    ) as pool:
        try:
            yield pool
        except BaseException:  # stopped, or a full disk: nobody waits for what is half done
            for process in set(multiprocessing.active_children()) - others:
                process.kill()
            raise


def _begin(parent: int, start: Callable[..., None] | None, *arguments: Any) -> None:
    die_with_parent(parent)
    if start is not None:
        start(*arguments)
