"""Replaces the standard streams by ones that raise when written to; the answer is right."""

import sys

import numpy as np


class Broken:
    def __getattr__(self, name):
        raise RuntimeError("broken stream")


sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = sys.stdin = Broken()


def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
