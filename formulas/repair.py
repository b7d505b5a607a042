"""What is wrong with a wrong answer: the one edit that makes it right, said in a sentence.

Edits of the answer's tree are tried in order of likelihood: a sign, a transpose, an order, a bound, an exponent, a
factor, a term, and so on. What they put in is taken from the expected formula and the declared symbols. An edited tree
is first compared with the expected formula at a few fixed points, which costs microseconds; the first that agrees
there is handed to the judge, and only what the judge accepts is said. Two parts count as the same if they have the
same values at those points, so that σ(x) and 1/(1 + exp(-x)) are the same factor.

Everything is counted and nothing timed: the same answer gets the same sentence everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property, reduce
from itertools import combinations, islice, pairwise
from typing import Final, TypeAlias

from flint import arb, ctx, fmpq

from formulas import growth
from formulas.decide import decide_trees, last_part
from formulas.growth import Growth, Monomial
from formulas.reader import read_comparison
from formulas.refute import assignments, name_in_words
from formulas.symbols import Symbol, Symbols
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
    Name,
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
from formulas.values import (
    CONSTANTS,
    SINGLE,
    Evaluation,
    Fault,
    Interpreter,
    Value,
    children,
    dimensions_of,
    entries_of,
    exact,
    free_indices,
    names_in,
    shape_in_words,
    transposed,
)

MOST_EDITS: Final = 400  # edited trees looked at for one answer
MOST_STEPS: Final = 150_000  # scalar operations spent on looking at them
MOST_JUDGED: Final = 4  # edited trees handed to the judge
POINTS: Final = 4  # where they are compared first
DRAWN: Final = 42  # assignments these are chosen from: the later ones have no simple numbers
SIMPLE: Final = 36  # as many of them come first
PRECISION: Final = 64  # bits
LARGEST: Final = 300  # nodes of an answer that is repaired
LONG: Final = 80  # nodes of an answer of which fewer edits of each kind are tried
FEW: Final = 12  # but always as many as this
LONGEST: Final = 40  # characters of a part of a formula in a sentence


@dataclass(frozen=True, slots=True)
class Repair:
    """An edit that makes a wrong answer right; `sentence` says it, without capital and full stop.

    `likelihood` is the place of the kind of edit in the order of trial: smaller is likelier. `edited` is what the
    judge accepted. It is there to be checked, not to be shown: it may be all of the expected formula.
    """

    sentence: str
    edited: Node
    likelihood: int


def repair(answer: Node, expected: Node, symbols: Symbols, relation: str = "equal") -> Repair | None:
    """Return the likeliest single edit that makes a wrong answer right, None if none was found.

    >>> from formulas.reader import read
    >>> from formulas.symbols import declared
    >>> known = declared({"s": {"is": ["positive"]}, "d": {"is": ["integer"]}})
    >>> repair(read("2 s + d s^3", known), read("2 s + d s^4", known), known).sentence
    'the exponent of s in the second term should be 4, not 3'
    """
    answer, expected = last_part(answer), last_part(expected)
    if _count(answer) > LARGEST or _count(expected) > LARGEST:
        return None
    if relation == "theta":
        return _growth_repair(answer, expected, symbols)
    points = _points(expected, symbols, relation)
    if points is None or points.agree(answer):
        return None
    return _searched(_Work(answer, expected, symbols, points), relation)


def _searched(work: _Work, relation: str) -> Repair | None:
    seen, judged = {work.answer}, 0
    for likelihood, (kind, most) in enumerate(EDITS, start=1):
        for edit in islice(kind(work), work.share(most)):
            if edit.tree in seen:
                continue
            if len(seen) > MOST_EDITS or work.points.steps > MOST_STEPS or judged == MOST_JUDGED:
                return None
            seen.add(edit.tree)
            if work.points.agree(edit.tree) and not work.tells_all(edit.sentence):
                judged += 1
                if decide_trees(edit.tree, work.expected, work.symbols, relation).right:
                    return Repair(edit.sentence, edit.tree, likelihood)
    return None


# --- Trees -----------------------------------------------------------------------------------------------------------

ONE: Final = Number(Fraction(1))


def _number(value: int | Fraction) -> Number:
    return Number(Fraction(value))


def _count(tree: Node) -> int:
    total, pending = 0, [tree]
    while pending and total <= LARGEST:
        node = pending.pop()
        total += 1
        pending.extend(children(node))
    return total


def _with_child(node: Node, place: int, new: Node) -> Node:
    """Return a node with another child, counted as `children` counts them."""
    match node:
        case Negation() | Transposed():
            return replace(node, value=new)
        case Addition():
            return replace(node, terms=_put(node.terms, place, new))
        case Chain():
            return replace(node, parts=_put(node.parts, place, new))
        case Product() | Comparison():
            return replace(node, left=new) if place == 0 else replace(node, right=new)
        case Quotient():
            return replace(node, above=new) if place == 0 else replace(node, below=new)
        case Power():
            return replace(node, base=new) if place == 0 else replace(node, exponent=new)
        case Derivative():
            return replace(node, of=new) if place == 0 else replace(node, by=new)
        case Entry():
            return replace(node, value=new) if place == 0 else replace(node, indices=_put(node.indices, place - 1, new))
        case Call() if place == len(node.arguments):
            return replace(node, base=new)
        case Call():
            return replace(node, arguments=_put(node.arguments, place, new))
        case Range():
            return _with_range_part(node, _range_parts(node)[place], new)
        case Block():
            flat = iter(_put(children(node), place, new))
            return replace(node, rows=tuple(tuple(next(flat) for _ in row) for row in node.rows))
    return node  # conditions of cases stay as they are


def _put(parts: tuple[Node, ...], place: int, new: Node) -> tuple[Node, ...]:
    return (*parts[:place], new, *parts[place + 1 :])


def _range_parts(node: Range) -> list[str]:
    return [part for part in ("body", "lower", "upper", "excluding") if getattr(node, part) is not None]


def _with_range_part(node: Range, part: str, new: Node) -> Range:
    match part:
        case "lower":
            return replace(node, lower=new)
        case "upper":
            return replace(node, upper=new)
        case "excluding":
            return replace(node, excluding=new)
    return replace(node, body=new)


@dataclass(frozen=True, slots=True)
class _Spot:
    """A node where it stands: what is above it, outermost first, and which child it is there."""

    node: Node
    trail: tuple[tuple[Node, int], ...] = ()

    @property
    def parent(self) -> Node | None:
        return self.trail[-1][0] if self.trail else None

    @property
    def place(self) -> int:
        return self.trail[-1][1] if self.trail else 0

    def put(self, new: Node) -> Node:
        """Return the whole tree with another node here."""
        for parent, place in reversed(self.trail):
            new = _with_child(parent, place, new)
        return new

    def child(self, place: int) -> _Spot:
        return _Spot(children(self.node)[place], (*self.trail, (self.node, place)))

    def is_index(self) -> bool:
        """Tell whether this stands in an index, a bound, the base of a logarithm or a case: no quantity to edit."""
        for node, place in self.trail:
            match node:
                case Entry() if place > 0:
                    return True
                case Range() if place > 0:
                    return True
                case Call(function="delta" | "eye" | "ones" | "zeros"):
                    return True
                case Call() if place == len(node.arguments):
                    return True
                case Cases() | Derivative() | Comparison():
                    return True
        return False

    def is_part(self) -> bool:
        """Tell whether a factor here is one of what stands here: a term, an exponent, an argument, all of it."""
        match self.parent:
            case None | Addition() | Call():
                return True
            case Power():
                return self.place == 1
        return False


def _spots(tree: Node) -> list[_Spot]:
    """Return all nodes of a tree with where they stand, a node before those below it."""
    found: list[_Spot] = []
    pending = [_Spot(tree)]
    while pending:
        spot = pending.pop()
        found.append(spot)
        pending.extend(spot.child(place) for place in reversed(range(len(children(spot.node)))))
    return found


def _negated(node: Node) -> Node:
    match node:
        case Negation(value=value):
            return value
        case Number(value=value) if value < 0:
            return replace(node, value=-value)
    return Negation(node)


def _unsigned(node: Node) -> Node:
    return node.value if isinstance(node, Negation) else node


def _terms(node: Node) -> list[Node]:
    """Return the terms of a sum, signs put in; what is no sum has one."""
    match node:
        case Addition(terms=terms):
            return [inner for term in terms for inner in _terms(term)]
        case Negation(value=Addition() as value):
            return [_negated(term) for term in _terms(value)]
    return [node]


def _sum(terms: Sequence[Node]) -> Node:
    return terms[0] if len(terms) == 1 else Addition(tuple(terms))


def _plus(node: Node, count: int) -> Node:
    """Return a node plus a whole number, without `+ 1 - 1`."""
    rest: list[Node] = []
    total = Fraction(count)
    for term in _terms(node):
        if isinstance(_unsigned(term), Number):
            value = _unsigned(term).value  # type: ignore[attr-defined]
            total += -value if isinstance(term, Negation) else value
        else:
            rest.append(term)
    if not rest:
        return _number(total)
    if total:
        rest.append(_number(total) if total > 0 else Negation(_number(-total)))
    return _sum(rest)


@dataclass(frozen=True, slots=True)
class _Factor:
    """One factor of a product read from left to right: how it is joined to what is before it, or dividing it."""

    node: Node
    times: Times = Times.JUXTAPOSED
    inverse: bool = False

    def alone(self) -> Node:
        return Quotient(ONE, self.node) if self.inverse else self.node


def _factors(node: Node) -> list[_Factor]:
    match node:
        case Product(left=left, right=right, times=times):
            return [*_factors(left), _Factor(right, times)]
        case Quotient(above=above, below=below):
            head = [] if above == ONE else _factors(above)
            return [*head, _Factor(below, inverse=True)]
    return [_Factor(node)]


def _multiplied(factors: Sequence[_Factor]) -> Node:
    if not factors:
        return ONE
    return reduce(_times, factors[1:], factors[0].alone())


def _times(left: Node, right: _Factor) -> Node:
    return Quotient(left, right.node) if right.inverse else Product(left, right.node, right.times)


def _renamed(node: Node, old: Node, new: Node) -> Node:
    """Return a tree with one node put in place of another, wherever it stands."""
    if node == old:
        return new
    for place, child in enumerate(children(node)):
        other = _renamed(child, old, new)
        if other is not child:
            node = _with_child(node, place, other)
    if isinstance(node, Range) and isinstance(old, Name) and isinstance(new, Name) and node.index == old.name:
        node = replace(node, index=new.name)
    return node


def _swapped(node: Node, one: Node, other: Node) -> Node:
    """Return a tree with two nodes exchanged, wherever they stand."""
    if node == one:
        return other
    if node == other:
        return one
    for place, child in enumerate(children(node)):
        changed = _swapped(child, one, other)
        if changed is not child:
            node = _with_child(node, place, changed)
    return node


# --- Points ----------------------------------------------------------------------------------------------------------

Key: TypeAlias = tuple[object, ...]


class _Points:
    """A few assignments at which trees are evaluated, and the values of the expected formula there."""

    def __init__(self, interpreter: Interpreter, relation: str) -> None:
        self._interpreter = interpreter
        self._transposable = relation == "equal_up_to_transpose"
        within = relation.partition(":")[2]
        self._within = exact(Fraction(within)) if relation.startswith("approx") and within else None
        self._at: list[tuple[Evaluation, Value]] = []
        self._loose = False
        self._keys: dict[Node, Key | None] = {}

    def take(self, evaluation: Evaluation, expected: Node) -> None:
        """Use an assignment, if the expected formula has a value there."""
        with ctx.workprec(PRECISION):
            try:
                self._at.append((evaluation, evaluation.value(expected)))
                self._loose = bool(self._interpreter.free(expected))
            except Fault:
                return

    @property
    def count(self) -> int:
        return len(self._at)

    @property
    def steps(self) -> int:
        """How many scalar operations all evaluations took, roughly."""
        return sum(evaluation.steps for evaluation, _ in self._at)

    def agree(self, tree: Node) -> bool:
        """Tell whether a tree is worth the same as the expected formula at all points."""
        return all(self._agree_at(tree, evaluation, wanted) for evaluation, wanted in self._at)

    def _agree_at(self, tree: Node, evaluation: Evaluation, wanted: Value) -> bool:
        with ctx.workprec(PRECISION):
            try:
                mine = evaluation.value(tree)
                loose = self._loose or self._transposable or bool(self._interpreter.free(tree))
            except Fault:
                return False
            return self._same(mine, wanted) or (loose and self._same(transposed(mine), wanted))

    def _same(self, mine: Value, wanted: Value) -> bool:
        if dimensions_of(mine) != dimensions_of(wanted):
            return False
        return all(map(self._same_number, entries_of(mine), entries_of(wanted)))

    def _same_number(self, mine: fmpq | arb, wanted: fmpq | arb) -> bool:
        if self._within is not None:
            return not abs(arb(mine) - arb(wanted)) > arb(self._within) * abs(arb(wanted))
        if type(mine) is fmpq and type(wanted) is fmpq:
            return mine == wanted
        return bool(arb(mine).overlaps(arb(wanted)))

    def key(self, node: Node) -> Key | None:
        """Return what nodes of the same values at two points have in common; None if there are no values."""
        if node not in self._keys:
            self._keys[node] = self._new_key(node) if self.steps <= MOST_STEPS else None
        return self._keys[node]

    def _new_key(self, node: Node) -> Key | None:
        found: list[object] = []
        with ctx.workprec(PRECISION):
            for evaluation, _ in self._at[:2]:
                try:
                    value = evaluation.value(node)
                except Fault:
                    return None
                numbers = (number if type(number) is fmpq else f"{float(number):.9g}" for number in entries_of(value))
                found += [shape_in_words(value), *map(str, numbers)]
        return tuple(found)

    def shape(self, node: Node) -> str:
        """Say the shape of a node: `n×1`; nothing if it does not fit together."""
        key = self.key(node)
        return str(key[0]) if key else ""


def _points(expected: Node, symbols: Symbols, relation: str) -> _Points | None:
    """Choose the points: no simple numbers, few sizes of 1, all of which hide mistakes."""
    drawn = list(islice(assignments(symbols), DRAWN))
    best = sorted(drawn[SIMPLE:], key=lambda made: sum(size == 1 for size in made.sizes.values()))
    interpreter = Interpreter(symbols)
    points = _Points(interpreter, relation)
    for made in (*best, *reversed(drawn[:SIMPLE])):
        if points.count == POINTS:
            break
        points.take(interpreter.at(made), expected)
    return points if points.count else None


# --- Words -----------------------------------------------------------------------------------------------------------

_RAISED: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_LOWERED: Final = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SUM, _PRODUCT, _POWER, _ATOM = range(4)


def _ordinal(place: int) -> str:
    return _ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _digits(value: Fraction, decimals: int | None = None) -> str:
    if value.numerator.bit_length() + value.denominator.bit_length() > 200:
        return "a long number"
    if not decimals:
        return str(value)
    whole, rest = divmod(round(value * 10**decimals), 10**decimals)
    return f"{whole}.{rest:0{decimals}d}"


class _Words:
    """How parts of a formula are written in a sentence."""

    def __init__(self, symbols: Symbols, is_array: Callable[[Node], bool]) -> None:
        self._symbols = symbols
        self._is_array = is_array
        functions = (symbol for symbol in symbols.by_name.values() if "function" in symbol.properties)
        self._functions = {(symbol.definition or symbol.name).strip(): symbol.name for symbol in functions}

    def of(self, node: Node, level: int = _SUM) -> str:
        """Write a node, in brackets where it binds less than its place asks for."""
        text, own = self._written(node)
        return text if own >= level else f"({text})"

    def function(self, name: str) -> str:
        """Write the name of a function, as the question spells it."""
        return name_in_words(self._functions.get(name, name))

    def _written(self, node: Node) -> tuple[str, int]:
        match node:
            case Number():
                return self._number(node)
            case Name(name=name):
                return name_in_words(name), _ATOM
            case Negation(value=value):
                return f"−{self.of(value, _PRODUCT)}", _SUM
            case Addition(terms=terms):
                signed = [("−" if isinstance(t, Negation) else "+", self.of(_unsigned(t), _PRODUCT)) for t in terms]
                text = " ".join(part for pair in signed for part in pair)
                return text.removeprefix("+ ") if text.startswith("+") else f"−{text[2:]}", _SUM
            case Product(left=left, right=right):
                parts = self.of(left, _PRODUCT), self.of(right, _PRODUCT if isinstance(right, Range) else _POWER)
                return f"{parts[0]}{self._sign(node, parts[1])}{parts[1]}", _PRODUCT
            case Quotient(above=above, below=below):
                return f"{self.of(above, _POWER)}/{self.of(below, _POWER)}", _PRODUCT
            case Power(base=base, exponent=exponent):
                raised = f"^{self.of(exponent, _ATOM)}"
                whole = _unsigned(exponent)
                if isinstance(whole, Number) and whole.value.denominator == 1:
                    minus = "-" if isinstance(exponent, Negation) else ""
                    raised = f"{minus}{_digits(whole.value)}".translate(_RAISED)
                return f"{self.of(base, _ATOM)}{raised}", _POWER
            case Transposed(value=value):
                return f"{self.of(value, _ATOM)}ᵀ", _POWER
            case Entry():
                return self._entry(node), _ATOM
            case Call():
                return self._call(node)
            case Range():
                return self._range(node), _PRODUCT
            case Block(rows=rows):
                return f"[{'; '.join(', '.join(map(self.of, row)) for row in rows)}]", _ATOM
        return "this part", _ATOM

    def _number(self, node: Number) -> tuple[str, int]:
        text = _digits(abs(node.value), node.decimals)
        if node.value < 0:
            return f"−{text}", _SUM
        return text, _PRODUCT if "/" in text else _ATOM

    def _sign(self, node: Product, right: str) -> str:
        if node.times is Times.DOT:
            return "·"
        arrays = self._is_array(node.left) and self._is_array(node.right)
        if node.times is Times.ELEMENTWISE or (node.times is Times.STAR and arrays):
            return "∘"
        return "·" if right[0].isdigit() else " "

    def _entry(self, node: Entry) -> str:
        columns = isinstance(node.value, Name) and node.value.name in self._symbols and len(node.indices) == 1
        named = self._symbols[node.value.name].columns if columns else None  # type: ignore[attr-defined]
        return f"{named or self.of(node.value, _ATOM)}_{self._indices(node.indices)}"

    def _indices(self, indices: Iterable[Node]) -> str:
        texts = [self.of(index) for index in indices]
        if all(len(text) == 1 for text in texts):
            return "".join(texts)
        return f"{{{','.join(texts)}}}"

    def _call(self, node: Call) -> tuple[str, int]:
        inside = ", ".join(self.of(argument) for argument in node.arguments)
        match node.function:
            case "sqrt":
                return f"√{self.of(node.arguments[0], _ATOM)}", _POWER
            case "norm":
                return f"‖{inside}‖", _ATOM
            case "abs":
                return f"|{inside}|", _ATOM
            case "delta":
                return f"δ_{self._indices(node.arguments)}", _ATOM
            case "eye":
                return "I", _ATOM
        base = "" if node.base is None else self.of(node.base, _ATOM).translate(_LOWERED)
        below = f"_{base}" if base.isascii() and base else base
        return f"{self.function(node.function)}{below}({inside})", _ATOM

    def _range(self, node: Range) -> str:
        below = name_in_words(node.index)
        if node.lower is not None and node.upper is not None:
            below = f"{{{below}={self.of(node.lower)}..{self.of(node.upper)}}}"
        elif node.excluding is not None:
            below = f"{{{below}≠{self.of(node.excluding)}}}"
        return f"{_big(node)}_{below} {self.of(node.body, _PRODUCT)}"


def _big(node: Range) -> str:
    return "Σ" if node.operator is Big.SUM else "Π"


def _called(node: Range) -> str:
    return "sum" if node.operator is Big.SUM else "product"


# --- One question ----------------------------------------------------------------------------------------------------


_WORD: Final = re.compile(r"[A-Za-z]\w*")


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edited answer, and what to say if it is right."""

    tree: Node
    sentence: str


