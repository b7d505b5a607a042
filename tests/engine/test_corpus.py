"""Inputs that were drawn once are found again as they were, and no more of them is read than is asked for."""

import pickle

import numpy as np
import pytest

from engine import cache
from engine.corpus import draw
from engine.rubric import read_rubric

ITEM = "attention.softmax"


@pytest.fixture(scope="module")
def drawn(own_cache):
    return draw(read_rubric().only([ITEM]).code_checks, number=0, examples=8)


def test_an_example_is_kept_with_all_that_was_recorded(drawn):
    for recording in drawn:
        for example, found in zip(recording.examples, pickle.loads(cache.packed(recording.examples)), strict=True):
            np.testing.assert_equal(found.drawn, example.drawn)
            with np.printoptions(precision=17, threshold=10**6):  # a truth is a record, with its margin
                assert repr(found.truths) == repr(example.truths)
            for call, other in zip(example.calls, found.calls, strict=True):
                np.testing.assert_equal(other.arguments, call.arguments)
                np.testing.assert_equal(other.returned, call.returned)
                sent = [(c.function, c.keep, c.store, c.payload, c.shapes, c.frame) for c in (call, other)]
                assert sent[0] == sent[1]


def test_an_example_that_was_found_can_be_kept_again(drawn):
    (first, *_), *_ = (recording.examples for recording in drawn)
    once = pickle.loads(cache.packed(first))
    again = pickle.loads(cache.packed(once))
    np.testing.assert_equal(again.drawn, first.drawn)
    np.testing.assert_equal([call.returned for call in again.calls], [call.returned for call in first.calls])


def test_what_was_drawn_is_the_very_array_that_was_sent(drawn):
    """Or a body that asks for what was recorded would have to compare numbers."""
    recording = next(each for each in drawn if each.check.id.endswith("agrees_with_definition"))
    found = pickle.loads(cache.packed(recording.examples))
    held = {id(array) for example in found for array in _arrays(example.drawn)}
    assert all(id(array) in held for example in found for call in example.calls for array in _arrays(call.arguments))


def test_content_is_read_when_it_is_first_wanted(drawn, monkeypatch):
    found = pickle.loads(cache.packed(drawn[0].examples))
    read = []
    unpacked = cache.unpacked
    monkeypatch.setattr(cache, "unpacked", lambda content: read.append(len(content)) or unpacked(content))
    assert all(call.payload for example in found for call in example.calls)
    assert read == []
    _ = found[0].drawn, found[0].truths, found[0].calls[0].arguments
    assert len(read) == 1


def _arrays(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        yield from _arrays(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _arrays(each)
