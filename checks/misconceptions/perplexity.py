"""Wrong entropies and perplexities: each function computes exactly what one mistake computes.

What is right in it is the reference's, so that a body shows the mistake and little else.
"""
# A misconception has the contract's signature even where the mistake is to ignore an argument.
# ruff: noqa: ARG001

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from checks.misconception import misconception
from reference import perplexity as right

if TYPE_CHECKING:
    from reference.perplexity import Array


# entropy


@misconception(
    of="perplexity.entropy",
    name="sign lost",
    why="Logarithms of probabilities are negative: without the minus the entropy is, too.",
)
def entropy_negative(p: Array, base: float = 2.0) -> Any:
    return -right.entropy(p, base)


@misconception(
    of="perplexity.entropy",
    name="0·log 0 is nan",
    why="log 0 is -inf, and 0 times that is nan; the convention is 0, so zeros are left out of the sum.",
)
def entropy_of_zero(p: Array, base: float = 2.0) -> Any:
    return -(p * np.log(p)).sum() / np.log(base)


@misconception(
    of="perplexity.entropy",
    name="base ignored: always bits",
    why="The logarithm has base 2 whatever `base` says.",
)
def entropy_always_bits(p: Array, base: float = 2.0) -> Any:
    return right.entropy(p)


@misconception(
    of="perplexity.entropy",
    name="base ignored: always nats",
    why="The natural logarithm is used whatever `base` says; the default is base 2.",
)
def entropy_always_nats(p: Array, base: float = 2.0) -> Any:
    return right.entropy(p, math.e)


@misconception(
    of="perplexity.entropy",
    name="nats by default",
    why="This is the default of scipy.stats.entropy and torch.distributions; here it is base 2.",
)
def entropy_nats_by_default(p: Array, base: float = math.e) -> Any:
    return right.entropy(p, base)


@misconception(
    of="perplexity.entropy",
    name="multiplied by log base in place of divided",
    why="log_b x = ln x / ln b: the base's logarithm is a divisor.",
)
def entropy_times_base(p: Array, base: float = 2.0) -> Any:
    return right.entropy(p, math.e) * np.log(base)


@misconception(
    of="perplexity.entropy",
    name="averaged over the outcomes",
    why="np.mean divides by the number of outcomes; the probabilities are the weights already.",
)
def entropy_mean(p: Array, base: float = 2.0) -> Any:
    return right.entropy(p, base) / len(p)


@misconception(
    of="perplexity.entropy",
    name="surprise not weighed by p",
    why="-sum log p adds up the surprises; each belongs multiplied by its probability.",
)
def entropy_unweighted(p: Array, base: float = 2.0) -> Any:
    return -np.log(p).sum() / np.log(base)


@misconception(
    of="perplexity.entropy",
    name="log of a sum in place of a sum of logs",
    why="-log(sum p·p) is Rényi's entropy of order 2; the logarithm belongs inside the sum.",
)
def entropy_log_of_sum(p: Array, base: float = 2.0) -> Any:
    return -np.log((p * p).sum()) / np.log(base)


@misconception(
    of="perplexity.entropy",
    name="normalised by the entropy of the uniform distribution",
    why="This is the evenness H / log n, at most 1; the entropy of a die is 2.585 bits.",
)
def entropy_normalised(p: Array, base: float = 2.0) -> Any:
    return right.entropy(p, math.e) / np.log(len(p))


@misconception(
    of="perplexity.entropy",
    name="perplexity in place of the entropy",
    why="base^H is the perplexity of the distribution; here its exponent is asked for.",
)
def entropy_raised(p: Array, base: float = 2.0) -> Any:
    return base ** right.entropy(p, base)


@misconception(
    of="perplexity.entropy",
    name="entropy of each outcome against the rest",
    why="(1-p) log(1-p) is added for every outcome: that is the entropy of a coin for each, not of one die.",
)
def entropy_binary(p: Array, base: float = 2.0) -> Any:
    return right.entropy(p, base) + right.entropy(1 - p, base)


@misconception(
    of="perplexity.entropy",
    name="modifies its input",
    why="`p[p == 0] = 1e-12` writes into the caller's array; select the positive entries in its place.",
)
def entropy_in_place(p: Array, base: float = 2.0) -> Any:
    p[p == 0] = 1e-12
    return right.entropy(p, base)


# cross_entropy


