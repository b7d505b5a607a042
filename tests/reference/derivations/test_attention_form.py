from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import sympy as sp
import torch

from reference.attention import scaled_dot_product_attention, self_attention
from reference.derivations import attention_form as form
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import definition

DERIVATION = form.DERIVATION
RNG = np.random.default_rng(0)
SIZES = {"n": 2, "m": 3, "d": 4, "v": 2, "e": 5}


def right_of(title, place=-1):
    (found,) = (each for each in DERIVATION.chains if each.title == title)
    return found.links[place][0]


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_per_query_form_is_the_reference_and_torchs(value):
    """Σ_j α_ij v_j, added up term by term, is scaled_dot_product_attention."""
    data = {"Q": RNG.normal(size=(2, 4)), "K": RNG.normal(size=(3, 4)), "V": RNG.normal(size=(3, 2))}
    known = {**SIZES, **data}
    got = [[value(right_of("Row by row"), {**known, "i": i, "c": c}) for c in (1, 2)] for i in (1, 2)]
    want = scaled_dot_product_attention(data["Q"], data["K"], data["V"])
    np.testing.assert_allclose(got, want, atol=1e-14)
    theirs = torch.nn.functional.scaled_dot_product_attention(*(torch.tensor(data[name])[None] for name in "QKV"))
    np.testing.assert_allclose(got, theirs[0].numpy(), atol=1e-12)


def test_scores_of_self_attention_are_the_references(value):
    """softmax(X W_Q W_Kᵀ Xᵀ / √d) X W_V, row by row, is self_attention."""
    X, W_Q, W_K, W_V = (RNG.normal(size=shape) for shape in ((2, 5), (5, 4), (5, 4), (5, 4)))
    scores = value(right_of("Scores of self-attention"), {**SIZES, "X": X, "W_Q": W_Q, "W_K": W_K})
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights @ (X @ W_V), self_attention(X, W_Q, W_K, W_V), atol=1e-12)


def test_every_order_of_the_pairs_in_exact_fractions():
    """With weights 2^s, s whole, in place of e^s all is a fraction: 24 orders, one output, weights of total 1."""
    scores, values = [3, -1, 0, 2], [Fraction(7, 3), Fraction(-5), Fraction(1, 2), Fraction(4)]
    outputs = set()
    for order in permutations(range(4)):
        powers = [Fraction(2) ** scores[place] for place in order]
        assert sum(power / sum(powers) for power in powers) == 1
        outputs.add(sum(power * values[place] for power, place in zip(powers, order, strict=True)) / sum(powers))
    assert len(outputs) == 1


def test_the_reference_does_not_see_the_order():
    Q, K, V = RNG.normal(size=(2, 4)), RNG.normal(size=(6, 4)), RNG.normal(size=(6, 3))
    order = RNG.permutation(6)
    moved = scaled_dot_product_attention(Q, K[order], V[order])
    np.testing.assert_allclose(moved, scaled_dot_product_attention(Q, K, V), atol=1e-14)


c, d, i, j, k, m, n, pi = form.c, form.d, form.i, form.j, form.k, form.m, form.n, form.pi
OUTPUT, V = form.entries(form.O)[i, c], form.entries(form.V)
FORM, REORDERED = definition("O", "A", "S"), form.Reordering(pi, m)
KEYS_ONLY = sp.Sum(sp.exp(form.score(pi(j))) * V[j, c], (j, 1, m)) / sp.Sum(sp.exp(form.score(pi(k))), (k, 1, m))
WRONG = {
    "no scale": (OUTPUT, form.average(j, k).xreplace({1 / sp.sqrt(d): sp.Integer(1)}), FORM),
    "scaled by the number of keys": (OUTPUT, form.average(j, k).xreplace({1 / sp.sqrt(d): 1 / sp.sqrt(m)}), FORM),
    "no sum in the denominator": (OUTPUT, sp.Sum(sp.exp(form.score(j)) * V[j, c], (j, 1, m)), FORM),
    "softmax over the queries": (sp.Sum(form.weight, (i, 1, n)), sp.Integer(1), definition("A")),
    "keys projected like queries": (
        form.own * form.own_keys.T, form.X * form.W_Q * form.W_Q.T * form.X.T, definition("P", "R"),
    ),
    "QᵀK has another shape": (form.S, form.Q.T * form.Q / sp.sqrt(d), definition("S")),
    "keys move, values stay": (KEYS_ONLY, form.average(j, k), REORDERED),
    "a sum over some of the keys": (sp.Sum(V[pi(j), c], (j, 1, m - 1)), sp.Sum(V[j, c], (j, 1, m - 1)), REORDERED),
    "the place counts, too": (sp.Sum(j * V[pi(j), c], (j, 1, m)), sp.Sum(j * V[j, c], (j, 1, m)), REORDERED),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
