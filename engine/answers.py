"""Written answers judged: formulas, derivations, claims, big-O, numbers, choices; free text waits for a person.

The answers are data and nothing in them is run. Each question has a few checks, the same for all questions of a kind
(`engine/sheet.py`): whether it can be read is public, so that a student can find out at home; whether it is right is
not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from checks.question import ONE_CHOICE, Kind, Part, Question
from engine.records import Counterexample, Diagnosis, Outcome, Verdict
from engine.sheet import CHECKS, Marked, Sheet, checks_of, unanswered
from formulas.decide import PROVED, Judgement, decide, decide_trees, last_part, read_answer, same, sentence
from formulas.decide import Verdict as Found
from formulas.meaning import Interpreter, Misfit
from formulas.normal import Unsupported
from formulas.reader import Unreadable, read
from formulas.repair import repair
from formulas.symbols import Symbols
from formulas.tree import Call, Chain, Derivative, Node, Range, nodes_of
from formulas.values import number_of

MOST_LINES = 60  # of a derivation
LONGEST_TEXT = 20_000
MOST_ZEROS = 300  # before or after the point of a number


class Unusable(Exception):
    """An answer is not what the question takes: one sentence for the student."""


def judge_answers(asked: Sequence[Question], sheet: Sheet) -> dict[str, Marked]:
    """Judge the answers to these questions, by id."""
    return {question.id: unanswered(question, sheet) or _marked(question, sheet) for question in asked}


def _marked(question: Question, sheet: Sheet) -> Marked:
    names = [check.id for check in checks_of(question)]
    if question.id in sheet.broken:
        return _broken(names, sheet.broken[question.id])
    try:
        return _JUDGES[question.kind](question, sheet.answers[question.id])
    except Unusable as reason:
        return _broken(names, str(reason))


def _broken(names: Sequence[str], message: str) -> Marked:
    first, *others = names
    rest = tuple(Verdict(name, Outcome.BLOCKED, message="The answer could not be read.") for name in others)
    return Marked((Verdict(first, Outcome.BROKEN, message=message), *rest))


# ── formulas ────────────────────────────────────────────────────────────────────────────────────────────────────


def _formulas(question: Question, answer: Any) -> Marked:
    texts = _texts(question, answer)
    reads, right = (f"{question.id}.{name}" for name in CHECKS[question.kind])
    trees: list[Node] = []
    for part, text in zip(question.parts, texts, strict=False):
        try:
            tree = last_part(read_answer(text, part.symbols, _tree(part.expected, part.symbols)))
            if part.relation != "theta":
                _sensible(tree, part.symbols)
        except (Unreadable, Misfit) as error:
            label = f"{part.label}: " if part.label else ""
            unread = Verdict(reads, Outcome.BROKEN, message=f"{label}{sentence(str(error))}")
            misfit = _named_as_written(part, tree) if isinstance(error, Misfit) else None
            return Marked((unread, Verdict(right, Outcome.BROKEN, message="The answer could not be read.")), misfit)
        trees.append(tree)
    found = [_judged(part, tree) for part, tree in zip(question.parts, trees, strict=False)]
    share = Fraction(sum(judgement.right for judgement in found), len(question.parts))
    wrong = [(part, tree, j) for part, tree, j in zip(question.parts, trees, found, strict=False) if not j.right]
    held = Verdict(reads, Outcome.HELD)
    absent = [part.label for part in question.parts[len(trees) :]]
    if absent and not wrong:
        said = f"Right as far as it goes; missing: {', '.join(absent)}."
        return Marked((held, Verdict(right, Outcome.BROKEN, message=said, share=share)))
    if not wrong:
        proved = all(judgement.verdict is Found.PROVED for judgement in found)
        said = " ".join(dict.fromkeys(judgement.message for judgement in found))
        return Marked((held, Verdict(right, Outcome.HELD, message=said, proved=proved)))
    part, tree, judgement = wrong[0]
    verdict, diagnosis = _refuted(question, part, tree, judgement, right)
    return Marked((held, changed(verdict, share=share)), diagnosis)


def _texts(question: Question, answer: Any) -> list[str]:
    """Return the formulas of an answer, one for each part."""
    several = answer if isinstance(answer, list) else [answer]
    if not all(isinstance(text, str) for text in several):
        raise Unusable(f"A formula is a text in quotes, not {_shown(answer)}.")
    if len(several) > len(question.parts):
        labels = ", ".join(part.label for part in question.parts)
        wanted = f"{len(question.parts)} formulas ({labels})" if labels else "one formula"
        raise Unusable(f"This takes {wanted}, not {len(several)}.")
    return list(several)


def _sensible(tree: Node, symbols: Symbols) -> None:
    """Raise Misfit if the shapes of a formula do not fit together."""
    try:
        Interpreter(symbols).of(tree)
    except Unsupported:
        return  # what cannot be proved can still be computed


def _judged(part: Part, tree: Node) -> Judgement:
    """Judge one formula against the truth and against what else is accepted."""
    truth = decide_trees(tree, _tree(part.expected, part.symbols), part.symbols, part.relation)
    if truth.right:
        return truth
    for accepted in part.accepted:
        symbols = Symbols(part.symbols.by_name, (*part.symbols.given, *accepted.given))
        other = decide_trees(tree, _tree(accepted.form, symbols), part.symbols, part.relation)
        if other.right:
            return changed(other, message=f"{other.message} {sentence(accepted.note)}")
    return truth


def _tree(text: str, symbols: Symbols) -> Node:
    return last_part(read(text, symbols))


def _refuted(
    question: Question, part: Part, tree: Node, judgement: Judgement, check: str
) -> tuple[Verdict, Diagnosis | None]:
    """Return the verdict on a formula that was not accepted, and the name of the mistake if it has one."""
    if judgement.verdict is Found.UNKNOWN:
        return Verdict(check, Outcome.MANUAL, message=f"{judgement.message} A person looks at it."), None
    if judgement.verdict is Found.UNREADABLE:
        return Verdict(check, Outcome.BROKEN, message=judgement.message), None
    diagnosis = _named(part, tree)
    said = [f"{part.label}:" if part.label else ""]
    if diagnosis is None:
        fixed = repair(tree, _tree(part.expected, part.symbols), part.symbols, part.relation)
        said.append(sentence(fixed.sentence) if fixed else "")
    if not judgement.yours:  # of another shape, or a growth: there are no two values to show
        said.append(judgement.message)
    said.append(sentence(f"as it happens, {judgement.agrees}") if judgement.agrees else "")
    said.append(question.explains)
    return Verdict(
        check, Outcome.BROKEN, message=" ".join(filter(None, said)), counterexample=_example(judgement)
    ), diagnosis


def _named_as_written(part: Part, tree: Node) -> Diagnosis | None:
    """Name a mistake whose shapes do not fit together: it has no value to compare, only a form."""
    for wrong in part.wrong:
        if tree == _tree(wrong.form, part.symbols):
            return Diagnosis(wrong.name, wrong.why)
    return None


def _named(part: Part, tree: Node) -> Diagnosis | None:
    for wrong in part.wrong:
        if same(tree, _tree(wrong.form, part.symbols), part.symbols, part.relation):
            return Diagnosis(wrong.name, wrong.why)
    return None


def _example(judgement: Judgement) -> Counterexample | None:
    if not judgement.yours:
        return None
    where, values, _ = judgement.counterexample.rpartition(": yours")
    where = where if values else "the shape"
    return Counterexample(where, judgement.yours, judgement.expected)


# ── derivations ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a derivation, or one side of an equation in it."""

    number: int
    tree: Node


