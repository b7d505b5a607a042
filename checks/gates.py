"""What every right gates.py does.

Inputs are designed for the mistakes they must expose: input and hidden sizes differ, both are
one now and then, states are not zero, every matrix is drawn apart and has both signs. A law
about an open or a closed gate drives it by a large weight on an input that is 1; the numbers
stay small enough for exp in single precision, so overflow shows in its own checks only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from checks import inputs
from checks.check import check, given
from checks.expect import ROUNDING, call, expect, expect_close, expect_finite
from checks.inputs import Array, Draw
from checks.standard import agreement, unmodified

Weights = dict[str, Array]

BIG = 1e4
DRIVE = 64.0  # s(-64 + what other weights add) < 1e-16, and exp(64 + the same) is finite in single precision
SATURATED = 4096.0
STEP = 1e-4  # of a central difference: off by its square, far below single precision's rounding
GRU = ("W_z", "U_z", "W_r", "U_r", "W", "U")
LSTM = ("W_i", "U_i", "W_f", "U_f", "W_o", "U_o", "W_c", "U_c")


def _weights(draw: Draw, names: tuple[str, ...], h: int, d: int) -> Weights:
    """Draw all matrices as one array (one draw is quicker than eight): W… (h, d), U… (h, h)."""
    shapes = [(h, d) if name.startswith("W") else (h, h) for name in names]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    flat = draw(inputs.grid((int(ends[-1]),), limit=1))
    parts = np.split(flat, ends[:-1])
    return {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}


def _signs(draw: Draw, *shape: int) -> Array:
    return np.where(draw(inputs.grid(shape)) < 0, -1.0, 1.0)


def _driven(params: Weights, **gates: Any) -> Weights:
    """Return the weights with gates open (1) or closed (-1), all units or one by one, while x[0] is 1."""
    changed = {name: matrix.copy() for name, matrix in params.items()}
    for gate, direction in gates.items():
        changed[f"W_{gate}"][:, 0] = DRIVE * direction
    return changed


def _driven_by_state(params: Weights, **gates: float) -> Weights:
    """Return the weights with gates open (1) or closed (-1) while h[0] is 1."""
    changed = {name: matrix.copy() for name, matrix in params.items()}
    for gate, direction in gates.items():
        changed[f"U_{gate}"][:, 0] = DRIVE * direction
    return changed


# ---------------------------------------------------------------------------- sigmoid


@st.composite
def numbers(draw: Draw) -> Array:
    """Draw an array of any shape, a single number without dimensions among them, within ±15."""
    shape = draw(st.sampled_from([(), (1,), (3,), (2, 3), (1, 4), (4, 1), (2, 1, 3)]))
    drawn: Array = draw(inputs.grid(shape, limit=8))
    return np.asarray(drawn * (15 / 8))  # NumPy turns results without dimensions into plain numbers


@st.composite
def numbers_of_some_size(draw: Draw) -> Array:
    """Draw the same with the first within ±4.

    (1 + tanh(x/2)) / 2 is as right as any formula, and in single precision it is off by 2^-24 of
    1, not of its own value: with a value like s(-4) among them the margin allows for that.
    """
    x: Array = draw(numbers())
    x.reshape(-1)[:1] /= 4
    return x


@st.composite
def vectors(draw: Draw) -> Array:
    drawn: Array = draw(inputs.grid((draw(st.sampled_from([2, 3, 4, 6])),), limit=8))
    return drawn


sigmoid_agrees = agreement(
    of="gates.sigmoid",
    arguments=st.tuples(numbers_of_some_size()),
    claim="sigmoid(x) = 1 / (1 + exp(-x)), entry by entry, in the shape of x.",
    hint="Look at the sign in front of x and at the brackets round the denominator.",
)

sigmoid_leaves_arguments_alone = unmodified(of="gates.sigmoid", arguments=st.tuples(numbers()))


@check(
    of="gates.sigmoid",
    claim="sigmoid(-x) = 1 - sigmoid(x).",
    hint="Extend the fraction by exp(x). A function that is odd, like tanh, has another symmetry.",
)
@given(x=numbers())
def mirrored_about_one_half(sigmoid: Any, x: Array) -> None:
    with np.errstate(all="ignore"):
        want = 1 - sigmoid(x)
    mirrored = np.asarray(-x)
    expect_close(call("sigmoid", mirrored), got=sigmoid(mirrored), want=want)


@check(
    of="gates.sigmoid",
    claim="Every value lies strictly between 0 and 1 for inputs within ±15.",
    hint="A gate is a share: never negative, never more than 1, and never quite 0 or 1 at moderate inputs.",
)
@given(x=numbers())
def strictly_between_zero_and_one(sigmoid: Any, x: Array) -> None:
    values = sigmoid(x)
    holds = bool(((values > 0) & (values < 1)).all())
    expect(call("sigmoid", x), holds=holds, gave=values, expected="values in (0, 1)")


@check(
    of="gates.sigmoid",
    claim="A larger input gives a larger value.",
    hint="Which way does your exponent point? exp(-x) falls as x grows, and it stands in the denominator.",
)
@given(x=vectors())
def grows_with_its_input(sigmoid: Any, x: Array) -> None:
    increasing = np.unique(x)  # sorted, and at least 1/16 apart: 2e-5 in the value, far above rounding
    values = sigmoid(increasing)
    with np.errstate(all="ignore"):
        holds = bool((np.diff(values) > 0).all()) and not np.isnan(values).any()
    expect(call("sigmoid", increasing), holds=holds, gave=values, expected="values in increasing order")


@check(
    of="gates.sigmoid",
    claim="The logarithm of the odds s / (1 - s) is x itself.",
    hint="sigmoid(0) is 1/2. Solve s = 1 / (1 + exp(-x)) for x: base e, no factor in front of x.",
)
@given(x=vectors())
def log_odds_are_the_input(sigmoid: Any, x: Array) -> None:
    moderate = x / 2  # within ±4: beyond, 1 - s has too few digits left in single precision
    values = sigmoid(moderate)
    with np.errstate(all="ignore"):
        odds = np.log(values / (1 - values))
    expect_close(call("sigmoid", moderate, then=" turned into log(s / (1 - s))"), got=odds, want=moderate, scale=4.0)


@check(
    of="gates.sigmoid",
    claim="Each entry is on its own: changing one entry leaves the values of the others unchanged.",
    hint="Nothing is summed or normalised over the array. That would be a softmax.",
)
@given(x=vectors())
def acts_entry_by_entry(sigmoid: Any, x: Array) -> None:
    moved = x.copy()
    moved[0] += 1.0
    about = call("sigmoid", moved, then="[1:]")
    expect_close(about, got=sigmoid(moved)[1:], want=sigmoid(x)[1:])


@check(
    of="gates.sigmoid",
    claim="Inputs of thousands give 0 or 1, never nan.",
    hint="exp(10000) is inf, and inf / inf is nan. Let exp see negative numbers only.",
)
@given(x=numbers())
def survives_extreme_numbers(sigmoid: Any, x: Array) -> None:
    large = np.asarray(x * (BIG / 15))  # zero, or at least 78 in size: exp(-78) is nothing
    values = sigmoid(large)
    expect_finite(call("sigmoid", large), got=values)
    expect_close(call("sigmoid", large), got=values, want=(1 + np.sign(large)) / 2)


# ---------------------------------------------------------------- gated recurrent unit


@st.composite
def gru_arguments(draw: Draw) -> tuple[Array, Array, Weights]:
    """Draw an input, a state and all six matrices."""
    h, d = draw(inputs.sizes(2))
    return draw(inputs.grid((d,))), draw(inputs.grid((h,))), _weights(draw, GRU, h, d)


@st.composite
def driven_gru(draw: Draw, smallest: int = 1) -> tuple[Array, Array, Weights]:
    """Draw the same with x[0] = 1, the input that drives the gates."""
    h, d = draw(inputs.sizes(2).filter(lambda chosen: chosen[0] >= smallest))
    x = draw(inputs.grid((d,), limit=1))
    x[0] = 1.0
    return x, draw(inputs.grid((h,))), _weights(draw, GRU, h, d)


@st.composite
def gru_and_signs(draw: Draw) -> tuple[Array, Array, Weights, Array]:
    """Draw at least two units and an open or a closed gate for each, both kinds among them."""
    x, h, params = draw(driven_gru(2))
    signs = _signs(draw, len(h))
    signs[0], signs[-1] = 1.0, -1.0
    return x, h, params, signs


@st.composite
def saturated_gru(draw: Draw) -> tuple[Array, Array, Weights]:
    """Draw an input in the thousands that every gate and candidate sees with weight 1 or -1."""
    x, h, params = draw(driven_gru())
    x[0] = SATURATED
    for name in ("W_z", "W_r", "W"):
        params[name][:, 0] = _signs(draw, len(h))
    return x, h, params


gru_cell_agrees = agreement(
    of="gates.gru_cell",
    arguments=gru_arguments(),
    claim="h' = (1-z)∘h + z∘tanh(W x + r∘(U h)), z = s(W_z x + U_z h), r = s(W_r x + U_r h), without biases.",
    hint="Put in hidden size 1 and follow one number by hand. Which state does z weigh, and what does r multiply?",
)

gru_cell_leaves_arguments_alone = unmodified(of="gates.gru_cell", arguments=gru_arguments())


@check(
    of="gates.gru_cell",
    claim="A closed update gate (z → 0) keeps the state: h' = h.",
    hint="The sheet has (1-z)∘h. torch and Keras give z to the old state; here z belongs to the new one.",
)
@given(case=driven_gru())
def closed_update_gate_keeps_the_state(gru_cell: Any, case: tuple[Array, Array, Weights]) -> None:
    x, h, params = case
    closed = _driven(params, z=-1)
    expect_close(call("gru_cell", x, h, closed), got=gru_cell(x, h, closed), want=h, scale=4.0)


@check(
    of="gates.gru_cell",
    claim="With both gates open (z → 1, r → 1) the cell is a plain recurrent network: h' = tanh(W x + U h).",
    hint="z = 1 leaves nothing of (1-z)∘h, and r = 1 lets all of U h into the candidate.",
)
@given(case=driven_gru())
def open_gates_make_a_plain_network(gru_cell: Any, case: tuple[Array, Array, Weights]) -> None:
    x, h, params = case
    opened = _driven(params, z=1, r=1)
    want = np.tanh(params["W"] @ x + params["U"] @ h)
    expect_close(call("gru_cell", x, h, opened), got=gru_cell(x, h, opened), want=want, scale=4.0)


@check(
    of="gates.gru_cell",
    claim="With z → 1 and a closed reset gate (r → 0) the state is forgotten: h' is the same whatever h was.",
    hint="r multiplies the part of the candidate that comes from h, all of it, and nothing else.",
)
@given(case=driven_gru())
def closed_reset_gate_forgets_the_state(gru_cell: Any, case: tuple[Array, Array, Weights]) -> None:
    x, h, params = case
    closed = _driven(params, z=1, r=-1)
    got = gru_cell(x, h, closed)
    expect_close(call("gru_cell", x, h, closed), got=got, want=gru_cell(x, -h - 1, closed), scale=4.0)
    expect_close(call("gru_cell", x, h, closed), got=got, want=np.tanh(params["W"] @ x), scale=4.0)


@check(
    of="gates.gru_cell",
    claim="The reset gate acts after U: a unit whose gate is open hears all of U h, one whose gate is closed nothing.",
    hint="The sheet has r∘(U h): U mixes the whole state first, then each unit's own gate opens or closes.",
)
@given(case=gru_and_signs())
def reset_gate_acts_after_the_matrix(gru_cell: Any, case: tuple[Array, Array, Weights, Array]) -> None:
    x, h, params, signs = case
    mixed = _driven(params, z=1, r=signs)
    heard = np.where(signs > 0, params["U"] @ h, 0.0)
    want = np.tanh(params["W"] @ x + heard)
    expect_close(call("gru_cell", x, h, mixed), got=gru_cell(x, h, mixed), want=want, scale=4.0)


@check(
    of="gates.gru_cell",
    claim="Every entry of h' lies between the old state and the candidate (what the cell gives with z → 1).",
    hint="z and 1-z are shares that sum to 1, so h' is an average of h and the candidate, unit by unit.",
)
@given(case=driven_gru())
def new_state_lies_between(gru_cell: Any, case: tuple[Array, Array, Weights]) -> None:
    x, h, params = case
    candidate = gru_cell(x, h, _driven(params, z=1))  # r, and so the candidate, does not depend on z
    new = gru_cell(x, h, params)
    with np.errstate(all="ignore"):
        low, high = np.minimum(h, candidate), np.maximum(h, candidate)
        holds = bool(((new >= low - 4 * ROUNDING) & (new <= high + 4 * ROUNDING)).all())
    about = call("gru_cell", x, h, params)
    expect(about, holds=holds, gave=new, expected=f"each entry between {low.tolist()} and {high.tolist()}")


@check(
    of="gates.gru_cell",
    claim="The gates hear the state as well as the input: a large U_z h closes the update gate, and then h' = h.",
    hint="Both gates are s(W x + U h), each with its own W and its own U.",
)
@given(case=gru_arguments())
def gates_hear_the_state(gru_cell: Any, case: tuple[Array, Array, Weights]) -> None:
    x, h, params = case
    state = np.concatenate([[1.0], h[1:]])
    closed = _driven_by_state(params, z=-1)
    expect_close(call("gru_cell", x, state, closed), got=gru_cell(x, state, closed), want=state, scale=4.0)


@check(
    of="gates.gru_cell",
    claim="With all weights zero the state is halved.",
    hint="s(0) = 1/2 and tanh(0) = 0. There are no biases.",
)
@given(case=gru_arguments())
def zero_weights_halve_the_state(gru_cell: Any, case: tuple[Array, Array, Weights]) -> None:
    x, h, params = case
    zero = {name: np.zeros_like(matrix) for name, matrix in params.items()}
    expect_close(call("gru_cell", x, h, zero), got=gru_cell(x, h, zero), want=h / 2, scale=4.0)


@check(
    of="gates.gru_cell",
    claim="An input in the thousands opens and closes gates for good, and nothing overflows.",
    hint="exp(4096) is inf. A sigmoid or tanh made of exp(x) / (1 + exp(x)) gives nan there.",
)
@given(case=saturated_gru())
def gru_survives_extreme_inputs(gru_cell: Any, case: tuple[Array, Array, Weights]) -> None:
    x, h, params = case
    want = np.where(params["W_z"][:, 0] > 0, params["W"][:, 0], h)
    got = gru_cell(x, h, params)
    expect_finite(call("gru_cell", x, h, params), got=got)
    expect_close(call("gru_cell", x, h, params), got=got, want=want, scale=4.0)


# ------------------------------------------------------------- long short-term memory


@st.composite
def lstm_arguments(draw: Draw) -> tuple[Array, Array, Array, Weights]:
    """Draw an input, both states and all eight matrices; the cell may be larger than tanh could return."""
    h, d = draw(inputs.sizes(2))
    x, hidden = draw(inputs.grid((d,), limit=1)), draw(inputs.grid((h,), limit=1))
    return x, hidden, draw(inputs.grid((h,), limit=4)), _weights(draw, LSTM, h, d)


@st.composite
def driven_lstm(draw: Draw) -> tuple[Array, Array, Array, Weights]:
    """Draw the same with x[0] = 1, the input that drives the gates."""
    x, hidden, cell, params = draw(lstm_arguments())
    x[0] = 1.0
    return x, hidden, cell, params


@st.composite
def saturated_lstm(draw: Draw) -> tuple[Array, Array, Array, Weights]:
    """Draw an input in the thousands that every gate and candidate sees with weight 1 or -1."""
    x, hidden, cell, params = draw(driven_lstm())
    x[0] = SATURATED
    for name in ("W_i", "W_f", "W_o", "W_c"):
        params[name][:, 0] = _signs(draw, len(cell))
    return x, hidden, cell, params


lstm_cell_agrees = agreement(
    of="gates.lstm_cell",
    arguments=lstm_arguments(),
    claim="c' = f∘c + i∘tanh(W_c x + U_c h) and h' = o∘tanh(c'), with i, f, o = s(W x + U h); returned as h', c'.",
    hint="Each gate has its own W and U, by name. Which gate multiplies the old cell, which the candidate?",
)

lstm_cell_leaves_arguments_alone = unmodified(of="gates.lstm_cell", arguments=lstm_arguments())


@check(
    of="gates.lstm_cell",
    claim="With an open forget gate and a closed input gate (f → 1, i → 0) the cell is kept: c' = c.",
    hint="f multiplies the old cell and i the candidate. Are the two exchanged? Is the cell squashed on the way?",
)
@given(case=driven_lstm())
def open_forget_gate_keeps_the_cell(lstm_cell: Any, case: tuple[Array, Array, Array, Weights]) -> None:
    x, h, c, params = case
    kept = _driven(params, f=1, i=-1)
    _, cell = lstm_cell(x, h, c, kept)
    expect_close(call("lstm_cell", x, h, c, kept, then="[1]"), got=cell, want=c, scale=4.0)


@check(
    of="gates.lstm_cell",
    claim="A closed forget gate (f → 0) erases the cell: c' is the same whatever c was, and within ±1.",
    hint="What is left is i∘candidate. The old cell enters c' through f alone.",
)
@given(case=driven_lstm())
def closed_forget_gate_erases_the_cell(lstm_cell: Any, case: tuple[Array, Array, Array, Weights]) -> None:
    x, h, c, params = case
    erased = _driven(params, f=-1)
    _, cell = lstm_cell(x, h, c, erased)
    _, other = lstm_cell(x, h, -c - 1, erased)
    about = call("lstm_cell", x, h, c, erased, then="[1]")
    expect_close(about, got=cell, want=other, scale=4.0)
    expect(about, holds=bool((np.abs(cell) < 1 + ROUNDING).all()), gave=cell, expected="entries within ±1")


@check(
    of="gates.lstm_cell",
    claim="With f → 0 and an open input gate (i → 1) the cell is the candidate, tanh(W_c x + U_c h).",
    hint="The candidate is squashed by tanh, not by the sigmoid, and hears the input and the state.",
)
@given(case=driven_lstm())
def open_input_gate_writes_the_candidate(lstm_cell: Any, case: tuple[Array, Array, Array, Weights]) -> None:
    x, h, c, params = case
    written = _driven(params, f=-1, i=1)
    _, cell = lstm_cell(x, h, c, written)
    want = np.tanh(params["W_c"] @ x + params["U_c"] @ h)
    expect_close(call("lstm_cell", x, h, c, written, then="[1]"), got=cell, want=want, scale=4.0)


@check(
    of="gates.lstm_cell",
    claim="The output gate shows the squashed cell (o → 1: h' = tanh(c')) or hides it (o → 0: h' = 0); c' ignores it.",
    hint="h' is made from the new cell c', after tanh. o touches nothing but h'.",
)
@given(case=driven_lstm())
def output_gate_shows_or_hides_the_cell(lstm_cell: Any, case: tuple[Array, Array, Array, Weights]) -> None:
    x, h, c, params = case
    opened, closed = _driven(params, o=1), _driven(params, o=-1)
    shown, cell = lstm_cell(x, h, c, opened)
    hidden, same = lstm_cell(x, h, c, closed)
    with np.errstate(all="ignore"):
        squashed = np.tanh(cell)
    expect_close(call("lstm_cell", x, h, c, opened, then="[0]"), got=shown, want=squashed, scale=4.0)
    expect_close(call("lstm_cell", x, h, c, closed, then="[0]"), got=hidden, want=0 * h, scale=4.0)
    expect_close(call("lstm_cell", x, h, c, closed, then="[1]"), got=same, want=cell, scale=4.0)


@check(
    of="gates.lstm_cell",
    claim="The gates are shares: h' lies strictly between 0 and tanh(c') or at 0, so |h'| < 1,"
    " and c' lies less than 1 outside the range from 0 to c.",
    hint="0 < i, f, o < 1 and |candidate| < 1. The cell itself may grow beyond 1; what is shown of it may not.",
)
@given(case=lstm_arguments())
def states_stay_in_bounds(lstm_cell: Any, case: tuple[Array, Array, Array, Weights]) -> None:
    c = case[2]
    hidden, cell = lstm_cell(*case)
    with np.errstate(all="ignore"):
        share = hidden * np.sign(cell)
        shown = bool(((share >= -ROUNDING) & (share <= np.abs(np.tanh(cell)) + ROUNDING) & (share < 1)).all())
        kept = bool(((cell > np.minimum(c, 0) - 1 - ROUNDING) & (cell < np.maximum(c, 0) + 1 + ROUNDING)).all())
    expect(call("lstm_cell", *case, then="[0]"), holds=shown, gave=(hidden, cell), expected="h' from 0 up to tanh(c')")
    expect(call("lstm_cell", *case, then="[1]"), holds=kept, gave=cell, expected="c' within 1 of what lies from 0 to c")


@check(
    of="gates.lstm_cell",
    claim="A zero input does not freeze the cell: the state alone opens i and closes f, and then c' = tanh(U_c h).",
    hint="Every gate hears U h as well. With x = 0 the whole step is driven by the previous state.",
)
@given(case=lstm_arguments())
def zero_input_does_not_freeze(lstm_cell: Any, case: tuple[Array, Array, Array, Weights]) -> None:
    x, h, c, params = case
    state = np.concatenate([[1.0], h[1:]])
    moved = _driven_by_state(params, i=1, f=-1)
    hidden, cell = lstm_cell(np.zeros_like(x), state, c, moved)
    about = call("lstm_cell", np.zeros_like(x), state, c, moved)
    expect_close(about, got=cell, want=np.tanh(params["U_c"] @ state), scale=4.0)
    expect(about, holds=bool((np.abs(hidden) < 1).all()), gave=hidden, expected="|h'| < 1")


@check(
    of="gates.lstm_cell",
    claim="With all weights zero the cell is halved, and h' is half of its tanh.",
    hint="s(0) = 1/2 and tanh(0) = 0. There are no biases, not even one that keeps the forget gate open.",
)
@given(case=lstm_arguments())
def zero_weights_halve_the_cell(lstm_cell: Any, case: tuple[Array, Array, Array, Weights]) -> None:
    x, h, c, params = case
    zero = {name: np.zeros_like(matrix) for name, matrix in params.items()}
    hidden, cell = lstm_cell(x, h, c, zero)
    expect_close(call("lstm_cell", x, h, c, zero, then="[1]"), got=cell, want=c / 2, scale=4.0)
    expect_close(call("lstm_cell", x, h, c, zero, then="[0]"), got=hidden, want=np.tanh(c / 2) / 2)


@check(
    of="gates.lstm_cell",
    claim="An input in the thousands opens and closes gates for good, and nothing overflows.",
    hint="exp(4096) is inf. A sigmoid or tanh made of exp(x) / (1 + exp(x)) gives nan there.",
)
@given(case=saturated_lstm())
def lstm_survives_extreme_inputs(lstm_cell: Any, case: tuple[Array, Array, Array, Weights]) -> None:
    *_, c, params = case
    i, f, o = (params[name][:, 0] > 0 for name in ("W_i", "W_f", "W_o"))
    want = f * c + i * params["W_c"][:, 0]
    hidden, cell = lstm_cell(*case)
    expect_finite(call("lstm_cell", *case), got=(hidden, cell))
    expect_close(call("lstm_cell", *case, then="[1]"), got=cell, want=want, scale=4.0)
    expect_close(call("lstm_cell", *case, then="[0]"), got=hidden, want=o * np.tanh(want))


# ------------------------------------------------------ gradient of an LSTM's weights

Unrolled = tuple[Array, Array, Array, Weights, Array]


def _unrolled(draw: Draw, T: int, d: int, h: int) -> Unrolled:
    xs, h0, c0 = draw(inputs.grid((T, d), limit=1)), draw(inputs.grid((h,), limit=1)), draw(inputs.grid((h,)))
    return xs, h0, c0, _weights(draw, LSTM, h, d), draw(inputs.grid((T, h)))


@st.composite
def unrolled(draw: Draw) -> Unrolled:
    """Draw inputs, both first states, all matrices and a derivative for every step."""
    return _unrolled(draw, *draw(inputs.sizes(3)))


@st.composite
def long_unrolled(draw: Draw) -> Unrolled:
    """Draw at least three steps, so that something can flow back."""
    T, d, h = draw(st.sampled_from([(3, 2, 1), (3, 1, 2), (4, 1, 3), (4, 3, 2), (5, 2, 3), (6, 1, 2), (3, 4, 5)]))
    return _unrolled(draw, T, d, h)


def any_unrolled() -> st.SearchStrategy[Unrolled]:
    return st.one_of(long_unrolled(), unrolled())


@st.composite
def driven_unrolled(draw: Draw) -> Unrolled:
    """Draw the same with xs[:, 0] = 1, the input that drives the gates."""
    xs, *rest = draw(any_unrolled())
    xs[:, 0] = 1.0
    return (xs, *rest)


@st.composite
def two_derivatives(draw: Draw) -> tuple[Unrolled, Array, float]:
    case = draw(any_unrolled())
    return case, draw(inputs.grid(case[4].shape)), draw(st.sampled_from([2.0, -1.0, 0.5, -3.0]))


@st.composite
def memories(draw: Draw) -> Unrolled:
    """Draw an LSTM that writes at step 1, then only forgets, and shows its cell; U is zero, so that h feeds nothing.

    xs[:, 0] is 1 and opens o. xs[:, 1] is 1 at step 1 and -1 later: it opens i, then closes it.
    The forget gates are anything; only the last state counts.
    """
    T, d, h = draw(st.sampled_from([(2, 3, 1), (3, 2, 1), (3, 4, 2), (4, 3, 2), (5, 3, 2), (2, 4, 3)]))
    xs, h0, c0, params, dh = _unrolled(draw, T, d, h)
    xs[:, 0] = 1.0
    xs[:, 1] = -1.0
    xs[0, 1] = 1.0
    params = {name: matrix if name.startswith("W") else np.zeros_like(matrix) for name, matrix in params.items()}
    params["W_o"][:, 0] = DRIVE
    params["W_i"][:, 1] = DRIVE
    dh[:-1] = 0.0
    return xs, h0, c0, params, dh


@st.composite
def saturated_unrolled(draw: Draw) -> Unrolled:
    """Draw inputs in the thousands that every gate and candidate sees with weight 1 or -1."""
    xs, h0, c0, params, dh = draw(any_unrolled())
    xs[:, 0] = SATURATED * _signs(draw, len(xs))
    for name in ("W_i", "W_f", "W_o", "W_c"):
        params[name][:, 0] = _signs(draw, len(h0))
    return xs, h0, c0, params, dh


lstm_weight_gradient_agrees = agreement(
    of="gates.lstm_weight_gradient",
    arguments=any_unrolled(),
    claim="dJ/dW_c, summed over all steps, equals automatic differentiation through time; row t of dh is the explicit"
    " dJ/dh_t.",
    hint="W_c reaches h_t through c_t directly, through c_{t-1}, and through h_{t-1} in the candidate and in all three"
    " gates. Try T = 1 first, then T = 2 with dh zero at step 1.",
)

lstm_weight_gradient_leaves_arguments_alone = unmodified(of="gates.lstm_weight_gradient", arguments=any_unrolled())


@check(
    of="gates.lstm_weight_gradient",
    claim="The gradient is linear in dh: for a dh + dh' it is a times the one for dh plus the one for dh'.",
    hint="Every row of dh counts, with its sign, and nothing is averaged or normalised.",
)
@given(case=two_derivatives())
def linear_in_the_derivatives(lstm_weight_gradient: Any, case: tuple[Unrolled, Array, float]) -> None:
    (*sequence, dh), other, factor = case
    combined = factor * dh + other
    with np.errstate(all="ignore"):
        want = factor * lstm_weight_gradient(*sequence, dh) + lstm_weight_gradient(*sequence, other)
    got = lstm_weight_gradient(*sequence, combined)
    expect_close(call("lstm_weight_gradient", *sequence, combined), got=got, want=want, scale=8.0)


@check(
    of="gates.lstm_weight_gradient",
    claim="With all gates open (i, f, o → 1) it is the slope of J = sum_t dh_t·h_t, where"
    " c_t = c_{t-1} + tanh(W_c x_t + U_c h_{t-1}) and h_t = tanh(c_t).",
    hint="Change one entry of W_c a little and see how J changes: every step from there on moves.",
)
@given(case=driven_unrolled())
def open_gates_agree_with_the_costs_slope(lstm_weight_gradient: Any, case: Unrolled) -> None:
    _expect_slope(lstm_weight_gradient, case, forget=1)


@check(
    of="gates.lstm_weight_gradient",
    claim="A closed forget gate (f → 0, i, o → 1) does not stop the error: it is the slope of J = sum_t dh_t·h_t, where"
    " h_t = tanh(tanh(W_c x_t + U_c h_{t-1})).",
    hint="The error still reaches step t-1 through U_c h_{t-1}. Is the matrix transposed on the way back?",
)
@given(case=driven_unrolled())
def closed_forget_gate_does_not_stop_the_error(lstm_weight_gradient: Any, case: Unrolled) -> None:
    _expect_slope(lstm_weight_gradient, case, forget=-1)


def _expect_slope(lstm_weight_gradient: Any, case: Unrolled, *, forget: int) -> None:
    """Compare with central differences of the cost of an LSTM whose gates stand still."""
    xs, h0, c0, params, dh = case
    driven = _driven(params, i=1, o=1, f=forget)

    def cost(W_c: Array) -> Array:  # (…, h, d) -> (…)
        hidden, cell, total = h0, c0, np.zeros(W_c.shape[:-2])
        for x, explicit in zip(xs, dh, strict=True):
            candidate = np.tanh(W_c @ x + hidden @ params["U_c"].T)
            cell = candidate + cell if forget > 0 else candidate
            hidden = np.tanh(cell)
            total = total + hidden @ explicit
        return total

    want = _slopes(cost, params["W_c"])
    got = lstm_weight_gradient(xs, h0, c0, driven, dh)
    expect_close(call("lstm_weight_gradient", xs, h0, c0, driven, dh), got=got, want=want, scale=8.0)


@check(
    of="gates.lstm_weight_gradient",
    claim="The error flows back through a gate that hears the state: with i → 1, f → 0 and U_c = 0 it is the slope of"
    " J = sum_t dh_t·h_t, where h_t = o_t∘tanh(tanh(W_c x_t)) and o_t = s(W_o x_t + U_o h_{t-1}).",
    hint="W_c moves h_{t-1}, h_{t-1} moves the gates of step t, and these move h_t. Are the gates held fixed?",
)
@given(case=driven_unrolled())
def error_flows_through_the_output_gate(lstm_weight_gradient: Any, case: Unrolled) -> None:
    xs, h0, c0, params, dh = case
    driven = _driven(params, i=1, f=-1) | {"U_c": np.zeros_like(params["U_c"])}

    def cost(W_c: Array) -> Array:  # (…, h, d) -> (…)
        hidden, total = h0, np.zeros(W_c.shape[:-2])
        for x, explicit in zip(xs, dh, strict=True):
            gate = 1 / (1 + np.exp(-(params["W_o"] @ x + hidden @ params["U_o"].T)))
            hidden = gate * np.tanh(np.tanh(W_c @ x))
            total = total + hidden @ explicit
        return total

    want = _slopes(cost, params["W_c"])
    got = lstm_weight_gradient(xs, h0, c0, driven, dh)
    expect_close(call("lstm_weight_gradient", xs, h0, c0, driven, dh), got=got, want=want, scale=8.0)


def _slopes(cost: Callable[[Array], Array], at: Array) -> Array:
    """Return the central difference of a cost by each entry, all of them evaluated at once."""
    moves = STEP * np.eye(at.size).reshape(at.size, *at.shape)
    slopes: Array = (cost(at + moves) - cost(at - moves)) / (2 * STEP)
    return slopes.reshape(at.shape)


@check(
    of="gates.lstm_weight_gradient",
    claim="Along the cell the error is multiplied by the forget gates: what was written at step 1 is read at step T"
    " with the factor f_2 … f_T.",
    hint="dc_t/dc_{t-1} = f_t, once per step. A gradient cut after one step sees nothing of step 1.",
)
@given(case=memories())
def memory_path_is_the_product_of_forget_gates(lstm_weight_gradient: Any, case: Unrolled) -> None:
    xs, _, c0, params, dh = case
    gates = 1 / (1 + np.exp(-xs @ params["W_f"].T))
    written = np.tanh(params["W_c"] @ xs[0])
    kept = gates[1:].prod(axis=0)
    last = kept * (gates[0] * c0 + written)
    reached = dh[-1] * (1 - np.tanh(last) ** 2) * kept * (1 - written**2)
    got = lstm_weight_gradient(*case)
    expect_close(call("lstm_weight_gradient", *case), got=got, want=np.outer(reached, xs[0]), scale=2.0)


@check(
    of="gates.lstm_weight_gradient",
    claim="What comes after the last step that J looks at does not matter: if dh_T is zero, x_T changes nothing.",
    hint="Error flows from a step to earlier ones, never to later ones.",
)
@given(case=long_unrolled())
def later_inputs_get_no_blame(lstm_weight_gradient: Any, case: Unrolled) -> None:
    xs, h0, c0, params, dh = case
    blind = dh.copy()
    blind[-1] = 0.0
    moved = xs.copy()
    moved[-1] += 1.0
    about = call("lstm_weight_gradient", moved, h0, c0, params, blind)
    got = lstm_weight_gradient(moved, h0, c0, params, blind)
    expect_close(about, got=got, want=lstm_weight_gradient(xs, h0, c0, params, blind), scale=8.0)


@check(
    of="gates.lstm_weight_gradient",
    claim="An input that is zero at every step gives its column of W_c no gradient.",
    hint="Each step adds an outer product with its own x_t: one row per unit, one column per input.",
)
@given(case=any_unrolled())
def silent_inputs_get_no_gradient(lstm_weight_gradient: Any, case: Unrolled) -> None:
    xs, *rest = case
    silent = xs.copy()
    silent[:, 0] = 0.0
    got = lstm_weight_gradient(silent, *rest)[:, 0]
    expect_close(call("lstm_weight_gradient", silent, *rest, then="[:, 0]"), got=got, want=np.zeros_like(rest[0]))


@check(
    of="gates.lstm_weight_gradient",
    claim="Where every candidate is saturated by inputs in the thousands the gradient is zero, not nan.",
    hint="tanh has slope 0 out there. Write the slopes with the gates' own values; exp(4096) is inf.",
)
@given(case=saturated_unrolled())
def gradient_survives_extreme_inputs(lstm_weight_gradient: Any, case: Unrolled) -> None:
    got = lstm_weight_gradient(*case)
    expect_finite(call("lstm_weight_gradient", *case), got=got)
    expect_close(call("lstm_weight_gradient", *case), got=got, want=np.zeros_like(case[3]["W_c"]))


# -------------------------------------------------- gradients of a recurrent network

Recurrence = tuple[Array, Array, Array, Array, Array]


def _recurrence(draw: Draw, T: int, d: int, h: int) -> Recurrence:
    xs, h0 = draw(inputs.grid((T, d), limit=1)), draw(inputs.grid((h,)))
    return xs, h0, draw(inputs.grid((h, d), limit=1)), draw(inputs.grid((h, h), limit=1)), draw(inputs.grid((h,)))


@st.composite
def recurrences(draw: Draw) -> Recurrence:
    """Draw inputs, a first state, both matrices and the derivative by the last state."""
    return _recurrence(draw, *draw(inputs.sizes(3)))


@st.composite
def long_recurrences(draw: Draw) -> Recurrence:
    """Draw at least two steps, so that something can flow back."""
    T, d, h = draw(st.sampled_from([(2, 3, 1), (2, 1, 3), (3, 1, 2), (3, 2, 4), (4, 2, 3), (5, 1, 2), (6, 2, 1)]))
    return _recurrence(draw, T, d, h)


def any_recurrences() -> st.SearchStrategy[Recurrence]:
    return st.one_of(long_recurrences(), recurrences())


@st.composite
def rotating_recurrences(draw: Draw) -> tuple[Recurrence, float]:
    """Draw a recurrence whose U, up to a factor, exchanges units and turns signs: it keeps every length."""
    xs, h0, W, _, dh_last = draw(long_recurrences())
    h = len(h0)
    turned = np.eye(h)[draw(inputs.orders(h))] * _signs(draw, h)
    return (xs, h0, W, turned, dh_last), draw(st.sampled_from([2.0, 1.5, 4.0]))


@st.composite
def saturated_recurrences(draw: Draw) -> Recurrence:
    """Draw inputs in the thousands that every unit sees with weight 1 or -1."""
    xs, h0, W, U, dh_last = draw(any_recurrences())
    xs[:, 0] = SATURATED * _signs(draw, len(xs))
    W[:, 0] = _signs(draw, len(h0))
    return xs, h0, W, U, dh_last


rnn_gradient_norms_agrees = agreement(
    of="gates.rnn_gradient_norms",
    arguments=any_recurrences(),
    claim="Entry t is |dJ/dh_t|, t = 1 … T, for h_t = tanh(W x_t + U h_{t-1}) and dJ/dh_T = dh_last.",
    hint="One step back multiplies by the transposed Jacobian of h_t by h_{t-1}. What are its two factors, and which"
    " comes first?",
)

rnn_gradient_norms_leaves_arguments_alone = unmodified(of="gates.rnn_gradient_norms", arguments=any_recurrences())


@check(
    of="gates.rnn_gradient_norms",
    claim="The last norm is the length of dh_last, and all grow with it: twice the derivative, twice the norms.",
    hint="The norm is the root of the sum of squares, and the results run forward in time, h_T last.",
)
@given(case=any_recurrences())
def norms_scale_with_the_last_one(rnn_gradient_norms: Any, case: Recurrence) -> None:
    *sequence, dh_last = case
    norms = rnn_gradient_norms(*case)
    length = float(np.sqrt(dh_last @ dh_last))
    expect_close(call("rnn_gradient_norms", *case, then="[-1]"), got=norms[-1], want=length, scale=4.0)
    with np.errstate(all="ignore"):
        want = 2 * norms
    got = rnn_gradient_norms(*sequence, -2 * dh_last)
    expect_close(call("rnn_gradient_norms", *sequence, -2 * dh_last), got=got, want=want, scale=8.0)


@check(
    of="gates.rnn_gradient_norms",
    claim="It decays when the recurrent matrix contracts: if U halves lengths, each norm is at most half the next.",
    hint="tanh has slope at most 1, so a step back never stretches more than U does. Is the order forward in time?",
)
@given(case=rotating_recurrences())
def contracting_matrix_makes_it_decay(rnn_gradient_norms: Any, case: tuple[Recurrence, float]) -> None:
    (xs, h0, W, turned, dh_last), _ = case
    arguments = (xs, h0, W, turned / 2, dh_last)
    norms = rnn_gradient_norms(*arguments)
    with np.errstate(all="ignore"):
        holds = bool((norms[:-1] <= norms[1:] / 2 + 4 * ROUNDING).all())
    about = call("rnn_gradient_norms", *arguments)
    expect(about, holds=holds, gave=norms, expected="norms that at least halve with every step back")


@check(
    of="gates.rnn_gradient_norms",
    claim="It grows when the recurrent matrix expands: at rest (x = 0, h_0 = 0) a U that stretches every length by a"
    " factor multiplies the norm by that factor per step back.",
    hint="At rest tanh has slope 1, and U alone counts: T - t factors lie between h_t and h_T.",
)
@given(case=rotating_recurrences())
def expanding_matrix_makes_it_grow(rnn_gradient_norms: Any, case: tuple[Recurrence, float]) -> None:
    (xs, h0, W, turned, dh_last), factor = case
    arguments = (np.zeros_like(xs), np.zeros_like(h0), W, factor * turned, dh_last)
    want = np.sqrt(dh_last @ dh_last) * factor ** np.arange(len(xs) - 1.0, -1.0, -1.0)
    got = rnn_gradient_norms(*arguments)
    expect_close(call("rnn_gradient_norms", *arguments), got=got, want=want, scale=1.0 + float(want.max()))


@check(
    of="gates.rnn_gradient_norms",
    claim="A network that starts one step later, from the state reached there, has the same norms from there on.",
    hint="h_0 is the argument h0, not zero. Each norm belongs to one state, h_1 first.",
)
@given(case=long_recurrences())
def starting_later_changes_nothing(rnn_gradient_norms: Any, case: Recurrence) -> None:
    xs, h0, W, U, dh_last = case
    later = (xs[1:], np.tanh(W @ xs[0] + U @ h0), W, U, dh_last)
    got = rnn_gradient_norms(*later)
    expect_close(call("rnn_gradient_norms", *later), got=got, want=rnn_gradient_norms(*case)[1:], scale=8.0)


@check(
    of="gates.rnn_gradient_norms",
    claim="The first norm is the length of the slope of J = dh_last·h_T by h_1.",
    hint="Change one entry of h_1 a little, run the network on from there, and see how dh_last·h_T changes.",
)
@given(case=long_recurrences())
def first_norm_agrees_with_the_costs_slope(rnn_gradient_norms: Any, case: Recurrence) -> None:
    xs, h0, W, U, dh_last = case

    def cost(states: Array) -> Array:  # (…, h) -> (…)
        for x in xs[1:]:
            states = np.tanh(W @ x + states @ U.T)
        return states @ dh_last

    slopes = _slopes(cost, np.tanh(W @ xs[0] + U @ h0))
    got = rnn_gradient_norms(*case)[0]
    want = float(np.sqrt(slopes @ slopes))
    expect_close(call("rnn_gradient_norms", *case, then="[0]"), got=got, want=want, scale=8.0)


@check(
    of="gates.rnn_gradient_norms",
    claim="Inputs in the thousands saturate every unit: the last norm is |dh_last| and the others are zero, not nan.",
    hint="tanh has slope 0 out there. exp(4096) is inf: take the slope from the state itself.",
)
@given(case=saturated_recurrences())
def norms_survive_extreme_inputs(rnn_gradient_norms: Any, case: Recurrence) -> None:
    *_, dh_last = case
    got = rnn_gradient_norms(*case)
    expect_finite(call("rnn_gradient_norms", *case), got=got)
    want = np.zeros(len(case[0]))
    want[-1] = np.sqrt(dh_last @ dh_last)
    expect_close(call("rnn_gradient_norms", *case), got=got, want=want, scale=4.0)
