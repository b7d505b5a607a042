from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from reference.derivations import transformer_forms as forms
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import definition, limit
from reference.transformer import feed_forward, layer_norm, transformer_layer

DERIVATION = forms.DERIVATION
RNG = np.random.default_rng(0)
N, D, M = 2, 3, 4
SIZES = {"n": N, "d": D, "m": M}
EPS = 1e-5  # of transformer_layer


def zero_layer():
    """Return the parameters of a layer whose projections of values and hidden units are zero, the others drawn."""
    drawn = {name: RNG.normal(size=(D, D)) for name in ("W_q", "W_k")} | {
        "W1": RNG.normal(size=(D, M)),
        "b1": RNG.normal(size=M),
    }
    zeros = {"W_v": np.zeros((D, D)), "W2": np.zeros((M, D)), "b2": np.zeros(D)}
    return {**drawn, **zeros, **{f"gamma{i}": np.ones(D) for i in (1, 2)}, **{f"beta{i}": np.zeros(D) for i in (1, 2)}}


def entries(expression, known, value):
    definitions = DERIVATION.context.definitions
    return np.array(
        [[value(expression, {**known, "i": i, "c": c}, definitions) for c in range(1, D + 1)] for i in range(1, N + 1)]
    )


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_feed_forward_network_is_the_reference(value):
    """F_ic of the derivation is feed_forward, and torch's layers one after the other."""
    X, W1, b1, W2, b2 = (RNG.normal(size=shape) for shape in ((N, D), (D, M), M, (M, D), D))
    got = entries(forms.F[forms.i, forms.c], {**SIZES, "X": X, "W_1": W1, "b_1": b1, "W_2": W2, "b_2": b2}, value)
    np.testing.assert_allclose(got, feed_forward(X, W1, b1, W2, b2), atol=1e-14)
    theirs = torch.relu(torch.tensor(X @ W1 + b1)) @ torch.tensor(W2) + torch.tensor(b2)
    np.testing.assert_allclose(got, theirs.numpy(), atol=1e-14)
    other = X.copy()
    other[1] += 100
    assert (feed_forward(other, W1, b1, W2, b2)[0] == feed_forward(X, W1, b1, W2, b2)[0]).all()


def test_zero_weights_in_the_reference(value):
    """Pre-norm returns X to the last bit, post-norm what the derivation says."""
    X, params = RNG.normal(size=(N, D)) * 3 + 1, zero_layer()
    assert (transformer_layer(X, params, norm_first=True) == X).all()
    got = entries(forms.twice, {**SIZES, "X": X, "epsilon": EPS}, value)
    np.testing.assert_allclose(got, transformer_layer(X, params), atol=1e-12)
    once = layer_norm(X, np.ones(D), np.zeros(D), eps=0.0)
    np.testing.assert_allclose(layer_norm(once, np.ones(D), np.zeros(D), eps=0.0), once, atol=1e-14)


def test_normalising_twice_in_exact_fractions():
    """Squares of normalised entries are fractions: (x - μ)² / (v + ε (v + ε))."""
    row, eps = [Fraction(number, 3) for number in (4, -7, 2, 11)], Fraction(1, 5)

    def squares(first, variance):
        return [entry / (variance + eps) for entry in first]

    average = sum(row) / 4
    deviations = [(entry - average) ** 2 for entry in row]
    v = sum(deviations) / 4
    once = squares(deviations, v)
    again = squares(once, sum(once) / 4)
    assert again == [entry / (v + eps * (v + eps)) for entry in deviations]


i, j, c, v, X, eps = forms.i, forms.j, forms.c, forms.v, forms.X, forms.epsilon
ROW_J = forms.feed_forward(forms.Y).xreplace({i: j})
WRONG = {
    "another row is changed, too": (ROW_J, forms.feed_forward(X).xreplace({i: j}), definition("Y")),
    "ReLU left out": (forms.F[i, c], sp.Sum((sp.Sum(X[i, forms.k] * forms.W1[forms.k, forms.l], (forms.k, 1, forms.d)) + forms.b1[forms.l]) * forms.W2[forms.l, c], (forms.l, 1, forms.m)) + forms.b2[c], definition("F")),
    "no bias behind": (forms.F[i, c], forms.feed_forward(X) - forms.b2[c], definition("F")),
    "post-norm passes X itself": (forms.N[i, c], X[i, c], definition("N")),
    "the residual twice": (2 * X[i, c] + forms.SA_0[i, c], X[i, c], definition("SA_0", "W_V")),
    "the bias is not zero": (X[i, c] + forms.F_0[i, c], X[i, c], definition("F_0", "O_2")),
    "normalising twice is normalising once, with ε": (forms.twice, forms.N[i, c], definition("N")),
    "variance 1, with ε": (forms.v_n[i], sp.Integer(1), definition("v_N", "mu_N", "N", "mu", "v")),
    "ε does not matter": (sp.Limit(forms.twice, eps, 1), (X[i, c] - forms.mu[i]) / sp.sqrt(v[i]), limit),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
