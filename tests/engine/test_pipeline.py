"""A whole run: the same bytes whatever the order and the number of jobs, resumed, and never at a neighbour's cost."""

import json
from pathlib import Path

import pytest

from engine import pipeline
from engine.pipeline import Options, grade
from engine.records import GraderFault, Status, UsageError

EXAMPLES = Path(__file__).resolve().parents[2] / "submissions" / "examples"
NAMES = [
    "right_numpy",
    "right_torch",
    "softmax_over_the_wrong_axis",
    "softmax_modifies_its_input",
    "softmax_forgets_keepdims",
]
OPTIONS = {"only": ("attention.softmax",), "examples": 15}


def run(paths, out, **options):
    told = []
    results = grade(paths, Options(out=out, **{**OPTIONS, **options}), told.append, lambda _: None)
    return results, told


def test_results_are_the_same_bytes_whatever_the_jobs_and_the_order(tmp_path):
    paths = [EXAMPLES / name for name in NAMES]
    files = []
    for number, (order, jobs) in enumerate([(paths, 1), (paths[::-1], 2), (paths, 2)]):
        run(order, tmp_path / str(number), jobs=jobs)
        files.append((tmp_path / str(number) / "results.json").read_bytes())
    assert files[0] == files[1] == files[2]
    rows = json.loads(files[0])["submissions"]
    assert [row["id"] for row in rows] == sorted(NAMES)
    assert {row["id"]: row["items"][0]["diagnosis"] for row in rows}[
        "softmax_modifies_its_input"
    ] == "modifies its input"


def test_another_seed_draws_other_inputs_and_comes_to_the_same_verdicts(tmp_path):
    first, _ = run([EXAMPLES / "softmax_over_the_wrong_axis"], tmp_path / "a", seed=0)
    second, _ = run([EXAMPLES / "softmax_over_the_wrong_axis"], tmp_path / "b", seed=1)
    outcomes = [[check.verdict.outcome for check in results[0].items[0].checks] for results in (first, second)]
    assert outcomes[0] == outcomes[1]


def test_an_unchanged_submission_is_not_graded_twice(tmp_path, monkeypatch):
    out = tmp_path / "out"
    before, _ = run([EXAMPLES / "right_numpy"], out)
    monkeypatch.setattr(
        pipeline,
        "judged",
        lambda submissions, *_: pytest.fail("graded again") if submissions else (none for none in ()),
    )
    after, told = run([EXAMPLES / "right_numpy"], out)
    assert after == before
    assert len(told) == 1


def test_fresh_grades_anew_and_a_changed_submission_too(tmp_path):
    out, alice = tmp_path / "out", tmp_path / "alice"
    alice.mkdir()
    (alice / "attention.py").write_text("def softmax(x, axis=-1):\n    return x\n", encoding="utf-8")
    wrong, _ = run([alice], out)
    (alice / "attention.py").write_text(
        (EXAMPLES / "right_numpy" / "attention.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    right, _ = run([alice], out)
    again, _ = run([alice], out, fresh=True)
    assert wrong[0].score < right[0].score == again[0].score == again[0].max_score


def test_a_fault_of_ours_withholds_that_score_and_no_other(tmp_path, monkeypatch):
    real = pipeline.judge

    def judge(submission, *arguments):
        if submission.id == "right_torch":
            raise GraderFault("the disk is on fire")
        return real(submission, *arguments)

    monkeypatch.setattr(pipeline, "judge", judge)
    results, _ = run([EXAMPLES / "right_numpy", EXAMPLES / "right_torch"], tmp_path / "out", jobs=1)
    by_id = {result.id: result for result in results}
    assert by_id["right_torch"].status is Status.WITHHELD
    assert by_id["right_torch"].score is None
    assert by_id["right_numpy"].score == by_id["right_numpy"].max_score
    row = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))["submissions"][1]
    assert row["score"] is None
    assert row["items"][0]["outcome"] == "unjudged"


def test_a_judge_that_dies_costs_no_other_submission(tmp_path, monkeypatch):
    import os

    real = pipeline.Judge.result

    def result(self, submission):
        if submission.id == "right_torch":
            os._exit(1)
        return real(self, submission)

    monkeypatch.setattr(pipeline.Judge, "result", result)
    results, _ = run([EXAMPLES / name for name in NAMES], tmp_path / "out", jobs=2)
    by_id = {found.id: found for found in results}
    assert set(by_id) == set(NAMES)
    assert [name for name, found in by_id.items() if found.status is Status.WITHHELD] == ["right_torch"]


def test_untrusted_code_is_refused_where_it_cannot_be_locked_in(tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline.sandbox, "probe", lambda: pipeline.sandbox.Tier.NONE)
    with pytest.raises(UsageError, match="--trusted"):
        run([EXAMPLES / "right_numpy"], tmp_path / "out")
    results, _ = run([EXAMPLES / "right_numpy"], tmp_path / "out", trusted=True)
    assert results[0].score == results[0].max_score


def test_every_tier_comes_to_the_same_result(tmp_path, monkeypatch):
    best = pipeline.sandbox.probe()
    seen = set()
    for tier in pipeline.sandbox.Tier:
        if list(pipeline.sandbox.Tier).index(tier) >= list(pipeline.sandbox.Tier).index(best):
            monkeypatch.setattr(pipeline.sandbox, "probe", lambda tier=tier: tier)
            run([EXAMPLES / "right_numpy", EXAMPLES / "softmax_over_the_wrong_axis"], tmp_path / tier, trusted=True)
            seen.add((tmp_path / tier / "results.json").read_bytes())
    assert len(seen) == 1
