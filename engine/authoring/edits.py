"""Edits of the checkout, gathered first and written together: all of them or none; nothing that was there is lost."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from engine.records import UsageError

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Edits:
    """Files as they will be; `what` says what is new in each."""

    root: Path = ROOT
    texts: dict[str, str] = field(default_factory=dict)
    what: dict[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Return whether a file is there, or will be."""
        return name in self.texts or (self.root / name).exists()

    def text(self, name: str) -> str:
        """Return a file as it will be."""
        if name in self.texts:
            return self.texts[name]
        try:
            return (self.root / name).read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{name} cannot be read: {error.strerror}; exercises are written in a clone of the grader"
            ) from None

    def put(self, name: str, text: str, what: str) -> None:
        """Note a file's new text."""
        self.texts[name] = text
        self.what[name] = what

    def create(self, name: str, text: str, what: str) -> None:
        """Note a file that must not be there yet."""
        if self.has(name):
            raise UsageError(f"{name} is already there, and nothing is overwritten")
        self.put(name, text, what)

    def append(self, name: str, block: str, what: str, *, lines_between: int = 2) -> None:
        """Note a block at the end of a file."""
        self.put(name, self.text(name).rstrip("\n") + "\n" * (lines_between + 1) + block, what)

    def insert(self, name: str, before: int, block: str, what: str) -> None:
        """Note lines in front of a line, counted from 0."""
        lines = self.text(name).splitlines(keepends=True)
        self.put(name, "".join([*lines[:before], block, *lines[before:]]), what)

    def in_table(self, name: str, header: str, block: str, what: str) -> None:
        """Note lines at the end of the last table of a TOML file whose header matches, or at the end of the file."""
        lines = self.text(name).splitlines()
        heads = [place for place, line in enumerate(lines) if re.match(header, line)]
        if not heads:
            self.append(name, block.lstrip("\n"), what, lines_between=1)
            return
        after = (place for place in range(heads[-1] + 1, len(lines)) if lines[place].startswith("["))
        end = next(after, len(lines))
        while not lines[end - 1].strip() or lines[end - 1].startswith(
            "#"
        ):  # what stands above the next table is its own
            end -= 1
        self.insert(name, end, block, what)

    def write(self) -> None:
        """Write everything, once all of it can be read again."""
        for name, text in self.texts.items():
            try:
                ast.parse(text) if name.endswith(".py") else tomllib.loads(text)
            except (SyntaxError, tomllib.TOMLDecodeError) as error:
                raise UsageError(f"{name} would no longer be read ({error}): nothing was written") from None
        for name, text in self.texts.items():
            path = self.root / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            except OSError as error:
                raise UsageError(f"{name} cannot be written: {error.strerror}") from None


def closing_line(text: str, opening: str) -> int:
    """Return the line of the bracket in the first column that closes what a line opens, counted from 0."""
    lines = text.splitlines()
    begun = next((place for place, line in enumerate(lines) if line.startswith(opening)), None)
    if begun is None:
        raise UsageError(f"there is no line {opening!r}: the file is not as it was, write by hand (docs/authors.md)")
    return next(place for place in range(begun + 1, len(lines)) if lines[place].startswith(")"))


def bound_names(text: str) -> set[str]:
    """Return the names that a module's imports and definitions bind."""
    names = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names
