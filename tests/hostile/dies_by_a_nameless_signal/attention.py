"""Dies by a real-time signal, for which Python has no name."""

import signal


def softmax(x, axis=-1):
    signal.raise_signal(signal.SIGRTMIN + 5)
