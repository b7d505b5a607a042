"""Raises an exception caused by an exception caused by an exception, ten thousand of them, in a group."""


def softmax(x, axis=-1):
    cause = None
    for number in range(10_000):
        error = ExceptionGroup("tower", [ValueError(number)])
        error.__cause__ = cause
        cause = error
    raise cause
