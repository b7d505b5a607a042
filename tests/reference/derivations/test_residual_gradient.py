from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from reference.attention import self_attention
from reference.derivations.proof import Refused, Step
from reference.derivations.residual_gradient import DERIVATION, G_H, G_O, J_H, J_O, J_S, H, S, i, j, n
from reference.derivations.rules import algebra, differentiation
from reference.transformer import transformer_layer

RESULT = DERIVATION.chains[0].steps[-1].right
everything = differentiation("*")


def attention(X, W_q, W_k, W_v):
    return torch.softmax((X @ W_q) @ (X @ W_k).T / W_q.shape[1] ** 0.5, -1) @ X @ W_v


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_result_is_autograd_through_attention(value):
    """The layer is the reference's self-attention on 3 tokens of width 2, the loss any function of its output."""
    rng = np.random.default_rng(0)
    X, *weights = (rng.normal(size=shape) for shape in ((3, 2), (2, 2), (2, 2), (2, 2)))
    tensors = [torch.tensor(weight) for weight in weights]
    np.testing.assert_allclose(attention(torch.tensor(X), *tensors), self_attention(X, *weights), atol=1e-12)
    inputs = torch.tensor(X, requires_grad=True)
    outputs = attention(inputs, *tensors) + inputs
    loss = torch.sin(outputs).prod() + (outputs**3).sum()
    passed, received = torch.autograd.grad(loss, (inputs, outputs))
    jacobian = torch.autograd.functional.jacobian(lambda at: attention(at, *tensors), torch.tensor(X))
    known = {"G_O": received.reshape(1, 6).numpy(), "J_S": jacobian.reshape(6, 6).numpy(), "n": 6}
    np.testing.assert_allclose(value(RESULT, known), passed.reshape(1, 6), atol=1e-12)


def test_gradient_survives_a_dead_layer_of_the_reference():
    """With all weights zero both Jacobians are zero, and what is left is the identity: a change of X comes out unchanged."""
    zeros, ones = np.zeros((2, 2)), np.ones(2)
    params = dict.fromkeys(("W_q", "W_k", "W_v", "W1", "W2"), zeros) | dict.fromkeys(
        ("b1", "b2", "beta1", "beta2"), zeros[0]
    )
    X, change = np.array([[3.0, 7.0], [1.0, -2.0]]), np.array([[0.5, 0.0], [0.0, 0.25]])
    layer = [
        transformer_layer(at, params | {"gamma1": ones, "gamma2": ones}, norm_first=True) for at in (X, X + change)
    ]
    np.testing.assert_array_equal(layer[1] - layer[0], change)


def test_exact_difference_quotients_of_polynomials():
    """A witness without calculus: S(h) = (h_1 h_2, h_1² - h_2) and L = O_1 O_2 + 2 O_1, in fractions, over a step of 1e-30."""
    at, step = (Fraction(2, 3), Fraction(-5, 7)), Fraction(1, 10**30)

    def output(h):
        return h[0] * h[1] + h[0], h[0] ** 2 - h[1] + h[1]

    def loss(h):
        return output(h)[0] * output(h)[1] + 2 * output(h)[0]

    received = (output(at)[1] + 2, output(at)[0])
    jacobian = ((at[1], at[0]), (2 * at[0], Fraction(-1)))
    for column in range(2):
        moved = tuple(x + step * (place == column) for place, x in enumerate(at))
        derived = sum(received[row] * jacobian[row][column] for row in range(2)) + received[column]
        assert abs((loss(moved) - loss(at)) / step - derived) < Fraction(1, 10**28)


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (G_H, G_O * J_S, everything),  # as if there were no residual connection
        (G_O * J_O, G_O * J_S, everything),
        (G_H, G_O, everything),  # as if there were no layer
        (G_H, J_S * G_O.T, everything),  # a column in place of a row
        (G_H, G_O * J_S.T + G_O, everything),  # transposed
        (G_O * (J_S + sp.Identity(n)), G_O * J_S + sp.OneMatrix(1, n), algebra),  # the gradient is not 1
        (G_O * (J_S + J_H), G_O * J_S + G_O, algebra),  # J_H must be taken
        (sp.Derivative(H[i], H[j]), sp.Integer(1), everything),
        (sp.Derivative(S[i], H[j]), sp.KroneckerDelta(i, j), everything),
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
