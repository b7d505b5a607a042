"""perplexity.py, right in other ways."""

import math

import numpy as np
import torch

from engine.audit.variant import right


def xlogx(m, p):
    """Return m log p entry by entry, 0 where m is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(m > 0, m * np.log(p), 0.0)


# ---------------------------------------------------------------------------- entropy


@right("perplexity.entropy")
def outcome_by_outcome(p, base=2.0):
    return -math.fsum(share * math.log(share, base) for share in p if share > 0)


@right("perplexity.entropy")
def expected_surprise(p, base=2.0):
    p = p[p > 0]
    return np.average(np.log(1 / p), weights=p) / np.log(base)


@right("perplexity.entropy")
def by_torch(p, base=2.0):
    return torch.special.entr(torch.as_tensor(p)).sum() / math.log(base)


@right("perplexity.entropy")
def less_than_uniform(p, base=2.0):
    divergence = xlogx(p, p * len(p)).sum()
    return (math.log(len(p)) - divergence) / math.log(base)


@right("perplexity.entropy")
def in_bits_first(p, base=2.0):
    bits = -np.sum(p[p != 0] * np.log2(p[p != 0]))
    return bits / np.log2(base)


@right("perplexity.entropy")
def with_a_one_for_a_zero(p, base=2.0):
    return -(p @ np.log(np.where(p == 0, 1.0, p))) / np.log(base)


@right("perplexity.cross_entropy")
def pair_by_pair(m, p, base=2.0):
    total = 0.0
    for truth, model in zip(m, p):
        if truth > 0:
            total += math.inf if model == 0 else -truth * math.log(model) / math.log(base)
    return total


@right("perplexity.cross_entropy")
def entropy_plus_divergence(m, p, base=2.0):
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(m > 0, m * np.log(m / p), 0.0).sum()
    return (divergence - xlogx(m, m).sum()) / np.log(base)


@right("perplexity.cross_entropy")
def cross_by_torch(m, p, base=2.0):
    return -torch.xlogy(torch.as_tensor(m), torch.as_tensor(p)).sum() / math.log(base)


@right("perplexity.cross_entropy")
def masked(m, p, base=2.0):
    seen = m != 0
    with np.errstate(divide="ignore"):
        return -np.dot(m[seen], np.log10(p[seen])) / np.log10(base)


@right("perplexity.cross_entropy")
def where_it_counts(m, p, base=2.0):
    return -xlogx(m, p).sum() / np.log(base)


@right("perplexity.entropy_rate")
def sequence_by_sequence(p, n, base=2.0):
    total = 0.0
    for _, share in np.ndenumerate(p):
        total -= share * math.log(share, base) if share > 0 else 0.0
    return total / n


@right("perplexity.entropy_rate")
def by_the_chain_rule(p, n, base=2.0):
    """H(w1 … wn) = H(w1) + H(w2 | w1) + …, each from the marginals."""
    total, before = 0.0, 0.0
    for k in range(1, p.ndim + 1):
        marginal = p.sum(axis=tuple(range(k, p.ndim)))
        joint = -xlogx(marginal, marginal).sum()
        total, before = total + (joint - before), joint
    return total / n / np.log(base)


@right("perplexity.entropy_rate")
def share_by_share(p, n, base=2.0):
    flat = p.reshape(-1)
    return np.sum(-xlogx(flat, flat) / n) / np.log(base)


@right("perplexity.entropy_rate")
def rate_in_torch(p, n, base=2.0):
    return torch.special.entr(torch.as_tensor(p)).flatten().sum().div(n * math.log(base))


# -------------------------------------------------------------------------- perplexity


@right("perplexity.perplexity")
def through_natural_logarithms(log_probs, base=math.e):
    return np.exp(-np.mean(log_probs) * np.log(base))


@right("perplexity.perplexity")
def geometric_mean(log_probs, base=math.e):
    return np.prod(np.power(base, -np.asarray(log_probs) / len(log_probs)))


@right("perplexity.perplexity")
def exactly_summed(log_probs, base=math.e):
    return math.pow(base, -math.fsum(log_probs) / len(log_probs))


@right("perplexity.perplexity")
def perplexity_in_torch(log_probs, base=math.e):
    return torch.pow(torch.tensor(base, dtype=torch.float64), -torch.as_tensor(log_probs).mean())


@right("perplexity.perplexity")
def one_over_the_mean(log_probs, base=math.e):
    return 1 / base ** (sum(log_probs) / len(log_probs))


@right("perplexity.sequence_perplexity")
def in_bits(probs):
    return 2 ** -np.mean(np.log2(probs))


@right("perplexity.sequence_perplexity")
def root_by_root(probs):
    return np.prod(probs ** (-1 / len(probs)))


@right("perplexity.sequence_perplexity")
def surprise_averaged(probs):
    return math.exp(math.fsum(-math.log(p) for p in probs) / len(probs))


@right("perplexity.sequence_perplexity")
def of_the_reciprocals(probs):
    return torch.as_tensor(probs).reciprocal().log().mean().exp()


@right("perplexity.sequence_perplexity")
def with_the_exponent_kept_apart(probs):
    """Multiply mantissas and add exponents: the product itself would vanish."""
    mantissa, exponent = 1.0, 0
    for p in probs:
        mantissa, more = math.frexp(mantissa * p)
        exponent += more
    return math.exp(-(math.log(mantissa) + exponent * math.log(2)) / len(probs))
