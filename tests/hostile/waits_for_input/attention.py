"""Waits for somebody to type."""


def softmax(x, axis=-1):
    return float(input("softmax? "))