Edits: TypeAlias = Iterator[_Edit]


class _Work:
    """An answer and all that its edits are made from."""

    def __init__(self, answer: Node, expected: Node, symbols: Symbols, points: _Points) -> None:
        self.answer = answer
        self.expected = expected
        self.symbols = symbols
        self.points = points
        self.words = _Words(symbols, self.is_array)
        self.spots = _spots(answer)
        self.parts = [spot for spot in self.spots if not spot.is_index()]
        self.products = [spot for spot in self.parts if _heads_product(spot)]

    def share(self, most: int) -> int:
        """Return how many edits of a kind are tried: fewer of a long answer, but all places of a difference."""
        return most if most <= FEW or len(self.spots) <= LONG else max(FEW, most * LONG // len(self.spots))

    # What is known about nodes

    def is_array(self, node: Node) -> bool:
        """Tell whether a node is a vector or a matrix; what has no value is none, but for a declared name."""
        match node:
            case Name(name=name) if name in self.symbols:
                return bool(self.symbols[name].shape)
            case Transposed(value=value):
                return self.is_array(value)
        return "×" in self.points.shape(node)

    def same(self, left: Node, right: Node) -> bool:
        """Tell whether two nodes are equal as written or in value."""
        key = self.points.key(left)
        return left == right or (key is not None and key == self.points.key(right))

    def tells_much(self, node: Node) -> bool:
        """Tell whether a part of the expected formula is most of it."""
        size = _count(node)
        return (size > 4 and 5 * size > 2 * _count(self.expected)) or self.same(node, self.expected)

    def tells_all(self, sentence: str) -> bool:
        """Tell whether a sentence has the whole expected formula in it, which the answer has not."""
        whole = re.compile(rf"(?<!\w){re.escape(self.words.of(self.expected))}(?!\w)")
        return bool(whole.search(sentence)) and not whole.search(self.words.of(self.answer))

    # What edits put in

    @cached_property
    def wanted(self) -> list[_Spot]:
        """All nodes of the expected formula."""
        return _spots(self.expected)

    @cached_property
    def functions(self) -> list[str]:
        """The functions of one argument that the expected formula uses."""
        calls = (spot.node for spot in self.wanted)
        return list(dict.fromkeys(c.function for c in calls if isinstance(c, Call) and len(c.arguments) == 1))

    @cached_property
    def material(self) -> list[Node]:
        """The factors of the expected formula, and what stands beside each other there, but not all of it."""
        found: dict[Node, None] = {}
        heads = [spot for spot in self.wanted if not spot.is_index()]
        for spot in heads:
            factors = _factors(spot.node) if _heads_product(spot) else []
            for length in (1, 2, 3):
                for start in range(len(factors) - length + 1):
                    found[_multiplied(factors[start : start + length])] = None
        for spot in heads:
            if not isinstance(spot.node, Negation | Number):
                found[spot.node] = None
        whole = self.expected, _unsigned(self.expected)
        return [node for node in found if node != ONE and not any(self.same(node, one) for one in whole)]

    @cached_property
    def scalars(self) -> list[Node]:
        """Numbers that may be missing as factors, likely ones first."""
        plain = [name for name, symbol in self.symbols.by_name.items() if _is_number(symbol)]
        known: list[Node] = [node for node in self.material if not self.is_array(node) and _count(node) <= 8]
        numbers = {*self.sizes, *plain}
        known += [Name(name) for name in (*self.known_names, *self.sizes, *plain) if name in numbers]
        known = list(dict.fromkeys(known))
        halves: list[Node] = [_number(2), Quotient(ONE, _number(2))]
        return list(dict.fromkeys([*known, *halves, *map(_inverse, known), _number(4), Quotient(ONE, _number(4))]))

    @cached_property
    def known_names(self) -> list[str]:
        """The names of the expected formula, then those their definitions and shapes are made of."""
        found = sorted(names_in(self.expected))
        for name in found:  # grows as we go
            symbol = self.symbols.by_name.get(name)
            if symbol is not None:
                behind = {str(part) for size in symbol.shape for part in size.free_symbols}
                behind |= {word for word in _WORD.findall(symbol.definition or "") if word in self.symbols}
                found += sorted(behind - set(found))
        return found

    @cached_property
    def sizes(self) -> list[str]:
        """The names of all dimensions."""
        return [size.name for size in self.symbols.dimensions()]

    def names(self, like: str) -> list[str]:
        """Return the names that may be meant where another stands, those of the expected formula first."""
        rank = len(self.symbols[like].shape) if like in self.symbols else 0
        found = []
        for name in self.known_names:
            symbol = self.symbols.by_name.get(name)
            known = symbol is not None and len(symbol.shape) == rank and "function" not in symbol.properties
            if (known or (name in self.sizes and rank == 0)) and name != like and Name(name) != self.expected:
                found.append(name)
        return list(dict.fromkeys(found))

    # Where something stands, in words

    def noun(self, spot: _Spot) -> str:
        """Say what a node is part of: `the second term of the exponent`; nothing if it is all there is."""
        nouns = [noun for noun, _ in self._nouns(spot)]
        if len(nouns) < 2 or (self._containers[nouns[0]] == 1 and "term" not in nouns[0]):
            return "".join(nouns[:1])
        if " term of " in nouns[0] and not nouns[0].endswith("a bracket"):
            return nouns[0]
        joined = f"{nouns[0]}{' in ' if ' of ' in nouns[0] else ' of '}{nouns[1]}"
        return f"{joined} of {nouns[2]}" if len(nouns) > 2 and nouns[1].endswith("term") else joined

    def _nouns(self, spot: _Spot) -> list[tuple[str, tuple[int, ...]]]:
        """Return what a node is part of, innermost first, with the path there."""
        path = tuple(place for _, place in spot.trail)
        found = ((self._noun(spot.trail[:depth]), path[:depth]) for depth in range(len(path), 0, -1))
        return [pair for pair in found if pair[0]]

    @cached_property
    def _containers(self) -> Counter[str]:
        """How many places are called the same."""
        spots = (spot for spot in self.parts if not isinstance(spot.node, Number))
        return Counter(noun for noun, _ in {pair for spot in spots for pair in self._nouns(spot)})

    def _noun(self, trail: tuple[tuple[Node, int], ...]) -> str:
        parent, place = trail[-1]
        match parent:
            case Addition():
                outer = [step for step in trail[:-1] if not isinstance(step[0], Negation)]
                if not outer or self._noun(trail[:-1]):
                    return f"the {_ordinal(place)} term"
                text = self.words.of(parent)
                return f"the {_ordinal(place)} term of {text if len(text) <= LONGEST else 'a bracket'}"
            case Power() if place == 1:
                return "the exponent"
            case Quotient() if parent.above != ONE or place == 1:
                return "the denominator" if place == 1 else "the numerator"
            case Call(function="sqrt"):
                return "the root"
            case Call(function="norm"):
                return "the norm"
            case Call() if place < len(parent.arguments):
                return f"the argument of {self.words.function(parent.function)}"
            case Range() if place == 0:
                return f"the {_called(parent)}"
        return ""

    def inside(self, spot: _Spot) -> str:
        """Say where a node stands: ` in the second term`."""
        noun = self.noun(spot)
        return f" in {noun}" if noun else ""

    def text(self, node: Node) -> str:
        """Write a node, if that is short enough to be read."""
        text = self.words.of(node)
        return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} …"

    def pointed(self, spot: _Spot, verb: str) -> str:
        """Say something of a node so that it is clear which is meant: `σ … in the first term`, `the second μ …`."""
        equal = [other for other in self.parts if other.node == spot.node]
        text = self.text(spot.node)
        if len(equal) < 2:
            return f"{text} {verb}"
        noun = self.noun(spot)
        if noun and sum(self.noun(other) == noun for other in equal) == 1:
            return f"{text} {verb} in {noun}"
        return f"the {_ordinal([other.trail for other in equal].index(spot.trail))} {text} {verb}"

    @cached_property
    def differences(self) -> list[_Difference]:
        """Where the two formulas differ if they are laid side by side."""
        return list(islice(_compared(self, _Spot(self.answer), self.expected), 24))


