"""What every right language_model.py does.

A trained model is opaque, so what training did shows only in the log-probabilities that
the pair of functions gives. Values are judged in the item of the training function; the
item of the other one holds laws that no training can break: length, locality, signs.

Texts come from chains whose entropy rate H is known (checks/corpora.py). That no model beats
its source is exact, not asymptotic: for a model q chosen before the text was drawn, the
product of q(x_t+1|x_t) / P(x_t+1|x_t) has expectation at most 1, so by Markov's inequality
it exceeds 10^9 with a probability below 10^-9.
"""

from __future__ import annotations

import io
import math
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from checks import corpora
from checks.check import check, given
from checks.corpora import LUCK, Array, Sample, Tokens, Written
from checks.expect import Call, Failure, call, expect, expect_close, expect_finite, expect_unchanged, shown
from checks.inputs import Draw
from checks.standard import unmodified

SMOOTHINGS = (None, None, 1.0, 0.5, 2.0, 0.25, 4.0)  # None: the default


def mean_surprise(log_probs: Array) -> float:
    """Return -mean ln p, the logarithm of the perplexity; whatever a student returned, without a warning."""
    with np.errstate(all="ignore"):
        return float(-np.mean(log_probs))


def perplexity(log_probs: Array) -> float:
    with np.errstate(all="ignore"):
        return float(np.exp(-np.mean(log_probs)))


