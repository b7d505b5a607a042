r"""Read a formula: plain text, NumPy code, Unicode and LaTeX in one grammar, against the symbols of its question.

A hand-written precedence climber over the tokens of `formulas/tokens.py`. Nothing is executed and nothing is
skipped: what has no meaning here is refused with its place. The grammar, loosest first:

    line      a = b = c
    sum       terms joined by + and -; `a if i = k else b`; a ⊕ b
    term      factors joined by * / @ ∘ · or by nothing, all of one rank and from left to right (1/2x is (1/2)x);
              a minus in front belongs to the whole term, the body of a Σ is the rest of its term
    factor    an atom with its powers (from the right), transposes, indices and methods
    atom      a number, a name, a call, a bracket, a fraction, a root, a Σ, a derivative, a matrix, cases

Names are decided by the declared symbols alone: `W_{2,jk}` is an entry of W2 where W2 is declared, `MNk` is a
product where M, N and k are, `h_{t-1}` is h_prev where that is. An index needs no declaration. Where two readings
are possible and the symbols do not decide, the text is refused: `x 2` may be a lost x², `\tanh^{-1}` an inverse
function, `pi` p times i. What a text can cost is bounded before it is spent: `_Budget` and the limits of the tokens.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import inf, log2
from typing import ClassVar, Literal, TypeVar

import sympy as sp

from formulas.symbols import Symbol, SymbolError, Symbols
from formulas.tokens import NESTING, Kind, Token, Unreadable, tokens_of
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
    Span,
    Times,
    Transposed,
)

__all__ = ["Unreadable", "read", "read_comparison"]

NODES = 2_000  # in one tree
HEIGHT = 120  # of the tree: whoever walks it may recurse
EXPONENT = 1_000  # the largest number as an exponent
BITS = 200_000  # of a power of numbers

N = TypeVar("N", bound=Node)


def read(text: str, symbols: Symbols) -> Node:
    r"""Return the tree of one formula, a `Chain` where equals signs stand in it.

    >>> from formulas.symbols import declared
    >>> read("-2x", declared({"x": {}}))  # doctest: +ELLIPSIS
    Negation(span=Span(start=0, end=3), value=Product(span=..., left=Number(...), right=Name(...), times=...))
    >>> read("2 y", declared({"x": {}}))
    Traceback (most recent call last):
    formulas.tokens.Unreadable: The name y is not one of this question, whose names are x.
      2 y
        ^
    """
    return _Reader(text, symbols).line()


def read_comparison(text: str, symbols: Symbols) -> Comparison:
    """Return the tree of one comparison.

    >>> from formulas.symbols import declared
    >>> read_comparison("n ≥ 3", declared({"n": {}})).relation
    '>='
    """
    return _Reader(text, symbols).comparison()


# ── the words that mean something in every question ─────────────────────────────────────────────────────────────

_FUNCTIONS = {
    spelling: name
    for name, spellings in {
        "exp": "", "log": "ln", "sqrt": "", "sin": "", "cos": "", "tanh": "", "sinh": "", "cosh": "", "sech": "",
        "sigmoid": "sigm logistic expit sig", "softmax": "SoftMax", "softmax_rows": "softmax_row", "relu": "ReLU RELU",
        "log_softmax": "logsoftmax", "max": "maximum amax", "min": "minimum amin", "abs": "absolute fabs", "norm": "",
        "trace": "tr", "diag": "diagflat", "inv": "inverse", "det": "", "dot": "inner vdot", "outer": "", "sum": "",
        "prod": "product", "mean": "average avg", "var": "", "Var": "", "Cov": "cov", "binomial": "binom comb",
        "delta": "kronecker kroneckerdelta KroneckerDelta", "ones": "", "zeros": "", "eye": "identity", "argmax": "",
        "concat": "", "floor": "", "ceil": "", "factorial": "",
    }.items()
    for spelling in (name, *spellings.split())
}  # fmt: skip
_MANY = 99
_ARGUMENTS = {  # fewest and most, one where nothing is said
    **dict.fromkeys(("max", "min", "cat", "concatenate", "hstack", "vstack"), (1, _MANY)),
    **dict.fromkeys(("ones", "zeros", "Cov"), (1, 2)),
    **dict.fromkeys(("dot", "outer", "binomial", "delta", "power", "pow", "multiply", "mul", "matmul", "mm"), (2, 2)),
    **dict.fromkeys(("divide", "add", "subtract", "solve"), (2, 2)),
    **dict.fromkeys(("swapaxes", "permute"), (3, 3)),
    "transpose": (1, 3),
    "concat": (2, _MANY),
    "where": (3, 3),
}
# Functions only where a bracket follows: E, O and Θ are names as good as any.
_CAPITALS = frozenset({"E", "O", "Theta", "Omega"})
_SOFTMAXES = frozenset({"softmax", "softmax_rows", "log_softmax"})
_BRACKETED = _CAPITALS | {"Var", "Cov", "var", "mean", "norm", "ones", "zeros", "eye"}
_FONTED = {("double", "E"): "E", ("double", "V"): "Var", ("script", "O"): "O"}
_RANGES = {
    "sum": Big.SUM, "Sum": Big.SUM, "Sigma": Big.SUM, "prod": Big.PRODUCT, "Prod": Big.PRODUCT, "product": Big.PRODUCT,
    "Product": Big.PRODUCT, "Pi": Big.PRODUCT,
}  # fmt: skip
_MODULES = frozenset(
    {"np", "numpy", "math", "torch", "F", "nn", "functional", "scipy", "special", "linalg", "jnp", "tf", "sp", "sympy"}
)
_KEYWORDS = frozenset({"if", "else", "for", "in", "otherwise", "when", "and", "or"})
_NO_NUMBERS = frozenset({"nan", "inf", "infinity", "oo"})
_OPTIONS = frozenset({"axis", "dim", "keepdims", "keepdim", "base", "ord"})
# Functions a name may stand right before, as in `nlog n`.
_GLUED = frozenset(
    {"exp", "log", "ln", "log2", "sqrt", "sin", "cos", "tanh", "max", "min", "sigmoid", "softmax", "diag"}
)

_SAME_LETTER = (("lam", "l"), ("g", "gamma"), ("eps", "epsilon"))
_ENDINGS = {
    "prev": ("previous", "old", "last", "tm1", "t-1"),
    "cand": ("candidate", "tilde", "hat"),
    "tilde": ("cand", "candidate"),
    "hat": ("pred",),
}

_OPERATORS: Mapping[str, Times | Literal["/"]] = {
    "*": Times.STAR, "@": Times.MATRIX, "×": Times.JUXTAPOSED, "∘": Times.ELEMENTWISE, "·": Times.DOT, ".": Times.DOT,
    "/": "/",
}  # fmt: skip
_RELATIONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_CLOSER = {"(": ")", "[": "]", "{": "}", "\\{": "\\}", "⟨": "⟩", "<": ">", "|": "|", "‖": "‖"}
_SCRIPTS = frozenset({"_", "^", "{", "}", "(", ")"})  # what only holds the parts of a name together
_OPENERS = frozenset({"(", "[", "{", "\\{"})
_CLOSERS = frozenset({")", "]", "}", "\\}"})
_STARTING_MARKS = frozenset({"(", "[", "{", "\\{", "√", "∂", "⟨"})
_STARTING_COMMANDS = frozenset({"frac", "sqrt", "binom", "sum", "prod", "nabla", "begin cases", "begin matrix"})


# ── budgets ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Admitted:
    node: Node  # kept, so that its id stays its own
    height: int
    value: float | None  # of a part made of numbers only


class _Budget:
    """Admits nodes one by one while they are built, so that a refusal comes before the work."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._admitted: dict[int, _Admitted] = {}

    def admit(self, node: Node) -> None:
        """Count `node` and whatever in it is not counted yet; refuse it where it is too much."""
        parts = []
        for child in _children(node):
            if id(child) not in self._admitted:
                self.admit(child)
            parts.append(self._admitted[id(child)])
        height = 1 + max((part.height for part in parts), default=0)
        if len(self._admitted) >= NODES:
            raise self._refused(f"The formula has more than {NODES:,} parts.", node)
        if height > HEIGHT:
            raise self._refused(
                f"The formula is more than {HEIGHT} levels deep; each factor of a product is one.", node
            )
        values = [part.value for part in parts]
        if isinstance(node, Power):
            self._refuse_power(node, *values)
        self._admitted[id(node)] = _Admitted(node, height, _value(node, values))

    def _refuse_power(self, node: Power, base: float | None, exponent: float | None) -> None:
        if exponent is None:
            return
        if abs(exponent) > EXPONENT:
            raise self._refused(f"An exponent that is a number may be at most {EXPONENT:,}.", node.exponent)
        if base and abs(exponent) * abs(log2(abs(base))) > BITS:
            raise self._refused("This tower of powers is a number too large to compute.", node)

    def _refused(self, message: str, node: Node) -> Unreadable:
        return Unreadable(message, node.span.start, self._text)


def _children(node: Node) -> Iterator[Node]:
    for name in node.__dataclass_fields__:
        yield from _nodes(getattr(node, name))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _nodes(part)


def _value(node: Node, parts: Sequence[float | None]) -> float | None:
    """Return the value of a node made of numbers only, roughly: enough to see that a power is too large."""
    if isinstance(node, Number):
        return float(node.value)
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not parts:
        return None
    try:
        return _computed(node, known)
    except OverflowError:
        return inf
    except (ZeroDivisionError, ValueError):
        return None


def _computed(node: Node, parts: list[float]) -> float | None:
    match node:
        case Negation():
            return -parts[0]
        case Addition():
            return sum(parts)
        case Product():
            return parts[0] * parts[1]
        case Quotient():
            return parts[0] / parts[1]
        case Power():
            power: float = abs(parts[0]) ** parts[1]
            return power if parts[0] >= 0 or parts[1] % 2 == 0 else -power
    return None


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _flat(tokens: Iterable[Token]) -> str:
    r"""Return how a name is looked up: `W_{2}`, `W₂` and `W^{(2)}` are all W2."""
    return "".join(token.text for token in tokens if not _is(token, *_SCRIPTS))


def _sequence(tokens: Iterable[Token]) -> tuple[str, ...]:
    return tuple("(" if token.text == "[" else ")" if token.text == "]" else token.text for token in tokens)


def _end_of_group(tokens: Sequence[Token], at: int) -> int:
    """Return where the bracket that opens at `at` closes, the END if it does not."""
    depth = 0
    for index in range(at, len(tokens)):
        if tokens[index].kind is Kind.MARK:
            depth += (tokens[index].text in _OPENERS) - (tokens[index].text in _CLOSERS)
        if depth == 0:
            return index
    return len(tokens) - 1


