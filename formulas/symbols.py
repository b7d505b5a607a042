"""The symbols a question declares: names, shapes, properties and definitions.

The form is that of the judged formulas: `{"mu": {"shape": ["d"], "is": ["real"]}, …}`. A name used as a
dimension is a positive whole number whether it is declared or not. Declarations are checked when they are read; their
sizes become SymPy's when somebody asks: most runs of the grader read every question and judge none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy as sp

_DIMENSION = re.compile(r"(\d*)\s*\*?\s*([A-Za-z]\w*)?")
_KNOWN_KEYS = frozenset({"shape", "is", "def", "columns", "at", "in_span_of", "mean", "covariance", "note", "spelled"})
PROPERTIES = frozenset(
    {
        "real", "positive", "integer", "index", "function", "grows", "identity", "one_hot", "distribution",
        "probability", "unit_interval", "orthonormal_columns", "normal",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Symbol:
    """One declared symbol. Definitions are kept as text: who needs one reads it with the same reader."""

    name: str
    sizes: tuple[int | str | sp.Expr, ...] = ()
    properties: frozenset[str] = frozenset()
    definition: str | None = None
    columns: str | None = None  # the name of this matrix' columns: a_j is column j of A
    at: str | None = None  # where a one-hot vector is hot
    in_span_of: str | None = None
    mean: str | None = None
    covariance: str | None = None
    spelled: tuple[str, ...] = ()  # further spellings: p(W) for a declared P
    note: str = ""

    @cached_property
    def shape(self) -> tuple[sp.Expr, ...]:
        """() for a number, (n,) for a vector (a column), (n, m) for a matrix."""
        return tuple(dimension(size) for size in self.sizes)


@dataclass(frozen=True)
class Symbols:
    """All symbols of a question by name, and what is given about them."""

    by_name: Mapping[str, Symbol]
    given: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def __getitem__(self, name: str) -> Symbol:
        return self.by_name[name]

    def dimensions(self) -> tuple[sp.Symbol, ...]:
        """Return the dimension symbols of all shapes, in order of first use."""
        return self._sizes

    @cached_property
    def _sizes(self) -> tuple[sp.Symbol, ...]:
        """Found once: every stage asks for them many times."""
        found: dict[sp.Symbol, None] = {}
        for symbol in self.by_name.values():
            for size in symbol.shape:
                found.update(dict.fromkeys(sorted(size.free_symbols, key=str)))
        return tuple(found)


class SymbolError(Exception):
    """A declaration cannot be read: whose, and what is wrong with it."""


def dimension(size: int | str | sp.Expr) -> sp.Expr:
    """Read a dimension: 3, "n", "2d", "2*d"; one that was read is what it is.

    >>> dimension("2d")
    2*d
    """
    import sympy as sp

    if isinstance(size, int):
        return sp.Integer(size)
    if not isinstance(size, str):
        return size
    count, name = _written(size)
    return sp.Integer(count or 1) * (size_symbol(name) if name else 1)


def _written(size: str) -> tuple[str, str]:
    """Return a dimension's number and its name as they are written; one of them may be empty."""
    match = _DIMENSION.fullmatch(size.strip())
    if match is None or not any(match.groups()):
        raise SymbolError(f"{size!r} is not a dimension; 3, n and 2d are")
    return match[1], match[2] or ""


def size_symbol(name: str) -> sp.Symbol:
    """Return the symbol of a size: a positive whole number."""
    import sympy as sp

    return sp.Symbol(name, integer=True, positive=True)


def declared(declarations: Mapping[str, Mapping[str, Any]], given: tuple[str, ...] = ()) -> Symbols:
    """Read the declarations of a question."""
    return Symbols({name: _symbol(name, rows) for name, rows in declarations.items()}, tuple(given))


def _symbol(name: str, rows: Mapping[str, Any]) -> Symbol:
    unknown = sorted(set(rows) - _KNOWN_KEYS)
    if unknown:
        raise SymbolError(f"symbol {name!r}: unknown key {unknown[0]!r}; known are {', '.join(sorted(_KNOWN_KEYS))}")
    properties = frozenset(rows.get("is", ()))
    strange = sorted(properties - PROPERTIES)
    if strange:
        raise SymbolError(
            f"symbol {name!r}: unknown property {strange[0]!r}; known are {', '.join(sorted(PROPERTIES))}"
        )
    sizes = tuple(rows.get("shape", ()))
    for size in sizes:
        if isinstance(size, str):
            _written(size)
    return Symbol(
        name,
        sizes=sizes,
        properties=properties,
        definition=rows.get("def"),
        columns=rows.get("columns"),
        at=rows.get("at"),
        in_span_of=rows.get("in_span_of"),
        mean=rows.get("mean"),
        covariance=rows.get("covariance"),
        spelled=tuple(rows.get("spelled", ())),
        note=rows.get("note", ""),
    )
