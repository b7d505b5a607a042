"""What a student reads in the terminal: the claim, a call to paste, what it gave, what was expected, a hint.

The page shares these words, so that the two never say different things about one result.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from engine.records import CheckText, Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.records import CheckResult, Counterexample, ItemResult, SubmissionResult

WIDTH = 79
PRINTED_LINES = 40
PRINTED_COLUMNS = 400
MOST_NAMED = 6  # of those that are missing for one reason; more are counted
NO_TEXT = CheckText(claim="", hint="")

PROVED_AT = "proved at small shapes"
UNJUDGED = "The grader failed on this check. Your score is withheld until staff look at it."

# Said when the judge left no message of its own.
FALLBACK = {
    Outcome.HELD: "",
    Outcome.MANUAL: "This waits for a person.",
    Outcome.MISSING: "This was not found in the submission.",
    Outcome.BLOCKED: "This was not run, because something before it failed.",
    Outcome.BROKEN: "The claim does not hold.",
    Outcome.RAISED: "The code raised an exception.",
    Outcome.TIMED_OUT: "The code did not finish in time.",
    Outcome.UNJUDGED: UNJUDGED,
}

WORDS = {
    Outcome.HELD: "held",
    Outcome.MANUAL: "waits for a person",
    Outcome.MISSING: "missing",
    Outcome.BLOCKED: "blocked",
    Outcome.BROKEN: "broken",
    Outcome.RAISED: "raised",
    Outcome.TIMED_OUT: "timed out",
    Outcome.UNJUDGED: "withheld, the grader failed",
}

# A hint points at a mistake in code that ran; elsewhere it would point at nothing.
HINTED = frozenset({Outcome.BROKEN, Outcome.RAISED, Outcome.TIMED_OUT})

# Everything that can move the cursor, recolour the screen or reorder a line: the control characters
# but newline and tab, the line separators, the bidirectional controls, tag characters, lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return `text` with every character that could act on a terminal spelled out.

    >>> print(visible("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return _UNSAFE.sub(_spelled, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    r"""Return `text` made visible, on one line: an id must not forge the line below it.

    >>> print(one_line("alice\nbob"))
    alice\nbob
    """
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _spelled(match: re.Match[str]) -> str:
    return ascii(match.group())[1:-1]


def number(value: Fraction) -> str:
    """Return a whole number of points without decimals, any other with at most two.

    >>> from fractions import Fraction
    >>> number(Fraction(4)), number(Fraction(3, 2)), number(Fraction(2, 3))
    ('4', '1.5', '0.67')
    """
    decimals = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return "0" if decimals == "-0" else decimals


def points(score: Fraction | None, maximum: Fraction) -> str:
    """Return `4 of 4`; a withheld score is a dash, never a zero.

    >>> from fractions import Fraction
    >>> points(None, Fraction(3))
    '– of 3'
    """
    return f"{'–' if score is None else number(score)} of {number(maximum)}"


def check_points(check: CheckResult) -> str:
    """Return `1 of 1`, or `1 of 1 bonus` where it counts on top."""
    return f"{points(check.score, check.max_score)}{' bonus' if check.bonus else ''}"


def item_points(item: ItemResult) -> str:
    """Return `4 of 5`, `4 of 5 + 1 of 2 bonus`, or `1 of 2 bonus` where all of it counts on top."""
    bonus = [check for check in item.checks if check.bonus]
    if not bonus or item.score is None:
        return points(item.score, item.max_score)
    earned = sum((check.score for check in bonus if check.score is not None), Fraction(0))
    on_top = f"{points(earned, sum((check.max_score for check in bonus), Fraction(0)))} bonus"
    return on_top if len(bonus) == len(item.checks) else f"{points(item.score - earned, item.max_score)} + {on_top}"


def remarks(result: SubmissionResult) -> list[str]:
    """Return what has to be known to add a score up: the bonus in it, and what a policy took off."""
    bonus = [check for item in result.items for check in item.checks if check.bonus]
    earned = sum((check.score for check in bonus if check.score is not None), Fraction(0))
    on_top = (
        f"{number(earned)} of {number(sum((c.max_score for c in bonus), Fraction(0)))} bonus points are in this score."
    )
    return [*([on_top] if bonus else []), *(each.note for each in result.adjustments)]


def check_words(result: CheckResult) -> str:
    """Return what became of one check, in words that claim no more than was found out."""
    return _words(result.verdict.outcome, result.verdict.examples, proved=result.verdict.proved)


def item_words(item: ItemResult) -> str:
    """Return what became of one item; its inputs are those of all its checks together."""
    verdicts = [check.verdict for check in item.checks]
    if item.outcome is Outcome.HELD:
        examples = sum(verdict.examples for verdict in verdicts)
        proved = [verdict.proved for verdict in verdicts]
        if examples and any(proved):  # code: one check says more than the others
            return f"{_words(item.outcome, examples, proved=False)}; agreement {PROVED_AT}"
        return _words(item.outcome, examples, proved=bool(proved) and all(proved))
    held = sum(verdict.outcome is Outcome.HELD for verdict in verdicts)
    # How much does hold is news only where something holds and something does not.
    return f"{WORDS[item.outcome]}, {held} of {len(verdicts)} held" if held else WORDS[item.outcome]


def _words(outcome: Outcome, examples: int, *, proved: bool) -> str:
    if outcome is not Outcome.HELD:
        return WORDS[outcome]
    if proved:  # code has inputs and shapes, an answer neither
        return PROVED_AT if examples else "proved"
    if examples:
        return f"held for {examples} input{'' if examples == 1 else 's'}"
    return WORDS[outcome]


def check_message(result: CheckResult) -> str:
    """Return what is said about a check that did not hold, beyond its counterexample."""
    verdict = result.verdict
    if verdict.outcome is Outcome.UNJUDGED:
        return UNJUDGED  # the judge's own message is about us, and for staff
    return verdict.message or ("" if verdict.counterexample else FALLBACK[verdict.outcome])


def evidence(counterexample: Counterexample) -> list[str]:
    """Return the lines of a counterexample, values below each other in one column."""
    lines = visible(counterexample.call).split("\n") if counterexample.call else []
    for label, value in (("gave", counterexample.gave), ("expected", counterexample.expected)):
        if value:
            first, *rest = visible(value).split("\n")
            lines += [f"{label:<10}{first}", *(" " * 10 + line for line in rest)]
    return lines


def bounded(text: str, *, lines: int = PRINTED_LINES, columns: int = PRINTED_COLUMNS) -> list[str]:
    """Return the first lines of what a student's code printed, and how many were left out."""
    every = visible(text).rstrip("\n").split("\n")
    shown = [line if len(line) <= columns else line[:columns] + " …" for line in every[:lines]]
    left = len(every) - len(shown)
    return [*shown, f"… {left} more line{'' if left == 1 else 's'}"] if left else shown


