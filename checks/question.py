"""What a question of written answers is: what is asked, in which symbols, and what is true.

Questions are data, in `checks/questions/S0.toml … S4.toml`, one table per id in the file of its first sheet:

    [dot_product_mean]
    kind = "expression"
    source = "S3.6a"
    title = "Mean of a dot product"
    ask = "…"
    hint = "…"
    symbols = "gaussian"                    # a set of this file, [symbols.gaussian], or a table [ID.symbols]
    expected = "mu^T mu"
    wrong = [{ form = "mu mu^T", name = "outer product", why = "…" }]

A course's own questions are in `course.toml` beside them, if there is one; their ids and sources are its own.

`[ID.also]` adds symbols to a shared set, `given` adds assumptions to those of the set, and several parts are
`[[ID.part]]` with a label each. Formulas stay text here: who judges reads them with `formulas/reader.py`.

A derivation begins with a line that equals `asked`, the formula of the quantity asked for, and ends with one that
equals `expected`. An accepted form is another truth: an answer may equal it in place of `expected`, and a derivation
whose last line does so has a first line that does. An answer that is `asked` itself, written again, answers nothing.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from formulas.symbols import Symbol, SymbolError, Symbols, declared

FOLDER = Path(__file__).resolve().parent / "questions"
SHEETS = ("S0", "S1", "S2", "S3", "S4")
COURSE = "course.toml"  # a course's own questions; the syllabus does not have them
PUBLISHED = FOLDER / "published.json"  # in a handout, in place of the files with the answers
ONE_CHOICE = "answer"  # the key of a choice without sub-questions

# Every question there is, in the order of the syllabus: a file that lacks one, or has another, is refused.
IDS = (
    "softmax_ce_gradient", "softmax_jacobian", "input_gradient", "output_weight_gradient", "hidden_gradient",
    "sigmoid_symmetry", "sigmoid_derivative",
    "dot_product_mean", "dot_product_variance", "dot_product_scale", "unscaled_attention",
    "projection_matrix", "averaging_query", "averaging_weight", "projection_applied", "single_head_weight",
    "head_queries", "attention_weights_categorical", "copy_condition",
    "added_score", "added_vs_concatenated", "relative_bias", "relative_parameter_count", "receptive_field",
    "self_attention_matrix_form", "feed_forward_form", "transformer_layer_form", "layer_norm_form",
    "residual_gradient", "heads_add",
    "gru_update", "lstm_cell_derivative", "lstm_weight_gradient", "lstm_memory_path",
    "gru_update_gate_zero", "gru_update_one_reset_zero", "lstm_zero_input", "lstm_forget_zero",
    "lstm_gates_non_negative", "lstm_gates_distribution",
    "attention_cost", "encoder_self_attention", "cross_attention", "decoder_self_attention", "translation_extra",
    "sparse_attention",
    "die_entropy", "die_perplexity", "entropy_of_sequence", "entropy_rate", "cross_entropy_rate",
    "perplexity_form", "perplexity_base_invariance", "wavelengths",
    "encoder_depends_on_decoder", "masked_autoencoder_position",
    "pretraining_labels", "encoder_or_seq2seq", "register_buffer", "encoder_class_is_decoder_only",
    "causal_mask_form", "checkpoint",
    "why_positions", "why_heads", "why_gradients_vanish", "perplexity_gap", "dan_errors", "character_or_word",
)  # fmt: skip


class Kind(StrEnum):
    """What kind of answer a question takes; the name of its table in answers.toml."""

    EXPRESSION = "expression"
    DERIVATION = "derivation"
    CLAIM = "claim"
    COMPLEXITY = "complexity"
    NUMBER = "number"
    CHOICE = "choice"
    TEXT = "text"


class QuestionError(Exception):
    """A file of questions is not as it should be: which file, which question, what is wrong."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong answer with a name, and a sentence on where it comes from."""

    form: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """Another answer that is true, under an assumption: O(M^2 k) while k <= M.

    `given` are comparisons that can be read, and under them a big-O form is tight. They are empty where the
    assumption is a convention (bits for nats), which the note tells.
    """

    form: str
    given: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Part:
    """One formula to be given. The relation is equal, equal_up_to_transpose, theta, or approx:0.01."""

    expected: str
    symbols: Symbols
    relation: str
    accepted: tuple[Accepted, ...]
    wrong: tuple[Wrong, ...]
    label: str  # which part this is, "two heads"; empty where there is only one


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the syllabus. What a kind does not have is empty or None."""

    id: str
    kind: Kind
    source: str  # "S4.1a"; several places are separated by spaces
    title: str
    ask: str
    hint: str
    parts: tuple[Part, ...]  # several parts are answered by an array in this order
    asked: str | None  # the formula of the quantity asked for, where it can be written; a derivation always has one
    statement: str | None
    truth: bool | None
    options: Mapping[str, tuple[str, ...]]  # by sub-question; a single choice has the key "answer"
    answers: Mapping[str, str]  # the right option, by the same keys
    tolerance: Fraction  # of numbers, relative
    unit: str
    marking: tuple[str, ...]  # of texts: "0.5: what a person looks for", the shares sum to 1
    explains: str  # shown after a wrong answer: why the truth is what it is
    derivation_id: str | None  # the derivation that proves it
    hidden: frozenset[str]  # symbols whose definition would tell the answer: they can be read, but are not published

    @property
    def symbols(self) -> Symbols:
        """The symbols of its formulas; all parts share them."""
        return self.parts[0].symbols if self.parts else Symbols({})


@cache
def questions() -> Mapping[str, Question]:
    """Return all questions by id, in the order of the syllabus; in a handout, what is published of them."""
    if PUBLISHED.exists():
        rows = json.loads(PUBLISHED.read_text(encoding="utf-8"))
        return MappingProxyType({row["id"]: _from_published(row) for row in rows})
    return read_questions(FOLDER)


def _from_published(row: Mapping[str, Any]) -> Question:
    """Return a question without what is true: enough to read an answer, not to judge it."""
    symbols = declared(row.get("symbols", {}), tuple(row.get("given", ())))
    labels = row.get("parts", [""]) if "symbols" in row else []
    return Question(
        id=row["id"], kind=Kind(row["kind"]), source=row["source"], title=row["title"], ask=row["ask"], hint="",
        parts=tuple(Part("0", symbols, row.get("relation", "equal"), (), (), label) for label in labels),
        asked=row.get("asked"), statement=row.get("statement"), truth=None,
        options={key: tuple(options) for key, options in row.get("options", {}).items()}, answers={},
        tolerance=_TOLERANCE, unit=row.get("unit", ""), marking=(), explains="", derivation_id=None, hidden=frozenset(),
    )  # fmt: skip


def read_questions(folder: Path, ids: Collection[str] = IDS) -> Mapping[str, Question]:
    """Read a folder of questions, or raise QuestionError; it must hold exactly these ids."""
    found: dict[str, Question] = {}
    for sheet in SHEETS:
        path = folder / f"{sheet}.toml"
        for question in _File(path, sheet, ids).questions():
            if question.id in found:
                raise QuestionError(f"{path.name}: {question.id} is also in {found[question.id].source[:2]}.toml")
            found[question.id] = question
    missing = [name for name in ids if name not in found]
    if missing:
        raise QuestionError(f"{folder.name}: no file has {', '.join(missing)}")
    own = _File(folder / COURSE, "", ()).questions() if (folder / COURSE).exists() else ()
    return MappingProxyType({**{name: found[name] for name in ids}, **dict(_apart(own, found))})


def _apart(own: Iterable[Question], found: Mapping[str, Question]) -> Iterator[tuple[str, Question]]:
    for question in own:
        if question.id in found:
            raise QuestionError(f"{COURSE}: {question.id} is also in {found[question.id].source[:2]}.toml")
        yield question.id, question


def published(question: Question) -> dict[str, Any]:
    """Return what students may see of a question: never what is true, which mistakes we know, or why.

    >>> sorted(published(questions()["die_entropy"]))
    ['ask', 'given', 'id', 'kind', 'source', 'symbols', 'title', 'unit']
    """
    shown: dict[str, Any] = {
        "id": question.id,
        "kind": str(question.kind),
        "source": question.source,
        "title": question.title,
        "ask": question.ask,
    }
    if question.parts:
        known = question.symbols
        shown["symbols"] = {
            name: _declaration(symbol, with_definition=name not in question.hidden)
            for name, symbol in known.by_name.items()
        }
        shown["given"] = list(known.given)
        if question.kind is Kind.COMPLEXITY:
            shown["relation"] = "theta"
    if question.kind is Kind.DERIVATION:
        shown["asked"] = question.asked
    if len(question.parts) > 1:
        shown["parts"] = [part.label for part in question.parts]
    if question.unit:
        shown["unit"] = question.unit
    if question.options:
        shown["options"] = {key: list(options) for key, options in question.options.items()}
    if question.statement is not None:
        shown["statement"] = question.statement
    return shown


def _declaration(symbol: Symbol, *, with_definition: bool) -> dict[str, Any]:
    """Return a symbol as it is written in the files, for programs that show it."""
    written = {
        "shape": [int(size) if size.is_Integer else str(size).replace("*", "") for size in symbol.shape],
        "is": sorted(symbol.properties),
        "def": symbol.definition if with_definition else None,
        "columns": symbol.columns,
        "at": symbol.at,
        "in_span_of": symbol.in_span_of,
        "mean": symbol.mean,
        "covariance": symbol.covariance,
        "spelled": [text for text in symbol.spelled if " " not in text],  # a run of words is for the reader only
        "note": symbol.note,
    }
    return {key: value for key, value in written.items() if value}


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────

_COMMON = {"kind", "source", "title", "ask", "hint", "explains", "proved_by"}
_OF_A_PART = {"expected", "relation", "accepted", "wrong"}
_FORMULA = _COMMON | _OF_A_PART | {"symbols", "also", "given", "hidden", "part", "asked"}
_KEYS: Mapping[Kind, frozenset[str]] = {
    Kind.EXPRESSION: frozenset(_FORMULA),
    Kind.DERIVATION: frozenset(_FORMULA),
    Kind.COMPLEXITY: frozenset(_FORMULA),
    Kind.NUMBER: frozenset(_FORMULA | {"tolerance", "unit"}),
    Kind.CLAIM: frozenset(_COMMON | {"statement", "truth"}),
    Kind.CHOICE: frozenset(_COMMON | {"options", "answer"}),
    Kind.TEXT: frozenset(_COMMON | {"marking"}),
}
_RELATION = re.compile(r"equal|equal_up_to_transpose|theta|approx:\d+(\.\d+)?")
_MARK = re.compile(r"(\d+(?:\.\d+)?|\d+/\d+): .+")
_TOLERANCE = Fraction(1, 100)


class _File:
    """One file of questions."""

    def __init__(self, path: Path, sheet: str, ids: Collection[str]) -> None:
        self._sheet = sheet
        self._ids = ids
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Fraction)
        except OSError as error:
            raise QuestionError(f"{path.name} cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise QuestionError(f"{path.name} is not valid TOML: {error}") from None
        self._name = path.name
        sets = tables.pop("symbols", {})
        self._sets = _Row(path.name, "symbols", {"symbols": sets}).table("symbols")
        self._tables = tables

    def questions(self) -> Iterator[Question]:
        for name, table in self._tables.items():
            yield self._question(name, table)

    def _question(self, name: str, table: Any) -> Question:
        row = _Row(self._name, name, table)
        if self._sheet and name not in self._ids:
            row.refuse(f"the syllabus has no such question{_near(name, self._ids)}")
        kind = row.one_of("kind", list(Kind))
        row.refuse_others(_KEYS[Kind(kind)])
        source = row.text("source")
        if self._sheet and not re.fullmatch(rf"{self._sheet}\.\S+( S[0-4]\.\S+)*", source):
            row.refuse(f"source {source!r} must begin with this file's sheet, {self._sheet}., and name places only")
        tolerance = row.number("tolerance", _TOLERANCE)
        parts = self._parts(row, Kind(kind), tolerance) if "symbols" in _KEYS[Kind(kind)] else ()
        options, answers = _choices(row) if kind == Kind.CHOICE else ({}, {})
        claim = kind == Kind.CLAIM
        return Question(
            id=name,
            kind=Kind(kind),
            source=source,
            title=row.text("title"),
            ask=row.text("ask"),
            hint=row.text("hint"),
            parts=parts,
            asked=row.text("asked") if kind == Kind.DERIVATION or "asked" in row.rows else None,
            statement=row.text("statement") if claim else None,
            truth=row.truth("truth") if claim else None,
            options=MappingProxyType(options),
            answers=MappingProxyType(answers),
            tolerance=tolerance,
            unit=row.text("unit", ""),
            marking=_marking(row) if kind == Kind.TEXT else (),
            explains=row.text("explains", ""),
            derivation_id=row.text("proved_by", "") or None,
            hidden=_hidden(row, parts),
        )

    # formulas

    def _parts(self, row: _Row, kind: Kind, tolerance: Fraction) -> tuple[Part, ...]:
        symbols = self._symbols(row)
        relation = {Kind.COMPLEXITY: "theta", Kind.NUMBER: f"approx:{float(tolerance):g}"}.get(kind, "equal")
        if "part" not in row.rows:
            return (_part(row, symbols, relation, ""),)
        row.refuse_others(_KEYS[kind] - _OF_A_PART)
        tables = row.rows["part"]
        if not isinstance(tables, list) or len(tables) < 2:
            row.refuse("part must be an array of two or more tables, [[…part]]")
        rows = [_Row(self._name, f"{row.name}, part {number}", table) for number, table in enumerate(tables, 1)]
        for one in rows:
            one.refuse_others(_OF_A_PART | {"label"})
        labels = [one.text("label") for one in rows]
        if len(set(labels)) < len(labels):
            row.refuse(f"two parts have the same label: {', '.join(labels)}")
        return tuple(_part(one, symbols, relation, label) for one, label in zip(rows, labels, strict=True))

    def _symbols(self, row: _Row) -> Symbols:
        declarations = row.rows.get("symbols", {})
        if isinstance(declarations, str):
            if declarations not in self._sets:
                row.refuse(f"there is no set of symbols {declarations!r}{_near(declarations, self._sets)}")
            declarations = _Row(self._name, f"symbols.{declarations}", self._sets[declarations]).rows
        elif not isinstance(declarations, dict):
            row.refuse(f"symbols must be a table, or the name of a set, not {declarations!r}")
        shared = _Row(self._name, row.name, declarations)
        given = (*shared.texts("given"), *row.texts("given"))
        also = row.table("also")
        twice = sorted(also.keys() & declarations.keys())
        if twice:
            row.refuse(f"{twice[0]!r} is declared by the set of symbols, and again in also")
        try:
            return declared({**{k: v for k, v in declarations.items() if k != "given"}, **also}, given)
        except SymbolError as error:
            row.refuse(str(error))
        except (AttributeError, TypeError):
            row.refuse('a symbol is declared by a table: mu = { shape = ["d"], is = ["real"] }')


def _part(row: _Row, symbols: Symbols, relation: str, label: str) -> Part:
    relation = row.text("relation", relation)
    if _RELATION.fullmatch(relation) is None:
        row.refuse(f"{relation!r} is no relation; equal, equal_up_to_transpose, theta and approx:0.01 are")
    return Part(
        expected=row.text("expected"),
        symbols=symbols,
        relation=relation,
        accepted=tuple(
            Accepted(one.text("form"), one.texts("given"), one.text("note"))
            for one in row.tables("accepted", {"form", "given", "note"})
        ),
        wrong=tuple(
            Wrong(one.text("form"), one.text("name"), one.text("why"))
            for one in row.tables("wrong", {"form", "name", "why"})
        ),
        label=label,
    )


def _hidden(row: _Row, parts: tuple[Part, ...]) -> frozenset[str]:
    names = frozenset(row.texts("hidden"))
    for name in sorted(names):
        known = parts[0].symbols.by_name
        if name not in known or known[name].definition is None:
            row.refuse(f"hidden {name!r} is not a symbol with a definition{_near(name, known)}")
    return names


def _choices(row: _Row) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Read the options and right answers; a list of options belongs to a single choice."""
    options, answers = row.rows.get("options"), row.rows.get("answer")
    single = isinstance(options, list)
    by_key = _Row(row.file, row.name, {ONE_CHOICE: options} if single else options)
    right = _Row(row.file, row.name, {ONE_CHOICE: answers} if single else answers)
    right.refuse_others(by_key.rows)
    found = {key: by_key.texts(key) for key in by_key.rows}
    for key, texts in found.items():
        if len(texts) < 2 or len(set(texts)) < len(texts):
            row.refuse(f"{key} needs two or more different options, not {list(texts)!r}")
    return found, {key: right.one_of(key, texts) for key, texts in found.items()}


