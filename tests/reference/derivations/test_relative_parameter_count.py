from __future__ import annotations

from collections import Counter

import pytest
import sympy as sp

from reference.derivations import relative_parameter_count as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra
from reference.positional import relative_parameter_count

DERIVATION = proof.DERIVATION
T, m, r = proof.T, proof.m, proof.r
COUNT, PAIRS = (chain.links[-1][0] for chain in DERIVATION.chains)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_count_is_the_references(value):
    for length, heads in ((1, 1), (1, 5), (3, 2), (512, 8)):
        assert value(COUNT, {"T": length, "m": heads}) == relative_parameter_count(length, heads)


def test_distances_counted_one_by_one(value):
    """All pairs (i, j), their differences collected: so many are different, and r occurs T - |r| times."""
    for length in range(1, 12):
        seen = Counter(i - j for i in range(length) for j in range(length))
        assert len(seen) == relative_parameter_count(length, 1)
        assert all(times == length - abs(distance) for distance, times in seen.items())
        assert seen.total() == value(PAIRS, {"T": length})


each_head = sp.Sum(1, proof.each_distance, (proof.h, 1, m))
WRONG = {
    "the distance 0 is forgotten": (each_head, 2 * (T - 1) * m, algebra),
    "the distance T is there": (each_head, (2 * T + 1) * m, algebra),
    "one bias for each pair": (each_head, T**2 * m, algebra),
    "heads share their biases": (each_head, 2 * T - 1, algebra),
    "distances ahead only": (each_head, T * m, algebra),
    "pairs at distance r are T": (T + 2 * sp.Sum(T, (r, 1, T - 1)), T**2, algebra),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
