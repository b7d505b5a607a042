import torch


def additive_attention(q, H, W1, W2, v):
    hidden = torch.sigmoid((W1 @ q).unsqueeze(0) + H @ W2.T)
    a = torch.softmax(hidden @ v, dim=0)
    return a @ H, a
