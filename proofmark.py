"""In a notebook: `%load_ext proofmark`, then `%proofmark attention.softmax`."""

from engine.notebook import load_ipython_extension

__all__ = ["load_ipython_extension"]
