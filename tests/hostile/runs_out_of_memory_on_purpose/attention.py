"""Raises MemoryError with nothing to show for it."""


def softmax(x, axis=-1):
    raise MemoryError("all of it")
