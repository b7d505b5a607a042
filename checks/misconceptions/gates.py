"""Wrong gates: each function computes exactly what one mistake computes.

What is right in it is the reference's, so that a body shows the mistake and little else.
"""
# A misconception has the contract's signature, and a part of a cell its own, even where the mistake is to ignore an
# argument (ARG001, ARG005).
# ruff: noqa: ARG001, ARG005

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from checks.misconception import misconception
from reference import gates as right

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reference.gates import Array

    Weights = Mapping[str, Array]


def _squash(x: Any) -> Any:
    return right.sigmoid(x)


def _slope(s: Any) -> Any:
    """Return the sigmoid's derivative, given its value."""
    return s * (1 - s)


def _gate(name: str, x: Array, h: Array, params: Weights) -> Any:
    """Return a gate, s(W x + U h)."""
    return _squash(params[f"W_{name}"] @ x + params[f"U_{name}"] @ h)


# sigmoid


@misconception(
    of="gates.sigmoid",
    name="tanh in place of sigmoid",
    why="tanh runs from -1 to 1; the sigmoid from 0 to 1.",
)
def sigmoid_tanh(x: Array) -> Any:
    return np.tanh(x)


@misconception(
    of="gates.sigmoid",
    name="scaled to run from -1 to 1",
    why="2 s - 1, which is tanh(x/2), is odd and runs from -1 to 1; a gate runs from 0 to 1.",
)
def sigmoid_symmetric(x: Array) -> Any:
    return 2 * _squash(x) - 1


@misconception(
    of="gates.sigmoid",
    name="sign of the exponent lost",
    why="1 / (1 + exp(x)) falls as x grows; the exponent is -x.",
)
def sigmoid_falling(x: Array) -> Any:
    return _squash(-x)


@misconception(
    of="gates.sigmoid",
    name="exp overflows for large inputs",
    why="exp(x) / (1 + exp(x)) is inf/inf = nan beyond 709; extend the fraction so that exp sees negative numbers.",
)
def sigmoid_overflowing(x: Array) -> Any:
    power = np.exp(np.asarray(x, dtype=np.float64))  # extended precision would hide the overflow
    return power / (1 + power)


@misconception(
    of="gates.sigmoid",
    name="derivative returned",
    why="s (1 - s) is the sigmoid's slope; the value s is asked for.",
)
def sigmoid_derivative(x: Array) -> Any:
    return _slope(_squash(x))


@misconception(
    of="gates.sigmoid",
    name="brackets round the denominator missing",
    why="1 / 1 + exp(-x) is 1 + exp(-x): without brackets the division comes first.",
)
def sigmoid_without_brackets(x: Array) -> Any:
    return 1 + np.exp(-np.asarray(x, dtype=np.float64))


@misconception(
    of="gates.sigmoid",
    name="minus in the denominator",
    why="1 / (1 - exp(-x)) has a pole at 0; the denominator is 1 + exp(-x).",
)
def sigmoid_minus(x: Array) -> Any:
    return 1 / (1 - np.exp(-np.asarray(x, dtype=np.float64)))


@misconception(
    of="gates.sigmoid",
    name="powers of two in place of e",
    why="2^(-x) gives a flatter curve; the base is e.",
)
def sigmoid_of_twos(x: Array) -> Any:
    return _squash(x * np.log(2))


@misconception(
    of="gates.sigmoid",
    name="softmax in place of sigmoid",
    why="The entries are normalised to sum to 1; the sigmoid acts on each entry alone, and gates need not sum to 1.",
)
def sigmoid_softmax(x: Array) -> Any:
    power = np.exp(x - np.max(x))
    return power / power.sum()


@misconception(
    of="gates.sigmoid",
    name="log-sigmoid returned",
    why="This is log s(x), always negative (torch calls it logsigmoid); exponentiate it.",
)
def sigmoid_logarithm(x: Array) -> Any:
    return -np.logaddexp(0, -x)


@misconception(
    of="gates.sigmoid",
    name="hard sigmoid with slope 1/5",
    why="clip(x/5 + 1/2, 0, 1) is Keras' older hard_sigmoid, an approximation; the sheet's is 1 / (1 + exp(-x)).",
)
def sigmoid_hard_keras(x: Array) -> Any:
    return np.clip(x / 5 + 0.5, 0, 1)


@misconception(
    of="gates.sigmoid",
    name="hard sigmoid with slope 1/6",
    why="clip(x/6 + 1/2, 0, 1) is torch's hardsigmoid, an approximation; the sheet's is 1 / (1 + exp(-x)).",
)
def sigmoid_hard_torch(x: Array) -> Any:
    return np.clip(x / 6 + 0.5, 0, 1)


@misconception(
    of="gates.sigmoid",
    name="step function",
    why="The value is rounded to 0 or 1; a gate opens gradually.",
)
def sigmoid_step(x: Array) -> Any:
    return np.where(x > 0, 1.0, 0.0)


@misconception(
    of="gates.sigmoid",
    name="absolute value of x",
    why="exp(-|x|) is safe from overflow, but for x < 0 the fraction must be exp(x) / (1 + exp(x)).",
)
def sigmoid_of_absolute(x: Array) -> Any:
    return _squash(np.abs(x))


@misconception(
    of="gates.sigmoid",
    name="takes single numbers only",
    why="`if x >= 0` asks about one number; the sigmoid is applied to whole arrays, each entry on its own side.",
)
def sigmoid_of_a_number(x: Array) -> Any:
    if np.size(x) != 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous.")
    return _squash(x)


@misconception(
    of="gates.sigmoid",
    name="squeeze drops dimensions of size one",
    why="The result of a (1, 4) array is (4,); it has the shape of x.",
)
def sigmoid_squeezed(x: Array) -> Any:
    return np.squeeze(_squash(x))


@misconception(
    of="gates.sigmoid",
    name="modifies its input",
    why="The values are right, but they are written into the caller's array.",
)
def sigmoid_in_place(x: Array) -> Any:
    x[...] = _squash(x)
    return x


# gru_cell


