"""Returns things that are no data at all: a function, a class, a module, a frame, an exception."""

import sys


def softmax(x, axis=-1):
    return [softmax, type, sys, sys._getframe(), ValueError("held"), Ellipsis][x.size % 6]
