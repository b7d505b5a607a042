"""The torch classes of transformer.py: calling one makes a module, which stays where it was made."""

from __future__ import annotations

from checks.contract.signature import OBJECT, Signature

FUNCTIONS = (
    Signature("transformer", "PositionalEncoding", {"d_model": None, "max_len": None}, (OBJECT,)),
    Signature(
        "transformer", "CausalLM",
        {"vocabulary_size": None, "d_model": None, "heads": None, "layers": None, "max_len": None}, (OBJECT,),
    ),
)  # fmt: skip
