"""The verdict on a formula: proved for all sizes, tested, refuted with a counterexample, or unknown.

In this order: it is read; its shape must be the expected one; it is proved equal by normal form, first with the
definitions left alone, then with them put in; a certified counterexample is searched for; and if none is found, what
is left is a test. Every stage is bounded by counted steps, never by a clock, so the verdict is the same everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import sympy as sp

from formulas import growth
from formulas.chance import chance_of_error
from formulas.meaning import Interpreter, Matter, Misfit, facts_of, functions_of
from formulas.normal import NormalForm, TooLarge, Unsupported
from formulas.reader import Unreadable, read, read_comparison
from formulas.refute import TRIED, Agreement, Counterexample, Kind, agrees_when, name_in_words, refute
from formulas.slopes import refute_entries
from formulas.symbols import Symbols
from formulas.tokens import LENGTH
from formulas.tree import Call, Chain, Derivative, Name, Node, Range, Transposed, nodes_of, parts_of
from formulas.values import Fault

BUDGET = 20_000  # products of one normal form; a usual one takes a hundred to ten thousand
FEW = 12  # points tried before the long proof
_EQUALS = re.compile(r"(?<![<>!=:])=(?!=)|[()\[\]{}]")
_CENTRED = re.compile(r"\\cdot(?![A-Za-z])")
ROW, COLUMN = (sp.Symbol(name, integer=True, positive=True) for name in ("~row", "~column"))
ONE = sp.Integer(1)


class Verdict(StrEnum):
    """What is known about an answer."""

    PROVED = "proved"
    TESTED = "tested"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what to tell about it: `counterexample` where it fails, `agrees` where it is right all the same."""

    verdict: Verdict
    message: str
    counterexample: str = ""
    yours: str = ""
    expected: str = ""
    agrees: str = ""

    @property
    def right(self) -> bool:
        """Return whether the answer is accepted."""
        return self.verdict in (Verdict.PROVED, Verdict.TESTED)


PROVED = Judgement(Verdict.PROVED, "Proved for all sizes and values.")


def decide(answer: str, expected: str, symbols: Symbols, relation: str = "equal") -> Judgement:
    """Judge an answer as it was written against the expected formula."""
    wanted = last_part(read(expected, symbols))
    try:
        given = last_part(read_answer(answer, symbols, wanted))
    except Unreadable as error:
        return Judgement(Verdict.UNREADABLE, str(error))
    return decide_trees(given, wanted, symbols, relation)


def read_answer(text: str, symbols: Symbols, wanted: Node) -> Node:
    """Read an answer in the way that can be right.

    The left side of an equation may be a name that only the student knows, FNN(X) = …: then it is not read at all. A
    centred dot between two columns multiplies entry by entry in one course and is the dot product in another: where a
    number is wanted it is the latter.
    """
    try:
        node = read(text, symbols)
    except Unreadable:
        last = _right_side(text) if len(text) <= LENGTH else ""
        if not last.strip():
            raise
        text, node = last, read(last, symbols)
    if _CENTRED.search(text) and _is_number(wanted, symbols) and not _is_number(last_part(node), symbols):
        return read(_CENTRED.sub("·", text), symbols)
    return node


def _right_side(text: str) -> str:
    """Return what stands right of the last equals sign that is in no bracket, or nothing."""
    depth, end = 0, len(text)
    for found in _EQUALS.finditer(text):
        if found.group() == "=":
            end = found.end() if depth == 0 else end
        else:
            depth += 1 if found.group() in "([{" else -1
    return text[end:]


def _is_number(node: Node, symbols: Symbols) -> bool:
    try:
        return Interpreter(symbols).of(node).is_number
    except (Misfit, Unsupported):
        return False


def last_part(node: Node) -> Node:
    """Return what an answer written as an equation says: `M s = v_a` says v_a."""
    return node.parts[-1] if isinstance(node, Chain) else node


def decide_trees(answer: Node, expected: Node, symbols: Symbols, relation: str = "equal") -> Judgement:
    """Judge an answer that has been read."""
    if relation == "theta":
        return decide_growth(answer, expected, symbols)
    random = _random_in(answer, symbols)
    if random is not None and _random_in(expected, symbols) is None:
        return Judgement(Verdict.REFUTED, f"{name_in_words(random)} is random, and what is asked for is not.")
    if any(isinstance(node, Derivative) for side in (answer, expected) for node in nodes_of(side)):
        return _with_derivatives(answer, expected, symbols)
    case = _Case(answer, expected, symbols, relation)
    misfit = ""
    try:
        if not relation.startswith("approx"):
            # Most mistakes show at once, and with definitions left alone most proofs are short.
            for points, unfold in ((2, False), (FEW, True)):
                early = _searched(case, points)
                if early.verdict is Verdict.REFUTED:
                    return early if points == FEW else _searched(case, TRIED)
                if proved(answer, expected, symbols, relation, unfold=unfold):
                    return PROVED
    except Misfit as reason:
        misfit = str(reason)
    return _searched(case, TRIED, misfit)


