"""How a formula is shown: one line of Unicode for a terminal, presentation MathML for a page.

A `_Writer` walks the SymPy expression once and decides what stands where: signs, order, fractions. A
`_Notation` puts the parts together and decides where brackets are needed, because that differs: a fraction
bar groups on a page what a slash does not on a line. What has no notation here is refused, never guessed.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.numbers import Exp1, ImaginaryUnit, Infinity, NegativeInfinity, Pi
from sympy.logic.boolalg import BooleanFalse, BooleanTrue
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.matexpr import MatrixElement


def text(expr: sp.Basic) -> str:
    """Return `expr` as one line of Unicode text.

    >>> i, j, n = sp.symbols("i j n", integer=True)
    >>> y, yhat = sp.IndexedBase("y"), sp.IndexedBase("yhat")
    >>> print(text(sp.Sum(y[j] * (sp.KroneckerDelta(i, j) - yhat[i]), (j, 1, n))))
    Σ_{j=1..n} y_j·(δ_{ij} − ŷ_i)
    """
    return _Writer(_Text()).box(expr).markup


def mathml(expr: sp.Basic, *, block: bool = False) -> str:
    """Return `expr` as a `<math>` element: well-formed XML without named entities, scripts or links.

    >>> mathml(sp.Symbol("x"))
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>'
    """
    display = ' display="block"' if block else ""
    content = _Writer(_MathML()).box(expr).markup
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{display}>{content}</math>'


# --- names ----------------------------------------------------------------------------------------------------

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "lam": "λ", "lamda": "λ", "eps": "ε", "ell": "ℓ",
}  # fmt: skip
_ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304"}  # as combining characters
_NAME = re.compile(r"(?P<stem>[^\W\d_]+)(?P<digits>\d*)(?P<below>(?:_(?:[^\W_]+|\{[^{}_]+\}))*)(?P<primes>'*)")
_ACCENTED = re.compile(r"(?P<stem>.+?)(?P<mark>hat|tilde|bar|prime)")


@dataclass(frozen=True, slots=True)
class Name:
    """A symbol's name as it is read: `Wtilde_1` is a W with a tilde and a 1 below."""

    letter: str
    accent: str = ""  # a key of _ACCENTS
    primes: int = 0
    below: tuple[str, ...] = ()

    @property
    def is_letter(self) -> bool:
        """Whether this is one bare letter: such indices need no commas between them."""
        return len(self.letter) == 1 and not (self.accent or self.primes or self.below)


def read_name(name: str) -> Name:
    """Read the conventions of a name; one that follows none is kept as it is.

    >>> read_name("thetahat_prev")
    Name(letter='θ', accent='hat', primes=0, below=('prev',))
    """
    name = "".join(c if c.isprintable() else "\ufffd" for c in name)  # no line breaks, no terminal controls
    match = _NAME.fullmatch(name)
    if match is None:
        return Name(name)
    stem, primes = match["stem"], len(match["primes"])
    below = [part.strip("{}") for part in match["below"].split("_")[1:]]
    if match["digits"]:
        below.insert(0, match["digits"])
    mark = ""
    accented = _ACCENTED.fullmatch(stem)
    if accented is not None and _is_one_letter(accented["stem"]):
        stem, mark = accented["stem"], accented["mark"]
    elif below and (below[0] in _ACCENTS or below[0] == "prime") and _is_one_letter(stem):
        mark = below.pop(0)
    if mark == "prime":
        mark, primes = "", primes + 1
    return Name(_GREEK.get(stem, stem), mark, primes, tuple(_GREEK.get(part, part) for part in below))


def _is_one_letter(stem: str) -> bool:
    return len(stem) == 1 or stem in _GREEK


# --- boxes and how they are put together ----------------------------------------------------------------------


class Level(IntEnum):
    """How tightly the outermost operation of a box binds: a part below the level its place asks for is bracketed."""

    LOGIC = 0  # a ∧ b
    RELATION = 1  # a = b
    SUM = 2  # a + b, −a
    BIG = 3  # Σ a: reaches as far to the right as it can
    QUOTIENT = 4  # a/b on a line
    PRODUCT = 5  # a·b
    FACTOR = 6  # a fraction with a bar: fine in a product, not under an exponent
    POWER = 7  # a^b, √a, Aᵀ
    ATOM = 8


@dataclass(frozen=True, slots=True)
class Box:
    """A finished part of the output."""

    markup: str
    level: Level = Level.ATOM
    unsigned: Box | None = None  # of −a: a, already bracketed as needed
    stem: str = ""  # of a_i: a, and …
    below: str = ""  # … i, so that a further index joins it and an exponent stands above it


