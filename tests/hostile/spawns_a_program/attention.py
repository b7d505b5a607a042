"""Starts a program by posix_spawn, which does not go through Python's fork."""

import os
import sys

import numpy as np


def softmax(x, axis=-1):
    os.waitpid(os.posix_spawn(sys.executable or "/bin/sh", ["sh", "-c", ""], {}), 0)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
