"""Where each key of a TOML file stands: Python's own reader tells values, not lines."""

from __future__ import annotations

import re
import tomllib
from typing import Any

Path = tuple[str, ...]

_HEADER = re.compile(r"\s*\[\[?(?P<name>[^\]].*?)\]\]?\s*(?:#.*)?")


def lines_of(text: str) -> dict[Path, int]:
    r"""Return the line on which each table and key of a valid file begins, counted from 1.

    >>> lines_of('title = "x"\n[item."a.b"]\nlaw = { points = 1 }\n')
    {('title',): 1, ('item',): 2, ('item', 'a.b'): 2, ('item', 'a.b', 'law'): 3, ('item', 'a.b', 'law', 'points'): 3}
    """
    found: dict[Path, int] = {}
    table: Path = ()
    statement, begun = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if not statement and (header := _HEADER.fullmatch(line)):
            table = _paths(_parsed(f"{header['name']} = 0") or {})[-1]
            _note(found, table, number)
            continue
        begun = begun if statement else number
        statement += f"{line}\n"
        parsed = _parsed(statement)
        if parsed is not None:  # otherwise a text or a list goes on in the next line
            for path in _paths(parsed):
                _note(found, (*table, *path), begun)
            statement = ""
    return found


def _note(found: dict[Path, int], path: Path, line: int) -> None:
    for length in range(1, len(path) + 1):
        found.setdefault(path[:length], line)


def _parsed(statement: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return None


def _paths(table: dict[str, Any], above: Path = ()) -> list[Path]:
    """Return the path of every key, a table's own before those in it."""
    paths: list[Path] = []
    for key, value in table.items():
        paths.append((*above, key))
        if isinstance(value, dict):
            paths += _paths(value, (*above, key))
    return paths
