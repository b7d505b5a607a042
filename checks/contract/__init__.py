"""The contract as data: one file per module, one Signature per function."""

from checks.contract import (
    attention,
    averaging,
    gates,
    language_model,
    network,
    perplexity,
    positional,
    tools,
    transformer,
    transformer_modules,
)  # fmt: skip
from checks.contract.signature import Signature

_FILES = (
    attention, positional, gates, network, perplexity, language_model, transformer, transformer_modules, averaging,
)  # fmt: skip

# Files of checks/ and checks/misconceptions/, one per module of the contract; the torch classes of transformer.py have
# a file of their own, because torch takes seconds to import.
FILES = tuple(file.__name__.rsplit(".", 1)[1] for file in _FILES)
MODULES = tuple(dict.fromkeys(row.module for file in _FILES for row in file.FUNCTIONS))
TOOLS: dict[str, Signature] = {row.name: row for row in tools.FUNCTIONS}
SIGNATURES: dict[str, Signature] = {row.id: row for file in _FILES for row in file.FUNCTIONS}


def signature_of(module: str, function: str) -> Signature:
    """Return the signature of a module's function, or of one of our tools that every module may use."""
    return SIGNATURES.get(f"{module}.{function}") or TOOLS[function]


__all__ = ["FILES", "MODULES", "SIGNATURES", "TOOLS", "Signature", "signature_of"]
