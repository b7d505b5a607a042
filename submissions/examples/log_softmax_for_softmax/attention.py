import torch


def softmax(x, axis=-1):
    x = torch.as_tensor(x)
    return x - torch.logsumexp(x, dim=axis, keepdim=True)