def _is_number(symbol: Symbol) -> bool:
    return not symbol.shape and not symbol.properties & {"function", "index"}


def _inverse(node: Node) -> Node:
    match node:
        case Quotient(above=above, below=below):
            return below if above == ONE else Quotient(below, above)
    return Quotient(ONE, node)


def _heads_product(spot: _Spot) -> bool:
    """Tell whether a product or quotient begins here and is not the left part of a longer one."""
    if not isinstance(spot.node, Product | Quotient):
        return False
    return not (isinstance(spot.parent, Product | Quotient) and spot.place == 0)


# --- Signs -----------------------------------------------------------------------------------------------------------


def _overall_sign(work: _Work) -> Edits:
    differences = [spot for spot in work.parts if _is_difference(spot.node) and _carries_sign(spot)]
    turned = [spot for spot in differences if any(work.same(_reversed(spot.node), other.node) for other in work.wanted)]
    for spot in turned or (differences if len(differences) == 1 else ()):
        one, other = (work.text(_unsigned(term)) for term in children(spot.node))
        yield _Edit(spot.put(_reversed(spot.node)), f"{one} and {other} are swapped")
    yield _Edit(_negated(work.answer), "the sign of the whole is wrong")


def _reversed(node: Node) -> Node:
    """Return b - a for a - b."""
    return Addition(tuple(_negated(term) for term in reversed(children(node))))


