"""What a check can do with a torch module of the submission: our own functions, run in the worker.

They return arrays and numbers only, so that nothing but data crosses the border.
"""

from __future__ import annotations

from typing import Any

from checks.contract.signature import Signature


def _like_first(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    shape: tuple[int, ...] = arguments[1].shape
    return shape


FUNCTIONS = (
    # The output of module(x) in eval mode, for floating-point x.
    Signature("tools", "module_output", {"module": None, "x": None}, (_like_first,)),
    # The logits of module(tokens) in eval mode, for token ids (B, n).
    Signature("tools", "module_logits", {"module": None, "tokens": "B n", "vocabulary_size": "=V"}, ("B n V",)),
    # Whether an array equal to `table` is among the parameters, the buffers, the entries of state_dict.
    Signature("tools", "module_holds", {"module": None, "table": None}, ("3",)),
    # module(x) of a fresh instance, made with `arguments`, that loaded this module's saved state_dict.
    Signature("tools", "module_reloaded", {"module": None, "x": None, "arguments": None}, (_like_first,)),
    # The losses of `steps` Adam steps on next-token prediction; the module is trained in place.
    Signature("tools", "module_losses", {"module": None, "tokens": None, "steps": "=steps", "rate": None}, ("steps",)),
    # The logits of a fresh instance, made with `arguments`, that loaded this module's saved state_dict.
    Signature(
        "tools", "module_reloaded_logits",
        {"module": None, "tokens": "B n", "vocabulary_size": "=V", "arguments": None}, ("B n V",),
    ),
    # 1.0 where the output has the dtype that module and input were moved to: float64, float16.
    Signature("tools", "module_dtypes", {"module": None, "x": None}, ("2",)),
    # What the tensor handed to module(x) holds after the call.
    Signature("tools", "module_input_after", {"module": None, "x": None}, (_like_first,)),
    # Numbers of trainable parameters and of entries in state_dict.
    Signature("tools", "module_sizes", {"module": None}, ("2",)),
)  # fmt: skip
