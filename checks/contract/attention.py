"""The functions of attention.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checks.contract.signature import NUMBER, Pattern, Signature


def _attention(name: str, parameters: Mapping[str, Pattern], *returns: str, **more: Any) -> Signature:
    defaults = {"axis": "-1"} if name == "softmax" else {}
    defaults |= {"mask": "None"} if "mask" in parameters else {}
    return Signature("attention", name, parameters, returns, defaults, **more)


FUNCTIONS = (
    _attention("softmax", {"x": "...", "axis": None}, "..."),
    _attention("dot_product_attention", {"q": "d", "K": "n d", "V": "n v"}, "v", "n"),
    _attention(
        "scaled_dot_product_attention",
        {"Q": "... n d", "K": "... m d", "V": "... m v", "mask": None}, "... n v", weights_allowed=True,
    ),
    _attention("causal_mask", {"n": "=n"}, "n n", steps=True),
    _attention(
        "self_attention",
        {"X": "... n d", "W_q": "d h", "W_k": "d h", "W_v": "d h", "mask": None}, "... n h", weights_allowed=True,
    ),
    _attention(
        "multi_head_attention",
        {"X": "... n d", "W_q": "heads d h", "W_k": "heads d h", "W_v": "heads d h", "W_o": "rows d", "mask": None},
        "... n d", weights_allowed=True,
    ),
    _attention(
        "relative_bias_attention",
        {"Q": "n d", "K": "n d", "V": "n v", "bias": "offsets"}, "n v", weights_allowed=True,
    ),
    _attention("argmax_attention", {"Q": "n d", "K": "m d", "V": "m v"}, "n v", weights_allowed=True, steps=True),
    _attention("receptive_field", {"heads": None, "levels": None}, NUMBER, steps=True),
    _attention("additive_attention", {"q": "a", "H": "n b", "W1": "s a", "W2": "s b", "v": "s"}, "b", "n"),
    _attention("attentive_rnn", {"xs": "T d", "h0": "h", "W": "h d", "U": "h h"}, "T h", weights_allowed=True),
    _attention("projection_matrix", {"A": "d m"}, "d d"),
    _attention("averaging_query", {"k_a": "d", "k_b": "d", "scale": None}, "d"),
    _attention("head_queries", {"mu_a": "d", "mu_b": "d", "scale": None}, "d", "d"),
)  # fmt: skip
