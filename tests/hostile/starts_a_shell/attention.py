"""Starts a shell, which could do anything that a program can."""

import subprocess

import numpy as np


def softmax(x, axis=-1):
    subprocess.run(["/bin/sh", "-c", "true"])
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
