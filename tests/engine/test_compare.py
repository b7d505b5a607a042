"""`compare`: one record a line in, one out, whatever the line is."""

from __future__ import annotations

import json

import pytest

from engine.commands import main
from engine.compare import Tally, compare

CASES = "tests/formulas/cases.jsonl"


def judged(*rows):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    tally = Tally()
    return list(compare(lines, tally)), tally


VARIANCE = {
    "id": "v", "expected": "2 sigma^2 mu^T mu + d sigma^4", "answer": "2*d*sigma**2*mu.T@mu + d*sigma**4",
    "symbols": {"mu": {"shape": ["d"]}, "sigma": {"is": ["positive"]}, "d": {"is": ["integer"]}}, "given": ["d >= 1"],
}  # fmt: skip


def test_every_judged_formula_gets_its_verdict(root, capsys):
    assert main(["compare", str(root / CASES)]) == 0
    printed = capsys.readouterr()
    records = [json.loads(line) for line in printed.out.splitlines()]
    assert len(records) == 112
    assert all(set(record) == {"id", "verdict", "counterexample", "hint", "message"} for record in records)
    assert all(record["counterexample"] for record in records if record["verdict"] == "refuted")
    assert "wrongly" not in printed.err
    assert "54 of 55 right ones proved for all sizes" in printed.err


def test_a_wrong_formula_is_explained():
    ((record,), _) = judged(VARIANCE)
    assert record == {
        "id": "v",
        "verdict": "refuted",
        "counterexample": "d = 2, μ = (1, 0), σ = 1: yours 6, expected 4",
        "hint": "The first term has an extra factor d. As it happens, they agree when d = 1.",
        "message": "A counterexample: d = 2, μ = (1, 0), σ = 1: yours 6, expected 4.",
    }


BAD = {
    "not json": "not a JSON record",
    "[1, 2]": "a record is an object",
    '{"expected": "1"}': "answer must be a text",
    '{"expected": "1", "answer": "1"}': "symbols must be an object",
    '{"expected": "1", "answer": "1", "symbols": {"x": 3}}': "symbols must be an object of objects",
    '{"expected": "1", "answer": "1", "symbols": {}, "given": "n"}': "given must be a list",
    '{"expected": "1", "answer": "1", "symbols": {}, "relation": "like"}': "relation must be one of",
    '{"expected": "1", "answer": "1", "symbols": {"x": {"is": ["purple"]}}}': "purple",
    '{"expected": "(", "answer": "1", "symbols": {}}': "The question itself cannot be read",
    '{"expected": "1", "answer": "(", "symbols": {}}': "^",
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_record_is_said_and_the_next_is_judged(line):
    (first, second), _ = judged(line, VARIANCE)
    assert first["verdict"] == "unreadable"
    assert BAD[line] in first["message"]
    assert second["verdict"] == "refuted"


def test_a_contradicted_verdict_is_counted():
    _, tally = judged({**VARIANCE, "verdict": True}, {**VARIANCE, "answer": VARIANCE["expected"], "verdict": False})
    assert tally.false_rejects == ["v"]
    assert tally.false_accepts == ["v"]
    assert not tally.good


def test_a_file_that_is_not_there_is_wrong_usage(capsys):
    assert main(["compare", "nowhere.jsonl"]) == 2
    assert "nowhere.jsonl cannot be read" in capsys.readouterr().err
