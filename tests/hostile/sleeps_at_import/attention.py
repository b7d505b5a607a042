"""Sleeps while its file is imported."""

import time

time.sleep(10_000)


def softmax(x, axis=-1):
    return x