class _Notation(ABC):
    """A way of writing. Methods that take boxes see to their brackets; strings are taken as they are."""

    # atoms
    @abstractmethod
    def name(self, name: Name) -> Box: ...
    @abstractmethod
    def number(self, digits: str) -> str: ...
    @abstractmethod
    def word(self, word: str) -> str: ...
    @abstractmethod
    def operator(self, symbol: str, *, infix: bool = True) -> str: ...

    # arrangements
    @abstractmethod
    def row(self, *parts: str) -> str: ...
    @abstractmethod
    def product(self, boxes: Sequence[Box], *, matrices: bool = False) -> Box: ...
    @abstractmethod
    def quotient(self, above: Box, below: Box) -> Box: ...
    @abstractmethod
    def power(self, base: Box, exponent: Box) -> Box: ...
    @abstractmethod
    def exponential(self, exponent: Box) -> Box: ...
    @abstractmethod
    def root(self, inside: Box, degree: int) -> Box: ...
    @abstractmethod
    def mark(self, base: Box, mark: str) -> Box: ...
    @abstractmethod
    def index(self, base: Box, indices: Sequence[Box], *, commas: bool) -> Box: ...
    @abstractmethod
    def call(self, function: str, arguments: Sequence[Box], brackets: str = "()") -> Box: ...
    @abstractmethod
    def binomial(self, above: Box, below: Box) -> Box: ...
    @abstractmethod
    def big(self, symbol: str, variable: Box, bounds: Sequence[Box], body: str) -> str: ...
    @abstractmethod
    def differential(self, variable: Box) -> str: ...
    @abstractmethod
    def limit(self, variable: Box, point: Box, side: str, body: str) -> str: ...
    @abstractmethod
    def derivative(self, of: Box, by: Sequence[tuple[Box, Box | None]], order: Box | None, *, above: bool) -> Box: ...
    @abstractmethod
    def table(self, rows: Sequence[Sequence[Box]]) -> Box: ...
    @abstractmethod
    def cases(self, branches: Sequence[tuple[Box, Box | None]]) -> Box: ...

    # what both ways of writing share
    def script(self) -> _Notation:
        """Return the notation of exponents, indices and bounds."""
        return self

    def fenced(self, opening: str, inside: str, closing: str) -> str:
        return self.row(self.operator(opening, infix=False), inside, self.operator(closing, infix=False))

    def at(self, box: Box, level: Level) -> str:
        """Return the markup of `box`, bracketed if it binds less tightly than `level`."""
        return box.markup if box.level >= level else self.fenced("(", box.markup, ")")

    def listed(self, boxes: Sequence[Box]) -> str:
        parts = [self.at(box, Level.SUM) for box in boxes]
        separated = [piece for part in parts for piece in (self.operator(","), part)][1:]
        return self.row(*separated)

    def negated(self, box: Box) -> Box:
        unsigned = box if box.level > Level.SUM else Box(self.at(box, Level.BIG))
        return Box(self.row(self.operator("−", infix=False), unsigned.markup), Level.SUM, unsigned=unsigned)

    def total(self, boxes: Sequence[Box]) -> Box:
        """Return the sum, positive terms first."""
        parts: list[str] = []
        for box in sorted(boxes, key=lambda box: box.unsigned is not None):
            if box.unsigned is not None:
                parts += [self.operator("−", infix=bool(parts)), box.unsigned.markup]
            else:
                parts += [self.operator("+"), self.at(box, Level.BIG)] if parts else [self.at(box, Level.BIG)]
        return Box(self.row(*parts), Level.SUM)

    def infix(self, symbol: str, boxes: Sequence[Box], *, inner: Level, outer: Level) -> Box:
        parts = [piece for box in boxes for piece in (self.operator(symbol), self.at(box, inner))][1:]
        return Box(self.row(*parts), outer)

    def factors(self, boxes: Sequence[Box]) -> tuple[list[str], Level]:
        """Return the factors, bracketed: only the last may be one that reaches to the right."""
        last = boxes[-1]
        parts = [self.at(box, Level.FACTOR) for box in boxes[:-1]]
        parts.append(last.markup if last.level == Level.BIG else self.at(last, Level.FACTOR))
        return parts, Level.BIG if last.level == Level.BIG else Level.PRODUCT