def check_feedback(result: CheckResult, text: CheckText) -> str:
    """Return the block about one check that did not hold."""
    verdict = result.verdict
    head = [_spread(one_line(verdict.check), check_points(result))]
    if text.claim:
        head.append(_prose(text.claim))
    parts = ["\n".join(head)]
    if verdict.counterexample and (shown := evidence(verdict.counterexample)):
        parts.append("\n".join(f"  {line}".rstrip() for line in shown))
    if message := check_message(result):
        parts.append(_prose(message))
    if text.hint and verdict.outcome in HINTED:
        parts.append(_prose(f"Hint: {text.hint}"))
    return "\n\n".join(parts) + "\n"


def submission_feedback(result: SubmissionResult, texts: Mapping[str, CheckText]) -> str:
    """Return everything a student is told about one submission."""
    head = [_spread(one_line(result.id), points(result.score, result.max_score))]
    if result.status is Status.WITHHELD:
        head.append("The score is withheld until staff look at it.")
    if result.status is Status.WAITING:
        head.append("Some answers wait for a person: this score is not final.")
    head += [_prose(remark) for remark in remarks(result)]
    head += [_prose(f"Problem: {problem}") for problem in result.problems]
    parts = ["\n".join(head) + "\n"]
    there = [item for item in result.items if item.outcome is not Outcome.MISSING]
    if there:
        parts.append("\n".join(_item_lines(there)) + "\n")
    for reason, same in groupby(there, key=_whole_reason):
        items = list(same)
        if reason:
            parts.append(_whole_feedback(items, reason))
            continue
        for item in items:
            parts += _item_details(item, texts)
            if item.diagnosis:
                name, why = one_line(item.diagnosis).rstrip("."), one_line(item.explanation)
                parts.append(_prose(f"This looks like: {name}. {why}".rstrip()) + "\n")
    if absent := [item for item in result.items if item.outcome is Outcome.MISSING]:
        lines = [textwrap.indent(_prose(line), "  ") for line in absences(absent)]
        parts.append("\n".join(["Missing:", *lines]) + "\n")
    if result.output.strip():
        # The bar marks every line as the student's own, so that none can pass for ours.
        printed = [f"  | {line}".rstrip() for line in bounded(result.output)]
        parts.append("\n".join(["What your code printed:", *printed]) + "\n")
    return "\n".join(parts)