def probabilities(log_probs: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.exp(log_probs)


def expect_no_better_than_its_source(about: Call, log_probs: Array, sample: Sample) -> None:
    """Expect that a text costs the model no less than it costs the chain that wrote it, but for luck."""
    with np.errstate(all="ignore"):
        gain = float(np.sum(log_probs - sample.chain.log_probs(sample.held_out)))
    floor = perplexity(sample.chain.log_probs(sample.held_out) + LUCK / len(log_probs))
    expect(
        about, holds=gain <= LUCK, gave=perplexity(log_probs),
        expected=f"at least {floor:.4f}: what the chain's own probabilities give, less all luck",
        sentence="The held-out text is predicted better than the chain that produced it could.",
    )  # fmt: skip


# ----------------------------------------------------------------------- bigrams, counted


@st.composite
def texts(draw: Draw, sizes: tuple[int, ...] = (2, 3, 4, 5, 7)) -> tuple[Any, ...]:
    """Draw a short text, its vocabulary size, and a smoothing at times; some words never occur."""
    size = draw(st.sampled_from(sizes))
    used = draw(st.integers(1, size))
    tokens = draw(st.lists(st.integers(0, used - 1), min_size=2, max_size=14))
    smoothing = draw(st.sampled_from(SMOOTHINGS))
    arguments = np.array(tokens, dtype=np.int64), size
    return arguments if smoothing is None else (*arguments, smoothing)


@st.composite
def texts_and_questions(draw: Draw) -> tuple[tuple[Any, ...], Tokens]:
    """Draw what to train on, and another text to ask for."""
    arguments = draw(texts())
    return arguments, np.array(draw(st.lists(st.integers(0, arguments[1] - 1), min_size=3, max_size=9)), dtype=np.int64)


@st.composite
def texts_without_a_word(draw: Draw) -> tuple[tuple[Any, ...], int]:
    """Draw a text and a word of its vocabulary that never occurs in it."""
    size = draw(st.sampled_from([2, 3, 4, 5, 7]))
    absent = draw(st.integers(0, size - 1))
    words = [word for word in range(size) if word != absent]
    tokens = np.array(draw(st.lists(st.sampled_from(words), min_size=2, max_size=12)), dtype=np.int64)
    smoothing = draw(st.sampled_from(SMOOTHINGS))
    return ((tokens, size) if smoothing is None else (tokens, size, smoothing)), absent


@st.composite
def round_trips(draw: Draw) -> tuple[Tokens, int]:
    """Draw a text that goes through all its words in one fixed circle, three times at least."""
    size = draw(st.sampled_from([3, 4, 5, 7]))
    order = draw(st.permutations(range(size)))
    return np.array(order * draw(st.integers(3, 5)), dtype=np.int64), size


@st.composite
def texts_and_names(draw: Draw) -> tuple[tuple[Any, ...], Tokens]:
    """Draw a text, and new numbers for its words."""
    arguments = draw(texts(sizes=(3, 4, 5)))
    return arguments, np.array(draw(st.permutations(range(arguments[1]))), dtype=np.int64)


def every_pair(size: int) -> Tokens:
    """Return a text in which entry 2(aV + b) of its log-probabilities is that of b after a."""
    first, second = np.divmod(np.arange(size * size, dtype=np.int64), size)
    return np.stack([first, second], axis=1).ravel()


def asked(arguments: tuple[Any, ...], tokens: Any, then: str = "") -> Call:
    return call("bigram_log_probs", Written(call("train_bigram", *arguments)), tokens, then=then)


@check(
    of="language_model.train_bigram",
    claim="p(b|a) = (n_ab + s) / (n_a + s V), where n_a counts a as a predecessor.",
    hint="Count the pairs of a text of four words by hand. What is added to each count, and what to their sum?",
)
@given(arguments=texts())
def agrees_with_definition(train_bigram: Any, bigram_log_probs: Any, truth: Any, arguments: tuple[Any, ...]) -> None:
    tokens = every_pair(arguments[1])
    got = bigram_log_probs(train_bigram(*arguments), tokens)
    want = np.log(truth.bigram_table(*arguments)[tokens[:-1], tokens[1:]])
    expect_close(asked(arguments, tokens), got=got, want=want, scale=4.0)


@check(
    of="language_model.train_bigram",
    claim="After every word, the probabilities of all words of the vocabulary sum to 1.",
    hint="The counts n_ab of a row must add up to the n_a below them, and V times s must be in the denominator.",
)
@given(arguments=texts())
def rows_sum_to_one(train_bigram: Any, bigram_log_probs: Any, arguments: tuple[Any, ...]) -> None:
    size = arguments[1]
    tokens = every_pair(size)
    got = probabilities(bigram_log_probs(train_bigram(*arguments), tokens)[::2]).reshape(size, size)
    about = asked(arguments, tokens, then=f"[::2], exp, reshape({size}, {size}), sum(axis=1)")
    with np.errstate(all="ignore"):
        expect_close(about, got=got.sum(axis=1), want=np.ones(size), scale=2.0)


@check(
    of="language_model.train_bigram",
    claim="After a word that the text does not contain, every word of the vocabulary is equally likely.",
    hint="All its counts are 0. What is left of (n_ab + s) / (n_a + s V)? V is the vocabulary, seen or not.",
)
@given(case=texts_without_a_word())
def unseen_words_are_followed_by_any(
    train_bigram: Any, bigram_log_probs: Any, case: tuple[tuple[Any, ...], int]
) -> None:
    arguments, absent = case
    size = arguments[1]
    tokens = np.stack([np.full(size, absent), np.arange(size)], axis=1).ravel()
    got = probabilities(bigram_log_probs(train_bigram(*arguments), tokens)[::2])
    expect_close(asked(arguments, tokens, then="[::2], exp"), got=got, want=np.full(size, 1 / size), scale=2.0)


@check(
    of="language_model.train_bigram",
    claim="In a text that goes round in a circle, the word that comes next is the likeliest after each word.",
    hint="The rows of the table are the words before, its columns the words after; each row is normalised.",
)
@given(case=round_trips())
def the_next_word_is_the_likeliest(train_bigram: Any, bigram_log_probs: Any, case: tuple[Tokens, int]) -> None:
    tokens, size = case
    pairs = every_pair(size)
    got = bigram_log_probs(train_bigram(tokens, size), pairs)[::2].reshape(size, size)
    likeliest = np.argmax(got, axis=1)
    followers = np.empty(size, dtype=np.int64)
    followers[tokens[:size]] = tokens[1 : size + 1]
    about = asked((tokens, size), pairs, then=f"[::2].reshape({size}, {size}).argmax(axis=1)")
    expect(about, holds=np.array_equal(likeliest, followers), gave=likeliest, expected=shown(followers, 6))


@check(
    of="language_model.train_bigram",
    claim="More smoothing moves every probability towards 1/V.",
    hint="Is `smoothing` used where a number stands now? It is added to every count, the zeros included.",
)
@given(arguments=texts(sizes=(2, 3, 4, 5)))
def smoothing_evens_out(train_bigram: Any, bigram_log_probs: Any, arguments: tuple[Any, ...]) -> None:
    """Expect |p - 1/V| to shrink: it is proportional to 1 / (n_a + s V), so 8 times the smoothing shows."""
    tokens, size = arguments[:2]
    pairs = every_pair(size)
    little, much = (tokens, size, 0.5), (tokens, size, 4.0)
    from_little = np.abs(probabilities(bigram_log_probs(train_bigram(*little), pairs)) - 1 / size)
    from_much = np.abs(probabilities(bigram_log_probs(train_bigram(*much), pairs)) - 1 / size)
    holds = bool((from_much <= np.where(from_little > 1e-3, 0.9 * from_little, from_little + 1e-4)).all())
    about = asked(much, pairs, then=f", exp, distance from 1/{size}")
    expect(about, holds=holds, gave=from_much, expected=f"closer than with smoothing 0.5, {shown(from_little, 6)}")


@check(
    of="language_model.train_bigram",
    claim="Numbering the words another way changes no probability.",
    hint="No number is special: 0 is a word like any other, and so is the last one.",
)
@given(case=texts_and_names())
def names_of_words_do_not_matter(
    train_bigram: Any, bigram_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]
) -> None:
    arguments, names = case
    pairs = every_pair(arguments[1])
    renamed = (names[arguments[0]], *arguments[1:])
    want = bigram_log_probs(train_bigram(*arguments), pairs)
    got = bigram_log_probs(train_bigram(*renamed), names[pairs])
    expect_close(asked(renamed, names[pairs]), got=got, want=want, scale=4.0, same_as=asked(arguments, pairs))


