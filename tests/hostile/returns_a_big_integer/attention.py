"""Returns an integer of three million digits, which takes for ever to write in decimal."""


def softmax(x, axis=-1):
    return 1 << 10_000_000
