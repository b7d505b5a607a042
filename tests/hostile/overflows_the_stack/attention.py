"""Lifts Python's limit of recursion and overflows the stack underneath it."""

import sys

sys.setrecursionlimit(10**9)


class Bottomless:
    def __repr__(self):
        return repr([self])


def softmax(x, axis=-1):
    return repr(Bottomless())