def _derivation(question: Question, answer: Any) -> Marked:
    if not isinstance(answer, list) or not all(isinstance(line, str) for line in answer):
        raise Unusable(f'A derivation is a list of lines in quotes, ["…", "…"], not {_shown(answer)}.')
    if len(answer) > MOST_LINES:
        raise Unusable(f"A derivation has at most {MOST_LINES} lines; this one has {len(answer)}.")
    (part,) = question.parts
    reads, starts, follows, ends = (f"{question.id}.{name}" for name in CHECKS[Kind.DERIVATION])
    lines: list[Line] = []
    for number, text in enumerate(answer, start=1):
        try:
            lines += [Line(number, tree) for tree in _sides(text, part)]
        except (Unreadable, Misfit) as error:
            unread = [
                Verdict(name, Outcome.BLOCKED, message="A line could not be read.") for name in (starts, follows, ends)
            ]
            return Marked((Verdict(reads, Outcome.BROKEN, message=f"Line {number}: {sentence(str(error))}"), *unread))
    first, diagnosis = _first_line(question, part, lines, starts)
    step, named = _followed(question, part, lines, follows)
    last, other = _last_line(question, part, lines, ends)
    return Marked((Verdict(reads, Outcome.HELD), first, step, last), other or named or diagnosis)