def _marking(row: _Row) -> tuple[str, ...]:
    lines = row.texts("marking")
    shares = [match[1] for line in lines if (match := _MARK.fullmatch(line)) is not None]
    if len(shares) < len(lines) or not lines:
        row.refuse('marking has lines such as "0.5: says that …", each with its share of the points')
    if sum(map(Fraction, shares)) != 1:
        row.refuse(f"the shares of marking sum to {sum(map(Fraction, shares))}, not to 1")
    return lines


class _Row:
    """A table of a file, and how to complain about it."""

    def __init__(self, file: str, name: str, rows: Any) -> None:
        self.file = file
        self.name = name
        self.rows: dict[str, Any] = rows
        if not isinstance(rows, dict):
            self.refuse(f"must be a table, not {rows!r}")

    def refuse(self, what: str) -> NoReturn:
        raise QuestionError(f"{self.file}, {self.name}: {what}")

    def refuse_others(self, known: Collection[str]) -> None:
        for key in self.rows:
            if key not in known:
                self.refuse(f"unknown key {key!r}{_near(key, known)}")

    def text(self, key: str, default: str | None = None) -> str:
        return str(self._value(key, default, "a text", lambda value: isinstance(value, str) and value.strip())).strip()

    def truth(self, key: str) -> bool:
        return bool(self._value(key, None, "true or false", lambda value: isinstance(value, bool)))

    def number(self, key: str, default: Fraction) -> Fraction:
        def is_share(value: Any) -> bool:
            return isinstance(value, Fraction) and 0 < value < 1

        return Fraction(self._value(key, default, "a number between 0 and 1", is_share))

    def texts(self, key: str) -> tuple[str, ...]:
        def are_texts(value: Any) -> bool:
            return isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)

        return tuple(self._value(key, [], "a list of texts", are_texts))

    def table(self, key: str) -> dict[str, Any]:
        return dict(self._value(key, {}, "a table", lambda value: isinstance(value, dict)))

    def tables(self, key: str, known: Collection[str]) -> list[_Row]:
        found = self._value(key, [], "a list of tables", lambda value: isinstance(value, list))
        rows = [_Row(self.file, f"{self.name}, {key} {number}", one) for number, one in enumerate(found, 1)]
        for row in rows:
            row.refuse_others(known)
        return rows

    def one_of(self, key: str, known: Collection[str]) -> str:
        value = self.text(key)
        if value not in known:
            self.refuse(f"{key} is {value!r}, which is none of {', '.join(known)}{_near(value, known)}")
        return value

    def _value(self, key: str, default: Any, what: str, fits: Callable[[Any], object]) -> Any:
        if key not in self.rows and default is not None:
            return default
        if key not in self.rows:
            self.refuse(f"{key} is missing")
        value = self.rows[key]
        if not fits(value):
            self.refuse(f"{key} must be {what}, not {value!r}")
        return value


def _near(word: str, known: Collection[str]) -> str:
    close = get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f"; did you mean {', '.join(close)}?" if close else ""