_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class _Text(_Notation):
    """One line. Products have a dot, products of matrices a space; a slash divides by what follows at once."""

    def name(self, name: Name) -> Box:
        combined = name.letter + _ACCENTS[name.accent] if name.accent else name.letter
        stem = unicodedata.normalize("NFC", combined) + "′" * name.primes
        if not name.below:
            return Box(stem)
        if len(name.below) == 1 and name.below[0].isdecimal() and name.below[0].isascii():
            return Box(stem + name.below[0].translate(_LOWERED))
        below = ",".join(name.below)
        plain = len(name.below) == 1 and below.isalnum()
        return Box(f"{stem}_{below}" if plain else f"{stem}_{{{below}}}", stem=stem, below=below)

    def number(self, digits: str) -> str:
        return digits

    def word(self, word: str) -> str:
        return word

    def operator(self, symbol: str, *, infix: bool = True) -> str:
        if symbol == ",":
            return ", "
        return f" {symbol} " if infix else symbol

    def row(self, *parts: str) -> str:
        return "".join(parts)

    def product(self, boxes: Sequence[Box], *, matrices: bool = False) -> Box:
        parts, level = self.factors(boxes)
        return Box((" " if matrices else "·").join(parts), level)

    def quotient(self, above: Box, below: Box) -> Box:
        return Box(f"{self.at(above, Level.PRODUCT)}/{self.at(below, Level.POWER)}", Level.QUOTIENT)

    def power(self, base: Box, exponent: Box) -> Box:
        return Box(f"{self.at(base, Level.ATOM)}^{self.at(exponent, Level.ATOM)}", Level.POWER)

    def exponential(self, exponent: Box) -> Box:
        return self.call("exp", [exponent])

    def root(self, inside: Box, degree: int) -> Box:
        if degree == 2:
            return Box(f"√({inside.markup})", Level.POWER)
        return self.power(inside, Box(f"1/{degree}", Level.QUOTIENT))

    def mark(self, base: Box, mark: str) -> Box:
        return Box(self.at(base, Level.ATOM) + mark, Level.POWER)

    def index(self, base: Box, indices: Sequence[Box], *, commas: bool) -> Box:
        below = ("," if commas else "").join(self._compact(self.at(box, Level.SUM)) for box in indices)
        stem = base.stem or self.at(base, Level.ATOM)
        if base.below:
            below = f"{base.below},{below}"
        return Box(f"{stem}_{below}" if len(below) == 1 else f"{stem}_{{{below}}}", stem=stem, below=below)

    def call(self, function: str, arguments: Sequence[Box], brackets: str = "()") -> Box:
        return Box(function + self.fenced(brackets[0], self.listed(arguments), brackets[1]))

    def binomial(self, above: Box, below: Box) -> Box:
        return self.call("binom", [above, below])

    def big(self, symbol: str, variable: Box, bounds: Sequence[Box], body: str) -> str:
        over = "..".join(self._compact(self.at(bound, Level.SUM)) for bound in bounds)
        if symbol == "∫":
            return f"∫_{{{over}}} {body}" if bounds else f"∫ {body}"
        return f"{symbol}_{{{variable.markup}={over}}} {body}"

    def differential(self, variable: Box) -> str:
        return f" d{variable.markup}"

    def limit(self, variable: Box, point: Box, side: str, body: str) -> str:
        return f"lim_{{{variable.markup}→{self._compact(point.markup)}{side}}} {body}"

    def derivative(self, of: Box, by: Sequence[tuple[Box, Box | None]], order: Box | None, *, above: bool) -> Box:
        below = "".join(f"∂{variable.markup}{self._raised(count)}" for variable, count in by)
        if above:
            space = " " if order and not order.markup.isdecimal() else ""  # ∂^n f
            return Box(f"∂{self._raised(order)}{space}{of.markup}/{below}", Level.QUOTIENT)
        return Box(f"∂{self._raised(order)}/{below} ({of.markup})", Level.BIG)

    def table(self, rows: Sequence[Sequence[Box]]) -> Box:
        return Box("[" + "; ".join(" ".join(self._cell(box) for box in row) for row in rows) + "]")

    def cases(self, branches: Sequence[tuple[Box, Box | None]]) -> Box:
        said = [
            f"{value.markup} otherwise" if condition is None else f"{value.markup} if {condition.markup}"
            for value, condition in branches
        ]
        return Box("{" + "; ".join(said) + "}")

    def _cell(self, box: Box) -> str:
        """Return an entry of a table, where spaces separate: one with spaces of its own is bracketed."""
        return self.at(box, Level.POWER) if " " in box.markup else box.markup

    def _raised(self, count: Box | None) -> str:
        if count is None:
            return ""
        return count.markup.translate(_RAISED) if count.markup.isdecimal() else f"^{self.at(count, Level.ATOM)}"

    @staticmethod
    def _compact(markup: str) -> str:
        """Return an index or a bound without spaces round its signs: x_{t−1}."""
        return markup.replace(" − ", "−").replace(" + ", "+")


_ACCENT_MARKS = {"hat": "^", "tilde": "~", "bar": "¯"}
_MARKS = {"ᵀ": '<mi mathvariant="normal">T</mi>', "⁻¹": "<mrow><mo>−</mo><mn>1</mn></mrow>"}
_BIG_OPERATORS = {"Σ": "∑", "Π": "∏"}  # letters on a line, operators on a page
_SIDES = {"⁺": "<mo>+</mo>", "⁻": "<mo>−</mo>"}
_COMMA, _NOTHING_BETWEEN = "<mo>,</mo>", "<mo>&#x2063;</mo>"
_TIMES, _OF = "<mo>&#x2062;</mo>", "<mo>&#x2061;</mo>"
_THIN_SPACE = '<mspace width="0.167em"/>'
_STARTS = re.compile(r"(?:<(?:mrow|msub|msup|msubsup|mfrac)>)*<(m[in])[^>]*>([^<]*)")
_ENDS_IN_WORD = re.compile(r"<mi[^>]*>[^<]{2,}</mi>(?:</mrow>)*$")