@misconception(
    of="perplexity.cross_entropy",
    name="arguments swapped",
    why="-sum p log m: the first argument is the truth m, which weighs; the logarithm is of the model p.",
)
def cross_entropy_swapped(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(p, m, base)


@misconception(
    of="perplexity.cross_entropy",
    name="expectation taken under p",
    why="The words of sheet S0.2d say so, its formula does not: the expectation of -log p is under m.",
)
def cross_entropy_under_model(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.entropy(p, base)


@misconception(
    of="perplexity.cross_entropy",
    name="entropy of m",
    why="The model does not enter: the logarithm must be of p.",
)
def cross_entropy_of_truth(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.entropy(m, base)


@misconception(
    of="perplexity.cross_entropy",
    name="KL divergence in place of the cross-entropy",
    why="The entropy of m is subtracted (scipy's entropy(m, p) and torch's kl_div do so); H(m, p) contains it.",
)
def cross_entropy_divergence(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(m, p, base) - right.entropy(m, base)


@misconception(
    of="perplexity.cross_entropy",
    name="sign lost",
    why="Logarithms of probabilities are negative: without the minus the cross-entropy is, too.",
)
def cross_entropy_negative(m: Array, p: Array, base: float = 2.0) -> Any:
    return -right.cross_entropy(m, p, base)


@misconception(
    of="perplexity.cross_entropy",
    name="0·log 0 is nan",
    why="log 0 is -inf, and 0 times that is nan; where m is 0 the term is 0.",
)
def cross_entropy_of_zero(m: Array, p: Array, base: float = 2.0) -> Any:
    return -(m * np.log(p)).sum() / np.log(base)


@misconception(
    of="perplexity.cross_entropy",
    name="small number added inside the logarithm",
    why="log(p + 1e-12) is finite where p is 0; a model that excludes what happens has infinite cross-entropy.",
)
def cross_entropy_with_epsilon(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(m, p + 1e-12, base)


@misconception(
    of="perplexity.cross_entropy",
    name="excluded outcomes left out",
    why="Terms with p = 0 are skipped even where m is positive; there the cross-entropy is infinite.",
)
def cross_entropy_skips_zeros(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(m[p > 0], p[p > 0], base)


@misconception(
    of="perplexity.cross_entropy",
    name="base ignored: always bits",
    why="The logarithm has base 2 whatever `base` says.",
)
def cross_entropy_always_bits(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(m, p)


@misconception(
    of="perplexity.cross_entropy",
    name="base ignored: always nats",
    why="The natural logarithm is used whatever `base` says; the default is base 2.",
)
def cross_entropy_always_nats(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(m, p, math.e)


@misconception(
    of="perplexity.cross_entropy",
    name="nats by default",
    why="torch's losses are in nats; here the default is base 2.",
)
def cross_entropy_nats_by_default(m: Array, p: Array, base: float = math.e) -> Any:
    return right.cross_entropy(m, p, base)


@misconception(
    of="perplexity.cross_entropy",
    name="multiplied by log base in place of divided",
    why="log_b x = ln x / ln b: the base's logarithm is a divisor.",
)
def cross_entropy_times_base(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(m, p, math.e) * np.log(base)


@misconception(
    of="perplexity.cross_entropy",
    name="averaged over the outcomes",
    why="np.mean divides by the number of outcomes; m holds the weights already.",
)
def cross_entropy_mean(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(m, p, base) / len(m)


@misconception(
    of="perplexity.cross_entropy",
    name="log of a sum in place of a sum of logs",
    why="-log(sum m p) is the same only if m is a single outcome; otherwise the logarithm belongs inside the sum.",
)
def cross_entropy_log_of_sum(m: Array, p: Array, base: float = 2.0) -> Any:
    return -np.log((m * p).sum()) / np.log(base)


@misconception(
    of="perplexity.cross_entropy",
    name="m taken for one-hot",
    why="Only the likeliest outcome of m counts, as in a classifier's loss; m may be any distribution.",
)
def cross_entropy_of_one_hot(m: Array, p: Array, base: float = 2.0) -> Any:
    return -np.log(p[m.argmax()]) / np.log(base)


@misconception(
    of="perplexity.cross_entropy",
    name="binary cross-entropy of every outcome",
    why="(1-m) log(1-p) is added: that is for outcomes which do not exclude each other.",
)
def cross_entropy_binary(m: Array, p: Array, base: float = 2.0) -> Any:
    return right.cross_entropy(m, p, base) + right.cross_entropy(1 - m, 1 - p, base)


@misconception(
    of="perplexity.cross_entropy",
    name="modifies its input",
    why="`p[p == 0] = 1e-12` writes into the caller's array, and hides an infinite cross-entropy.",
)
def cross_entropy_in_place(m: Array, p: Array, base: float = 2.0) -> Any:
    p[p == 0] = 1e-12
    return right.cross_entropy(m, p, base)


# entropy_rate


@misconception(
    of="perplexity.entropy_rate",
    name="1/n dropped",
    why="This is the entropy of whole sequences; the rate is per word, one n-th of it.",
)
def rate_of_sequence(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy_rate(p, 1, base)


@misconception(
    of="perplexity.entropy_rate",
    name="divided by the number of sequences",
    why="The mean over all sequences is taken; the rate divides by the length n of one.",
)
def rate_over_sequences(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy_rate(p, p.size, base)


@misconception(
    of="perplexity.entropy_rate",
    name="divided by the size of the vocabulary",
    why="The entropy is divided by the length of the first axis; the rate divides by n.",
)
def rate_over_vocabulary(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy_rate(p, p.shape[0], base)


@misconception(
    of="perplexity.entropy_rate",
    name="divided by the number of axes",
    why="p.ndim is n only if every position has an axis; sequences may be listed along one.",
)
def rate_over_axes(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy_rate(p, p.ndim, base)


@misconception(
    of="perplexity.entropy_rate",
    name="multiplied by n",
    why="n is a divisor: a sequence has n times the entropy of a word, not a word of a sequence.",
)
def rate_times_n(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy_rate(p, 1, base) * n


@misconception(
    of="perplexity.entropy_rate",
    name="divided by n inside the logarithm",
    why="The probabilities are divided by n, not the entropy.",
)
def rate_of_divided(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy(np.ravel(p) / n, base)


@misconception(
    of="perplexity.entropy_rate",
    name="entropy of the first word",
    why="The joint distribution is summed to that of the first word; the rate needs the whole sequences.",
)
def rate_of_first(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy(p.reshape(p.shape[0], -1).sum(axis=1), base)


@misconception(
    of="perplexity.entropy_rate",
    name="entropy of the last word given the others",
    why="H(w_1 … w_n) - H(w_1 … w_{n-1}) tends to the same limit for long sequences; the sheet's rate is H/n.",
)
def rate_conditional(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy_rate(p, 1, base) - right.entropy_rate(p.sum(axis=-1, keepdims=True), 1, base)


@misconception(
    of="perplexity.entropy_rate",
    name="sum over the last axis only",
    why="One number per row comes back; all sequences belong to one sum, whatever the shape of p.",
)
def rate_of_rows(p: Array, n: int, base: float = 2.0) -> Any:
    return -(p * np.log(p)).sum(axis=-1) / np.log(base) / n


@misconception(
    of="perplexity.entropy_rate",
    name="sign lost",
    why="Logarithms of probabilities are negative: without the minus the rate is, too.",
)
def rate_negative(p: Array, n: int, base: float = 2.0) -> Any:
    return -right.entropy_rate(p, n, base)


@misconception(
    of="perplexity.entropy_rate",
    name="0·log 0 is nan",
    why="log 0 is -inf, and 0 times that is nan; impossible sequences are left out of the sum.",
)
def rate_of_zero(p: Array, n: int, base: float = 2.0) -> Any:
    return -(p * np.log(p)).sum() / np.log(base) / n


@misconception(
    of="perplexity.entropy_rate",
    name="base ignored: always bits",
    why="The logarithm has base 2 whatever `base` says.",
)
def rate_always_bits(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy_rate(p, n)


@misconception(
    of="perplexity.entropy_rate",
    name="base ignored: always nats",
    why="The natural logarithm is used whatever `base` says; the default is base 2.",
)
def rate_always_nats(p: Array, n: int, base: float = 2.0) -> Any:
    return right.entropy_rate(p, n, math.e)


@misconception(
    of="perplexity.entropy_rate",
    name="nats by default",
    why="The base is used where it is given, but the default is e; it should be 2.",
)
def rate_nats_by_default(p: Array, n: int, base: float = math.e) -> Any:
    return right.entropy_rate(p, n, base)


@misconception(
    of="perplexity.entropy_rate",
    name="modifies its input",
    why="`p[p == 0] = 1e-12` writes into the caller's array; select the positive entries in its place.",
)
def rate_in_place(p: Array, n: int, base: float = 2.0) -> Any:
    p[p == 0] = 1e-12
    return right.entropy_rate(p, n, base)


# perplexity


@misconception(
    of="perplexity.perplexity",
    name="base of the power is always 2",
    why="2^(-mean) needs logarithms to base 2; the power has to be in the base of the logarithms, here e by default.",
)
def perplexity_of_two(log_probs: Array, base: float = math.e) -> Any:
    return right.perplexity(log_probs, 2.0)


@misconception(
    of="perplexity.perplexity",
    name="base of the power is always e",
    why="exp(-mean) needs natural logarithms; with another `base` that base is raised.",
)
def perplexity_of_e(log_probs: Array, base: float = math.e) -> Any:
    return right.perplexity(log_probs)


@misconception(
    of="perplexity.perplexity",
    name="base 2 by default",
    why="The sheet S0 writes 2^H, but in code the logarithms are natural, and so is the default here: e.",
)
def perplexity_two_by_default(log_probs: Array, base: float = 2.0) -> Any:
    return right.perplexity(log_probs, base)


@misconception(
    of="perplexity.perplexity",
    name="1/N dropped",
    why="The logarithms are added up and not averaged, so a longer text has a larger perplexity.",
)
def perplexity_of_sum(log_probs: Array, base: float = math.e) -> Any:
    return base ** -log_probs.sum()


@misconception(
    of="perplexity.perplexity",
    name="sign of the exponent",
    why="Log-probabilities are negative; without the minus this is the mean probability, at most 1.",
)
def perplexity_inverse(log_probs: Array, base: float = math.e) -> Any:
    return base ** log_probs.mean()


@misconception(
    of="perplexity.perplexity",
    name="cross-entropy in place of the perplexity",
    why="The mean of the negative logarithms is the loss; the base has to be raised to it.",
)
def perplexity_loss(log_probs: Array, base: float = math.e) -> Any:
    return -log_probs.mean()


@misconception(
    of="perplexity.perplexity",
    name="mean of the tokens' perplexities",
    why="1/p is averaged over the tokens; the logarithms are to be averaged before the power is taken.",
)
def perplexity_arithmetic(log_probs: Array, base: float = math.e) -> Any:
    return (base**-log_probs).mean()


@misconception(
    of="perplexity.perplexity",
    name="inverse of the mean probability",
    why="The probabilities are averaged; perplexity averages their logarithms.",
)
def perplexity_harmonic(log_probs: Array, base: float = math.e) -> Any:
    return 1 / (base**log_probs).mean()


@misconception(
    of="perplexity.perplexity",
    name="logarithm taken again",
    why="The arguments are logarithms already.",
)
def perplexity_log_of_log(log_probs: Array, base: float = math.e) -> Any:
    return base ** (-np.log(log_probs).mean())


@misconception(
    of="perplexity.perplexity",
    name="divided by ln(base) in place of multiplied",
    why="base^x is exp(x ln(base)); here the exponent is divided by ln(base), which fits base e only.",
)
def perplexity_divided_by_base(log_probs: Array, base: float = math.e) -> Any:
    return np.exp(-log_probs.mean() / np.log(base))


@misconception(
    of="perplexity.perplexity",
    name="divided by N - 1",
    why="All N log-probabilities were given and all count; N - 1 is for tokens that were predicted from a predecessor.",
)
def perplexity_of_fewer(log_probs: Array, base: float = math.e) -> Any:
    return base ** (-log_probs.sum() / (len(log_probs) - 1))


@misconception(
    of="perplexity.perplexity",
    name="divided by N + 1",
    why="An end of text is counted that was not given.",
)
def perplexity_of_more(log_probs: Array, base: float = math.e) -> Any:
    return base ** (-log_probs.sum() / (len(log_probs) + 1))


@misconception(
    of="perplexity.perplexity",
    name="first token skipped",
    why="Every log-probability given counts, the first one too.",
)
def perplexity_without_first(log_probs: Array, base: float = math.e) -> Any:
    return base ** (-log_probs[1:].sum() / (len(log_probs) - 1))


@misconception(
    of="perplexity.perplexity",
    name="tokens of probability 1 not counted",
    why="Log-probabilities of 0 are taken for padding and left out of N; a token that was certain counts as well.",
)
def perplexity_without_zeros(log_probs: Array, base: float = math.e) -> Any:
    return base ** (-log_probs.sum() / np.count_nonzero(log_probs))


@misconception(
    of="perplexity.perplexity",
    name="product underflows on long text",
    why="The logarithms are turned back into a probability of the whole text, which is 0 in floating point for a"
    " long one; average them first.",
)
def perplexity_underflows(log_probs: Array, base: float = math.e) -> Any:
    return np.float64(base ** np.float64(log_probs.sum())) ** (-1 / len(log_probs))


@misconception(
    of="perplexity.perplexity",
    name="modifies its input",
    why="`log_probs *= ln(base)` converts the caller's own array to natural logarithms.",
)
def perplexity_in_place(log_probs: Array, base: float = math.e) -> Any:
    log_probs *= math.log(base)
    return np.exp(-log_probs.mean())


# sequence_perplexity


@misconception(
    of="perplexity.sequence_perplexity",
    name="product underflows on long text",
    why="The product of a long text's probabilities is 0 in floating point; add logarithms in its place.",
)
def sequence_underflows(probs: Array) -> Any:
    return np.prod(np.asarray(probs, dtype=np.float64)) ** (-1 / len(probs))


@misconception(
    of="perplexity.sequence_perplexity",
    name="sign of the exponent",
    why="p(W)^(1/N) is what the summary of sheet S0 prints; the minus sign is missing there: it is p(W)^(-1/N).",
)
def sequence_inverse(probs: Array) -> Any:
    return 1 / right.sequence_perplexity(probs)


@misconception(
    of="perplexity.sequence_perplexity",
    name="1/N dropped",
    why="1/p(W) grows with every token; perplexity is per token, so the N-th root is taken.",
)
def sequence_without_root(probs: Array) -> Any:
    return 1 / np.prod(probs)


@misconception(
    of="perplexity.sequence_perplexity",
    name="base of the power is 2, logarithm natural",
    why="2^(-mean ln p) mixes two bases; logarithm and power must have the same.",
)
def sequence_two_of_natural(probs: Array) -> Any:
    return 2 ** -np.log(probs).mean()


@misconception(
    of="perplexity.sequence_perplexity",
    name="base of the power is e, logarithm to base 2",
    why="exp(-mean log2 p) mixes two bases; logarithm and power must have the same.",
)
def sequence_e_of_bits(probs: Array) -> Any:
    return np.exp(-np.log2(probs).mean())


@misconception(
    of="perplexity.sequence_perplexity",
    name="cross-entropy in place of the perplexity",
    why="-(1/N) log p(W) in nats is the loss; the perplexity is e to that power.",
)
def sequence_loss(probs: Array) -> Any:
    return -np.log(probs).mean()


@misconception(
    of="perplexity.sequence_perplexity",
    name="cross-entropy in bits in place of the perplexity",
    why="-(1/N) log2 p(W) is the cross-entropy; the perplexity is 2 to that power.",
)
def sequence_loss_in_bits(probs: Array) -> Any:
    return -np.log2(probs).mean()


@misconception(
    of="perplexity.sequence_perplexity",
    name="mean of the tokens' perplexities",
    why="1/p is averaged over the tokens; perplexity is their geometric mean.",
)
def sequence_arithmetic(probs: Array) -> Any:
    return (1 / probs).mean()


@misconception(
    of="perplexity.sequence_perplexity",
    name="inverse of the mean probability",
    why="The probabilities are averaged; perplexity is the inverse of their geometric mean.",
)
def sequence_harmonic(probs: Array) -> Any:
    return 1 / probs.mean()


@misconception(
    of="perplexity.sequence_perplexity",
    name="entropy of the probabilities in the exponent",
    why="2^(-sum p log2 p) is the perplexity of a distribution; the tokens' probabilities are none: each counts 1/N.",
)
def sequence_entropy(probs: Array) -> Any:
    return 2 ** -(probs * np.log2(probs)).sum()


@misconception(
    of="perplexity.sequence_perplexity",
    name="divided by N - 1",
    why="All N probabilities were given and all count; the root is the N-th.",
)
def sequence_of_fewer(probs: Array) -> Any:
    return np.exp(-np.log(probs).sum() / (len(probs) - 1))


@misconception(
    of="perplexity.sequence_perplexity",
    name="divided by N + 1",
    why="An end of text is counted that was not given; the root is the N-th.",
)
def sequence_of_more(probs: Array) -> Any:
    return np.exp(-np.log(probs).sum() / (len(probs) + 1))


@misconception(
    of="perplexity.sequence_perplexity",
    name="first token skipped",
    why="Every probability given counts, the first one too.",
)
def sequence_without_first(probs: Array) -> Any:
    return np.exp(-np.log(probs[1:]).sum() / (len(probs) - 1))


@misconception(
    of="perplexity.sequence_perplexity",
    name="square root in place of the N-th root",
    why="The root is the N-th, for N tokens; the square root fits texts of two.",
)
def sequence_square_root(probs: Array) -> Any:
    return np.exp(-np.log(probs).sum() / 2)


@misconception(
    of="perplexity.sequence_perplexity",
    name="modifies its input",
    why="`np.log(probs, out=probs)` writes the logarithms into the caller's array.",
)
def sequence_in_place(probs: Array) -> Any:
    np.log(probs, out=probs)
    return np.exp(-probs.mean())
