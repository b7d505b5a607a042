"""What a student reads in the terminal: the claim, a call to paste, what it gave, what was expected, a hint.

The page shares these words, so that the two never say different things about one result.
"""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from engine.records import CheckText, Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from fractions import Fraction

    from engine.records import CheckResult, Counterexample, ItemResult, SubmissionResult

WIDTH = 79
PRINTED_LINES = 40
PRINTED_COLUMNS = 400
NO_TEXT = CheckText(claim="", hint="")

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


def check_words(result: CheckResult) -> str:
    """Return what became of one check, in words that claim no more than was found out."""
    return _words(result.verdict.outcome, result.verdict.examples, proved=result.verdict.proved)


def item_words(item: ItemResult) -> str:
    """Return what became of one item; its inputs are those of all its checks together."""
    verdicts = [check.verdict for check in item.checks]
    if item.outcome is Outcome.HELD:
        proved = bool(verdicts) and all(verdict.proved for verdict in verdicts)
        return _words(item.outcome, sum(verdict.examples for verdict in verdicts), proved=proved)
    held = sum(verdict.outcome is Outcome.HELD for verdict in verdicts)
    # How much does hold is news only where something holds and something does not.
    return f"{WORDS[item.outcome]}, {held} of {len(verdicts)} held" if held else WORDS[item.outcome]


def _words(outcome: Outcome, examples: int, *, proved: bool) -> str:
    if outcome is not Outcome.HELD:
        return WORDS[outcome]
    if proved:
        return "proved"
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
    head = [_spread(one_line(verdict.check), points(result.score, result.max_score))]
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


def submission_feedback(result: SubmissionResult, texts: Mapping[str, CheckText], *, details: bool = True) -> str:
    """Return everything a student is told about one submission; without `details`, one line per item."""
    head = [_spread(one_line(result.id), points(result.score, result.max_score))]
    if result.status is Status.WITHHELD:
        head.append("The score is withheld until staff look at it.")
    if result.status is Status.WAITING:
        head.append("Some answers wait for a person: this score is not final.")
    head += [_prose(f"Problem: {problem}") for problem in result.problems]
    parts = ["\n".join(head) + "\n"]
    if lines := list(_item_lines(result.items)):
        parts.append("\n".join(lines) + "\n")
    absent = [item for item in result.items if item.outcome is Outcome.MISSING]
    for item in result.items:
        if details and item not in absent:
            parts += _item_details(item, texts)
        if item.diagnosis:
            about = "" if details else f"{one_line(item.id)}: "
            name, why = one_line(item.diagnosis).rstrip("."), one_line(item.explanation)
            parts.append(_prose(f"{about}This looks like: {name}. {why}".rstrip()) + "\n")
    if details and absent:
        reasons = dict.fromkeys(one_line(check_message(item.checks[0])) for item in absent)
        parts.append("\n".join(["Missing:", *(f"  {reason}" for reason in reasons)]) + "\n")
    if details and result.output.strip():
        # The bar marks every line as the student's own, so that none can pass for ours.
        printed = [f"  | {line}".rstrip() for line in bounded(result.output)]
        parts.append("\n".join(["What your code printed:", *printed]) + "\n")
    return "\n".join(parts)


def _item_lines(items: tuple[ItemResult, ...]) -> Iterable[str]:
    longest = max((len(one_line(item.id)) for item in items), default=0)
    for item in items:
        left = f"{one_line(item.id):<{longest}}   {item_words(item)}"
        yield _spread(left, points(item.score, item.max_score))


def _item_details(item: ItemResult, texts: Mapping[str, CheckText]) -> Iterable[str]:
    """Yield a block per check that failed; checks that failed for one and the same reason share a block."""
    failed = [check for check in item.checks if _is_news(check)]
    for _, same in groupby(failed, key=_reason):
        checks = list(same)
        if len(checks) == 1:
            yield check_feedback(checks[0], texts.get(checks[0].verdict.check, NO_TEXT))
            continue
        heads = [_spread(one_line(c.verdict.check), points(c.score, c.max_score)) for c in checks]
        if len(checks) == len(item.checks):  # the function as a whole: its checks have nothing to add
            heads = [_spread(one_line(item.id), points(item.score, item.max_score))]
        yield "\n".join([*heads, "", _prose(check_message(checks[0]))]) + "\n"


def _is_news(check: CheckResult) -> bool:
    if check.verdict.outcome is Outcome.MANUAL:
        return bool(check.verdict.message)  # otherwise the item's line has said it all
    return check.verdict.outcome is not Outcome.HELD


def _reason(check: CheckResult) -> tuple[str, str]:
    """Return what two checks must share to be told as one; a counterexample is always told by itself."""
    if check.verdict.counterexample or check.verdict.outcome is Outcome.BROKEN:
        return ("", check.verdict.check)
    return (check.verdict.outcome.value, check_message(check))


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
_POINTS = r" +\S+ of \S+$"
# Tried in order on each line; the named group is what takes the colour.
_PAINTS = (
    *((re.compile(rf"^\S+ {{3,}}(?P<painted>(?:{words}).*?){_POINTS}"), code) for words, code in _OUTCOME_COLOURS),
    (re.compile(rf"^(?P<painted>\S.*?){_POINTS}"), BOLD),
    (re.compile(r"^  (?P<painted>gave)      "), RED),
    (re.compile(r"^  (?P<painted>expected)  "), GREEN),
    (re.compile(r"^(?P<painted>Hint:)"), CYAN),
    (re.compile(r"^(?:\S+: )?(?P<painted>This looks like:)"), CYAN),
    (re.compile(r"^(?P<painted>Problem:|The grader failed|The score is withheld|What your code printed:)"), YELLOW),
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
