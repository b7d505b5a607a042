"""GitHub's annotations: one line per check that did not hold, shown beside the code in a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from engine.exports.record import Asked, Export, unfinished, withheld
from engine.exports.seen import carrier, for_students, looks_like, told
from engine.feedback import NO_TEXT, one_line, points
from engine.intake import ANSWERS, take_in
from engine.records import CheckResult, ItemResult, Outcome, Source, SubmissionResult, UsageError

LEVELS = {
    Outcome.BROKEN: "error",
    Outcome.RAISED: "error",
    Outcome.TIMED_OUT: "error",
    Outcome.MISSING: "warning",
    Outcome.UNJUDGED: "warning",
    Outcome.BLOCKED: "notice",
    Outcome.MANUAL: "notice",
}
# As the judge writes the lines of a student's traceback.
_TRACED = re.compile(r"(?:^|\()(?P<file>[^\n(]+\.py) line (?P<line>\d+)", re.MULTILINE)


def github(asked: Asked) -> Export:
    """Return the annotations of all submissions. Hidden checks are folded: whoever sees the repository sees these."""
    if asked.source is not None and len(asked.results) != 1:
        raise UsageError(f"--source is where one submission lies; the last run had {len(asked.results)}")
    sources = _sources(asked.source) if asked.source is not None else {}
    lines = [line for result in asked.results for line in _annotations(for_students(result), sources, asked)]
    return Export({"": "".join(f"{line}\n" for line in lines)}, withheld(asked.results))


def _annotations(result: SubmissionResult, sources: dict[str, Source | str], asked: Asked) -> Iterator[str]:
    why = unfinished(result)
    summary = f"{points(None if why else result.score, result.max_score)}{f': {why}' if why else ''}"
    yield _command("notice", {"title": one_line(result.id)}, summary)
    for item in result.items:
        for check in item.checks:
            if check.verdict.outcome in LEVELS:
                name = looks_like(item) if check is carrier(item) else ""
                said = told(check, asked.texts.get(check.verdict.check, NO_TEXT))
                place = _place(check, item, sources)
                yield _command(
                    LEVELS[check.verdict.outcome],
                    {**place, "title": check.verdict.check},
                    "\n\n".join(filter(None, [said, name])),
                )


def _command(level: str, properties: dict[str, str], message: str) -> str:
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_data(message)}"


def _data(text: str) -> str:
    r"""Return a message as GitHub wants it: on one line, so that nothing in it can begin another command.

    >>> _data("50 %\n::error::x")
    '50 %25%0A::error::x'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# ── where it is ─────────────────────────────────────────────────────────────────────────────────────────────────


def _sources(path: Path) -> dict[str, Source | str]:
    """Return the files of the submission by their paths in the repository; those in archives have none."""
    submissions = take_in([path])
    if len(submissions) != 1:
        raise UsageError(f"{path} holds {len(submissions)} submissions; --source takes one")
    (submission,) = submissions
    base = path if path.is_dir() else path.parent
    named: dict[str, Source | str] = {(base / s.name).as_posix(): s for s in submission.sources}
    if submission.answers is not None:
        named[(base / ANSWERS).as_posix()] = submission.answers
    return {name: source for name, source in named.items() if Path(name).is_file()}


def _place(check: CheckResult, item: ItemResult, sources: dict[str, Source | str]) -> dict[str, str]:
    """Return the line of the student's that raised, or else the one where the function or answer begins."""
    example = check.verdict.counterexample
    for said in (example.gave if example else "", check.verdict.message):
        for traced in reversed(list(_TRACED.finditer(said))):
            known = [name for name in sources if name.endswith(f"/{traced['file']}") or name == traced["file"]]
            if known:
                return {"file": known[0], "line": traced["line"]}
    return _beginning(item, sources)


def _beginning(item: ItemResult, sources: dict[str, Source | str]) -> dict[str, str]:
    module, _, function = item.id.rpartition(".")
    wanted = rf"^(?:def|class)\s+{re.escape(function)}\b" if module else rf"^(?:\[claim\.)?{re.escape(function)}\b"
    # The module's own file wins, as it does when it is graded.
    for name in sorted(sources, key=lambda name: (Path(name).stem != module, name)):
        source = sources[name]
        if isinstance(source, str) == bool(module) or (isinstance(source, Source) and source.is_notebook):
            continue
        text = source if isinstance(source, str) else source.cells[0]
        if found := re.search(wanted, text, re.MULTILINE):
            return {"file": name, "line": str(text.count("\n", 0, found.start()) + 1)}
    return {}
