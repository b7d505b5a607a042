"""Stands in for a module of the grader and notes that it was run; nothing but attention.py may import it."""

import builtins

builtins.shadowed = [*getattr(builtins, "shadowed", []), __name__]