@dataclass(frozen=True)
class _Gru:
    """The parts of a GRU step; a mistake changes one of them."""

    gate: Callable[[str, Array, Array, Weights], Any] = _gate
    candidate: Callable[[Array, Array, Any, Weights], Any] = lambda x, h, r, p: np.tanh(p["W"] @ x + r * (p["U"] @ h))
    update: Callable[[Any, Any, Any], Any] = lambda h, z, candidate: (1 - z) * h + z * candidate

    def __call__(self, x: Array, h: Array, params: Weights) -> Any:
        z = self.gate("z", x, h, params)
        r = self.gate("r", x, h, params)
        return self.update(h, z, self.candidate(x, h, r, params))


_GRU = _Gru()


def _reset_before(x: Array, h: Array, r: Any, params: Weights) -> Any:
    return np.tanh(params["W"] @ x + params["U"] @ (r * h))


@misconception(
    of="gates.gru_cell",
    name="z and 1-z swapped",
    why="This is torch's and Keras' GRU update, z∘h + (1-z)∘candidate; the sheet has z and 1-z the other way round.",
)
def gru_update_swapped(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, update=lambda h, z, candidate: z * h + (1 - z) * candidate)(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="reset gate applied before the matrix",
    why="This is the first paper's candidate (Keras: reset_after=False), U (r∘h); the sheet, like torch, has r∘(U h).",
)
def gru_reset_before(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, candidate=_reset_before)(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="z and 1-z swapped, and the reset gate applied before the matrix",
    why="This is the first paper's cell (Keras: reset_after=False): z∘h + (1-z)∘tanh(W x + U (r∘h)); the sheet differs"
    " in both places.",
)
def gru_of_the_first_paper(x: Array, h: Array, params: Weights) -> Any:
    swapped = replace(_GRU, candidate=_reset_before, update=lambda h, z, candidate: z * h + (1 - z) * candidate)
    return swapped(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="candidate returned in place of the state",
    why="tanh(W x + r∘(U h)) is the candidate; the state mixes it with h by the update gate.",
)
def gru_candidate(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, update=lambda h, z, candidate: candidate)(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="update and reset gate exchanged",
    why="W_r and U_r make the update gate and W_z and U_z the reset gate; it is the other way round.",
)
def gru_gates_exchanged(x: Array, h: Array, params: Weights) -> Any:
    return _Gru(gate=lambda name, x, h, p: _gate({"z": "r", "r": "z"}[name], x, h, p))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="one gate used twice",
    why="The reset gate is computed with W_z and U_z; it has matrices of its own.",
)
def gru_one_gate(x: Array, h: Array, params: Weights) -> Any:
    return _Gru(gate=lambda _name, x, h, p: _gate("z", x, h, p))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="previous state ignored",
    why="The cell starts from zeros; h is an argument.",
)
def gru_without_state(x: Array, h: Array, params: Weights) -> Any:
    return _GRU(x, np.zeros_like(h), params)


@misconception(
    of="gates.gru_cell",
    name="gates see the input only",
    why="U_z h and U_r h are left out of the gates; each gate is s(W x + U h).",
)
def gru_gates_without_state(x: Array, h: Array, params: Weights) -> Any:
    return _Gru(gate=lambda name, x, h, p: _squash(p[f"W_{name}"] @ x))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="gates see the state only",
    why="W_z x and W_r x are left out of the gates; each gate is s(W x + U h).",
)
def gru_gates_without_input(x: Array, h: Array, params: Weights) -> Any:
    return _Gru(gate=lambda name, x, h, p: _squash(p[f"U_{name}"] @ h))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="reset gate forgotten",
    why="The candidate is tanh(W x + U h); r weighs U h.",
)
def gru_without_reset(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, candidate=lambda x, h, r, p: np.tanh(p["W"] @ x + p["U"] @ h))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="reset gate on the input too",
    why="r multiplies W x + U h (brackets misplaced); it multiplies U h alone.",
)
def gru_reset_of_everything(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, candidate=lambda x, h, r, p: np.tanh(r * (p["W"] @ x + p["U"] @ h)))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="reset gate on the input in place of the state",
    why="r multiplies W x; it multiplies U h.",
)
def gru_reset_of_input(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, candidate=lambda x, h, r, p: np.tanh(r * (p["W"] @ x) + p["U"] @ h))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="meaning of the reset gate inverted",
    why="1 - r multiplies U h, so a closed gate lets the state through; r = 0 forgets it.",
)
def gru_reset_inverted(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, candidate=lambda x, h, r, p: np.tanh(p["W"] @ x + (1 - r) * (p["U"] @ h)))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="tanh for the gates",
    why="Gates are shares from 0 to 1, made by the sigmoid; tanh belongs to the candidate.",
)
def gru_tanh_gates(x: Array, h: Array, params: Weights) -> Any:
    return _Gru(gate=lambda name, x, h, p: np.tanh(p[f"W_{name}"] @ x + p[f"U_{name}"] @ h))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="softmax for the gates",
    why="The entries of a gate are made to sum to 1; each is a sigmoid of its own and they need not.",
)
def gru_softmax_gates(x: Array, h: Array, params: Weights) -> Any:
    return _Gru(gate=lambda name, x, h, p: sigmoid_softmax.function(p[f"W_{name}"] @ x + p[f"U_{name}"] @ h))(
        x, h, params
    )


@misconception(
    of="gates.gru_cell",
    name="sigmoid for the candidate",
    why="The candidate lies between 0 and 1; it is a tanh.",
)
def gru_sigmoid_candidate(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, candidate=lambda x, h, r, p: _squash(p["W"] @ x + r * (p["U"] @ h)))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="tanh forgotten in the candidate",
    why="W x + r∘(U h) is used as it is; the candidate is its tanh.",
)
def gru_linear_candidate(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, candidate=lambda x, h, r, p: p["W"] @ x + r * (p["U"] @ h))(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="new state squashed once more",
    why="tanh is taken of the average; h' is the average itself.",
)
def gru_squashed(x: Array, h: Array, params: Weights) -> Any:
    return np.tanh(_GRU(x, h, params))


