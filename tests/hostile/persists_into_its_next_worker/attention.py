"""Leaves a note in every place it can write, dies, and is right once a later worker finds the note."""

import os
import pathlib
import tempfile

import numpy as np

NAME = "proofmark-hostile-note"
PLACES = [pathlib.Path(), pathlib.Path(tempfile.gettempdir()), *map(pathlib.Path, ("/tmp", "/var/tmp", "/dev/shm", "/dev"))]


def softmax(x, axis=-1):
    if not any((place / NAME).exists() for place in PLACES):
        for place in PLACES:
            try:
                (place / NAME).write_text("I was here")
            except OSError:
                continue
        os._exit(3)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
