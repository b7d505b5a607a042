"""The checks of language_model.py hold where they must, catch what they must, and draw what they say they draw."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from checks import corpora, language_model
from checks.check import Check, checks_in
from checks.contract import signature_of
from checks.expect import Failure
from checks.misconception import Misconception, functions_of, misconceptions_in
from checks.misconceptions import language_model as wrong
from checks.subject import InProcess
from engine.corpus import Example, Recording, draw
from engine.diagnosis import Answers, _alike
from engine.verify import first_calls, holds
from engine.worker import tools
from reference import language_model as right

CHECKS = checks_in(language_model)
ITEMS = sorted({check.of for check in CHECKS})
MISCONCEPTIONS = misconceptions_in(wrong)
EXAMPLES = 30


@cache
def recorded(check_id: str) -> Recording:
    """Draw a check's examples once; raises unless the reference holds."""
    (check,) = [check for check in CHECKS if check.id == check_id]
    return draw([check], number=0, examples=EXAMPLES)[0]


def recordings(item: str) -> list[Recording]:
    return [recorded(check.id) for check in CHECKS if check.of == item]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_reference_holds_whatever_the_seed(check: Check) -> None:
    for number in range(1, 4):
        assert draw([check], number=number, examples=20)[0].examples


def test_only_agreement_needs_the_reference() -> None:
    assert [check.id for check in CHECKS if check.needs_truth] == ["language_model.train_bigram.agrees_with_definition"]


# Right models nobody would fail


def in_single_precision(name: str) -> Callable[..., Any]:
    function = getattr(right, name)
    return lambda *arguments: function(*arguments).astype(np.float32)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_right_log_probabilities_in_single_precision_hold(check: Check) -> None:
    def find(name: str) -> Callable[..., Any]:
        return in_single_precision(name) if name.endswith("log_probs") else getattr(right, name)

    assert all(holds(check, example, find) for example in recorded(check.id).examples)


def every_sample(length: int) -> list[corpora.Sample]:
    return [corpora.sample(chain, length, number) for chain in corpora.CHAINS for number in range(8)]


def test_no_text_there_is_was_drawn_with_bad_luck() -> None:
    """A counted bigram needs less than half of what approaches_the_entropy_rate allows for learning."""
    for sample in every_sample(4000):
        source = -sample.chain.log_probs(sample.held_out).mean()
        assert abs(source - sample.chain.rate) < sample.chain.deviation(3999) < 0.16
        model = right.train_bigram(sample.train, sample.chain.size)
        assert abs(-right.bigram_log_probs(model, sample.held_out).mean() - source) < 0.01


def test_context_is_worth_a_lot_in_every_text() -> None:
    for length in (800, 1000):
        for sample in every_sample(length):
            source = -sample.chain.log_probs(sample.held_out).mean()
            assert corpora.unigram_surprise(sample.held_out) - source > 0.1


def test_nothing_beats_the_source_not_even_the_best_table_for_the_text_by_much() -> None:
    """The margin is not vacuous: a table fitted to the held-out text itself, which is cheating, may pass or not,
    but one that is off by a factor of 1.1 in every entry does not.
    """
    sample = corpora.sample(corpora.CHAINS[1], 1000, 0)
    logs = sample.chain.log_probs(sample.held_out)
    assert (logs - sample.chain.log_probs(sample.held_out)).sum() <= corpora.LUCK
    assert (logs + math.log(1.1) - sample.chain.log_probs(sample.held_out)).sum() > corpora.LUCK


def test_add_one_trigrams_over_bytes_stay_below_the_bound_for_random_letters() -> None:
    """The clumsiest right character model we can think of: two characters of context, 256 cells, add one."""
    for number in range(8):
        train, new = language_model.letters(8000, number), language_model.letters(500, number + 100)
        counts = np.ones((256, 256, 256), dtype=np.float32)
        codes = np.frombuffer(train.encode(), dtype=np.uint8)
        np.add.at(counts, (codes[:-2], codes[1:-1], codes[2:]), 1)
        asked = np.frombuffer(new.encode(), dtype=np.uint8)
        rows = counts[asked[:-2], asked[1:-1]]
        logs = np.log(rows[np.arange(len(rows)), asked[2:]] / rows.sum(axis=1))
        assert math.exp(-logs.mean()) < 7.0


# Whatever a student returns