@misconception(
    of="gates.gru_cell",
    name="(1-z)∘h left out",
    why="z∘candidate alone forgets the old state; (1-z)∘h is added.",
)
def gru_without_old_state(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, update=lambda h, z, candidate: z * candidate)(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="old state kept in full",
    why="h + z∘candidate grows without bound; the old state gets the share 1-z.",
)
def gru_residual(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, update=lambda h, z, candidate: h + z * candidate)(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="candidate added in full",
    why="(1-z)∘h + candidate is no average; the candidate gets the share z.",
)
def gru_full_candidate(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, update=lambda h, z, candidate: (1 - z) * h + candidate)(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="state matrices transposed",
    why="h @ U is U^T h; the sheet has U h, and since U is square the shapes do not tell.",
)
def gru_transposed(x: Array, h: Array, params: Weights) -> Any:
    return _GRU(x, h, {name: matrix.T if name.startswith("U") else matrix for name, matrix in params.items()})


@misconception(
    of="gates.gru_cell",
    name="matrices act on rows",
    why="x @ W needs W of shape (d, h); the cells follow the sheet, W @ x with W of shape (h, d).",
)
def gru_on_rows(x: Array, h: Array, params: Weights) -> Any:
    return _GRU(x, h, {name: matrix.T for name, matrix in params.items()})


@misconception(
    of="gates.gru_cell",
    name="dot product in place of ∘",
    why="(1-z) @ h and z @ candidate are single numbers; ∘ multiplies entry by entry.",
)
def gru_dot_products(x: Array, h: Array, params: Weights) -> Any:
    return replace(_GRU, update=lambda h, z, candidate: (1 - z) @ h + z @ candidate)(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="squeeze breaks a hidden size of one",
    why="squeeze turns the state of shape (1,) into a plain number; keep it a vector.",
)
def gru_squeezed(x: Array, h: Array, params: Weights) -> Any:
    return np.squeeze(_GRU(x, h, params))


@misconception(
    of="gates.gru_cell",
    name="state returned as a column",
    why="The result has shape (h, 1); vectors are 1-d.",
)
def gru_column(x: Array, h: Array, params: Weights) -> Any:
    return _GRU(x, h, params)[:, None]


@misconception(
    of="gates.gru_cell",
    name="output and state returned",
    why="Two copies of the state come back, as Keras' cells do; the contract asks for h' alone.",
)
def gru_pair(x: Array, h: Array, params: Weights) -> Any:
    return _GRU(x, h, params), _GRU(x, h, params)


@misconception(
    of="gates.gru_cell",
    name="overwrites the state it is given",
    why="The values are right, but they are written into the caller's h.",
)
def gru_in_place(x: Array, h: Array, params: Weights) -> Any:
    h[:] = _GRU(x, h, params)
    return h


@misconception(
    of="gates.gru_cell",
    name="exp overflows for large inputs",
    why="A sigmoid written exp(x) / (1 + exp(x)) is nan beyond 709.",
)
def gru_overflowing(x: Array, h: Array, params: Weights) -> Any:
    return _Gru(gate=lambda name, x, h, p: sigmoid_overflowing.function(p[f"W_{name}"] @ x + p[f"U_{name}"] @ h))(
        x, h, params
    )


# lstm_cell


@dataclass(frozen=True)
class _Lstm:
    """The parts of an LSTM step; a mistake changes one of them."""

    gate: Callable[[str, Array, Array, Weights], Any] = _gate
    squash: Callable[[Any], Any] = np.tanh  # of the candidate
    cell: Callable[[Any, Any, Any, Any], Any] = lambda c, i, f, candidate: f * c + i * candidate
    output: Callable[[Any, Any], Any] = lambda o, cell: o * np.tanh(cell)

    def __call__(self, x: Array, h: Array, c: Array, params: Weights) -> Any:
        i, f, o = (self.gate(name, x, h, params) for name in "ifo")
        cell = self.cell(c, i, f, self.squash(params["W_c"] @ x + params["U_c"] @ h))
        return self.output(o, cell), cell


_LSTM = _Lstm()