class _MathML(_Notation):
    """Presentation MathML, within MathML Core: what Chromium and Firefox both draw."""

    def script(self) -> _MathML:
        return _ScriptMathML()

    def name(self, name: Name) -> Box:
        stem = self._identifier(name.letter)
        if name.accent:
            accent = _ACCENT_MARKS[name.accent]
            stem = f'<mover accent="true">{stem}<mo stretchy="false">{accent}</mo></mover>'
        primes = f"<mo>{'′' * name.primes}</mo>" if name.primes else ""
        parts = [self.number(part) if part.isdecimal() else self._identifier(part) for part in name.below]
        below = self._separated(parts, _COMMA) if parts else ""
        if primes and below:
            return Box(f"<msubsup>{stem}{below}{primes}</msubsup>")
        if primes:
            return Box(f"<msup>{stem}{primes}</msup>")
        if below:
            return Box(f"<msub>{stem}{below}</msub>", stem=stem, below=below)
        return Box(stem)

    def number(self, digits: str) -> str:
        return f"<mn>{digits}</mn>"

    def word(self, word: str) -> str:
        return self._identifier(word) if len(word) > 1 else f'<mi mathvariant="normal">{escape(word)}</mi>'

    def operator(self, symbol: str, *, infix: bool = True) -> str:
        form = "" if infix or symbol != "−" else ' form="prefix"'
        return f"<mo{form}>{escape(symbol)}</mo>"

    def row(self, *parts: str) -> str:
        return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"

    def product(self, boxes: Sequence[Box], *, matrices: bool = False) -> Box:  # noqa: ARG002 - both are juxtaposed
        parts, level = self.factors(boxes)
        pieces = [parts[0]]
        for left, right in pairwise(parts):
            pieces += [self._times(left, right), right]
        return Box(self.row(*pieces), level)

    def quotient(self, above: Box, below: Box) -> Box:
        return Box(f"<mfrac>{above.markup}{below.markup}</mfrac>", Level.FACTOR)

    def power(self, base: Box, exponent: Box) -> Box:
        if base.below and base.level == Level.ATOM:
            return Box(f"<msubsup>{base.stem}{base.below}{exponent.markup}</msubsup>", Level.POWER)
        return Box(f"<msup>{self.at(base, Level.ATOM)}{exponent.markup}</msup>", Level.POWER)

    def exponential(self, exponent: Box) -> Box:
        return self.power(Box(self.word("e")), exponent)

    def root(self, inside: Box, degree: int) -> Box:
        if degree == 2:
            return Box(f"<msqrt>{inside.markup}</msqrt>", Level.POWER)
        return Box(f"<mroot>{inside.markup}{self.number(str(degree))}</mroot>", Level.POWER)

    def mark(self, base: Box, mark: str) -> Box:
        return self.power(base, Box(_MARKS[mark]))

    def index(self, base: Box, indices: Sequence[Box], *, commas: bool) -> Box:
        parts = [self.at(box, Level.SUM) for box in indices]
        below = self._separated(parts, _COMMA if commas else _NOTHING_BETWEEN)
        stem = base.stem or self.at(base, Level.ATOM)
        if base.below:
            below = self._separated([base.below, below], _COMMA)
        return Box(f"<msub>{stem}{below}</msub>", stem=stem, below=below)

    def call(self, function: str, arguments: Sequence[Box], brackets: str = "()") -> Box:
        inside = self.fenced(brackets[0], self.listed(arguments), brackets[1])
        return Box(self.row(function, _OF, inside))

    def binomial(self, above: Box, below: Box) -> Box:
        return Box(self.fenced("(", f'<mfrac linethickness="0">{above.markup}{below.markup}</mfrac>', ")"))

    def big(self, symbol: str, variable: Box, bounds: Sequence[Box], body: str) -> str:
        sign = self.operator(_BIG_OPERATORS.get(symbol, symbol))
        if symbol == "∫":
            return self.row(f"<msubsup>{sign}{bounds[0].markup}{bounds[1].markup}</msubsup>" if bounds else sign, body)
        start = self.row(variable.markup, "<mo>=</mo>", self.at(bounds[0], Level.SUM))
        return self.row(f"<munderover>{sign}{start}{bounds[1].markup}</munderover>", body)

    def differential(self, variable: Box) -> str:
        return _THIN_SPACE + self.row(self.word("d"), variable.markup)

    def limit(self, variable: Box, point: Box, side: str, body: str) -> str:
        target = f"<msup>{point.markup}{_SIDES[side]}</msup>" if side else point.markup
        below = self.row(variable.markup, "<mo>→</mo>", target)
        return self.row(f"<munder>{self.word('lim')}{below}</munder>", _THIN_SPACE, body)

    def derivative(self, of: Box, by: Sequence[tuple[Box, Box | None]], order: Box | None, *, above: bool) -> Box:
        d = "<mi>∂</mi>"
        top = f"<msup>{d}{order.markup}</msup>" if order else d
        steps = [d + (self.power(variable, count) if count else variable).markup for variable, count in by]
        bottom = f"<mrow>{''.join(steps)}</mrow>"
        if above:
            return Box(f"<mfrac>{self.row(top, of.markup)}{bottom}</mfrac>", Level.FACTOR)
        return Box(self.row(f"<mfrac>{top}{bottom}</mfrac>", self.fenced("(", of.markup, ")")), Level.BIG)

    def table(self, rows: Sequence[Sequence[Box]]) -> Box:
        cells = [[f"<mtd>{box.markup}</mtd>" for box in row] for row in rows]
        return Box(self.fenced("[", self._rows(cells), "]"))

    def cases(self, branches: Sequence[tuple[Box, Box | None]]) -> Box:
        left = '<mtd style="text-align: left">'
        cells = [
            [
                f"{left}{value.markup}</mtd>",
                f"{left}<mtext>otherwise</mtext></mtd>"
                if condition is None
                else f"{left}<mrow><mtext>if&#xa0;</mtext>{condition.markup}</mrow></mtd>",
            ]
            for value, condition in branches
        ]
        return Box(self.row("<mo>{</mo>", self._rows(cells)), Level.SUM)

    def _times(self, left: str, right: str) -> str:
        """Return the sign between two factors: none, unless their digits, letters or bars would run together."""
        start = _STARTS.match(right)
        if start is not None and start[1] == "mn":
            return "<mo>·</mo>"
        words = (start is not None and len(start[2]) > 1) or _ENDS_IN_WORD.search(left)
        bars = left.endswith("</mfrac>") and right.startswith("<mfrac>")
        if words or bars:
            return _TIMES + _THIN_SPACE
        return _TIMES

    def _separated(self, parts: Sequence[str], separator: str) -> str:
        return self.row(*[piece for part in parts for piece in (separator, part)][1:])

    @staticmethod
    def _identifier(letters: str) -> str:
        return f"<mi>{escape(letters)}</mi>"

    @staticmethod
    def _rows(cells: Sequence[Sequence[str]]) -> str:
        return "<mtable>" + "".join(f"<mtr>{''.join(row)}</mtr>" for row in cells) + "</mtable>"