def _sides(text: str, part: Part) -> list[Node]:
    """Return the sides of a line; a line may begin with the equals sign that joins it to the one before."""
    bare = text.strip().removeprefix("$").strip().removeprefix("&").strip()
    line = bare.removeprefix("=") if bare.startswith("=") else text
    node = read_answer(line, part.symbols, _tree(part.expected, part.symbols))
    sides = list(node.parts) if isinstance(node, Chain) else [node]
    for side in sides:
        _sensible(side, part.symbols)
    return sides


def _truths(question: Question, part: Part) -> list[tuple[str, str]]:
    """Return the pairs of what a derivation may begin and end with."""
    return [(question.asked or part.expected, part.expected), *((a.form, a.form) for a in part.accepted)]


def _first_line(question: Question, part: Part, lines: list[Line], check: str) -> tuple[Verdict, Diagnosis | None]:
    found = [
        decide_trees(lines[0].tree, _tree(asked, part.symbols), part.symbols, part.relation)
        for asked, _ in _truths(question, part)
    ]
    best = next((judgement for judgement in found if judgement.right), found[0])
    if best.right:
        return Verdict(check, Outcome.HELD, message=best.message, proved=best.verdict is Found.PROVED), None
    if best.verdict is Found.UNKNOWN:
        return Verdict(check, Outcome.MANUAL, message=f"{best.message} A person looks at it."), None
    said = f"The first line is not {question.asked}."
    return Verdict(check, Outcome.BROKEN, message=said, counterexample=_example(best)), None


def _followed(question: Question, part: Part, lines: list[Line], check: str) -> tuple[Verdict, Diagnosis | None]:
    """Compare each line with the one before, and where it differs with the question.

    A line that differs from the one before but is the quantity asked for has found its way back: the mistake was
    made before it.
    """
    if len(lines) < 2:
        short = "A derivation has at least two lines, each equal to the one before."
        return Verdict(check, Outcome.BROKEN, message=short), None
    symbols = part.symbols
    equal: set[frozenset[Node]] = set()  # a left side that is repeated on every line is not proved again
    steps: list[tuple[Line, Line, Judgement]] = []
    for before, line in pairwise(lines):
        pair = frozenset((before.tree, line.tree))
        found = PROVED if pair in equal else decide_trees(line.tree, before.tree, symbols)
        if found.verdict is Found.PROVED:
            equal.add(pair)
        steps.append((before, line, found))
    asked = [_tree(start, symbols) for start, _ in _truths(question, part)]
    wrong = [
        (before, line, found)
        for before, line, found in steps
        if not found.right and not any(decide_trees(line.tree, start, symbols).right for start in asked)
    ]
    if not wrong:
        proved = all(found.verdict is Found.PROVED for _, _, found in steps)
        return Verdict(check, Outcome.HELD, proved=proved), None
    before, line, found = wrong[0]
    share = Fraction(len(steps) - len(wrong), len(steps))
    same = line.number == before.number
    place = f"The right side of line {line.number}" if same else f"Line {line.number}"
    if found.verdict is Found.UNKNOWN:
        undecided = f"{place} could be neither proved nor refuted. A person looks at it."
        return Verdict(check, Outcome.MANUAL, message=undecided, share=share), None
    said = [f"{place} does not equal {'its left side' if same else f'line {before.number}'}."]
    others = sorted({each.number for _, each, _ in wrong[1:]})
    if others:
        said.append(f"It is the first that goes wrong; line {' and line '.join(map(str, others))} does, too.")
    fixed = repair(line.tree, before.tree, symbols, "equal")
    said.append(sentence(fixed.sentence) if fixed else "")
    said.append("" if found.yours else found.message)
    message = " ".join(filter(None, said))
    verdict = Verdict(check, Outcome.BROKEN, message=message, counterexample=_example(found), share=share)
    return verdict, _named(part, line.tree)


def _last_line(question: Question, part: Part, lines: list[Line], check: str) -> tuple[Verdict, Diagnosis | None]:
    tree = lines[-1].tree
    found = _judged(part, tree)
    if not found.right:
        return _refuted(question, part, tree, found, check)
    truths = [_tree(form, part.symbols) for form in (part.expected, *(accepted.form for accepted in part.accepted))]
    restated = tree == lines[0].tree and len(lines) > 1
    restated |= question.asked is not None and tree == _tree(question.asked, part.symbols) and tree not in truths
    if restated or not any(_as_simple(tree, truth) for truth in truths):
        said = "The last line is equal to the answer, but it is not simplified: it is still the question."
        return Verdict(check, Outcome.BROKEN, message=said), None
    return Verdict(check, Outcome.HELD, message=found.message, proved=found.verdict is Found.PROVED), None


