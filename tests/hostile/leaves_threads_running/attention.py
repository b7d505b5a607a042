"""Leaves threads and an exit handler behind that outlive the call; the answer itself is right."""

import atexit
import os
import threading
import time

import numpy as np


@atexit.register
def _at_exit():
    os._exit(7)


def _linger():
    while True:
        time.sleep(0.2)


for _ in range(3):
    threading.Thread(target=_linger).start()


def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