def _carries_sign(spot: _Spot) -> bool:
    """Tell whether all changes its sign with this part."""
    for node, place in spot.trail:
        match node:
            case Product() | Transposed() | Quotient():
                continue
            case Range(operator=Big.SUM) if place == 0:
                continue
        return False
    return True


def _is_difference(node: Node) -> bool:
    return (
        isinstance(node, Addition)
        and len(node.terms) == 2
        and sum(isinstance(term, Negation) for term in node.terms) == 1
    )


def _signs(work: _Work) -> Edits:
    for spot in work.parts:
        exponent = isinstance(spot.parent, Power) and spot.place == 1
        argument = isinstance(spot.parent, Call) and len(spot.parent.arguments) == 1
        if isinstance(spot.parent, Addition) or exponent or argument:
            yield _Edit(spot.put(_negated(spot.node)), f"the sign of {work.noun(spot)} is wrong")


# --- Transposes and order --------------------------------------------------------------------------------------------


def _whole_transpose(work: _Work) -> Edits:
    if isinstance(work.answer, Name | Transposed):
        return
    mine, wanted = work.points.shape(work.answer), work.points.shape(work.expected)
    shapes = f": it is {mine}, {wanted} is expected" if mine and mine != wanted else ""
    yield _Edit(Transposed(work.answer), f"the whole should be transposed{shapes}")


def _transposes(work: _Work) -> Edits:
    for spot in work.parts:
        if isinstance(spot.node, Transposed):
            inner = spot.child(0)
            yield _Edit(spot.put(inner.node), work.pointed(inner, "should not be transposed"))
        elif not isinstance(spot.node, Product | Quotient | Call):
            yield from _transposed_edits(work, spot)


def _long_transposes(work: _Work) -> Edits:
    for spot in work.parts:
        if isinstance(spot.node, Product | Quotient | Call):
            yield from _transposed_edits(work, spot)


def _transposed_edits(work: _Work, spot: _Spot) -> Edits:
    if not isinstance(spot.parent, Transposed | Negation | Entry) and work.is_array(spot.node):
        yield _Edit(spot.put(Transposed(spot.node)), work.pointed(spot, "should be transposed"))


def _moved_transposes(work: _Work) -> Edits:
    for spot in work.products:
        factors = _factors(spot.node)
        for place, (one, other) in enumerate(pairwise(factors)):
            if isinstance(one.node, Transposed) is isinstance(other.node, Transposed):
                continue
            changed = [replace(factor, node=_toggled(factor.node)) for factor in (one, other)]
            tree = spot.put(_multiplied([*factors[:place], *changed, *factors[place + 2 :]]))
            yield _Edit(tree, _moved_transpose(work, spot, one.node, other.node))


def _moved_transpose(work: _Work, spot: _Spot, one: Node, other: Node) -> str:
    first, second = (node.value if isinstance(node, Transposed) else node for node in (one, other))
    texts = (work.text(first), work.text(second))
    if first == second:
        texts = (f"the first {texts[0]}", f"the second {texts[0]}")
    old, new = texts if isinstance(one, Transposed) else texts[::-1]
    old = old.removesuffix(f" {work.text(first)}")
    alone = sum(place.node in (first, second) for place in work.parts) == 2
    return f"the transpose{'' if alone else work.inside(spot)} belongs on {new}, not on {old}"


def _toggled(node: Node) -> Node:
    return node.value if isinstance(node, Transposed) else Transposed(node)


def _orders(work: _Work) -> Edits:
    for spot in work.products:
        factors = _factors(spot.node)
        noun = work.noun(spot)
        wrong = f"the factors{' of ' if noun else ''}{noun} are in the wrong order"
        for place, (one, other) in enumerate(pairwise(factors)):
            if one.inverse or other.inverse:
                continue
            moved = [replace(one, node=other.node), replace(other, node=one.node)]
            tree = spot.put(_multiplied([*factors[:place], *moved, *factors[place + 2 :]]))
            yield _Edit(tree, f"{wrong}: {_side(work, one.node, other.node, alone=len(factors) == 2)}")
        if len(factors) > 2 and not any(factor.inverse for factor in factors):
            nodes = [factor.node for factor in factors]
            for turned, reason in (
                ([*nodes[1:], nodes[0]], f": {work.text(nodes[0])} belongs on the right"),
                ([nodes[-1], *nodes[:-1]], f": {work.text(nodes[-1])} belongs on the left"),
                (nodes[::-1], ""),
            ):
                changed = [replace(factor, node=node) for factor, node in zip(factors, turned, strict=True)]
                yield _Edit(spot.put(_multiplied(changed)), wrong + reason)
    terms = _terms(work.answer)
    products = [term for term in terms if isinstance(_unsigned(term), Product)]
    if len(products) > 1:
        which = "term" if len(products) == len(terms) else "product"
        tree = _sum([_turned(term) if term in products else term for term in terms])
        yield _Edit(tree, f"the factors of each {which} are in the wrong order")


def _side(work: _Work, left: Node, right: Node, *, alone: bool) -> str:
    """Say on which side one of two factors belongs: the one that is shorter to say."""
    texts = work.text(left), work.text(right)
    if not alone:
        return f"{texts[0]} belongs to the right of {texts[1]}"
    moves_right = isinstance(right, Transposed) and not isinstance(left, Transposed)
    if moves_right or len(texts[1]) < len(texts[0]):
        return f"{texts[1]} belongs on the left"
    return f"{texts[0]} belongs on the right"


def _turned(term: Node) -> Node:
    if isinstance(term, Negation):
        return Negation(_turned(term.value))
    assert isinstance(term, Product)
    return replace(term, left=term.right, right=term.left)


def _products(work: _Work) -> Edits:
    """Change how two factors are multiplied."""
    for spot in work.parts:
        if not (isinstance(spot.node, Product) and work.is_array(spot.node.left) and work.is_array(spot.node.right)):
            continue
        product = f"the product of {work.text(spot.node.left)} and {work.text(spot.node.right)}"
        for times, how in (
            (Times.ELEMENTWISE, "elementwise"),
            (Times.MATRIX, "a matrix product"),
            (Times.DOT, "an inner product"),
        ):
            if times is not spot.node.times:
                yield _Edit(spot.put(replace(spot.node, times=times)), f"{product} should be {how}")


# --- Side by side ----------------------------------------------------------------------------------------------------


class _Gap(Enum):
    MISSING = "missing"
    EXTRA = "extra"
    ATOM = "atom"  # one name or number in place of another
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class _Difference:
    """One difference of two formulas laid side by side, and the edit that removes it."""

    gap: _Gap
    edit: _Edit


Differences: TypeAlias = Iterator[_Difference]


def _compared(work: _Work, spot: _Spot, wanted: Node) -> Differences:
    """Lay a node beside the one expected in its place: yield what to change, the smallest change first."""
    mine = spot.node
    if work.same(mine, wanted):
        return
    if isinstance(mine, Negation):
        yield from _compared(work, spot.child(0), _negated(wanted))
        return
    if isinstance(mine, Addition) or isinstance(wanted, Addition):
        yield from _compared_sums(work, spot, wanted)
    if isinstance(mine, Product | Quotient) or isinstance(wanted, Product | Quotient):
        yield from _compared_products(work, spot, wanted)
    elif type(mine) is type(wanted):
        yield from _compared_children(work, spot, wanted)


def _compared_children(work: _Work, spot: _Spot, wanted: Node) -> Differences:
    mine = spot.node
    if isinstance(mine, Call) and isinstance(wanted, Call) and mine.function != wanted.function:
        if mine.arguments == wanted.arguments:
            names = work.words.function(mine.function), work.words.function(wanted.function)
            yield _Difference(_Gap.ATOM, _Edit(spot.put(wanted), f"{names[0]} should be {names[1]}{work.inside(spot)}"))
        return
    if isinstance(mine, Range) and isinstance(wanted, Range):
        if mine.operator is not wanted.operator or _range_parts(mine) != _range_parts(wanted):
            return
        wanted = _renamed(wanted, Name(wanted.index), Name(mine.index))
    pairs = list(zip(children(mine), children(wanted), strict=False))
    different = [place for place, pair in enumerate(pairs) if not work.same(*pair)]
    if len(children(mine)) == len(children(wanted)) and len(different) == 1:
        place = different[0]
        yield from _compared(work, spot.child(place), pairs[place][1])
        yield from _replacement(work, spot.child(place), pairs[place][1])


def _unmatched(work: _Work, mine: Sequence[Node], wanted: Sequence[Node]) -> tuple[list[int], list[int]]:
    """Pair equal nodes; return the places of those left over."""
    left, right = [], list(range(len(wanted)))
    keys = [work.points.key(node) or (node,) for node in wanted]
    for place, node in enumerate(mine):
        key = work.points.key(node) or (node,)
        match = next((other for other in right if keys[other] == key), None)
        if match is None:
            left.append(place)
        else:
            right.remove(match)
    return left, right