def summary(result: SubmissionResult) -> str:
    """Return the last line of `check`: how much of what is begun holds, and how to try a call that does not."""
    begun = [item for item in result.items if item.outcome is not Outcome.MISSING]
    checks = [check for item in begun for check in item.checks]
    held = sum(check.verdict.outcome is Outcome.HELD for check in checks)
    if not checks:
        return "Nothing is begun: fill in a function, or answer a question in answers.toml.\n"
    if held == len(checks):
        every = "All " if held > 1 else ""
        return f"{every}{_checks(held)} held. That is a good sign, not a proof: more is checked later.\n"
    told = f"{held} of {_checks(len(checks))} held."
    called = [item for item in begun if item.kind == "code" and any(c.verdict.counterexample for c in item.checks)]
    if not called:
        return f"{told}\n"
    module = called[0].id.split(".", 1)[0]
    return f"{told} To try a call in Python, begin with\n\n  import numpy as np; from {module} import *\n"


def _checks(count: int) -> str:
    return f"{count} check{'' if count == 1 else 's'}"


def absences(items: Sequence[ItemResult]) -> list[str]:
    """Return a sentence per reason for which items are missing, with those it is the reason for."""
    by_reason: dict[str, list[str]] = {}
    for item in items:
        by_reason.setdefault(one_line(check_message(item.checks[0])), []).append(one_line(item.id))
    return [
        reason if names[0].rsplit(".", 1)[-1] in reason else f"{reason.rstrip('.')}: {_counted(names)}."
        for reason, names in by_reason.items()
    ]


def _counted(names: Sequence[str]) -> str:
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    by_module = Counter(name.split(".", 1)[0] if "." in name else "the written answers" for name in names)
    return ", ".join(f"{count} of {module}" for module, count in by_module.items())


def _whole_reason(item: ItemResult) -> str:
    """Return the one reason for which nothing of an item could be judged, such as a file that does not compile."""
    reasons = {_reason(check) for check in item.checks}
    failed = item.outcome not in (Outcome.HELD, Outcome.MANUAL, Outcome.BROKEN)
    if len(reasons) > 1 or not failed or any(check.verdict.counterexample for check in item.checks):
        return ""
    return check_message(item.checks[0])


def _whole_feedback(items: Sequence[ItemResult], reason: str) -> str:
    more = f" and {len(items) - 1} more" if len(items) > 1 else ""
    scores = [item.score for item in items if item.score is not None]
    earned = sum(scores, Fraction(0)) if len(scores) == len(items) else None
    worth = points(earned, sum((item.max_score for item in items), Fraction(0)))
    return "\n".join([_spread(f"{one_line(items[0].id)}{more}", worth), "", _prose(reason)]) + "\n"


def _item_lines(items: Sequence[ItemResult]) -> Iterable[str]:
    longest = max(len(one_line(item.id)) for item in items)
    for item in items:
        left = f"{one_line(item.id):<{longest}}   {item_words(item)}"
        yield _spread(left, item_points(item))


