from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sympy as sp

from reference.attention import argmax_attention, receptive_field
from reference.derivations import receptive_field as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import Induction, algebra

DERIVATION = proof.DERIVATION
R, k, n, j = proof.R, proof.k, proof.n, proof.j
POWER, BINOMIAL = (link[0] for link in DERIVATION.chains[1].links)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_induction_goes_by_the_premises():
    """Start and step of the rule are what the premises say of level 0 and level n + 1."""
    start, step = (premise.statement for premise in DERIVATION.premises)
    rule = proof.by_induction(k)
    assert (start.lhs, start.rhs) == (R(k, rule.first), rule.start)
    assert (step.lhs, step.rhs) == (R(k, n + 1), rule.step)


def test_the_derived_size_is_the_references(value):
    for heads, levels in product(range(1, 5), range(6)):
        for form in (POWER, BINOMIAL):
            assert value(form, {"k": heads, "n": levels}) == receptive_field(heads, levels)


@pytest.mark.parametrize(("heads", "levels"), [(1, 4), (2, 3), (3, 2), (4, 1)])
def test_a_stack_of_layers_reaches_that_far(heads, levels):
    """Real argmax attention with a residual, head h of level l looking h (k+1)^l places back: count what arrives."""
    size = (heads + 1) ** levels + 2
    places = np.eye(size)
    held = np.eye(size)  # row: position, column: how often an input has come there
    for level in range(levels):
        back = [
            argmax_attention(np.roll(places, h * (heads + 1) ** level, axis=1), places, held)
            for h in range(1, heads + 1)
        ]
        held = held + sum(back)
    assert set(held.sum(axis=1)) == {receptive_field(heads, levels)}  # paths
    assert set((held > 0).sum(axis=1)) == {receptive_field(heads, levels)}  # different inputs


by_step, one = proof.by_induction(k), sp.Integer(1)
WRONG = {
    "the residual is forgotten": (R(k, n), k**n, by_step),
    "it grows by k each level": (R(k, n), 1 + k * n, by_step),
    "one level too many": (R(k, n), (k + 1) ** (n + 1), by_step),
    "each head doubles it": (R(k, n), 2 ** (k * n), by_step),
    "three for one head": (R(one, n), 3**n, proof.by_induction(one)),
    "a step that goes on from nothing": (R(k, n), (k + 1) ** n, Induction(n, sp.Integer(0), one, (k + 1) ** (n + 1))),
    "the binomial theorem for k - 1": ((k + 1) ** n, sp.Sum(sp.binomial(n, j) * (k - 1) ** j, (j, 0, n)), algebra),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
