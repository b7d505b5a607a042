"""The functions of perplexity.py."""

from __future__ import annotations

from checks.contract.signature import NUMBER, Signature

BITS = {"base": "2.0"}
NATS = {"base": "math.e"}

FUNCTIONS = (
    Signature("perplexity", "entropy", {"p": "k", "base": None}, (NUMBER,), BITS),
    Signature("perplexity", "cross_entropy", {"m": "k", "p": "k", "base": None}, (NUMBER,), BITS),
    Signature("perplexity", "entropy_rate", {"p": "...", "n": None, "base": None}, (NUMBER,), BITS),
    Signature("perplexity", "perplexity", {"log_probs": "N", "base": None}, (NUMBER,), NATS),
    Signature("perplexity", "sequence_perplexity", {"probs": "N"}, (NUMBER,)),
)
