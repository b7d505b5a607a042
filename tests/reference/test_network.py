"""The reference agrees with torch's autograd, with obvious loops, with exact arithmetic, and with the sheet."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 -- torch's own name for it

from reference import network
from reference.network import (
    forward,
    forward_backward,
    input_gradient,
    softmax_cross_entropy,
    softmax_cross_entropy_gradient,
)

# Sizes are pairwise different: equal ones hide transposes and wrong axes.
B, DX, DH, DY = 3, 4, 5, 2
TIGHT: Any = {"rtol": 1e-12, "atol": 1e-13}
SHAPES = {"W1": (DX, DH), "b1": (1, DH), "W2": (DH, DY), "b2": (1, DY)}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def tensor(x: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x, dtype=np.float64)).clone()


def some_params(rng: np.random.Generator, scale: float = 1.0) -> dict[str, Any]:
    return {key: scale * rng.normal(size=shape) for key, shape in SHAPES.items()}


def some_targets(rng: np.random.Generator, kind: str, rows: int = B) -> Any:
    if kind == "one-hot":
        return np.eye(DY)[rng.integers(DY, size=rows)]
    return rng.dirichlet(np.ones(DY), size=rows)


def torch_cost(X: torch.Tensor, Y: Any, params: dict[str, torch.Tensor], **more: Any) -> torch.Tensor:
    hidden = torch.sigmoid(X @ params["W1"] + params["b1"])
    return F.cross_entropy(hidden @ params["W2"] + params["b2"], tensor(Y), **more)


def exact_cost(theta: Any, y: Any) -> Any:
    """Return -sum y_i log softmax_i in 60 digits, without any shift: nothing overflows there."""
    with mpmath.workdps(60):
        powers = [mpmath.exp(mpmath.mpf(float(x))) for x in theta]
        total = mpmath.fsum(powers)
        return -mpmath.fsum(mpmath.mpf(float(w)) * mpmath.log(e / total) for w, e in zip(y, powers, strict=True))


# softmax and cross-entropy


@pytest.mark.parametrize("scale", [1, 30, 3000])
def test_cost_agrees_with_sixty_digits(rng: np.random.Generator, scale: float) -> None:
    theta, y = scale * rng.normal(size=6), rng.dirichlet(np.ones(6))
    np.testing.assert_allclose(softmax_cross_entropy(theta, y), float(exact_cost(theta, y)), rtol=1e-13)


@pytest.mark.parametrize("scale", [1, 30, 3000])
def test_cost_and_gradient_agree_with_torch(rng: np.random.Generator, scale: float) -> None:
    theta, y = scale * rng.normal(size=6), rng.dirichlet(np.ones(6))
    leaf = tensor(theta).requires_grad_()
    cost = F.cross_entropy(leaf, tensor(y))
    cost.backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    np.testing.assert_allclose(softmax_cross_entropy(theta, y), cost.item(), **TIGHT)
    np.testing.assert_allclose(softmax_cross_entropy_gradient(theta, y), leaf.grad, **TIGHT)


def test_gradient_is_the_slope_of_the_cost_in_sixty_digits(rng: np.random.Generator) -> None:
    theta, y = rng.normal(size=4), rng.dirichlet(np.ones(4))
    for i, entry in enumerate(softmax_cross_entropy_gradient(theta, y)):
        with mpmath.workdps(60):

            def moved(h: Any, i: int = i) -> Any:
                powers = [mpmath.exp(mpmath.mpf(float(x)) + (h if j == i else 0)) for j, x in enumerate(theta)]
                logs = [mpmath.log(power / mpmath.fsum(powers)) for power in powers]
                return -mpmath.fsum(mpmath.mpf(float(w)) * log for w, log in zip(y, logs, strict=True))

            assert abs(mpmath.diff(moved, 0) - mpmath.mpf(float(entry))) < 1e-14


def test_gradient_of_ratios_is_exact_arithmetic() -> None:
    weights, y = [1, 2, 5, 8], [Fraction(1, 2), Fraction(0), Fraction(1, 4), Fraction(1, 4)]
    truth = [float(Fraction(w, sum(weights)) - t) for w, t in zip(weights, y, strict=True)]
    got = softmax_cross_entropy_gradient(np.log(weights), np.array(y, dtype=float))
    np.testing.assert_allclose(got, truth, rtol=0, atol=1e-15)


def test_the_sheets_first_line_is_false_and_its_result_right(rng: np.random.Generator) -> None:
    """S4.1a writes dCE/dtheta_i = dCE/dyhat_i · dyhat_i/dtheta_i, without the sum over j; its result is right."""
    theta, y = rng.normal(size=4), rng.dirichlet(np.ones(4))
    prediction = softmax_cross_entropy_gradient(theta, np.zeros(4))
    jacobian = np.diag(prediction) - np.outer(prediction, prediction)  # yhat_j (delta_ij - yhat_i)
    by_prediction = -y / prediction
    gradient = softmax_cross_entropy_gradient(theta, y)
    np.testing.assert_allclose(jacobian @ by_prediction, gradient, **TIGHT)
    assert np.abs(by_prediction * np.diag(jacobian) - gradient).max() > 0.05


@pytest.mark.parametrize("gap", [1e3, 1e4, 1e300])
def test_cost_is_finite_and_the_gap_at_saturated_logits(gap: float) -> None:
    assert softmax_cross_entropy([0.0, gap], [1.0, 0.0]) == gap
    assert softmax_cross_entropy([0.0, gap], [0.0, 1.0]) == 0.0
    np.testing.assert_array_equal(softmax_cross_entropy_gradient([0.0, gap], [1.0, 0.0]), [-1.0, 1.0])


# the network


@pytest.mark.parametrize("scale", [1, 20])
def test_forward_agrees_with_torch(rng: np.random.Generator, scale: float) -> None:
    X, params = rng.normal(size=(B, DX)), some_params(rng, scale)
    hidden = torch.sigmoid(tensor(X @ params["W1"] + params["b1"]))
    want = torch.softmax(hidden @ tensor(params["W2"]) + tensor(params["b2"]), dim=1)
    np.testing.assert_allclose(forward(X, params), want, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("kind", ["one-hot", "spread"])
@pytest.mark.parametrize("scale", [1, 20])
def test_cost_and_gradients_agree_with_autograd(rng: np.random.Generator, kind: str, scale: float) -> None:
    X, Y, params = rng.normal(size=(B, DX)), some_targets(rng, kind), some_params(rng, scale)
    leaves = {key: tensor(value).requires_grad_() for key, value in params.items()}
    want = torch_cost(tensor(X), Y, leaves)
    want.backward()  # type: ignore[no-untyped-call]
    cost, gradients = forward_backward(X, Y, params)
    np.testing.assert_allclose(cost, want.item(), rtol=1e-11)
    assert list(gradients) == list(SHAPES)
    for key, leaf in leaves.items():
        assert leaf.grad is not None
        np.testing.assert_allclose(gradients[key], leaf.grad, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("kind", ["one-hot", "spread"])
def test_input_gradient_agrees_with_autograd(rng: np.random.Generator, kind: str) -> None:
    x, y, params = rng.normal(size=(1, DX)), some_targets(rng, kind, rows=1), some_params(rng)
    leaf = tensor(x).requires_grad_()
    torch_cost(leaf, y, {key: tensor(value) for key, value in params.items()}).backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    np.testing.assert_allclose(input_gradient(x, y, params), leaf.grad, **TIGHT)


def test_cost_and_gradients_agree_with_loops(rng: np.random.Generator) -> None:
    """One sample, one unit, one weight at a time: no matrix product, no broadcasting."""
    X, Y, params = rng.normal(size=(B, DX)), some_targets(rng, "spread"), some_params(rng)
    cost, want = 0.0, {key: np.zeros(shape) for key, shape in SHAPES.items()}
    for b in range(B):
        z = [sum(X[b, i] * params["W1"][i, j] for i in range(DX)) + params["b1"][0, j] for j in range(DH)]
        h = [1 / (1 + np.exp(-each)) for each in z]
        theta = [sum(h[j] * params["W2"][j, k] for j in range(DH)) + params["b2"][0, k] for k in range(DY)]
        total = sum(np.exp(each) for each in theta)
        cost -= sum(Y[b, k] * np.log(np.exp(theta[k]) / total) for k in range(DY)) / B
        for k in range(DY):
            at_logit = (np.exp(theta[k]) / total - Y[b, k]) / B
            want["b2"][0, k] += at_logit
            for j in range(DH):
                want["W2"][j, k] += h[j] * at_logit
                at_unit = at_logit * params["W2"][j, k] * h[j] * (1 - h[j])
                want["b1"][0, j] += at_unit
                for i in range(DX):
                    want["W1"][i, j] += X[b, i] * at_unit
    got_cost, got = forward_backward(X, Y, params)
    np.testing.assert_allclose(got_cost, cost, **TIGHT)
    for key, gradient in want.items():
        np.testing.assert_allclose(got[key], gradient, **TIGHT)


def test_gradients_are_the_slope_of_the_cost(rng: np.random.Generator) -> None:
    X, Y, params = rng.normal(size=(B, DX)), some_targets(rng, "spread"), some_params(rng)
    _, gradients = forward_backward(X, Y, params)
    for key, shape in SHAPES.items():
        for place in np.ndindex(*shape):
            move = np.zeros(shape)
            move[place] = 1e-5
            above, _ = forward_backward(X, Y, params | {key: params[key] + move})
            below, _ = forward_backward(X, Y, params | {key: params[key] - move})
            np.testing.assert_allclose(gradients[key][place], (above - below) / 2e-5, rtol=1e-5, atol=1e-9)


def test_the_cost_is_the_mean_not_the_sum(rng: np.random.Generator) -> None:
    X, Y, params = rng.normal(size=(B, DX)), some_targets(rng, "one-hot"), some_params(rng)
    leaves = {key: tensor(value) for key, value in params.items()}
    cost, _ = forward_backward(X, Y, params)
    np.testing.assert_allclose(cost, torch_cost(tensor(X), Y, leaves, reduction="sum").item() / B, **TIGHT)


def test_the_network_survives_what_overflows_elsewhere() -> None:
    params = {"W1": [[4000.0, -4000.0]], "b1": [[0.0, 0.0]], "W2": [[5000.0, 0.0], [0.0, 9000.0]], "b2": [[0.0, 1.0]]}
    np.testing.assert_array_equal(forward([[1.0], [-1.0]], params), [[1.0, 0.0], [0.0, 1.0]])
    cost, gradients = forward_backward([[1.0], [-1.0]], [[0.0, 1.0], [1.0, 0.0]], params)
    assert cost == (4999.0 + 9001.0) / 2
    assert all(np.isfinite(gradient).all() for gradient in gradients.values())
    assert np.isfinite(input_gradient([[1.0]], [[0.0, 1.0]], params)).all()


# what the judge relies on


def arguments_of(name: str, rng: np.random.Generator) -> list[Any]:
    params = some_params(rng)
    if name.startswith("softmax"):
        return [rng.normal(size=DY), some_targets(rng, "spread")[0]]
    rows = 1 if name == "input_gradient" else B
    X = rng.normal(size=(rows, DX))
    return [X, params] if name == "forward" else [X, some_targets(rng, "spread", rows), params]


def in_dtype(value: Any, dtype: Any) -> Any:
    return (
        {key: in_dtype(each, dtype) for key, each in value.items()} if isinstance(value, dict) else value.astype(dtype)
    )


def flattened(result: Any) -> Any:
    if isinstance(result, tuple | dict):
        parts = result.values() if isinstance(result, dict) else result
        return np.concatenate([flattened(part) for part in parts])
    return np.ravel(result)


NAMES = ["softmax_cross_entropy", "softmax_cross_entropy_gradient", "forward", "forward_backward", "input_gradient"]


@pytest.mark.parametrize("name", NAMES)
def test_extended_precision_is_kept(name: str, rng: np.random.Generator) -> None:
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    wide = [in_dtype(argument, np.longdouble) for argument in arguments_of(name, rng)]
    function = getattr(network, name)
    got = flattened(function(*wide))
    assert got.dtype == np.longdouble
    assert (got != got.astype(np.float64)).any()
    rounded = flattened(function(*[in_dtype(argument, np.float64) for argument in wide]))
    np.testing.assert_allclose(got.astype(np.float64), rounded, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_are_not_modified(name: str, rng: np.random.Generator) -> None:
    arguments = arguments_of(name, rng)
    for argument in arguments:
        for array in argument.values() if isinstance(argument, dict) else [argument]:
            array.setflags(write=False)
    getattr(network, name)(*arguments)


def test_the_module_holds_the_contracts_functions_with_its_signatures() -> None:
    contract = {
        "softmax_cross_entropy": ["theta", "y"],
        "softmax_cross_entropy_gradient": ["theta", "y"],
        "forward": ["X", "params"],
        "forward_backward": ["X", "Y", "params"],
        "input_gradient": ["x", "y", "params"],
    }
    got = {
        name: list(inspect.signature(function).parameters)
        for name, function in inspect.getmembers(network, inspect.isfunction)
        if not name.startswith("_") and function.__module__ == network.__name__
    }
    assert got == contract