def _compared_sums(work: _Work, spot: _Spot, wanted: Node) -> Differences:
    mine = list(spot.node.terms) if isinstance(spot.node, Addition) else [spot.node]
    theirs = _terms(wanted)
    left, right = _unmatched(work, mine, theirs)
    if len(left) == len(mine) and len(right) == len(theirs) and len(mine) > 1:
        return
    if not left and right:
        yield _missing_terms_edit(work, spot, [theirs[place] for place in right])
    elif left and not right:
        for extra in dict.fromkeys([*((place,) for place in left), tuple(left)]):
            yield _Difference(_Gap.EXTRA, _extra_terms_edit(work, spot, extra))
    elif len(left) == len(right) == 1 and len(mine) > 1:
        yield from _compared(work, spot.child(left[0]), theirs[right[0]])
        yield from _replacement(work, spot.child(left[0]), theirs[right[0]])


def _missing_terms_edit(work: _Work, spot: _Spot, missing: Sequence[Node]) -> _Difference:
    texts = _listed([work.text(term) for term in missing])
    plural = len(missing) > 1
    beside = f" next to {work.text(spot.node)}" if spot.trail and not isinstance(spot.node, Addition) else ""
    where = beside or work.inside(spot)
    sentence = f"the term{'s' * plural} {texts} {'are' if plural else 'is'} missing{where}"
    if len(missing) > 2:
        sentence = f"{len(missing)} terms are missing{where}"
    terms = spot.node.terms if isinstance(spot.node, Addition) else (spot.node,)
    return _Difference(_Gap.MISSING, _Edit(spot.put(Addition((*terms, *missing))), sentence))


def _extra_terms_edit(work: _Work, spot: _Spot, extra: Sequence[int]) -> _Edit:
    terms = spot.node.terms if isinstance(spot.node, Addition) else (spot.node,)
    texts = _listed([work.text(terms[place]) for place in extra])
    sentence = f"the term{'s' * (len(extra) > 1)} {texts} should not be there{work.inside(spot)}"
    rest = [term for place, term in enumerate(terms) if place not in extra]
    return _Edit(spot.put(_sum(rest) if rest else _number(0)), sentence)


def _compared_products(work: _Work, spot: _Spot, wanted: Node) -> Differences:
    mine, theirs = _factors(spot.node), _factors(wanted)
    left, right = _unmatched(work, [factor.alone() for factor in mine], [factor.alone() for factor in theirs])
    if len(left) == len(mine) or not (left or right) or _gaps(left) or _gaps(right):
        return
    if not left:
        run = [theirs[place] for place in right]
        for place in dict.fromkeys((right[0], *range(len(mine) + 1))):
            if place <= len(mine):
                tree = spot.put(_multiplied([*mine[:place], *run, *mine[place:]]))
                yield _Difference(_Gap.MISSING, _missing_factor_edit(work, spot, tree, _multiplied(run)))
        return
    rest = [*mine[: left[0]], *mine[left[-1] + 1 :]]
    run = mine[left[0] : left[-1] + 1]
    if not right:
        yield _Difference(_Gap.EXTRA, _extra_factor_edit(work, spot, spot.put(_multiplied(rest)), _multiplied(run)))
        return
    news = [theirs[place] for place in right]
    if len(left) == len(right) == 1 and run[0].inverse is news[0].inverse:
        yield from _compared(work, _factor_spot(spot, left[0], len(mine)), news[0].node)
    tree = spot.put(_multiplied([*mine[: left[0]], *news, *mine[left[-1] + 1 :]]))
    yield _replaced_edit(work, spot, tree, _multiplied(run), _multiplied(news))


def _gaps(places: Sequence[int]) -> bool:
    return bool(places) and places[-1] - places[0] != len(places) - 1


def _factor_spot(spot: _Spot, place: int, count: int) -> _Spot:
    """Return where a factor of a product stands, counted from the left."""
    while isinstance(spot.node, Product | Quotient) and place < count - 1:
        spot = spot.child(0)
        count -= 1
    return spot.child(1) if isinstance(spot.node, Product | Quotient) else spot


def _replacement(work: _Work, spot: _Spot, new: Node) -> Differences:
    if not work.same(new, work.expected):
        yield _replaced_edit(work, spot, spot.put(new), spot.node, new)


def _replaced_edit(work: _Work, spot: _Spot, tree: Node, old: Node, new: Node) -> _Difference:
    """Say what stands in place of what, or only where if that would give most of the expected formula away."""
    gap = _Gap.ATOM if _count(_unsigned(new)) == _count(_unsigned(old)) == 1 else _Gap.OTHER
    is_term = isinstance(spot.parent, Addition) and old == spot.node
    missing = _missing_term(work, old, new)
    if missing is not None:
        sentence = f"the term {work.text(missing)} is missing next to {work.text(old)}"
        return _Difference(gap, _Edit(tree, sentence))
    if isinstance(spot.parent, Power) and spot.place == 1 and old == spot.node:
        power = _Spot(spot.parent, spot.trail[:-1])
        return _Difference(gap, _Edit(tree, _wrong_exponent(work, power, new)))
    if old == spot.node and work.noun(spot) and work.same(_negated(old), new):
        return _Difference(gap, _Edit(tree, f"the sign of {work.noun(spot)} is wrong"))
    if work.tells_much(new):
        is_below = isinstance(old, Quotient) and old.above == ONE
        what = work.noun(spot) if is_term else "the denominator" if is_below else work.text(old)
        return _Difference(gap, _Edit(tree, f"only {what} is wrong, the rest is right"))
    if isinstance(old, Negation) and isinstance(new, Negation):
        old, new = old.value, new.value
    texts = work.text(old), work.text(new)
    sentence = f"{texts[0]} should be {texts[1]}{work.inside(spot)}"
    if is_term:
        sentence = f"{work.noun(spot)} should be {texts[1]}, not {texts[0]}"
    return _Difference(gap, _Edit(tree, sentence))


def _missing_term(work: _Work, old: Node, new: Node) -> Node | None:
    """Return the term by which a sum is more than what stands in its place."""
    terms = _terms(new)
    for place, term in enumerate(terms if len(terms) > 1 else ()):
        if work.same(old, _sum([*terms[:place], *terms[place + 1 :]])):
            return term
    return None


def _missing_side_by_side(work: _Work) -> Edits:
    return (one.edit for one in work.differences if one.gap is _Gap.MISSING)


def _extra_side_by_side(work: _Work) -> Edits:
    return (one.edit for one in work.differences if one.gap is _Gap.EXTRA)


def _atoms_side_by_side(work: _Work) -> Edits:
    return (one.edit for one in work.differences if one.gap is _Gap.ATOM)


def _other_side_by_side(work: _Work) -> Edits:
    return (one.edit for one in work.differences if one.gap is _Gap.OTHER)


# --- Bounds, bases, indices ------------------------------------------------------------------------------------------


def _bounds(work: _Work) -> Edits:
    wanted = [spot.node for spot in work.wanted if isinstance(spot.node, Range)]
    for spot in work.parts:
        if not isinstance(spot.node, Range):
            continue
        for side in ("upper", "lower"):
            bound = getattr(spot.node, side)
            if bound is None:
                continue
            others = [getattr(node, side) for node in wanted]
            sizes = map(Name, work.sizes) if side == "upper" else ()
            for new in dict.fromkeys((_plus(bound, 1), _plus(bound, -1), *others, *sizes)):
                if new is not None and new != bound:
                    texts = work.text(new), work.text(bound)
                    what = f"the {side} bound of the {_called(spot.node)}"
                    tree = spot.put(_with_range_part(spot.node, side, new))
                    yield _Edit(tree, f"{what} should be {texts[0]}, not {texts[1]}")
        other_operator = Big.PRODUCT if spot.node.operator is Big.SUM else Big.SUM
        turned = replace(spot.node, operator=other_operator)
        yield _Edit(spot.put(turned), f"the {_called(spot.node)} should be a {_called(turned)}")
        if spot.node.excluding is not None:
            left_out = f"{name_in_words(spot.node.index)} = {work.text(spot.node.excluding)}"
            sentence = f"the {_called(spot.node)} should not leave out {left_out}"
            yield _Edit(spot.put(replace(spot.node, excluding=None)), sentence)
        for other in wanted:
            if other.excluding is not None and spot.node.excluding is None:
                left_out = f"{name_in_words(spot.node.index)} = {work.text(other.excluding)}"
                sentence = f"the {_called(spot.node)} should leave out {left_out}"
                yield _Edit(spot.put(replace(spot.node, excluding=other.excluding)), sentence)


_LOGARITHMS: Final = frozenset({"log", "ln"})
_E: Final = Name("e")


def _bases(work: _Work) -> Edits:
    logarithms = [spot for spot in work.spots if isinstance(spot.node, Call) and spot.node.function in _LOGARITHMS]
    wanted = [spot.node for spot in work.wanted if isinstance(spot.node, Call) and spot.node.function in _LOGARITHMS]
    bases = dict.fromkeys([*(node.base for node in wanted), None, _number(2), _number(10)])
    for spot in logarithms:
        assert isinstance(spot.node, Call)
        above = next((p.base for p, place in reversed(spot.trail) if isinstance(p, Power) and place == 1), None)
        own = spot.node.base or _E
        for base in dict.fromkeys((*bases, above)):
            if (base or _E) == own:
                continue
            sentence = f"the logarithm should be to base {work.text(base or _E)}, not {work.text(own)}"
            if above is not None and above != own:
                raised = f"a power of {work.text(above)}"
                sentence = f"the logarithm is to base {work.text(own)} under {raised}: the bases must be the same"
            yield _Edit(spot.put(replace(spot.node, base=base)), sentence)
    for spot in work.parts:
        if isinstance(spot.node, Power) and (spot.node.base == _E or isinstance(spot.node.base, Number)):
            others = (p.node.base for p in work.wanted if isinstance(p.node, Power))
            for new in dict.fromkeys((*others, _E, _number(2))):
                if new != spot.node.base and not work.tells_much(new):
                    sentence = f"the base of the power should be {work.text(new)}, not {work.text(spot.node.base)}"
                    yield _Edit(spot.put(replace(spot.node, base=new)), sentence)


