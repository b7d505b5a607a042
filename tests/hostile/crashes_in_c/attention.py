"""Reads where no memory is."""

import ctypes


def softmax(x, axis=-1):
    ctypes.string_at(0)
    return x
