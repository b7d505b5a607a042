"""Never returns, in one C function that neither checks for signals nor gives up the interpreter's lock."""

import itertools


def softmax(x, axis=-1):
    return sum(itertools.repeat(0))
