"""Has a C extension compiled and loaded, which takes a compiler and a folder."""

import torch
from torch.utils.cpp_extension import load_inline


def softmax(x, axis=-1):
    load_inline("hostile", "int f() { return 0; }", functions=["f"])
    return torch.softmax(torch.as_tensor(x), dim=axis)