def _as_simple(tree: Node, truth: Node) -> bool:
    """Return whether a formula is about as simple as the truth: no operation it lacks, and not much longer."""
    heavy = [
        {
            type(node) if isinstance(node, Derivative | Range) else node.function
            for node in nodes_of(side)
            if isinstance(node, Derivative | Range)
            or (isinstance(node, Call) and node.function in ("E", "Var", "Cov", "sum", "prod"))
        }
        for side in (tree, truth)
    ]
    arguments = [{node for node in nodes_of(side) if isinstance(node, Call)} for side in (tree, truth)]
    calls = {node.function for node in arguments[1]}
    new = {node for node in arguments[0] if node not in arguments[1] and node.function in calls}
    return heavy[0] <= heavy[1] and not new and len(list(nodes_of(tree))) <= 2 * len(list(nodes_of(truth))) + 8


# ── claims, numbers, choices, text ──────────────────────────────────────────────────────────────────────────────


def _claim(question: Question, answer: Any) -> Marked:
    given, witness = (answer.get("answer"), answer.get("witness")) if isinstance(answer, dict) else (answer, None)
    if not isinstance(given, bool):
        raise Unusable(f"A claim takes answer = true or answer = false, not {_shown(given)}.")
    extra = sorted(set(answer) - {"answer", "witness"}) if isinstance(answer, dict) else []
    if extra:
        raise Unusable(f"A claim has answer and witness, no {extra[0]!r}.")
    from checks.claims import (
        BadWitness,
        find_witness,
        try_witness,
    )  # they run the reference, which a handout does not have

    (check,) = (f"{question.id}.{name}" for name in CHECKS[Kind.CLAIM])
    said, false_witness = "", False
    if witness is not None:
        if not isinstance(witness, dict):
            raise Unusable(f"A witness is a table of numbers, {{ h = [0.5] }}, not {_shown(witness)}.")
        try:
            tried = try_witness(question.id, _plain(witness))
        except BadWitness as reason:
            raise Unusable(str(reason)) from reason
        # Values with a claim that is true, or one without numbers, witness nothing and cost nothing.
        said, false_witness = tried.sentence, not given and not tried.holds and find_witness(question.id) is not None
    if given is question.truth and not false_witness:
        return Marked((Verdict(check, Outcome.HELD, message=said),))
    if given is question.truth:
        message = f"{'True' if given else 'False'} is right, but the witness is not one. {said}"
        return Marked((Verdict(check, Outcome.BROKEN, message=message),))
    message = f"The claim is {'true' if question.truth else 'false'}. {_counter_witness(question)} {question.explains}"
    return Marked((Verdict(check, Outcome.BROKEN, message=" ".join(message.split())),))


@cache
def _found_witness(claim: str) -> str:
    """Say which witness the grader itself found, and what it shows."""
    from checks.claims import find_witness, try_witness

    witness = find_witness(claim)
    if witness is None:
        return ""
    given = ", ".join(f"{name} = {value}" for name, value in witness.items())
    return f"A witness: {given}. {try_witness(claim, witness).sentence}"


def _counter_witness(question: Question) -> str:
    return "" if question.truth else _found_witness(question.id)


