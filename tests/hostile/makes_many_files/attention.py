"""Makes more than a thousand empty files, which no limit on bytes counts, and rests."""

import pathlib
import time

import numpy as np


def softmax(x, axis=-1):
    for number in range(1_100):
        pathlib.Path(f"proofmark-hostile-{number}").touch()
    time.sleep(1)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
