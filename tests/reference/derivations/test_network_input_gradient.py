from __future__ import annotations

from dataclasses import replace

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import sympy as sp
import torch

from reference.derivations.network_input_gradient import (
    DERIVATION,
    W1,
    W2,
    ChainRule,
    Dh,
    Dx,
    G_h,
    G_u,
    G_x,
    G_z,
    U_h,
    Z_x,
    at,
    b2,
    backwards,
    h,
    slope,
    u,
    x,
    y,
    yhat,
    z,
)
from reference.derivations.proof import Derivation, Refused, Step, defines
from reference.derivations.rules import differentiation
from reference.gates import sigmoid
from reference.network import forward, input_gradient

RNG = np.random.default_rng(0)
SIZES = {"D_x": 3, "D_h": 4, "D_y": 2}  # pairwise different: equal ones hide transposes
SHAPES = {"x": (1, 3), "W_1": (3, 4), "b_1": (1, 4), "W_2": (4, 2), "b_2": (1, 2)}
DATA = {name: RNG.normal(size=shape) for name, shape in SHAPES.items()} | {"y": RNG.dirichlet(np.ones(2), size=1)}
PARAMS = {"W1": DATA["W_1"], "b1": DATA["b_1"], "W2": DATA["W_2"], "b2": DATA["b_2"]}
LAYERS = {
    "h": sigmoid(DATA["x"] @ DATA["W_1"] + DATA["b_1"]),
    "yhat": forward(DATA["x"], PARAMS),
}
KNOWN, DEFINITIONS = {**DATA, **SIZES}, DERIVATION.context.definitions
RESULTS = {str(chain.start): chain.steps[-1].right for chain in DERIVATION.chains}


def by_autograd():
    """Return the gradients torch computes, layer by layer."""
    data = {name: torch.tensor(part, requires_grad=True) for name, part in DATA.items()}
    z_ = data["x"] @ data["W_1"] + data["b_1"]
    h_ = torch.sigmoid(z_)
    u_ = h_ @ data["W_2"] + data["b_2"]
    cost = torch.nn.functional.cross_entropy(u_, data["y"])
    grads = torch.autograd.grad(cost, (u_, h_, z_, data["x"]))
    return dict(zip(("G_u", "G_h", "G_z", "G_x"), (each.numpy() for each in grads), strict=True))


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_definitions_are_the_reference(value):
    got = [value(at(yhat, 1, place), KNOWN, DEFINITIONS) for place in (1, 2)]
    np.testing.assert_allclose(got, LAYERS["yhat"][0], rtol=1e-12)


def test_results_are_autograd_and_the_reference(value):
    got = {name: value(RESULTS[name], {**KNOWN, **LAYERS}) for name in ("G_u", "G_h", "G_z", "G_x")}
    for name, expected in by_autograd().items():
        np.testing.assert_allclose(got[name], expected, atol=1e-12)
    np.testing.assert_allclose(got["G_x"], input_gradient(DATA["x"], DATA["y"], PARAMS), atol=1e-13)


def test_difference_quotients_in_many_digits():
    """A witness without calculus: quotients over steps of 1e-20, with 60 digits."""
    exp, log = np.vectorize(mpmath.exp, otypes=[object]), np.vectorize(mpmath.log, otypes=[object])

    def cost(inputs):
        hidden = 1 / (1 + exp(-(inputs @ DATA["W_1"] + DATA["b_1"])))
        weights = exp(hidden @ DATA["W_2"] + DATA["b_2"])
        return -(DATA["y"] * log(weights / weights.sum())).sum()

    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -20
        rows = np.eye(3, dtype=int) * step
        quotients = [(cost(DATA["x"] + row) - cost(DATA["x"] - row)) / (2 * step) for row in rows]
    np.testing.assert_allclose(np.array(quotients, dtype=float), by_autograd()["G_x"][0], atol=1e-13)


def test_chain_rule_is_what_differentiation_gives():
    """The rule of this file and the derivative of the whole loss, put in to the end, agree on the hidden layer."""
    step = Step(G_h, G_u * U_h, "", differentiation("J", "u", "G_h", "G_u", "U_h"))
    step.prove(DERIVATION.context)


def test_chain_rule_asks_for_all_ways():
    """A skipped connection from x to u: x then acts on the loss not through z alone."""
    skipped = replace(DERIVATION, premises=(*DERIVATION.premises, defines(b2, x * sp.MatrixSymbol("K", Dx, b2.cols))))
    with pytest.raises(Refused, match="alone"):
        Step(G_x, G_z * W1.T, "", ChainRule(G_x, G_z, z)).prove(skipped.context)


def test_chain_rule_sees_hidden_ways():
    """∂u/∂x cannot be read off u = h W2 + b2, where x is hidden in h."""
    with pytest.raises(Refused, match="hidden"):
        Step(G_x, sp.ZeroMatrix(1, Dx), "", ChainRule(G_x, G_u, u)).prove(DERIVATION.context)


def test_chain_rule_needs_premises():
    empty = Derivation("", "", "", "", (), ())
    with pytest.raises(Refused, match="defines"):
        Step(G_x, G_z * W1.T, "", ChainRule(G_x, G_z, z)).prove(empty.context)
    with pytest.raises(Refused, match="not the gradient"):
        Step(G_x, G_z * W1.T, "", ChainRule(G_x, G_h, z)).prove(DERIVATION.context)


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (G_u, y - yhat, differentiation("J", "yhat", "G_u")),
        (G_u, yhat, differentiation("J", "yhat", "G_u")),
        (G_h, G_u * W2.T + sp.OneMatrix(1, Dh), ChainRule(G_h, G_u, u)),
        (G_h, G_u * sp.MatrixSymbol("W_2", W2.cols, W2.rows), ChainRule(G_h, G_u, u)),  # not transposed
        (G_h, G_u, ChainRule(G_h, G_u, u)),  # shapes differ
        (G_z, sp.HadamardProduct(G_h, h), ChainRule(G_z, G_h, h)),  # σ' = σ
        (G_z, G_h, ChainRule(G_z, G_h, h)),  # the sigmoid forgotten
        (G_z, sp.HadamardProduct(G_h, slope, slope), ChainRule(G_z, G_h, h)),
        (G_z * Z_x, G_z * sp.MatrixSymbol("W_1", Dh, Dx), differentiation("z", "Z_x")),
        (G_z * W1.T, sp.HadamardProduct(G_u * W2.T, h) * W1.T, differentiation("J", "u", "h", "G_u", "G_z")),
        (backwards * W1.T, (yhat - y) * W2.T * W1.T, differentiation("h", "yhat")),
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
