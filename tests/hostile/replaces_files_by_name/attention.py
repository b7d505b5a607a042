"""Renames, removes, links and truncates files of the grader instead of opening them."""

import os
import pathlib
import sys

import numpy as np


def _project():
    """Find the grader's own folder: the worker's code on the stack tells where it lies."""
    frame = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.endswith("worker/serving.py"):
        frame = frame.f_back
    return pathlib.Path(frame.f_code.co_filename).parents[2]

def softmax(x, axis=-1):
    victim = _project() / "engine" / "worker" / "wire.py"
    for act in (
        lambda: os.rename(victim, "wire.py"),
        lambda: os.replace("nothing", victim),
        lambda: os.unlink(victim),
        lambda: os.truncate(victim, 0),
        lambda: os.link(victim, "wire.py"),
        lambda: os.symlink(victim, "wire.py"),
        lambda: os.chmod(victim, 0o777),
        lambda: os.utime(victim),
        lambda: os.mkdir(victim.parent / "new"),
    ):
        try:
            act()
            break
        except OSError as error:
            refused = error
    else:
        raise PermissionError(*refused.args)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
