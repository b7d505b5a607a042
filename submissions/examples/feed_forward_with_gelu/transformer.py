import torch.nn.functional as F


def feed_forward(X, W1, b1, W2, b2):
    return F.gelu(X @ W1 + b1) @ W2 + b2