class _ScriptMathML(_MathML):
    """MathML in small print, where a fraction is a slash: a bar would make its parts too small to read."""

    def quotient(self, above: Box, below: Box) -> Box:
        slash = '<mo lspace="0" rspace="0">/</mo>'
        return Box(self.row(self.at(above, Level.PRODUCT), slash, self.at(below, Level.POWER)), Level.QUOTIENT)


# --- the walk over an expression ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Writer:
    """Walks an expression; one method per kind of node, chosen in `_METHODS`."""

    to: _Notation

    def box(self, expr: Any) -> Box:
        """Return the box of any expression, or raise TypeError with the name of the class that has no notation."""
        for kind in type(expr).__mro__:
            if kind in _METHODS:
                return _METHODS[kind](self, expr)
        raise _unknown(expr)

    @property
    def small(self) -> _Writer:
        """The writer of exponents, indices and bounds."""
        return _Writer(self.to.script())

    def boxes(self, exprs: Any) -> list[Box]:
        return [self.box(expr) for expr in exprs]

    # numbers and names

    def rational(self, expr: Any) -> Box:
        above = Box(self.to.number(str(abs(int(expr.p)))))
        unsigned = above if expr.q == 1 else self.to.quotient(above, Box(self.to.number(str(int(expr.q)))))
        return self.to.negated(unsigned) if expr.p < 0 else unsigned

    def decimal(self, expr: Any) -> Box:
        digits, _, exponent = sp.sstr(abs(expr), full_prec=False).partition("e")
        unsigned = Box(self.to.number(digits))
        if exponent:
            power = self.to.power(Box(self.to.number("10")), self.rational(sp.Integer(exponent)))
            unsigned = power if digits == "1.0" else self.to.product([unsigned, power])
        return self.to.negated(unsigned) if expr < 0 else unsigned

    def symbol(self, expr: Any) -> Box:
        return self.to.name(read_name(str(expr.name)))

    def named(self, letter: str) -> Box:
        return self.to.name(Name(letter))

    def index(self, base: Box, indices: Sequence[Any]) -> Box:
        indices = [index.label if isinstance(index, sp.Idx) else index for index in indices]
        letters = all(isinstance(index, sp.Symbol) and read_name(index.name).is_letter for index in indices)
        return self.to.index(base, self.small.boxes(indices), commas=not letters)

    # arithmetic

    def add(self, expr: Any) -> Box:
        return self.to.total(self.boxes(expr.as_ordered_terms()))

    def matrix_add(self, expr: Any) -> Box:
        return self.to.total(self.boxes(expr.args))

    def mul(self, expr: Any) -> Box:
        return self._ratio(expr.as_ordered_factors(), ())

    def matrix_mul(self, expr: Any) -> Box:
        coefficient, matrices = expr.as_coeff_matrices()
        return self._ratio([] if coefficient == 1 else coefficient.as_ordered_factors(), matrices)

    def _ratio(self, factors: Sequence[Any], matrices: Sequence[Any]) -> Box:
        """Return the product of numbers and then matrices, written as a signed fraction where one divides."""
        factors = list(factors)
        negative = bool(factors) and isinstance(factors[0], sp.Number) and factors[0].is_extended_negative
        if negative:
            first = -factors.pop(0)
            if first != 1 or not (factors or matrices):
                factors.insert(0, first)
        for place, factor in enumerate(factors):
            if isinstance(factor, sp.Add) and all(_has_minus(term) for term in factor.args):  # c·(−a − b)
                factors[place] = sp.Add(*(-term for term in factor.args))
                negative = not negative
        above, below = _split(factors, also_above=bool(matrices))
        unsigned = self._fraction(above, below, self.boxes(matrices))
        return self.to.negated(unsigned) if negative else unsigned

    def _fraction(self, above: Sequence[Any], below: Sequence[Any], matrices: Sequence[Box]) -> Box:
        above = _in_reading_order(above)
        top = self.boxes(above)
        if not below:
            return self._product(top, matrices)
        bottom = self._product(self.boxes(_in_reading_order(below)), ())
        tall = next((place for place, factor in enumerate(above) if isinstance(factor, _TALL)), None)
        if tall is not None and bottom.level != Level.BIG and not matrices:
            scale = self.to.quotient(self._product(top[:tall], ()), bottom)  # (1/n) Σ a, not (Σ a)/n
            return self._product([scale, *top[tall:]], ())
        return self.to.quotient(self._product(top, matrices), bottom)

    def _product(self, numbers: Sequence[Box], matrices: Sequence[Box]) -> Box:
        if len(matrices) > 1:
            joined = self.to.product(matrices, matrices=True)
            matrices = [replace(joined, level=Level.FACTOR) if numbers and joined.level == Level.PRODUCT else joined]
        boxes = [*numbers, *matrices]
        if not boxes:
            return Box(self.to.number("1"))
        if len(boxes) == 1:
            return boxes[0]
        return self.to.product(boxes)

    def power(self, expr: Any) -> Box:
        base, exponent = expr.base, expr.exp
        if expr.is_commutative and isinstance(exponent, sp.Number) and exponent.is_extended_negative:
            return self._ratio([expr], ())
        if isinstance(exponent, sp.Rational) and exponent.p == 1 and exponent.q > 1:
            return self.to.root(self.box(base), int(exponent.q))
        return self.to.power(self.box(base), self.small.box(exponent))

    def matrix_power(self, expr: Any) -> Box:
        return self.to.power(self.box(expr.base), self.small.box(expr.exp))

    def hadamard_power(self, expr: Any) -> Box:
        exponent = self.to.row(self.to.operator("∘", infix=False), self.to.at(self.small.box(expr.exp), Level.ATOM))
        return self.to.power(self.box(expr.base), Box(exponent, Level.SUM))

    # functions

    def call(self, name: str, *arguments: Any) -> Box:
        return self.to.call(self.to.word(name), self.boxes(arguments))

    def function(self, expr: Any) -> Box:
        """Return a function without a notation of its own by its name, if we named it and not SymPy."""
        if _is_sympys(type(expr)):
            raise _unknown(expr)
        return self.apply(type(expr).__name__, expr.args)

    def apply(self, name: str, arguments: Sequence[Any]) -> Box:
        if name in _SQUARE:
            return self.to.call(self.to.word(name), self.boxes(arguments), "[]")
        return self.to.call(self.to.name(read_name(_FUNCTION_LETTERS.get(name, name))).markup, self.boxes(arguments))

    def elementwise(self, expr: Any) -> Box:
        """Return f(X) for a function f applied to each entry; an expression without a name has no notation."""
        body, kind = expr.function.expr, expr.function.expr.func
        if body.args != expr.function.variables:
            raise _unknown(expr)
        if kind in _FUNCTIONS or kind is sp.exp:
            return self.call(_FUNCTIONS.get(kind, "exp"), expr.expr)
        if not issubclass(kind, sp.Function) or _is_sympys(kind):
            raise _unknown(expr)
        return self.apply(kind.__name__, [expr.expr])

    # operators with a range

    def big(self, expr: Any) -> Box:
        symbol = "Σ" if isinstance(expr, sp.Sum) else "Π"
        body = self.to.at(self.box(expr.function), Level.BIG)
        for variable, *bounds in expr.limits:  # the first is the innermost
            body = self.to.big(symbol, self.small.box(variable), self.small.boxes(bounds), body)
        return Box(body, Level.BIG)

    def integral(self, expr: Any) -> Box:
        body = self.to.at(self.box(expr.function), Level.BIG)
        for variable, *bounds in expr.limits:
            if len(bounds) == 1:
                raise TypeError(f"no notation for Integral with one bound: {variable} up to {bounds[0]}")
            inside = body + self.to.differential(self.box(variable))
            body = self.to.big("∫", self.box(variable), self.small.boxes(bounds), inside)
        return Box(body, Level.BIG)

    def limit(self, expr: Any) -> Box:
        body, variable, point, direction = expr.args
        side = "" if point.is_infinite else {"+": "⁺", "-": "⁻"}.get(str(direction), "")
        inside = self.to.at(self.box(body), Level.BIG)
        return Box(self.to.limit(self.small.box(variable), self.small.box(point), side, inside), Level.BIG)

    def derivative(self, expr: Any) -> Box:
        by = [(self.box(variable), None if count == 1 else self.box(count)) for variable, count in expr.variable_count]
        order = sum(count for _, count in expr.variable_count)
        total = None if order == 1 else self.box(sp.sympify(order))
        above = isinstance(expr.expr, (sp.Symbol, sp.Indexed, sp.MatrixSymbol, MatrixElement, AppliedUndef))
        return self.to.derivative(self.box(expr.expr), by, total, above=above)

    # relations and conditions

    def relation(self, sign: str, expr: Any) -> Box:
        return self.to.infix(sign, self.boxes((expr.lhs, expr.rhs)), inner=Level.SUM, outer=Level.RELATION)

    def logic(self, expr: Any) -> Box:
        symbol = "∧" if isinstance(expr, sp.And) else "∨"
        parts = self.boxes(sorted(expr.args, key=sp.default_sort_key))
        return self.to.infix(symbol, parts, inner=Level.RELATION, outer=Level.LOGIC)

    def negation(self, expr: Any) -> Box:
        return Box(self.to.row(self.to.operator("¬", infix=False), self.to.at(self.box(expr.args[0]), Level.ATOM)))

    def piecewise(self, expr: Any) -> Box:
        return self.to.cases(
            [(self.box(value), None if condition == sp.true else self.box(condition)) for value, condition in expr.args]
        )

    # brackets of other shapes

    def enclosed(self, opening: str, inside: Any, closing: str) -> Box:
        return Box(self.to.fenced(opening, self.box(inside).markup, closing))

    def ordered(self, expr: Any) -> Box:
        return Box(self.to.fenced("(", self.to.listed(self.boxes(expr.args)), ")"))

    def table(self, matrix: Any) -> Box:
        rows, columns = matrix.shape
        return self.to.table([self.boxes(matrix[row, column] for column in range(columns)) for row in range(rows)])