def _plain(value: Any) -> Any:
    """Return a value of TOML with its decimals as floats."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return {name: _plain(each) for name, each in value.items()} if isinstance(value, dict) else value


def _number(question: Question, answer: Any) -> Marked:
    values = answer if isinstance(answer, list) else [answer]
    labels = ", ".join(part.label for part in question.parts)
    wanted = f"{len(question.parts)} numbers ({labels})" if len(question.parts) > 1 else "one number"
    if len(values) < len(question.parts):
        raise Unusable(f"This takes {wanted}, not {len(values)}.")
    extra = len(values) - len(question.parts)
    values = values[: len(question.parts)]
    right, digits = (f"{question.id}.{name}" for name in CHECKS[Kind.NUMBER])
    texts = [_number_text(value) for value in values]
    found = [
        decide(text, part.expected, part.symbols, part.relation)
        for text, part in zip(texts, question.parts, strict=True)
    ]
    unread = next((judgement for judgement in found if judgement.verdict is Found.UNREADABLE), None)
    if unread is not None:
        raise Unusable(unread.message)
    share = Fraction(sum(judgement.right for judgement in found), len(found))
    wrong = [(part, text, j) for part, text, j in zip(question.parts, texts, found, strict=True) if not j.right]
    if wrong:
        part, text, judgement = wrong[0]
        verdict, diagnosis = _refuted(question, part, _tree(text, part.symbols), judgement, right)
        blocked = Verdict(digits, Outcome.BLOCKED, message="The number itself is not right.")
        return Marked((changed(verdict, share=share), blocked), diagnosis)
    off = [said for value, part in zip(values, question.parts, strict=True) if (said := _digits_off(value, part))]
    printed = Verdict(digits, Outcome.BROKEN, message=" ".join(off)) if off else Verdict(digits, Outcome.HELD)
    if extra:
        many = f"This takes {wanted}, not {extra + len(values)}."
        share *= Fraction(len(values), extra + len(values))  # numbers that were not asked for are wrong
        return Marked((Verdict(right, Outcome.BROKEN, message=many, share=share), printed))
    return Marked((Verdict(right, Outcome.HELD, message=found[0].message), printed))


def _number_text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise Unusable(f"A number is written 2.585, or as an expression in quotes, not {_shown(value)}.")
    if isinstance(value, Decimal) and not value.is_finite():
        raise Unusable(f"{value} is not a number.")
    if _is_endless(value):  # 1e999999999 would be written out
        raise Unusable(f"A number has at most {MOST_ZEROS} zeros.")
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _is_endless(value: Any) -> bool:
    if isinstance(value, Decimal):
        return abs(value.adjusted()) > MOST_ZEROS
    return isinstance(value, int) and not -(10**MOST_ZEROS) < value < 10**MOST_ZEROS


def _digits_off(value: Any, part: Part) -> str:
    """Say that the last printed digit is wrong: more than half a unit of it away from the truth."""
    if not isinstance(value, Decimal) or value.as_tuple().exponent >= 0:  # type: ignore[operator]
        return ""
    places = -int(value.as_tuple().exponent)
    truth = number_of(_tree(part.expected, part.symbols), part.symbols)
    rounded = f"{truth:.{places}f}"
    if abs(float(value) - truth) <= 0.5 * 10**-places * (1 + 1e-9):
        return ""
    return f"{value} has {places} decimals, and with those it is {rounded}."


def _choice(question: Question, answer: Any) -> Marked:
    given = answer if isinstance(answer, dict) else {ONE_CHOICE: answer}
    (check,) = (f"{question.id}.{name}" for name in CHECKS[Kind.CHOICE])
    for key, value in given.items():
        if key not in question.options:
            near = get_close_matches(key, question.options, n=1, cutoff=0.5)
            raise Unusable(
                f"This has no {key!r}"
                + (f"; did you mean {near[0]}?" if near else f"; it has {', '.join(question.options)}.")
            )
        if not isinstance(value, str) or _folded(value) not in map(_folded, question.options[key]):
            raise Unusable(f"{_shown(value)} is no option; the options are {', '.join(question.options[key])}.")
    wrong = [key for key, truth in question.answers.items() if _folded(given.get(key, "")) != _folded(truth)]
    if not wrong:
        return Marked((Verdict(check, Outcome.HELD),))
    share = 1 - Fraction(len(wrong), len(question.answers))
    which = "" if wrong == [ONE_CHOICE] else f"Not right: {', '.join(wrong)}. "
    return Marked((Verdict(check, Outcome.BROKEN, message=f"{which}{question.explains}", share=share),))


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())


def _text(question: Question, answer: Any) -> Marked:
    if not isinstance(answer, str):
        raise Unusable(f"This takes a text in quotes, not {_shown(answer)}.")
    if len(answer) > LONGEST_TEXT:
        raise Unusable(f"This takes at most {LONGEST_TEXT:,} characters; here are {len(answer):,}.")
    (check,) = (f"{question.id}.{name}" for name in CHECKS[Kind.TEXT])
    marking = "\n".join(f"  {line}" for line in question.marking)
    return Marked(
        (Verdict(check, Outcome.MANUAL, message=f"{answer.strip()}\n\nTo be marked by a person:\n{marking}"),)
    )


_JUDGES = {
    Kind.EXPRESSION: _formulas,
    Kind.COMPLEXITY: _formulas,
    Kind.DERIVATION: _derivation,
    Kind.CLAIM: _claim,
    Kind.NUMBER: _number,
    Kind.CHOICE: _choice,
    Kind.TEXT: _text,
}


def _shown(value: Any) -> str:
    if isinstance(value, int) and _is_endless(value):
        return f"a number of more than {MOST_ZEROS} digits"
    text = str(value).lower() if isinstance(value, bool) else repr(_plain(value))
    if isinstance(value, float) and not math.isfinite(value):
        text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
