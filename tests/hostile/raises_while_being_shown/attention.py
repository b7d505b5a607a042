"""Raises an exception whose text raises an exception."""


class Shy(Exception):
    def __str__(self):
        raise ValueError("not even this")

    __repr__ = __str__


def softmax(x, axis=-1):
    raise Shy
