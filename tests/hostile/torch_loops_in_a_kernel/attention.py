"""Never comes back from one operation of torch."""

import torch


def softmax(x, axis=-1):
    large = torch.ones(1800, 1800)
    while True:
        large = large @ large / 1800