@check(
    of="language_model.train_bigram",
    claim="Trained on 4000 words of a Markov chain, its perplexity on new words is close to e^H, H the entropy rate.",
    hint="With thousands of words the counts are near the chain's probabilities. Which pairs are counted?",
    examples=12,
)
@given(sample=corpora.samples(4000))
def approaches_the_entropy_rate(train_bigram: Any, bigram_log_probs: Any, sample: Sample) -> None:
    """Allow Hoeffding's deviation of the held-out text (less than 0.14 nats), and 0.02 for what 4000 words teach.

    A right model is a function of the text, so the second part is no matter of luck: the
    reference needs less than half of it on every text there is (tests/checks/test_language_model.py).
    """
    chain = sample.chain
    got = mean_surprise(bigram_log_probs(train_bigram(sample.train, chain.size), sample.held_out))
    allowed = chain.deviation(len(sample.held_out) - 1) + 0.02
    with np.errstate(all="ignore"):
        gave = float(np.exp(got))
    low, high = math.exp(chain.rate - allowed), math.exp(chain.rate + allowed)
    expect(
        asked((sample.train, chain.size), sample.held_out, then=", perplexity"), holds=abs(got - chain.rate) <= allowed,
        gave=gave, expected=f"between {low:.4f} and {high:.4f}, around e^H = {math.exp(chain.rate):.4f}",
    )  # fmt: skip


@check(
    of="language_model.train_bigram",
    claim="No model predicts a new text of a chain better than the chain's own probabilities do, but for luck.",
    hint="Too good to be true: do the probabilities after each word still sum to 1? Are they logarithms, at most 0?",
    examples=12,
)
@given(sample=corpora.samples(1000))
def never_beats_its_source(train_bigram: Any, bigram_log_probs: Any, sample: Sample) -> None:
    arguments = sample.train, sample.chain.size
    got = bigram_log_probs(train_bigram(*arguments), sample.held_out)
    expect_no_better_than_its_source(asked(arguments, sample.held_out, then=", perplexity"), got, sample)


@check(
    of="language_model.train_bigram",
    claim="On text in which the word before matters, it beats every model without context.",
    hint="Which word does your table look at to predict the next one?",
    examples=12,
)
@given(sample=corpora.samples(1000))
def beats_the_unigram(train_bigram: Any, bigram_log_probs: Any, sample: Sample) -> None:
    arguments = sample.train, sample.chain.size
    got = perplexity(bigram_log_probs(train_bigram(*arguments), sample.held_out))
    best = math.exp(corpora.unigram_surprise(sample.held_out))
    about = asked(arguments, sample.held_out, then=", perplexity")
    expect(about, holds=got < best, gave=got, expected=f"less than {best:.4f}, the best there is without context")


@check(
    of="language_model.bigram_log_probs",
    claim="Entry t depends on tokens t and t+1 alone.",
    hint="One lookup per pair of neighbours, nothing summed up on the way.",
)
@given(case=texts_and_questions())
def entries_depend_on_their_pair_alone(
    train_bigram: Any, bigram_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]
) -> None:
    arguments, tokens = case
    model = train_bigram(*arguments)
    got = bigram_log_probs(model, tokens)
    middle = len(tokens) // 2
    pair = tokens[middle : middle + 2]
    alone = bigram_log_probs(model, pair)
    about = asked(arguments, tokens, then=f"[{middle}:{middle + 1}]")
    same_as = asked(arguments, pair)
    expect_close(about, got=got[middle : middle + 1], want=alone, scale=4.0, same_as=same_as)


@check(
    of="language_model.bigram_log_probs",
    claim="Words added at the end change no earlier entry.",
    hint="Entry t is about token t+1 given token t. Does the last token, or the length, enter anywhere else?",
)
@given(case=texts_and_questions())
def later_words_change_nothing(train_bigram: Any, bigram_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]) -> None:
    arguments, tokens = case
    model = train_bigram(*arguments)
    got, want = bigram_log_probs(model, tokens), bigram_log_probs(model, tokens[:-1])
    about, same_as = asked(arguments, tokens, then="[:-1]"), asked(arguments, tokens[:-1])
    expect_close(about, got=got[:-1], want=want, scale=4.0, same_as=same_as)


@check(
    of="language_model.bigram_log_probs",
    claim="The logarithms are natural: after a word the text does not contain, every entry is -ln V.",
    hint="np.log is the natural logarithm, np.log2 and np.log10 are not. A probability of 1/V has which logarithm?",
)
@given(case=texts_without_a_word())
def logarithms_are_natural(train_bigram: Any, bigram_log_probs: Any, case: tuple[tuple[Any, ...], int]) -> None:
    arguments, absent = case
    size = arguments[1]
    tokens = np.array([absent, size - 1 - absent], dtype=np.int64)
    got = bigram_log_probs(train_bigram(*arguments), tokens)
    expect_close(asked(arguments, tokens), got=got, want=np.full(1, -math.log(size)), scale=2.0)


@check(
    of="language_model.bigram_log_probs",
    claim="No entry is positive: they are logarithms of probabilities.",
    hint="A loss is -ln p; here ln p itself is asked for.",
)
@given(case=texts_and_questions())
def no_entry_is_positive(train_bigram: Any, bigram_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]) -> None:
    arguments, tokens = case
    got = bigram_log_probs(train_bigram(*arguments), tokens)
    expect(asked(arguments, tokens), holds=bool((got <= 1e-5).all()), gave=got, expected="numbers of at most 0")


