"""Whether the same call gets the same answer: what depends on order, time or chance is told, what is right never accused."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from checks.contract import signature_of
from engine.corpus import RecordedCall, draw
from engine.handout import write_handout
from engine.honesty import LEFT_TO_CHANCE, _alike, _close
from engine.intake import take_in
from engine.judge import ASKED_AGAIN, Asked, sampled
from engine.pipeline import Judge, tier_for
from engine.records import Outcome, Status
from engine.rubric import read_rubric

RIGHT = """
import numpy as np
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
ORDER = "the answer depends on the calls made before it."
CHANCE = "the answer depends on time or on chance."
ACCUSED = "It returned one thing when called first and another when the same call was repeated in a fresh process: "


def accusations(result):
    return {c.verdict.check: c.verdict for i in result.items for c in i.checks if c.verdict.message.startswith(ACCUSED)}


@pytest.fixture(scope="module")
def first_input(own_cache):
    """The first input softmax is ever asked about, as the fixture `judged` draws it."""
    rubric = read_rubric().only(["attention.softmax"])
    return draw(rubric.checks, number=0, examples=12)[0].examples[0].calls[0].arguments[0]


def knowing(first, otherwise):
    """Return a softmax that is right only in a process whose first question is the grader's first."""
    known = f"KNOWN = np.array({first.tolist()!r})\nstarted = []\n"
    test = f"    if not started:\n        started.append(x.shape == KNOWN.shape and bool((x == KNOWN).all()))\n    if not started[0]:\n        {otherwise}\n"
    return RIGHT.replace("def softmax", known + "def softmax").replace("    e =", test + "    e =")


def test_a_submission_that_knows_the_grader_s_first_question_gains_nothing(judged, first_input):
    result = judged(knowing(first_input, "return x * 0.0"))
    told = accusations(result)
    assert result.score == 0
    assert len(told) == len(result.items[0].checks)
    assert {verdict.message for verdict in told.values()} == {ACCUSED + ORDER}
    shown = next(iter(told.values())).counterexample
    assert shown.call.startswith("softmax(np.array(")
    assert shown.gave.endswith(" when asked again")
    assert shown.expected == "the same every time"
    assert result.status is Status.GRADED


def test_a_function_that_raises_when_it_is_asked_in_another_order(judged, first_input):
    told = accusations(judged(knowing(first_input, "raise ValueError('not warm yet')")))
    assert {verdict.message for verdict in told.values()} == {ACCUSED + ORDER}
    assert "It raised ValueError: not warm yet when asked again" in next(iter(told.values())).counterexample.gave


CHANGING = {
    "chance, from the global generator": "np.random.rand(*np.shape(x))",
    "chance, from a generator of its own": "np.random.default_rng().random(np.shape(x))",
    "time": "np.sin(time.time_ns() * np.arange(1, np.size(x) + 1)).reshape(np.shape(x)) + 1",
}


@pytest.mark.parametrize("weights", CHANGING.values(), ids=CHANGING.keys())
def test_a_law_does_not_hold_for_answers_that_change(judged, weights):
    """Every distribution sums to one; of a function that answers at random that says nothing."""
    text = f"import time\nimport numpy as np\ndef softmax(x, axis=-1):\n    e = {weights}\n    return e / e.sum(axis=axis, keepdims=True)\n"
    result = judged(text)
    told = accusations(result)["attention.softmax.rows_sum_to_one"]
    assert told.outcome is Outcome.BROKEN
    assert told.message == ACCUSED + CHANCE
    assert result.score == 0


def test_the_verdict_is_the_same_every_time(judged, first_input):
    text = knowing(first_input, "return x * 0.0")
    assert judged(text) == judged(text)


def test_what_is_judged_on_its_answers_needs_no_accusation(judged):
    """Right for two hundred calls and wrong after: the wrong ones count."""
    text = "import itertools\ncount = itertools.count()\n" + RIGHT.replace(
        "return e /", "return (next(count) > 20) + e /"
    )
    result = judged(text)
    assert result.items[0].outcome is Outcome.BROKEN
    assert result.score < result.max_score


