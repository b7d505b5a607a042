"""How much work right code does: exact polynomials, beside the reference's, and a word where a higher power is done."""

from dataclasses import replace

import numpy as np
import pytest

from engine.intake import take_in
from engine.judge import counts
from engine.pipeline import Options, judged, tier_for
from engine.records import Outcome
from engine.rubric import read_rubric
from engine.work import WORK, work_of_reference
from engine.workers import Zygotes

# Worked out by hand from the definitions.
BY_HAND = {
    "attention.dot_product_attention": "n d + n v",
    "attention.scaled_dot_product_attention": "2 n m d",
    "attention.self_attention": "2 n² h + 3 n d h",
    "attention.multi_head_attention": "4 n² h + 8 n d h",
    "attention.relative_bias_attention": "n² d + n² v",
    "attention.additive_attention": "n d h + n d + n h + d h",
    "attention.projection_matrix": "d² m",
    "gates.rnn_gradient_norms": "T d h + 2 T h²",
    "network.input_gradient": "2 D H + 2 H C",
    "transformer.feed_forward": "2 n d f",
}

WASTEFUL = """
import numpy as np
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
def self_attention(X, W_q, W_k, W_v, mask=None):
    rows = []
    for i in range(X.shape[-2]):  # the keys and values of all words, anew for each of them
        scores = (X[..., i, :] @ W_q)[..., None, :] @ np.swapaxes(X @ W_k, -1, -2) / np.sqrt(W_q.shape[1])
        if mask is not None:
            scores = scores + mask[..., i, :][..., None, :]
        rows.append((softmax(scores) @ (X @ W_v))[..., 0, :])
    return np.stack(rows, axis=-2)
"""


def judged_items(folder, *only):
    rubric = read_rubric().only(only)
    ((_, result),) = judged(take_in([folder]), rubric, Options(examples=6), tier_for(trusted=False))
    return {item.id: item for item in result.items}


def test_the_reference_can_be_counted_everywhere():
    assert {item for item in WORK if work_of_reference(item) is None} == set()


@pytest.mark.parametrize("item", BY_HAND)
def test_the_reference_does_what_its_definition_says(item):
    assert work_of_reference(item).text == BY_HAND[item]


def test_a_right_submission_is_told_its_work(root):
    items = judged_items(
        root / "submissions" / "examples" / "right_numpy", "attention.self_attention", "gates.gru_cell"
    )
    assert items["attention.self_attention"].work == (
        "self_attention does 2 n² h + 3 n d h multiply-adds (n words of width d, queries and values of width h)."
    )
    assert "3 d h + 3 h²" in items["gates.gru_cell"].work


def test_a_higher_power_is_said_and_costs_nothing(tmp_path):
    (tmp_path / "attention.py").write_text(WASTEFUL, encoding="utf-8")
    item = judged_items(tmp_path, "attention.self_attention")["attention.self_attention"]
    assert item.outcome is Outcome.HELD
    assert item.score == item.max_score
    assert item.work.startswith("self_attention does 2 n² d h + 2 n² h + n d h multiply-adds")
    assert "The reference does 2 n² h + 3 n d h: this grows faster along d = t, n = t (h fixed)." in item.work


def test_a_wrong_function_is_not_counted(root):
    folder = root / "submissions" / "examples" / "attention_without_scale"
    items = judged_items(folder, "attention.scaled_dot_product_attention")
    (item,) = items.values()
    assert item.outcome is Outcome.BROKEN
    assert item.work == ""


def test_many_slow_calls_do_not_outlast_the_submission(tmp_path):
    """Each of them is answered in time; all of them together are not."""
    (tmp_path / "gates.py").write_text("import time\ndef sigmoid(x):\n    time.sleep(0.2)\n    return x * x\n")
    (submission,) = take_in([tmp_path])
    budget = replace(read_rubric().budget, submission_seconds=1.0)
    calls = {"gates.sigmoid": [(np.ones(number),) for number in range(1, 61)]}
    with Zygotes(tier_for(trusted=False), budget) as zygotes:
        assert counts(submission, {"gates.sigmoid": calls["gates.sigmoid"][:2]}, zygotes, budget).keys() == calls.keys()
        assert counts(submission, calls, zygotes, budget) == {}
