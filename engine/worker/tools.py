"""What a check can do with a torch module: run it, save and reload it, move it, train it.

Ours, but run in the worker, on the student's objects: what they return is data like any other.
Torch is imported by the zygote before; here it is only looked up.
"""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np


def module_output(module: Any, x: Any) -> Any:
    """Return module(x) in eval mode, x in the module's own precision."""
    torch = _torch()
    module.eval()
    with torch.no_grad():
        return _array(module(torch.from_numpy(x).to(_precision(module))))


def module_logits(module: Any, tokens: Any, vocabulary_size: int) -> Any:  # noqa: ARG001 - its shape is checked outside
    """Return module(tokens) in eval mode."""
    torch = _torch()
    module.eval()
    with torch.no_grad():
        return _array(module(torch.from_numpy(tokens)))


def module_holds(module: Any, table: Any) -> Any:
    """Say whether a table (of this shape but for axes of size one) is a parameter, a buffer, part of state_dict."""
    places = (dict(module.named_parameters()), dict(module.named_buffers()), module.state_dict())
    return np.array([float(any(_equal(value, table) for value in place.values())) for place in places])


def module_reloaded(module: Any, x: Any, arguments: Any) -> Any:
    """Return what a fresh instance gives after loading this one's checkpoint, through a file as in real life."""
    torch = _torch()
    checkpoint = io.BytesIO()
    torch.save(module.state_dict(), checkpoint)
    checkpoint.seek(0)
    fresh = type(module)(*arguments)
    fresh.load_state_dict(torch.load(checkpoint, weights_only=True))
    fresh.eval()
    with torch.no_grad():
        given = torch.from_numpy(x)
        return _array(fresh(given.to(_precision(module)) if given.is_floating_point() else given))


def module_reloaded_logits(module: Any, tokens: Any, vocabulary_size: int, arguments: Any) -> Any:  # noqa: ARG001 - see module_logits
    """Return the logits a fresh instance gives after loading this one's checkpoint."""
    return module_reloaded(module, tokens, arguments)


def module_dtypes(module: Any, x: Any) -> Any:
    """Move the module to another precision and back; say where its output comes in that of module and input.

    A table that is no buffer stays behind in float32, and float16 + float32 is float32.
    """
    torch = _torch()
    module.eval()
    flags = []
    for dtype in (torch.float64, torch.float16):
        module.to(dtype)
        with torch.no_grad():
            flags.append(float(module(torch.from_numpy(x).to(dtype)).dtype == dtype))
    module.float()
    return np.array(flags)


def module_input_after(module: Any, x: Any) -> Any:
    """Run the module in eval mode on a tensor of its own, and return what that tensor then holds."""
    torch = _torch()
    module.eval()
    given = torch.from_numpy(x).to(_precision(module), copy=True)
    with torch.no_grad():
        module(given)
    return _array(given)


def module_losses(module: Any, tokens: Any, steps: int, rate: float) -> Any:
    """Train on next-token prediction; return the loss before each step."""
    torch = _torch()
    module.train()
    trainable = [each for each in module.parameters() if each.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=rate, fused=True)  # all parameters in one step: a third of the time
    batch = torch.from_numpy(tokens)
    losses = []
    for _ in range(steps):
        logits = module(batch[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    module.eval()
    return np.array(losses)


def module_sizes(module: Any) -> Any:
    """Return how many trainable numbers there are, and how many entries state_dict has."""
    trainable = sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
    return np.array([float(trainable), float(len(module.state_dict()))])


def _torch() -> Any:
    return sys.modules["torch"]


def _precision(module: Any) -> Any:
    tensors = [*module.parameters(), *module.buffers()]
    floating = [tensor.dtype for tensor in tensors if tensor.is_floating_point()]
    return floating[0] if floating else _torch().float32


def _array(tensor: Any) -> Any:
    return tensor.detach().cpu().numpy()


def _equal(tensor: Any, table: Any) -> bool:
    value = _array(tensor).squeeze()
    wanted = table.squeeze()
    return value.shape == wanted.shape and bool(np.allclose(value, wanted, atol=1e-5))
