"""The functions of transformer.py."""

from __future__ import annotations

from checks.contract.signature import Signature

LAYER = {
    "W_q": "d d", "W_k": "d d", "W_v": "d d", "W1": "d m", "b1": "m", "W2": "m d", "b2": "d",
    "gamma1": "d", "beta1": "d", "gamma2": "d", "beta2": "d",
}  # fmt: skip

FUNCTIONS = (
    Signature(
        "transformer", "layer_norm",
        {"x": "... d", "gamma": "d", "beta": "d", "eps": None}, ("... d",), {"eps": "1e-5"},
    ),
    Signature(
        "transformer", "feed_forward",
        {"X": "... d", "W1": "d m", "b1": "m", "W2": "m d", "b2": "d"}, ("... d",),
    ),
    Signature(
        "transformer", "transformer_layer",
        {"X": "... n d", "params": LAYER, "norm_first": None}, ("... n d",), {"norm_first": "False"},
    ),
)  # fmt: skip