class _Names:
    """The spellings of the declared symbols. Sizes of shapes are names as well, declared or not."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.sizes = {str(size): size for size in symbols.dimensions()}
        self.columns = {s.columns: s.name for s in symbols.by_name.values() if s.columns is not None}
        self.hot = {s.at: s.name for s in symbols.by_name.values() if s.at is not None and "one_hot" in s.properties}
        self.numbered: set[str] = set()  # O where O1 is declared
        self.sequences: list[tuple[tuple[str, ...], str]] = []
        self.derivatives: dict[tuple[str, str], str] = {}
        self._keys: dict[str, str] = {}
        for name in (*symbols.by_name, *self.sizes):
            self._keys.setdefault(_key(name), name)
        self._folded: dict[str, set[str]] = {}
        for key, name in self._keys.items():
            self._folded.setdefault(key[:1] + key[1:].lower(), set()).add(name)
        for symbol in symbols.by_name.values():
            self._add_spellings(symbol)
        self._add_aliases()

    def _add_spellings(self, symbol: Symbol) -> None:
        for spelling in symbol.spelled:
            try:
                tokens = tokens_of(spelling)[:-1]
            except Unreadable as error:
                raise SymbolError(f"symbol {symbol.name!r}: its spelling {spelling!r} cannot be read") from error
            pair = _derivative_pair(tokens)
            if pair is not None:
                self.derivatives[pair] = symbol.name
            elif _is_name(tokens):
                self._keys.setdefault(_flat(tokens), symbol.name)
            else:
                self.sequences.append((tuple(_sequence(_without_scripts(tokens))), symbol.name))
        self._add_note(symbol)

    def _add_note(self, symbol: Symbol) -> None:
        """Take a note such as dL/dO1 as a spelling: it says what the symbol stands for."""
        try:
            pair = _derivative_pair(tokens_of(symbol.note)[:-1])
        except Unreadable:
            return
        if pair is not None:
            self.derivatives.setdefault(pair, symbol.name)

    def _add_aliases(self) -> None:
        self.numbered = {key[:-1] for key in self._keys if key[-1:] == "1"}
        for letters in _SAME_LETTER:
            present = [letter for letter in letters if letter in self._keys]
            if len(present) == 1:
                for letter in letters:
                    self._keys.setdefault(letter, self._keys[present[0]])
        for key, name in list(self._keys.items()):
            for ending, others in _ENDINGS.items():
                if key.endswith(ending) and key != ending:
                    for other in others:
                        self._keys.setdefault(key.removesuffix(ending) + other, name)

    def find(self, key: str, *, any_case: bool = False) -> str | None:
        """Return the declared name of this spelling; `any_case` also takes W_q for the only W_Q."""
        name = self._keys.get(key)
        if name is None and any_case:
            similar = self._folded.get(key[:1] + key[1:].lower(), set())
            name = next(iter(similar)) if len(similar) == 1 else None
        return name

    def shape(self, name: str) -> tuple[sp.Expr, ...]:
        symbol = self.symbols.by_name.get(name)
        return () if symbol is None else symbol.shape

    def is_array(self, name: str) -> bool:
        return bool(self.shape(name))

    def is_square(self, name: str) -> bool:
        shape = self.shape(name)
        return len(shape) == 2 and shape[0] == shape[1]

    def entries(self, name: str) -> int:
        """Return how many indices an entry of `name` has."""
        return sum(size != 1 for size in self.shape(name)) or 1

    def has(self, name: str, quality: str) -> bool:
        symbol = self.symbols.by_name.get(name)
        return symbol is not None and quality in symbol.properties

    def function(self, name: str) -> str:
        """Return what a declared function is called in the tree: by the function that defines it, where one does."""
        definition = (self.symbols[name].definition or "").strip()
        return definition if definition.isidentifier() else name

    def only_variable(self) -> str | None:
        """Return the one symbol a function can be of, where σ stands without its argument."""
        names = [name for name in self.symbols.by_name if not self.has(name, "function")]
        return names[0] if len(names) == 1 else None

    def size_of_identity(self) -> sp.Expr | None:
        """Return the size of an undeclared I: where a covariance such as sigma^2 I speaks of it, or all have one."""
        sizes = {
            symbol.shape[0]
            for symbol in self.symbols.by_name.values()
            if symbol.shape and symbol.covariance is not None and "I" in symbol.covariance
        }
        return sizes.pop() if len(sizes) == 1 else self.only_size()

    def only_size(self) -> sp.Expr | None:
        """Return the size that all vectors and matrices have, if it is one: I and 𝟏 can only have it too."""
        sizes = {size for symbol in self.symbols.by_name.values() for size in symbol.shape if size != 1}
        return sizes.pop() if len(sizes) == 1 else None

    def near(self, word: str) -> list[str]:
        """Return declared names and functions that look like `word`."""
        known = {name.lower(): name for name in (*_FUNCTIONS, *self.sizes, *self.symbols.by_name)}
        close = difflib.get_close_matches(word[:40].lower(), known, n=3, cutoff=0.6)
        return [known[name] for name in close]


def _key(name: str) -> str:
    try:
        return _flat(tokens_of(name)[:-1]) or name
    except Unreadable:
        return name


def _without_scripts(tokens: Iterable[Token]) -> list[Token]:
    return [token for token in tokens if token.kind is not Kind.MARK or token.text not in {"_", "{", "}"}]


def _is_name(tokens: Sequence[Token]) -> bool:
    """Return whether this is a word with nothing but indices behind it."""
    if not tokens or tokens[0].kind is not Kind.WORD:
        return False
    at = 1
    while at + 1 < len(tokens) and tokens[at].text in {"_", "^"}:
        at = _end_of_group(tokens, at + 1) + 1
    return at == len(tokens)


def _derivative_pair(tokens: Sequence[Token]) -> tuple[str, str] | None:
    """Return what is derived by what in dL/dO1, ∂L/∂O_1 or the fraction of the two, as spellings."""
    if tokens and tokens[0].text == "frac":
        middle = _end_of_group(tokens, 1)
        above, below = tokens[2:middle], tokens[middle + 2 : -1]
    else:
        slash = next((at for at, token in enumerate(tokens) if token.text == "/"), None)
        if slash is None:
            return None
        above, below = tokens[:slash], tokens[slash + 1 :]
    top, bottom = _differential(above), _differential(below)
    return (top, bottom) if top and bottom else None


def _differential(tokens: Sequence[Token]) -> str:
    """Return x of dx or ∂x, an empty text for anything else; ∂SA(H) is ∂SA."""
    if not tokens:
        return ""
    if len(tokens) > 3 and tokens[-1].text == ")" and tokens[-3].text == "(":
        tokens = tokens[:-3]
    if tokens[0].text in {"∂", "d"}:
        return _flat(tokens[1:])
    return _flat(tokens)[1:] if tokens[0].text.startswith("d") else ""


# ── the tokens, and where we are in them ────────────────────────────────────────────────────────────────────────


class _Cursor:
    """A place in the tokens. A token may be cut in two where it turns out to be two names."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.at = 0
        self._budget = _Budget(text)

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def token(self, at: int) -> Token:
        """Return the token at `at`, the END for a place behind it."""
        return self.tokens[min(at, len(self.tokens) - 1)]

    def ahead(self, steps: int = 1) -> Token:
        return self.token(self.at + steps)

    def take(self) -> Token:
        token = self.now
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def sees(self, *marks: str) -> bool:
        return _is(self.now, *marks)

    def skip(self, mark: str) -> bool:
        found = self.sees(mark)
        if found:
            self.take()
        return found

    def sees_word(self, *words: str) -> bool:
        return self.now.kind is Kind.WORD and self.now.text in words

    def expect(self, mark: str, opened: Token | None = None) -> None:
        if self.skip(mark):
            return
        if opened is not None and self.now.kind is Kind.END:
            raise self.refused("This bracket is not closed.", opened)
        raise self.unexpected()

    def cut(self, at: int, width: int) -> None:
        """Cut the word at `at` in two, the first with `width` letters."""
        token = self.tokens[at]
        middle = token.start + width if token.end - token.start == len(token.text) else token.end
        first = replace(token, text=token.text[:width], end=middle)
        second = replace(token, text=token.text[width:], start=min(middle, token.end - 1), spaced=False)
        self.tokens[at : at + 1] = [first, second]

    def group(self, at: int) -> tuple[int, int, int]:
        """Return first, end and what is after of the group at `at`: a bracket's inside, or a single token."""
        if _is(self.token(at), "{", "("):
            end = _end_of_group(self.tokens, at)
            return at + 1, end, min(end + 1, len(self.tokens) - 1)
        return at, at + 1, min(at + 1, len(self.tokens) - 1)

    def new(self, node: N) -> N:
        self._budget.admit(node)
        return node

    def span(self, start: Token) -> Span:
        return Span(start.start, max(start.end, self.tokens[self.at - 1].end if self.at else 0))

    def written(self, token: Token) -> str:
        return self.text[token.start : token.end] or token.text

    def refused(self, message: str, token: Token | None = None) -> Unreadable:
        return Unreadable(message, (token or self.now).start, self.text)

    def unexpected(self) -> Unreadable:
        token = self.now
        if token.kind is Kind.END:
            return self.refused("The formula ends where something is missing.")
        if _is(token, *_CLOSERS):
            return self.refused(f"The bracket {self.written(token)} closes nothing that is open here.")
        return self.refused(f"{self.written(token)} has no meaning at this place.")


def _is(token: Token, *marks: str) -> bool:
    return token.kind is Kind.MARK and token.text in marks


@dataclass(slots=True)
class _Limit:
    """One index of a Σ or Π."""

    index: str
    lower: Node | None = None
    upper: Node | None = None
    excluding: Node | None = None


@dataclass(slots=True)
class _Head:
    r"""A function, and what stands between it and its arguments: \log_2, \tanh^2, σ'."""

    function: str
    word: Token
    declared: str | None = None  # the symbol it is, where it is one
    base: Node | None = None
    power: Node | None = None
    primes: int = 0
    indices: tuple[Node, ...] = ()
    options: dict[str, Node] = field(default_factory=dict)


