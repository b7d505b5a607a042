from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
import sympy as sp

from reference.attention import causal_mask, scaled_dot_product_attention, self_attention
from reference.derivations import attention_costs as costs
from reference.derivations.proof import Refused, Step
from reference.derivations.rules import SameGrowth, algebra

DERIVATION = costs.DERIVATION
RNG = np.random.default_rng(0)


class Counter:
    """Attention in plain loops, counting every multiplication of a matrix product."""

    def __init__(self):
        self.count = 0

    def product(self, A, B, entries=None):
        out = [[0.0] * len(B[0]) for _ in A]
        for i in range(len(A)):
            for j in range(len(B[0])):
                for l in range(len(B)):
                    if entries is None or entries(i, j, l):
                        out[i][j] += A[i][l] * B[l][j]
                        self.count += 1
        return out

    def attention(self, X, Y, W_q, W_k, W_v, *, causal=False):
        """Return the attention of the rows of X to those of Y; causal scores and values are never touched."""
        Q, K, V = self.product(X, W_q), self.product(Y, W_k), self.product(Y, W_v)
        scores = self.product(Q, list(zip(*K, strict=True)), (lambda i, j, l: j <= i) if causal else None)
        weights = []
        for i, row in enumerate(scores):
            powers = [0.0 if causal and j > i else exp(score / sqrt(len(W_q[0]))) for j, score in enumerate(row)]
            weights.append([power / sum(powers) for power in powers])
        return self.product(weights, V, (lambda i, j, l: l <= i) if causal else None)


def test_every_step_is_proved():
    for step in DERIVATION.steps:
        step.prove(DERIVATION.context)


@pytest.mark.parametrize(("M", "N", "k"), [(1, 1, 1), (5, 3, 2), (3, 6, 4), (2, 4, 7)])
def test_counted_loops_have_the_derived_count_and_the_references_output(M, N, k, value):
    """Encoder, cross- and causal decoder self-attention, at sizes with k below, between and above M and N."""
    X, Y, W = RNG.normal(size=(M, k)), RNG.normal(size=(N, k)), RNG.normal(size=(3, k, k))
    sizes = {"M": M, "N": N, "k": k}
    own, cross, masked = Counter(), Counter(), Counter()
    np.testing.assert_allclose(own.attention(X, X, *W), self_attention(X, *W), atol=1e-12)
    assert own.count == value(costs.encoder, sizes) == value(costs.attention(costs.M, costs.M), sizes)
    want = scaled_dot_product_attention(Y @ W[0], X @ W[1], X @ W[2])
    np.testing.assert_allclose(cross.attention(Y, X, *W), want, atol=1e-12)
    assert cross.count == value(costs.cross, sizes) == value(costs.attention(costs.N, costs.M), sizes)
    np.testing.assert_allclose(
        masked.attention(Y, Y, *W, causal=True), self_attention(Y, *W, causal_mask(N)), atol=1e-12
    )
    (half,) = (c.links[0][0] for c in DERIVATION.chains if "causal" in c.title)
    assert masked.count == 3 * N * k**2 + 2 * value(half, sizes)


def test_sparse_attention_counts_scores(value):
    """n tokens with √n scores each, for squares n."""
    for n in (1, 4, 9, 16):
        assert value(costs.n ** sp.Rational(3, 2), {"n": n}) == sum(1 for _ in range(n) for _ in range(round(sqrt(n))))


def test_width_decides_which_term_leads():
    """Along k = M² the projections outgrow M² k by any factor; along k = √M they fall behind."""
    ratio = sp.lambdify((costs.M, costs.k), costs.encoder / (costs.M**2 * costs.k))
    assert ratio(10**3, 10**6) > 1000
    assert 2 < ratio(10**6, 10**3) < 2.01


M, N, k, n = costs.M, costs.N, costs.k, costs.n
ALL = (M, N, k)
PARTING = {
    "S3: M²k + Mk² = Θ(M²k) without k ≤ M": (M**2 * k + M * k**2, M**2 * k, SameGrowth((M, k)), "k = t"),
    "S1: Θ(M²k) with its projections, without k ≤ M": (costs.encoder, M**2 * k, SameGrowth((M, k)), "k = t"),
    "S3: Nk² + Mk² + MNk = Θ(MNk) without k ≤ M, N": (costs.cross, M * N * k, SameGrowth(ALL), "k = t"),
    "cross-attention with k ≤ M alone": (costs.cross, M * N * k, SameGrowth(ALL, (k <= M,)), "k = t"),
    "S3: N²k + Nk² = Θ(N²k) without k ≤ N": (costs.decoder, N**2 * k, SameGrowth((N, k)), "k = t"),
    "k dropped while it grows": (costs.encoder, M**2, SameGrowth((M, k), (k <= M,)), "k = t"),
    "too loose": (costs.encoder, M**2 * k**2, SameGrowth((M, k), (k <= M,)), "k = t"),
    "translation without N²": (costs.decoder + costs.cross, M * N * k, SameGrowth(ALL, (k <= M, k <= N)), "N = t"),
    "sparse is not quadratic": (n ** sp.Rational(3, 2), n**2, SameGrowth((n,)), "n = t"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", PARTING)
def test_wrong_growths_are_refused_with_a_ray(wrong):
    left, right, rule, ray = PARTING[wrong]
    with pytest.raises(Refused, match="they part along") as refused:
        Step(left, right, "This is wrong.", rule).prove(DERIVATION.context)
    assert ray in str(refused.value)


MISCOUNTED = {
    "two projections": (costs.attention(M, M), costs.encoder - M * k**2),
    "no weighted sum": (costs.attention(M, M), costs.encoder - M**2 * k),
    "a mask halves exactly": (sp.Sum(1, (costs.j, 1, costs.i), (costs.i, 1, N)), N**2 / 2),
    "keys and values for N tokens": (costs.attention(N, M), 2 * M * N * k + 3 * N * k**2),
}


@pytest.mark.parametrize("wrong", MISCOUNTED)
def test_wrong_counts_are_refused(wrong):
    left, right = MISCOUNTED[wrong]
    with pytest.raises(Refused, match="differ"):
        Step(left, right, "This is wrong.", algebra).prove(DERIVATION.context)
