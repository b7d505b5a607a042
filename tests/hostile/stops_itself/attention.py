"""Stops itself like a job in a shell: it neither answers nor ends."""

import signal


def softmax(x, axis=-1):
    signal.raise_signal(signal.SIGSTOP)
