"""The contract as data: one file per module, one Signature per function."""

from checks.contract import attention, averaging, gates, positional, tools, transformer
from checks.contract.signature import Signature

_MODULES = (attention, positional, gates, transformer, averaging)

MODULES = tuple(module.__name__.rsplit(".", 1)[1] for module in _MODULES)
TOOLS: dict[str, Signature] = {row.name: row for row in tools.FUNCTIONS}
SIGNATURES: dict[str, Signature] = {row.id: row for module in _MODULES for row in module.FUNCTIONS}


def signature_of(module: str, function: str) -> Signature:
    """Return the signature of a module's function, or of one of our tools that every module may use."""
    return SIGNATURES.get(f"{module}.{function}") or TOOLS[function]


__all__ = ["MODULES", "SIGNATURES", "TOOLS", "Signature", "signature_of"]