def _split(factors: Sequence[Any], *, also_above: bool) -> tuple[list[Any], list[Any]]:
    """Return what stands above and what below the bar.

    A negative number as exponent goes below. A symbolic one, x^(−n), does so only under something else:
    `pos/10000^(2·i/d)`, but `2^(−H)` by itself.
    """
    above: list[Any] = []
    below: list[Any] = []
    undecided: list[Any] = []
    for factor in factors:
        if isinstance(factor, sp.Rational) and factor.q != 1:
            above += [] if factor.p == 1 else [sp.Integer(factor.p)]
            below.append(sp.Integer(factor.q))
        elif isinstance(factor, sp.Pow) and factor.is_commutative and _has_minus(factor.exp):
            number = isinstance(factor.exp, sp.Number)
            (below if number else undecided).append(factor if not number else _inverted(factor))
        else:
            above.append(factor)
    if above or also_above:
        return above, below + [_inverted(factor) for factor in undecided]
    return undecided, below


def _in_reading_order(factors: Sequence[Any]) -> list[Any]:
    """Return factors that commute as people order them: 2·y_i·ln(x)·(a + b)·Σ a_k."""
    if all(factor.is_commutative for factor in factors):
        return sorted(factors, key=_rank)
    return list(factors)


def _rank(factor: Any) -> int:
    base = factor.base if isinstance(factor, sp.Pow) else factor
    if base.is_number:
        return 0
    if isinstance(base, (sp.Symbol, sp.Indexed, sp.KroneckerDelta, MatrixElement)):
        return 1
    if isinstance(factor, _TALL):
        return 4
    return 3 if isinstance(base, sp.Add) else 2


