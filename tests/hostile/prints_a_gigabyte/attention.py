"""Prints a gigabyte, which somebody would have to keep."""


def softmax(x, axis=-1):
    for _ in range(1024):
        print("x" * 2**20)
    return x
