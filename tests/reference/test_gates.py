"""The reference agrees with torch, with slow and obvious loops, with exact arithmetic, and with the sheet's facts."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch

from reference import gates
from reference.gates import gru_cell, lstm_cell, lstm_weight_gradient, rnn_gradient_norms, sigmoid

# Sizes are pairwise different: equal ones hide transposes and wrong axes.
T, D, H = 5, 4, 3
GRU = ("W_z", "U_z", "W_r", "U_r", "W", "U")
LSTM = ("W_i", "U_i", "W_f", "U_f", "W_o", "U_o", "W_c", "U_c")
TIGHT: Any = {"rtol": 1e-12, "atol": 1e-12}
SIZES = [(T, D, H), (1, D, H), (T, 1, H), (T, D, 1), (1, 1, 1)]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def tensor(x: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x, dtype=np.float64))


def weights(rng: np.random.Generator, names: tuple[str, ...], d: int = D, h: int = H) -> dict[str, Any]:
    return {name: rng.normal(size=(h, d if name.startswith("W") else h)) for name in names}


def exact_sigmoid(x: float) -> Any:
    with mpmath.workdps(60):
        return 1 / (1 + mpmath.exp(-mpmath.mpf(x)))


# sigmoid


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("scale", [1, 30, 1e4])
def test_sigmoid_agrees_with_torch(rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> None:
    x = np.asarray(rng.normal(size=shape) * scale)
    got = sigmoid(x)
    assert got.shape == shape
    np.testing.assert_allclose(got, torch.sigmoid(tensor(x)), rtol=1e-13, atol=0)


@pytest.mark.parametrize("x", [0.0, 0.5, -0.5, 3.0, -3.0, 36.0, -36.0, 700.0, -700.0])
def test_sigmoid_is_right_to_the_last_bits(x: float) -> None:
    np.testing.assert_allclose(sigmoid(x), float(exact_sigmoid(x)), rtol=4e-16, atol=0)


def test_sigmoid_in_extended_precision_is_better_than_float64() -> None:
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    for x in (0.3125, -0.3125, 5.0, -20.0):
        got = sigmoid(np.array([x], dtype=np.longdouble))[0]
        with mpmath.workdps(60):
            assert abs(mpmath.mpf(np.format_float_scientific(got, precision=25)) / exact_sigmoid(x) - 1) < 1e-18


def test_sigmoid_is_mirrored_about_one_half() -> None:
    x = np.arange(-640, 641) / 16
    np.testing.assert_allclose(sigmoid(-x), 1 - sigmoid(x), rtol=0, atol=2**-52)  # S3.2a


def test_sigmoid_is_strictly_inside_up_to_36_and_monotone() -> None:
    x = np.linspace(-36, 36, 1001)
    assert ((sigmoid(x) > 0) & (sigmoid(x) < 1)).all()
    assert (np.diff(sigmoid(x)) >= 0).all()


def test_sigmoid_has_no_warnings_at_extremes() -> None:
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        np.testing.assert_array_equal(sigmoid(np.array([-1e4, -745.0, 0.0, 745.0, 1e4]))[[0, 2, 4]], [0, 0.5, 1])
        assert sigmoid(-1e4) == 0


def test_sigmoid_of_a_logarithm_is_a_fraction() -> None:
    # s(log(p/q)) = p / (p + q)
    np.testing.assert_allclose(sigmoid(np.log([1 / 3, 2 / 5, 7.0])), [1 / 4, 2 / 7, 7 / 8], rtol=1e-15)


# gated recurrent unit


def slow_gru(x: Any, h: Any, p: dict[str, Any]) -> list[float]:
    """Follow the sheet's four lines one number at a time."""

    def times(name: str, vector: Any, k: int) -> float:
        return math.fsum(p[name][k][j] * vector[j] for j in range(len(vector)))

    new = []
    for k in range(len(h)):
        z = float(exact_sigmoid(times("W_z", x, k) + times("U_z", h, k)))
        r = float(exact_sigmoid(times("W_r", x, k) + times("U_r", h, k)))
        candidate = math.tanh(times("W", x, k) + r * times("U", h, k))
        new.append((1 - z) * h[k] + z * candidate)
    return new


