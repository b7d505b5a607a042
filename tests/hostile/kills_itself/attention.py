"""Dies by SIGKILL of its own hand, as if somebody else or the kernel had killed it."""

import signal


def softmax(x, axis=-1):
    signal.raise_signal(signal.SIGKILL)