def _indices(work: _Work) -> Edits:
    bound = [spot.node.index for spot in work.spots if isinstance(spot.node, Range)]
    free = free_indices(work.answer, work.symbols)
    names = list(dict.fromkeys((*bound, *free)))
    for spot in work.spots:
        node = spot.node
        if isinstance(node, Range) and isinstance(spot.parent, Range) and spot.place == 0:
            outer = spot.parent
            tree = _Spot(outer, spot.trail[:-1]).put(
                replace(outer, body=_renamed(node.body, Name(node.index), Name(outer.index)))
            )
            indices = name_in_words(outer.index), name_in_words(node.index)
            yield _Edit(tree, f"one {_called(outer)} is enough: {indices[1]} should be {indices[0]}")
        if isinstance(node, Entry) and len(node.indices) == 2:
            turned = replace(node, indices=node.indices[::-1])
            sentence = f"the indices are in the wrong order: {work.text(node)} should be {work.text(turned)}"
            yield _Edit(spot.put(turned), sentence)
        if isinstance(node, Entry):
            for place, index in enumerate(node.indices):
                for new in (*map(Name, names), _plus(index, 1), _plus(index, -1)):
                    changed = replace(node, indices=_put(node.indices, place, new))
                    if new != index:
                        yield _Edit(spot.put(changed), work.pointed(spot, f"should be {work.text(changed)}"))
        if isinstance(node, Name) and node.name in names and isinstance(spot.parent, Call):
            for new in map(Name, names):
                if new != node:
                    other = work.text(_with_child(spot.parent, spot.place, new))
                    yield _Edit(spot.put(new), f"{work.text(spot.parent)} should be {other}")


# --- Names and numbers -----------------------------------------------------------------------------------------------


def _complements(work: _Work) -> Edits:
    """Exchange x and 1 - x, or put one in place of the other."""
    atoms = dict.fromkeys(s.node for s in work.parts if isinstance(s.node, Name | Entry | Call))
    found = [node for node in atoms if not isinstance(node, Name) or node.name not in CONSTANTS]
    for node in found:
        other = Addition((ONE, Negation(node)))
        if any(spot.node == other for spot in work.parts):
            tree = _swapped(work.answer, node, other)
            yield _Edit(tree, f"{work.text(node)} and {work.text(other)} are swapped")
    for spot in work.parts:
        if spot.node in found and not work.same(spot.node, work.expected):
            new = Addition((ONE, Negation(spot.node)))
            if not work.same(new, work.expected):
                yield _Edit(spot.put(new), work.pointed(spot, f"should be {work.text(new)}"))
        match spot.node:
            case Addition(terms=(Number(value=Fraction(numerator=1, denominator=1)), Negation(value=inner))):
                if not work.same(inner, work.expected):
                    yield _Edit(spot.put(inner), work.pointed(spot, f"should be {work.text(inner)}"))


def _swapped_names(work: _Work) -> Edits:
    names = [node.name for node in dict.fromkeys(s.node for s in work.parts) if isinstance(node, Name)]
    known = [name for name in names if name in work.symbols or name in work.sizes]
    shapes = {name: work.symbols[name].shape if name in work.symbols else () for name in known}
    for one, other in combinations(known, 2):
        if shapes[one] == shapes[other]:
            tree = _swapped(work.answer, Name(one), Name(other))
            yield _Edit(tree, f"{name_in_words(one)} and {name_in_words(other)} are swapped")


def _other_names(work: _Work) -> Edits:
    for spot in work.parts:
        if isinstance(spot.node, Name) and spot.node.name not in CONSTANTS:
            for name in work.names(spot.node.name):
                yield _Edit(spot.put(Name(name)), work.pointed(spot, f"should be {name_in_words(name)}"))
    for node in dict.fromkeys(s.node for s in work.parts if isinstance(s.node, Name)):
        for name in work.names(node.name):
            sentence = f"{name_in_words(node.name)} should be {name_in_words(name)} throughout"
            yield _Edit(_renamed(work.answer, node, Name(name)), sentence)


def _other_numbers(work: _Work) -> Edits:
    wanted = [spot.node for spot in work.wanted if isinstance(spot.node, Number)]
    free = free_indices(work.answer, work.symbols)
    for spot in work.parts:
        if isinstance(spot.node, Number) and spot.trail:
            value = spot.node.value
            near: list[Node] = [_number(value + 1), _number(value - 1), _number(-value)]
            if len(free) == 2 and spot.node == ONE:
                near.append(Call("delta", (Name(free[0]), Name(free[1]))))
            for new in dict.fromkeys((*wanted, *near)):
                if new not in (spot.node, work.expected):
                    yield _Edit(spot.put(new), work.pointed(spot, f"should be {work.text(new)}"))


# --- Exponents -------------------------------------------------------------------------------------------------------


def _exponents(work: _Work) -> Edits:
    others: list[Node] = [spot.node.exponent for spot in work.wanted if isinstance(spot.node, Power)]
    half = [Quotient(ONE, _number(2))] if "sqrt" in work.functions else []
    for spot in work.parts:
        if isinstance(spot.node, Power):
            yield from _other_exponents(work, spot, [*others, *half])
    for spot in work.parts:
        if isinstance(spot.parent, Power) and spot.place == 0:
            continue
        if isinstance(spot.node, Name | Call | Entry | Addition) and spot.node != _E:
            yield _Edit(spot.put(Power(spot.node, _number(2))), _missing_power(work, spot, "square"))
    for spot in work.parts:
        if isinstance(spot.node, Call) and spot.node.function == "sqrt":
            inner = work.text(spot.node.arguments[0])
            yield _Edit(spot.put(spot.node.arguments[0]), work.pointed(spot, f"should be {inner}"))
        elif spot.trail and isinstance(spot.node, Name | Addition | Call) and not work.is_array(spot.node):
            yield _Edit(spot.put(Call("sqrt", (spot.node,))), _missing_power(work, spot, "square root"))
    if not isinstance(work.answer, Power):
        whole = work.text(work.answer) if _count(work.answer) < 4 else "the whole"
        for exponent in dict.fromkeys((*others, *map(_unsigned, others))):
            yield _Edit(Power(work.answer, exponent), f"the exponent {work.text(exponent)} of {whole} is missing")
        yield _Edit(Power(work.answer, _number(2)), f"the square of {whole} is missing")
        yield _Edit(Call("sqrt", (work.answer,)), f"the square root of {whole} is missing")


def _missing_power(work: _Work, spot: _Spot, power: str) -> str:
    if isinstance(spot.parent, Quotient):
        return f"the {power} of {work.noun(spot) or 'the denominator'} is missing"
    return f"the {power} of {work.pointed(spot, 'is missing')}"


def _other_exponents(work: _Work, spot: _Spot, others: Sequence[Node]) -> Edits:
    assert isinstance(spot.node, Power)
    base, old = spot.node.base, spot.node.exponent
    if isinstance(old, Number):
        near: list[Node] = [_number(old.value + step) for step in (1, -1)]
        near += [_number(2 * old.value), _number(old.value / 2), _number(-old.value)]
    else:
        near = [_plus(old, 1), _plus(old, -1), Product(_number(2), old, Times.JUXTAPOSED), Quotient(old, _number(2))]
    inner = spot.child(0)
    for new in dict.fromkeys((*others, *near)):
        if new in (old, _number(0), ONE):
            continue
        yield _Edit(spot.put(replace(spot.node, exponent=new)), _wrong_exponent(work, spot, new))
    if base != _E:
        yield _Edit(spot.put(Power(old, base)), f"base and exponent of {work.text(spot.node)} are swapped")
    if old == _number(2):
        yield _Edit(spot.put(base), work.pointed(inner, "should not be squared"))
    elif base != _E:
        yield _Edit(spot.put(base), f"the exponent {work.text(old)} of {work.pointed(inner, 'should not be there')}")


def _wrong_exponent(work: _Work, spot: _Spot, new: Node) -> str:
    assert isinstance(spot.node, Power)
    base, old = spot.node.base, spot.node.exponent
    of = "" if base == _E else f" of {work.text(base)}"
    where = work.inside(spot) if sum(other.node == base for other in work.parts) > 1 else ""
    if work.tells_much(new):
        return f"only the exponent{of}{where} is wrong, the rest is right"
    return f"the exponent{of}{where} should be {work.text(new)}, not {work.text(old)}"


# --- Factors ---------------------------------------------------------------------------------------------------------


def _missing_factor_edit(work: _Work, spot: _Spot, tree: Node, factor: Node) -> _Edit:
    return _Edit(tree, f"the factor {work.text(factor)} is missing{work.inside(spot)}")


def _extra_factor_edit(work: _Work, spot: _Spot, tree: Node, factor: Node) -> _Edit:
    noun = work.noun(spot)
    has = f"{noun} has" if noun else "there is"
    return _Edit(tree, f"{has} an extra factor {work.text(factor)}")


def _extra_factors(work: _Work) -> Edits:
    for spot in work.products:
        factors = _factors(spot.node)
        for length in (1, 2):
            for start in range(len(factors) - length + 1):
                if len(factors) > 1 or factors[0].inverse:
                    rest = _multiplied([*factors[:start], *factors[start + length :]])
                    gone = _multiplied(factors[start : start + length])
                    yield _extra_factor_edit(work, spot, spot.put(rest), gone)


def _missing_factors(work: _Work) -> Edits:
    places = [spot for spot in work.parts if spot.is_part()]
    for factor in work.scalars:
        for spot in places:
            if isinstance(factor, Quotient) and factor.above == ONE:
                new: Node = Quotient(spot.node, factor.below)
            else:
                new = Product(factor, spot.node, Times.JUXTAPOSED)
            yield _missing_factor_edit(work, spot, spot.put(new), factor)


