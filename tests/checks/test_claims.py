"""Witnesses are judged as the contract says, whatever stands in them, and the grader finds its own."""

from __future__ import annotations

import datetime as dt
import json
import math
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch

from checks import claims
from checks.claims import CLAIMS, BadWitness, Witnessed, demonstrate, find_witness, try_witness
from checks.question import Kind, questions
from reference import gates

ROOT = Path(__file__).resolve().parents[2]
TRUE = [name for name, claim in CLAIMS.items() if claim.truth]
WITNESSED = ["gru_update_one_reset_zero", "lstm_zero_input", "lstm_forget_zero", "lstm_gates_distribution"]
WITHOUT_NUMBERS = ["encoder_depends_on_decoder", "masked_autoencoder_position"]


# ── the claims ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_claims_and_truths_are_those_of_the_questions():
    asked = {name: question.truth for name, question in questions().items() if question.kind is Kind.CLAIM}
    assert {name: claim.truth for name, claim in CLAIMS.items()} == asked


def test_every_claim_is_true_or_has_a_witness_or_is_not_about_numbers():
    assert sorted([*TRUE, *WITNESSED, *WITHOUT_NUMBERS]) == sorted(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_premise_and_conclusion_are_sentences(claim):
    for text in (claim.premise, claim.conclusion):
        assert text.endswith(".")
        assert text[0].isupper() or text.startswith("f, i and o")


def test_a_claim_takes_the_parameters_of_its_cell():
    gru, lstm = {"W_z", "U_z", "W_r", "U_r", "W", "U"}, {f"{matrix}_{gate}" for matrix in "WU" for gate in "ifoc"}
    assert set(CLAIMS["gru_update_one_reset_zero"].takes) == {"x", "h", *gru}
    assert set(CLAIMS["lstm_forget_zero"].takes) == {"x", "h", "c", *lstm}
    assert CLAIMS["encoder_depends_on_decoder"].takes == ()


def test_a_claim_of_a_course_has_no_numbers_to_try():
    assert try_witness("lstm_one_input", {}) == Witnessed(False, "No numbers are tried on this claim.")


# ── witnesses ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_contracts_example_is_a_witness():
    answer = tomllib.loads("witness = { h = [0.5], c = [1.0], W_i = [[1.0]] }   # anything left out is zero")
    assert try_witness("lstm_zero_input", answer["witness"]) == Witnessed(
        True, "x = 0 holds, and h' = [0.231] is not h = [0.5]: it is a witness."
    )


@pytest.mark.parametrize("name", WITNESSED)
def test_what_the_grader_finds_is_a_witness(name):
    witness = find_witness(name)
    found = try_witness(name, witness)
    assert found.holds
    assert found.sentence.endswith(": it is a witness.")
    assert set(witness) <= set(CLAIMS[name].takes)
    assert tomllib.loads(f"w = {{ {', '.join(f'{key} = {value}' for key, value in witness.items())} }}")["w"] == witness


def test_found_witnesses_hold_without_our_algebra():
    """Each cell is computed here with plain numbers, from the sheet's equations."""

    def sigma(a):
        return 1 / (1 + math.exp(-a))

    w = find_witness("gru_update_one_reset_zero")
    h = w["h"][0]
    z, r = sigma(w["U_z"][0][0] * h), sigma(w["U_r"][0][0] * h)
    assert z > 0.99
    assert r < 0.01
    assert abs((1 - z) * h - h) > 0.05  # the candidate is tanh(0)
    w = find_witness("lstm_zero_input")
    assert abs(0.5 * math.tanh(0.5 * w["c"][0])) > 0.1  # h is left out: 0
    w = find_witness("lstm_forget_zero")
    assert sigma(w["U_f"][0][0] * w["h"][0]) < 0.01
    w = find_witness("lstm_gates_distribution")
    assert sum(sigma(w["U_f"][k][k] * w["h"][k]) for k in range(2)) > 1.1


def test_the_witness_shown_for_the_forget_gate_uses_another_path_than_that_gate():
    """The lesson is that gradients flow through the candidate and the other gates; the forget gate's own path is tiny."""
    witness = dict(find_witness("lstm_forget_zero"))
    assert "c" not in witness  # ∂c'/∂f = c = 0: nothing goes through the forget gate
    del witness["U_c"]
    assert not try_witness("lstm_forget_zero", witness).holds


@pytest.mark.parametrize("name", [*TRUE, *WITHOUT_NUMBERS])
def test_no_witness_is_found_where_there_is_none(name):
    assert find_witness(name) is None


CLOSED = {"x": [1.0], "W_f": [[-9.0]]}  # the forget gate is sigma(-9)
STATE = {"W_z": [[9.0]], "W_r": [[-9.0]], "x": [1.0]}  # z is near 1, r near 0
NINE = [1.0] * 9


@pytest.mark.parametrize(("name", "witness", "holds", "sentence"), [
    # lstm_zero_input
    ("lstm_zero_input", {"h": [0.5]}, True, "x = 0 holds, and h' = [0.0] is not h = [0.5]: it is a witness."),
    ("lstm_zero_input", {"h": 0.5, "c": 1, "x": 0}, True, "x = 0 holds, and h' = [0.231] is not h = [0.5]: it is a witness."),
    ("lstm_zero_input", {"x": [0.0, -0.0], "c": [1, 0]}, True, "x = 0 holds, and h' = [0.231, 0.0] is not h = [0.0, 0.0]: it is a witness."),
    ("lstm_zero_input", {"c": [*NINE[1:], 2.0]}, True, "x = 0 holds, and entry 9 of h' = 0.381 is not entry 9 of h = 0.0: it is a witness."),
    ("lstm_zero_input", {"h": [0.231058], "c": [1.0]}, False, "h' equals h here: this refutes nothing."),
    ("lstm_zero_input", {"h": [0.231056], "c": [1.0]}, True, "x = 0 holds, and h' = [0.231059] is not h = [0.231056]: it is a witness."),
    ("lstm_zero_input", {}, False, "h' equals h here: this refutes nothing."),
    ("lstm_zero_input", {"W_i": [[4.0, 2.0]], "U_c": [[3.0]]}, False, "h' equals h here: this refutes nothing."),
    ("lstm_zero_input", {"x": [1.0], "h": [0.5]}, False, "The premise fails: x = [1.0] is not 0."),
    ("lstm_zero_input", {"x": [0, 1e-300], "h": [0.5]}, False, "The premise fails: x = [0.0, 1e-300] is not 0."),
    ("lstm_zero_input", {"x": [0, 0, 0, 0, 0, 0, -2]}, False, "The premise fails: entry 7 of x = -2.0 is not 0."),
    # lstm_forget_zero
    ("lstm_forget_zero", {**CLOSED, "U_c": [[1.0]]}, True, "f is within 0.01 of 0, and ∂h'/∂h = 0.25 is not 0: it is a witness."),
    ("lstm_forget_zero", {**CLOSED, "U_c": [[1.0]], "W_o": -1000}, True, "f is within 0.01 of 0, and ∂c'/∂h = 0.5 is not 0: it is a witness."),
    ("lstm_forget_zero", {**CLOSED, "W_c": 1, "U_i": -2}, True, "f is within 0.01 of 0, and ∂h'/∂h = -0.165 is not 0: it is a witness."),
    ("lstm_forget_zero", {**CLOSED, "W_c": 1, "U_o": 2}, True, "f is within 0.01 of 0, and ∂h'/∂h = 0.182 is not 0: it is a witness."),
    ("lstm_forget_zero", {"x": 1, "W_f": [[-9], [-9]], "U_c": [[0, 1], [0, 0]]}, True, "f is within 0.01 of 0, and ∂h'_1/∂h_2 = 0.25 is not 0: it is a witness."),
    ("lstm_forget_zero", {**CLOSED, "W_c": 1, "c": 1, "h": 0.5}, False, "No derivative of h' or c' by h is above 0.000001 in size here: this refutes nothing."),
    ("lstm_forget_zero", {**CLOSED, "U_c": 1e-6}, False, "No derivative of h' or c' by h is above 0.000001 in size here: this refutes nothing."),
    ("lstm_forget_zero", {**CLOSED, "U_c": 1, "W_c": 1000}, False, "No derivative of h' or c' by h is above 0.000001 in size here: this refutes nothing."),
    ("lstm_forget_zero", {"U_c": [[1.0]]}, False, "The premise fails: f = [0.5] is not within 0.01 of 0."),
    ("lstm_forget_zero", {"x": 1, "W_f": [[-9], [0]], "U_c": [[0, 1], [0, 0]]}, False, "The premise fails: f = [0.000123, 0.5] is not within 0.01 of 0."),
    ("lstm_forget_zero", {"x": 1, "W_f": -4.595, "U_c": 1}, False, "The premise fails: f = [0.0100012] is not within 0.01 of 0."),
    ("lstm_forget_zero", {"x": 1, "W_f": -math.log(99), "U_c": 1}, True, "f is within 0.01 of 0, and ∂h'/∂h = 0.25 is not 0: it is a witness."),
    # gru_update_one_reset_zero
    ("gru_update_one_reset_zero", {**STATE, "h": 0.5}, True, "z is within 0.01 of 1 and r within 0.01 of 0, and h' = [6.17e-05] is more than 0.05 from h = [0.5]: it is a witness."),
    ("gru_update_one_reset_zero", {**STATE, "W": 1}, True, "z is within 0.01 of 1 and r within 0.01 of 0, and h' = [0.762] is more than 0.05 from h = [0.0]: it is a witness."),
    ("gru_update_one_reset_zero", {**STATE, "h": 0.7616, "W": 1}, False, "Here h' = [0.762] is within 0.05 of h = [0.762]: this refutes nothing."),
    ("gru_update_one_reset_zero", {**STATE, "h": 0.05}, False, "Here h' = [6.17e-06] is within 0.05 of h = [0.05]: this refutes nothing."),
    ("gru_update_one_reset_zero", {"x": 1, "W_z": [[9.0]] * 9, "W_r": [[-9.0]] * 9, "h": [0.04] * 9}, False, "Here entry 1 of h' = 4.94e-06 is within 0.05 of entry 1 of h = 0.04: this refutes nothing."),
    ("gru_update_one_reset_zero", {"h": [0.5], "W": [[1.0]]}, False, "The premise fails: z = [0.5] is not within 0.01 of 1, and r = [0.5] is not within 0.01 of 0."),
    ("gru_update_one_reset_zero", {"x": 1, "W_z": 1, "W_r": -9, "h": 0.5}, False, "The premise fails: z = [0.731] is not within 0.01 of 1."),
    ("gru_update_one_reset_zero", {"x": 1, "W_z": 9, "W_r": 9, "h": 0.5}, False, "The premise fails: r = [1.0] is not within 0.01 of 0."),
    ("gru_update_one_reset_zero", {"x": 1, "W_z": math.log(99), "W_r": -9, "h": 0.5}, True, "z is within 0.01 of 1 and r within 0.01 of 0, and h' = [0.005] is more than 0.05 from h = [0.5]: it is a witness."),
    ("gru_update_one_reset_zero", {"x": 1, "W_z": 4.5951, "W_r": -9, "h": 0.5}, False, "The premise fails: z = [0.989999803] is not within 0.01 of 1."),
    # lstm_gates_distribution
    ("lstm_gates_distribution", {}, True, "f = [0.5] sums to 0.5, not to 1: it is a witness."),
    ("lstm_gates_distribution", {"h": [0.0, 0.0]}, False, "The entries of f, of i and of o sum to 1 here: this refutes nothing."),
    ("lstm_gates_distribution", {"x": 1, "W_f": [[3.0], [-3.0]]}, False, "The entries of f, of i and of o sum to 1 here: this refutes nothing."),
    ("lstm_gates_distribution", {"h": [0.0, 0.0, 0.0]}, True, "f = [0.5, 0.5, 0.5] sums to 1.5, not to 1: it is a witness."),
    ("lstm_gates_distribution", {"x": 1, "W_o": [[1.0], [2.0]]}, True, "o = [0.731, 0.881] sums to 1.61, not to 1: it is a witness."),
    ("lstm_gates_distribution", {"x": 1, "W_i": [[0.0], [0.0001]]}, True, "i = [0.5, 0.500025] sums to 1.00002, not to 1: it is a witness."),
    ("lstm_gates_distribution", {"h": NINE}, True, "The entries of f sum to 4.5, not to 1: it is a witness."),
    ("lstm_gates_distribution", {"x": 1e6, "W_f": -1e6}, True, "f = [0.0] sums to 0.0, not to 1: it is a witness."),
])  # fmt: skip
def test_a_witness_satisfies_the_premise_and_refutes_the_conclusion(name, witness, holds, sentence):
    assert try_witness(name, witness) == Witnessed(holds, sentence)


def test_values_are_not_modified_and_the_order_of_names_does_not_matter():
    witness = {"U_c": [[1, 2], [3, 4]], "x": [1.0], "W_f": [[-9.0], [-8.0]], "h": (0.5, 0.25)}
    before = json.dumps(witness)
    found = try_witness("lstm_forget_zero", witness)
    assert found.holds
    assert found == try_witness("lstm_forget_zero", dict(reversed(witness.items())))
    assert json.dumps(witness) == before


def test_sizes_are_inferred_from_whatever_tells_them():
    for witness in ({"c": [0, 0]}, {"U_i": [[0, 0], [0, 0]]}, {"W_o": [[0, 0, 0], [0, 0, 0]]}, {"W_c": [[1], [2]]}):
        assert not try_witness("lstm_gates_distribution", witness).holds  # two gates of 1/2
    assert try_witness("lstm_gates_distribution", {"x": [1, 2]}).holds  # the input tells nothing of the gates: one


def test_the_largest_witness_is_tried_and_quickly():
    side, values = 64, np.random.default_rng(0)
    witness = {"x": [1e6] * side, "h": values.uniform(-1e6, 1e6, side).tolist(), "c": [1e6] * side}
    matrices = {name: values.uniform(-1e6, 1e6, (side, side)).tolist() for name in CLAIMS["lstm_forget_zero"].takes[3:]}
    started = time.perf_counter()
    for name in ("lstm_zero_input", "lstm_forget_zero", "lstm_gates_distribution", "lstm_gates_non_negative"):
        assert len(try_witness(name, {**witness, **matrices}).sentence) < 200
    assert time.perf_counter() - started < 2


# ── the derivative by the state ──────────────────────────────────────────────────────────────────────────────────


def drawn(seed, size, width):
    values = np.random.default_rng(seed)
    shapes = {"input": width, "hidden": size}
    return {name: values.normal(size=[shapes[side] for side in sides]) for name, sides in claims.LSTM.items()}


@pytest.mark.parametrize(("seed", "size", "width"), [(0, 1, 1), (1, 2, 3), (2, 5, 2)])
def test_derivatives_are_central_differences_of_the_reference(seed, size, width):
    values = {name: array.astype(np.longdouble) for name, array in drawn(seed, size, width).items()}
    step = np.longdouble(2) ** -14
    columns = []
    for unit in np.eye(size, dtype=np.longdouble):
        after = np.concatenate(gates.lstm_cell(values["x"], values["h"] + step * unit, values["c"], values))
        before = np.concatenate(gates.lstm_cell(values["x"], values["h"] - step * unit, values["c"], values))
        columns.append((after - before) / (2 * step))
    by_state = np.concatenate(claims._lstm_derivatives(values))
    np.testing.assert_allclose(by_state.astype(float), np.stack(columns, axis=1).astype(float), rtol=0, atol=1e-7)


@pytest.mark.parametrize(("seed", "size", "width"), [(0, 1, 1), (1, 2, 3), (2, 5, 2)])
def test_derivatives_are_those_of_autograd(seed, size, width):
    values = drawn(seed, size, width)
    t = {name: torch.tensor(array) for name, array in values.items()}

    def cell(h):
        i, f, o = (torch.sigmoid(t[f"W_{gate}"] @ t["x"] + t[f"U_{gate}"] @ h) for gate in "ifo")
        c = f * t["c"] + i * torch.tanh(t["W_c"] @ t["x"] + t["U_c"] @ h)
        return torch.cat([o * torch.tanh(c), c])

    want = torch.autograd.functional.jacobian(cell, t["h"]).numpy()
    np.testing.assert_allclose(np.concatenate(claims._lstm_derivatives(values)), want, rtol=0, atol=1e-12)


# ── what cannot be tried ─────────────────────────────────────────────────────────────────────────────────────────

LSTM_NAMES = "x, h, c, W_i, U_i, W_f, U_f, W_o, U_o, W_c, U_c"


@pytest.mark.parametrize(("witness", "sentence"), [
    ({"h": "0.5"}, "h holds '0.5', which is not a number."),
    ({"h": ["a" * 100]}, f"h holds '{'a' * 20}…', which is not a number."),
    ({"h": True}, "h holds true, which is not a number."),
    ({"h": [0.5, False]}, "h holds false, which is not a number."),
    ({"h": {"value": 0.5}}, "h holds a table, which is not a number."),
    ({"W_i": [[{}]]}, "W_i holds a table, which is not a number."),
    ({"h": dt.date(2024, 1, 1)}, "h holds a date, which is not a number."),
    ({"h": None}, "h holds a NoneType, which is not a number."),
    ({"h": 1j}, "h holds a complex, which is not a number."),
    ({"h": math.nan}, "h holds nan: every value has to be a finite number."),
    ({"W_i": [[0.5, math.nan]]}, "W_i holds nan: every value has to be a finite number."),
    ({"h": [-math.inf]}, "h holds -inf: every value has to be a finite number."),
    (tomllib.loads("h = [1e400]"), "h holds inf: every value has to be a finite number."),
    ({"h": [1e7]}, "h holds a number whose size is above 1000000: such values are not tried."),
    ({"h": -1000001}, "h holds a number whose size is above 1000000: such values are not tried."),
    ({"h": [10**400]}, "h holds a number whose size is above 1000000: such values are not tried."),
    ({"h": [16**10000]}, "h holds a number whose size is above 1000000: such values are not tried."),
    ({"h": []}, "h is empty."),
    ({"W_i": []}, "W_i is empty."),
    ({"W_i": [[]]}, "W_i is empty."),
    ({"h": [0.0] * 10**6}, "h has 1000000 entries: more than 64 are not tried."),
    ({"W_i": [[0.0]] * 10**6}, "W_i has 1000000 rows: more than 64 are not tried."),
    ({"W_i": [[0.0] * 10**6]}, "W_i has 1000000 columns: more than 64 are not tried."),
    ({"h": [0.0] * 65}, "h has 65 entries: more than 64 are not tried."),
    ({"h": [[0.5]]}, "h is a vector: write it as a list of numbers, such as [0.5, 1.0]."),
    ({"h": [0.5, [16**10000]]}, "h is a vector: write it as a list of numbers, such as [0.5, 1.0]."),
    ({"W_i": [1.0]}, "W_i is a matrix: write it as a list of rows, such as [[0.5, 1.0]]."),
    ({"W_i": [[1.0], 2.0]}, "W_i is a matrix: write it as a list of rows, such as [[0.5, 1.0]]."),
    ({"W_i": [[[1.0]]]}, "W_i is a vector: write it as a list of numbers, such as [0.5, 1.0]."),
    ({"W_i": [[1.0, 2.0], [3.0]]}, "The rows of W_i differ in length: 1 and 2 entries."),
    ({"h": [0.5, 0.5], "c": [1.0]}, "h has 2 entries, but c has 1 entry: both are the hidden size."),
    ({"h": [0.5, 0.5], "W_i": [[1.0]]}, "h has 2 entries, but W_i has 1 row: both are the hidden size."),
    ({"U_i": [[1.0, 2.0]]}, "U_i has 1 row, but U_i has 2 columns: both are the hidden size."),
    ({"x": [0.0, 0.0, 0.0], "W_f": [[1.0, 2.0]]}, "x has 3 entries, but W_f has 2 columns: both are the input size."),
    ({"W_f": 1.0, "W_i": [[1.0, 2.0]]}, "W_f has 1 column, but W_i has 2 columns: both are the input size."),
    ({"w_i": 1.0}, f"w_i is not one of {LSTM_NAMES}, did you mean W_i?"),
    ({"U_x": 1.0}, f"U_x is not one of {LSTM_NAMES}, did you mean U_i or U_f or U_o?"),
    ({"H": 1.0}, f"H is not one of {LSTM_NAMES}, did you mean h?"),
    ({"x_t": 1.0}, f"x_t is not one of {LSTM_NAMES}, did you mean x?"),
    ({"bias": 1.0}, f"bias is not one of {LSTM_NAMES}."),
    ({"": 1.0}, f"'' is not one of {LSTM_NAMES}."),
    ({"a b\n": 1.0}, f"'a b\\n' is not one of {LSTM_NAMES}."),
    ({"n" * 100: 1.0}, f"{'n' * 20 + '…'!r} is not one of {LSTM_NAMES}."),
    ({"f": [0.0]}, "f is a gate, which is computed: give x, h, W_f and U_f that lead to it."),
    ([0.5], "A witness is a table such as { h = [0.5], c = [1.0] }."),
])  # fmt: skip
def test_what_cannot_be_tried_is_told_in_one_sentence(witness, sentence):
    for name in ("lstm_zero_input", "lstm_gates_non_negative"):
        started = time.perf_counter()
        with pytest.raises(BadWitness) as caught:
            try_witness(name, witness)
        assert str(caught.value) == sentence
        assert time.perf_counter() - started < 2


@pytest.mark.parametrize(("name", "witness", "sentence"), [
    ("gru_update_one_reset_zero", {"z": [1.0]}, "z is a gate, which is computed: give x, h, W_z and U_z that lead to it."),
    ("gru_update_one_reset_zero", {"c": [1.0]}, "c is not one of x, h, W_z, U_z, W_r, U_r, W, U."),
    ("copy_condition", {"K": [[1.0, 2.0]], "q": [1.0]}, "K has 2 columns, but q has 1 entry: both are the width of query and keys."),
    ("copy_condition", {"K": [[1.0]], "V": [[1.0], [2.0]]}, "K has 1 row, but V has 2 rows: both are the number of keys."),
])  # fmt: skip
def test_other_claims_have_other_names(name, witness, sentence):
    with pytest.raises(BadWitness) as caught:
        try_witness(name, witness)
    assert str(caught.value) == sentence


# ── true claims, and those without numbers ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("name", "witness", "remark"), [
    ("attention_weights_categorical", {"q": [1], "K": [[0.0], [2.0]]}, "here the smallest weight is 0.119, and the weights sum to 1.0."),
    ("attention_weights_categorical", {"q": [1e6], "K": [[1e6], [-1e6]]}, "here the smallest weight is 0.0, and the weights sum to 1.0."),
    ("copy_condition", {"q": 1, "K": [[0], [12]], "V": [[1], [5]]}, "here score 2 is ahead of all others by 12.0, its weight is 0.999994, and c differs from v_2 by at most 2.46e-05."),
    ("copy_condition", {"q": 1, "K": [[0], [2]], "V": [[1], [5]]}, "here the premise fails: the largest score is ahead of the next by 2.0 only."),
    ("copy_condition", {}, "here there is one score, its weight is 1.0, and c differs from v_1 by at most 0.0."),
    ("unscaled_attention", {"anything": "at all"}, "it is about d growing, so no single set of values is asked for."),
    ("gru_update_gate_zero", {"h": 0.5}, "here its premise fails: z = [0.5] is not within 0.01 of 0."),
    ("gru_update_gate_zero", {"x": 1, "W_z": -5, "h": 0.5, "W": 1}, "here z is within 0.01 of 0, and h' = [0.502] is close to h = [0.5]."),
    ("lstm_gates_non_negative", {"x": 1, "W_i": -2}, "here the smallest entry of f, i and o is 0.119."),
    ("lstm_gates_non_negative", {"x": 1e6, "W_i": -1e6}, "here the smallest entry of f, i and o is 0.0."),
])  # fmt: skip
def test_a_true_claim_has_no_witness(name, witness, remark):
    assert try_witness(name, witness) == Witnessed(False, f"The claim is true: it has no counterexample; {remark}")


