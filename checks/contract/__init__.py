"""The contract as data: one file per module, one Signature per function."""

from checks.contract import attention
from checks.contract.signature import Signature

_MODULES = (attention,)

MODULES = tuple(module.__name__.rsplit(".", 1)[1] for module in _MODULES)
SIGNATURES: dict[str, Signature] = {row.id: row for module in _MODULES for row in module.FUNCTIONS}

__all__ = ["MODULES", "SIGNATURES", "Signature"]