STEADY = {
    "a memory of its own": "import functools\n" + RIGHT.replace("def softmax(x, axis=-1):", "known = {}\ndef softmax(x, axis=-1):\n    key = (x.tobytes(), x.shape, axis)\n    if key not in known:\n        known[key] = plain(x, axis)\n    return known[key]\ndef plain(x, axis=-1):"),
    "a maximum that is carried on": RIGHT.replace("def softmax", "largest = [0.0]\ndef softmax").replace("    e =", "    largest[0] = max(largest[0], float(x.max()))\n    e ="),
    "a counter": RIGHT.replace("def softmax", "calls = 0\ndef softmax").replace("    e =", "    global calls\n    calls += 1\n    e ="),
    "another kind of result at every call": "import itertools\nturn = itertools.count()\n" + RIGHT.replace("return e / e.sum(axis=axis, keepdims=True)", "r = e / e.sum(axis=axis, keepdims=True)\n    return (r, r.astype(np.float32), r.tolist(), r.astype('>f8'), np.asfortranarray(r))[next(turn) % 5]"),
    "noise in the last bits": RIGHT.replace("return e / e.sum(axis=axis, keepdims=True)", "r = e / e.sum(axis=axis, keepdims=True)\n    return r * (1 + 1e-9 * np.random.default_rng().standard_normal(r.shape))"),
    "torch that takes arrays at first and tensors later": "import torch\nturns = [0]\ndef softmax(x, axis=-1):\n    turns[0] += 1\n    if turns[0] % 3 and not torch.is_tensor(x):\n        raise TypeError\n    return torch.softmax(torch.as_tensor(x), dim=axis)\n",
    "torch in single precision": "import torch\ndef softmax(x, axis=-1):\n    return torch.softmax(torch.as_tensor(x).float(), dim=axis)\n",
}  # fmt: skip


@pytest.mark.parametrize("text", STEADY.values(), ids=STEADY.keys())
def test_right_answers_are_not_accused(judged, text):
    result = judged(text)
    assert result.score == result.max_score, [c.verdict.message for c in result.items[0].checks]


def judge_items(items, files, folder, *, examples=8, limits=""):
    rows = read_rubric()
    (folder / "rubric.toml").write_text(
        limits + "".join(
            f'[item."{item.id}"]\n' + "".join(f'{c.id.rsplit(".", 1)[1]} = {{ points = 1, visibility = "public" }}\n' for c in item.checks)
            for item in rows.items if item.id in items
        ), encoding="utf-8",
    )  # fmt: skip
    home = folder / "alice"
    home.mkdir(exist_ok=True)
    for name, text in files.items():
        (home / name).write_text(text, encoding="utf-8")
    rubric = read_rubric(folder / "rubric.toml")
    (submission,) = take_in([home])
    with Judge(rubric, draw(rubric.code_checks, number=0, examples=examples), tier_for(trusted=False)) as judge:
        return judge.result(submission)


def test_exact_and_rounded_integers_are_the_same_answer(tmp_path):
    """Large whole numbers once came back as an int and as a float, and were taken for two answers."""
    turn = "import itertools\nimport numpy as np\nturn = itertools.count()\ndef odd(n):\n    return (n, float(n), np.array(float(n)), np.float64(n), [n])[next(turn) % 5]\n"
    attention = turn + "def receptive_field(heads, levels):\n    return odd((heads + 1) ** levels)\n"
    positional = turn + "def relative_parameter_count(T, heads):\n    return odd((2 * T - 1) * heads)\n"
    items = ("attention.receptive_field", "positional.relative_parameter_count")
    result = judge_items(items, {"attention.py": attention, "positional.py": positional}, tmp_path)
    assert result.score == result.max_score, [c.verdict.message for i in result.items for c in i.checks]
    signature = signature_of("attention", "receptive_field")
    call = RecordedCall("receptive_field", False, None, b"", ((),), b"", [((10, 20), None)])
    exact, rounded = (signature.accept(value, call.arguments) for value in (10**20, 1e20))
    assert _alike(Asked("attention.receptive_field", (call,), exact), exact, rounded)


BIGRAM = """
import numpy as np
def train_bigram(tokens, vocabulary_size, smoothing=1.0):
    counts = np.full((vocabulary_size, vocabulary_size), float(smoothing))
    np.add.at(counts, (tokens[:-1], tokens[1:]), 1)
    return counts / counts.sum(1, keepdims=True)
def bigram_log_probs(model, tokens):
    return np.log(model[tokens[:-1], tokens[1:]])
"""