@pytest.mark.parametrize(("d", "h"), [(D, H), (1, H), (D, 1), (1, 1)])
def test_gru_agrees_with_the_sheet_line_by_line(rng: np.random.Generator, d: int, h: int) -> None:
    x, state, p = rng.normal(size=d), rng.normal(size=h), weights(rng, GRU, d, h)
    got = gru_cell(x, state, p)
    assert got.shape == (h,)
    np.testing.assert_allclose(got, slow_gru(x, state, p), **TIGHT)


def torch_gru(p: dict[str, Any]) -> torch.nn.GRUCell:
    """Return torch's cell; it packs r, z, n, and its z is the sheet's 1 - z, which is what -W_z and -U_z give."""
    h, d = p["W"].shape
    cell = torch.nn.GRUCell(d, h, bias=False, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(tensor(np.concatenate([p["W_r"], -p["W_z"], p["W"]])))
        cell.weight_hh.copy_(tensor(np.concatenate([p["U_r"], -p["U_z"], p["U"]])))
    return cell


@pytest.mark.parametrize(("d", "h"), [(D, H), (D, 1), (1, H)])
def test_gru_is_torchs_cell_with_z_and_one_minus_z_exchanged(rng: np.random.Generator, d: int, h: int) -> None:
    # torch, like the sheet, applies r after the matrix, so that with s(-a) = 1 - s(a) the cells coincide.
    x, state, p = rng.normal(size=d), rng.normal(size=h), weights(rng, GRU, d, h)
    with torch.no_grad():
        want = torch_gru(p)(tensor(x), tensor(state))
        as_it_is = torch_gru(p | {"W_z": -p["W_z"], "U_z": -p["U_z"]})(tensor(x), tensor(state))
    np.testing.assert_allclose(gru_cell(x, state, p), want, **TIGHT)
    assert not np.allclose(gru_cell(x, state, p), as_it_is, atol=1e-3)


def test_a_closed_update_gate_keeps_the_state(rng: np.random.Generator) -> None:
    x, state, p = np.ones(D), rng.normal(size=H), weights(rng, GRU)
    p["W_z"] = np.full((H, D), -100.0)
    np.testing.assert_allclose(gru_cell(x, state, p), state, **TIGHT)  # S3.2b: true


def test_an_open_update_gate_and_a_closed_reset_gate_forget_the_state(rng: np.random.Generator) -> None:
    x, state, p = np.ones(D), rng.normal(size=H), weights(rng, GRU)
    p["W_z"], p["W_r"] = np.full((H, D), 100.0), np.full((H, D), -100.0)
    new = gru_cell(x, state, p)
    np.testing.assert_allclose(new, np.tanh(p["W"] @ x), **TIGHT)
    assert np.abs(new - state).max() > 0.1  # S3.2c: "remembers the past state very well" is false
    np.testing.assert_allclose(gru_cell(x, -state, p), new, **TIGHT)


# long short-term memory


@pytest.mark.parametrize(("d", "h"), [(D, H), (1, H), (D, 1), (1, 1)])
def test_lstm_agrees_with_torchs_cell(rng: np.random.Generator, d: int, h: int) -> None:
    x, state, memory, p = rng.normal(size=d), rng.normal(size=h), rng.normal(size=h), weights(rng, LSTM, d, h)
    cell = torch.nn.LSTMCell(d, h, bias=False, dtype=torch.float64)
    with torch.no_grad():  # torch packs i, f, g, o
        cell.weight_ih.copy_(tensor(np.concatenate([p[f"W_{k}"] for k in "ifco"])))
        cell.weight_hh.copy_(tensor(np.concatenate([p[f"U_{k}"] for k in "ifco"])))
        want = cell(tensor(x), (tensor(state), tensor(memory)))
    for got, wanted in zip(lstm_cell(x, state, memory, p), want, strict=True):
        assert got.shape == (h,)
        np.testing.assert_allclose(got, wanted, **TIGHT)


def test_lstm_agrees_with_the_sheet_line_by_line(rng: np.random.Generator) -> None:
    x, state, memory, p = rng.normal(size=D), rng.normal(size=H), rng.normal(size=H), weights(rng, LSTM)
    hidden, cell = lstm_cell(x, state, memory, p)
    for k in range(H):
        before = {g: math.fsum([*(p[f"W_{g}"][k] * x), *(p[f"U_{g}"][k] * state)]) for g in "ifoc"}
        i, f, o = (float(exact_sigmoid(before[g])) for g in "ifo")
        c = f * memory[k] + i * math.tanh(before["c"])
        np.testing.assert_allclose([cell[k], hidden[k]], [c, o * math.tanh(c)], **TIGHT)


def test_a_zero_input_does_not_freeze_the_state() -> None:
    # S3.3a is false; the contract's witness: h = 0.5, c = 1, W_i = 1, everything left out zero.
    p = {name: np.zeros((1, 1)) for name in LSTM} | {"W_i": np.ones((1, 1))}
    hidden, cell = lstm_cell([0.0], [0.5], [1.0], p)
    np.testing.assert_allclose(cell, [0.5], **TIGHT)
    np.testing.assert_allclose(hidden, [math.tanh(0.5) / 2], **TIGHT)
    assert abs(hidden[0] - 0.5) > 0.2


def test_gates_are_no_probability_distribution() -> None:
    # S3.3c is true and S3.3d false: the forget gate's entries are all positive and sum to more than 1.
    p = {name: np.zeros((H, 1 if name.startswith("W") else H)) for name in LSTM}
    _, cell = lstm_cell([1.0], np.zeros(H), np.ones(H), p)
    np.testing.assert_allclose(cell, np.full(H, 0.5))  # the gate itself, since c = 1 and the candidate is 0
    assert cell.sum() > 1


# gradient of the LSTM's weights


def a_sequence(rng: np.random.Generator, steps: int = T, d: int = D, h: int = H) -> tuple[Any, ...]:
    xs, dh = rng.normal(size=(steps, d)), rng.normal(size=(steps, h))
    return xs, rng.normal(size=h), rng.normal(size=h), weights(rng, LSTM, d, h), dh


def cost(xs: Any, h0: Any, c0: Any, params: Any, dh: Any) -> float:
    """Return J = sum_t dh_t·h_t, whose explicit derivative by h_t is dh_t."""
    h, c, terms = h0, c0, []
    for x, explicit in zip(xs, dh, strict=True):
        h, c = lstm_cell(x, h, c, params)
        terms.append(explicit @ h)
    return math.fsum(terms)


def difference(function: Callable[[Any], float], at: Any, step: float = 1e-5) -> Any:
    """Return central differences, entry by entry."""
    slopes = np.empty(at.shape)
    for place in np.ndindex(at.shape):
        moved = np.zeros(at.shape)
        moved[place] = step
        slopes[place] = (function(at + moved) - function(at - moved)) / (2 * step)
    return slopes


def autograd(xs: Any, h0: Any, c0: Any, params: Any, dh: Any) -> Any:
    """Differentiate torch's own LSTM through time."""
    h, d = params["W_c"].shape
    module: Any = torch.nn.LSTM(d, h, bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.weight_ih_l0.copy_(tensor(np.concatenate([params[f"W_{k}"] for k in "ifco"])))
        module.weight_hh_l0.copy_(tensor(np.concatenate([params[f"U_{k}"] for k in "ifco"])))
    states, _ = module(tensor(xs), (tensor(h0)[None], tensor(c0)[None]))
    (states * tensor(dh)).sum().backward()
    return module.weight_ih_l0.grad[2 * h : 3 * h].numpy()  # the rows of g, the sheet's candidate


@pytest.mark.parametrize(("steps", "d", "h"), SIZES)
def test_weight_gradient_agrees_with_autograd(rng: np.random.Generator, steps: int, d: int, h: int) -> None:
    case = a_sequence(rng, steps, d, h)
    got = lstm_weight_gradient(*case)
    assert got.shape == (h, d)
    np.testing.assert_allclose(got, autograd(*case), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("steps", "d", "h"), SIZES)
def test_weight_gradient_agrees_with_differences_of_the_cost(
    rng: np.random.Generator, steps: int, d: int, h: int
) -> None:
    xs, h0, c0, p, dh = a_sequence(rng, steps, d, h)
    want = difference(lambda W_c: cost(xs, h0, c0, p | {"W_c": W_c}, dh), p["W_c"])
    np.testing.assert_allclose(lstm_weight_gradient(xs, h0, c0, p, dh), want, rtol=1e-6, atol=1e-8)


def test_weight_gradient_of_one_step_is_the_closed_form(rng: np.random.Generator) -> None:
    xs, h0, c0, p, dh = a_sequence(rng, 1)
    i, o = (sigmoid(p[f"W_{g}"] @ xs[0] + p[f"U_{g}"] @ h0) for g in "io")
    candidate = np.tanh(p["W_c"] @ xs[0] + p["U_c"] @ h0)
    _, c = lstm_cell(xs[0], h0, c0, p)
    want = np.outer(dh[0] * o * (1 - np.tanh(c) ** 2) * i * (1 - candidate**2), xs[0])
    np.testing.assert_allclose(lstm_weight_gradient(xs, h0, c0, p, dh), want, **TIGHT)


def test_weight_gradient_is_the_sheets_sum(rng: np.random.Generator) -> None:
    """S3.4a, forwards in time: sum_t dJ/dh_t dh_t/dW, where dJ/dh_t must be the explicit derivative."""
    xs, h0, c0, p, dh = a_sequence(rng)
    W_c = p["W_c"]

    def state(t: int, k: int) -> Callable[[Any], float]:
        def run(W: Any) -> float:
            h, c = h0, c0
            for x in xs[: t + 1]:
                h, c = lstm_cell(x, h, c, p | {"W_c": W})
            return float(h[k])

        return run

    want = np.zeros_like(W_c)
    for t, k in product(range(T), range(H)):
        want += dh[t, k] * difference(state(t, k), W_c)
    np.testing.assert_allclose(lstm_weight_gradient(xs, h0, c0, p, dh), want, rtol=1e-6, atol=1e-8)


def test_along_the_cell_the_error_is_multiplied_by_the_forget_gates(rng: np.random.Generator) -> None:
    # S3.4b. One unit, U = 0, written at step 1 only: i is open at x[1] > 0, and o is open throughout.
    xs = np.column_stack([np.ones(T), np.where(np.arange(T) == 0, 1.0, -1.0), rng.normal(size=T)])
    p = {name: np.zeros((1, 3 if name.startswith("W") else 1)) for name in LSTM}
    p["W_o"][0, 0], p["W_i"][0, 1], p["W_f"][0, 2] = 800.0, 800.0, 1.0
    p["W_c"][:] = rng.normal(size=(1, 3))
    dh = np.zeros((T, 1))
    dh[-1] = 1.0
    forget = sigmoid(xs[1:, 2])
    written = math.tanh(p["W_c"][0] @ xs[0])
    last = written * math.prod(forget)
    want = (1 - math.tanh(last) ** 2) * math.prod(forget) * (1 - written**2) * xs[:1]
    np.testing.assert_allclose(lstm_weight_gradient(xs, [0.0], [0.0], p, dh), want, **TIGHT)


def test_a_closed_forget_gate_lets_the_error_through_the_state(rng: np.random.Generator) -> None:
    # S3.3b is false. (The sheet's summary line, "small f_t leads to vanishing gradients", contradicts its own
    # explanation: the error takes the way through h_{t-1}.)
    xs, h0, c0, p, dh = a_sequence(rng, 2)
    xs[:, 0], p["W_f"] = 1.0, np.zeros((H, D))
    p["W_f"][:, 0], p["U_f"] = -800.0, np.zeros((H, H))
    dh[0] = 0.0
    alone = np.outer(np.ones(H), xs[1])  # every row of step 2's own term is a multiple of x_2
    got = lstm_weight_gradient(xs, h0, c0, p, dh)
    apart = got - (got @ xs[1] / (xs[1] @ xs[1]))[:, None] * alone
    assert np.abs(apart).max() > 1e-3


def test_weight_gradient_is_linear_in_dh(rng: np.random.Generator) -> None:
    xs, h0, c0, p, dh = a_sequence(rng)
    other = rng.normal(size=dh.shape)
    first, second = (np.asarray(lstm_weight_gradient(xs, h0, c0, p, each)) for each in (dh, other))
    got = lstm_weight_gradient(xs, h0, c0, p, 3 * dh - other)
    np.testing.assert_allclose(got, 3 * first - second, rtol=1e-10, atol=1e-12)


# gradients of the recurrent network


def a_recurrence(rng: np.random.Generator, steps: int = T, d: int = D, h: int = H) -> tuple[Any, ...]:
    return (
        rng.normal(size=(steps, d)),
        rng.normal(size=h),
        rng.normal(size=(h, d)),
        rng.normal(size=(h, h)),
        rng.normal(size=h),
    )


@pytest.mark.parametrize(("steps", "d", "h"), SIZES)
def test_norms_agree_with_autograd(rng: np.random.Generator, steps: int, d: int, h: int) -> None:
    xs, h0, W, U, dh_last = a_recurrence(rng, steps, d, h)
    module = torch.nn.RNNCell(d, h, bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.weight_ih.copy_(tensor(W))
        module.weight_hh.copy_(tensor(U))
    states = [tensor(h0)]
    for x in tensor(xs):
        states.append(module(x, states[-1]))
    found = torch.autograd.grad(states[-1] @ tensor(dh_last), states[1:])
    got = rnn_gradient_norms(xs, h0, W, U, dh_last)
    assert got.shape == (steps,)
    np.testing.assert_allclose(got, [float(g.norm()) for g in found], rtol=1e-10, atol=1e-14)


def test_norms_agree_with_differences_of_the_cost(rng: np.random.Generator) -> None:
    xs, h0, W, U, dh_last = a_recurrence(rng)

    def run(h: Any, steps: Any) -> Any:
        for x in steps:
            h = np.tanh(W @ x + U @ h)
        return h

    want = [
        np.linalg.norm(difference(lambda h, t=t: float(dh_last @ run(h, xs[t:])), run(h0, xs[:t])))  # type: ignore[misc]
        for t in range(1, T + 1)
    ]
    np.testing.assert_allclose(rnn_gradient_norms(xs, h0, W, U, dh_last), want, rtol=1e-6, atol=1e-8)


def test_norms_are_a_product_of_jacobians(rng: np.random.Generator) -> None:
    xs, h0, W, U, dh_last = a_recurrence(rng)
    h, jacobians = h0, []
    for x in xs:
        h = np.tanh(W @ x + U @ h)
        jacobians.append(np.diag(1 - h**2) @ U)  # dh_t / dh_{t-1}
    for t, got in enumerate(rnn_gradient_norms(xs, h0, W, U, dh_last)):
        chain = np.eye(H)
        for jacobian in jacobians[t + 1 :]:
            chain = jacobian @ chain
        np.testing.assert_allclose(got, np.linalg.norm(dh_last @ chain), **TIGHT)


@pytest.mark.parametrize(("factor", "grows"), [(0.5, False), (2.0, True)])
def test_norms_vanish_or_explode_at_rest(rng: np.random.Generator, factor: float, grows: bool) -> None:
    rotation = np.linalg.qr(rng.normal(size=(H, H)))[0]
    steps = 60
    norms = rnn_gradient_norms(np.zeros((steps, D)), np.zeros(H), np.ones((H, D)), factor * rotation, np.ones(H))
    np.testing.assert_allclose(norms, math.sqrt(H) * factor ** np.arange(steps - 1.0, -1, -1), rtol=1e-12)
    assert (norms[0] > 1e6) == grows  # S3.1


def test_norms_neither_overflow_nor_vanish_before_the_vectors_do() -> None:
    norms = rnn_gradient_norms(np.zeros((3, 1)), [0.0], [[1.0]], [[1e150]], [1e-200])
    np.testing.assert_allclose(norms, [1e100, 1e-50, 1e-200], rtol=1e-12)
    np.testing.assert_array_equal(rnn_gradient_norms(np.zeros((2, 1)), [0.0], [[1.0]], [[1.0]], [0.0]), [0, 0])


# dtypes: the judge reads the truth in extended precision

SHAPES: dict[str, list[Any]] = {
    "sigmoid": [(T, D)],
    "gru_cell": [(D,), (H,), GRU],
    "lstm_cell": [(D,), (H,), (H,), LSTM],
    "lstm_weight_gradient": [(T, D), (H,), (H,), LSTM, (T, H)],
    "rnn_gradient_norms": [(T, D), (H,), (H, D), (H, H), (H,)],
}


def arguments_of(name: str, make: Callable[[tuple[int, ...]], Any]) -> list[Any]:
    return [
        {key: make((H, D if key.startswith("W") else H)) for key in shape} if isinstance(shape[0], str) else make(shape)
        for shape in SHAPES[name]
    ]


def called(name: str, make: Callable[[tuple[int, ...]], Any]) -> list[Any]:
    returned = getattr(gates, name)(*arguments_of(name, make))
    return list(returned) if isinstance(returned, tuple) else [returned]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_the_floating_dtype_is_kept(rng: np.random.Generator, name: str, dtype: type) -> None:
    results = called(name, lambda shape: rng.normal(size=shape).astype(dtype))
    assert {result.dtype for result in results} == {np.dtype(dtype)}


@pytest.mark.parametrize("name", SHAPES)
def test_integers_become_float64(rng: np.random.Generator, name: str) -> None:
    results = called(name, lambda shape: rng.integers(-2, 3, size=shape))
    assert {result.dtype for result in results} == {np.dtype(np.float64)}


@pytest.mark.parametrize("name", SHAPES)
def test_extended_precision_is_not_lost_on_the_way(name: str) -> None:
    """Inputs that float64 cannot hold give results that float64 cannot hold, and close to float64's."""
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    wide = called(name, lambda shape: first.normal(size=shape).astype(np.longdouble) / 7)
    narrow = called(name, lambda shape: (second.normal(size=shape).astype(np.longdouble) / 7).astype(np.float64))
    for got, rounded in zip(wide, narrow, strict=True):
        assert (got != got.astype(np.float64)).any()
        np.testing.assert_allclose(got.astype(np.float64), rounded, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", SHAPES)
def test_arguments_are_not_modified(rng: np.random.Generator, name: str) -> None:
    def frozen(shape: tuple[int, ...]) -> Any:
        array = rng.normal(size=shape)
        array.setflags(write=False)
        return array

    called(name, frozen)


def test_the_module_holds_the_contracts_functions_with_its_signatures() -> None:
    contract = """
    sigmoid(x)
    gru_cell(x, h, params)
    lstm_cell(x, h, c, params)
    lstm_weight_gradient(xs, h0, c0, params, dh)
    rnn_gradient_norms(xs, h0, W, U, dh_last)
    """
    got = {}
    for name, function in inspect.getmembers(gates, inspect.isfunction):
        if not name.startswith("_") and function.__module__ == gates.__name__:
            got[name] = ", ".join(inspect.signature(function).parameters)
    want = dict(line.strip().rstrip(")").split("(") for line in contract.strip().splitlines())
    assert got == want
