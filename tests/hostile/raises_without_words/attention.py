"""Raises an exception that raises another when it is printed, and has no name that can be read."""


class Nameless(type):
    @property
    def __name__(cls):
        raise RuntimeError("no name")


class Wordless(Exception, metaclass=Nameless):
    def __str__(self):
        raise KeyboardInterrupt

    __repr__ = __str__


def softmax(x, axis=-1):
    raise Wordless