def _has_minus(expr: Any) -> bool:
    first = expr.args[0] if isinstance(expr, sp.Mul) else expr
    return isinstance(first, sp.Number) and bool(first.is_extended_negative)


def _inverted(power: Any) -> Any:
    exponent = -power.exp
    return power.base if exponent == 1 else sp.Pow(power.base, exponent, evaluate=False)


def _is_sympys(kind: type) -> bool:
    return kind.__module__ is not None and kind.__module__.startswith("sympy.")  # None: sp.Function("f")


def _unknown(expr: Any) -> TypeError:
    return TypeError(f"no notation for {type(expr).__name__} (from {type(expr).__module__}) in formulas/printing.py")


_TALL = (sp.Sum, sp.Product, sp.Integral, sp.Limit, sp.Derivative)  # beside a fraction rather than above its bar
_SQUARE = frozenset({"E", "Var", "Cov"})  # operators written with square brackets: E[X]
_FUNCTION_LETTERS = {"sigmoid": "sigma"}
_RELATIONS = {
    sp.Eq: "=", sp.Ne: "≠", sp.Lt: "<", sp.Le: "≤", sp.Gt: ">", sp.Ge: "≥",
}  # fmt: skip
_FUNCTIONS = {
    sp.log: "ln", sp.sin: "sin", sp.cos: "cos", sp.tan: "tan", sp.sinh: "sinh", sp.cosh: "cosh", sp.tanh: "tanh",
    sp.asin: "arcsin", sp.acos: "arccos", sp.atan: "arctan", sp.atanh: "artanh", sp.erf: "erf", sp.sign: "sgn",
    sp.Max: "max", sp.Min: "min", sp.Trace: "tr", sp.Determinant: "det",
    sp.DiagMatrix: "diag", sp.DiagonalMatrix: "diag", sp.DiagonalOf: "diag",
}  # fmt: skip


