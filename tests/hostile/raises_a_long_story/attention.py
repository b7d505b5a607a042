"""Raises an exception with ten megabytes to say, in a class whose name alone is one."""


def softmax(x, axis=-1):
    raise type("E" * 2**20, (Exception,), {})("z" * 10 * 2**20)
