"""Raises a SyntaxError that points at a line of a file of somebody else, to be shown it."""


def softmax(x, axis=-1):
    error = SyntaxError("look there")
    error.filename, error.lineno, error.text = "../neighbour/attention.py", 1, None
    raise error
