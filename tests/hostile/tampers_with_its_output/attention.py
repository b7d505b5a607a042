"""Moves about in the file its prints go to and asks for one far too large; the answer is right."""

import os

import numpy as np


def softmax(x, axis=-1):
    print("proofmark-hostile \x1b[2J\x07 <script>alert('output')</script>")
    for act in (
        lambda: os.lseek(1, 2**40, os.SEEK_SET),
        lambda: os.write(1, b"x" * 100),
        lambda: os.ftruncate(1, 0),
        lambda: os.lseek(1, 0, os.SEEK_SET),
    ):
        try:
            act()
        except OSError:
            continue
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
