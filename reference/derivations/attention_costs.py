"""What attention costs in multiplications, and which term of the count grows fastest under which condition."""

from __future__ import annotations

import sympy as sp

from formulas.matrices import index
from reference.derivations.proof import Derivation, Premise, chain
from reference.derivations.rules import SameGrowth, algebra

a, b, c, i, j, k, l, n, M, N = map(index, ("a", "b", "c", "i", "j", "k", "l", "n", "M", "N"))
constant = sp.Symbol("constant", positive=True)


def product(rows: sp.Expr, between: sp.Expr, columns: sp.Expr) -> sp.Expr:
    """Return the multiplications of a (rows × between) by a (between × columns) matrix, counted one by one."""
    return sp.Sum(1, (l, 1, between), (j, 1, columns), (i, 1, rows))


def attention(queries: sp.Expr, keys: sp.Expr) -> sp.Expr:
    """Return the count for one head of width k: three projections, the scores, the weighted sum of the values."""
    projections = product(queries, k, k) + 2 * product(keys, k, k)
    return projections + product(queries, k, keys) + product(queries, keys, k)


encoder = 2 * M**2 * k + 3 * M * k**2
cross = 2 * M * N * k + 2 * M * k**2 + N * k**2
decoder = 2 * N**2 * k + 3 * N * k**2

DERIVATION = Derivation(
    id="attention_costs",
    title="The cost of attention",
    source="S0.1b, S1.f, S3.7.3-4",
    shows=(
        "Self-attention over M tokens of width k takes 2M²k + 3Mk² multiplications: Θ(M²k) while k ≤ M, and not"
        " otherwise. Cross-attention takes Θ(MNk) while k ≤ M and k ≤ N; translating adds Θ(MNk + N²k)."
    ),
    premises=(
        Premise("M tokens are read and N are written, all vectors have k entries, there is one head and one layer"),
        Premise("a multiplication and the addition that follows it count as one; softmax, Θ(MN), is not counted"),
        Premise("f = Θ(g) for variables that grow independently of one another but for the conditions of the step"),
        Premise("in sparse attention every token attends to √n tokens, a whole number"),
    ),
    chains=(
        chain(
            product(a, b, c),
            (a * b * c, "Each of the a c entries is a sum of b products.", algebra),
            title="A product of matrices",
        ),
        chain(
            attention(M, M),
            (encoder, "Three projections of M k² each, M² scores of k, and M sums of M vectors.", algebra),
            (
                M**2 * k + M * k**2,
                "Constant factors do not count; neither term outgrows the other.",
                SameGrowth((M, k)),
            ),
            title="Encoder self-attention",
        ),
        chain(
            encoder,
            (M**2 * k, "While k ≤ M the projections cost no more than the scores.", SameGrowth((M, k), (k <= M,))),
            (M**2, "In tokens alone, the width held constant.", SameGrowth((M, k), (k <= constant,))),
            title="Encoder self-attention, narrow or of constant width",
        ),
        chain(
            attention(N, M),
            (cross, "N queries, M keys and values, and M N scores.", algebra),
            (M * N * k, "While k is at most M and N, the scores lead.", SameGrowth((M, N, k), (k <= M, k <= N))),
            title="Cross-attention",
        ),
        chain(
            attention(N, N),
            (decoder, "As in the encoder, over N tokens.", algebra),
            (N**2 * k, "While k ≤ N the scores lead.", SameGrowth((N, k), (k <= N,))),
            title="Decoder self-attention",
        ),
        chain(
            sp.Sum(1, (l, 1, k), (j, 1, i), (i, 1, N)),
            (k * N * (N + 1) / 2, "Token i attends to the i tokens up to itself, and 1 + … + N = N(N+1)/2.", algebra),
            (N**2 * k, "Half of the scores are still of the same order.", SameGrowth((N, k))),
            title="Scores of the decoder under a causal mask",
        ),
        chain(
            decoder + cross,
            (
                M * N * k + N**2 * k,
                "A translation adds the decoder's two attentions; the encoder has run before.",
                SameGrowth((M, N, k), (k <= M, k <= N)),
            ),
            (M * N + N**2, "In tokens alone, the width held constant.", SameGrowth((M, N, k), (k <= constant,))),
            title="A translation",
        ),
        chain(
            sp.Sum(1, (j, 1, sp.sqrt(n)), (i, 1, n)),
            (n ** sp.Rational(3, 2), "Each of n tokens has √n scores.", algebra),
            title="Sparse attention",
        ),
    ),
    explains=(
        "attention.self_attention",
        "attention_cost",
        "encoder_self_attention",
        "cross_attention",
        "decoder_self_attention",
        "translation_extra",
        "sparse_attention",
    ),
)