def _missing_arrays(work: _Work) -> Edits:
    arrays = [node for node in work.material if work.is_array(node) and _count(node) <= 10]
    for factor in arrays:
        for spot in work.parts:
            if isinstance(spot.node, Number | Negation) or not work.is_array(spot.node):
                continue
            for left, right, times in (
                (spot.node, factor, Times.ELEMENTWISE),
                (spot.node, factor, Times.JUXTAPOSED),
                (factor, spot.node, Times.JUXTAPOSED),
            ):
                yield _missing_factor_edit(work, spot, spot.put(Product(left, right, times)), factor)


def _fractions(work: _Work) -> Edits:
    for spot in work.parts:
        if isinstance(spot.node, Quotient):
            new = spot.node.below if spot.node.above == ONE else Quotient(spot.node.below, spot.node.above)
            yield _Edit(spot.put(new), f"the fraction {work.text(spot.node)} is upside down")
    if not isinstance(work.answer, Quotient):
        yield _Edit(Quotient(ONE, work.answer), "the reciprocal of the whole is expected")
    for spot in work.products:
        factors = _factors(spot.node)
        for place, factor in enumerate(factors):
            if not work.is_array(factor.node):
                turned = replace(factor, inverse=not factor.inverse)
                tree = spot.put(_multiplied([*factors[:place], turned, *factors[place + 1 :]]))
                side = "numerator" if factor.inverse else "denominator"
                yield _Edit(tree, f"{work.text(factor.node)} belongs in the {side}{work.inside(spot)}")


# --- Terms -----------------------------------------------------------------------------------------------------------


def _missing_beside(work: _Work) -> Edits:
    """Complete the sums of the expected formula of which all other terms are there."""
    by_key: dict[Key, list[_Spot]] = {}
    for spot in work.parts:
        key = work.points.key(spot.node)
        if key is not None:
            by_key.setdefault(key, []).append(spot)
    for spot in work.wanted:
        if isinstance(spot.node, Addition) and not spot.is_index():
            terms = _terms(spot.node)
            for missing in islice(combinations(terms, 1), 12):
                rest = [term for term in terms if term not in missing]
                key = work.points.key(_sum(rest)) if rest else None
                for place in by_key.get(key, ()) if key is not None else ():
                    yield _missing_terms_edit(work, place, missing).edit


def _missing_terms(work: _Work) -> Edits:
    root = _Spot(work.answer)
    terms = _terms(work.expected)
    for count in (1, 2):
        for missing in combinations(terms, count):
            if len(terms) > count:
                yield _missing_terms_edit(work, root, missing).edit
    for node in (ONE, *work.scalars[:8]):
        for term in (node, Negation(node)):
            if not work.same(term, work.expected):
                yield _missing_terms_edit(work, root, [term]).edit


def _extra_terms(work: _Work) -> Edits:
    for count in (1, 2):
        for spot in work.parts:
            if isinstance(spot.node, Addition) and len(spot.node.terms) > count:
                for extra in combinations(range(len(spot.node.terms)), count):
                    yield _extra_terms_edit(work, spot, extra)


# --- Brackets --------------------------------------------------------------------------------------------------------


def _missing_brackets(work: _Work) -> Edits:
    for spot in work.parts:
        match spot.node:
            case Addition():
                yield from _brackets_around_terms(work, spot, spot.node)
                yield from _under_the_sum(work, spot, spot.node)
            case Product(left=left, right=Power(base=base, exponent=exponent), times=times):
                both = Product(left, base, times)
                yield _Edit(spot.put(Power(both, exponent)), f"brackets are missing around {work.text(both)}")


def _moved_factors(work: _Work) -> Edits:
    """Move a factor into the argument of a function beside it, or out of it."""
    for spot in work.products:
        factors = _factors(spot.node)
        calls = [place for place, factor in enumerate(factors) if _has_one_argument(factor.node)]
        for place in calls:
            call = factors[place].node
            assert isinstance(call, Call)
            for other, factor in enumerate(factors):
                if other == place or work.is_array(factor.node):
                    continue
                inner = replace(call, arguments=(_times(call.arguments[0], replace(factor, times=Times.JUXTAPOSED)),))
                changed = [*factors[:place], replace(factors[place], node=inner), *factors[place + 1 :]]
                tree = spot.put(_multiplied([one for index, one in enumerate(changed) if index != other]))
                inside = f"inside {work.words.function(call.function)}"
                yield _Edit(tree, f"the factor {work.text(factor.alone())} belongs {inside}")
    for spot in work.products:
        if isinstance(spot.parent, Call) and _has_one_argument(spot.parent):
            factors = _factors(spot.node)
            outer = _Spot(spot.parent, spot.trail[:-1])
            for place, factor in enumerate(factors if len(factors) > 1 else ()):
                call = replace(spot.parent, arguments=(_multiplied([*factors[:place], *factors[place + 1 :]]),))
                outside = f"outside of {work.words.function(call.function)}"
                tree = outer.put(_times(call, replace(factor, times=Times.JUXTAPOSED)))
                yield _Edit(tree, f"the factor {work.text(factor.alone())} belongs {outside}")


def _has_one_argument(node: Node) -> bool:
    return isinstance(node, Call) and len(node.arguments) == 1 and node.base is None


def _extra_brackets(work: _Work) -> Edits:
    """Read (a + b) c as a + b c, and a (b + c) as a b + c."""
    for spot in work.parts:
        if not isinstance(spot.node, Product):
            continue
        left, right, times = spot.node.left, spot.node.right, spot.node.times
        if isinstance(left, Addition) and _unsigned(left.terms[-1]) != ONE:
            last = _negatable(left.terms[-1], lambda node, r=right, t=times: Product(node, r, t))  # type: ignore[misc]
            sentence = f"the brackets around {work.text(left)} should not be there"
            yield _Edit(spot.put(Addition((*left.terms[:-1], last))), sentence)
        if isinstance(right, Addition) and _unsigned(right.terms[0]) != ONE:
            first = _negatable(right.terms[0], lambda node, l=left, t=times: Product(l, node, t))  # type: ignore[misc]
            sentence = f"the brackets around {work.text(right)} should not be there"
            yield _Edit(spot.put(Addition((first, *right.terms[1:]))), sentence)


def _negatable(term: Node, change: Callable[[Node], Node]) -> Node:
    """Change a term, keeping its sign outside."""
    return Negation(change(term.value)) if isinstance(term, Negation) else change(term)


def _brackets_around_terms(work: _Work, spot: _Spot, node: Addition) -> Edits:
    """Read a + b c as (a + b) c, and a b + c as a (b + c)."""
    terms = node.terms
    for start, end in combinations(range(len(terms)), 2):
        factors = _factors(_unsigned(terms[end]))
        for cut in reversed(range(1, len(factors))):
            last = _negatable(terms[end], lambda _, head=factors[:cut]: _multiplied(head))  # type: ignore[misc]
            inner = Addition((*terms[start:end], last))
            outer = _multiplied([_Factor(inner), *factors[cut:]])
            tree = spot.put(_sum([*terms[:start], outer, *terms[end + 1 :]]))
            yield _Edit(tree, f"brackets are missing around {work.text(inner)}")
        factors = _factors(_unsigned(terms[start]))
        if len(factors) > 1 and not factors[-1].inverse:
            inner = Addition((factors[-1].node, *terms[start + 1 : end + 1]))
            outer = _multiplied([*factors[:-1], replace(factors[-1], node=inner)])
            head = _negatable(terms[start], lambda _, new=outer: new)  # type: ignore[misc]
            tree = spot.put(_sum([*terms[:start], head, *terms[end + 1 :]]))
            yield _Edit(tree, f"brackets are missing around {work.text(inner)}")


def _under_the_sum(work: _Work, spot: _Spot, node: Addition) -> Edits:
    for place, (one, other) in enumerate(pairwise(node.terms)):
        ranges = [s for s in _spots(one) if isinstance(s.node, Range)]
        if ranges and not (len(ranges) > 1 and ranges[1].trail == ()):
            inner = ranges[0]
            assert isinstance(inner.node, Range)
            body = Addition((inner.node.body, other))
            term = inner.put(replace(inner.node, body=body))
            rest = (*node.terms[:place], term, *node.terms[place + 2 :])
            sentence = f"brackets are missing: {work.text(_unsigned(other))} belongs under the {_called(inner.node)}"
            yield _Edit(spot.put(_sum(rest)), sentence)


# --- Functions -------------------------------------------------------------------------------------------------------

_SAID: Final = {"exp": "the exponential", "log": "the logarithm", "sqrt": "the square root"}


def _functions(work: _Work) -> Edits:
    functions = list(dict.fromkeys((*work.functions, "exp", "log")))
    for spot in work.parts:
        if isinstance(spot.node, Call) and len(spot.node.arguments) == 1 and spot.node.base is None:
            name = work.words.function(spot.node.function)
            yield _Edit(spot.put(spot.node.arguments[0]), f"{name} should not be there{work.inside(spot)}")
            for function in functions:
                if function != spot.node.function and function in {*work.functions, *SINGLE}:
                    sentence = f"{name} should be {work.words.function(function)}{work.inside(spot)}"
                    yield _Edit(spot.put(replace(spot.node, function=function)), sentence)
    for node in dict.fromkeys(
        s.node for s in work.spots if isinstance(s.node, Call) and s.node.function in _LOGARITHMS
    ):
        if isinstance(node, Call) and node.base is not None:
            sentence = f"{work.text(node.base)} to the power of the whole is missing"
            yield _Edit(Power(node.base, work.answer), sentence)
    for function in functions:
        said = _SAID.get(function, work.words.function(function))
        yield _Edit(Call(function, (work.answer,)), f"{said} of the whole is missing")
        for spot in work.parts:
            if spot.trail and function in work.functions and not isinstance(spot.node, Number | Negation):
                yield _Edit(spot.put(Call(function, (spot.node,))), f"{said} of {work.pointed(spot, 'is missing')}")


