from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from reference.attention import projection_matrix
from reference.derivations import projection_matrix as proof
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import algebra, definition, definition_and_premises, premises

DERIVATION = proof.DERIVATION
A, B, M, N, c, e, v_a, v_b = proof.A, proof.B, proof.M, proof.N, proof.c, proof.e, proof.v_a, proof.v_b


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


def test_the_given_equations_are_premises():
    """The rule that puts in N A = A and N B = 0 has them from the premises."""
    assert set(proof.given.equations) <= {premise.statement for premise in DERIVATION.premises}


def test_the_derived_matrix_is_the_reference(value):
    """A Aᵀ, summed entry by entry, is what projection_matrix returns, and it extracts v_a."""
    rng = np.random.default_rng(0)
    columns = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    first, second = columns[:, :3], columns[:, 3:]
    known = {
        "A": first,
        "B": second,
        "c": rng.normal(size=(3, 1)),
        "e": rng.normal(size=(2, 1)),
        "d": 5,
        "m": 3,
        "p": 2,
    }
    definitions = DERIVATION.context.definitions
    np.testing.assert_allclose(value(M, known, definitions), projection_matrix(first), atol=1e-12)
    extracted = projection_matrix(first) @ value(proof.s, known, definitions)
    np.testing.assert_allclose(extracted, value(v_a, known, definitions), atol=1e-12)


def test_in_exact_fractions():
    """With rational orthonormal columns all laws hold exactly, and the rank is m."""
    third = [[Fraction(n, 3) for n in row] for row in ((1, 2, 2), (2, 1, -2), (2, -2, 1))]
    first, second = third[:2], third[2]
    matrix = [[sum(a[i] * a[j] for a in first) for j in range(3)] for i in range(3)]

    def times(vector):
        return [sum(m * x for m, x in zip(row, vector, strict=True)) for row in matrix]

    for x, y, z in product(range(-2, 3), repeat=3):
        kept = [x * a + y * b for a, b in zip(*first, strict=True)]
        total = [k + z * b for k, b in zip(kept, second, strict=True)]
        assert times(total) == times(times(total)) == kept
    assert times(second) == [0, 0, 0]
    assert sum(matrix[i][i] for i in range(3)) == sp.Matrix(matrix).rank() == 2


by_all = definition_and_premises("M", "v_a", "v_b")
WRONG = {
    "the sheet: M keeps v_b": (M * v_b, v_b, by_all),
    "M keeps the sum": (M * proof.s, v_a + v_b, definition_and_premises("M", "s", "v_a", "v_b")),
    "A has an inverse": (A * A.T, sp.Identity(proof.d), premises),
    "AᵀA = I without the premise": (A.T * A, sp.Identity(proof.m), algebra),
    "the trace is d": (sp.Trace(M), proof.d, definition_and_premises("M")),
    "M is AᵀA, of another shape": (M, A.T * A, definition("M")),
    "N keeps B": (N * B, B, proof.given),
    "N is on the other side": (c.T * A.T * N, c.T * A.T, proof.given),
    "N is M everywhere": (N, M, proof.given),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_steps_are_refused(wrong):
    left, right, rule = WRONG[wrong]
    with pytest.raises(Refused):
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