class Fixed:
    """Stands in for the functions of a submission that returns one number everywhere."""

    def __init__(self, number: float) -> None:
        self.number = number

    def find(self, name: str) -> Callable[..., Any]:
        if name.endswith("log_probs"):
            return lambda *arguments: np.full(len(arguments[-1]) - 1, self.number)
        if name == "train_neural_bigram":
            return lambda *_arguments: {"W": np.full((2, 2), self.number)}
        return (lambda text: text) if name == "preprocess" else (lambda *_arguments: "model")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_body_raises_nothing_but_failure_and_leaves_its_inputs_alone(check: Check, number: float) -> None:
    fixed = Fixed(number)
    for example in recorded(check.id).examples[:4]:
        before = pickle.dumps(example.drawn)
        handed: dict[str, Any] = {
            name: InProcess(fixed.find(name), signature_of("language_model", name)) for name in check.functions
        }
        if check.needs_truth:
            handed["truth"] = right
        try:
            check.body(**handed, **example.drawn)
        except Failure as failure:
            assert failure.sentence  # noqa: PT017 -- a failure is one of two right outcomes
        assert pickle.dumps(example.drawn) == before


# Mistakes


def catches(recording: Recording, mistake: Misconception) -> bool:
    find = functions_of(mistake, right, tools)
    return any(not holds(recording.check, example, find) for example in recording.examples)


@cache
def caught_by(mistake: Misconception) -> frozenset[str]:
    return frozenset(each.check.id for each in recordings(mistake.of) if catches(each, mistake))


@cache
def answers(mistake: Misconception) -> list[list[Any]]:
    found = []
    for recording in recordings(mistake.of):
        own = Answers(mistake)
        found.append([own.answer(call, position) for position, call in enumerate(first_calls(recording))])
    return found


def same_answers(one: Misconception, other: Misconception) -> bool:
    pairs = zip(answers(one), answers(other), strict=True)
    return all(_alike(a, b) for first, second in pairs for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("mistake", MISCONCEPTIONS, ids=lambda each: f"{each.of}: {each.name}")
def test_every_misconception_is_caught(mistake: Misconception) -> None:
    assert caught_by(mistake)


@pytest.mark.parametrize("item", ITEMS)
def test_no_two_misconceptions_agree_on_what_a_diagnosis_looks_at(item: str) -> None:
    named = [each for each in MISCONCEPTIONS if each.of == item]
    assert len({each.name for each in named}) == len(named) >= 8
    for position, one in enumerate(named):
        assert same_answers(one, one)
        for other in named[position + 1 :]:
            assert not same_answers(one, other), f"{one.name!r} and {other.name!r}"


PEERLESS = {  # what no single wrong function commits: it takes a pair of functions, or an accident
    "language_model.bigram_log_probs.leaves_arguments_alone",
    "language_model.train_bigram.names_of_words_do_not_matter",
    "language_model.train_neural_bigram.same_seed_same_parameters",
    "language_model.neural_log_probs.saved_parameters_reload",
}


def test_every_other_check_catches_a_misconception() -> None:
    caught = frozenset().union(*(caught_by(mistake) for mistake in MISCONCEPTIONS))
    assert {check.id for check in CHECKS} - caught <= PEERLESS


def run(check: Check, find: Callable[[str], Callable[..., Any]], example: Example) -> bool:
    return holds(check, example, find)


@pytest.mark.parametrize("check_id", sorted(PEERLESS))
def test_the_other_checks_catch_what_they_are_for(check_id: str) -> None:
    state: dict[str, Any] = {"calls": 0}

    def writes(model: Any, tokens: Any) -> Any:
        result = right.bigram_log_probs(model, tokens)
        tokens[:] = 0
        return result

    def skips_word_zero(tokens: Any, size: int, smoothing: float = 1.0) -> Any:
        return right.bigram_table(tokens[tokens > 0], size, smoothing)

    def unseeded(*arguments: Any) -> Any:
        state["calls"] += 1
        return right.train_neural_bigram(*arguments[:-1], state["calls"])

    def remembers(*arguments: Any) -> Any:
        state["params"] = right.train_neural_bigram(*arguments)
        return state["params"]

    mistakes: dict[str, dict[str, Callable[..., Any]]] = {
        "leaves_arguments_alone": {"bigram_log_probs": writes},
        "names_of_words_do_not_matter": {"train_bigram": skips_word_zero},
        "same_seed_same_parameters": {"train_neural_bigram": unseeded},
        "saved_parameters_reload": {
            "train_neural_bigram": remembers,
            "neural_log_probs": lambda _params, *rest: right.neural_log_probs(state["params"], *rest),
        },
    }
    functions = mistakes[check_id.rsplit(".", 1)[1]]
    recording = recorded(check_id)
    found = [
        run(recording.check, lambda name: functions.get(name) or getattr(right, name), e) for e in recording.examples
    ]
    assert not all(found)