def _item_details(item: ItemResult, texts: Mapping[str, CheckText]) -> Iterable[str]:
    """Yield a block per check that failed; checks that failed for one and the same reason share a block."""
    for checks in failures(item):
        if len(checks) == 1:
            yield check_feedback(checks[0], texts.get(checks[0].verdict.check, NO_TEXT))
            continue
        heads = [_spread(one_line(c.verdict.check), check_points(c)) for c in checks]
        if len(checks) == len(item.checks):  # the function as a whole: its checks have nothing to add
            heads = [_spread(one_line(item.id), item_points(item))]
        shown = checks[0].verdict.counterexample
        example = ["", *(f"  {line}".rstrip() for line in evidence(shown))] if shown else []
        yield "\n".join([*heads, *example, "", _prose(check_message(checks[0]))]) + "\n"


def failures(item: ItemResult) -> list[list[CheckResult]]:
    """Return the checks of an item that failed, those for one and the same reason together."""
    by_reason: dict[tuple[str, ...], list[CheckResult]] = {}
    for check in item.checks:
        if _is_news(check):
            by_reason.setdefault(_reason(check), []).append(check)
    return list(by_reason.values())


def _is_news(check: CheckResult) -> bool:
    if check.verdict.outcome is Outcome.MANUAL:
        return bool(check.verdict.message)  # otherwise the item's line has said it all
    return check.verdict.outcome is not Outcome.HELD


def _reason(check: CheckResult) -> tuple[str, ...]:
    """Return what two checks must share to be told as one: what went wrong, down to the line that raised it."""
    verdict = check.verdict
    if verdict.outcome is Outcome.BROKEN or (verdict.counterexample and verdict.outcome is not Outcome.RAISED):
        return (verdict.check,)  # values that are wrong are told one by one
    return (verdict.outcome.value, check_message(check), verdict.counterexample.gave if verdict.counterexample else "")


def _spread(left: str, right: str) -> str:
    """Return `left` and `right` at the two ends of a line, never closer than three columns."""
    return f"{left}{right:>{max(WIDTH - len(left), len(right) + 3)}}"


def _prose(text: str) -> str:
    """Return a sentence wrapped; text of several lines (a student's own code) keeps its shape, set in."""
    text = visible(text).strip("\n")
    if "\n" in text:
        return "\n".join(f"  {line}".rstrip() for line in text.split("\n"))
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


BOLD, RED, GREEN, YELLOW, CYAN, PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[0m"

_OUTCOME_COLOURS = (
    (r"held|proved", GREEN),
    (r"broken|raised|timed out", RED),
    (r"missing|blocked|waits for a person|withheld", YELLOW),
)
_POINTS = r" +\S+ of \S+(?: \+ \S+ of \S+)?(?: bonus)?$"
# Tried in order on each line; the named group is what takes the colour.
_PAINTS = (
    *((re.compile(rf"^\S+ {{3,}}(?P<painted>(?:{words}).*?){_POINTS}"), code) for words, code in _OUTCOME_COLOURS),
    (re.compile(rf"^(?P<painted>\S.*?){_POINTS}"), BOLD),
    (re.compile(r"^  (?P<painted>gave)      "), RED),
    (re.compile(r"^  (?P<painted>expected)  "), GREEN),
    (re.compile(r"^(?P<painted>Hint:)"), CYAN),
    (re.compile(r"^(?P<painted>This looks like:)"), CYAN),
    (re.compile(r"^(?P<painted>(All \d+ checks|1 check) held\.)"), GREEN),
    (re.compile(r"^(?P<painted>\d+ of \d+ checks? held\.)"), BOLD),
    (
        re.compile(r"^(?P<painted>Problem:|The grader failed|The score is withheld|Missing:|What your code printed:)"),
        YELLOW,
    ),
)


def paint(text: str, *, colour: bool) -> str:
    """Return finished feedback with ANSI colours, or as it is; the caller knows NO_COLOR and the terminal."""
    return "\n".join(map(_painted, text.split("\n"))) if colour else text


def _painted(line: str) -> str:
    for pattern, code in _PAINTS:
        if match := pattern.search(line):
            start, end = match.span("painted")
            return f"{line[:start]}{code}{line[start:end]}{PLAIN}{line[end:]}"
    return line
