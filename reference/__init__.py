"""WHAT IS RIGHT: one file per module of the contract."""
