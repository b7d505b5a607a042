"""What every right perplexity.py does.

Probabilities are whole counts over a power of two, so they sum to exactly 1 and a gap is
never the input's fault. Zeros are left to checks of their own: the formula without the
convention 0 log 0 = 0 is half right, and should fail there only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from checks import distributions, inputs
from checks.check import check, given
from checks.expect import call, expect, expect_close, expect_finite
from checks.inputs import Array, Draw
from checks.standard import agreement, unmodified

SLACK = 1e-4
quietly = np.errstate(all="ignore")  # arithmetic on what a student returned: inf - inf is no error of ours
BASES = (2.0, math.e, 10.0, 3.0)
LONG = 10**6  # tokens: the product of their probabilities is smaller than any floating number

bases = st.sampled_from(BASES)
widths = st.sampled_from([1, 2, 3, 4, 5, 7])
several = st.sampled_from([2, 3, 4, 5, 7])


def with_maybe_a_base(draw: Draw, *arguments: Any) -> tuple[Any, ...]:
    """Leave the base out now and then: the default is part of the contract."""
    base = draw(st.sampled_from([None, *BASES]))
    return arguments if base is None else (*arguments, base)


@st.composite
def zeros_among(draw: Draw, *vectors: Array) -> tuple[Array, ...]:
    """Put one to three zeros at the same drawn places of every vector."""
    places = draw(st.lists(st.integers(0, len(vectors[0])), min_size=1, max_size=3))
    return tuple(np.insert(vector, places, 0.0) for vector in vectors)


# ---------------------------------------------------------------------------- entropy


@st.composite
def entropy_arguments(draw: Draw) -> tuple[Any, ...]:
    return with_maybe_a_base(draw, draw(distributions.positive(draw(widths))))


@st.composite
def with_zeros(draw: Draw) -> tuple[Any, ...]:
    """Draw a distribution with zeros and the same one without them."""
    p = draw(distributions.positive(draw(widths)))
    return (p, *draw(zeros_among(p)))


@st.composite
def distribution_and_order(draw: Draw) -> tuple[Array, Array]:
    size = draw(several)
    return draw(distributions.positive(size)), draw(inputs.orders(min(size, 5)))


@st.composite
def two_independent(draw: Draw) -> tuple[Array, Array]:
    first, second = draw(inputs.sizes(2))
    return draw(distributions.positive(first)), draw(distributions.positive(second))


@st.composite
def distribution_and_base(draw: Draw) -> tuple[Array, float]:
    return draw(distributions.positive(draw(several))), draw(bases)


entropy_agrees = agreement(
    of="perplexity.entropy",
    arguments=entropy_arguments(),
    claim="H(p) = -sum_i p_i log p_i, in base 2 unless another base is given.",
    hint="Each outcome's surprise -log p_i is weighed by its probability. Which base does your logarithm have?",
)

entropy_leaves_arguments_alone = unmodified(of="perplexity.entropy", arguments=with_zeros().map(lambda case: case[1:]))


@check(
    of="perplexity.entropy",
    claim="A fair die with n faces has log2 n bits of entropy: 2.585 for six faces.",
    hint="All n terms are equal here. What is one of them?",
)
@given(faces=st.integers(1, 64))
def fair_die(entropy: Any, faces: int) -> None:
    p = np.full(faces, 1 / faces)
    expect_close(call("entropy", p), got=entropy(p), want=math.log2(faces), scale=6.0)


@check(
    of="perplexity.entropy",
    claim="The base is only a unit: entropy(p, b) · log2 b is the entropy in bits.",
    hint="log_b x = ln x / ln b. Is `base` used, is it a divisor, and is the default 2?",
)
@given(case=distribution_and_base())
@quietly
def base_is_a_unit(entropy: Any, case: tuple[Array, float]) -> None:
    p, base = case
    about = call("entropy", p, base, then=f" * np.log2({base})")
    expect_close(about, got=entropy(p, base) * math.log2(base), want=entropy(p), scale=4.0, same_as=call("entropy", p))


@check(
    of="perplexity.entropy",
    claim="The order of the outcomes does not matter.",
    hint="Entropy looks at the probabilities as a set: every outcome is treated alike.",
)
@given(case=distribution_and_order())
def outcomes_have_no_order(entropy: Any, case: tuple[Array, Array]) -> None:
    p, order = case
    moved = np.concatenate([p[order], p[len(order) :]])
    expect_close(call("entropy", moved), got=entropy(moved), want=entropy(p), scale=4.0, same_as=call("entropy", p))


@check(
    of="perplexity.entropy",
    claim="Entropies of independent parts add: H of all products p_i q_j is H(p) + H(q).",
    hint="The logarithm of a product is a sum. A mean over the outcomes, or a sum taken before the logarithm, breaks"
    " this.",
)
@given(case=two_independent())
@quietly
def independent_parts_add(entropy: Any, case: tuple[Array, Array]) -> None:
    p, q = case
    joint = np.outer(p, q).ravel()
    about = call("entropy", joint)
    expect_close(about, got=entropy(joint), want=entropy(p) + entropy(q), scale=8.0,
                 sentence="The entropy of the pair is not the sum of the two entropies.")  # fmt: skip


@check(
    of="perplexity.entropy",
    claim="With n possible outcomes the entropy lies between 0 and log2 n.",
    hint="Logarithms of probabilities are negative, so a minus sign is needed; and the uniform distribution has the"
    " most.",
)
@given(case=distribution_and_base())
def entropy_is_bounded(entropy: Any, case: tuple[Array, float]) -> None:
    p, _ = case
    value = entropy(p)
    inside = bool(value >= -SLACK) and bool(value <= math.log2(len(p)) + SLACK)
    expect(call("entropy", p), holds=inside, gave=value, expected=f"a number from 0 to log2 {len(p)}")


@check(
    of="perplexity.entropy",
    claim="Impossible outcomes add nothing: 0 log 0 counts as 0.",
    hint="np.log(0) is -inf, and 0 · -inf is nan. Leave the zeros out of the sum.",
)
@given(case=with_zeros())
def impossible_outcomes_add_nothing(entropy: Any, case: tuple[Array, Array]) -> None:
    p, padded = case
    expect_close(call("entropy", padded), got=entropy(padded), want=entropy(p), scale=4.0, same_as=call("entropy", p))


@check(
    of="perplexity.entropy",
    claim="An outcome that is all but certain leaves almost no entropy, however small the other probability is.",
    hint="p log p tends to 0 with p. If you add a small number inside the logarithm, is it small enough?",
    examples=20,
)
@given(power=st.integers(20, 120))
def survives_tiny_probabilities(entropy: Any, power: int) -> None:
    p = np.array([1 - 2.0**-power, 2.0**-power])
    value = entropy(p)
    expect_finite(call("entropy", p), got=value)
    expect_close(call("entropy", p), got=value, want=power * 2.0**-power, scale=4.0)


# ---------------------------------------------------------------------- cross-entropy


@st.composite
def truth_and_model(draw: Draw) -> tuple[Array, Array]:
    """Draw m, which may hold zeros, and p, which holds none."""
    size = draw(widths)
    m = draw(st.sampled_from([distributions.positive, distributions.any_distribution, distributions.one_hot]))(size)
    return draw(m), draw(distributions.positive(size))


@st.composite
def cross_entropy_arguments(draw: Draw) -> tuple[Any, ...]:
    return with_maybe_a_base(draw, *draw(truth_and_model()))


@st.composite
def truth_model_and_base(draw: Draw) -> tuple[Array, Array, float]:
    return (*draw(truth_and_model()), draw(bases))


@st.composite
def two_truths_and_model(draw: Draw) -> tuple[Array, Array, Array]:
    size = draw(several)
    return (
        draw(distributions.any_distribution(size)),
        draw(distributions.any_distribution(size)),
        draw(distributions.positive(size)),
    )


@st.composite
def outcome_and_model(draw: Draw) -> tuple[Array, Array]:
    size = draw(several)
    return draw(distributions.one_hot(size)), draw(distributions.positive(size))


@st.composite
def truth_and_model_with_zeros(draw: Draw) -> tuple[Array, ...]:
    """Draw m and p, and the same two with outcomes that neither thinks possible."""
    pair = draw(truth_and_model())
    return (*pair, *draw(zeros_among(*pair)))


@st.composite
def model_that_excludes_the_truth(draw: Draw) -> tuple[Array, Array]:
    """Draw p with a zero where m has none."""
    size = draw(several)
    m, p = draw(distributions.positive(size)), draw(distributions.positive(size - 1))
    return m, np.insert(p, draw(st.integers(0, size - 1)), 0.0)


cross_entropy_agrees = agreement(
    of="perplexity.cross_entropy",
    arguments=cross_entropy_arguments(),
    claim="H(m, p) = -sum_i m_i log p_i, in base 2 unless another base is given.",
    hint="The expectation is under m, the first argument; the logarithm is of the model p, the second.",
)

cross_entropy_leaves_arguments_alone = unmodified(
    of="perplexity.cross_entropy", arguments=truth_and_model_with_zeros().map(lambda case: case[2:])
)


@check(
    of="perplexity.cross_entropy",
    claim="No model does better than the truth: H(m, p) >= H(m, m) (Gibbs' inequality).",
    hint="Is the sign right, is the expectation under m, and is nothing subtracted or divided away?",
)
@given(case=truth_and_model().map(lambda pair: ((pair[0] + pair[1]) / 2, pair[1])))
def no_model_beats_the_truth(cross_entropy: Any, case: tuple[Array, Array]) -> None:
    m, p = case
    value, least = cross_entropy(m, p), cross_entropy(m, m)
    own = call("cross_entropy", m, m)
    expect(call("cross_entropy", m, p), holds=bool(value >= least - SLACK) and bool(least >= -SLACK), gave=value,
           expected=f"at least {float(least):.6g}, as {own} gave, and not negative")  # fmt: skip


@check(
    of="perplexity.cross_entropy",
    claim="Under a uniform model every truth costs log2 n bits.",
    hint="log p_i is the same for every i, and the m_i sum to 1. With the arguments swapped this does not hold.",
)
@given(case=truth_and_model())
def uniform_model_costs_log_of_its_size(cross_entropy: Any, case: tuple[Array, Array]) -> None:
    m, _ = case
    p = np.full(len(m), 1 / len(m))
    expect_close(call("cross_entropy", m, p), got=cross_entropy(m, p), want=math.log2(len(m)), scale=4.0)


@check(
    of="perplexity.cross_entropy",
    claim="When the truth is a single outcome, the cross-entropy is that outcome's surprise, -log2 of what the model"
    " gives it.",
    hint="This is the loss of a language model: all of m's weight is on the next word.",
)
@given(case=outcome_and_model())
def certain_truth_costs_its_surprise(cross_entropy: Any, case: tuple[Array, Array]) -> None:
    m, p = case
    expect_close(call("cross_entropy", m, p), got=cross_entropy(m, p), want=-math.log2(p[m.argmax()]), scale=8.0)


@check(
    of="perplexity.cross_entropy",
    claim="It is linear in m: the cross-entropy of an average of two truths is the average of their cross-entropies.",
    hint="m appears once, as a weight. A term in m log m, or a logarithm of a sum, is not linear.",
)
@given(case=two_truths_and_model())
@quietly
def linear_in_the_truth(cross_entropy: Any, case: tuple[Array, Array, Array]) -> None:
    first, second, p = case
    middle = (first + second) / 2
    average = (cross_entropy(first, p) + cross_entropy(second, p)) / 2
    expect_close(call("cross_entropy", middle, p), got=cross_entropy(middle, p), want=average, scale=8.0,
                 sentence="It is not the average of the two cross-entropies.")  # fmt: skip


@check(
    of="perplexity.cross_entropy",
    claim="The base is only a unit: cross_entropy(m, p, b) · log2 b is the cross-entropy in bits.",
    hint="log_b x = ln x / ln b. Is `base` used, is it a divisor, and is the default 2?",
)
@given(case=truth_model_and_base())
@quietly
def cross_entropy_base_is_a_unit(cross_entropy: Any, case: tuple[Array, Array, float]) -> None:
    m, p, base = case
    about = call("cross_entropy", m, p, base, then=f" * np.log2({base})")
    got = cross_entropy(m, p, base) * math.log2(base)
    expect_close(about, got=got, want=cross_entropy(m, p), scale=8.0, same_as=call("cross_entropy", m, p))


@check(
    of="perplexity.cross_entropy",
    claim="An outcome that neither m nor p thinks possible adds nothing.",
    hint="np.log(0) is -inf, and 0 · -inf is nan. Where m is 0 the term is 0, whatever p is.",
)
@given(case=truth_and_model_with_zeros())
def outcomes_without_weight_add_nothing(cross_entropy: Any, case: tuple[Array, ...]) -> None:
    m, p, *padded = case
    about = call("cross_entropy", *padded)
    expect_close(
        about, got=cross_entropy(*padded), want=cross_entropy(m, p), scale=8.0, same_as=call("cross_entropy", m, p)
    )


@check(
    of="perplexity.cross_entropy",
    claim="A model that gives no probability to something that happens has infinite cross-entropy.",
    hint="-log 0 = +inf is the answer. A small number added inside the logarithm, or the zero left out, hides it.",
)
@given(case=model_that_excludes_the_truth())
def excluded_outcome_costs_infinity(cross_entropy: Any, case: tuple[Array, Array]) -> None:
    expect_close(call("cross_entropy", *case), got=cross_entropy(*case), want=np.inf,
                 sentence="It is not infinite, though the model excludes an outcome that happens.")  # fmt: skip


@check(
    of="perplexity.cross_entropy",
    claim="Small probabilities of the model are not rounded up: a chance of 2^-k costs k bits.",
    hint="Clipping p, or adding a small number to it, caps what a bad guess can cost.",
    examples=20,
)
@given(power=st.integers(20, 120))
def survives_small_model_probabilities(cross_entropy: Any, power: int) -> None:
    m, p = np.array([0.25, 0.75]), np.array([2.0**-power, 1 - 2.0**-power])
    expect_close(call("cross_entropy", m, p), got=cross_entropy(m, p), want=power / 4, scale=power / 4)


# ----------------------------------------------------------------------- entropy rate


@st.composite
def languages(draw: Draw) -> tuple[Array, int]:
    """Draw a joint distribution over sequences of length n: one axis per position, or one axis for all sequences."""
    n = draw(st.sampled_from([1, 2, 3]))
    shape = draw(inputs.sizes(n, among=(2, 3, 4))) if draw(st.booleans()) else (draw(several),)
    counts = draw(distributions.positive(math.prod(shape)))
    return counts.reshape(shape), n


@st.composite
def entropy_rate_arguments(draw: Draw) -> tuple[Any, ...]:
    return with_maybe_a_base(draw, *draw(languages()))


@st.composite
def language_and_base(draw: Draw) -> tuple[Array, int, float]:
    return (*draw(languages()), draw(bases))


@st.composite
def language_and_length(draw: Draw) -> tuple[Array, int]:
    return draw(distributions.positive(draw(several))), draw(st.sampled_from([2, 3, 4, 5]))


@st.composite
def language_with_zeros(draw: Draw) -> tuple[Array, Array, int]:
    """Draw a distribution over listed sequences, with impossible ones and without."""
    p, n = draw(language_and_length())
    return p, *draw(zeros_among(p)), n


entropy_rate_agrees = agreement(
    of="perplexity.entropy_rate",
    arguments=entropy_rate_arguments(),
    claim="The entropy rate is -(1/n) sum p(w_1 … w_n) log p(w_1 … w_n), over all sequences, whatever the shape of p.",
    hint="p is one joint distribution: sum over every entry of the array, then divide by the length n of a sequence.",
)

entropy_rate_leaves_arguments_alone = unmodified(
    of="perplexity.entropy_rate", arguments=language_with_zeros().map(lambda case: case[1:])
)


@check(
    of="perplexity.entropy_rate",
    claim="When the n words are drawn independently from p, the entropy rate is the entropy of one word.",
    hint="The entropy of the sequence is n times that of a word. What is it divided by?",
)
@given(case=language_and_length())
def independent_words_have_the_rate_of_one(entropy_rate: Any, case: tuple[Array, int]) -> None:
    p, n = case
    n = min(n, 3)
    joint = p
    for _ in range(n - 1):
        joint = np.multiply.outer(joint, p)
    about = call("entropy_rate", joint, n)
    want = entropy_rate(p, 1)
    expect_close(about, got=entropy_rate(joint, n), want=want, scale=8.0, same_as=call("entropy_rate", p, 1))


@check(
    of="perplexity.entropy_rate",
    claim="Only the probabilities count: flattening the array of sequences changes nothing.",
    hint="Sum over all axes. The shape says nothing about n, which is an argument of its own.",
)
@given(case=languages())
def shape_does_not_matter(entropy_rate: Any, case: tuple[Array, int]) -> None:
    p, n = case
    flat = p.ravel()
    about = call("entropy_rate", p, n)
    want = entropy_rate(flat, n)
    expect_close(about, got=entropy_rate(p, n), want=want, scale=4.0, same_as=call("entropy_rate", flat, n))


@check(
    of="perplexity.entropy_rate",
    claim="If all V^n sequences of n words are equally likely, each word carries log2 V bits.",
    hint="The joint entropy is log2 V^n = n log2 V: is it divided by n, and by n only?",
)
@given(vocabulary=st.integers(2, 6), n=st.integers(1, 4))
def uniform_language(entropy_rate: Any, vocabulary: int, n: int) -> None:
    p = np.full((vocabulary,) * n, 1.0 / vocabulary**n)
    expect_close(call("entropy_rate", p, n), got=entropy_rate(p, n), want=math.log2(vocabulary), scale=8.0)


@check(
    of="perplexity.entropy_rate",
    claim="The same distribution over sequences n times as long has one n-th of the rate.",
    hint="n enters as a divisor, and nowhere else.",
)
@given(case=language_and_length())
@quietly
def rate_is_per_word(entropy_rate: Any, case: tuple[Array, int]) -> None:
    p, n = case
    about = call("entropy_rate", p, n, then=f" * {n}")
    expect_close(
        about, got=entropy_rate(p, n) * n, want=entropy_rate(p, 1), scale=8.0, same_as=call("entropy_rate", p, 1)
    )


@check(
    of="perplexity.entropy_rate",
    claim="The base is only a unit: entropy_rate(p, n, b) · log2 b is the rate in bits.",
    hint="log_b x = ln x / ln b. Is `base` used, is it a divisor, and is the default 2?",
)
@given(case=language_and_base())
@quietly
def entropy_rate_base_is_a_unit(entropy_rate: Any, case: tuple[Array, int, float]) -> None:
    p, n, base = case
    about = call("entropy_rate", p, n, base, then=f" * np.log2({base})")
    got = entropy_rate(p, n, base) * math.log2(base)
    expect_close(about, got=got, want=entropy_rate(p, n), scale=4.0, same_as=call("entropy_rate", p, n))


@check(
    of="perplexity.entropy_rate",
    claim="Impossible sequences add nothing: 0 log 0 counts as 0.",
    hint="np.log(0) is -inf, and 0 · -inf is nan. Leave the zeros out of the sum.",
)
@given(case=language_with_zeros())
def impossible_sequences_add_nothing(entropy_rate: Any, case: tuple[Array, Array, int]) -> None:
    p, padded, n = case
    about = call("entropy_rate", padded, n)
    want = entropy_rate(p, n)
    expect_close(about, got=entropy_rate(padded, n), want=want, scale=4.0, same_as=call("entropy_rate", p, n))


@check(
    of="perplexity.entropy_rate",
    claim="A rate can be taken over very many sequences: 2^k equally likely ones of length n carry k/n bits per word.",
    hint="Nothing needs a loop over positions: one sum over all entries.",
    examples=3,
)
@given(power=st.sampled_from([12, 14, 16]))
def survives_many_sequences(entropy_rate: Any, power: int) -> None:
    p = np.full(2**power, 2.0**-power)
    expect_close(call("entropy_rate", p, 4), got=entropy_rate(p, 4), want=power / 4, scale=8.0)


# ------------------------------------------------------------------------- perplexity


@st.composite
def log_probabilities(draw: Draw) -> Array:
    """Draw log-probabilities of a text of two to six tokens, none positive, not all equal."""
    length = draw(st.sampled_from([2, 3, 4, 6]))
    drawn: Array = -np.abs(draw(inputs.grid((length,))))
    drawn[-1] = -0.5 if (drawn == drawn[0]).all() and drawn[0] != -0.5 else drawn[-1]
    return drawn


@st.composite
def perplexity_arguments(draw: Draw) -> tuple[Any, ...]:
    length = draw(st.sampled_from([1, 2, 3, 5]))
    return with_maybe_a_base(draw, -np.abs(draw(inputs.grid((length,), limit=4))))


@st.composite
def log_probabilities_and_base(draw: Draw) -> tuple[Array, float]:
    return draw(log_probabilities()), draw(bases)


@st.composite
def two_texts(draw: Draw) -> tuple[Array, Array]:
    """Draw the log-probabilities of two texts of the same length."""
    first = draw(log_probabilities())
    return first, -np.abs(draw(inputs.grid(first.shape)))


perplexity_agrees = agreement(
    of="perplexity.perplexity",
    arguments=perplexity_arguments(),
    claim="perplexity = base^(-(1/N) sum_t log_probs_t), the power taken in the base of the logarithms (e by default).",
    hint="Average, negate, raise the base to it. Is it the same base, and is it N tokens you divide by?",
)

perplexity_leaves_arguments_alone = unmodified(of="perplexity.perplexity", arguments=perplexity_arguments())


@check(
    of="perplexity.perplexity",
    claim="A model that spreads its guess evenly over V words has perplexity V, however long the text is.",
    hint="Each token's log-probability is -log V. What is their mean, and what undoes the logarithm?",
)
@given(vocabulary=st.integers(1, 40), length=st.sampled_from([1, 2, 3, 5]), base=bases)
def uniform_guess_has_perplexity_of_its_size(perplexity: Any, vocabulary: int, length: int, base: float) -> None:
    log_probs = np.full(length, -math.log(vocabulary) / math.log(base))
    about = call("perplexity", log_probs, base)
    expect_close(about, got=perplexity(log_probs, base), want=float(vocabulary), scale=2.0 * vocabulary)


@check(
    of="perplexity.perplexity",
    claim="Perplexity does not depend on the base: with the logarithms of the same probabilities every base gives the"
    " same.",
    hint="2^(log2 x) = e^(ln x). Raise the base that the logarithms were taken in; the default is e.",
)
@given(case=log_probabilities_and_base())
def base_invariance(perplexity: Any, case: tuple[Array, float]) -> None:
    natural, base = case
    other = natural / math.log(base)
    about = call("perplexity", other, base)
    expect_close(
        about, got=perplexity(other, base), want=perplexity(natural), scale=8.0, same_as=call("perplexity", natural)
    )


@check(
    of="perplexity.perplexity",
    claim="Reading the same text twice leaves its perplexity unchanged: it is a measure per token.",
    hint="Divide the sum by the number of tokens you were given.",
)
@given(log_probs=log_probabilities())
def same_text_twice(perplexity: Any, log_probs: Array) -> None:
    twice = np.concatenate([log_probs, log_probs])
    expect_close(
        call("perplexity", twice), got=perplexity(twice), want=perplexity(log_probs), scale=8.0,
        same_as=call("perplexity", log_probs),
    )  # fmt: skip


@check(
    of="perplexity.perplexity",
    claim="Perplexity lies between 1/(probability of the likeliest token) and 1/(probability of the least likely), so"
    " never below 1.",
    hint="Log-probabilities are negative: is there a minus sign in your exponent?",
)
@given(log_probs=log_probabilities())
def between_best_and_worst_token(perplexity: Any, log_probs: Array) -> None:
    value = perplexity(log_probs)
    least, most = math.exp(-log_probs.max()), math.exp(-log_probs.min())
    inside = bool(value >= least - SLACK) and bool(value <= most + SLACK)
    expect(call("perplexity", log_probs), holds=inside, gave=value, expected=f"from {least:.6g} to {most:.6g}")


@check(
    of="perplexity.perplexity",
    claim="For two texts of the same length, the square of their joint perplexity is the product of the two.",
    hint="Perplexity is a geometric mean: average the logarithms, not the probabilities or their inverses.",
)
@given(case=two_texts())
@quietly
def texts_multiply(perplexity: Any, case: tuple[Array, Array]) -> None:
    first, second = case
    both = np.concatenate([first, second])
    expect_close(
        call("perplexity", both, then=" ** 2"), got=perplexity(both) ** 2, want=perplexity(first) * perplexity(second),
        scale=64.0, sentence="It is not the product of the perplexities of the two texts.",
    )  # fmt: skip


@check(
    of="perplexity.perplexity",
    claim="A text of a million tokens has a finite perplexity.",
    hint="Take the mean of the logarithms first. The sum of a million of them is far outside the range of exp.",
    examples=2,
)
@given(log_prob=st.sampled_from([-1.0, -3.0]))
def survives_a_long_text(perplexity: Any, log_prob: float) -> None:
    log_probs = np.full(LONG, log_prob)
    expect_close(call("perplexity", log_probs), got=perplexity(log_probs), want=math.exp(-log_prob), scale=64.0)


# -------------------------------------------------------------- perplexity of a sequence


def chances(length: int) -> st.SearchStrategy[Array]:
    """Draw probabilities from 1/8 to 1: a perplexity below 8 keeps the tolerance of a law small."""
    return inputs.grid((length,), limit=1).map(lambda drawn: 1 - np.abs(drawn) * (7 / 8))


@st.composite
def probabilities(draw: Draw) -> Array:
    """Draw the probabilities of a text of two to six tokens, not all equal."""
    drawn: Array = draw(chances(draw(st.sampled_from([2, 3, 4, 6]))))
    drawn[-1] = 0.5 if (drawn == drawn[0]).all() and drawn[0] != 0.5 else drawn[-1]
    return drawn


@st.composite
def sequences(draw: Draw) -> tuple[Array]:
    return (draw(chances(draw(st.sampled_from([1, 2, 3, 5])))),)


@st.composite
def two_sequences(draw: Draw) -> tuple[Array, Array]:
    first = draw(probabilities())
    return first, draw(chances(len(first)))


sequence_perplexity_agrees = agreement(
    of="perplexity.sequence_perplexity",
    arguments=sequences(),
    claim="The perplexity of a text W of N tokens is p(W)^(-1/N), where p(W) is the product of its tokens'"
    " probabilities.",
    hint="Check the sign of the exponent and the N in it.",
)

sequence_perplexity_leaves_arguments_alone = unmodified(of="perplexity.sequence_perplexity", arguments=sequences())


@check(
    of="perplexity.sequence_perplexity",
    claim="A text whose every token had the probability 1/V has perplexity V, however long it is.",
    hint="The N-th root undoes the N-th power, and the minus sign turns 1/V into V.",
)
@given(vocabulary=st.integers(1, 40), length=st.sampled_from([1, 2, 3, 5]))
def even_chances(sequence_perplexity: Any, vocabulary: int, length: int) -> None:
    probs = np.full(length, 1 / vocabulary)
    about = call("sequence_perplexity", probs)
    expect_close(about, got=sequence_perplexity(probs), want=float(vocabulary), scale=2.0 * vocabulary)


@check(
    of="perplexity.sequence_perplexity",
    claim="Halving the probability of every token doubles the perplexity.",
    hint="p(W) is divided by 2^N. What does the power -1/N make of that?",
)
@given(probs=probabilities())
@quietly
def half_the_chances_double_it(sequence_perplexity: Any, probs: Array) -> None:
    half = probs / 2
    about = call("sequence_perplexity", half)
    expect_close(about, got=sequence_perplexity(half), want=2 * sequence_perplexity(probs), scale=16.0,
                 sentence=f"It is not twice {call('sequence_perplexity', probs)}.")  # fmt: skip


@check(
    of="perplexity.sequence_perplexity",
    claim="Reading the same text twice leaves its perplexity unchanged: it is a measure per token.",
    hint="The root is the N-th, for the N tokens you were given.",
)
@given(probs=probabilities())
def same_sequence_twice(sequence_perplexity: Any, probs: Array) -> None:
    twice = np.concatenate([probs, probs])
    expect_close(
        call("sequence_perplexity", twice), got=sequence_perplexity(twice), want=sequence_perplexity(probs),
        scale=8.0, same_as=call("sequence_perplexity", probs),
    )  # fmt: skip


@check(
    of="perplexity.sequence_perplexity",
    claim="Perplexity lies between the inverse of the largest and the inverse of the smallest probability, so never"
    " below 1.",
    hint="p(W) is at most 1, so a positive exponent cannot give more than 1. Which sign does yours have?",
)
@given(probs=probabilities())
def between_best_and_worst_chance(sequence_perplexity: Any, probs: Array) -> None:
    value = sequence_perplexity(probs)
    least, most = 1 / probs.max(), 1 / probs.min()
    inside = bool(value >= least * (1 - SLACK)) and bool(value <= most * (1 + SLACK))
    about = call("sequence_perplexity", probs)
    expect(about, holds=inside, gave=value, expected=f"from {least:.6g} to {most:.6g}")


@check(
    of="perplexity.sequence_perplexity",
    claim="For two texts of the same length, the square of their joint perplexity is the product of the two.",
    hint="p(W) of the joint text is the product of both; a mean of probabilities or of their inverses does not"
    " multiply.",
)
@given(case=two_sequences())
@quietly
def sequences_multiply(sequence_perplexity: Any, case: tuple[Array, Array]) -> None:
    first, second = case
    both = np.concatenate([first, second])
    got = sequence_perplexity(both) ** 2
    want = sequence_perplexity(first) * sequence_perplexity(second)
    expect_close(call("sequence_perplexity", both, then=" ** 2"), got=got, want=want, scale=64.0,
                 sentence="It is not the product of the perplexities of the two texts.")  # fmt: skip


@check(
    of="perplexity.sequence_perplexity",
    claim="A text of a million tokens has the perplexity of its tokens: nothing underflows.",
    hint="The product of a million probabilities is below the smallest floating number, and 0^(-1/N) is inf."
    " Logarithms add where probabilities multiply.",
    examples=2,
)
@given(prob=st.sampled_from([0.5, 0.125]))
def survives_a_million_tokens(sequence_perplexity: Any, prob: float) -> None:
    probs = np.full(LONG, prob)
    about = call("sequence_perplexity", probs)
    expect_close(about, got=sequence_perplexity(probs), want=1 / prob, scale=8.0)