def _renamed(x: Array, h: Array, c: Array, params: Weights, names: str) -> Any:
    """Run the cell with the gates i, f, o made by the matrices of `names`."""
    chosen = dict(zip("ifo", names, strict=True))
    return _Lstm(gate=lambda name, x, h, p: _gate(chosen[name], x, h, p))(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="forget and input gate exchanged",
    why="The input gate's matrices weigh the old cell and the forget gate's the candidate; it is the other way round.",
)
def lstm_input_and_forget(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _renamed(x, h, c, params, "fio")


@misconception(
    of="gates.lstm_cell",
    name="input and output gate exchanged",
    why="W_o and U_o make the input gate and W_i and U_i the output gate; it is the other way round.",
)
def lstm_input_and_output(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _renamed(x, h, c, params, "ofi")


@misconception(
    of="gates.lstm_cell",
    name="forget and output gate exchanged",
    why="W_o and U_o make the forget gate and W_f and U_f the output gate; it is the other way round.",
)
def lstm_forget_and_output(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _renamed(x, h, c, params, "iof")


@misconception(
    of="gates.lstm_cell",
    name="gates in the order f, o, i",
    why="The matrices are unpacked in another order than they are named: i, f, o got the matrices of f, o, i.",
)
def lstm_gates_rotated(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _renamed(x, h, c, params, "foi")


@misconception(
    of="gates.lstm_cell",
    name="gates in the order o, i, f",
    why="The matrices are unpacked in another order than they are named: i, f, o got the matrices of o, i, f.",
)
def lstm_gates_rotated_back(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _renamed(x, h, c, params, "oif")


@misconception(
    of="gates.lstm_cell",
    name="c' and h' returned in the wrong order",
    why="The cell comes first and the state second; the contract asks for h', c'.",
)
def lstm_results_swapped(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _LSTM(x, h, c, params)[::-1]


@misconception(
    of="gates.lstm_cell",
    name="only h' returned",
    why="The next step needs the cell as well; the contract asks for h', c'.",
)
def lstm_state_only(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _LSTM(x, h, c, params)[0]


@misconception(
    of="gates.lstm_cell",
    name="cell output not squashed",
    why="h' = o∘c' can leave (-1, 1); it is o∘tanh(c').",
)
def lstm_unsquashed(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, output=lambda o, cell: o * cell)(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="cell output squashed by the sigmoid",
    why="h' = o∘s(c') is never negative; it is o∘tanh(c').",
)
def lstm_sigmoid_output(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, output=lambda o, cell: o * _squash(cell))(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="output gate inside the tanh",
    why="h' = tanh(o∘c'); tanh is taken of the cell, then the gate decides: o∘tanh(c').",
)
def lstm_output_inside(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, output=lambda o, cell: np.tanh(o * cell))(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="output gate forgotten",
    why="h' = tanh(c'); o decides how much of it is shown.",
)
def lstm_without_output_gate(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, output=lambda o, cell: np.tanh(cell))(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="old cell shown",
    why="h' is made from c; it is made from the new cell c'.",
)
def lstm_old_cell_shown(x: Array, h: Array, c: Array, params: Weights) -> Any:
    _, cell = _LSTM(x, h, c, params)
    return _gate("o", x, h, params) * np.tanh(c), cell


@misconception(
    of="gates.lstm_cell",
    name="candidate shown in place of the cell",
    why="h' = o∘candidate; the candidate goes into the cell, and h' = o∘tanh(c').",
)
def lstm_candidate_shown(x: Array, h: Array, c: Array, params: Weights) -> Any:
    _, cell = _LSTM(x, h, c, params)
    return _gate("o", x, h, params) * np.tanh(params["W_c"] @ x + params["U_c"] @ h), cell


@misconception(
    of="gates.lstm_cell",
    name="cell itself squashed",
    why="c' = tanh(f∘c + i∘candidate); the cell may grow, only what is shown of it is squashed.",
)
def lstm_squashed_cell(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, cell=lambda c, i, f, candidate: np.tanh(f * c + i * candidate))(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="tanh(c') returned as the cell",
    why="h' is right, but the squashed cell comes back with it; c' itself is asked for.",
)
def lstm_returns_squashed(x: Array, h: Array, c: Array, params: Weights) -> Any:
    hidden, cell = _LSTM(x, h, c, params)
    return hidden, np.tanh(cell)


@misconception(
    of="gates.lstm_cell",
    name="previous state ignored",
    why="h is replaced by zeros, so that the gates see the input only; U h belongs in every one of them.",
)
def lstm_without_state(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _LSTM(x, np.zeros_like(h), c, params)


@misconception(
    of="gates.lstm_cell",
    name="gates see the input only",
    why="U h is left out of i, f and o; each gate is s(W x + U h).",
)
def lstm_gates_without_state(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _Lstm(gate=lambda name, x, h, p: _squash(p[f"W_{name}"] @ x))(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="previous cell ignored",
    why="c' = i∘candidate; f∘c is added.",
)
def lstm_without_cell(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _LSTM(x, h, np.zeros_like(c), params)


@misconception(
    of="gates.lstm_cell",
    name="both states ignored",
    why="The cell starts from zeros; h and c are arguments.",
)
def lstm_from_zero(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _LSTM(x, np.zeros_like(h), np.zeros_like(c), params)


@misconception(
    of="gates.lstm_cell",
    name="h and c exchanged",
    why="The cell is multiplied by the matrices and the state is kept by the forget gate; it is the other way round.",
)
def lstm_states_exchanged(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _LSTM(x, c, h, params)


@misconception(
    of="gates.lstm_cell",
    name="forget gate forgotten",
    why="c' = c + i∘candidate is the LSTM of 1997, which had no forget gate; the sheet has f∘c.",
)
def lstm_without_forget_gate(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, cell=lambda c, i, f, candidate: c + i * candidate)(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="input gate forgotten",
    why="c' = f∘c + candidate; i weighs the candidate.",
)
def lstm_without_input_gate(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, cell=lambda c, i, f, candidate: f * c + candidate)(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="input gate coupled to the forget gate",
    why="c' = f∘c + (1-f)∘candidate is the coupled variant, close to a GRU; the sheet has a gate i of its own.",
)
def lstm_coupled(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, cell=lambda c, i, f, candidate: f * c + (1 - f) * candidate)(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="meaning of the forget gate inverted",
    why="c' = (1-f)∘c + i∘candidate; f = 1 keeps the cell.",
)
def lstm_forget_inverted(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, cell=lambda c, i, f, candidate: (1 - f) * c + i * candidate)(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="forget gate with a bias of 1",
    why="f = s(W x + U h + 1) is how Keras starts its LSTM (unit_forget_bias); the sheet's cell has no biases.",
)
def lstm_forget_bias(x: Array, h: Array, c: Array, params: Weights) -> Any:
    def gate(name: str, x: Array, h: Array, p: Weights) -> Any:
        return _squash(p[f"W_{name}"] @ x + p[f"U_{name}"] @ h + (1 if name == "f" else 0))

    return _Lstm(gate=gate)(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="sigmoid for the candidate",
    why="The candidate lies between 0 and 1, so that the cell can only grow; it is a tanh.",
)
def lstm_sigmoid_candidate(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, squash=_squash)(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="tanh forgotten in the candidate",
    why="W_c x + U_c h is used as it is; the candidate is its tanh.",
)
def lstm_linear_candidate(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return replace(_LSTM, squash=lambda a: a)(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="tanh for the gates",
    why="Gates are shares from 0 to 1, made by the sigmoid; tanh belongs to the candidate and the cell.",
)
def lstm_tanh_gates(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _Lstm(gate=lambda name, x, h, p: np.tanh(p[f"W_{name}"] @ x + p[f"U_{name}"] @ h))(x, h, c, params)


@misconception(
    of="gates.lstm_cell",
    name="softmax for the gates",
    why="The entries of a gate are made to sum to 1 (S3.3d says they need not); each is a sigmoid of its own.",
)
def lstm_softmax_gates(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _Lstm(gate=lambda name, x, h, p: sigmoid_softmax.function(p[f"W_{name}"] @ x + p[f"U_{name}"] @ h))(
        x, h, c, params
    )


@misconception(
    of="gates.lstm_cell",
    name="state matrices transposed",
    why="h @ U is U^T h; the sheet has U h, and since U is square the shapes do not tell.",
)
def lstm_transposed(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _LSTM(x, h, c, {name: matrix.T if name.startswith("U") else matrix for name, matrix in params.items()})


@misconception(
    of="gates.lstm_cell",
    name="matrices act on rows",
    why="x @ W needs W of shape (d, h), as in S3.4; the cells follow S3.3, W @ x with W of shape (h, d).",
)
def lstm_on_rows(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _LSTM(x, h, c, {name: matrix.T for name, matrix in params.items()})


@misconception(
    of="gates.lstm_cell",
    name="squeeze breaks a hidden size of one",
    why="squeeze turns states of shape (1,) into plain numbers; keep them vectors.",
)
def lstm_squeezed(x: Array, h: Array, c: Array, params: Weights) -> Any:
    hidden, cell = _LSTM(x, h, c, params)
    return np.squeeze(hidden), np.squeeze(cell)


@misconception(
    of="gates.lstm_cell",
    name="states returned as columns",
    why="The results have shape (h, 1); vectors are 1-d.",
)
def lstm_columns(x: Array, h: Array, c: Array, params: Weights) -> Any:
    hidden, cell = _LSTM(x, h, c, params)
    return hidden[:, None], cell[:, None]


@misconception(
    of="gates.lstm_cell",
    name="overwrites the cell it is given",
    why="The values are right, but `c *= f; c += …` writes into the caller's c.",
)
def lstm_in_place(x: Array, h: Array, c: Array, params: Weights) -> Any:
    hidden, cell = _LSTM(x, h, c, params)
    c[:] = cell
    return hidden, c


@misconception(
    of="gates.lstm_cell",
    name="exp overflows for large inputs",
    why="A sigmoid written exp(x) / (1 + exp(x)) is nan beyond 709.",
)
def lstm_overflowing(x: Array, h: Array, c: Array, params: Weights) -> Any:
    return _Lstm(gate=lambda name, x, h, p: sigmoid_overflowing.function(p[f"W_{name}"] @ x + p[f"U_{name}"] @ h))(
        x, h, c, params
    )


# lstm_weight_gradient


@dataclass
class _Moment:
    """One step of the LSTM with the derivatives that reach it; a mistake changes what it reads or passes on."""

    x: Any
    h_before: Any
    c_before: Any
    i: Any
    f: Any
    o: Any
    g: Any  # the candidate
    c: Any
    before_g: Any  # W_c x + U_c h
    Dh: Any = None
    Dc: Any = None


def _moments(xs: Any, h0: Any, c0: Any, params: Weights) -> list[_Moment]:
    moments = []
    h, c = h0, c0
    for x in xs:
        i, f, o = (_gate(name, x, h, params) for name in "ifo")
        before_g = params["W_c"] @ x + params["U_c"] @ h
        g = np.tanh(before_g)
        cell = f * c + i * g
        moments.append(_Moment(x, h, c, i, f, o, g, cell, before_g))
        h, c = o * np.tanh(cell), cell
    return moments


def _to_cell(m: _Moment) -> Any:
    """Return what reaches the cell from h_t."""
    return m.Dh * m.o * (1 - np.tanh(m.c) ** 2)


def _to_candidate(m: _Moment) -> Any:
    """Return the derivative by W_c x + U_c h."""
    return m.Dc * m.i * (1 - m.g**2)


def _to_gates(m: _Moment) -> dict[str, Any]:
    """Return the derivatives by what the gates squash."""
    return {
        "i": m.Dc * m.g * _slope(m.i),
        "f": m.Dc * m.c_before * _slope(m.f),
        "o": m.Dh * np.tanh(m.c) * _slope(m.o),
    }


def _back_to_h(m: _Moment, a: Any, params: Weights) -> Any:
    """Return what h_{t-1} gets from step t, given the derivative `a` by W_c x + U_c h."""
    parts = _to_gates(m) | {"c": a}
    return sum(params[f"U_{name}"].T @ part for name, part in parts.items())


def _nothing(m: _Moment, *_: Any) -> Any:
    return np.zeros_like(m.c)


@dataclass(frozen=True)
class _Backward:
    """The parts of the way back; a mistake changes one of them."""

    to_cell: Callable[[_Moment], Any] = _to_cell
    to_candidate: Callable[[_Moment], Any] = _to_candidate
    back_to_h: Callable[[_Moment, Any, Weights], Any] = _back_to_h
    back_to_c: Callable[[_Moment], Any] = lambda m: m.Dc * m.f
    term: Callable[[_Moment, Any], Any] = lambda m, a: np.outer(a, m.x)

    def terms(self, xs: Any, h0: Any, c0: Any, params: Weights, dh: Any) -> list[Any]:
        """Return what each step adds to the gradient, the last step first."""
        from_h, from_c = np.zeros_like(h0), np.zeros_like(c0)
        terms = []
        for m, explicit in zip(_moments(xs, h0, c0, params)[::-1], dh[::-1], strict=True):
            m.Dh = explicit + from_h
            m.Dc = self.to_cell(m) + from_c
            a = self.to_candidate(m)
            terms.append(self.term(m, a))
            from_h, from_c = self.back_to_h(m, a, params), self.back_to_c(m)
        return terms

    def __call__(self, xs: Any, h0: Any, c0: Any, params: Weights, dh: Any) -> Any:
        return sum(self.terms(xs, h0, c0, params, dh))


_BACKWARD = _Backward()


@misconception(
    of="gates.lstm_weight_gradient",
    name="gradient truncated to one step",
    why="Each step's own term is there, but nothing flows from a step to the one before; h_{t-1} and c_{t-1} depend on"
    " W_c too.",
)
def gradient_truncated(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(back_to_h=_nothing, back_to_c=_nothing)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="only the last step's term",
    why="The last step's term comes back alone; the gradient is the sum over all steps.",
)
def gradient_last_term(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _BACKWARD.terms(xs, h0, c0, params, dh)[0]


@misconception(
    of="gates.lstm_weight_gradient",
    name="only the first step's term",
    why="The gradient is overwritten at every step on the way back; add the terms up.",
)
def gradient_first_term(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _BACKWARD.terms(xs, h0, c0, params, dh)[-1]


@misconception(
    of="gates.lstm_weight_gradient",
    name="dh counted at the last step only",
    why="The rows of dh before the last are left out; J looks at every h_t.",
)
def gradient_last_derivative(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    last = np.zeros_like(dh)
    last[-1] = dh[-1]
    return _BACKWARD(xs, h0, c0, params, last)


@misconception(
    of="gates.lstm_weight_gradient",
    name="path through the cell left out",
    why="Nothing flows from c_t to c_{t-1}; dc_t/dc_{t-1} = f_t is the path that keeps the gradient alive.",
)
def gradient_without_cell_path(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(back_to_c=_nothing)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="path through the state left out",
    why="dh is read as the total derivative, so that nothing flows from step t to h_{t-1}; it is the explicit one.",
)
def gradient_without_state_path(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(back_to_h=_nothing)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="path through the state counted twice",
    why="The total derivative dJ/dh_t is put into the sheet's sum, which already follows h_{t-1} to h_t; the sum needs"
    " the explicit derivative.",
)
def gradient_counted_twice(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    seen: list[Any] = []

    def to_cell(m: _Moment) -> Any:
        seen.append(m.Dh)
        return _to_cell(m)

    _Backward(to_cell=to_cell)(xs, h0, c0, params, dh)
    return _BACKWARD(xs, h0, c0, params, np.array(seen[::-1]))


@misconception(
    of="gates.lstm_weight_gradient",
    name="forget gate missing in the cell's path",
    why="c_{t-1} gets the whole derivative of c_t; it gets f_t times it.",
)
def gradient_without_forget_gate(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(back_to_c=lambda m: m.Dc)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="gates held fixed",
    why="h_{t-1} is followed into the candidate only; i, f and o depend on it as well.",
)
def gradient_gates_fixed(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(back_to_h=lambda _m, a, p: p["U_c"].T @ a)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="candidate held fixed on the way back",
    why="h_{t-1} is followed into the gates only; the candidate depends on it as well.",
)
def gradient_candidate_fixed(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    def back(m: _Moment, _a: Any, p: Weights) -> Any:
        return sum(p[f"U_{name}"].T @ part for name, part in _to_gates(m).items())

    return _Backward(back_to_h=back)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="output gate held fixed",
    why="h_{t-1} is followed into the cell only; the output gate depends on it as well.",
)
def gradient_output_gate_fixed(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    def back(m: _Moment, a: Any, p: Weights) -> Any:
        return _back_to_h(m, a, p) - p["U_o"].T @ _to_gates(m)["o"]

    return _Backward(back_to_h=back)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="U not transposed on the way back",
    why="The derivative is multiplied by U; going back through U h takes U^T.",
)
def gradient_not_transposed(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    def back(m: _Moment, a: Any, p: Weights) -> Any:
        parts = _to_gates(m) | {"c": a}
        return sum(p[f"U_{name}"] @ part for name, part in parts.items())

    return _Backward(back_to_h=back)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="slope of the cell's tanh missing",
    why="dh_t/dc_t is taken as o_t; it is o_t∘(1 - tanh²(c_t)).",
)
def gradient_without_cell_slope(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_cell=lambda m: m.Dh * m.o)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="slope of the cell's tanh without the square",
    why="1 - tanh(c) is taken for the slope of tanh; it is 1 - tanh²(c).",
)
def gradient_slope_not_squared(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_cell=lambda m: m.Dh * m.o * (1 - np.tanh(m.c)))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="slope of the cell's tanh taken at h",
    why="1 - h_t² is used for the slope of tanh(c_t); h_t = o_t∘tanh(c_t) has the gate in it.",
)
def gradient_slope_at_h(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_cell=lambda m: m.Dh * m.o * (1 - (m.o * np.tanh(m.c)) ** 2))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="output gate missing",
    why="dh_t/dc_t is taken as 1 - tanh²(c_t); it has the factor o_t.",
)
def gradient_without_output_gate(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_cell=lambda m: m.Dh * (1 - np.tanh(m.c) ** 2))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="input gate missing",
    why="dc_t/dcandidate is i_t, and it is left out.",
)
def gradient_without_input_gate(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_candidate=lambda m: m.Dc * (1 - m.g**2))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="slope of the candidate's tanh missing",
    why="The candidate is a tanh of W_c x + U_c h; its slope is 1 - candidate².",
)
def gradient_without_candidate_slope(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_candidate=lambda m: m.Dc * m.i)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="tanh taken twice in the candidate's slope",
    why="1 - tanh²(candidate) squashes the candidate again; the slope is 1 - candidate².",
)
def gradient_slope_of_candidate(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_candidate=lambda m: m.Dc * m.i * (1 - np.tanh(m.g) ** 2))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="candidate's slope at the pre-activation",
    why="1 - (W_c x + U_c h)² is taken without the tanh; the slope is 1 - candidate².",
)
def gradient_slope_at_preactivation(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_candidate=lambda m: m.Dc * m.i * (1 - m.before_g**2))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="sigmoid's slope for the candidate",
    why="candidate∘(1 - candidate) is the slope of a sigmoid; the candidate is a tanh.",
)
def gradient_sigmoid_slope(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(to_candidate=lambda m: m.Dc * m.i * _slope(m.g))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="new cell in the forget gate's derivative",
    why="df_t gets c_t; f_t multiplies c_{t-1}.",
)
def gradient_new_cell(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    def back(m: _Moment, a: Any, p: Weights) -> Any:
        wrong = m.Dc * (m.c - m.c_before) * _slope(m.f)
        return _back_to_h(m, a, p) + p["U_f"].T @ wrong

    return _Backward(back_to_h=back)(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="initial states ignored",
    why="The recurrence starts from zeros; h0 and c0 are arguments.",
)
def gradient_from_zero(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _BACKWARD(xs, np.zeros_like(h0), np.zeros_like(c0), params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="initial cell ignored",
    why="The cell starts from zero; c0 is an argument.",
)
def gradient_from_zero_cell(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _BACKWARD(xs, h0, np.zeros_like(c0), params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="result transposed",
    why="The gradient is shaped like S3.4's W_g, which acts on rows; here W_c is (h, d), and so is its gradient.",
)
def gradient_transposed(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _BACKWARD(xs, h0, c0, params, dh).T


@misconception(
    of="gates.lstm_weight_gradient",
    name="averaged over the steps",
    why="The terms of the steps are divided by T; they are summed.",
)
def gradient_mean(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _BACKWARD(xs, h0, c0, params, dh) / len(xs)


@misconception(
    of="gates.lstm_weight_gradient",
    name="sign lost",
    why="The result is the step of gradient descent, -dJ/dW_c; asked for is the gradient itself.",
)
def gradient_negative(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return -_BACKWARD(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="gradient of U_c returned",
    why="The outer products are with h_{t-1}, which gives dJ/dU_c; W_c multiplies x_t.",
)
def gradient_of_state_matrix(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(term=lambda m, a: np.outer(a, m.h_before))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="gradient of W_i returned",
    why="The derivative is taken by the input gate's matrix; W_c makes the candidate.",
)
def gradient_of_input_gate(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _Backward(term=lambda m, _a: np.outer(_to_gates(m)["i"], m.x))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="inputs off by one step",
    why="Each step's derivative meets x_{t+1}, as an index counted from one would; it belongs to x_t.",
)
def gradient_off_by_one(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    shifted = iter(np.roll(xs, -1, axis=0)[::-1])
    return _Backward(term=lambda _m, a: np.outer(a, next(shifted)))(xs, h0, c0, params, dh)


@misconception(
    of="gates.lstm_weight_gradient",
    name="dh read backwards in time",
    why="The first row of dh is given to the last step; row t belongs to h_t.",
)
def gradient_derivatives_reversed(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return _BACKWARD(xs, h0, c0, params, dh[::-1])


@misconception(
    of="gates.lstm_weight_gradient",
    name="squeeze breaks sizes of one",
    why="squeeze drops a hidden or input size of one; the gradient has the shape of W_c.",
)
def gradient_squeezed(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    return np.squeeze(_BACKWARD(xs, h0, c0, params, dh))


@misconception(
    of="gates.lstm_weight_gradient",
    name="adds into the dh it is given",
    why="The values are right, but `dh[t] += …` writes into the caller's array.",
)
def gradient_in_place(xs: Array, h0: Array, c0: Array, params: Weights, dh: Array) -> Any:
    result = _BACKWARD(xs, h0, c0, params, dh)
    dh += 1.0
    return result


# rnn_gradient_norms


def _states(xs: Any, h0: Any, W: Any, U: Any, squash: Callable[[Any], Any] = np.tanh) -> list[Any]:
    """Return h_0 … h_T."""
    states = [h0]
    for x in xs:
        states.append(squash(W @ x + U @ states[-1]))
    return states


def _length(g: Any) -> Any:
    return np.sqrt((g * g).sum())


def _gradients(
    states: list[Any], U: Any, dh_last: Any, back: Callable[[Any, Any, Any, Any], Any] | None = None
) -> list[Any]:
    """Return dJ/dh_0 … dJ/dh_T; `back` takes a derivative by h_t, h_t, h_{t-1} and U to one by h_{t-1}."""
    back = back or (lambda g, h, _before, U: U.T @ ((1 - h * h) * g))
    found = [dh_last]
    for h, before in zip(states[:0:-1], states[-2::-1], strict=True):
        found.append(back(found[-1], h, before, U))
    return found[::-1]


def _norms(gradients: list[Any], length: Callable[[Any], Any] = _length) -> Any:
    """Return the lengths for h_1 … h_T."""
    return np.array([length(g) for g in gradients[1:]])


@misconception(
    of="gates.rnn_gradient_norms",
    name="U not transposed on the way back",
    why="The derivative is multiplied by U; going back through U h takes U^T.",
)
def norms_not_transposed(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last, lambda g, h, _, U: U @ ((1 - h * h) * g)))


@misconception(
    of="gates.rnn_gradient_norms",
    name="slope applied after the matrix",
    why="(1 - h²)∘(U^T g) has the factors in the wrong order: the slope belongs to h_t, before U^T leads to h_{t-1}.",
)
def norms_factors_exchanged(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last, lambda g, h, _, U: (1 - h * h) * (U.T @ g)))


@misconception(
    of="gates.rnn_gradient_norms",
    name="slope of tanh forgotten",
    why="Each step back multiplies by U^T alone; tanh has the slope 1 - h_t².",
)
def norms_without_slope(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last, lambda g, _h, _, U: U.T @ g))


@misconception(
    of="gates.rnn_gradient_norms",
    name="slope without the square",
    why="1 - h_t is taken for the slope of tanh; it is 1 - h_t².",
)
def norms_slope_not_squared(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last, lambda g, h, _, U: U.T @ ((1 - h) * g)))


@misconception(
    of="gates.rnn_gradient_norms",
    name="sigmoid's slope in place of tanh's",
    why="h∘(1 - h) is the slope of a sigmoid; the network's is tanh, 1 - h².",
)
def norms_sigmoid_slope(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last, lambda g, h, _, U: U.T @ (_slope(h) * g)))


@misconception(
    of="gates.rnn_gradient_norms",
    name="tanh taken twice in the slope",
    why="1 - tanh²(h_t) squashes the state again; h_t is a tanh already, the slope is 1 - h_t².",
)
def norms_slope_of_state(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last, lambda g, h, _, U: U.T @ ((1 - np.tanh(h) ** 2) * g)))


@misconception(
    of="gates.rnn_gradient_norms",
    name="slope at the step before",
    why="From h_t to h_{t-1} the slope 1 - h_{t-1}² is used; it is that of h_t.",
)
def norms_slope_before(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(
        _gradients(_states(xs, h0, W, U), U, dh_last, lambda g, _h, before, U: U.T @ ((1 - before * before) * g))
    )


@misconception(
    of="gates.rnn_gradient_norms",
    name="squared norms",
    why="The sums of squares come back; the norm is their root.",
)
def norms_squared(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last), lambda g: (g * g).sum())


@misconception(
    of="gates.rnn_gradient_norms",
    name="sum of absolute values",
    why="This is the 1-norm; |dJ/dh_t| is the Euclidean one.",
)
def norms_of_sums(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last), lambda g: np.abs(g).sum())


@misconception(
    of="gates.rnn_gradient_norms",
    name="largest absolute value",
    why="This is the maximum norm; |dJ/dh_t| is the Euclidean one.",
)
def norms_of_maxima(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last), lambda g: np.abs(g).max())


@misconception(
    of="gates.rnn_gradient_norms",
    name="mean of the squares under the root",
    why="The root mean square shrinks with the hidden size; the norm sums the squares.",
)
def norms_of_means(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last), lambda g: np.sqrt((g * g).mean()))


@misconception(
    of="gates.rnn_gradient_norms",
    name="reversed in time",
    why="The norms come in the order of the way back, h_T first; the contract's order is t = 1 … T.",
)
def norms_reversed(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U), U, dh_last))[::-1]


@misconception(
    of="gates.rnn_gradient_norms",
    name="norm for h_0 included",
    why="T + 1 norms come back, that of h_0 first; the contract asks for t = 1 … T.",
)
def norms_with_initial(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return np.array([_length(g) for g in _gradients(_states(xs, h0, W, U), U, dh_last)])


@misconception(
    of="gates.rnn_gradient_norms",
    name="shifted by one step",
    why="The norms are those of h_0 … h_{T-1}: one step back is taken before the first norm; h_T has |dh_last|.",
)
def norms_shifted(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return np.array([_length(g) for g in _gradients(_states(xs, h0, W, U), U, dh_last)[:-1]])


@misconception(
    of="gates.rnn_gradient_norms",
    name="derivative by the pre-activation",
    why="The slope of tanh is multiplied in before the norm is taken: that is the derivative by W x_t + U h_{t-1};"
    " asked for is the one by h_t.",
)
def norms_of_preactivations(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    states = _states(xs, h0, W, U)
    gradients = _gradients(states, U, dh_last)
    return _norms([(1 - h * h) * g for h, g in zip(states, gradients, strict=True)])


@misconception(
    of="gates.rnn_gradient_norms",
    name="initial state ignored",
    why="The recurrence starts from zeros; h_0 is the argument h0.",
)
def norms_from_zero(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return right.rnn_gradient_norms(xs, np.zeros_like(h0), W, U, dh_last)


@misconception(
    of="gates.rnn_gradient_norms",
    name="gradient truncated to one step",
    why="Each norm is taken one step from dh_last; dJ/dh_t is a product of all T - t steps back.",
)
def norms_truncated(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    states = _states(xs, h0, W, U)
    return np.array([*(_length(U.T @ ((1 - h * h) * dh_last)) for h in states[2:]), _length(dh_last)])


@misconception(
    of="gates.rnn_gradient_norms",
    name="dh_last added at every step",
    why="J is treated as if it looked at every state; it depends on h_T only.",
)
def norms_of_every_state(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    states = _states(xs, h0, W, U)
    return _norms(_gradients(states, U, dh_last, lambda g, h, _, U: dh_last + U.T @ ((1 - h * h) * g)))


@misconception(
    of="gates.rnn_gradient_norms",
    name="norms of the Jacobians multiplied",
    why="The product of the matrices' norms is an upper bound; the norm is taken of the vector after each step.",
)
def norms_multiplied(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    factors = [_length(U * (1 - h * h)[:, None]) for h in _states(xs, h0, W, U)[2:]]
    return np.cumprod([_length(dh_last), *factors[::-1]])[::-1]


@misconception(
    of="gates.rnn_gradient_norms",
    name="divided by the last norm",
    why="The norms are relative to |dh_last|, so that the last one is 1; the norms themselves are asked for.",
)
def norms_relative(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return right.rnn_gradient_norms(xs, h0, W, U, dh_last) / _length(dh_last)


@misconception(
    of="gates.rnn_gradient_norms",
    name="derivatives in place of their norms",
    why="The vectors dJ/dh_t come back, (T, h); their lengths are asked for.",
)
def norms_vectors(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return np.array(_gradients(_states(xs, h0, W, U), U, dh_last)[1:])


@misconception(
    of="gates.rnn_gradient_norms",
    name="norms of the states",
    why="|h_t| comes back; asked for is the length of the derivative by it.",
)
def norms_of_states(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_states(xs, h0, W, U))


@misconception(
    of="gates.rnn_gradient_norms",
    name="only the first norm",
    why="One number comes back, |dJ/dh_1|; the contract asks for all T.",
)
def norms_first(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return right.rnn_gradient_norms(xs, h0, W, U, dh_last)[0]


@misconception(
    of="gates.rnn_gradient_norms",
    name="tanh forgotten in the states",
    why="The states are W x + U h as they are; tanh is taken of it.",
)
def norms_linear(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U, lambda a: a), U, dh_last))


@misconception(
    of="gates.rnn_gradient_norms",
    name="sigmoid network",
    why="States and slopes are a sigmoid's; the network's are tanh's.",
)
def norms_sigmoid(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return _norms(_gradients(_states(xs, h0, W, U, _squash), U, dh_last, lambda g, h, _, U: U.T @ (_slope(h) * g)))


@misconception(
    of="gates.rnn_gradient_norms",
    name="squeeze breaks a single step",
    why="With T = 1 squeeze makes a plain number of the result; it has shape (1,).",
)
def norms_squeezed(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    return np.squeeze(right.rnn_gradient_norms(xs, h0, W, U, dh_last))


@misconception(
    of="gates.rnn_gradient_norms",
    name="overwrites the dh_last it is given",
    why="The values are right, but `dh_last *= …` writes into the caller's array.",
)
def norms_in_place(xs: Array, h0: Array, W: Array, U: Array, dh_last: Array) -> Any:
    norms = right.rnn_gradient_norms(xs, h0, W, U, dh_last)
    dh_last += 1.0
    return norms