@check(
    of="language_model.bigram_log_probs",
    claim="A text of one word has no entry: nothing precedes its only word.",
    hint="There is one entry fewer than there are words, so here there is none: an empty array, not an error.",
    examples=10,
)
@given(arguments=texts())
def one_word_has_no_entry(train_bigram: Any, bigram_log_probs: Any, arguments: tuple[Any, ...]) -> None:
    tokens = arguments[0][:1]
    got = bigram_log_probs(train_bigram(*arguments), tokens)
    expect(asked(arguments, tokens), holds=got.shape == (0,), gave=got, expected="an empty array")


@check(
    of="language_model.bigram_log_probs",
    claim="The call changes none of its arguments.",
    hint="`x -= …`, `x *= …` and `x[…] = …` write into the caller's array. Make a new array instead.",
    examples=25,
)
@given(case=texts_and_questions())
def leaves_arguments_alone(train_bigram: Any, bigram_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]) -> None:
    arguments, tokens = case
    model = train_bigram(*arguments)
    _, after = bigram_log_probs.with_arguments(model, tokens)
    expect_unchanged(asked(arguments, tokens), before=(model, tokens), after=after, names=("model", "tokens"))


# ----------------------------------------------------------------------- bigrams, learned

STRUCTURED = corpora.CHAINS[1:]  # three words or more, one follower far likelier than the others
LEARNING = 400  # updates granted where learning is judged
FEW = 200  # updates where any parameters will do


def word_vectors(size: int, width: int, number: int) -> Array:
    """Return embeddings (V, e) that point in different directions, on a grid of sixteenths.

    Nearly orthogonal rows of length 1.5: even plain gradient descent learns from them in a few hundred steps.
    """
    rng = np.random.default_rng([number, size, width])
    noise = np.round(rng.uniform(-4, 4, size=(size, width))) / 16
    return 1.5 * np.eye(size, width) + noise


@st.composite
def learning_tasks(draw: Draw) -> tuple[Sample, tuple[Any, ...]]:
    """Draw a text to learn from, with all arguments of train_neural_bigram; V, e and hidden differ."""
    sample = draw(corpora.samples(800, STRUCTURED))
    size = sample.chain.size
    embeddings = word_vectors(size, size + draw(st.integers(1, 3)), draw(st.integers(0, 3)))
    hidden = draw(st.sampled_from([12, 16, 20]))
    return sample, (sample.train, embeddings, hidden, LEARNING, draw(st.integers(0, 3)))


@st.composite
def small_tasks(draw: Draw) -> tuple[Any, ...]:
    """Draw a short text and embeddings: enough to have parameters to ask questions about."""
    sample = draw(corpora.samples(60, STRUCTURED))
    size = sample.chain.size
    embeddings = word_vectors(size, size + draw(st.integers(1, 3)), draw(st.integers(0, 3)))
    return sample.train, embeddings, draw(st.sampled_from([2, 7, 12])), FEW, draw(st.integers(0, 3))


def learned(task: tuple[Any, ...], then: str = "") -> Call:
    return call("neural_log_probs", Written(call("train_neural_bigram", *task)), Written("embeddings"),
                Written("held_out"), then=then)  # fmt: skip


def answered(params: Any, embeddings: Array, tokens: Tokens, then: str = "") -> Call:
    return call("neural_log_probs", Written("params") if params is None else params, embeddings, tokens, then=then)


train_neural_bigram_leaves_arguments_alone = replace(
    unmodified(of="language_model.train_neural_bigram", arguments=small_tasks()), examples=2
)


@check(
    of="language_model.train_neural_bigram",
    claim="After a few hundred updates it beats every model without context on new text of the same chain.",
    hint="Does the loss fall while you train? The target of position t is token t+1.",
    examples=3,
)
@given(case=learning_tasks())
def neural_beats_the_unigram(
    train_neural_bigram: Any, neural_log_probs: Any, case: tuple[Sample, tuple[Any, ...]]
) -> None:
    sample, task = case
    params = train_neural_bigram(*task)
    got = perplexity(neural_log_probs(params, task[1], sample.held_out))
    best = math.exp(corpora.unigram_surprise(sample.held_out))
    expect(learned(task, ", perplexity"), holds=got < best, gave=got,
           expected=f"less than {best:.4f}, the best there is without context")  # fmt: skip


@check(
    of="language_model.train_neural_bigram",
    claim="It learns at least half of what the word before tells, in nats per word.",
    hint="Are all weights updated, and by steps large enough to get somewhere in a few hundred updates?",
    examples=3,
)
@given(case=learning_tasks())
def learns_most_of_the_structure(
    train_neural_bigram: Any, neural_log_probs: Any, case: tuple[Sample, tuple[Any, ...]]
) -> None:
    sample, task = case
    got = perplexity(neural_log_probs(train_neural_bigram(*task), task[1], sample.held_out))
    floor = mean_surprise(sample.chain.log_probs(sample.held_out))
    wanted = math.exp((corpora.unigram_surprise(sample.held_out) + floor) / 2)
    expect(learned(task, ", perplexity"), holds=got <= wanted, gave=got, expected=f"at most {wanted:.4f}")