def test_models_are_made_again_with_the_calls_that_ask_them(tmp_path):
    items = ("language_model.train_bigram", "language_model.bigram_log_probs")
    result = judge_items(items, {"language_model.py": BIGRAM}, tmp_path)
    assert result.score == result.max_score, [c.verdict.message for i in result.items for c in i.checks]
    sly = BIGRAM.replace(
        "    return np.log(",
        "    return -np.random.default_rng().random(len(tokens) - 1) if len(tokens) > 1 else np.log(",
    )
    told = accusations(judge_items(items, {"language_model.py": sly}, tmp_path))
    shown = told["language_model.bigram_log_probs.no_entry_is_positive"].counterexample
    first, second = shown.call.split("\n")
    assert first.startswith("model = train_bigram(np.array(")
    assert second.startswith("bigram_log_probs(model, np.array(")


def test_who_gives_no_answer_in_time_has_given_no_other_answer(tmp_path, own_cache):
    """A machine that is slow today must not make a right submission look dishonest; and no submission can buy time."""
    limits = "[limits]\ncall_seconds = 1.0\nsubmission_seconds = 20.0\n"
    rubric = read_rubric().only(["attention.softmax"])
    first = draw(rubric.checks, number=0, examples=8)[0].examples[0].calls[0].arguments[0]
    text = knowing(first, "import time; time.sleep(60)")
    started = time.monotonic()
    result = judge_items(("attention.softmax",), {"attention.py": text}, tmp_path, limits=limits)
    assert not accusations(result)
    assert result.score == result.max_score
    assert time.monotonic() - started < 60


def test_what_the_contract_leaves_to_chance_is_not_repeated():
    assert {item.id for item in read_rubric().code_items} > LEFT_TO_CHANCE


def test_at_home_it_is_said_as_well(tmp_path):
    home = tmp_path / "homework"
    write_handout(home, read_rubric().only(["attention.softmax"]))
    text = "import numpy as np\ndef softmax(x, axis=-1):\n    e = np.random.default_rng().random(np.shape(x))\n    return e / e.sum(axis=axis, keepdims=True)\n"
    (home / "attention.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "grader.py", "check", ".", "--json", "--examples", "8"]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    checks = {row["id"]: row for row in json.loads(done.stdout)["submissions"][0]["items"][0]["checks"]}
    assert checks["attention.softmax.rows_sum_to_one"]["message"] == ACCUSED + CHANCE
    (home / "attention.py").write_text(RIGHT, encoding="utf-8")
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_few_calls_of_each_function_are_chosen_from_the_first_to_the_last():
    def asked(function, number):
        call = RecordedCall(function, False, None, b"", (), b"", [((number,), None)])
        return Asked("attention.softmax", (call,), number)

    several = (
        [asked("f", n) for n in range(100)]
        + [asked("g", n) for n in range(3)]
        + [asked("f", n) for n in range(100, 150)]
    )
    chosen = sampled(several)
    assert [each.value for each in chosen if each.function == "g"] == [0, 1, 2]
    numbers = [each.value for each in chosen if each.function == "f"]
    assert len(numbers) == ASKED_AGAIN
    assert numbers[0] == 0
    assert numbers[-1] == 149
    assert numbers == sorted(set(numbers))
    assert sampled([]) == []


SAME = {
    "single and double precision": (
        np.array([1 / 3, 1e-9]),
        np.array([1 / 3, 1e-9]).astype(np.float32).astype(float),
        True,
    ),
    "nothing at all": (np.zeros(0), np.zeros(0), True),
    "not a number, twice": (np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), True),
    "infinite, twice": (np.array([-np.inf, 1.0]), np.array([-np.inf, 1.0]), True),
    "infinite and minus infinite": (np.array([-np.inf]), np.array([np.inf]), False),
    "infinite and large": (np.array([np.inf]), np.array([1e300]), False),
    "a number and none": (np.array([1.0]), np.array([np.nan]), False),
    "a hundredth": (np.array([1.0, 0.01]), np.array([1.0, 0.02]), False),
    "a hundredth of a large number": (np.array([100.0, 0.01]), np.array([100.0, 0.02]), True),
    "another text": ("a", "b", False),
}


@pytest.mark.parametrize(("first", "again", "same"), SAME.values(), ids=SAME.keys())
def test_when_two_answers_are_the_same(first, again, same):
    assert _close(first, again, 0.0) is same
