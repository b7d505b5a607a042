"""A formula as its author wrote it, in MathML: what the reader understood, before anything is simplified.

`printing.mathml` shows what an expression is; SymPy has put its terms in order by then. Here a term stands where the
student put it, so that a page can show how an answer was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from formulas.printing import Box, Level, Name, _MathML, read_name
from formulas.tree import (
    Addition,
    Big,
    Block,
    Call,
    Cases,
    Chain,
    Comparison,
    Derivative,
    Entry,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Range,
    Times,
    Transposed,
)
from formulas.tree import Name as Named

_SIGNS = {"=": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}
_BETWEEN = {Times.ELEMENTWISE: "∘", Times.DOT: "·"}
_LETTERS = {"sigmoid": "sigma", "Theta": "Theta", "Omega": "Omega", "trace": "tr", "E": "E", "O": "O"}
_FENCES = {"abs": "||", "norm": "‖‖", "floor": "⌊⌋", "ceil": "⌈⌉"}
_SQUARE = frozenset({"E", "Var", "Cov"})


def written(tree: Node) -> str:
    """Return the formula as a `<math>` element: well-formed, no scripts, no links, no names of entities.

    >>> from formulas.reader import read
    >>> from formulas.symbols import declared
    >>> written(read("x + 1", declared({"x": {}})))
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></math>'
    """
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML">{_Hand(_MathML()).box(tree).markup}</math>'


@dataclass(frozen=True, slots=True)
class _Hand:
    """Walks a tree; brackets are put where the notation needs them, not where they were typed."""

    to: _MathML

    @property
    def small(self) -> _Hand:
        return _Hand(self.to.script())

    def boxes(self, nodes: Sequence[Node]) -> list[Box]:
        return [self.box(node) for node in nodes]

    def box(self, node: Node) -> Box:
        match node:
            case Number():
                return self.number(node)
            case Named(name=name):
                return Box(self.to.word("e")) if name == "e" else self.to.name(read_name(name))
            case Negation(value=value):
                return self.to.negated(self.box(value))
            case Addition(terms=terms):
                return self.addition(self.boxes(terms))
            case Product():
                return self.product(node)
            case Quotient(above=above, below=below):
                return self.to.quotient(self.box(above), self.box(below))
            case Power(base=base, exponent=exponent):
                return self.to.power(self.box(base), self.small.box(exponent))
            case Transposed(value=value):
                return self.to.mark(self.box(value), "ᵀ")
            case Entry(value=value, indices=indices):
                return self.entry(self.box(value), indices)
            case Call():
                return self.call(node)
            case Range():
                return self.range(node)
            case Block(rows=rows):
                return self.to.table([self.boxes(row) for row in rows])
            case Derivative(of=of, by=by):
                short = isinstance(of, Named | Entry | Call)
                return self.to.derivative(self.box(of), [(self.box(by), None)], None, above=short)
            case Cases(branches=branches):
                return self.to.cases(
                    [(self.box(value), self.box(c) if c is not None else None) for value, c in branches]
                )
            case Comparison(left=left, relation=relation, right=right):
                return self.related(_SIGNS[relation], [left, right])
            case Chain(parts=parts):
                return self.related("=", parts)
        raise TypeError(f"no notation for {type(node).__name__} in formulas/written.py")

    def number(self, node: Number) -> Box:
        if node.decimals:
            digits = str(int(node.value * 10**node.decimals)).rjust(node.decimals + 1, "0")
            return Box(self.to.number(f"{digits[: -node.decimals]}.{digits[-node.decimals :]}"))
        above = Box(self.to.number(str(node.value.numerator)))
        if node.value.denominator == 1:
            return above
        return self.to.quotient(above, Box(self.to.number(str(node.value.denominator))))

    def addition(self, boxes: Sequence[Box]) -> Box:
        """Return the sum, its terms in the order in which they were written."""
        parts: list[str] = []
        for box in boxes:
            if box.unsigned is not None:
                parts += [self.to.operator("−", infix=bool(parts)), box.unsigned.markup]
            else:
                parts += [self.to.operator("+")] * bool(parts) + [self.to.at(box, Level.BIG)]
        return Box(self.to.row(*parts), Level.SUM)

    def product(self, node: Product) -> Box:
        factors = [self.box(each) for each in _factors(node)]
        if node.times in _BETWEEN:
            return self.to.infix(_BETWEEN[node.times], factors, inner=Level.FACTOR, outer=Level.PRODUCT)
        return self.to.product(factors)

    def entry(self, value: Box, indices: Sequence[Node]) -> Box:
        letters = all(isinstance(index, Named) and read_name(index.name).is_letter for index in indices)
        return self.to.index(value, self.small.boxes(indices), commas=not letters)

    def call(self, node: Call) -> Box:
        arguments = self.boxes(node.arguments)
        match node.function:
            case "sqrt":
                return self.to.root(arguments[0], 2)
            case "exp":
                return self.to.exponential(self.small.box(node.arguments[0]))
            case "binomial":
                return self.to.binomial(*arguments)
            case "delta":
                return self.entry(self.to.name(Name("δ")), node.arguments)
            case "inv":
                return self.to.mark(arguments[0], "⁻¹")
            case "eye" | "ones" | "zeros":
                letter = {"eye": "I", "ones": "1", "zeros": "0"}[node.function]
                return self.to.index(Box(self.to.word(letter)), self.small.boxes(node.arguments), commas=True)
            case "factorial":
                return Box(self.to.row(self.to.at(arguments[0], Level.ATOM), self.to.operator("!", infix=False)))
        if node.function in _FENCES:
            opening, closing = tuple(_FENCES[node.function])
            return Box(self.to.fenced(opening, arguments[0].markup, closing))
        name = self.to.name(read_name(_LETTERS.get(node.function, node.function)))
        if node.base is not None:
            name = self.to.index(name, [self.small.box(node.base)], commas=True)
        return self.to.call(name.markup, arguments, "[]" if node.function in _SQUARE else "()")

    def range(self, node: Range) -> Box:
        sign = {Big.SUM: "∑", Big.PRODUCT: "∏"}[node.operator]
        index = self.small.to.name(read_name(node.index))
        below = index
        if node.excluding is not None:
            below = self.to.infix("≠", [index, self.small.box(node.excluding)], inner=Level.SUM, outer=Level.RELATION)
        elif node.lower is not None:
            below = self.to.infix("=", [index, self.small.box(node.lower)], inner=Level.SUM, outer=Level.RELATION)
        body = self.to.at(self.box(node.body), Level.BIG)
        upper = self.small.box(node.upper).markup if node.upper is not None else ""
        over = "munderover" if upper else "munder"
        big = f"<{over}>{self.to.operator(sign)}{below.markup}{upper}</{over}>"
        return Box(self.to.row(big, body), Level.BIG)

    def related(self, sign: str, nodes: Sequence[Node]) -> Box:
        return self.to.infix(sign, self.boxes(nodes), inner=Level.SUM, outer=Level.RELATION)


def _factors(node: Product) -> list[Node]:
    """Return the factors of a product written in one row, with one sign between them."""
    left = node.left
    in_row = isinstance(left, Product) and _BETWEEN.get(left.times) == _BETWEEN.get(node.times)
    return [*(_factors(left) if isinstance(left, Product) and in_row else [left]), node.right]