@check(
    of="language_model.train_neural_bigram",
    claim="No model predicts a new text of a chain better than the chain's own probabilities do, but for luck.",
    hint="Too good to be true: do the probabilities after each word still sum to 1? Are they logarithms, at most 0?",
    examples=2,
)
@given(case=learning_tasks())
def neural_never_beats_its_source(
    train_neural_bigram: Any, neural_log_probs: Any, case: tuple[Sample, tuple[Any, ...]]
) -> None:
    sample, task = case
    got = neural_log_probs(train_neural_bigram(*task), task[1], sample.held_out)
    expect_no_better_than_its_source(learned(task, ", perplexity"), got, sample)


@check(
    of="language_model.train_neural_bigram",
    claim="The loss on the training text falls: below ln V, what guessing costs, and no higher after more updates.",
    hint="Is the gradient subtracted? Does `steps` count updates?",
    examples=2,
)
@given(case=learning_tasks())
def loss_falls(train_neural_bigram: Any, neural_log_probs: Any, case: tuple[Sample, tuple[Any, ...]]) -> None:
    """Allow 0.05 nats between the two: the last step of a noisy descent need not be its best."""
    sample, (tokens, embeddings, hidden, _, seed) = case
    short, long = (tokens, embeddings, hidden, FEW, seed), (tokens, embeddings, hidden, LEARNING, seed)
    after_few = mean_surprise(neural_log_probs(train_neural_bigram(*short), embeddings, tokens))
    after_many = mean_surprise(neural_log_probs(train_neural_bigram(*long), embeddings, tokens))
    guessing = math.log(sample.chain.size)
    about = call("neural_log_probs", Written(call("train_neural_bigram", *long)), Written("embeddings"),
                 Written("tokens"), then=", -mean")  # fmt: skip
    expect(about, holds=after_many < guessing, gave=after_many, expected=f"less than ln V = {guessing:.4f}")
    expect(about, holds=after_many <= after_few + 0.05, gave=after_many,
           expected=f"not above {after_few:.4f}, the loss after {FEW} updates")  # fmt: skip


@check(
    of="language_model.train_neural_bigram",
    claim="The same seed gives the same parameters.",
    hint="Make one generator from `seed`, and draw everything random from it: first weights, batches, order.",
    examples=2,
)
@given(task=small_tasks())
def same_seed_same_parameters(train_neural_bigram: Any, task: tuple[Any, ...]) -> None:
    first, second = train_neural_bigram(*task), train_neural_bigram(*task)
    about = call("train_neural_bigram", *task)
    expect(about, holds=first.keys() == second.keys(), gave=sorted(second), expected=f"the keys {sorted(first)} again")
    for key, value in first.items():
        place = call("train_neural_bigram", *task, then=f"[{key!r}]")
        with np.errstate(all="ignore"):
            scale = max(1.0, float(np.abs(np.nan_to_num(value)).max(initial=0.0)))
        expect_close(place, got=second[key], want=value, scale=scale, same_as=Call("the same call", (), " before"))


@st.composite
def small_tasks_and_texts(draw: Draw) -> tuple[tuple[Any, ...], Tokens]:
    task = draw(small_tasks())
    size = len(task[1])
    return task, np.array(draw(st.lists(st.integers(0, size - 1), min_size=3, max_size=8)), dtype=np.int64)


@check(
    of="language_model.neural_log_probs",
    claim="After every word, the probabilities of all words sum to 1.",
    hint="Softmax over the vocabulary, then the natural logarithm.",
    examples=3,
)
@given(task=small_tasks())
def neural_rows_sum_to_one(train_neural_bigram: Any, neural_log_probs: Any, task: tuple[Any, ...]) -> None:
    size = len(task[1])
    pairs = every_pair(size)
    got = probabilities(neural_log_probs(train_neural_bigram(*task), task[1], pairs)[::2]).reshape(size, size)
    about = answered(None, task[1], pairs, then=f"[::2], exp, reshape({size}, {size}), sum(axis=1)")
    with np.errstate(all="ignore"):
        expect_close(about, got=got.sum(axis=1), want=np.ones(size), scale=2.0)


@check(
    of="language_model.neural_log_probs",
    claim="Entry t depends on tokens t and t+1 alone.",
    hint="Each position is predicted from its own word. Over which axis does your softmax sum?",
    examples=2,
)
@given(case=small_tasks_and_texts())
def neural_entries_depend_on_their_pair_alone(
    train_neural_bigram: Any, neural_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]
) -> None:
    task, tokens = case
    params = train_neural_bigram(*task)
    got = neural_log_probs(params, task[1], tokens)
    middle = len(tokens) // 2
    alone = neural_log_probs(params, task[1], tokens[middle : middle + 2])
    about = answered(params, task[1], tokens, then=f"[{middle}:{middle + 1}]")
    same_as = answered(None, task[1], tokens[middle : middle + 2])
    expect_close(about, got=got[middle : middle + 1], want=alone, scale=4.0, same_as=same_as)