def _called(name: str) -> Callable[[_Writer, Any], Box]:
    return lambda writer, expr: writer.call(name, *expr.args)


def _related(sign: str) -> Callable[[_Writer, Any], Box]:
    return lambda writer, expr: writer.relation(sign, expr)


def _lettered(letter: str) -> Callable[[_Writer, Any], Box]:
    return lambda writer, _: writer.named(letter)


_METHODS: dict[type, Callable[[_Writer, Any], Box]] = {
    # numbers and names
    sp.Rational: _Writer.rational,
    sp.Float: _Writer.decimal,
    Pi: _lettered("π"),
    Exp1: lambda writer, _: Box(writer.to.word("e")),
    ImaginaryUnit: lambda writer, _: Box(writer.to.word("i")),
    Infinity: lambda writer, _: Box(writer.to.number("∞")),
    NegativeInfinity: lambda writer, _: writer.to.negated(Box(writer.to.number("∞"))),
    BooleanTrue: lambda writer, _: Box(writer.to.word("true")),
    BooleanFalse: lambda writer, _: Box(writer.to.word("false")),
    sp.Symbol: _Writer.symbol,
    sp.MatrixSymbol: _Writer.symbol,
    sp.Idx: lambda writer, expr: writer.box(expr.label),
    sp.IndexedBase: lambda writer, expr: writer.box(expr.label),
    sp.Indexed: lambda writer, expr: writer.index(writer.box(expr.base), expr.indices),
    sp.KroneckerDelta: lambda writer, expr: writer.index(writer.named("δ"), expr.args[:2]),
    MatrixElement: lambda writer, expr: writer.index(writer.box(expr.parent), (expr.i, expr.j)),
    # arithmetic
    sp.Add: _Writer.add,
    sp.Mul: _Writer.mul,
    sp.Pow: _Writer.power,
    sp.UnevaluatedExpr: lambda writer, expr: writer.box(expr.args[0]),
    sp.MatAdd: _Writer.matrix_add,
    sp.MatMul: _Writer.matrix_mul,
    sp.MatPow: _Writer.matrix_power,
    sp.HadamardPower: _Writer.hadamard_power,
    sp.HadamardProduct: lambda writer, expr: writer.to.infix(
        "∘", writer.boxes(expr.args), inner=Level.POWER, outer=Level.PRODUCT
    ),
    sp.Transpose: lambda writer, expr: writer.to.mark(writer.box(expr.arg), "ᵀ"),
    sp.Inverse: lambda writer, expr: writer.to.mark(writer.box(expr.arg), "⁻¹"),
    # functions
    sp.exp: lambda writer, expr: writer.to.exponential(writer.small.box(expr.args[0])),
    sp.Abs: lambda writer, expr: writer.enclosed("|", expr.args[0], "|"),
    sp.floor: lambda writer, expr: writer.enclosed("⌊", expr.args[0], "⌋"),
    sp.ceiling: lambda writer, expr: writer.enclosed("⌈", expr.args[0], "⌉"),
    sp.binomial: lambda writer, expr: writer.to.binomial(*writer.boxes(expr.args)),
    sp.Function: _Writer.function,
    ElementwiseApplyFunction: _Writer.elementwise,
    **{kind: _called(name) for kind, name in _FUNCTIONS.items()},
    # operators with a range
    sp.Sum: _Writer.big,
    sp.Product: _Writer.big,
    sp.Integral: _Writer.integral,
    sp.Limit: _Writer.limit,
    sp.Derivative: _Writer.derivative,
    # relations and conditions
    **{kind: _related(sign) for kind, sign in _RELATIONS.items()},
    sp.And: _Writer.logic,
    sp.Or: _Writer.logic,
    sp.Not: _Writer.negation,
    sp.Piecewise: _Writer.piecewise,
    # tuples and matrices
    sp.Tuple: _Writer.ordered,
    sp.Identity: _lettered("I"),
    sp.ZeroMatrix: lambda writer, _: Box(writer.to.number("0")),
    sp.OneMatrix: _lettered("𝟏"),
    sp.MatrixBase: _Writer.table,
    sp.BlockMatrix: lambda writer, expr: writer.table(expr.blocks),
}
