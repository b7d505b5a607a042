"""Loads its data with worker processes of torch's own."""

import torch
from torch.utils.data import DataLoader


def softmax(x, axis=-1):
    list(DataLoader([1.0, 2.0], num_workers=2))
    return torch.softmax(torch.as_tensor(x), dim=axis)
