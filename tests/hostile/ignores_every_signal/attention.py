"""Ignores every signal that can be ignored, then loops: only SIGKILL ends it."""

import signal

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)


def softmax(x, axis=-1):
    while True:
        pass
