"""The language models of the reference against exact fractions, slow loops and torch's autograd."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch

from checks import corpora
from reference import language_model as lm


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("smoothing", [1, Fraction(1, 2), 2, Fraction(1, 16)])
def test_bigram_table_is_the_fraction_of_the_contract(rng, smoothing):
    for size in (1, 2, 5):
        tokens = rng.integers(size, size=30).tolist()
        pairs = Counter(pairwise(tokens))
        before = Counter(tokens[:-1])
        table = lm.bigram_table(np.array(tokens), size, float(smoothing))
        for a in range(size):
            row = [Fraction(pairs[a, b] + smoothing) / (before[a] + smoothing * size) for b in range(size)]
            assert sum(row) == 1
            np.testing.assert_allclose(table[a], [float(p) for p in row], rtol=1e-15)


def test_bigram_log_probs_are_natural_and_one_fewer_than_tokens():
    model = lm.train_bigram(np.array([0, 1, 0, 2]), 3)
    np.testing.assert_allclose(lm.bigram_log_probs(model, np.array([0, 1, 2])), np.log([2 / 5, 1 / 4]))
    assert lm.bigram_log_probs(model, np.array([1])).shape == (0,)


def test_neural_gradients_equal_autograd(rng):
    size, width, hidden = 4, 3, 5
    E = rng.normal(size=(size, width))
    tokens = rng.integers(size, size=50)
    shares = np.zeros((size, size))
    np.add.at(shares, (tokens[:-1], tokens[1:]), 1 / 49)
    shapes = {"W1": (width, hidden), "b1": (1, hidden), "W2": (hidden, size), "b2": (1, size)}
    params = {key: rng.normal(size=shape) for key, shape in shapes.items()}
    tensors = {key: torch.tensor(value, requires_grad=True) for key, value in params.items()}
    h = torch.tanh(torch.tensor(E)[tokens[:-1]] @ tensors["W1"] + tensors["b1"])
    loss = torch.nn.functional.cross_entropy(h @ tensors["W2"] + tensors["b2"], torch.tensor(tokens[1:]))
    loss.backward()
    for key, gradient in lm._gradients(shares, E, params).items():
        np.testing.assert_allclose(gradient, tensors[key].grad.numpy(), atol=1e-14)
    got = lm.neural_log_probs(params, E, tokens)
    np.testing.assert_allclose(-got.mean(), loss.item(), rtol=1e-13)


def test_neural_bigram_reaches_the_counted_one():
    sample = corpora.sample(corpora.CHAINS[2], 2000, 0)
    E = np.eye(4, 5)
    params = lm.train_neural_bigram(sample.train, E, hidden=12, steps=400, seed=0)
    learned = -lm.neural_log_probs(params, E, sample.held_out).mean()
    counted = -lm.bigram_log_probs(lm.train_bigram(sample.train, 4), sample.held_out).mean()
    assert abs(learned - counted) < 0.01


def test_neural_bigram_depends_on_its_seed_alone():
    sample = corpora.sample(corpora.CHAINS[1], 60, 0)
    E = np.eye(3, 4)
    first, again, other = (lm.train_neural_bigram(sample.train, E, 5, 200, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(first[key], again[key]) for key in first)
    assert not np.array_equal(first["W1"], other["W1"])


def test_char_model_sums_to_one_over_its_alphabet_and_one_unseen_character():
    text = "to be or not to be"
    model = lm.train_char_model(text)
    for context in "t b§":
        total = sum(math.exp(lm.char_log_probs(model, context + c)[0]) for c in [*set(text), "§"])
        assert math.isclose(total, 1.0, rel_tol=1e-12)
    np.testing.assert_array_equal(lm.char_log_probs(model, "tx"), lm.char_log_probs(model, "t§"))


@pytest.mark.parametrize(
    ("text", "plain"), [("", ""), ("“A”", '"a"'), ("Ünïted", "united"), (" a\t\nb ", "a b"), ("日本", "日本")]
)
def test_preprocess(text, plain):
    assert lm.preprocess(text) == plain


# The chains themselves: what the checks claim about them.


@pytest.mark.parametrize("chain", corpora.CHAINS, ids=lambda chain: str(chain.size))
def test_entropy_rate_is_that_of_the_stationary_chain(chain):
    """Power iteration in extended precision, which shares nothing with the argument about equal rows."""
    P = np.array([np.roll(chain.row, target) for target in chain.targets], dtype=np.longdouble) / 16
    stationary = np.full(chain.size, np.longdouble(1) / chain.size)
    for _ in range(2000):
        stationary = stationary @ P
    rate = -(stationary[:, None] * P * np.log(P)).sum()
    assert abs(rate - chain.rate) < 1e-15
    tokens = corpora.sample(chain, 200, 0).train
    np.testing.assert_allclose(chain.log_probs(tokens), np.log(P[tokens[:-1], tokens[1:]]).astype(float), rtol=1e-14)


@pytest.mark.parametrize("chain", corpora.CHAINS, ids=lambda chain: str(chain.size))
def test_samples_have_the_frequencies_of_their_chain(chain):
    tokens = corpora.sample(chain, 4000, 3).train
    P = np.array([np.roll(chain.row, target) for target in chain.targets]) / 16
    assert np.abs(lm.bigram_table(tokens, chain.size) - P).max() < 0.1
