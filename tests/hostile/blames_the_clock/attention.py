"""Sends itself the signal of a used-up limit of processor time."""

import signal


def softmax(x, axis=-1):
    signal.raise_signal(signal.SIGXCPU)