def same(answer: Node, other: Node, symbols: Symbols, relation: str = "equal") -> bool:
    """Return whether two formulas agree: as `decide_trees`, but quick to say no."""
    if relation != "theta" and not any(
        isinstance(node, Derivative) for side in (answer, other) for node in nodes_of(side)
    ):
        try:
            if isinstance(refute(answer, other, symbols, relation, limit=3), Counterexample):
                return False
        except Fault:
            return False
    return decide_trees(answer, other, symbols, relation).right


def _with_derivatives(answer: Node, expected: Node, symbols: Symbols) -> Judgement:
    """Judge formulas with derivatives: taken in index notation, proved there or computed there."""
    if answer == expected:
        return PROVED
    interpreter = Interpreter(symbols)
    try:
        left, right = _aligned(interpreter.of(answer), interpreter.of(expected), interpreter)
        if _equal(left, right, interpreter):
            return PROVED
        found = refute_entries(left, right, interpreter.ranges, symbols)
    except _Different:
        return Judgement(Verdict.REFUTED, "The two sides have different shapes.", "the shapes differ")
    except (Misfit, Unsupported) as reason:
        return Judgement(Verdict.UNKNOWN, f"Neither proved nor refuted: {reason}.")
    return _told(found, _Case(answer, expected, symbols, "equal"))


@dataclass(frozen=True, slots=True)
class _Case:
    """What is compared with what."""

    answer: Node
    expected: Node
    symbols: Symbols
    relation: str


def _searched(case: _Case, limit: int, misfit: str = "") -> Judgement:
    """Search for a counterexample among the first `limit` assignments."""
    try:
        found = refute(case.answer, case.expected, case.symbols, case.relation, limit)
    except Fault as fault:
        return Judgement(Verdict.UNKNOWN, f"This could not be computed: {fault}.")
    return _told(found, case, misfit)


def _told(found: Counterexample | Agreement, case: _Case, misfit: str = "") -> Judgement:
    """Return the judgement that what was found amounts to."""
    if isinstance(found, Counterexample):
        if found.kind is Kind.UNDEFINED and _somewhere_defined(case.answer, case.symbols):
            return _with_a_gap(found, case)
        special = found.kind is Kind.VALUE and not any(isinstance(node, Derivative) for node in nodes_of(case.answer))
        agrees = agrees_when(case.answer, case.expected, case.symbols, case.relation) if special else None
        said = f"A counterexample: {found.sentence}." if found.kind is Kind.VALUE else sentence(found.sentence)
        return Judgement(Verdict.REFUTED, said, found.sentence, found.yours, found.expected, agrees or "")
    if misfit and found.tried:
        return Judgement(Verdict.UNKNOWN, f"This agrees at {found.tried} points, but: {misfit}.")
    if found.unknown >= found.tried > 0:  # it agrees where it is simplest, which says little
        said = f"it agrees at {found.tried} points, and at {found.unknown} it could not be computed"
        return Judgement(Verdict.UNKNOWN, f"Neither proved nor refuted: {said} ({found.why}).")
    if found.tried:
        within = case.relation.partition(":")[2]
        return Judgement(Verdict.TESTED, f"Right to within {float(within):.0%}." if within else tested(found, case))
    return Judgement(Verdict.UNKNOWN, f"Neither proved nor refuted: {misfit or found.why or 'it cannot be computed'}.")


def _with_a_gap(found: Counterexample, case: _Case) -> Judgement:
    """Judge a formula that has no value somewhere: (x² - 1)/(x - 1) is x + 1 all the same; else a person looks."""
    chance = chance_of_error(case.answer, case.expected, case.symbols)
    if chance is None:
        return Judgement(Verdict.UNKNOWN, f"This has no value everywhere: {found.sentence}.")
    return Judgement(Verdict.TESTED, f"Equal wherever it has a value: {_passes(chance)}.")


def _passes(chance: float) -> str:
    return f"at random points a wrong formula would agree with a chance below {max(chance, 1e-99):.0e}"


def _somewhere_defined(answer: Node, symbols: Symbols) -> bool:
    try:
        itself = refute(answer, answer, symbols, limit=FEW)
    except Fault:
        return False  # its shapes do not fit together, which shows only where it gets that far
    return isinstance(itself, Counterexample) or itself.tried > 0


def _random_in(node: Node, symbols: Symbols, bound: frozenset[str] = frozenset()) -> str | None:
    """Return a random symbol that stands outside of every expectation, if there is one; an index k is not the key k."""
    if isinstance(node, Call) and node.function in ("E", "Var", "Cov"):
        return None
    if isinstance(node, Name) and node.name not in bound and node.name in symbols:
        return node.name if "normal" in symbols[node.name].properties else None
    if isinstance(node, Range):
        bound |= {node.index}
    inside = (_random_in(part, symbols, bound) for part in parts_of(node))
    return next((name for name in inside if name is not None), None)


def tested(found: Agreement, case: _Case) -> str:
    """Say what a test showed, and how sure that is; no more."""
    chance = chance_of_error(case.answer, case.expected, case.symbols)
    if chance is not None:
        return f"Not proved for all sizes; equal at {found.tried} points, and {_passes(chance)}."
    exact = f", {found.exact} of them in exact arithmetic" if found.exact else ""
    worst = f"; no difference above {found.worst:.1g} elsewhere" if found.exact < found.tried else ""
    return f"Not proved; held at {found.tried} points{exact}{worst}."


