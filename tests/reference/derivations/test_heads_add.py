from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from reference.attention import multi_head_attention, self_attention
from reference.derivations.heads_add import (
    DERIVATION,
    W_O,
    Besides,
    Blocked,
    C,
    InBlocks,
    O,
    W,
    b,
    d,
    e,
    h,
    i,
    j,
    k,
    pairs,
    place,
    residual,
)
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import blocks, bound, definition

STEPS = DERIVATION.chains[0].steps
BY_HEAD = STEPS[2].right
in_blocks = InBlocks((Blocked(C, O, 1), Blocked(W_O, W, 0)), k, d)
counted = sp.Sum(C[i, place] * W_O[place, j], *pairs)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize(("heads", "width"), [(1, 3), (3, 2), (4, 1)])
def test_result_is_the_reference(heads, width, value):
    """Σ_b O_b W_b + X with the reference's heads is its multi-head attention plus X."""
    rng = np.random.default_rng(0)
    X, W_o = rng.normal(size=(2, 5)), rng.normal(size=(heads * width, 5))
    projections = [rng.normal(size=(heads, 5, width)) for _ in range(3)]
    outputs = np.array([self_attention(X, *(each[head] for each in projections)) for head in range(heads)])
    known = {"X": X, "O": outputs, "W": W_o.reshape(heads, width, 5), "k": heads, "d": width}
    got = [
        [value(STEPS[-1].right, {**known, "i": r, "j": c}, DERIVATION.context.definitions) for c in range(1, 6)]
        for r in (1, 2)
    ]
    np.testing.assert_allclose(got, multi_head_attention(X, *projections, W_o) + X, atol=1e-12)


def test_whole_numbers_by_hand(value):
    """Every line of the proof is the same whole number for 2 heads of width 3, the concatenation made by NumPy."""
    rng = np.random.default_rng(1)
    outputs, blocks_of_rows = rng.integers(-9, 9, size=(2, 4, 3)), rng.integers(-9, 9, size=(2, 3, 5))
    known = {
        "O": outputs,
        "W": blocks_of_rows,
        "C": np.concatenate(outputs, axis=1),
        "W_O": np.concatenate(blocks_of_rows),
    }
    known |= {"X": rng.integers(-9, 9, size=(4, 5)), "k": 2, "d": 3, "n": 4, "D": 5, "i": 3, "j": 5}
    sums = [
        value(line, known, DERIVATION.context.definitions) for line in (STEPS[0].left, *(step.right for step in STEPS))
    ]
    expected = sum(outputs[head][2] @ blocks_of_rows[head][:, 4] for head in range(2)) + known["X"][2, 4]
    assert sums == [expected] * 5


@pytest.mark.parametrize(
    ("left", "right", "rule"),
    [
        (STEPS[2].left, sp.Sum(O[b, i, e] * W[b, e, j], *pairs), in_blocks),  # the residual forgotten
        (counted, sp.Sum(O[b, i, e] * W[e, b, j], *pairs), in_blocks),
        (counted, sp.Sum(O[b, i, e] * W[1, e, j], *pairs), in_blocks),  # one block for all heads
        (
            sp.Sum(C[i, (e - 1) * k + b] * W_O[place, j], *pairs),
            sp.Sum(O[b, i, e] * W[b, e, j], *pairs),
            in_blocks,
        ),  # heads interleaved
        (counted, sp.Sum(O[b, i, e], *pairs) * sp.Sum(W[b, e, j], *pairs), in_blocks),
        (
            sp.Sum(C[i, place], (e, 1, d + 1), (b, 1, k)),
            sp.Sum(O[b, i, e], (e, 1, d + 1), (b, 1, k)),
            in_blocks,
        ),  # blocks have width d
        (C[i, place], O[b, i, e], in_blocks),  # nothing says what b and e range over
        (STEPS[1].left, sp.Sum(C[i, place] * W_O[h, j], *pairs) + residual, Besides(blocks, residual)),
        (
            STEPS[1].left,
            sp.Sum(C[i, b * d + e] * W_O[b * d + e, j], *pairs) + residual,
            Besides(blocks, residual),
        ),  # off by a block
        (STEPS[1].left, STEPS[1].right, blocks),  # which wants nothing besides the sum
        (residual, 2 * residual, Besides(bound(), residual)),  # only equations
        (BY_HEAD, STEPS[-1].right - residual, definition("P")),
    ],
)
def test_wrong_step_is_refused(left, right, rule):
    with pytest.raises(Refused):
        Step(left, right, "", rule).prove(DERIVATION.context)
