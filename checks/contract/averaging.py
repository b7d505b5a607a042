"""The function of averaging.py."""

from __future__ import annotations

from typing import Any

from checks.contract.signature import Signature


def _logits(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Return (B, width of the last layer)."""
    ids, _, layers = given[:3]
    return len(ids), len(layers[-1][1])


FUNCTIONS = (
    Signature(
        "averaging",
        "deep_averaging_network",
        {"ids": "B n", "embeddings": "V e", "layers": None, "padding": None},
        (_logits,),
        {"padding": "0"},
    ),
)