@pytest.mark.parametrize("name", WITHOUT_NUMBERS)
def test_numbers_cannot_refute_what_is_not_about_numbers(name):
    assert try_witness(name, {"h": [1.0]}) == Witnessed(
        False, "This claim is about how models are built: no numbers can refute it, and none are asked for."
    )


def test_true_claims_are_illustrated():
    assert {name: demonstrate(name) for name in TRUE} == {
        "attention_weights_categorical": "Scores 2.0, -1.0, 0.5 give the weights 0.786, 0.0391, 0.175: none is negative, and they sum to 1.0.",
        "copy_condition": "A score ahead of two others by 1.0, 5.0, 10.0, 20.0 has the weight 0.57612, 0.9867, 0.99991, 1.0, and c differs from its value by 0.636, 0.0199, 0.000136, 6.18e-09.",
        "unscaled_attention": "With scores sqrt(d)·(1.0, 0.0, -1.0), as large as unscaled ones are for d = 1, 16, 256, 4096, the Jacobian of the softmax has the norm 0.389, 0.0355, 2.25e-07, 2.78e-28; divided by sqrt(d) they keep it at 0.389.",
        "gru_update_gate_zero": "With the update gate at 0.5, 0.119, 0.00669, 4.54e-05, a state of 0.5 moves by 0.25, 0.0553, 0.00335, 2.27e-05.",
        "lstm_gates_non_negative": "Where W x + U h is -1000.0, -10.0, 0.0, 10.0, a gate is 0.0, 4.54e-05, 0.5, 1.0: never negative.",
    }


@pytest.mark.parametrize("name", [*WITNESSED, *WITHOUT_NUMBERS])
def test_a_false_claim_is_not_illustrated(name):
    with pytest.raises(ValueError, match=f"^{name} is false"):
        demonstrate(name)


# ── determinism ──────────────────────────────────────────────────────────────────────────────────────────────────

EVERYTHING = """
import json
from checks.claims import CLAIMS, demonstrate, find_witness, try_witness
print(json.dumps([[name, found := find_witness(name), try_witness(name, found or {}).sentence,
                   demonstrate(name) if claim.truth else ""] for name, claim in CLAIMS.items()]))
"""


def test_another_process_finds_and_says_the_same():
    texts = {
        subprocess.run(
            [sys.executable, "-c", EVERYTHING], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    here = [
        [
            name,
            found := find_witness(name),
            try_witness(name, found or {}).sentence,
            demonstrate(name) if claim.truth else "",
        ]
        for name, claim in CLAIMS.items()
    ]
    assert [json.loads(text) for text in texts] == [here]


def test_a_found_witness_is_the_callers_to_change():
    find_witness("lstm_zero_input")["c"].append(7.0)
    assert find_witness("lstm_zero_input") == {"c": [0.5]}
