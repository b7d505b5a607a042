"""The functions of language_model.py."""

from __future__ import annotations

from typing import Any

from checks.contract.signature import OBJECT, PARAMETERS, TEXT, Signature


def _one_less(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the shape of one number for every token, or character, but the first."""
    return (len(arguments[-1]) - 1,)


FUNCTIONS = (
    Signature(
        "language_model", "train_bigram",
        {"tokens": "N", "vocabulary_size": None, "smoothing": None}, (OBJECT,), {"smoothing": "1.0"},
    ),
    Signature("language_model", "bigram_log_probs", {"model": None, "tokens": "N"}, (_one_less,)),
    Signature(
        "language_model", "train_neural_bigram",
        {"tokens": "N", "embeddings": "V e", "hidden": None, "steps": None, "seed": None}, (PARAMETERS,),
    ),
    Signature(
        "language_model", "neural_log_probs",
        {"params": None, "embeddings": "V e", "tokens": "N"}, (_one_less,),
    ),
    Signature("language_model", "train_char_model", {"text": None}, (OBJECT,)),
    Signature("language_model", "char_log_probs", {"model": None, "text": None}, (_one_less,)),
    Signature("language_model", "preprocess", {"text": None}, (TEXT,)),
)  # fmt: skip
