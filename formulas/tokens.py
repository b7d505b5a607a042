r"""Cut a formula into tokens: plain text, NumPy code, Unicode and LaTeX become one alphabet.

`\hat{\boldsymbol y}`, `ŷ` and `yhat` are one word, `**` and `^` one mark, `σ²` is `sigma ^ { 2 }`. What only looks
(spaces, fonts, sizes of brackets) is taken off here, and nothing else is: a character or a command without a
meaning stays, and the reader refuses it at its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

LENGTH = 4_000  # characters in a text
TOKENS = 2_000  # in a text
NESTING = 60  # brackets within brackets
DIGITS = 40  # in one number
SHOWN = 60  # characters of the text in a message


class Unreadable(Exception):
    r"""A text that is no formula of its question: what is wrong, and where.

    >>> print(Unreadable("The bracket is not closed.", 4, "exp((x)"))
    The bracket is not closed.
      exp((x)
          ^
    """

    def __init__(self, message: str, position: int, text: str) -> None:
        super().__init__(message, position, text)
        self.message = message
        self.position = position
        self.text = text

    def __str__(self) -> str:
        line, column = _line_around(self.text, self.position)
        return f"{self.message}\n  {line}\n  {' ' * column}^"


def _line_around(text: str, position: int) -> tuple[str, int]:
    """Return what stands around `position` on its line, and the column of `position` in it."""
    start = text.rfind("\n", 0, position) + 1
    stop = text.find("\n", position)
    line = text[start : len(text) if stop < 0 else stop]
    column = position - start
    first = max(0, min(column - SHOWN // 2, len(line) - SHOWN))
    shown = line[first : first + SHOWN]
    return "".join(sign if sign.isprintable() else " " for sign in shown), column - first


class Kind(StrEnum):
    """What a token is."""

    NUMBER = "number"
    WORD = "word"  # a name, of a symbol or a function
    MARK = "mark"  # an operator, a bracket, a relation
    COMMAND = "command"  # frac, sqrt, binom, sum, prod, nabla, choose, over, begin …, end …
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One token and where it stood."""

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool = False  # white space stood before it
    whole: bool = False  # \mu, μ and ŷ are one letter: never cut into several names
    font: str = ""  # the only fonts that mean something: double (𝔼, 𝟙), script (𝒪), bold (𝟏)

    def __str__(self) -> str:
        return self.text

    @property
    def is_letter(self) -> bool:
        """Return whether this can be an index: one letter, Latin or Greek."""
        return self.kind is Kind.WORD and (len(self.text) == 1 or (self.whole and self.text in LETTERS))


_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ο": "omicron", "π": "pi", "ρ": "rho",
    "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
_GREEK |= {letter.upper(): name.capitalize() for letter, name in _GREEK.items()} | {"ς": "sigma", "∆": "Delta"}
# One spelling for what has several: the key a name is looked up by.
_SPELLING = {"lambda": "lam", "varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "ell": "l"}
LETTERS = frozenset(_SPELLING.get(name, name) for name in _GREEK.values())

_ACCENTS = {
    "hat": "hat", "widehat": "hat", "tilde": "tilde", "widetilde": "tilde", "bar": "bar", "overline": "bar",
    "vec": "", "underline": "", "overrightarrow": "",
}  # fmt: skip
_COMBINING = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u20d7": ""}
_FONTS = {
    "mathbb": "double", "mathds": "double", "mathbbm": "double", "mathcal": "script", "mathscr": "script",
    "cal": "script", "mathbf": "bold", "boldsymbol": "bold", "bm": "bold", "pmb": "bold", "bf": "bold",
    "textbf": "bold", "mathrm": "", "rm": "", "text": "", "textrm": "", "textit": "", "textsf": "",
    "textnormal": "", "texttt": "",
    "mathit": "", "mathsf": "", "mathtt": "", "mathnormal": "", "mathfrak": "", "mbox": "", "operatorname": "",
    "operatorname*": "", "mathop": "",
}  # fmt: skip
_WITHOUT_MEANING = frozenset(
    {
        ",", ";", ":", "!", ">", " ", "\n", "\t", "quad", "qquad", "thinspace", "medspace", "thickspace", "enspace",
        "negthinspace", "displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "nonumber", "notag", "hline",
        "mathstrut", "allowbreak", "left", "right", "middle",
        *(size + side for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")),
    }
)  # fmt: skip
_SIZES = frozenset({"left", "right", "middle"})
_COMMANDS = {
    "frac": "frac", "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "nicefrac": "frac", "sfrac": "frac",
    "sqrt": "sqrt", "binom": "binom", "dbinom": "binom", "tbinom": "binom", "sum": "sum", "prod": "prod",
    "choose": "choose", "over": "over", "nabla": "nabla", "substack": "substack",
}  # fmt: skip
_MARK_COMMANDS = {
    "cdot": "×", "times": "×", "odot": "∘", "circ": "∘", "ast": "*", "star": "*", "div": "/", "bullet": "·",
    "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=", "ne": "!=", "neq": "!=",
    "lt": "<", "gt": ">", "top": "⊤", "intercal": "⊤", "prime": "'", "partial": "∂", "langle": "⟨", "rangle": "⟩",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "|": "‖", "Vert": "‖", "lVert": "‖", "rVert": "‖",
    "{": "\\{", "}": "\\}", "lbrace": "\\{", "rbrace": "\\}", "lbrack": "[", "rbrack": "]", "lparen": "(",
    "rparen": ")", "(": "$", ")": "$", "[": "$", "]": "$", "\\": "\\\\", "cr": "\\\\", "newline": "\\\\",
    "oplus": "⊕", "_": "_", "&": "&", "colon": ":", "infty": "∞", "dots": "…", "ldots": "…", "cdots": "…",
    "dotsc": "…", "dotsb": "…", "approx": "≈",
}  # fmt: skip
_MARKS = {
    "**": "^", "==": "=", "!=": "!=", "<=": "<=", ">=": ">=", "||": "‖", ".*": "∘", "./": "/", ".^": "^", "...": "…",
    "..": "..", "$$": "$", ":=": "=",
}  # fmt: skip
_MARKS |= {mark: mark for mark in "+-*/@^_()[]{}|,;:.!'=<>&$"}
_MARKS |= {
    "−": "-", "–": "-", "—": "-", "‒": "-", "‐": "-", "∗": "*", "⋆": "*", "×": "×", "·": "·", "⋅": "·", "•": "·",
    "∙": "·", "∘": "∘", "⊙": "∘", "○": "∘", "◦": "∘", "÷": "/", "∕": "/", "⁄": "/", "≤": "<=", "⩽": "<=", "≥": ">=",
    "⩾": ">=",
    "≠": "!=", "‖": "‖", "∥": "‖", "∣": "|", "⟨": "⟨", "〈": "⟨", "⟩": "⟩", "〉": "⟩", "⊤": "⊤", "′": "'", "’": "'",
    "∂": "∂", "√": "√", "∞": "∞", "…": "…", "⋯": "…", "⊕": "⊕", "^": "^", "≈": "≈",
}  # fmt: skip
_SIGNS = {"∑": "sum", "∏": "prod", "∇": "nabla"}
_DOUBLE = {"𝔼": "E", "𝟙": "1", "𝕍": "V", "𝕀": "I"}
_SCRIPT = {"𝒪": "O", "𝓞": "O"}

_NUMBER = re.compile(r"(?:\d+\.\d+|\d+\.(?![A-Za-z.*/^'])|\d+|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_COMMAND = re.compile(r"\\(?:([A-Za-z]+\*?)|(.))", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+)\*?\}(?:(?<=array\})\s*\{[lcr|\s]*\})?")
_LINE_SKIP = re.compile(r"\s*\[-?\d*\.?\d+\s*(?:pt|em|ex|mm|cm)\]")  # \\[4pt]
_TABLES = frozenset({"cases", "array", "matrix", "bmatrix", "pmatrix", "Bmatrix", "smallmatrix"})
_LINES = frozenset({"align", "aligned", "alignat", "split", "equation", "gather", "gathered", "displaymath", "math"})
_INVISIBLE = frozenset("\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\ufe0e\ufe0f~")


def tokens_of(text: str) -> list[Token]:
    r"""Return the tokens of `text`, the last an END.

    >>> [str(token) for token in tokens_of(r"$\hat{\boldsymbol y}_i^{2}$")]
    ['yhat', '_', 'i', '^', '{', '2', '}', '']
    """
    if len(text) > LENGTH:
        raise Unreadable(f"The text has {len(text):,} characters; a formula has at most {LENGTH:,}.", LENGTH, text)
    _refuse_nesting(text)
    found = list(islice(_Scanner(text).tokens(), TOKENS + 1))
    if len(found) > TOKENS:
        raise Unreadable(f"The formula has more than {TOKENS:,} parts.", found[-1].start, text)
    found = _without_delimiters(_dressed(found, text))
    end = found[-1].end if found else len(text)
    return [*found, Token(Kind.END, "", end, end)]


def word_key(text: str) -> str:
    """Return how a word is looked up: its one spelling.

    >>> word_key("lambda")
    'lam'
    """
    return _SPELLING.get(text, text)


def _refuse_nesting(text: str) -> None:
    """Refuse brackets nested too deeply before anything recurses into them."""
    depth = 0
    for position, sign in enumerate(text):
        if sign in "([{":
            depth += 1
            if depth > NESTING:
                raise Unreadable(f"Brackets are nested more than {NESTING} deep here.", position, text)
        elif sign in ")]}":
            depth = max(0, depth - 1)


class _Scanner:
    """Walks through the text once, from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._spaced = False
        self._tables: list[str] = []  # the LaTeX environments we are in: `&` and `\\` mean something in tables only

    def tokens(self) -> Iterator[Token]:
        while self._at < len(self._text):
            before = self._at
            if self._text[before].isspace() or self._text[before] in _INVISIBLE:
                self._at += 1
                self._spaced = True
                continue
            for token in self._next():
                if token.text:
                    yield token
                self._spaced = not token.text

    def _next(self) -> list[Token]:
        sign = self._text[self._at]
        if sign == "\\":
            return self._command()
        if (number := _NUMBER.match(self._text, self._at)) is not None:
            return [self._number(number)]
        if (word := _WORD.match(self._text, self._at)) is not None:
            return self._word(word)
        mark = self._mark()
        return [mark] if mark is not None else self._unicode(sign)

    def _token(self, kind: Kind, text: str, end: int, *, whole: bool = False, font: str = "") -> Token:
        start, self._at = self._at, end
        return Token(kind, text, start, end, self._spaced, whole, font)

    def _number(self, match: re.Match[str]) -> Token:
        digits, _, power = match.group().lower().partition("e")
        if sum(sign.isdigit() for sign in digits) > DIGITS:
            raise self._refused(f"A number may have at most {DIGITS} digits.")
        if power and (len(power) > 4 or abs(int(power)) > DIGITS):
            raise self._refused(f"A power of ten in a number may be at most {DIGITS}.")
        return self._token(Kind.NUMBER, match.group(), match.end())

    def _word(self, match: re.Match[str]) -> list[Token]:
        text, end = match.group(), match.end()
        accent = _COMBINING.get(self._text[end : end + 1])
        if accent is None:
            return [self._token(Kind.WORD, word_key(text), end)]
        # The accent stands over the last letter only: xŷ is x and ŷ.
        before = [self._token(Kind.WORD, word_key(text[:-1]), end - 1)] if len(text) > 1 else []
        return [*before, self._token(Kind.WORD, text[-1] + accent, end + 1, whole=True)]

    def _mark(self) -> Token | None:
        for width in (3, 2, 1):
            written = self._text[self._at : self._at + width]
            if len(written) == width and written in _MARKS:
                return self._meant(_MARKS[written], self._at + width)
        return None

    def _meant(self, mark: str, end: int) -> Token:
        if mark == "∞":
            raise self._refused("Infinity is no number a formula can have.")
        if mark == "…":
            raise self._refused("Dots leave terms to be guessed: write the sum or the product with its bounds.")
        if mark == "&" and not self._tables:
            return self._token(Kind.MARK, "", end)
        return self._token(Kind.MARK, mark, end)

    def _unicode(self, sign: str) -> list[Token]:
        end = self._at + 1
        form, _, points = unicodedata.decomposition(sign).partition(" ")
        if sign in _GREEK:
            return [self._letter(_GREEK[sign], end)]
        if sign in _SIGNS:
            return [self._token(Kind.COMMAND, _SIGNS[sign], end)]
        if sign in _DOUBLE or sign in _SCRIPT:
            text = _DOUBLE.get(sign) or _SCRIPT[sign]
            font = "double" if sign in _DOUBLE else "script"
            return [self._token(Kind.NUMBER if text.isdigit() else Kind.WORD, text, end, whole=True, font=font)]
        if form in {"<super>", "<sub>"}:
            return self._raised(form)
        if form == "<fraction>":
            above, below = "".join(chr(int(point, 16)) for point in points.split()).split("⁄")
            return self._part_of_one(above, below)
        return self._composed(sign)

    def _letter(self, name: str, end: int) -> Token:
        accent = _COMBINING.get(self._text[end : end + 1])
        return self._token(Kind.WORD, word_key(name) + (accent or ""), end if accent is None else end + 1, whole=True)

    def _raised(self, form: str) -> list[Token]:
        """Read a run of raised or lowered characters as a group behind `^` or `_`; ᵀ is a group of its own."""
        mark = "^" if form == "<super>" else "_"
        opened = self._token(Kind.MARK, "{", self._at)
        inner: list[Token] = []
        while (plain := self._plain(form)) and not (plain == "T" and inner):
            inner.append(self._small(plain, inner))
            if plain == "T":
                break
        closed = replace(opened, text="}", start=self._at, end=self._at)
        return [replace(opened, text=mark), opened, *inner, closed]

    def _plain(self, form: str) -> str:
        """Return the character that is raised or lowered here, an empty text if none is."""
        kind, _, points = unicodedata.decomposition(self._text[self._at : self._at + 1] or " ").partition(" ")
        return chr(int(points, 16)) if kind == form and " " not in points else ""

    def _small(self, plain: str, inner: list[Token]) -> Token:
        end = self._at + 1
        if plain.isdigit() and inner and inner[-1].kind is Kind.NUMBER:
            digits = inner.pop()
            self._at = digits.start
            if len(digits.text) >= DIGITS:
                raise self._refused(f"A number may have at most {DIGITS} digits.")
            return self._token(Kind.NUMBER, digits.text + plain, end)
        if plain.isdigit():
            return self._token(Kind.NUMBER, plain, end)
        if plain in _MARKS:
            return self._token(Kind.MARK, _MARKS[plain], end)
        return self._token(Kind.WORD, word_key(_GREEK.get(plain, plain)), end, whole=True)

    def _part_of_one(self, above: str, below: str) -> list[Token]:
        one = self._token(Kind.NUMBER, above, self._at + 1)
        bracket = replace(one, kind=Kind.MARK, text="(")
        return [bracket, one, replace(bracket, text="/"), replace(one, text=below), replace(bracket, text=")")]

    def _composed(self, sign: str) -> list[Token]:
        """Read ŷ as y with its accent, and other forms of a letter or a mark as that letter or mark."""
        decomposed = unicodedata.normalize("NFD", sign)
        if len(decomposed) == 2 and decomposed[1] in _COMBINING and decomposed[0].isascii():
            return [self._token(Kind.WORD, decomposed[0] + _COMBINING[decomposed[1]], self._at + 1, whole=True)]
        plain = unicodedata.normalize("NFKC", sign)
        if plain in _GREEK:
            return [self._letter(_GREEK[plain], self._at + 1)]
        if plain in _MARKS:
            return [self._meant(_MARKS[plain], self._at + 1)]
        if plain.isascii() and plain.isalnum() and len(plain) == 1:
            return [self._styled(plain)]
        raise self._refused(f"The character {sign!r} has no meaning in a formula.")

    def _styled(self, plain: str) -> Token:
        """Read a run of letters or digits of one of Unicode's alphabets, 𝐖 or 𝑠𝑖𝑛, as one word or number."""
        end = self._at + 1
        if plain.isdigit():
            return self._token(Kind.NUMBER, plain, end)
        text = plain
        while end < len(self._text) and not self._text[end].isascii():
            plain = unicodedata.normalize("NFKC", self._text[end])
            if not (plain.isascii() and plain.isalpha()) or unicodedata.decomposition(self._text[end])[:4] == "<sub":
                break
            text, end = text + plain, end + 1
        accent = _COMBINING.get(self._text[end : end + 1])
        if accent is not None and len(text) == 1:
            return self._token(Kind.WORD, text + accent, end + 1, whole=True)
        return self._token(Kind.WORD, word_key(text), end)

    def _command(self) -> list[Token]:
        environment = _ENVIRONMENT.match(self._text, self._at)
        if environment is not None:
            return self._environment(environment)
        match = _COMMAND.match(self._text, self._at)
        if match is None:
            raise self._refused("A backslash ends the text.")
        name, end = match.group(1) or match.group(2), match.end()
        if name not in _FONTS and name.endswith("*"):
            name, end = name[:-1], end - 1
        if name in _WITHOUT_MEANING:
            return [self._nothing(name, end)]
        if name in _MARK_COMMANDS:
            return [self._meant_by(name, end)]
        if name in _FONTS or name in _ACCENTS:
            return [self._token(Kind.COMMAND, "\\" + name, end)]
        if name in _COMMANDS:
            return [self._token(Kind.COMMAND, _COMMANDS[name], end)]
        if not name.isalpha():
            raise self._refused(f"The command \\{name} has no meaning in a formula.")
        # Any other command is a name, \mu as much as \softmax: the reader knows which are known.
        return [self._token(Kind.WORD, word_key(name), end, whole=True)]

    def _nothing(self, name: str, end: int) -> Token:
        if name in _SIZES and self._text[end:].lstrip()[:1] == ".":  # \left. is no bracket at all
            end = self._text.index(".", end) + 1
        return self._token(Kind.MARK, "", end)

    def _meant_by(self, name: str, end: int) -> Token:
        if name == "\\" and (skip := _LINE_SKIP.match(self._text, end)) is not None:
            end = skip.end()
        return self._meant(_MARK_COMMANDS[name], end)

    def _environment(self, match: re.Match[str]) -> list[Token]:
        side, name = match.groups()
        if name in _LINES:
            return [self._token(Kind.MARK, "", match.end())]
        if name not in _TABLES:
            raise self._refused(f"The LaTeX environment {name} is not part of a formula.")
        if side == "begin":
            self._tables.append(name)
        elif self._tables:
            self._tables.pop()
        kind = "cases" if name == "cases" else "matrix"
        return [self._token(Kind.COMMAND, f"{side} {kind}", match.end())]

    def _refused(self, message: str) -> Unreadable:
        return Unreadable(message, self._at, self._text)


@dataclass(slots=True)
class _Opened:
    """An open brace, and the fonts and accents over what is in it."""

    start: int  # how many tokens stood before what is in it
    over: list[Token]
    brace: Token


def _dressed(found: list[Token], text: str) -> list[Token]:
    r"""Put fonts and accents on the words they stand over, and take their commands and braces off."""
    out: list[Token] = []
    opened: list[_Opened] = []
    over: list[Token] = []
    for token in found:
        if token.kind is Kind.COMMAND and token.text.startswith("\\"):
            over.append(token)
        elif token.text == "{" and token.kind is Kind.MARK:
            opened.append(_Opened(len(out), over, token))
            out += [] if over else [token]
            over = []
        elif token.text == "}" and token.kind is Kind.MARK and opened and opened[-1].over:
            _close(out, opened.pop(), token, text)
        else:
            if token.text == "}" and opened:
                opened.pop()
            out += _worn(over, [token], text) if over else [token]
            over = []
    if over:
        raise Unreadable(f"The command {over[0].text} stands over nothing.", over[0].start, text)
    return out


def _close(out: list[Token], opened: _Opened, brace: Token, text: str) -> None:
    r"""Take the braces of \mathbf{…} off, unless they hold several tokens of an index or an argument together."""
    inner = _worn(opened.over, out[opened.start :], text)
    before = out[opened.start - 1] if opened.start else None
    if len(inner) == 1:
        inner = [replace(inner[0], end=brace.end)]
    held = before is not None and (before.text in {"^", "_", "}"} or before.kind is Kind.COMMAND)
    out[opened.start :] = [opened.brace, *inner, brace] if held and len(inner) != 1 else inner


def _worn(over: list[Token], inner: list[Token], text: str) -> list[Token]:
    for command in reversed(over):
        name = command.text[1:]
        if name in _FONTS:
            inner = [replace(token, font=_FONTS[name] or token.font) for token in inner]
        else:
            inner = _accented(command, inner, text)
    if inner and over:
        inner[0] = replace(inner[0], start=over[0].start, spaced=over[0].spaced)
    return inner


def _accented(command: Token, inner: list[Token], text: str) -> list[Token]:
    if not inner or inner[0].kind is not Kind.WORD:
        raise Unreadable(f"{command.text} has to stand over a name.", command.start, text)
    first, *rest = inner
    accent = _ACCENTS[command.text[1:]]
    if first.whole or len(first.text) == 1:
        return [replace(first, text=first.text + accent, whole=True), *rest]
    if first.end == command.end or text[command.end : first.start].strip() == "":
        # \hat yx is ŷ and x: without braces it stands over one letter.
        middle = first.start + 1
        letter = replace(first, text=first.text[0] + accent, end=middle, whole=True)
        return [letter, replace(first, text=first.text[1:], start=middle, spaced=False), *rest]
    return [replace(first, text=first.text + accent, whole=True), *rest]


def _without_delimiters(found: list[Token]) -> list[Token]:
    r"""Take off $…$ and \[…\], a full stop or comma at the end, and the line breaks of a derivation."""
    found = [token for token in found if token.text != "$"]
    while found and found[-1].kind is Kind.MARK and found[-1].text in {".", ",", ";", "\\\\"}:
        found.pop()
    return [
        token
        for token, after in zip(found, [*found[1:], None], strict=False)
        if token.text != "\\\\" or after is None or after.text != "="
    ]
