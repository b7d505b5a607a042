"""The reference agrees with torch, with exact arithmetic, and with the sheets' numbers, two slips of theirs stated."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch

from reference import perplexity as module
from reference.perplexity import cross_entropy, entropy, entropy_rate, perplexity, sequence_perplexity

BASES = [2.0, math.e, 10.0, 0.5]
TIGHT: Any = {"rtol": 1e-13, "atol": 1e-14}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def tensor(x: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x, dtype=np.float64))


def exact_cross_entropy(m: Any, p: Any, base: float) -> float:
    with mpmath.workdps(60):
        terms = [mpmath.mpf(w) * mpmath.log(mpmath.mpf(q)) for w, q in zip(m, p, strict=True) if w > 0]
        return float(-mpmath.fsum(terms) / mpmath.log(mpmath.mpf(base)))


# entropy and cross-entropy


@pytest.mark.parametrize("base", BASES)
def test_entropy_and_cross_entropy_agree_with_sixty_digits(rng: np.random.Generator, base: float) -> None:
    m, p = rng.dirichlet(np.ones(7), size=2)
    np.testing.assert_allclose(cross_entropy(m, p, base), exact_cross_entropy(m, p, base), **TIGHT)
    np.testing.assert_allclose(entropy(m, base), exact_cross_entropy(m, m, base), **TIGHT)


def test_entropy_agrees_with_torch(rng: np.random.Generator) -> None:
    p = rng.dirichlet(np.ones(7))
    want = torch.distributions.Categorical(probs=tensor(p)).entropy()  # type: ignore[no-untyped-call]
    np.testing.assert_allclose(entropy(p, math.e), want, rtol=1e-12)


def test_cross_entropy_is_entropy_plus_torchs_divergence(rng: np.random.Generator) -> None:
    m, p = rng.dirichlet(np.ones(7), size=2)
    first, second = (torch.distributions.Categorical(probs=tensor(each)) for each in (m, p))
    want = first.entropy() + torch.distributions.kl_divergence(first, second)  # type: ignore[no-untyped-call]
    np.testing.assert_allclose(cross_entropy(m, p, math.e), want, rtol=1e-12)


def test_cross_entropy_agrees_with_torchs_loss(rng: np.random.Generator) -> None:
    m, p = rng.dirichlet(np.ones(7), size=2)
    want = torch.nn.functional.cross_entropy(tensor(np.log(p)), tensor(m))
    np.testing.assert_allclose(cross_entropy(m, p, math.e), want, rtol=1e-12)


def test_entropy_of_powers_of_two_is_exact_arithmetic() -> None:
    powers = [1, 3, 3, 4, 4, 4, 4]
    assert sum(Fraction(1, 2**k) for k in powers) == 1
    truth = sum(Fraction(k, 2**k) for k in powers)
    assert entropy([2.0**-k for k in powers]) == float(truth)


def test_zeros_count_nothing_and_excluded_outcomes_cost_infinity() -> None:
    assert entropy([0.5, 0.0, 0.5, 0.0]) == 1.0
    assert entropy([0.0, 1.0]) == 0.0
    assert not np.signbit(entropy([0.0, 1.0]))
    assert cross_entropy([0.5, 0.5, 0.0], [0.25, 0.25, 0.0]) == 2.0
    assert cross_entropy([1.0, 0.0], [0.5, 0.5]) == 1.0
    assert cross_entropy([0.5, 0.5], [1.0, 0.0]) == math.inf
    assert cross_entropy([0.0, 1.0], [1.0, 0.0], math.e) == math.inf


def test_no_model_beats_the_truth(rng: np.random.Generator) -> None:
    for _ in range(50):
        m, p = rng.dirichlet(np.ones(4), size=2)
        assert cross_entropy(m, p) > entropy(m)


# the sheets


def test_a_die_has_the_sheets_entropy_and_perplexity() -> None:
    """S0.2a prints 2.58 (log2 6 = 2.58496), S0.2b prints 6."""
    die = np.full(6, 1 / 6)
    assert f"{entropy(die):.2f}" == "2.58"
    assert f"{entropy(die):.3f}" == "2.585"
    np.testing.assert_allclose(2 ** entropy(die), 6, **TIGHT)
    np.testing.assert_allclose(perplexity(np.log2(die), 2.0), 6, **TIGHT)


def test_the_expectation_of_cross_entropy_is_under_m_and_not_under_p() -> None:
    """S0.2d's formula weighs -log p by m and is right; its words say the expectation is under p, and are not."""
    m, p = np.array([0.75, 0.25]), np.array([0.5, 0.5])
    draws = np.array([0, 0, 0, 1])  # exactly as often as m says
    assert cross_entropy(m, p) == -np.log2(p)[draws].mean() == 1.0
    model = np.array([0.25, 0.75])
    assert cross_entropy(m, model) == pytest.approx(-np.log2(model)[draws].mean())
    assert cross_entropy(m, model) != pytest.approx(-(model * np.log2(model)).sum())


def test_the_sheets_summary_drops_the_minus_sign() -> None:
    """S0.2e derives p(W)^(-1/N); the summary below it prints p(W)^(1/N), which is never more than 1."""
    probs = np.array([0.5, 0.125])
    assert sequence_perplexity(probs) == pytest.approx(0.0625 ** (-1 / 2)) == pytest.approx(4.0)
    assert sequence_perplexity(probs) == pytest.approx(2 ** -np.log2(probs).mean())
    assert sequence_perplexity(probs) != pytest.approx(0.0625 ** (1 / 2))


