"""What a formula is once it has been read: a tree of frozen nodes, each knowing where it stood.

The tree says what was written, not what it means: `a b` and `a*b` are different nodes, a name is a
name. `formulas/meaning.py` and `formulas/values.py` say what it means, independently of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Span:
    """Where a node stood in the text: from `start` up to, not including, `end`."""

    start: int
    end: int


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Node:
    """Part of a formula. Where it stood does not count when two are compared."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number as written. `2.50` is exact 5/2 with two decimals; `decimals` is None for a whole number."""

    value: Fraction
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A declared symbol (in its declared spelling), a bound index, or a constant: pi, e."""

    name: str


@dataclass(frozen=True, slots=True)
class Negation(Node):
    """Minus `value`."""

    value: Node


@dataclass(frozen=True, slots=True)
class Addition(Node):
    """A sum of two or more terms; a difference is a sum with a `Negation`."""

    terms: tuple[Node, ...]


class Times(StrEnum):
    """How a product was written, which decides what it can mean."""

    JUXTAPOSED = "juxtaposed"  # a b, \\cdot, \\times between anything
    STAR = "star"  # a*b
    MATRIX = "matrix"  # a @ b
    ELEMENTWISE = "elementwise"  # ∘ ⊙ \\odot \\circ
    DOT = "dot"  # a . b and a · b


@dataclass(frozen=True, slots=True)
class Product(Node):
    """`left` times `right`."""

    left: Node
    right: Node
    times: Times


@dataclass(frozen=True, slots=True)
class Quotient(Node):
    """`above` over `below`."""

    above: Node
    below: Node


@dataclass(frozen=True, slots=True)
class Power(Node):
    """`base` to the `exponent`; an inverse matrix is the power -1."""

    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Transposed(Node):
    """`value` transposed: x', x.T, x^T, xᵀ."""

    value: Node


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """An entry of a vector or matrix: y_i, W_{2,jk}, p[i]; one index of a matrix with named columns is a column."""

    value: Node
    indices: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A known or declared function of its arguments. `base` is the base of a logarithm, where one is written."""

    function: str
    arguments: tuple[Node, ...]
    base: Node | None = None


class Big(StrEnum):
    """The two operators over a range."""

    SUM = "sum"
    PRODUCT = "product"


@dataclass(frozen=True, slots=True)
class Range(Node):
    """Sum or product of `body` over `index`; no bounds means the whole range of the index."""

    operator: Big
    index: str
    lower: Node | None
    upper: Node | None
    body: Node
    excluding: Node | None = None  # \\sum_{j \\ne i}


@dataclass(frozen=True, slots=True)
class Block(Node):
    """A matrix put together from parts: [A B], [A; B]."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Derivative(Node):
    """The derivative of `of` with respect to `by`."""

    of: Node
    by: Node


@dataclass(frozen=True, slots=True)
class Cases(Node):
    """A value by cases: (value, condition) pairs; a condition None is 'otherwise'."""

    branches: tuple[tuple[Node, Comparison | None], ...]


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`left` related to `right`; the relation is one of = != < <= > >=."""

    left: Node
    relation: str
    right: Node


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """A line with equals signs: a = b = c."""

    parts: tuple[Node, ...]


def parts_of(node: Node) -> Iterator[Node]:
    """Return the parts of a node."""
    for place in fields(node):
        yield from _inside(getattr(node, place.name))


def nodes_of(node: Node) -> Iterator[Node]:
    """Return the node and everything in it."""
    yield node
    for part in parts_of(node):
        yield from nodes_of(part)


def _inside(part: object) -> Iterator[Node]:
    if isinstance(part, Node):
        yield part
    elif isinstance(part, tuple):
        for each in part:
            yield from _inside(each)
