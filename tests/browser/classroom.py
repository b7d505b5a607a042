"""A class of any size made up from the standard rubric: the same every time, every outcome in it, nothing graded."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from engine.pipeline import texts_of
from engine.records import (
    Counterexample,
    Diagnosis,
    Excerpt,
    Outcome,
    Student,
    Submission,
    SubmissionResult,
    Verdict,
)
from engine.results import write_results
from engine.rubric import STANDARD, read_rubric
from engine.score import score

MISTAKES = ("softmax over the wrong axis", "no maximum subtracted", "z and 1-z swapped", "positions from 1")
LIKELY = [Outcome.HELD] * 16 + [Outcome.BROKEN] * 3 + [Outcome.RAISED, Outcome.MISSING]
RARE = [Outcome.TIMED_OUT, Outcome.BLOCKED, Outcome.MANUAL]
SOURCE = "def softmax(x, axis=-1):\n    e = np.exp(x)\n    return e / e.sum(axis)\n" * 4
HOSTILE = "</pre></table><script>alert(1)</script><img src=x onerror=alert(1)>\"'"


def classroom(size: int) -> list[SubmissionResult]:
    """Return results for `size` students, named student_000 and so on."""
    rubric = read_rubric(STANDARD)
    drawn = random.Random(0)
    return [_result(f"student_{number:03}", rubric, drawn) for number in range(size)]


def write(folder: Path, results: list[SubmissionResult]) -> None:
    """Write the report as a run does."""
    rubric = read_rubric(STANDARD)
    write_results(folder, results, rubric=rubric.digest, seed=0, texts=texts_of(rubric), title=rubric.title)


def _result(name, rubric, drawn):
    verdicts, diagnoses = [], {}
    for item in rubric.items:
        outcome = drawn.choice(LIKELY if drawn.random() < 0.98 else RARE)
        verdicts += [_verdict(check.id, outcome if place == 0 or outcome is Outcome.MISSING else Outcome.HELD, drawn)
                     for place, check in enumerate(item.checks)]  # fmt: skip
        if outcome is Outcome.BROKEN and drawn.random() < 0.2:
            diagnoses[item.id] = _mistake(drawn)
    if drawn.random() < 0.01:
        verdicts[0] = Verdict(verdicts[0].check, Outcome.UNJUDGED, message="worker 7 vanished")
    submission = Submission(name, "", students=(Student(name, f"Student {name[-3:]}"),), late=drawn.random() < 0.05)
    result = score(submission, rubric, verdicts, diagnoses, "loss 1.0\n" * 20)
    written = {"code": (Excerpt("attention.py", 5, SOURCE),)}
    return replace(result, items=tuple(replace(item, written=written.get(item.kind, ())) for item in result.items))


def _verdict(check, outcome, drawn):
    if outcome is not Outcome.BROKEN:
        return Verdict(check, outcome, 100 if outcome is Outcome.HELD else 0)
    rows = [[round(drawn.uniform(-1, 1), 3) for _ in range(4)] for _ in range(3)]
    want = [[abs(x) for x in row] for row in rows]
    return Verdict(check, outcome, 3, "The result is off by 0.5.",
                   Counterexample("softmax(np.array([1.0, 2.0]))", str(rows), str(want)))  # fmt: skip


def _mistake(drawn):
    return Diagnosis(drawn.choice(MISTAKES), "It comes from reading the formula in a hurry.")