@pytest.mark.parametrize("base", BASES)
def test_perplexity_is_the_same_in_every_base(rng: np.random.Generator, base: float) -> None:
    """S4.3a, for every base t > 0, t ≠ 1."""
    probs = rng.uniform(0.01, 1, size=20)
    np.testing.assert_allclose(perplexity(np.log(probs) / math.log(base), base), perplexity(np.log(probs)), rtol=1e-12)


# rates and perplexities


def test_entropy_rate_agrees_with_a_loop_over_sequences(rng: np.random.Generator) -> None:
    p = rng.dirichlet(np.ones(24)).reshape(2, 3, 4)
    total = -math.fsum(p[w] * math.log2(p[w]) for w in product(range(2), range(3), range(4)))
    np.testing.assert_allclose(entropy_rate(p, 3), total / 3, **TIGHT)
    np.testing.assert_allclose(entropy_rate(p.ravel(), 3), total / 3, **TIGHT)


def test_entropy_rate_of_independent_words_is_their_entropy(rng: np.random.Generator) -> None:
    p = rng.dirichlet(np.ones(3))
    np.testing.assert_allclose(entropy_rate(np.einsum("i,j,k->ijk", p, p, p), 3, math.e), entropy(p, math.e), **TIGHT)


def test_entropy_rate_of_a_repeated_word_is_shared_out() -> None:
    assert entropy_rate(np.diag([0.5, 0.25, 0.25]), 2) == 0.75


def test_perplexity_agrees_with_torch(rng: np.random.Generator) -> None:
    logits, tokens = rng.normal(size=(9, 5)), rng.integers(5, size=9)
    want = torch.nn.functional.cross_entropy(tensor(logits), torch.from_numpy(tokens)).exp()
    log_probs = torch.log_softmax(tensor(logits), dim=1).numpy()[np.arange(9), tokens]
    np.testing.assert_allclose(perplexity(log_probs), want, rtol=1e-12)
    np.testing.assert_allclose(sequence_perplexity(np.exp(log_probs)), want, rtol=1e-12)


def test_perplexity_agrees_with_exact_fractions() -> None:
    probs = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 36), Fraction(1, 6)]
    truth = math.prod(probs) ** -1
    assert truth == 6**4
    np.testing.assert_allclose(sequence_perplexity([float(p) for p in probs]), 6, rtol=1e-14)


@pytest.mark.parametrize("vocabulary", [1, 2, 6, 50_000])
def test_uniform_guesses_give_the_size_of_the_vocabulary(vocabulary: int) -> None:
    probs = np.full(7, 1 / vocabulary)
    np.testing.assert_allclose(sequence_perplexity(probs), vocabulary, rtol=1e-13)
    np.testing.assert_allclose(perplexity(np.log(probs)), vocabulary, rtol=1e-13)


def test_a_million_tokens_do_not_underflow(rng: np.random.Generator) -> None:
    probs = rng.choice([0.5, 0.125], size=10**6)
    assert np.prod(probs) == 0.0
    halves = np.count_nonzero(probs == 0.5)
    truth = 2 ** (float(Fraction(int(halves) + 3 * (10**6 - int(halves)), 10**6)))
    np.testing.assert_allclose(sequence_perplexity(probs), truth, rtol=1e-12)
    np.testing.assert_allclose(perplexity(np.log2(probs), 2.0), truth, rtol=1e-12)


# what the judge relies on


CALLS: dict[str, tuple[Any, ...]] = {
    "entropy": (np.array([0.1, 0.2, 0.7]),),
    "cross_entropy": (np.array([0.1, 0.2, 0.7]), np.array([0.3, 0.3, 0.4])),
    "entropy_rate": (np.array([[0.1, 0.2], [0.3, 0.4]]), 2),
    "perplexity": (np.array([-0.1, -1.7]), 10.0),
    "sequence_perplexity": (np.array([0.1, 0.7]),),
}


@pytest.mark.parametrize("name", CALLS)
def test_extended_precision_is_kept(name: str) -> None:
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("this machine has no extended precision")
    function = getattr(module, name)
    wide = [each.astype(np.longdouble) if isinstance(each, np.ndarray) else each for each in CALLS[name]]
    got = function(*wide)
    assert got.dtype == np.longdouble
    assert got != np.float64(got)
    np.testing.assert_allclose(np.float64(got), function(*CALLS[name]), rtol=1e-14)


@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_not_modified(name: str) -> None:
    arguments = [each.copy() if isinstance(each, np.ndarray) else each for each in CALLS[name]]
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            argument.setflags(write=False)
    getattr(module, name)(*arguments)


def test_the_module_holds_the_contracts_functions_with_its_signatures() -> None:
    contract = {
        "entropy": {"p": None, "base": 2.0},
        "cross_entropy": {"m": None, "p": None, "base": 2.0},
        "entropy_rate": {"p": None, "n": None, "base": 2.0},
        "perplexity": {"log_probs": None, "base": math.e},
        "sequence_perplexity": {"probs": None},
    }
    got = {
        name: {
            p.name: None if p.default is p.empty else p.default for p in inspect.signature(function).parameters.values()
        }
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_") and function.__module__ == module.__name__
    }
    assert got == contract
