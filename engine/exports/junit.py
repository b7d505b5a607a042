"""JUnit XML: a suite per submission, a case per check; a fault of ours is an error, what was not tried is skipped."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree as ET

from engine.exports.record import Asked, Export, unfinished, withheld
from engine.exports.seen import carrier, for_students, looks_like, told
from engine.feedback import NO_TEXT, check_message, number, visible
from engine.records import CheckResult, ItemResult, Outcome, SubmissionResult

ELEMENTS = {
    Outcome.BROKEN: "failure",
    Outcome.RAISED: "failure",
    Outcome.TIMED_OUT: "failure",
    Outcome.UNJUDGED: "error",
    Outcome.MISSING: "skipped",
    Outcome.BLOCKED: "skipped",
    Outcome.MANUAL: "skipped",
}
COUNTED = {"failures": "failure", "errors": "error"}
_NOT_XML = re.compile("[\ufffe\uffff]")  # what `visible` leaves and XML 1.0 forbids


def junit(asked: Asked) -> Export:
    """Return one file with all submissions; it has no times, so that the same results are the same bytes."""
    root = ET.Element("testsuites", name=_clean(asked.title))
    total: Counter[str] = Counter()
    for result in asked.results:
        total += _suite(root, for_students(result), asked)
    root.attrib.update(_counts(total))
    ET.indent(root, " ")
    text = ET.tostring(root, encoding="unicode")
    return Export({"": f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'}, withheld(asked.results))


def _suite(root: ET.Element, result: SubmissionResult, asked: Asked) -> Counter[str]:
    suite = ET.SubElement(root, "testsuite", name=_clean(result.id))
    facts = ET.SubElement(suite, "properties")
    why = unfinished(result)
    known = {"unfinished": why} if why or result.score is None else {"score": number(result.score)}
    for name, value in {"status": result.status.value, **known, "max_score": number(result.max_score)}.items():
        ET.SubElement(facts, "property", name=name, value=_clean(value))
    kinds = Counter(_case(suite, check, item, asked) for item in result.items for check in item.checks)
    suite.attrib.update(_counts(kinds) | {"skipped": str(kinds["skipped"])})
    return kinds


def _case(suite: ET.Element, check: CheckResult, item: ItemResult, asked: Asked) -> str:
    """Add a case and return the name of what is in it."""
    outcome = check.verdict.outcome
    case = ET.SubElement(
        suite, "testcase", classname=_clean(item.id), name=_clean(check.verdict.check.rsplit(".", 1)[-1])
    )
    if outcome is Outcome.HELD:
        return "held"
    text = asked.texts.get(check.verdict.check, NO_TEXT)
    first_line = (check_message(check) or text.claim).partition("\n")[0]
    inside = ET.SubElement(case, ELEMENTS[outcome], type=outcome.value, message=_clean(first_line))
    name = looks_like(item) if check is carrier(item) else ""
    inside.text = _clean("\n\n".join(filter(None, [told(check, text), name])))
    return ELEMENTS[outcome]


def _counts(kinds: Counter[str]) -> dict[str, str]:
    return {"tests": str(kinds.total())} | {name: str(kinds[kind]) for name, kind in COUNTED.items()}


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", visible(text))