# ── the grammar ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Reader(_Cursor):
    """Reads one text. A method that begins to read something leaves `at` behind it, or refuses."""

    def __init__(self, text: str, symbols: Symbols) -> None:
        super().__init__(text)
        self.names = _Names(symbols)
        self._bound: list[str] = []
        self._fixed: dict[str, int] = {}  # an index that stands for a number: O_i with i = 1 is O1
        self._free = 0  # above 0 a letter may be an index nobody bound
        self._open: list[str] = []
        self._depth = 0

    # lines and sums

    def line(self) -> Node:
        start = self._begin()
        _ = self.skip("=") or self.skip("≈")  # "= …" goes on from the line before, "≈ …" is a number that was rounded
        parts = [self.expression()]
        while self.skip("="):
            parts.append(self.expression())
        if self.sees(*_RELATIONS):
            raise self.refused("A comparison stands where a formula is asked for: only = may join formulas.")
        self._finish()
        return parts[0] if len(parts) == 1 else self.new(Chain(tuple(parts), span=self.span(start)))

    def comparison(self) -> Comparison:
        self._begin()
        found = self._comparison()
        self._finish()
        return found

    def _begin(self) -> Token:
        if self.now.kind is Kind.END:
            raise self.refused("There is no formula: the text is empty.")
        return self.now

    def _finish(self) -> None:
        if self.sees(*_RELATIONS):
            raise self.refused("A second relation stands here: a comparison has one.")
        if self.now.kind is not Kind.END:
            raise self.unexpected()

    def _comparison(self) -> Comparison:
        start = self.now
        left = self.expression()
        if not self.sees(*_RELATIONS):
            raise self.refused("A relation is missing here: one of = ≠ < ≤ > ≥.")
        relation = self.take().text
        right = self.expression()
        return self.new(Comparison(left, relation, right, span=self.span(start)))

    def expression(self) -> Node:
        """Read a sum, and `a if i = k else b`."""
        start = self.now
        terms = [self._term()]
        while self.sees("+", "-", "⊕"):
            sign = self.take()
            term = self._term()
            if sign.text == "⊕":
                terms = [self._joined(self._added(terms, start), term, start)]
            else:
                terms.append(self._signed(term, [sign] if sign.text == "-" else []))
        value = self._added(terms, start)
        return self._ternary(value, start) if self.sees_word("if") and self.names.find("if") is None else value

    def _added(self, terms: list[Node], start: Token) -> Node:
        return terms[0] if len(terms) == 1 else self.new(Addition(tuple(terms), span=self.span(start)))

    def _joined(self, left: Node, right: Node, start: Token) -> Node:
        parts = left.arguments if isinstance(left, Call) and left.function == "concat" else (left,)
        return self.new(Call("concat", (*parts, right), span=self.span(start)))

    def _ternary(self, value: Node, start: Token) -> Node:
        self.take()
        condition = self._free_comparison()
        if not self.sees_word("else", "otherwise"):
            raise self.refused("After `if` and its condition `else` is missing.")
        self.take()
        self._deeper()
        other = self.expression()
        self._depth -= 1
        return self.new(Cases(((value, condition), (other, None)), span=self.span(start)))

    def _free_comparison(self) -> Comparison:
        self._free += 1
        found = self._comparison()
        self._free -= 1
        return found

    def _signs(self) -> list[Token]:
        """Take the signs in front of something, and return the minuses."""
        minuses = []
        while self.sees("+", "-"):
            sign = self.take()
            minuses += [sign] if sign.text == "-" else []
        return minuses

    def _signed(self, value: Node, minuses: list[Token]) -> Node:
        for minus in reversed(minuses):
            value = self.new(Negation(value, span=self.span(minus)))
        return value

    def _term(self) -> Node:
        minuses = self._signs()
        start = self.now
        left = self.factor()
        while (operator := self._operator()) is not None:
            right = self.factor()
            span = self.span(start)
            left = self.new(
                Quotient(left, right, span=span) if operator == "/" else Product(left, right, operator, span=span)
            )
        return self._signed(left, minuses)

    def _operator(self) -> Times | Literal["/"] | None:
        token = self.now
        if token.kind is Kind.MARK and token.text in _OPERATORS:
            self.take()
            return _OPERATORS[token.text]
        if not self._starts_factor(token):
            return None
        if token.kind is Kind.NUMBER and not token.font and not self._is_power_of_number():
            # A lost superscript looks like this: σ 2 is more often σ² than 2σ.
            raise self.refused("A number cannot follow without a sign: write * or ^ before it.")
        return Times.JUXTAPOSED

    def _is_power_of_number(self) -> bool:
        """Return whether the number here is a factor of its own for certain: k^j 1^{n-j}."""
        return _is(self.ahead(), "^") and self.now.spaced and self.token(self.at - 1).kind is not Kind.NUMBER

    def _starts_factor(self, token: Token) -> bool:
        if token.kind is Kind.WORD:
            return token.text not in _KEYWORDS or self.names.find(token.text) is not None
        if token.kind is Kind.COMMAND:
            return token.text in _STARTING_COMMANDS
        if _is(token, "|") and self._open[-1:] == ["[|"]:
            return False
        if _is(token, "|", "‖"):
            closes = self._open[-1:] == [token.text] or (token.text == "‖" and self._open[-1:] == ["|"])
            return not closes
        return token.kind is Kind.NUMBER or _is(token, *_STARTING_MARKS)

    # factors

    def factor(self) -> Node:
        """Read an atom and what is attached to it."""
        minuses = self._signs()
        start = self.now
        value = self._atom()
        while (longer := self._attached(value, start)) is not None:
            value = longer
        return self._signed(value, minuses)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > NESTING + 2:
            raise self.refused(f"The formula is nested more than {NESTING} deep here.")

    def _attached(self, value: Node, start: Token) -> Node | None:
        if self.skip("'"):
            return self.new(Transposed(value, span=self.span(start)))
        if self.sees("^"):
            return self._power(value, start)
        if self.sees("_"):
            return self._entry_of_group(value, start)
        if self.sees("["):
            return self._indexed(value, start)
        if self.sees("."):
            return self._attribute(value, start)
        return self._factorial(value, start) if self.sees("!") else None

    def _factorial(self, value: Node, start: Token) -> Node:
        bracketed = _is(self.token(self.at - 1), ")", "]")
        if not bracketed and isinstance(value, Power | Call):
            raise self.refused("It is not clear what the factorial is of: write brackets around it.")
        self.take()
        return self.new(Call("factorial", (value,), span=self.span(start)))

    def _power(self, base: Node, start: Token) -> Node:
        self.take()
        if self.skip("'") or self._skip_prime():
            return self.new(Transposed(base, span=self.span(start)))
        inverse = self._skip_transpose(base)
        if inverse is None:
            exponent = self._exponent()
            return self.new(Power(base, exponent, span=self.span(start)))
        if inverse:
            one = self.new(Number(Fraction(1), span=self.span(start)))
            minus_one = self.new(Negation(one, span=self.span(start)))
            base = self.new(Power(base, minus_one, span=self.span(start)))
        return self.new(Transposed(base, span=self.span(start)))

    def _skip_prime(self) -> bool:
        found = self.sees("{") and _is(self.ahead(), "'") and _is(self.ahead(2), "}")
        if found:
            self.at += 3
        return found

    def _skip_transpose(self, base: Node) -> bool | None:
        r"""Take a transpose behind `^` and return whether it is an inverse too: T, {\top}, {-T}."""
        braced = self.sees("{")
        minus = braced and _is(self.ahead(), "-")
        token = self.ahead(braced + minus)
        if not self._means_transpose(token, base):
            return None
        if braced and not _is(self.ahead(braced + minus + 1), "}"):
            return None
        if not braced and token.kind is Kind.WORD and len(token.text) > 1 and not token.whole:
            self.cut(self.at, 1)  # x^Ty is x^T y
        self.at += 1 + 2 * braced + minus
        return minus

    def _means_transpose(self, token: Token, base: Node) -> bool:
        if _is(token, "⊤"):
            return True
        if _is(token, "+") or token.text == "dagger":  # the pseudo-inverse, or the adjoint
            return self.is_frame(base)
        if token.kind is not Kind.WORD or token.text[0] not in "Tt" or (token.whole and len(token.text) > 1):
            return False
        if len(token.text) > 1 and (self._knows(token.text) or self.sees("{")):
            return False
        return self._is_array(base) and not (token.text[0] == "t" and self._knows("t"))

    def is_frame(self, node: Node) -> bool:
        """Return whether this is a matrix with orthonormal columns, whose pseudo-inverse is its transpose."""
        return isinstance(node, Name) and self.names.has(node.name, "orthonormal_columns")

    def _is_index(self, letter: str) -> bool:
        return letter in self._bound or letter in self._fixed

    def _is_array(self, node: Node) -> bool:
        """Return whether `node` has a declared vector or matrix in it that is not reduced to a number."""
        match node:
            case Name():
                return self.names.is_array(node.name) and not self._is_index(node.name)
            case Entry(value=Name(name=name)):
                return len(node.indices) < self.names.entries(name)  # a column
            case Entry():
                return False
            case Transposed() | Block():
                return True
            case Call(function="ones" | "zeros" | "eye"):
                return True
            case Call():
                scalar = node.function in {"norm", "trace", "dot", "sum", "prod", "mean", "det", "delta", "binomial"}
                return not scalar and any(map(self._is_array, node.arguments))
        return any(map(self._is_array, _children(node)))

    def _exponent(self) -> Node:
        """Read an exponent: braces hold anything, without them it is one atom, with its own power to the right."""
        if self.sees("{"):
            opened = self.take()
            return self._inside(opened)
        if self.sees("+"):
            raise self.refused("The exponent is missing here.")
        self._deeper()
        minuses = self._signs()
        start = self.now
        value = self._atom()
        if self.sees("^") and not self._transposes_ahead(value):
            self.take()
            value = self.new(Power(value, self._exponent(), span=self.span(start)))
        self._depth -= 1
        return self._signed(value, minuses)

    def _transposes_ahead(self, base: Node) -> bool:
        token = self.ahead(2) if _is(self.ahead(), "{") else self.ahead()
        return self._means_transpose(token, base)

    def _inside(self, opened: Token) -> Node:
        """Read one expression up to the bracket that closes `opened`."""
        self._open.append(opened.text)
        value = self.expression()
        if self.now.kind is Kind.COMMAND:
            value = self._infix_fraction(value, opened)  # n^{3 \over 2}
        self._open.pop()
        self.expect(_CLOSER[opened.text], opened)
        return value

    def _entry_of_group(self, value: Node, start: Token) -> Node:
        if isinstance(value, Entry):
            raise self.refused("A second index stands here: write both in one, as W_{ij}.")
        grouped = _is(self.token(self.at - 1), *_CLOSERS) or isinstance(value, Transposed)
        if (
            not grouped
            or isinstance(value, Number)
            or (isinstance(value, Name) and not self.names.is_array(value.name))
        ):
            raise self.refused(
                f"An index cannot stand here: {self.text[value.span.start : value.span.end]} has no entries."
            )
        following = self.ahead()
        letters = following.text if following.kind is Kind.WORD else ""
        one = len(letters) > 1 and not following.whole and self._split(letters[1:]) is not None
        indices = self._indices(1 if one else 2)
        return self.new(Entry(value, indices, span=self.span(start)))

    # square brackets and dots behind something

    def _indexed(self, value: Node, start: Token) -> Node | None:
        """Read p[i] and W[i, j]; a bracket that holds no indices is a factor of its own."""
        if self.now.spaced or not self._holds_indices(value):
            return None
        if isinstance(value, Name) and not self.names.is_array(value.name):
            raise self.refused(f"{value.name} is a number, it has no entries.")
        opened = self.take()
        column = self.skip(":")
        if column:
            self.expect(",", opened)
        indices = self._index_list("]", _MANY)
        self.expect("]", opened)
        if any((_whole(index) or 1) < 1 or _whole(index) == 0 for index in indices):
            raise self.refused("Entries are counted from 1 here: the first is x[1].", opened)
        if isinstance(value, Entry) and len(value.indices) == 1:  # W[i][j]
            return self.new(Entry(value.value, (*value.indices, *indices), span=self.span(start)))
        return self.new(Entry(value, indices, span=self.span(start)))

    def _holds_indices(self, value: Node) -> bool:
        end = _end_of_group(self.tokens, self.at)
        inner = self.tokens[self.at + 1 : end]
        if _is(inner[0], ":") if inner else True:
            # W[:, j] is a column, and only where columns are declared is one index a column.
            columns = isinstance(value, Name) and value.name in self.names.columns.values()
            return columns and len(inner) > 2 and _is(inner[1], ",")
        plain = all(
            token.kind is Kind.NUMBER
            or _is(token, "+", "-", "*", ",")
            or (token.kind is Kind.WORD and self._is_index_word(token))
            for token in inner
        )
        if isinstance(value, Entry) or (isinstance(value, Name) and self.names.is_array(value.name)):
            return plain
        free = all(
            token.kind is Kind.NUMBER or _is(token, ",") or self.names.find(token.text) is None for token in inner
        )
        return plain and free and not isinstance(value, Number | Power | Quotient)

    def _is_index_word(self, token: Token) -> bool:
        name = self.names.find(token.text)
        if token.text in self._bound or token.text in self._fixed:
            return True
        return not self.names.is_array(name) if name is not None else token.is_letter

    def _attribute(self, value: Node, start: Token) -> Node | None:
        """Read .T, .sum() and the other methods; any other dot is a product."""
        name = self.ahead()
        if name.kind is not Kind.WORD or name.spaced:
            return None
        calls = _is(self.ahead(2), "(")
        if name.text in {"T", "mT"} and not calls and (self.names.find(name.text) is None or self._is_array(value)):
            self.at += 2
            return self.new(Transposed(value, span=self.span(start)))
        if name.text in {"shape", "size"}:
            self.at += 2
            return self._size_attribute(value, name)
        spelled = "transpose" if name.text == "t" else name.text
        if not calls or not self._is_function(spelled):
            return None
        self.at += 2
        head = _Head(spelled, name)
        return self._built(head, (value, *self._arguments(head)), start)

    def _size_attribute(self, value: Node, word: Token) -> Node:
        shape = self.names.shape(value.name) if isinstance(value, Name) else ()
        if word.text == "size" and len(shape) == 1:
            return self.size(shape[0], word)
        inner = self.tokens[self.at + 1 : _end_of_group(self.tokens, self.at)] if self.sees("[") else []
        written = "".join(token.text for token in inner)
        places = {str(at): size for at, size in enumerate(shape)} | {str(at): shape[at] for at in range(-len(shape), 0)}
        if word.text != "shape" or written not in places:
            raise self.refused(f"The size that .{word.text} asks for is not declared.", word)
        self.at += len(inner) + 2
        return self.size(places[written], word)

    def size(self, size: sp.Expr, start: Token) -> Node:
        """Return a size of a shape, n or 2d, as a formula."""
        span = self.span(start)
        count, names = size.as_coeff_Mul()
        if names == 1:
            return self.new(Number(Fraction(int(count)), span=span))
        name = Name(str(names), span=span)
        if count == 1:
            return self.new(name)
        return self.new(Product(Number(Fraction(int(count)), span=span), name, Times.STAR, span=span))

    # atoms

    def _atom(self) -> Node:
        """Read an atom. Every way into a part of a formula leads through here, so the depth is counted here."""
        token = self.now
        rule = self._atoms.get(token.text if token.kind in {Kind.MARK, Kind.COMMAND} else token.kind)
        if rule is None and _is(token, *_CLOSERS, ",", ";", "=") and self.at:
            raise self.refused(f"Something is missing before {self.written(token)}.")
        if rule is None:
            raise self.unexpected()
        self._deeper()
        value = rule(self)
        self._depth -= 1
        return value

    def _number(self) -> Node:
        token = self.take()
        if token.text == "1" and (token.font in {"double", "bold"} or self._is_indicator()):
            return self._bold_one(token)
        return self._plain_number(token)

    def _plain_number(self, token: Token) -> Number:
        value = Fraction(token.text.rstrip(".")) if "e" not in token.text.lower() else Fraction(token.text)
        digits, _, power = token.text.lower().partition("e")
        decimals = max(0, len(digits.partition(".")[2]) - int(power or 0))
        return self.new(Number(value, decimals or None, span=self.span(token)))

    def _is_indicator(self) -> bool:
        """Return whether the 1 before us is that of 1{i = k} or 1_{i = k}."""
        at = self.at + self.sees("_")
        at += _is(self.token(at + 1), "\\{")
        return _is(self.token(at), "{", "\\{") and self._relation_between(at + 1, _end_of_group(self.tokens, at))

    def _bold_one(self, token: Token) -> Node:
        r"""Read \mathbb{1}[i = j] as a Kronecker delta, and 𝟏 - h as 1 - h."""
        if self.sees("_") and not self._is_indicator():
            first, end, after = self.group(self.at + 1)
            size = self.names.find(_flat(self.tokens[first:end]))
            if size is None or size not in self.names.sizes or self._is_index(size):
                return self._delta(token)
            self.at = after
            return self.new(Call("ones", (Name(size, span=self.span(token)),), span=self.span(token)))
        self.skip("_")
        self._unwrap_braces()
        if self.sees(*_OPENERS) and self._relation_inside():
            return self._bracket()
        before = self.token(self.at - 2) if self.at > 1 else None
        alone = before is None or _is(before, "+", "-", "=", ",", ";", *_OPENERS)
        if alone and (self.now.kind is Kind.END or self.sees("+", "-", "=", ",", ";", *_CLOSERS)):
            return self.new(Number(Fraction(1), span=self.span(token)))
        size = self.names.only_size() if token.font == "bold" else None
        if size is None:
            raise self.refused("This vector of ones does not say how long it is: write ones(n).", token)
        return self.new(Call("ones", (self.size(size, token),), span=self.span(token)))

    def _unwrap_braces(self) -> None:
        r"""Take the outer braces of {\{i = j\}} off; those of {i = j} are brackets like any."""
        end = _end_of_group(self.tokens, self.at)
        if self.sees("{") and _is(self.ahead(), "\\{", "[", "("):
            del self.tokens[end], self.tokens[self.at]
        elif self.sees("{") and _is(self.token(end), "}"):
            self.tokens[self.at] = replace(self.now, text="(")
            self.tokens[end] = replace(self.tokens[end], text=")")

    def _word(self) -> Node:
        token = self.now
        for reading in self._readings:
            node = reading(self)
            if node is not None:
                return node
        pieces = None if token.whole else self._split(token.text)
        if pieces is None:
            raise self._unknown(token)
        for piece in pieces[:-1]:
            self.cut(self.at, len(piece))
            self.at += 1
        self.at -= len(pieces) - 1
        return self._word()

    def _unknown(self, token: Token) -> Unreadable:
        word = self.written(token)
        if token.text.lower() in _NO_NUMBERS:
            return self.refused(f"{word} is no number a formula can have.", token)
        if self._is_function(token.text):
            return self.refused(f"The function {word} needs its argument in brackets.", token)
        near = self.names.near(token.text)
        if near:
            return self.refused(
                f"The name {word[:40]} is not one of this question; near it are {', '.join(near)}.", token
            )
        names = ", ".join(list(self.names.symbols.by_name)[:12])
        declared = f", whose names are {names}" if names else ", which has no names"
        return self.refused(f"The name {word[:40]} is not one of this question{declared}.", token)

    # names

    def _knows(self, word: str) -> bool:
        return self.names.find(word) is not None or self._is_index(word)

    def _spelled(self) -> Node | None:
        """Read a spelling of several tokens, such as p(W), as the symbol it stands for."""
        for spelling, name in self.names.sequences:
            end = self._matched(spelling)
            if end is not None:
                start, self.at = self.now, end
                return self.new(Name(name, span=self.span(start)))
        return None

    def _matched(self, spelling: tuple[str, ...]) -> int | None:
        at, braces, matched = self.at, 0, 0
        while at < len(self.tokens) - 1:
            token = self.token(at)
            if _is(token, "_", "{", "}"):
                braces += (token.text == "{") - (token.text == "}")
            elif matched == len(spelling):
                break
            elif _sequence([token])[0] != spelling[matched]:
                return None
            else:
                matched += 1
            if braces < 0:
                break
            at += 1
            if matched == len(spelling) and braces == 0:
                return at
        return None

    def _module(self) -> Node | None:
        """Pass over np. and its like."""
        found = False
        while (
            self.now.text in _MODULES
            and self.names.find(self.now.text) is None
            and _is(self.ahead(), ".")
            and self.ahead(2).kind is Kind.WORD
        ):
            found = True
            self.at += 2
        if not found:
            return None
        name = self.take()
        if name.text in {"pi", "e"}:
            return self.new(Name(name.text, span=self.span(name)))
        known = self.names.find(name.text)
        if known is not None and self.names.has(known, "function"):
            return self._call(self.names.function(known), name, declared=known)
        if not self._is_function(name.text):
            raise self._unknown(name)
        return self._call(name.text, name)

    def _index(self) -> Node | None:
        token = self.now
        if token.text in self._fixed and not _is(self.ahead(), "_"):
            self.take()
            return self.new(Number(Fraction(self._fixed[token.text]), span=self.span(token)))
        if token.text in self._bound and not _is(self.ahead(), "_"):
            self.take()
            return self.new(Name(token.text, span=self.span(token)))
        return None

    def _free_index(self) -> Node | None:
        token = self.now
        if not self._free or not token.is_letter or _is(self.ahead(), "_", "("):
            return None
        self.take()
        return self.new(Name(token.text, span=self.span(token)))

    def _declared(self) -> Node | None:
        token = self.now
        if (token.font, token.text) in _FONTED:
            return None
        name = self._by_subscript() or self._by_superscript() or self._by_itself()
        if name is None:
            return self._column()
        if self.names.has(name, "function"):
            return self._call(self.names.function(name), token, declared=name)
        node = self.new(Name(name, span=self.span(token)))
        if self.sees("_"):
            return self._subscripted(node, token)
        if self.sees("(") and not self.now.spaced and self.names.is_array(name) and self._bound_inside():
            opened = self.take()
            indices = self._index_list(")", _MANY)
            self.expect(")", opened)
            return self.new(Entry(node, indices, span=self.span(token)))
        return node

    def _bound_inside(self) -> bool:
        """Return whether the bracket here holds a bound index and nothing else: p(x) under a sum over x."""
        return self.ahead().text in self._bound and _is(self.ahead(2), ")")

    def _by_subscript(self) -> str | None:
        r"""Read a name with its index as one name, W_2, or its beginning, W_{2,jk}."""
        if not _is(self.ahead(), "_"):
            return None
        if self.ahead(2).kind is Kind.WORD and self.ahead(2).text[:1] in self._fixed and len(self.ahead(2).text) > 1:
            self.cut(self.at + 2, 1)  # O_iW_i
        first, end, after = self.group(self.at + 2)
        inner = self.tokens[first:end]
        base = self.now.text
        flat = self._fixed_flat(inner)
        # Under a sum over k, W_k is not W_K.
        name = self.names.find(base + flat, any_case=flat not in self._bound) if flat else None
        if name is not None:
            self.at = after
            return name
        return self._by_beginning(base, first, end)

    def _by_beginning(self, base: str, first: int, end: int) -> str | None:
        inner = self.tokens[first:end]
        if len(inner) > 2 and _is(inner[1], "_"):  # W_{2_{jk}} is W_{2,jk}
            start, stop, after = self.group(first + 2)
            if after == end:
                inner = [inner[0], replace(inner[1], text=","), *self.tokens[start:stop]]
                self.tokens[first:end] = inner
        comma = next((at for at, token in enumerate(inner) if _is(token, ",")), None)
        length = 1 if comma is None else comma
        name = self.names.find(base + self._fixed_flat(inner[:length])) if len(inner) > 1 else None
        if name is not None:
            del self.tokens[first : first + length + (comma is not None)]
            self.at += 1
            return name
        word = inner[0] if inner else self.now
        if word.kind is not Kind.WORD or word.whole or comma is not None:
            return None
        for width in range(len(word.text) - 1, 0, -1):
            name = self.names.find(base + word.text[:width])
            if name is not None:
                return self._cut_off(name, first, width)
        return None

    def _cut_off(self, name: str, first: int, width: int) -> str:
        """Leave what is behind the name's own index: as its entry's in braces, as the next factor without."""
        self.cut(first, width)
        braced = first == self.at + 3
        del self.tokens[first if braced else first - 1 : first + 1]
        self.at += 1
        return name

    def _by_superscript(self) -> str | None:
        r"""Read W^{(2)}, W^Q and h_t^{cand} as names where such are declared."""
        base = self.now.text
        at = self.group(self.at + 2)[2] if _is(self.ahead(), "_") else self.at + 1
        if not _is(self.token(at), "^"):
            return None
        first, end, after = self.group(at + 1)
        transposed = end - first > 1 and (_is(self.token(end - 1), "⊤") or self.token(end - 1).text == "T")
        end -= transposed  # W^{(2)\\top}
        bracketed = _is(self.token(at + 1), "(")
        if end - first > 2 and _is(self.token(first), "(", "[") and _is(self.token(end - 1), ")", "]"):
            first, end, bracketed = first + 1, end - 1, True
        inner = self.tokens[first:end]
        flat = self._fixed_flat(inner)
        known = self.names.find(base)
        name = self.names.find(base + flat, any_case=True)
        if bracketed and flat == "t" and known is not None and not self._knows("t"):
            name = known
        elif name is None or not flat or not self._names_by_superscript(known, inner, bracketed=bracketed):
            return None
        self.tokens[at:after] = [self.token(at), replace(self.token(at), text="⊤")] if transposed else []
        self.at += 1
        return name

    def _fixed_flat(self, inner: Iterable[Token]) -> str:
        """Return how a name's index is looked up, with the numbers that indices stand for."""
        return "".join(str(self._fixed.get(token.text, token.text)) for token in inner if not _is(token, *_SCRIPTS))

    def _names_by_superscript(self, known: str | None, inner: list[Token], *, bracketed: bool) -> bool:
        """Return whether a superscript is part of a name: it is where it cannot be a power."""
        if known is None:
            return bracketed or inner[0].kind is Kind.WORD
        if bracketed or inner[0].kind is Kind.NUMBER or inner[0].text in self._fixed:
            return self.names.is_array(known) and (bracketed or not self.names.is_square(known))
        raised = self.names.find(_flat(inner))
        return inner[0].kind is Kind.WORD and (raised is None or self.names.is_array(raised))

    def _by_itself(self) -> str | None:
        name = self.names.find(self.now.text)
        if name is not None:
            self.take()
        return name

    def _column(self) -> Node | None:
        """Read a_j as column j of the matrix whose columns are called a."""
        token = self.now
        if token.text not in self.names.columns or not _is(self.ahead(), "_"):
            return None
        self.take()
        matrix = self.new(Name(self.names.columns[token.text], span=self.span(token)))
        return self.new(Entry(matrix, self._indices(1), span=self.span(token)))

    def _subscripted(self, node: Name, token: Token) -> Node:
        name = node.name
        first, end, after = self.group(self.at + 1)
        flat = _flat(self.tokens[first:end])
        array = self.names.is_array(name)
        own = (flat == "t" and not self._knows("t")) or (not array and flat.lower() == "k" and name == "d")
        if own and not self._is_index(flat):  # z_t is z at the time we are at, d_k the d of the keys
            self.at = after
            return node
        size = self.names.find(flat)
        if self.names.has(name, "identity") and size is not None and not self._is_index(flat):
            self.at = after
            return self._identity(size, name, token)
        if not array:
            raise self.refused(f"{name} is a number, it has no entries.")
        return self.new(Entry(node, self._indices(self.names.entries(name)), span=self.span(token)))

    def _identity(self, size: str, name: str, token: Token) -> Node:
        if [str(side) for side in self.names.shape(name)] == [size, size]:
            return self.new(Name(name, span=self.span(token)))
        return self.new(Call("eye", (Name(size, span=self.span(token)),), span=self.span(token)))

    # indices

    def _indices(self, most: int) -> tuple[Node, ...]:
        """Read the indices behind `_`; without braces a run of letters gives at most `most` of them."""
        self.take()
        if self.sees("{", "("):
            opened = self.take()
            indices = self._index_list(_CLOSER[opened.text], most)
            self.expect(_CLOSER[opened.text], opened)
            return indices
        token = self.now
        if token.kind is Kind.NUMBER:
            return (self._plain_number(self.take()),)
        if token.kind is not Kind.WORD:
            raise self.refused("An index is missing here.")
        if len(token.text) > most and not token.whole and not self._knows(token.text):
            self.cut(self.at, most)
        return tuple(self._letters(self.take()))

    def _index_list(self, closer: str, most: int) -> tuple[Node, ...]:
        indices: list[Node] = []
        while True:
            indices += self._index_run(most)
            if not self.skip(","):
                break
        if not indices:
            raise self.refused(f"An index is missing before {closer}.")
        return tuple(indices)

    def _index_run(self, most: int) -> list[Node]:
        """Read what stands between two commas: letters are indices each, anything else is computed."""
        end = self.at
        while self.token(end).kind in {Kind.WORD, Kind.NUMBER}:
            end += 1
        if end == self.at or not (_is(self.token(end), ",") or _is(self.token(end), *_CLOSERS)):
            self._free += 1
            value = self.expression()
            self._free -= 1
            return [value]
        alone = end == self.at + 1 and most == 2
        found: list[Node] = []
        for token in self.tokens[self.at : end]:
            if token.kind is Kind.NUMBER and alone and len(token.text) == 2 and token.text.isdigit():
                found += [self.new(Number(Fraction(int(digit)), span=self.span(token))) for digit in token.text]
                self.take()
            elif token.kind is Kind.NUMBER:
                found.append(self._plain_number(self.take()))
            else:
                found += self._letters(self.take())
        return found

    def _letters(self, token: Token) -> list[Node]:
        span = Span(token.start, token.end)
        whole = token.is_letter or self._knows(token.text)
        if not whole and (token.whole or not token.text.isalpha()):
            raise self._unknown(token)
        names = [token.text] if whole else list(token.text)
        return [self.new(self._index_name(name, span)) for name in names]

    def _index_name(self, name: str, span: Span) -> Node:
        if name in self._fixed:
            return Number(Fraction(self._fixed[name]), span=span)
        found = self.names.find(name) if len(name) > 1 else None
        return Name(found or name, span=span)

    # a run of letters that is several names

    def _split(self, word: str) -> list[str] | None:
        """Cut `word` into known names, the longest first; None where that cannot be done.

        What stands behind the word belongs to its last name: in hW_2 that is W_2.
        """

        @cache
        def longest(start: int) -> tuple[str, ...] | None:
            if start == len(word):
                return ()
            for end in range(len(word), start, -1):
                piece = word[start:end]
                last = end == len(word)
                if (last and start and self._knows_last(piece)) or self._knows_piece(piece):
                    rest = longest(end)
                    if rest is not None:
                        return (piece, *rest)
            return None

        if len(word) > NESTING:
            return None
        pieces = longest(0)
        return list(pieces) if pieces is not None and (len(pieces) > 1 or word != self.now.text) else None

    def _knows_piece(self, piece: str) -> bool:
        return self._knows(piece) or piece in _GLUED

    def _knows_last(self, piece: str) -> bool:
        if piece == "e":
            return _is(self.ahead(), "^")
        if not _is(self.ahead(), "_", "^"):
            return False
        first, end, _ = self.group(self.at + 2)
        inner = self.tokens[first:end]
        if not inner:
            return False
        whole = self.names.find(piece + _flat(inner), any_case=True)
        if _is(self.ahead(), "^"):
            return whole is not None and inner[0].kind is Kind.WORD
        widths = range(len(inner[0].text), 0, -1)  # XW_QW_K is X W_Q W_K
        beginning = any(self.names.find(piece + inner[0].text[:width]) is not None for width in widths)
        return whole is not None or beginning or piece in self.names.columns or piece == "delta"

    # functions

    @staticmethod
    def _function_name(word: str) -> str | None:
        """Return what a function is called in the tree: Tr and Exp are trace and exp, LN is nothing we know."""
        return _FUNCTIONS.get(word) or (_FUNCTIONS.get(word.lower()) if word == word.capitalize() else None)

    def _is_function(self, word: str) -> bool:
        return word in _REWRITTEN or self._function_name(word) is not None

    def _function(self) -> Node | None:
        token = self.now
        name = _FONTED.get((token.font, token.text)) or self._capital(token) or self._sigmoid(token)
        if name is None and self._is_function(token.text):
            name = token.text
        if name is None:
            return None
        self.take()
        if name == "delta" and self.sees("_"):
            return self._delta(token)
        return self._call(name, token)

    def _capital(self, token: Token) -> str | None:
        return token.text if token.text in _CAPITALS and self._opens(self._after_marks()) else None

    def _sigmoid(self, token: Token) -> str | None:
        """Take an undeclared σ as the sigmoid where it has an argument or is a derivative."""
        if token.text != "sigma":
            return None
        return "sigmoid" if _is(self.ahead(), "'") or self._opens(self._after_marks()) else None

    def _after_marks(self) -> int:
        """Return the place behind the function here and its powers and primes."""
        at = self.at + 1
        while _is(self.token(at), "^", "'"):
            at = self.group(at + 1)[2] if self.token(at).text == "^" else at + 1
        return at

    def _opens(self, at: int) -> bool:
        return _is(self.token(at), *_OPENERS)

    def _delta(self, token: Token) -> Node:
        indices = self._indices(2)
        if len(indices) != 2:
            raise self.refused("A Kronecker delta has two indices.", token)
        return self.new(Call("delta", indices, span=self.span(token)))

    def _rowwise(self) -> Node | None:
        """Read softmax_rows, which is cut in two at its underscore."""
        token = self.now
        if token.text.lower() != "softmax" or not _is(self.ahead(), "_"):
            return None
        first, end, after = self.group(self.at + 2)
        if _flat(self.tokens[first:end]) not in {"row", "rows"}:
            return None
        self.at = after
        return self._call("softmax_rows", token)

    def _call(self, function: str, token: Token, declared: str | None = None) -> Node:
        """Read what follows a function: its marks, then its arguments, in brackets or bare."""
        head = _Head(function, token, declared)
        while self.sees("_", "^", "'"):
            self._function_mark(head)
        if declared is not None and self._stands_alone(declared):
            return self._built(head, (self._only_variable(head),), token)
        if self.sees(*_OPENERS):
            over = self._comprehension(function, token) if declared is None else None
            return over if over is not None else self._built(head, self._some_arguments(head), token)
        if self._starts_factor(self.now) and function not in _BRACKETED:
            return self._built(head, (self._bare_argument(),), token)
        return self._built(head, (self._only_variable(head),), token)

    def _function_mark(self, head: _Head) -> None:
        if self.skip("'"):
            head.primes += 1
        elif self.skip("^"):
            if self._skip_prime():
                head.primes += 1
                return
            head.power = self._exponent()
            if head.power == Negation(Number(Fraction(1))):
                raise self.refused("It is not clear whether this is an inverse function or one over it.", head.word)
        elif head.function == "log":
            head.base = self._logarithm_base(head.word)
        elif head.function in _SOFTMAXES:
            head.indices = self._indices(1)
        else:
            raise self.refused(f"An index of the function {self.written(head.word)} has no meaning here.")

    def _logarithm_base(self, token: Token) -> Node:
        self.take()
        if self.sees("{", "("):
            return self._inside(self.take())
        number = self.now
        in_latex = self.text[token.start] == "\\"
        if number.kind is Kind.NUMBER and in_latex and number.text.isdigit() and not number.text.startswith("10"):
            if len(number.text) > 1:
                self.cut(self.at, 1)  # \log_26 is the logarithm of 6 to base 2
            return self._number()
        return self._atom()

    def _stands_alone(self, declared: str) -> bool:
        """Return whether σ(1 - σ) is meant as σ(x)(1 - σ(x)): its bracket holds the function without an argument."""
        variable = self.names.only_variable()
        if variable is None:
            return False
        if not self.sees(*_OPENERS):
            return self.names.find(self.now.text) != variable
        end = _end_of_group(self.tokens, self.at)
        return any(
            token.kind is Kind.WORD and self.names.find(token.text) == declared and not self._argument_at(at + 1)
            for at, token in enumerate(self.tokens[:end])
            if at > self.at
        )

    def _argument_at(self, at: int) -> bool:
        while _is(self.token(at), "^", "'"):
            at = self.group(at + 1)[2] if self.token(at).text == "^" else at + 1
        return self._starts_factor(self.token(at))

    def _only_variable(self, head: _Head) -> Node:
        name = self.names.only_variable()
        if head.declared is None or name is None:
            raise self.refused("The argument of the function is missing here.")
        return self.new(Name(name, span=Span(head.word.start, head.word.end)))

    def _bare_argument(self) -> Node:
        """Read an argument without brackets: one factor, or a number and the names right behind it (sin 2x)."""
        start = self.now
        value = self.factor()
        while (
            start.kind is Kind.NUMBER
            and self.now.kind is Kind.WORD
            and not self.now.spaced
            and self._starts_factor(self.now)
        ):
            value = self.new(Product(value, self.factor(), Times.JUXTAPOSED, span=self.span(start)))
        return value

    def _some_arguments(self, head: _Head) -> tuple[Node, ...]:
        arguments = self._arguments(head)
        if not arguments:
            raise self.refused("The argument of the function is missing here.", self.token(self.at - 1))
        return arguments

    def _arguments(self, head: _Head) -> tuple[Node, ...]:
        opened = self.take()
        closer = _CLOSER[opened.text]
        self._open.append(opened.text)
        self._free += head.function == "delta"  # its arguments are indices
        found: list[Node] = []
        while not self.sees(closer):
            if self.now.text in _OPTIONS and _is(self.ahead(), "=") and self.names.find(self.now.text) is None:
                name = self.take().text
                self.take()
                head.options[name] = self._option()
            else:
                condition = head.function == "where" and not found
                found.append(self._free_comparison() if condition else self._argument_value())
            if not self.skip(","):
                break
        self._free -= head.function == "delta"
        self._open.pop()
        self.expect(closer, opened)
        return tuple(found)

    def _option(self) -> Node:
        if self.sees_word("True", "False"):
            token = self.take()
            return self.new(Number(Fraction(token.text == "True"), span=self.span(token)))
        return self.factor()

    def _argument_value(self) -> Node:
        end = self.at
        while not _is(self.token(end), ",", *_CLOSERS) and self.token(end).kind is not Kind.END:
            end = (_end_of_group(self.tokens, end) if _is(self.token(end), *_OPENERS) else end) + 1
        return self._free_comparison() if self._relation_between(self.at, end) else self.expression()

    def _relation_inside(self) -> bool:
        return self._relation_between(self.at + 1, _end_of_group(self.tokens, self.at))

    def _relation_between(self, first: int, end: int) -> bool:
        """Return whether an equals sign stands there, outside inner brackets, that is not an option's (axis=1)."""
        depth, before = 0, ""
        for token in self.tokens[first : min(end, len(self.tokens))]:
            if token.kind is Kind.MARK:
                depth += (token.text in _OPENERS) - (token.text in _CLOSERS)
            if token.kind is Kind.WORD and token.text == "if":
                return False
            if depth == 0 and _is(token, "=", "!=") and before not in _OPTIONS:
                return True
            before = token.text
        return False

    def _built(self, head: _Head, arguments: tuple[Node, ...], start: Token) -> Node:
        """Return the call, with everything its head says about it."""
        span = self.span(start)
        if head.function in _SOFTMAXES and len(arguments) == 2 and _whole(arguments[1]) is not None:
            head.options["axis"], arguments = arguments[1], arguments[:1]  # softmax(x, -1)
        if head.declared is not None:
            self._refuse_options(head, head.function, arguments)
            node: Node = self.new(Call(head.function, arguments, span=span))
        elif head.function in _REWRITTEN:
            self._refuse_count(head, head.function, arguments)
            node = self.new(_REWRITTEN[head.function](_Written(self, head, arguments, span)))
        else:
            node = self._known_call(head, arguments, span)
        for _ in range(head.primes):
            node = self._primed(node, head.word)
        if head.indices:
            node = self.new(Entry(node, head.indices, span=span))
        return node if head.power is None else self.new(Power(node, head.power, span=span))

    def _known_call(self, head: _Head, arguments: tuple[Node, ...], span: Span) -> Node:
        name = self._function_name(head.function) or head.function
        if name == "var" and self._is_random() and self.text[head.word.start - 1 : head.word.start] != ".":
            name = "Var"
        if len(arguments) == 1 and isinstance(arguments[0], Block) and name in {"max", "min", "ones", "zeros"}:
            arguments = tuple(part for row in arguments[0].rows for part in row)
        if name in {"sum", "prod"} and len(arguments) == 1 and not head.options:
            return self._total(_RANGES[name], arguments[0], span, head.word)
        base = head.base or head.options.pop("base", None)
        if name == "log" and len(arguments) == 2 and base is None:
            base, arguments = arguments[-1], arguments[:1]
        if name == "norm" and arguments[1:] == (Number(Fraction(2)),):
            arguments = arguments[:1]
        self._refuse_options(head, name, arguments)
        self._refuse_count(head, name, arguments)
        return self.new(Call(name, arguments, base, span=span))

    def _is_random(self) -> bool:
        return any("normal" in symbol.properties for symbol in self.names.symbols.by_name.values())

    def _refuse_count(self, head: _Head, name: str, arguments: Sequence[Node]) -> None:
        least, most = _ARGUMENTS.get(name, (1, 1))
        written = self.written(head.word)
        if not least <= len(arguments) <= most:
            needed = str(least) if least == most else f"{least} or {most}" if most < _MANY else f"at least {least}"
            raise self.refused(f"{written} has {len(arguments)} arguments here, it takes {needed}.", head.word)
        if any(isinstance(argument, Comparison) for argument in arguments) and name not in {"where", "int"}:
            raise self.refused(f"{written} is of values, not of a comparison.", head.word)

    def _is_vector(self, node: Node) -> bool:
        return isinstance(node, Name) and len(self.names.shape(node.name)) == 1

    def _refuse_options(self, head: _Head, name: str, arguments: tuple[Node, ...]) -> None:
        """Refuse an option that could change the value; a softmax along its last axis is the one we mean."""
        allowed: dict[str, set[int | None]] = {"ord": {2}} if name == "norm" else {}
        if name in _SOFTMAXES:
            last: set[int | None] = {1, -1, 0} if self._is_vector(arguments[0]) else {1, -1}
            allowed = {"axis": last, "dim": last, "keepdims": {0, 1}, "keepdim": {0, 1}}
        for option, value in head.options.items():
            if _whole(value) not in allowed.get(option, ()):
                raise self.refused(f"The option {option} of {self.written(head.word)} is not read here.", head.word)

    def _primed(self, node: Node, word: Token) -> Node:
        """Return the derivative of a function where it stands: σ'(z), entry by entry."""
        span = node.span
        one = Number(Fraction(1), span=span)
        if isinstance(node, Call) and len(node.arguments) == 1:
            if node.function == "sigmoid":
                rest = Addition((one, Negation(node, span=span)), span=span)
                return self.new(Product(node, rest, Times.ELEMENTWISE, span=span))
            if node.function == "tanh":
                square = Power(node, Number(Fraction(2), span=span), span=span)
                return self.new(Addition((one, Negation(square, span=span)), span=span))
            if isinstance(node.arguments[0], Name | Entry):
                return self.new(Derivative(node, node.arguments[0], span=span))
        raise self.refused("A derivative written with a prime is read of a name only: write it out.", word)

    # Σ and Π

    def _range_word(self) -> Node | None:
        token = self.now
        after = self.ahead()
        if token.text not in _RANGES or (self._opens(self.at + 1) and token.text not in {"Sigma", "Pi"}):
            return None
        if token.text == "Pi" and not _is(after, "_", "^"):
            return None
        return self._range()

    def _range(self) -> Node:
        token = self.take()
        operator = _RANGES[token.text]
        limits = self._limits()
        if not self._starts_factor(self.now) and not self.sees("-", "+"):
            raise self.refused("What is summed or multiplied is missing here.")
        if not limits:
            return self._range_without_index(operator, token)
        values = self._family(limits)
        if values is not None:
            return self._written_out(operator, limits[0].index, values, token)
        self._bound += [limit.index for limit in limits]
        body = self._term()
        del self._bound[-len(limits) :]
        for limit in reversed(limits):
            body = self.new(
                Range(operator, limit.index, limit.lower, limit.upper, body, limit.excluding, span=self.span(token))
            )
        return body

    def _limits(self) -> list[_Limit]:
        limits: list[_Limit] = []
        upper: Node | None = None
        while self.sees("_", "^"):
            if self.take().text == "^":
                upper = self._exponent()
            elif self.sees("{", "("):
                opened = self.take()
                if self._skip_sequences():
                    continue
                self._limit_clauses(limits)
                self.expect(_CLOSER[opened.text], opened)
            else:
                self._bare_limit(limits)
        for limit in limits:
            limit.lower = limit.lower or next((other.lower for other in limits if other.lower is not None), None)
            if upper is not None:
                limit.upper = upper
                limit.lower = limit.lower or self.new(Number(Fraction(1), span=upper.span))
        if upper is not None and not limits:
            raise self.refused("The index that runs up to this is missing.")
        return limits

    def _skip_sequences(self) -> bool:
        """Skip w_{1:n} ∈ L and w_{1:n}: p(w_{1:n}) is a name of its own that stands for all sequences."""
        end = _end_of_group(self.tokens, self.at - 1)
        inside = self.tokens[self.at : end]
        if len(inside) < 4 or inside[0].kind is not Kind.WORD or not _is(inside[1], "_"):
            return False
        if not any(_is(token, ":") for token in inside):
            return False
        self.at = end + 1
        return True

    def _limit_clauses(self, limits: list[_Limit]) -> None:
        if self.now.text == "substack":
            self.take()
            opened = self.take()
            self._limit_clauses(limits)
            self.expect("}", opened)
            return
        while True:
            self._limit_clause(limits)
            if not any(map(self.skip, (",", "\\\\", ":", ";"))):
                return

    def _limit_clause(self, limits: list[_Limit]) -> None:
        """Read one of i, ij, i = 1, i = 1..n, j ≠ i and 1 ≤ i ≤ n."""
        if self.now.kind is not Kind.WORD or _is(self.ahead(), "+", "-", "*", "<=", "<"):
            limits.append(self._between())
            return
        found = self._index_names()
        if self.sees_word("in") and self.ahead().kind is Kind.WORD:  # w ∈ L: the index runs over all there is
            self.take()
            self.take()
        elif self.skip("="):
            found[-1].lower = self.expression()
            found[-1].upper = self.expression() if self.skip("..") else None
        elif self.skip("!="):
            self._exclude(found[-1])
        elif not (self.sees(",", ":", ";", "\\\\") or self.sees(*_CLOSERS)):
            raise self.refused("What the index runs over is not read here: write i = 1 below and n above.")
        known = {limit.index: limit for limit in limits}
        for limit in found:
            if limit.index in known:
                known[limit.index].excluding = limit.excluding
            else:
                limits.append(limit)

    def _exclude(self, limit: _Limit) -> None:
        other = self._free_expression()
        if limit.index in self._bound and isinstance(other, Name) and other.name not in self._bound:
            limit.index, other = other.name, replace(other, name=limit.index)
        limit.excluding = other

    def _free_expression(self) -> Node:
        self._free += 1
        value = self.expression()
        self._free -= 1
        return value

    def _index_names(self) -> list[_Limit]:
        token = self.take()
        several = 1 < len(token.text) <= 3 and not token.whole and token.text.isalpha()
        return [_Limit(letter) for letter in (token.text if several else [token.text])]

    def _between(self) -> _Limit:
        lower = self.expression()
        strict = self.sees("<")
        if not self.sees("<", "<="):
            raise self.refused("What the index runs over is not read here: write i = 1 below and n above.")
        self.take()
        index = self.take()
        if index.kind is not Kind.WORD or strict or not self.skip("<="):
            raise self.refused("What the index runs over is not read here: write i = 1 below and n above.", index)
        return _Limit(index.text, lower, self.expression())

    def _bare_limit(self, limits: list[_Limit]) -> None:
        """Read an index without braces: sum_i, sum_ij, and sum_i=1^n as people type it."""
        token = self.now
        if token.kind is not Kind.WORD:
            raise self.refused("The index of the sum is missing here.")
        if len(token.text) > 1 and not token.whole and self._split(token.text[1:]) is not None:
            self.cut(self.at, 1)  # sum_ip_i
        limits += self._index_names()
        if self.sees("=") and self.ahead().kind in {Kind.NUMBER, Kind.WORD} and _is(self.ahead(2), "^"):
            self.take()
            limits[-1].lower = self._atom()

    def _range_without_index(self, operator: Big, token: Token) -> Node:
        r"""Read \sum p_i, whose index is the only free one, and \sum p, which is the sum of all entries."""
        body = self._term()
        return self._total(operator, body, self.span(token), token)

    def _total(self, operator: Big, body: Node, span: Span, token: Token) -> Node:
        free = sorted(self._free_letters(body))
        if len(free) > 1:
            raise self.refused(f"It is not clear whether {' or '.join(free)} is the index here.", token)
        if free:
            return self.new(Range(operator, free[0], None, None, body, span=span))
        return self.new(Call("sum" if operator is Big.SUM else "prod", (body,), span=span))

    def _free_letters(self, node: Node) -> set[str]:
        found: set[str] = set()
        if isinstance(node, Entry):
            letters = {index.name for index in node.indices if isinstance(index, Name)}
            found = {letter for letter in letters if not self._knows(letter)}
        inner = found.union(*map(self._free_letters, _children(node)))
        return inner - {node.index} if isinstance(node, Range) else inner

    def _family(self, limits: list[_Limit]) -> Sequence[int] | None:
        """Return the values of an index that numbers names: i in O_i W_i where O1 and O2 are declared."""
        limit = limits[0]
        numbered = [
            token.text
            for at, token in enumerate(self.tokens[self.at : self.at + NODES // 10], self.at)
            if token.text in self.names.numbered
            and _is(self.token(at + 1), "_", "^")
            and self._numbers(at, limit.index)
        ]
        if not numbered or len(limits) > 1 or limit.excluding is not None:
            return None
        last = 1
        while self.names.find(f"{numbered[0]}{last + 1}") is not None:
            last += 1
        first = 1 if limit.lower is None else _whole(limit.lower)
        last = last if limit.upper is None else _whole(limit.upper) or 0
        return range(first, last + 1) if first is not None and first <= last < first + 20 else None

    def _numbers(self, at: int, index: str) -> bool:
        first, end, _ = self.group(at + 2)
        name = self.names.find(self.token(at).text)
        inner = [token.text for token in self.tokens[first:end]]
        bare = first == at + 2 and self.token(first).kind is Kind.WORD and inner[0].startswith(index)
        if inner != [index] and inner[:2] != [index, ","] and not bare:
            return False
        return name is None or self.names.entries(name) > 1

    def _written_out(self, operator: Big, index: str, values: Sequence[int], token: Token) -> Node:
        start, parts, outer = self.at, [], self._fixed
        tokens = list(self.tokens)
        for value in values:
            self.at, self.tokens = start, list(tokens)  # reading cuts tokens
            self._fixed = {**outer, index: value}
            parts.append(self._term())
        self._fixed = outer
        span = self.span(token)
        if operator is Big.SUM:
            return self._added(parts, token)
        whole = parts[0]
        for part in parts[1:]:
            whole = self.new(Product(whole, part, Times.JUXTAPOSED, span=span))
        return whole

    def _comprehension(self, function: str, token: Token) -> Node | None:
        """Read sum(p[i] for i in range(n)). Python counts from 0 and formulas from 1: an entry's index is moved."""
        operator = {"sum": Big.SUM, "prod": Big.PRODUCT}.get(self._function_name(function) or "")
        if operator is None:
            return None
        first = self.at + 1
        listed = _is(self.token(first), "[") and _is(self.token(_end_of_group(self.tokens, first) + 1), ")")
        first += listed
        end = _end_of_group(self.tokens, first - 1)
        word = next((at for at in range(first, end) if self.token(at).text == "for"), None)
        if word is None or word + 2 >= end or self.token(word + 1).kind is not Kind.WORD:
            return None
        index = self.token(word + 1).text
        self.at = first
        self._bound.append(index)
        body = self.expression()
        self._bound.pop()
        if not (self.sees_word("for") and self.ahead(2).text == "in" and self.ahead(3).text in {"range", "arange"}):
            raise self.unexpected()
        self.at += 4
        bounds = self._arguments(_Head("range", token)) if self.sees("(") else ()
        if listed:
            self.expect("]")
        self.expect(")", token)
        return self._over_range(operator, index, bounds, body, token)

    def _over_range(self, operator: Big, index: str, bounds: tuple[Node, ...], body: Node, token: Token) -> Node:
        span = self.span(token)
        if not 1 <= len(bounds) <= 2:
            raise self.refused("A range is read with its end, or with its begin and its end.", token)
        one, zero = Number(Fraction(1), span=span), Number(Fraction(0), span=span)
        begin, stop = bounds if len(bounds) == 2 else (zero, bounds[0])
        used = set(_uses(body, index))
        if len(used) > 1:
            raise self.refused(f"{index} is an index and a value here: write the sum with its bounds.", token)
        if used == {"index"}:
            lower = one if begin == zero else Addition((begin, one), span=span)
            return self.new(Range(operator, index, lower, stop, body, span=span))
        upper = Addition((stop, Negation(one, span=span)), span=span)
        return self.new(Range(operator, index, begin, upper, body, span=span))

    # brackets

    def _bracket(self) -> Node:
        """Read a group; commas and semicolons in it make a matrix of its parts, a comparison a Kronecker delta."""
        if self.sees("{") and self.ahead().kind is Kind.WORD and _is(self.ahead(2), "}"):
            del self.tokens[self.at + 2], self.tokens[self.at]  # {W}_2 is W_2
            return self._word()
        comparison = not self.sees("{") and self._relation_inside()
        opened = self.take()
        if opened.text == "\\{" and self.now.text == "begin matrix":
            return self._braced_cases()
        listed = opened.text == "[" and self._is_list_of_rows()
        self._open.append(opened.text + "|" * self._one_bar_inside(opened))
        if comparison:
            value = self.delta_of(self._free_comparison())
            self._open.pop()
            self.expect(_CLOSER[opened.text], opened)
            return value
        rows = [[self.expression()]]
        if opened.text == "{" and self.now.kind is Kind.COMMAND:
            rows = [[self._infix_fraction(rows[0][0], opened)]]
        while opened.text != "{" and self.sees(",", ";", "\\\\", "|"):
            if self.take().text in {",", "|"}:
                rows[-1].append(self.expression())
            else:
                rows.append([self.expression()])
        self._open.pop()
        self.expect(_CLOSER[opened.text], opened)
        if len(rows) == len(rows[0]) == 1:
            return self._side_by_side(rows[0][0], opened) if opened.text == "[" else rows[0][0]
        if len(rows) == 1 and (listed or all(isinstance(part, Block) and len(part.rows) == 1 for part in rows[0])):
            rows = [self._row_of(part) for part in rows[0]]
        return self.new(Block(tuple(map(tuple, rows)), span=self.span(opened)))

    def _is_list_of_rows(self) -> bool:
        """Return whether all parts of the bracket here are in brackets themselves: [[A, B], [C, D]], [[A], [B]]."""
        end = _end_of_group(self.tokens, self.at - 1)
        at = self.at
        while _is(self.token(at), "["):
            at = _end_of_group(self.tokens, at) + 1
            if at == end:
                return True
            if not _is(self.token(at), ","):
                return False
            at += 1
        return False

    @staticmethod
    def _row_of(part: Node) -> list[Node]:
        return list(part.rows[0]) if isinstance(part, Block) and len(part.rows) == 1 else [part]

    def _one_bar_inside(self, opened: Token) -> bool:
        """Return whether a bar stands between the parts of [A | B], and not around one."""
        inner = self.tokens[self.at : _end_of_group(self.tokens, self.at - 1)]
        return opened.text == "[" and sum(_is(token, "|") for token in inner) == 1

    def _side_by_side(self, value: Node, opened: Token) -> Node:
        """Return [O1 O2] as a matrix of two parts: names of equal height, with a space or no product between them."""
        parts: list[Node] = []
        rest = value
        while isinstance(rest, Product) and rest.times is Times.JUXTAPOSED:
            parts.insert(0, rest.right)
            rest = rest.left
        parts.insert(0, rest)
        shapes = [shape for part in parts if (shape := self._shape_of(part)) is not None]
        if len(parts) == 1 or len(shapes) < len(parts):
            return value
        between = [self.text[a.span.end : b.span.start] for a, b in pairwise(parts)]
        products = all(a[1] == b[0] for a, b in pairwise(shapes))
        spaced = all(gap != "" and not gap.strip() for gap in between)
        if len({shape[0] for shape in shapes}) > 1 or (products and not spaced):
            return value
        return self.new(Block((tuple(parts),), span=self.span(opened)))

    def _shape_of(self, node: Node) -> tuple[sp.Expr, ...] | None:
        """Return rows and columns of a declared array or its transpose, and nothing for anything else."""
        name = node.value if isinstance(node, Transposed) else node
        if not isinstance(name, Name) or not self.names.is_array(name.name):
            return None
        shape = (*self.names.shape(name.name), sp.Integer(1))[:2]
        return shape[::-1] if isinstance(node, Transposed) else shape

    def delta_of(self, comparison: Comparison) -> Node:
        if self._is_array(comparison.left) or self._is_array(comparison.right):
            raise self.refused("An equals sign has no meaning inside these brackets.")
        span = comparison.span
        delta = self.new(Call("delta", (comparison.left, comparison.right), span=span))
        if comparison.relation == "=":
            return delta
        one = Number(Fraction(1), span=span)
        return self.new(Addition((one, Negation(delta, span=span)), span=span))

    def _infix_fraction(self, left: Node, opened: Token) -> Node:
        r"""Read {n \choose j} and {a \over b}."""
        command = self.take()
        if command.text not in {"choose", "over"}:
            self.at -= 1
            raise self.unexpected()
        right = self.expression()
        if command.text == "choose":
            return self.new(Call("binomial", (left, right), span=self.span(opened)))
        return self.new(Quotient(left, right, span=self.span(opened)))

    def _bars(self) -> Node:
        """Read |x| and ‖x‖; bars around a vector are its norm too."""
        rest = self.tokens[self.at + 1 :]
        if self.sees("‖") and self.written(self.now) == "||" and not any(_is(token, "‖") for token in rest):
            self._halve_bars()  # ||x| - 1|
        opened = self.take()
        self._open.append(opened.text)
        value = self.expression()
        self._open.pop()
        if opened.text == "|" and self.sees("‖"):  # |x||y|
            self._halve_bars()
        self.expect(_CLOSER[opened.text], opened)
        if opened.text == "‖" and self.sees("_"):
            first, end, after = self.group(self.at + 1)
            if _flat(self.tokens[first:end]) not in {"2", "F"}:
                raise self.refused("Only the Euclidean norm is read here.")
            self.at = after
        function = "abs" if opened.text == "|" and not self._is_array(value) else "norm"
        return self.new(Call(function, (value,), span=self.span(opened)))

    def _halve_bars(self) -> None:
        bar = replace(self.now, text="|")
        self.tokens[self.at : self.at + 1] = [replace(bar, end=bar.end - 1), replace(bar, start=bar.end - 1)]

    def _angles(self) -> Node:
        """Read ⟨x, y⟩."""
        opened = self.take()
        self._open.append(opened.text)
        left = self.expression()
        if not self.skip(",") and not self.skip("|"):
            raise self.unexpected()
        right = self.expression()
        self._open.pop()
        self.expect(_CLOSER[opened.text], opened)
        return self.new(Call("dot", (left, right), span=self.span(opened)))

    # fractions, roots, tables

    def _argument(self) -> Node:
        r"""Read an argument of \frac and the like: a group, or a single sign (\frac12)."""
        if self.sees("{"):
            return self._inside(self.take())
        token = self.now
        several = token.text.isdigit() if token.kind is Kind.NUMBER else token.kind is Kind.WORD and not token.whole
        if several and len(token.text) > 1:
            self.cut(self.at, 1)
        return self._atom()

    def _fraction(self) -> Node:
        derivative = self._derivative_fraction()
        if derivative is not None:
            return derivative
        token = self.take()
        above = self._argument()
        below = self._argument()
        return self.new(Quotient(above, below, span=self.span(token)))

    def _binomial(self) -> Node:
        token = self.take()
        above = self._argument()
        below = self._argument()
        return self.new(Call("binomial", (above, below), span=self.span(token)))

    def _root(self) -> Node:
        token = self.take()
        degree = self._inside(self.take()) if self.sees("[") else None
        if degree is None and self.sees("("):
            return self._call("sqrt", token)
        value = self._argument()
        if degree is None:
            return self.new(Call("sqrt", (value,), span=self.span(token)))
        one = self.new(Number(Fraction(1), span=degree.span))
        exponent = self.new(Quotient(one, degree, span=degree.span))
        return self.new(Power(value, exponent, span=self.span(token)))

    def _root_sign(self) -> Node:
        return self._call("sqrt", self.take())

    def _matrix(self) -> Node:
        opened = self.take()
        rows = [[self.expression()]]
        while self.sees("&", "\\\\"):
            if self.take().text == "&":
                rows[-1].append(self.expression())
            elif self.now.text != "end matrix":
                rows.append([self.expression()])
        self._end_table("end matrix", opened)
        if len(rows) == len(rows[0]) == 1:
            return rows[0][0]
        return self.new(Block(tuple(map(tuple, rows)), span=self.span(opened)))

    def _end_table(self, end: str, opened: Token) -> None:
        if self.now.kind is not Kind.COMMAND or self.now.text != end:
            raise self.refused("This table is not closed.", opened) if self.now.kind is Kind.END else self.unexpected()
        self.take()

    def _cases(self) -> Node:
        opened = self.take()
        return self._branches(opened, "end cases")

    def _braced_cases(self) -> Node:
        opened = self.take()
        cases = self._branches(opened, "end matrix")
        self.skip("\\}")
        return cases

    def _branches(self, opened: Token, end: str) -> Node:
        branches: list[tuple[Node, Comparison | None]] = []
        while True:
            value = self.expression()
            branches.append((value, self._condition()))
            while self.skip(",") or self.skip(".") or self.skip(";"):
                pass
            if not self.skip("\\\\") or (self.now.kind is Kind.COMMAND and self.now.text == end):
                break
        self._end_table(end, opened)
        return self.new(Cases(tuple(branches), span=self.span(opened)))

    def _condition(self) -> Comparison | None:
        while any(map(self.skip, (",", "&", ";", ":"))):
            pass
        if self.sees_word("otherwise", "else", "sonst"):
            self.take()
            return None
        if self.sees_word("if", "for", "when", "where"):
            self.take()
        return self._free_comparison()

    # derivatives

    def _derivative_fraction(self) -> Node | None:
        r"""Read \frac{\partial L}{\partial x} and \frac{d}{dx} f."""
        start = self.now
        if not _is(self.ahead(), "{"):
            return None
        middle = _end_of_group(self.tokens, self.at + 1)
        if not _is(self.token(middle + 1), "{"):
            return None
        end = _end_of_group(self.tokens, middle + 1)
        if not _is(self.token(end), "}") or not self._is_derivative(self.at + 2, middle, middle + 2, end):
            return None
        name = self._named_derivative(self.tokens[self.at + 2 : middle], self.tokens[middle + 2 : end])
        if name is not None:
            self.at = end + 1
            return self.new(Name(name, span=self.span(start)))
        self.at += 2
        of = self._derived("}")
        self.expect("}")
        self.expect("{")
        by = self._derived_by()
        self.expect("}")
        return self._derivative(of, by, start)

    def _is_derivative(self, first: int, middle: int, second: int, end: int) -> bool:
        return self._has_differential(first, middle, alone=True) and self._has_differential(second, end, alone=False)

    def _has_differential(self, first: int, end: int, *, alone: bool) -> bool:
        """Return whether these tokens begin with the d or ∂ of a derivative."""
        if first >= end:
            return False
        token = self.token(first)
        if _is(token, "∂"):
            return True
        if token.kind is not Kind.WORD or token.whole or not token.text.startswith("d"):
            return False
        if token.text == "d":
            return (alone and end == first + 1) or (
                first + 1 < end and (self.token(first + 1).kind is Kind.WORD or _is(self.token(first + 1), "("))
            )
        rest = token.text[1:]
        after = self.tokens[first + 1 : end]
        flat = _flat(self.tokens[first:end])[1:]
        known = self._knows(rest) or self.names.find(flat) is not None or self._is_function(rest)
        known = known or any(flat.startswith(part) for pair in self.names.derivatives for part in pair)
        return self.names.find(token.text) is None and (known or (rest in self.names.columns and bool(after)))

    def _named_derivative(self, above: Sequence[Token], below: Sequence[Token]) -> str | None:
        return self.names.derivatives.get((_differential(above), _differential(below)))

    def _skip_differential(self) -> None:
        if self.now.kind is Kind.WORD and len(self.now.text) > 1:
            self.cut(self.at, 1)
        self.take()

    def _derived(self, closer: str) -> Node | str | None:
        """Read what is derived: nothing if it follows later, a name if it is a function without its argument."""
        self._skip_differential()
        if self.sees(closer):
            return None
        name = self.names.find(self.now.text) if self.now.kind is Kind.WORD else None
        if name is not None and self.names.has(name, "function") and _is(self.ahead(), closer):
            self.take()
            return self.names.function(name)
        return self.expression() if closer == "}" else self._atom()

    def _derived_by(self) -> Node:
        token = self.now
        self._skip_differential()
        by = self._atom()
        if not isinstance(by, Name | Entry):
            raise self.refused("A derivative is taken by a name or an entry.", token)
        return by

    def _derivative(self, of: Node | str | None, by: Node, start: Token) -> Node:
        if of is None:
            of = self._term()  # d/dx x exp(x) is of the product
        elif isinstance(of, str):
            of = self.new(Call(of, (by,), span=self.span(start)))
        return self.new(Derivative(of, by, span=self.span(start)))

    def _derivative_word(self) -> Node | None:
        """Read dL/dx, d/dx f and ∂L/∂x on one line."""
        start = self.now
        slash = self._slash_after_differential()
        if slash is None:
            return None
        end = slash + 2 + _is(self.token(slash + 1), "∂")
        if self.token(slash + 1).text == "d" and self.token(slash + 2).kind is Kind.WORD:
            end += 1
        end = min(end, len(self.tokens) - 1)
        if _is(self.token(end), "_"):
            end = self.group(end + 1)[2]
        if not self._is_derivative(self.at, slash, slash + 1, end):
            return None
        name = self._named_derivative(self.tokens[self.at : slash], self.tokens[slash + 1 : end])
        if name is not None:
            self.at = end
            return self.new(Name(name, span=self.span(start)))
        of = self._derived("/")
        self.expect("/")
        return self._derivative(of, self._derived_by(), start)

    def _slash_after_differential(self) -> int | None:
        """Return where the slash of dL/dx stands: behind one name, its index and its argument."""
        token = self.now
        if not (_is(token, "∂") or (token.kind is Kind.WORD and token.text.startswith("d") and not token.whole)):
            return None
        at = self.at + 1
        if token.text in {"∂", "d"} and not _is(self.token(at), "/"):
            if token.text == "d" and self._knows("d"):
                return None
            at = _end_of_group(self.tokens, at) + 1 if self._opens(at) else at + 1
        while at < len(self.tokens) - 1 and _is(self.token(at), "_", "("):
            at = self.group(at + 1)[2] if _is(self.token(at), "_") else _end_of_group(self.tokens, at) + 1
        return at if at < len(self.tokens) - 2 and _is(self.token(at), "/") else None

    def _partial(self) -> Node:
        derivative = self._derivative_word()
        if derivative is None:
            raise self.refused("A derivative is read as ∂L/∂x.")
        return derivative

    def _gradient(self) -> Node:
        r"""Read \nabla_x L."""
        start = self.take()
        if not self.skip("_"):
            raise self.refused("A gradient is read with what it is taken by: ∇_x L.")
        by = self._argument()
        if not isinstance(by, Name | Entry):
            raise self.refused("A gradient is taken by a name.", start)
        return self._derivative(self.factor(), by, start)  # ∇L · v is of L alone

    # the few letters that mean something where they are not declared

    def _constant(self) -> Node | None:
        token = self.now
        if token.text not in {"e", "pi"}:
            return None
        if token.text == "pi" and not token.whole and self._knows("p") and self._knows("i"):
            raise self.refused("This is π or p times i: write \\pi, or p_i for an entry.")
        if _is(self.ahead(), "_"):
            first, end, after = self.group(self.at + 2)
            name = self.names.hot.get(_flat(self.tokens[first:end]))
            if name is None:
                return None
            self.at = after  # e_k, the unit vector that y is
            return self.new(Name(name, span=self.span(token)))
        self.take()
        return self.new(Name(token.text, span=self.span(token)))

    def _unit_matrix(self) -> Node | None:
        """Read I_n, I_ij, I[i = j], and I where the question says how large it is."""
        token = self.now
        if token.text != "I":
            return None
        if _is(self.ahead(), "_"):
            first, end, after = self.group(self.at + 2)
            size = self.names.find(_flat(self.tokens[first:end]))
            if size is None or self._is_index(_flat(self.tokens[first:end])):
                self.take()
                return self._delta(token)
            self.at = after
            return self.new(Call("eye", (Name(size, span=self.span(token)),), span=self.span(token)))
        if self._opens(self.at + 1) and self._relation_between(self.at + 2, _end_of_group(self.tokens, self.at + 1)):
            self.take()
            return self._bracket()
        known = self.names.size_of_identity()
        if known is None:
            return None
        self.take()
        return self.new(Call("eye", (self.size(known, token),), span=self.span(token)))

    # The readings of a word, in order: the first that applies is it.
    _readings: ClassVar[Sequence[Callable[[_Reader], Node | None]]] = (
        _spelled,
        _module,
        _index,
        _derivative_word,
        _rowwise,
        _declared,
        _range_word,
        _function,
        _unit_matrix,
        _constant,
        _free_index,
    )

    _atoms: ClassVar[Mapping[str, Callable[[_Reader], Node]]] = {
        Kind.NUMBER: _number,
        Kind.WORD: _word,
        **dict.fromkeys(_OPENERS, _bracket),
        **dict.fromkeys(("|", "‖"), _bars),
        **dict.fromkeys(("⟨", "<"), _angles),
        **dict.fromkeys(("sum", "prod"), _range),
        "frac": _fraction,
        "binom": _binomial,
        "sqrt": _root,
        "√": _root_sign,
        "∂": _partial,
        "nabla": _gradient,
        "begin cases": _cases,
        "begin matrix": _matrix,
    }


def _whole(node: Node) -> int | None:
    if isinstance(node, Negation):
        value = _whole(node.value)
        return None if value is None else -value
    return int(node.value) if isinstance(node, Number) and node.value.denominator == 1 else None


def _uses(node: Node, index: str) -> Iterator[Literal["index", "value"]]:
    """Say how a formula uses `index`: as the index of an entry, or as a value."""
    if node == Name(index):
        yield "value"
    for part in _children(node):
        if isinstance(node, Entry) and part == Name(index):
            yield "index"
        else:
            yield from _uses(part, index)


# ── functions that are another way to write something ───────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Written:
    """A call as it was written, for what it is rewritten to."""

    reader: _Reader
    head: _Head
    arguments: tuple[Node, ...]
    span: Span

    @property
    def first(self) -> Node:
        return self.arguments[0]

    def number(self, value: int) -> Number:
        return Number(Fraction(value), span=self.span)

    def call(self, function: str, *arguments: Node, base: Node | None = None) -> Node:
        return Call(function, arguments, base, span=self.span)

    def negative(self, value: Node) -> Node:
        return Negation(value, span=self.span)

    def plus(self, *terms: Node) -> Node:
        return Addition(terms, span=self.span)

    def power(self, base: Node, exponent: Node) -> Node:
        return Power(base, exponent, span=self.span)

    def over(self, above: Node, below: Node) -> Node:
        return Quotient(above, below, span=self.span)

    def times(self, times: Times) -> Node:
        return Product(self.arguments[0], self.arguments[1], times, span=self.span)

    def refused(self, message: str) -> Unreadable:
        return self.reader.refused(message, self.head.word)


def _length(written: _Written) -> Node:
    name = written.first.name if isinstance(written.first, Name) else ""
    shape = written.reader.names.shape(name)
    if not shape:
        raise written.refused("The length of this is not declared.")
    return written.reader.size(shape[0], written.head.word)


def _parts(written: _Written) -> tuple[Node, ...]:
    if isinstance(written.first, Block) and len(written.arguments) == 1 and len(written.first.rows) == 1:
        return written.first.rows[0]
    return written.arguments


def _concatenated(written: _Written) -> Node:
    axis = written.head.options.get("axis", written.head.options.get("dim"))
    if isinstance(written.first, Block) and len(written.arguments) == 2:
        axis, written.arguments = written.arguments[1], written.arguments[:1]
    parts = _parts(written)
    if axis is None:
        return written.call("concat", *parts)
    if _whole(axis) not in {0, 1, -1}:
        raise written.refused("Parts are joined along axis 0, 1 or -1.")
    return _stacked(written) if _whole(axis) == 0 else Block((parts,), span=written.span)


def _stacked(written: _Written) -> Node:
    return Block(tuple((part,) for part in _parts(written)), span=written.span)


def _pseudoinverse(written: _Written) -> Node:
    """Return the pseudo-inverse where it is known without computing: of orthonormal columns it is the transpose."""
    if not written.reader.is_frame(written.first):
        raise written.refused("A pseudo-inverse is read of declared orthonormal columns only.")
    return Transposed(written.first, span=written.span)


def _transposed(written: _Written) -> Node:
    """Read W.transpose(0, 1) and K.transpose(-2, -1) as Wᵀ and Kᵀ: the two axes of a matrix change places."""
    axes = [_whole(axis) for axis in written.arguments[1:]]
    swapped = ({0, 1}, {-2, -1}, {0, -1}, {-2, 1})
    if axes and (set(axes) not in swapped or (written.head.function == "permute" and axes != [1, 0])):
        raise written.refused("The axes of a transpose are 0 and 1.")
    return Transposed(written.first, span=written.span)


def _where(written: _Written) -> Node:
    condition, value, other = written.arguments
    if not isinstance(condition, Comparison):
        raise written.refused("The first argument of where is a comparison.")
    return Cases(((value, condition), (other, None)), span=written.span)


def _integer(written: _Written) -> Node:
    if isinstance(written.first, Comparison):
        return written.reader.delta_of(written.first)
    return written.first


_REWRITTEN: dict[str, Callable[[_Written], Node]] = {
    "transpose": _transposed,
    "swapaxes": _transposed,
    "permute": _transposed,
    "log2": lambda w: w.call("log", w.first, base=w.number(2)),
    "ld": lambda w: w.call("log", w.first, base=w.number(2)),
    "lb": lambda w: w.call("log", w.first, base=w.number(2)),
    "log10": lambda w: w.call("log", w.first, base=w.number(10)),
    "log1p": lambda w: w.call("log", w.plus(w.number(1), w.first)),
    "expm1": lambda w: w.plus(w.call("exp", w.first), w.negative(w.number(1))),
    "exp2": lambda w: w.power(w.number(2), w.first),
    "cbrt": lambda w: w.power(w.first, w.over(w.number(1), w.number(3))),
    "square": lambda w: w.power(w.first, w.number(2)),
    "power": lambda w: w.power(*w.arguments),
    "pow": lambda w: w.power(*w.arguments),
    "reciprocal": lambda w: w.over(w.number(1), w.first),
    "negative": lambda w: w.negative(w.first),
    "std": lambda w: w.call("sqrt", w.call("var", w.first)),
    "multiply": lambda w: w.times(Times.STAR),
    "mul": lambda w: w.times(Times.STAR),
    "matmul": lambda w: w.times(Times.MATRIX),
    "mm": lambda w: w.times(Times.MATRIX),
    "pinv": _pseudoinverse,
    "divide": lambda w: w.over(*w.arguments),
    "solve": lambda w: Product(w.call("inv", w.first), w.arguments[1], Times.MATRIX, span=w.span),
    "add": lambda w: w.plus(*w.arguments),
    "subtract": lambda w: w.plus(w.arguments[0], w.negative(w.arguments[1])),
    "len": _length,
    "hstack": lambda w: Block((_parts(w),), span=w.span),
    "vstack": _stacked,
    "concatenate": _concatenated,
    "cat": _concatenated,
    "array": lambda w: w.first,
    "block": lambda w: w.first,
    "where": _where,
    "int": _integer,
}
