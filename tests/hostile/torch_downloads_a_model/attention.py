"""Downloads weights, and code with them, from a hub."""

import torch


def softmax(x, axis=-1):
    torch.hub.load_state_dict_from_url("http://127.0.0.1:80/softmax.pt")
    return torch.softmax(torch.as_tensor(x), dim=axis)
