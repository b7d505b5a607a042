"""What /proc says of a run that is under way: who belongs to it, and how much memory they have."""

from __future__ import annotations

import os
from pathlib import Path


def processes() -> dict[int, int]:
    """Return every living process with its parent."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[:2]
        except OSError:  # it has just ended
            continue
        if state != "Z":
            found[int(folder.name)] = int(parent)
    return found


def below(root: int) -> set[int]:
    """Return a process and all its descendants."""
    parents = processes()
    tree = {root} & parents.keys()
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return tree


def kibibytes(pid: int, file: str, name: str) -> int:
    """Return one figure of a process' memory; nothing if it has just ended."""
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


def core_seconds(root: int) -> float:
    """Return the seconds of processor time of a process, all its descendants, and those of them that have ended."""
    ticks = 0
    for pid in below(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))  # its own and those of children it has waited for, as user and system
    return ticks / os.sysconf("SC_CLK_TCK")
