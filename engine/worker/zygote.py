"""The warm process workers are forked from: interpreter, NumPy and (if asked) torch imported, nothing else.

The judge keeps one end of a control socket. It sends "spawn" with two descriptors,
the worker's connection and the file for its output, and later "end", which is
answered with how the worker ended.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

from engine.worker.lockdown import die_with_parent

WATCH_SECONDS = 0.1  # how often a running worker's files are counted
GRACE_SECONDS = 0.05  # a worker that hung up dies by itself; killing it at once would report our own signal


def main() -> None:
    """Serve until the judge is gone; one that was killed is nothing to complain about."""
    with suppress(ConnectionError):
        _serve()


def _serve() -> None:
    """Import what workers need, then fork one whenever the judge asks."""
    config = json.loads(sys.argv[2])
    sys.path.extend(path for path in config["paths"] if path not in sys.path)
    control = socket.socket(fileno=int(sys.argv[1]))
    die_with_parent(os.getppid())  # a judge that is gone already will be missed at the other end of `control`
    try:
        os.chdir(config["scratch"])
        lockdown = _prepare(config)
    except Exception as error:  # noqa: BLE001 - whatever it is, the judge must hear of it and refuse
        _answer(control, {"failed": f"{type(error).__name__}: {error}"})
        return
    from engine.worker.scratch import Scratch

    scratch = Scratch(config["scratch"], config["limits"]["file_bytes"])
    scratch.empty()  # torch makes folders in it
    gc.freeze()  # the collector must not touch, and so copy, pages shared with the workers
    _answer(control, {"ready": True})
    worker, overfull = 0, False
    while True:
        overfull = overfull or (bool(worker) and _watched(worker, control, scratch))
        request, descriptors = _request(control)
        if request is None:
            return
        if request["verb"] == "spawn":
            config["limits"]["cpu_seconds"] = request["cpu_seconds"]
            worker, overfull = os.fork(), False
            if worker == 0:
                control.close()
                _become_worker(config, lockdown, request["cores"], *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            _answer(control, {"spawned": worker})
        else:
            overfull = overfull or scratch.is_overfull()
            ending = _end(worker)
            worker = 0
            scratch.empty()  # before the answer: whoever hears that it ended may ask for the next
            _answer(control, {**ending, "overfull": overfull})


def _watched(worker: int, control: socket.socket, scratch: Any) -> bool:
    """Wait for the judge's next request; return whether the worker had to be killed meanwhile for its many files."""
    while not select.select([control], [], [], WATCH_SECONDS)[0]:
        if scratch.is_overfull():
            os.kill(worker, signal.SIGKILL)  # not waited for yet: its pid is still its own
            return True
    return False


def _prepare(config: dict[str, Any]) -> Any:
    """Import everything a worker may want, so that a fork has it for free."""
    import collections  # noqa: F401

    import numpy as np
    import numpy.linalg
    import numpy.random

    from engine.worker import counting, serving, sources, symbolic, wire  # noqa: F401

    counting.replacements()
    symbolic.replacements()
    np.random.seed(0)  # noqa: NPY002 - builds the legacy generator once
    if config["torch"]:
        import torch

        torch.set_num_threads(1)  # before any operation: a forked child hangs on a parent's thread pool
        torch.set_num_interop_threads(1)
        import torch.nn.functional

        torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))])  # imports lazily, and wants a temp folder to do it
    if not config["locked"]:
        return None
    from engine.worker.lockdown import Lockdown, rehearsed

    lockdown = Lockdown(config["readable"], config["scratch"])
    if config["rehearse"]:
        rehearsed(lockdown)
    return lockdown


def _become_worker(config: dict[str, Any], lockdown: Any, cores: list[int], connection: int, output: int) -> None:
    """Turn this forked child into a locked-down worker; never return."""
    from engine.worker import serving, wire

    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the judge
        if cores:
            os.sched_setaffinity(0, cores)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        channel = wire.Channel(socket.socket(fileno=connection))
        stream = serving.BoundedOutput(1)
        sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = stream  # type: ignore[misc, assignment]
        if lockdown is not None:
            from engine.worker.lockdown import Limits

            lockdown.enter(Limits(**config["limits"]))
        else:
            die_with_parent(os.getppid())
        os.closerange(3, connection)  # after the lock-down, which holds a descriptor of its own
        os.closerange(connection + 1, 256)
        _forget_ourselves(config["paths"])
        serving.Server(channel).serve()
        status = 0
    except wire.Gone:  # the judge hung up while an answer was on its way: it has seen enough
        status = 0
    except Exception as error:  # noqa: BLE001 - the judge reads it from the output; no paths of ours, students may too
        place = " > ".join(frame.name for frame in traceback.extract_tb(error.__traceback__))
        os.write(2, f"The worker failed: {type(error).__name__}: {error} (in {place})\n".encode())
    finally:
        os._exit(status)


def _forget_ourselves(paths: list[str]) -> None:
    """Leave the student's imports a clean table: a file of theirs called engine.py is theirs."""
    sys.argv = [""]
    sys.path[:] = [path for path in sys.path if path in paths or path.startswith((sys.prefix, sys.base_prefix))]
    for name in [name for name in sys.modules if name.split(".", 1)[0] == "engine"]:
        del sys.modules[name]


def _end(worker: int) -> dict[str, Any]:
    """Wait a moment for the worker to die by itself, then kill it; say how it ended."""
    deadline = time.monotonic() + GRACE_SECONDS
    killed = False
    while True:
        pid, status, usage = os.wait4(worker, 0 if killed else os.WNOHANG)
        if pid:
            return {
                "code": os.waitstatus_to_exitcode(status),  # negative: a signal
                "killed": killed,
                "cpu_seconds": usage.ru_utime + usage.ru_stime,
                "memory_kib": usage.ru_maxrss,
            }
        if time.monotonic() > deadline:
            os.kill(worker, signal.SIGKILL)
            killed = True
        else:
            time.sleep(0.0005)


def _answer(control: socket.socket, answer: dict[str, Any]) -> None:
    control.sendall(json.dumps(answer).encode() + b"\n")


def _request(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Return the next request and its descriptors; None once the judge has gone."""
    data, descriptors, _, _ = socket.recv_fds(control, 4096, 2)
    return (json.loads(data) if data else None), descriptors


if __name__ == "__main__":
    main()
