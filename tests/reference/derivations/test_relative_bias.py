from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from reference.attention import relative_bias_attention, softmax
from reference.derivations import relative_bias as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition
from reference.positional import sinusoidal_encoding

DERIVATION = proof.DERIVATION
i, j, l, n, d, e = proof.i, proof.j, proof.l, proof.n, proof.d, proof.e
alpha, pi, shift, dot, biased = proof.alpha, proof.pi, proof.shift, proof.dot, proof.biased


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_weights_are_the_references(value):
    """Sinusoids have q_i·k_j that depends on i - j only: relative_bias_attention gives the derived weights."""
    rng = np.random.default_rng(0)
    words = {name: rng.normal(size=(3, 2)) for name in "qk"}
    positions = sinusoidal_encoding(3, 4, 10.0)
    bias = [positions[max(r, 0)] @ positions[max(-r, 0)] for r in range(-2, 3)]  # of distance r = i - j
    weights = relative_bias_attention(words["q"], words["k"], np.eye(3), bias)
    joined = {name: np.hstack([words[name], positions]) for name in "qk"}
    np.testing.assert_allclose(weights, softmax(joined["q"] @ joined["k"].T), atol=1e-12)
    known = {
        **words,
        "q_pos": positions,
        "k_pos": positions,
        "Q": joined["q"],
        "K": joined["k"],
        "d": 2,
        "e": 4,
        "n": 3,
    }
    for weight in (alpha[i, j], proof.beta[i, j]):
        got = [
            [value(weight, {**known, "i": row, "j": column}, DERIVATION.context.definitions) for column in range(1, 4)]
            for row in range(1, 4)
        ]
        np.testing.assert_allclose(got, weights, atol=1e-12)
    shifted = relative_bias_attention(words["q"], words["k"], np.eye(3), np.array(bias) + 7)
    np.testing.assert_allclose(shifted, weights, atol=1e-12)


def test_in_exact_fractions():
    """With e replaced by 2 and whole scores, weights on lists joined end to end are those with the bias added."""
    vectors = list(product((-1, 2), repeat=2))

    def weights(scores):
        return [Fraction(2) ** score / sum(Fraction(2) ** other for other in scores) for score in scores]

    def times(first, second):
        return sum(a * b for a, b in zip(first, second, strict=True))

    for query, place in product(vectors, repeat=2):
        keys = list(zip(vectors, reversed(vectors), strict=True))
        biased = [times(query, key) + times(place, at) for key, at in keys]
        assert weights(biased) == weights([times(query + place, key + at) for key, at in keys])
        assert weights(biased) == weights([score + 5 for score in biased])


by_exponential = sp.exp(dot(proof.q, proof.k, j, d))
WRONG = {
    "the bias of another key": (biased(j), dot(proof.q, proof.k, j, d) + pi[i, i], definition("pi")),
    "positions of the words' length": (dot(proof.Q, proof.K, j, d + e), dot(proof.q, proof.k, j, d) + dot(proof.q_pos, proof.k_pos, j, d), proof.apart),
    "the sheet: weights without their denominator": (alpha[i, j], sp.exp(pi[i, j]) * by_exponential, definition("alpha")),
    "the bias is added after the softmax": (alpha[i, j], proof.softmax(by_exponential) + pi[i, j], definition("alpha")),
    "a bias of each key changes nothing": (proof.softmax(sp.exp(biased(j) + shift[j])), proof.softmax(sp.exp(biased(j))), algebra),
    "a factor of all scores changes nothing": (proof.softmax(sp.exp(2 * biased(j))), proof.softmax(sp.exp(biased(j))), algebra),
    "the key's words meet the query's positions": (alpha[i, j], proof.softmax(sp.exp(dot(proof.q, proof.k, j, d) + dot(proof.q_pos, proof.k, j, d))), definition("alpha", "pi")),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
