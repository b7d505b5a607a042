"""What a student runs at home: the public checks, of what is begun.

A function that is still as it was handed out, or that no file mentions, and a question without an answer are told as
not begun. They are found by reading; nothing is drawn or run for them, so the first word on the first function comes in
seconds. Only `check` asks: what is handed in is graded as it is.
"""

from __future__ import annotations

import gc
import os
import threading
from dataclasses import replace

from checks.check import read_laws
from checks.contract import SIGNATURES
from engine.begun import Written
from engine.corpus import draw
from engine.launching import Launched
from engine.pipeline import Judge, Options, pinned
from engine.records import Outcome, Submission, SubmissionResult, Verdict
from engine.rubric import Rubric
from engine.score import score
from engine.sheet import read_sheet, unanswered

NOT_BEGUN = "Not begun."


def checked(
    submission: Submission, rubric: Rubric, options: Options, ahead: Launched | None = None
) -> SubmissionResult:
    """Judge what is begun of a submission; the rest is missing.

    A student's own code on the student's own machine: it is locked in where that is possible, and run anyway.
    `ahead` is a zygote that was started before all this was imported.
    """
    written = Written(submission.sources)
    contract = {signature.name for signature in SIGNATURES.values()}
    functions = rubric.functions()
    sheet = read_sheet(submission.answers) if submission.answers is not None else None
    left = {
        name for name, several in functions.items() if not any(written.has_begun(each, contract) for each in several)
    }
    left |= {question.id for question in rubric.questions if unanswered(question, sheet)}
    begun, rest = (
        replace(rubric, items=tuple(item for item in rubric.items if (item.id in left) is is_left))
        for is_left in (False, True)
    )
    recordings = draw(begun.code_checks, number=options.seed, examples=options.examples or rubric.examples)
    gc.freeze()  # the inputs stay until the end: nobody need look among them for garbage
    _read_laws_beside(begun)
    with pinned(), Judge(begun, recordings, None, closer=options.closer, ahead=ahead) as judge:
        result = judge.result(replace(submission, sources=written.begun))
    verdicts = [Verdict(check.id, Outcome.MISSING, message=NOT_BEGUN) for check in rest.checks]
    missing = score(submission, rest, verdicts, {}, "")
    found = {item.id: item for item in (*result.items, *missing.items)}
    items = tuple(found[item.id] for item in rubric.items)
    return replace(result, items=items, max_score=result.max_score + missing.max_score)


def _read_laws_beside(rubric: Rubric) -> None:
    """Import the files of the laws, and Hypothesis with them, on another core, while the worker is busy on ours.

    Nobody waits for it who needs none of them.
    """
    if (os.cpu_count() or 1) > 1:
        threading.Thread(target=read_laws, args=[rubric.code_checks]).start()


def is_good(result: SubmissionResult, submission: Submission) -> bool:
    """Return whether all that is begun holds: a function missing from a file that is there does not."""
    files = {source.stem for source in submission.sources}
    begun = [
        item
        for item in result.items
        if item.outcome is not Outcome.MISSING
        or (item.id.split(".", 1)[0] in files and item.checks[0].verdict.message != NOT_BEGUN)
    ]
    return bool(begun) and all(item.outcome is Outcome.HELD for item in begun)