@check(
    of="language_model.neural_log_probs",
    claim="No entry is positive: they are logarithms of probabilities.",
    hint="A loss is -ln p; here ln p itself is asked for.",
    examples=2,
)
@given(case=small_tasks_and_texts())
def neural_entries_are_not_positive(
    train_neural_bigram: Any, neural_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]
) -> None:
    task, tokens = case
    params = train_neural_bigram(*task)
    got = neural_log_probs(params, task[1], tokens)
    about = answered(params, task[1], tokens)
    expect(about, holds=bool((got <= 1e-5).all()), gave=got, expected="numbers of at most 0")


@check(
    of="language_model.neural_log_probs",
    claim="Parameters that were saved and loaded give the same perplexity, also after another model was trained.",
    hint="Everything the network needs must be in `params`: nothing kept in a global variable.",
    examples=2,
)
@given(case=small_tasks_and_texts())
def saved_parameters_reload(
    train_neural_bigram: Any, neural_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]
) -> None:
    task, tokens = case
    params = train_neural_bigram(*task)
    want = neural_log_probs(params, task[1], tokens)
    train_neural_bigram(task[0][::-1].copy(), task[1][::-1].copy(), *task[2:])
    got = neural_log_probs(_reloaded(params), task[1], tokens)
    about, same_as = answered(params, task[1], tokens), answered(None, task[1], tokens, then=" before")
    expect_close(about, got=got, want=want, scale=4.0, same_as=same_as)


def _reloaded(params: dict[str, Array]) -> dict[str, Array]:
    """Return parameters as they come back from a file."""
    file = io.BytesIO()
    numbered = {f"array_{position}": value for position, value in enumerate(params.values())}
    np.savez(file, allow_pickle=False, **numbered)
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        return {key: saved[f"array_{position}"] for position, key in enumerate(params)}


@check(
    of="language_model.neural_log_probs",
    claim="It reads the embeddings it is given: exchanging those of two words exchanges what follows them.",
    hint="The network sees a word's embedding, never its number. Is the argument `embeddings` used?",
    examples=3,
)
@given(task=small_tasks())
def embeddings_are_what_it_reads(train_neural_bigram: Any, neural_log_probs: Any, task: tuple[Any, ...]) -> None:
    """Accept networks that score the next word by its embedding as well: there the words change places, too."""
    embeddings = task[1]
    size = len(embeddings)
    params = train_neural_bigram(*task)
    order = np.array([1, 0, *range(2, size)])
    pairs = every_pair(size)
    before = neural_log_probs(params, embeddings, pairs)[::2].reshape(size, size)
    after = neural_log_probs(params, embeddings[order], pairs)[::2].reshape(size, size)
    about = answered(params, embeddings[order], pairs, then=f"[::2].reshape({size}, {size})")
    try:
        expect_close(about, got=after, want=before[order][:, order], scale=4.0)
    except Failure:
        expect_close(about, got=after, want=before[order], scale=4.0,
                     same_as=answered(None, embeddings, pairs, then=" with rows 0 and 1 exchanged"))  # fmt: skip


@check(
    of="language_model.neural_log_probs",
    claim="A text of one word has no entry: nothing precedes its only word.",
    hint="There is one entry fewer than there are words, so here there is none: an empty array, not an error.",
    examples=1,
)
@given(task=small_tasks())
def neural_one_word_has_no_entry(train_neural_bigram: Any, neural_log_probs: Any, task: tuple[Any, ...]) -> None:
    tokens = task[0][:1]
    got = neural_log_probs(train_neural_bigram(*task), task[1], tokens)
    expect(answered(None, task[1], tokens), holds=got.shape == (0,), gave=got, expected="an empty array")


@check(
    of="language_model.neural_log_probs",
    claim="The call changes none of its arguments.",
    hint="`x -= …`, `x *= …` and `x[…] = …` write into the caller's array. Make a new array instead.",
    examples=2,
)
@given(case=small_tasks_and_texts())
def neural_log_probs_leaves_arguments_alone(
    train_neural_bigram: Any, neural_log_probs: Any, case: tuple[tuple[Any, ...], Tokens]
) -> None:
    task, tokens = case
    params = train_neural_bigram(*task)
    arguments = params, task[1], tokens
    _, after = neural_log_probs.with_arguments(*arguments)
    about = call("neural_log_probs", *arguments)
    expect_unchanged(about, before=arguments, after=after, names=("params", "embeddings", "tokens"))


# ----------------------------------------------------------------------------- characters

UNSEEN = "§"  # in none of the training texts
LETTERS = "abcd"
STRANGE = (
    "", " ", "\n", "ß", "İstanbul", "naïve café", "“Quoted”", "日本語", "🙂", "\x00", "e\u0301", "\u202e",
)  # fmt: skip


