"""Aborts, as a failed assertion in a C library does."""

import os


def softmax(x, axis=-1):
    os.abort()
