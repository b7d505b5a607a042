"""A module that the contract does not have yet: its files, empty but for their imports, and where they are listed."""

from __future__ import annotations

from engine.authoring.edits import Edits, closing_line

CONTRACT = '''"""The functions of {stem}.py."""

from __future__ import annotations

from checks.contract.signature import Signature

FUNCTIONS = (
)
'''

REFERENCE = '''"""Fill in: what this module is about.

The floating dtype that is given is kept: the judge runs this file in extended precision to learn the truth.
"""

from __future__ import annotations

from typing import Any
'''

CHECKS = '''"""What every right {stem}.py does."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from checks import inputs
from checks.inputs import Draw
from checks.standard import agreement, unmodified
'''

MISCONCEPTIONS = '''"""Wrong functions of {stem}.py: each computes exactly what one mistake computes."""

from __future__ import annotations

from typing import Any

from checks.misconception import misconception
from reference import {stem} as right
'''

VARIANTS = '''"""Right ways to write {stem}.py that differ from the reference; `grader audit` must accept them all."""
'''

TEST = '''"""The reference of {stem}.py gives what was worked out by other means."""


def test_a_value_worked_out_by_hand():
    raise NotImplementedError("fill in: a value that was not computed by the reference, and that it gives it")
'''


def begin(edits: Edits, stem: str) -> None:
    """Note the files of a new module, and its name where modules are listed."""
    files = {
        f"checks/contract/{stem}.py": (CONTRACT, "the module's functions"),
        f"reference/{stem}.py": (REFERENCE, "the module"),
        f"checks/{stem}.py": (CHECKS, "its checks"),
        f"checks/misconceptions/{stem}.py": (MISCONCEPTIONS, "its mistakes"),
        f"engine/audit/variants/{stem}.py": (VARIANTS, "other right ways to write it"),
        f"tests/reference/test_{stem}.py": (TEST, "a test of the reference, to be filled in"),
        f"submissions/examples/right_numpy/{stem}.py": ("import numpy as np\n", "right solutions"),
        f"submissions/examples/right_torch/{stem}.py": ("import torch\n", "right solutions"),
    }
    for name, (text, what) in files.items():
        edits.create(name, text.replace("{stem}", stem), what)
    listed = "checks/contract/__init__.py"
    imports = edits.text(listed).splitlines()
    begun = imports.index("from checks.contract import (") + 1
    place = next(n for n in range(begun, len(imports)) if imports[n].strip(" ,") > stem or imports[n].startswith(")"))
    edits.insert(listed, place, f"    {stem},\n", "the module's name")
    edits.insert(listed, closing_line(edits.text(listed), "_FILES = ("), f"    {stem},\n", "the module's name")
    edits.insert(
        "engine/intake.py",
        closing_line(edits.text("engine/intake.py"), "MODULES = ("),
        f'    "{stem}",\n',
        "the module's name",
    )
