"""Returns a tensor that still belongs to a graph, conjugated and negated lazily; the answer is right."""

import torch


def softmax(x, axis=-1):
    given = torch.as_tensor(x).clone().requires_grad_()
    right = torch.softmax(given, dim=axis)
    return torch._neg_view(-right)
