"""Returns a generator that would yield numbers for ever, if anybody iterated over it."""

import itertools


def softmax(x, axis=-1):
    return (0.5 for _ in itertools.count())
