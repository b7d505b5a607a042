from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
import torch

from reference.derivations.network_input_gradient import ChainRule, at
from reference.derivations.network_weight_gradients import (
    CE,
    D1,
    D2,
    DERIVATION,
    G_H,
    G_U,
    G_W1,
    G_W2,
    G_Z,
    W2,
    B,
    Dh,
    Dy,
    G_b2,
    H,
    J,
    U,
    X,
    Y,
    Yhat,
    Z,
    b,
    i,
    j,
    known,
    ones,
)
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition, differentiation
from reference.gates import sigmoid
from reference.network import forward, forward_backward

RNG = np.random.default_rng(0)
SIZES = {"B": 3, "D_x": 5, "D_h": 4, "D_y": 2}  # pairwise different: equal ones hide transposes
PARAMS = {
    name: RNG.normal(size=shape) for name, shape in {"W1": (5, 4), "b1": (1, 4), "W2": (4, 2), "b2": (1, 2)}.items()
}
DATA = {"X": RNG.normal(size=(3, 5)), "Y": RNG.dirichlet(np.ones(2), size=3)}
DATA |= {"W_1": PARAMS["W1"], "b_1": PARAMS["b1"], "W_2": PARAMS["W2"], "b_2": PARAMS["b2"]}
LAYERS = {"H": sigmoid(DATA["X"] @ PARAMS["W1"] + PARAMS["b1"]), "Yhat": forward(DATA["X"], PARAMS)}
ERRORS = {name: DERIVATION.context.definitions[name] for name in ("D_1", "D_2")}
RESULTS = {str(chain.start): chain.steps[-1].right for chain in DERIVATION.chains}


def by_autograd():
    """Return the gradients torch computes."""
    params = {name: torch.tensor(part, requires_grad=True) for name, part in PARAMS.items()}
    hidden = torch.sigmoid(torch.tensor(DATA["X"]) @ params["W1"] + params["b1"])
    torch.nn.functional.cross_entropy(hidden @ params["W2"] + params["b2"], torch.tensor(DATA["Y"])).backward()
    return {name: part.grad for name, part in params.items()}


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize("name", ["W1", "b1", "W2", "b2"])
def test_results_are_the_reference_and_autograd(name, value):
    got = value(RESULTS[f"G_{name}"], {**DATA, **SIZES, **LAYERS}, ERRORS)
    np.testing.assert_allclose(got, forward_backward(DATA["X"], DATA["Y"], PARAMS)[1][name], atol=1e-13)
    np.testing.assert_allclose(got, by_autograd()[name], atol=1e-12)


def test_loss_is_the_reference(value):
    """Cross-entropy from the predictions and the form the proof goes on with are both the reference's cost."""
    cost, _ = forward_backward(DATA["X"], DATA["Y"], PARAMS)
    definitions = DERIVATION.context.definitions
    np.testing.assert_allclose(value(definitions["CE"].body, {**DATA, **SIZES, **LAYERS}), cost, rtol=1e-13)
    logits = LAYERS["H"] @ PARAMS["W2"] + PARAMS["b2"]
    np.testing.assert_allclose(value(definitions["J"].body, {**DATA, **SIZES, "U": logits}), cost, rtol=1e-13)


def test_difference_quotients_of_the_cost():
    """A witness without calculus: the reference's cost in extended precision, at weights moved a little."""
    wide = {name: part.astype(np.longdouble) for name, part in PARAMS.items()}
    data, target, step = DATA["X"].astype(np.longdouble), DATA["Y"].astype(np.longdouble), np.longdouble(1e-6)

    def cost(name, place, change):
        moved = wide[name].copy()
        moved[place] += change
        return forward_backward(data, target, {**wide, name: moved})[0]

    for name, gradient in by_autograd().items():
        for place in np.ndindex(gradient.shape):
            quotient = (cost(name, place, step) - cost(name, place, -step)) / (2 * step)
            np.testing.assert_allclose(float(quotient), gradient[place], atol=1e-11)


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (G_U, Yhat - Y, known),  # the mean over samples forgotten
        (CE, B * J, definition("CE", "J", "Yhat")),
        (CE, J, definition("CE", "J", "Yhat")),  # not without Σ y = 1
        (G_W2, H.T * D2 / B, differentiation("J", "U", "Yhat", "G_W2", "D_2")),
        (G_W2, sp.MatrixSymbol("H", Dh, B) * G_U, ChainRule(G_W2, G_U, U)),  # H not transposed
        (G_b2, ones.T * G_U / B, ChainRule(G_b2, G_U, U)),
        (G_b2, sp.OneMatrix(1, Dy), ChainRule(G_b2, G_U, U)),
        (G_Z, G_H, ChainRule(G_Z, G_H, H)),  # the sigmoid forgotten
        (G_Z, D2 * W2.T, differentiation("J", "U", "H", "Yhat", "G_Z", "D_2")),
        (D1, sp.HadamardProduct(D2 * W2.T, H), definition("D_1")),  # σ' = σ
        (G_W1, X.T * G_H, ChainRule(G_W1, G_Z, Z)),  # the error after the sigmoid
        (sp.Sum(at(H, b, i) * at(G_U, b, j), (b, 1, B)), at(H, b, i) * at(G_U, b, j), algebra),  # one sample for all
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