@st.composite
def refrains(draw: Draw) -> str:
    """Draw a training text of 240 characters or more over a handful of letters."""
    refrain = draw(st.text(alphabet="abcde ", min_size=4, max_size=12).filter(lambda text: len(set(text)) > 1))
    return str(refrain * (240 // len(refrain) + 1))


@st.composite
def refrains_and_contexts(draw: Draw) -> tuple[str, str]:
    text = draw(refrains())
    characters = "".join(sorted(set(text))) + UNSEEN
    return text, draw(st.text(alphabet=characters, min_size=1, max_size=4))


@st.composite
def refrains_and_strangers(draw: Draw) -> tuple[str, str]:
    """Draw a training text, and another one with characters it does not have: first, last or in the middle."""
    text = draw(refrains())
    stranger = draw(st.sampled_from(["§", "Z", "é", "\n", "☃", "字"]))
    place = draw(st.integers(0, 4))
    return text, text[:place] + stranger + text[place:4] + draw(st.sampled_from(["", "Q", stranger]))


def letters(length: int, number: int) -> str:
    """Return letters drawn independently, each of the four equally likely."""
    return "".join(LETTERS[k] for k in np.random.default_rng([number, length]).integers(4, size=length))


numbers = st.integers(0, 7)


def spelled(text: str, then: str = "") -> Call:
    return call("char_log_probs", Written("model"), text, then=then)


@check(
    of="language_model.char_model",
    claim="After any text, the probabilities of all characters seen and of one unseen character sum to at most 1.",
    hint="One cell for everything unseen: count it in the denominator, and use natural logarithms.",
    examples=6,
)
@given(case=refrains_and_contexts())
def probabilities_sum_to_at_most_one(train_char_model: Any, char_log_probs: Any, case: tuple[str, str]) -> None:
    text, context = case
    model = train_char_model(text)
    characters = [*sorted(set(text)), UNSEEN]
    logs = np.array([char_log_probs(model, context + character)[-1] for character in characters])
    with np.errstate(all="ignore"):
        total = float(np.exp(logs).sum())
    about = Written(f"the sum of np.exp(char_log_probs(model, {context!r} + c)[-1]) over c in {''.join(characters)!r}")
    expect(Call("model = train_char_model", (text,), f"; {about!r}"), holds=total <= 1 + 1e-4, gave=total,
           expected="at most 1")  # fmt: skip


@check(
    of="language_model.char_model",
    claim="Any character, seen in training or not, has a finite log-probability, and so has what follows it.",
    hint="What does your model look up for a character that the training text does not contain?",
    examples=12,
)
@given(case=refrains_and_strangers())
def unseen_characters_are_finite(train_char_model: Any, char_log_probs: Any, case: tuple[str, str]) -> None:
    text, other = case
    got = char_log_probs(train_char_model(text), other)
    expect_finite(spelled(other), got=got)
    expect(spelled(other), holds=bool((got <= 1e-5).all()), gave=got, expected="numbers of at most 0")


@check(
    of="language_model.char_model",
    claim="Characters added at the end change no earlier entry: each is predicted from those before it.",
    hint="Entry t is about character t+1 given the characters up to t.",
    examples=12,
)
@given(case=refrains_and_contexts(), more=st.text(alphabet="abcde ", min_size=1, max_size=4))
def later_characters_change_nothing(
    train_char_model: Any, char_log_probs: Any, case: tuple[str, str], more: str
) -> None:
    text, context = case
    model = train_char_model(text)
    asked_for = text[:3] + context
    got, want = char_log_probs(model, asked_for + more), char_log_probs(model, asked_for)
    about, same_as = spelled(asked_for + more, then=f"[:{len(asked_for) - 1}]"), spelled(asked_for)
    expect_close(about, got=got[: len(asked_for) - 1], want=want, scale=8.0, same_as=same_as)


@check(
    of="language_model.char_model",
    claim="On text like its training text the perplexity is below the number of characters: better than guessing.",
    hint="How often is each character in the training text? Even that is better than guessing.",
    examples=3,
)
@given(number=numbers)
def better_than_guessing(train_char_model: Any, char_log_probs: Any, number: int) -> None:
    train, new = corpora.prose(400, number), corpora.prose(80, number + 100)
    got = perplexity(char_log_probs(train_char_model(train), new))
    known = len(set(train))
    expect(spelled(new, ", perplexity"), holds=got < known, gave=got, expected=f"less than {known}")


@check(
    of="language_model.char_model",
    claim="The order of the characters matters: new text costs less than the same characters sorted.",
    hint="The character before, or more of them, must enter the prediction.",
    examples=3,
)
@given(number=numbers)
def order_of_characters_matters(train_char_model: Any, char_log_probs: Any, number: int) -> None:
    """Compare with the characters shuffled: every model without context gives both the same perplexity, or nearly."""
    train, new = corpora.prose(400, number), corpora.prose(80, number + 100)
    order = np.random.default_rng(number).permutation(len(new))
    mixed = "".join(new[k] for k in order)
    model = train_char_model(train)
    got, other = perplexity(char_log_probs(model, new)), perplexity(char_log_probs(model, mixed))
    expect(spelled(new, ", perplexity"), holds=got < 0.9 * other, gave=got,
           expected=f"less than 0.9 times {other:.4f}, the perplexity of the same characters shuffled")  # fmt: skip


@check(
    of="language_model.char_model",
    claim="Nobody predicts letters that were drawn at random better than by guessing, but for luck.",
    hint="Too good to be true: do the probabilities sum to 1? Are they logarithms, at most 0?",
    examples=3,
)
@given(number=numbers)
def never_beats_chance(train_char_model: Any, char_log_probs: Any, number: int) -> None:
    """Allow 20.7 nats in all: a right model gains that much with a probability below 10^-9 (Markov's inequality)."""
    train, new = letters(3000, number), letters(1000, number + 100)
    got = char_log_probs(train_char_model(train), new)
    with np.errstate(all="ignore"):
        gain = float(np.sum(got + math.log(4)))
    floor = math.exp(math.log(4) - LUCK / len(got))
    expect(spelled(new, ", perplexity"), holds=gain <= LUCK, gave=perplexity(got), expected=f"at least {floor:.4f}")


@check(
    of="language_model.char_model",
    claim="Letters drawn at random from four have a perplexity near 4; logarithms are natural.",
    hint="In base 2 the same letters would cost 2 each, and e² is 7.4. np.log is the natural logarithm.",
    examples=3,
)
@given(number=numbers)
def random_letters_cost_little_more_than_chance(train_char_model: Any, char_log_probs: Any, number: int) -> None:
    """Allow up to 7: a table with add-one smoothing over 256 characters that looks at two of them stays below."""
    train, new = letters(8000, number), letters(500, number + 100)
    got = perplexity(char_log_probs(train_char_model(train), new))
    expect(spelled(new, ", perplexity"), holds=got < 7.0, gave=got, expected="less than 7")


@check(
    of="language_model.char_model",
    claim="preprocess returns text for any text: empty, accented, in another script.",
    hint="Do you encode, index, or look characters up? Not every text is ASCII, and a text may be empty.",
    examples=40,
)
@given(text=st.one_of(
    st.sampled_from(STRANGE),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
))  # fmt: skip
def preprocess_takes_any_text(preprocess: Any, text: str) -> None:
    got = preprocess(text)
    expect(call("preprocess", text), holds=isinstance(got, str), gave=got, expected="a str")


@check(
    of="language_model.char_model",
    claim="preprocess keeps different plain texts apart.",
    hint="A step that throws away what a text says makes perplexity low and the model useless.",
    examples=12,
)
@given(start=st.integers(0, 20), shift=st.integers(1, 12))
def preprocess_keeps_texts_apart(preprocess: Any, start: int, shift: int) -> None:
    """Ask for lower-case words between single spaces, where a cleaning step has nothing to do.

    The second text has other letters in the same places: each is moved along the alphabet.
    """
    plain = " ".join(corpora.WORDS[start : start + 9])
    moved = "".join(c if c == " " else chr((ord(c) - ord("a") + shift) % 26 + ord("a")) for c in plain)
    first, second = preprocess(plain), preprocess(moved)
    holds = first != second and min(len(first), len(second)) >= len(plain) // 2
    expect(call("preprocess", moved), holds=holds, gave=second,
           expected=f"another text than preprocess({plain!r}) gives, with most of its characters")  # fmt: skip


def _perplexities(
    train_char_model: Any, char_log_probs: Any, preprocess: Any, number: int
) -> tuple[Call, float, float]:
    """Return the perplexities of a shouted text with preprocessing and without it."""
    train, strange = corpora.prose(400, number), corpora.shouted(corpora.prose(80, number + 100))
    clean_train, clean_strange = preprocess(train), preprocess(strange)
    about = call("preprocess", strange, then=", perplexity after training on preprocessed text")
    enough = len(clean_train) > len(train) // 2 and len(clean_strange) > len(strange) // 2
    expect(about, holds=enough, gave=clean_strange, expected="most of the text's characters, changed or not")
    plain = perplexity(char_log_probs(train_char_model(train), strange))
    return about, perplexity(char_log_probs(train_char_model(clean_train), clean_strange)), plain


@check(
    of="language_model.char_model",
    claim="preprocess does no harm: text of another domain, preprocessed, is not predicted worse for it.",
    hint="Train on preprocessed text, ask for preprocessed text: what does the step leave that was never seen?",
    examples=3,
)
@given(number=numbers)
def preprocess_does_no_harm(train_char_model: Any, char_log_probs: Any, preprocess: Any, number: int) -> None:
    about, got, plain = _perplexities(train_char_model, char_log_probs, preprocess, number)
    expect(about, holds=got <= 1.05 * plain, gave=got, expected=f"at most {1.05 * plain:.4f}")


@check(
    of="language_model.char_model",
    claim="preprocess lowers the perplexity of text in capitals and with curly quotes, after training on plain text.",
    hint="Which characters of that text has the model never seen, and which ones that it has seen do they stand for?",
    examples=3,
)
@given(number=numbers)
def preprocess_lowers_perplexity(train_char_model: Any, char_log_probs: Any, preprocess: Any, number: int) -> None:
    about, got, plain = _perplexities(train_char_model, char_log_probs, preprocess, number)
    expect(about, holds=got < 0.99 * plain, gave=got, expected=f"less than {plain:.4f}")