def sentence(text: str) -> str:
    """Return a text as a sentence; one that begins with a name of the formula keeps it as it is.

    >>> sentence("the sign is wrong"), sentence("d should be n"), sentence("σ is missing.")
    ('The sign is wrong.', 'd should be n.', 'σ is missing.')
    """
    text = text.strip()
    first = text.split(" ", 1)[0]
    capital = first.isalpha() and first.isascii() and (len(first) > 1 or first == "a")
    ends = text[-1:] in (".", "!", "?", "^") or "\n" in text
    return (text[:1].upper() + text[1:] if capital else text) + ("" if ends or not text else ".")


# ── proof ───────────────────────────────────────────────────────────────────────────────────────────────────────


def proved(answer: Node, expected: Node, symbols: Symbols, relation: str = "equal", *, unfold: bool = True) -> bool:
    """Return whether the two are proved equal for all sizes; raise Misfit if the answer makes no sense."""
    defined = frozenset(name for name, symbol in symbols.by_name.items() if symbol.definition is not None)
    sides = [answer, Transposed(answer)] if relation == "equal_up_to_transpose" else [answer]
    return any(_proved_once(side, expected, symbols, frozenset() if unfold else defined) for side in sides)


def _proved_once(answer: Node, expected: Node, symbols: Symbols, held: frozenset[str]) -> bool:
    interpreter = Interpreter(symbols, held=held)
    try:
        yours, wanted = interpreter.of(answer), interpreter.of(expected)
        return _equal(*_aligned(yours, wanted, interpreter), interpreter)
    except (_Different, Unsupported):
        return False


def _equal(left: sp.Expr, right: sp.Expr, interpreter: Interpreter) -> bool:
    symbols = interpreter.symbols
    form = NormalForm(facts_of(symbols, interpreter.ranges), BUDGET, functions_of(symbols))
    try:
        return form.is_zero(form.of(left) - form.of(right))
    except (TooLarge, Unsupported, RecursionError):
        return False


class _Different(Exception):
    """The two have different shapes: there is nothing to prove."""


def _aligned(yours: Matter, wanted: Matter, interpreter: Interpreter) -> tuple[sp.Expr, sp.Expr]:
    """Return one entry of each side, at the same free indices.

    A formula with free indices, ŷ_i - y_i, stands for the array of its values: i is the row, j the column.
    """
    if yours.is_number and not wanted.is_number:
        return _by_component(yours, wanted, interpreter)
    if wanted.is_number and not yours.is_number:
        right, left = _by_component(wanted, yours, interpreter)
        return left, right
    if yours.shape != wanted.shape:
        raise _Different
    i = ONE if wanted.shape[0] == ONE else ROW
    j = ONE if wanted.shape[1] == ONE else COLUMN
    interpreter.ranges.update({ROW: (ONE, wanted.shape[0]), COLUMN: (ONE, wanted.shape[1])})
    return yours.entry(i, j), wanted.entry(i, j)


def _by_component(component: Matter, whole: Matter, interpreter: Interpreter) -> tuple[sp.Expr, sp.Expr]:
    value = component.number
    free = sorted(
        (s for s in value.free_symbols if s in interpreter.ranges and str(s) not in interpreter.symbols), key=str
    )
    free = [symbol for symbol in free if not str(symbol).startswith("~")]
    if value == 0:
        free = [ROW, COLUMN][: 1 if whole.is_vector else 2]  # nothing is nothing in every shape
    if whole.is_vector and len(free) == 1:
        interpreter.ranges[free[0]] = (ONE, whole.size)
        return value, whole.at(free[0])
    if not whole.is_vector and len(free) == 2:
        interpreter.ranges.update(dict(zip(free, ((ONE, size) for size in whole.shape), strict=True)))
        return value, whole.entry(*free)
    raise _Different


# ── big-O ───────────────────────────────────────────────────────────────────────────────────────────────────────


def decide_growth(answer: Node, expected: Node, symbols: Symbols) -> Judgement:
    """Judge a big-O claim: tight, all variables free but for what is given."""
    variables = [name for name, symbol in symbols.by_name.items() if "grows" in symbol.properties]
    try:
        yours, wanted = (growth.growth_of_tree(_inside(node), variables) for node in (answer, expected))
        assuming = growth.assumptions_of([read_comparison(text, symbols) for text in symbols.given])
        compared = growth.compare(yours, wanted, assuming)
    except growth.NotAGrowth as reason:
        return Judgement(Verdict.UNREADABLE, sentence(str(reason)))
    if compared.tight:
        return Judgement(Verdict.PROVED, "Proved: the two grow alike on every path to infinity.")
    ray = compared.above or compared.below
    return Judgement(Verdict.REFUTED, growth.explain(compared, "yours", "the true cost"), f"along {ray}")


def _inside(node: Node) -> Node:
    if isinstance(node, Call) and node.function in ("O", "Theta") and len(node.arguments) == 1:
        return node.arguments[0]
    return node