def _throughout(work: _Work) -> Edits:
    """Put something in place of a part that stands in several places."""
    counted = Counter(spot.node for spot in work.parts if not isinstance(spot.node, Number | Negation))
    for node in (node for node, count in counted.items() if count > 1 and node != _E):
        applied = [Call(function, (node,)) for function in work.functions]
        for new in dict.fromkeys((*applied, *work.material)):
            if new != node and work.is_array(new) == work.is_array(node) and _count(new) <= 8:
                missing = _missing_term(work, node, new)
                sentence = f"{work.text(node)} should be {work.text(new)} throughout"
                if missing is not None:
                    sentence = f"the term {work.text(missing)} is missing next to {work.text(node)} throughout"
                yield _Edit(_renamed(work.answer, node, new), sentence)
    calls = Counter(spot.node.function for spot in work.parts if _has_one_argument(spot.node))  # type: ignore[attr-defined]
    for function in (name for name, count in calls.items() if count > 1):
        for factor in work.scalars[:6]:
            tree = _in_every_argument(work.answer, function, factor)
            where = f"in every argument of {work.words.function(function)}"
            yield _Edit(tree, f"the factor {work.text(factor)} is missing {where}")


def _in_every_argument(node: Node, function: str, factor: Node) -> Node:
    for place, child in enumerate(children(node)):
        changed = _in_every_argument(child, function, factor)
        if changed is not child:
            node = _with_child(node, place, changed)
    if isinstance(node, Call) and node.function == function and _has_one_argument(node):
        return replace(node, arguments=(Product(factor, node.arguments[0], Times.JUXTAPOSED),))
    return node


# --- The order of trial ----------------------------------------------------------------------------------------------

# Kinds of edits, the likeliest first, with how many of each are tried.
EDITS: Final[Sequence[tuple[Callable[[_Work], Edits], int]]] = (
    (_overall_sign, 2),
    (_whole_transpose, 1),
    (_signs, 24),
    (_transposes, 24),
    (_moved_transposes, 12),
    (_orders, 24),
    (_bounds, 24),
    (_bases, 16),
    (_complements, 16),
    (_swapped_names, 16),
    (_exponents, 48),
    (_missing_side_by_side, 12),
    (_extra_side_by_side, 12),
    (_atoms_side_by_side, 12),
    (_missing_brackets, 16),
    (_missing_beside, 12),
    (_fractions, 16),
    (_extra_factors, 24),
    (_extra_brackets, 8),
    (_missing_factors, 80),
    (_missing_terms, 30),
    (_extra_terms, 16),
    (_indices, 24),
    (_products, 12),
    (_long_transposes, 12),
    (_moved_factors, 12),
    (_functions, 24),
    (_throughout, 32),
    (_other_side_by_side, 12),
    (_other_names, 32),
    (_other_numbers, 24),
    (_missing_arrays, 40),
)


# --- Growth ----------------------------------------------------------------------------------------------------------

FACTOR, TERM, LOOSE = range(1, 4)  # the likelihoods of repairs of a growth


def _growth_repair(answer: Node, expected: Node, symbols: Symbols) -> Repair | None:
    """Repair a big-O claim: a factor or terms too many or too few, or a bound that is not tight."""
    variables = [name for name, symbol in symbols.by_name.items() if "grows" in symbol.properties]
    try:
        yours, wanted = (growth.growth_of_tree(node, variables) for node in (answer, expected))
        claim = _Claim(answer, expected, yours, wanted, growth.assumptions_of(_given(symbols)))
        found = claim.repaired()
    except growth.NotAGrowth:
        return None
    right = found is not None and decide_trees(found.edited, expected, symbols, "theta").right
    return found if right else None


def _given(symbols: Symbols) -> list[Comparison]:
    return [read_comparison(text, symbols) for text in symbols.given]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claimed growth and the true one."""

    answer: Node
    expected: Node
    yours: Growth
    wanted: Growth
    assuming: growth.Assumptions

    def repaired(self) -> Repair | None:
        compared = growth.compare(self.yours, self.wanted, self.assuming)
        if compared.tight:
            return None
        found = self._too_many() or self._factor() or self._too_few() if self._is_sum() else None
        if found is not None:
            return found
        # No edit to name: say which way it is wrong.
        mine, theirs = _variables(self.yours), _variables(self.wanted)
        more, fewer = _listed(sorted(theirs - mine)), _listed(sorted(mine - theirs))
        if compared.lower:
            why = f": the true cost does not grow with {fewer}" if fewer else ""
            return Repair(f"this is an upper bound, but not tight{why}", self.expected, LOOSE)
        if more:
            return Repair(f"the true cost also grows with {more}", self.expected, LOOSE)
        if compared.upper:
            return Repair("the true cost grows faster than this", self.expected, LOOSE)
        return Repair(f"the true cost does not grow with {fewer}", self.expected, LOOSE) if fewer else None

    def _is_sum(self) -> bool:
        return self.yours.below == self.wanted.below == frozenset({growth.ONE})

    def _outgrows(self, one: Monomial, other: Growth) -> bool:
        return not growth.compare(Growth(frozenset({one})), other, self.assuming).upper

    def _factor(self) -> Repair | None:
        """Return the repair of one term by a factor: of the terms that count all others are right."""
        mine = growth.dominating(self.yours, self.assuming).above
        theirs = growth.dominating(self.wanted, self.assuming).above
        extra, missing = sorted(mine - theirs, key=str), sorted(theirs - mine, key=str)
        if len(extra) != 1 or len(missing) != 1:
            return None
        ratio = extra[0] / missing[0]
        zero = Fraction(0)
        rows = ((name, max(power, zero), max(logs, zero)) for name, power, logs in ratio.factors)
        above = Monomial(tuple(row for row in rows if any(row[1:])))
        below = above / ratio
        edited = self._edited(missing if len(mine) == 1 else [*sorted(mine & theirs, key=str), *missing])
        where = f"the term {_monomial_words(extra[0])}" if len(mine) > 1 else ""
        if below == growth.ONE:
            has = f"{where} has" if where else "there is"
            return Repair(f"{has} an extra factor {_monomial_words(above)}", edited, FACTOR)
        inside = f" in {where}" if where else ""
        if above == growth.ONE:
            return Repair(f"the factor {_monomial_words(below)} is missing{inside}", edited, FACTOR)
        if below == missing[0]:  # nothing of it is right
            return None
        texts = _monomial_words(above), _monomial_words(below)
        return Repair(f"the factor {texts[0]} should be {texts[1]}{inside}", edited, FACTOR)

    def _too_many(self) -> Repair | None:
        """Return the repair by leaving terms out."""
        extra = sorted((one for one in self.yours.above if self._outgrows(one, self.wanted)), key=str)
        rest = sorted(self.yours.above - set(extra), key=str)
        if not extra or not rest or not self._is_tight(rest):
            return None
        texts = _listed([_monomial_words(one) for one in extra])
        grow = f"term{'s' * (len(extra) > 1)} {texts} {'grow' if len(extra) > 1 else 'grows'}"
        sentence = f"this is an upper bound, but not tight: the {grow} faster than the true cost"
        return Repair(sentence, self._edited(rest), LOOSE)

    def _too_few(self) -> Repair | None:
        """Return the repair by putting terms in."""
        missing = sorted((one for one in self.wanted.above if self._outgrows(one, self.yours)), key=str)
        terms = [*sorted(self.yours.above, key=str), *missing]
        if len(missing) == len(self.wanted.above) or not self._is_tight(terms):
            return None
        texts = _listed([_monomial_words(one) for one in missing])
        plural = len(missing) > 1
        sentence = f"the term{'s' * plural} {texts} {'are' if plural else 'is'} missing"
        return Repair(sentence, self._edited(terms), TERM)

    def _is_tight(self, terms: Sequence[Monomial]) -> bool:
        return growth.compare(Growth(frozenset(terms)), self.wanted, self.assuming).tight

    def _edited(self, monomials: Sequence[Monomial]) -> Node:
        inside = _sum([_monomial_tree(one) for one in monomials])
        return replace(self.answer, arguments=(inside,)) if isinstance(self.answer, Call) else inside


def _variables(of: Growth) -> set[str]:
    return {name for one in (*of.above, *of.below) for name, _, _ in one.factors}


def _monomial_tree(monomial: Monomial) -> Node:
    factors = []
    for name, power, log_power in monomial.factors:
        for base, exponent in ((Name(name), power), (Call("log", (Name(name),)), log_power)):
            if exponent:
                factors.append(_Factor(base if exponent == 1 else Power(base, Number(exponent))))
    return _multiplied(factors)


def _monomial_words(monomial: Monomial) -> str:
    """Write a monomial: `M N²`, `√n`, `k log k`.

    >>> _monomial_words(growth.variable("n") ** 2 * growth.variable("m") ** Fraction(1, 2))
    '√m n²'
    """
    texts = []
    for name, power, log_power in monomial.factors:
        for base, exponent in ((name_in_words(name), power), (f"log {name_in_words(name)}", log_power)):
            if exponent:
                texts.append(_power_words(base, exponent))
    return " ".join(texts) or "1"


def _power_words(base: str, exponent: Fraction) -> str:
    if exponent == 1:
        return base
    base = f"({base})" if " " in base else base
    if exponent == Fraction(1, 2):
        return f"√{base}"
    return f"{base}{str(exponent).translate(_RAISED)}" if exponent.denominator == 1 else f"{base}^({exponent})"
