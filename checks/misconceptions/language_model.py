"""Wrong language models: each function computes exactly what one mistake computes.

A bigram's model is a table of probabilities here, as in the reference: a mistake in counting is
a wrong table, and a mistake in looking it up is a wrong function of the right one. Where the two
cannot be told apart from outside, a mistake has a version in each item.
"""
# A misconception has the contract's signature even where the mistake is to ignore an argument; name and why
# are the docstring of a class as well.
# ruff: noqa: ARG001, ARG005, D101, D102

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from checks.misconception import misconception
from reference import language_model as right

if TYPE_CHECKING:
    from reference.language_model import Array, CharModel

# --------------------------------------------------------------------- bigrams, counted


def _counts(tokens: Array, size: int) -> Any:
    counts = np.zeros((size, size))
    np.add.at(counts, (tokens[:-1], tokens[1:]), 1.0)
    return counts


def _normalised(counts: Array, smoothing: float) -> Any:
    return (counts + smoothing) / (counts.sum(axis=1, keepdims=True) + smoothing * len(counts))


@misconception(
    of="language_model.train_bigram",
    name="rows and columns swapped",
    why="The table is read, or filled, with the word after as its row: it predicts the word before.",
)
def rows_and_columns_swapped(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return _normalised(_counts(tokens, vocabulary_size).T, smoothing)


@misconception(
    of="language_model.train_bigram",
    name="normalised over the words before",
    why="The columns of the table sum to one, not its rows: n_ab is divided by the count of b.",
)
def normalised_over_predecessors(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return _normalised(_counts(tokens, vocabulary_size).T, smoothing).T


@misconception(
    of="language_model.train_bigram",
    name="smoothing forgotten",
    why="A pair that the text does not have gets the probability 0, whose logarithm is -inf.",
)
def smoothing_forgotten(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return _normalised(_counts(tokens, vocabulary_size), 0.0)


@misconception(
    of="language_model.train_bigram",
    name="smoothing argument ignored",
    why="1 is added to every count whatever `smoothing` says.",
)
def smoothing_ignored(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return _normalised(_counts(tokens, vocabulary_size), 1.0)


@misconception(
    of="language_model.train_bigram",
    name="smoothing missing in the denominator",
    why="s is added to the counts but not, V times, to their sum: a row sums to more than 1.",
)
def numerator_only(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = _counts(tokens, vocabulary_size)
    return (counts + smoothing) / counts.sum(axis=1, keepdims=True)


@misconception(
    of="language_model.train_bigram",
    name="smoothing added once in the denominator",
    why="The sum of a row grows by s for each of the V words, not by s alone.",
)
def smoothing_added_once(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = _counts(tokens, vocabulary_size)
    return (counts + smoothing) / (counts.sum(axis=1, keepdims=True) + smoothing)


@misconception(
    of="language_model.train_bigram",
    name="vocabulary size added without the smoothing",
    why="V is added to the denominator where s V belongs: right for s = 1 only.",
)
def vocabulary_without_smoothing(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = _counts(tokens, vocabulary_size)
    return (counts + smoothing) / (counts.sum(axis=1, keepdims=True) + vocabulary_size)


@misconception(
    of="language_model.train_bigram",
    name="vocabulary counted from the text",
    why="V counts the words that occur; the contract's V is the whole vocabulary, seen or not.",
)
def vocabulary_of_the_text(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = _counts(tokens, vocabulary_size)
    return (counts + smoothing) / (counts.sum(axis=1, keepdims=True) + smoothing * len(np.unique(tokens)))


@misconception(
    of="language_model.train_bigram",
    name="vocabulary size squared",
    why="s V² is added, the number of possible pairs; only V words can follow a word.",
)
def vocabulary_squared(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = _counts(tokens, vocabulary_size)
    return (counts + smoothing) / (counts.sum(axis=1, keepdims=True) + smoothing * vocabulary_size**2)


@misconception(
    of="language_model.train_bigram",
    name="last word counted as a predecessor",
    why="n_a counts all occurrences of a; the last word of the text precedes nothing.",
)
def last_word_counted(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = _counts(tokens, vocabulary_size)
    totals = np.bincount(tokens, minlength=vocabulary_size)[:, np.newaxis]
    return (counts + smoothing) / (totals + smoothing * vocabulary_size)


@misconception(
    of="language_model.train_bigram",
    name="text closed to a circle",
    why="The first word is counted as the successor of the last, as np.roll does.",
)
def closed_to_a_circle(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return _normalised(_counts(np.append(tokens, tokens[0]), vocabulary_size), smoothing)


@misconception(
    of="language_model.train_bigram",
    name="last pair not counted",
    why="The loop over pairs stops one too early.",
)
def last_pair_dropped(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return _normalised(_counts(tokens[:-1], vocabulary_size), smoothing)


@misconception(
    of="language_model.train_bigram",
    name="first pair not counted",
    why="The loop over pairs starts one too late.",
)
def first_pair_dropped(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return _normalised(_counts(tokens[1:], vocabulary_size), smoothing)


@misconception(
    of="language_model.train_bigram",
    name="pairs counted in both directions",
    why="A bigram model predicts the word after; neighbours on both sides are what skip-gram counts.",
)
def both_directions(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = _counts(tokens, vocabulary_size)
    return _normalised(counts + counts.T, smoothing)


@misconception(
    of="language_model.train_bigram",
    name="pairs counted once",
    why="How often a pair occurs is lost: it counts once, as in a set.",
)
def pairs_counted_once(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return _normalised(np.minimum(_counts(tokens, vocabulary_size), 1.0), smoothing)


@misconception(
    of="language_model.train_bigram",
    name="pairs do not overlap",
    why="The text is cut into pairs, so that every second one is lost.",
)
def pairs_do_not_overlap(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = np.zeros((vocabulary_size, vocabulary_size))
    np.add.at(counts, (tokens[:-1:2], tokens[1::2]), 1.0)
    return _normalised(counts, smoothing)


@misconception(
    of="language_model.train_bigram",
    name="joint in place of conditional probability",
    why="n_ab is divided by the number of all pairs: that is p(a, b), not p(b | a).",
)
def joint_probability(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = _counts(tokens, vocabulary_size)
    return (counts + smoothing) / (counts.sum() + smoothing * vocabulary_size**2)


@misconception(
    of="language_model.train_bigram",
    name="unigram probabilities",
    why="The word before does not enter: these are the frequencies of single words.",
)
def unigram(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    counts = np.bincount(tokens, minlength=vocabulary_size)
    shares = (counts + smoothing) / (counts.sum() + smoothing * vocabulary_size)
    return np.tile(shares, (vocabulary_size, 1))


@misconception(
    of="language_model.train_bigram",
    name="logarithms to base 2",
    why="The log-probabilities are in base 2; the contract asks for natural logarithms.",
)
def table_in_bits(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return right.bigram_table(tokens, vocabulary_size, smoothing) ** (1 / math.log(2))  # its natural logarithm is log2


@misconception(
    of="language_model.train_bigram",
    name="probabilities in place of logarithms",
    why="What comes back are probabilities; the contract asks for their natural logarithms.",
)
def table_of_exponentials(tokens: Array, vocabulary_size: int, smoothing: float = 1.0) -> Any:
    return np.exp(right.bigram_table(tokens, vocabulary_size, smoothing))


@misconception(
    of="language_model.bigram_log_probs",
    name="logarithms to base 2",
    why="The log-probabilities are in base 2; the contract asks for natural logarithms.",
)
def logs_in_bits(model: Array, tokens: Array) -> Any:
    return np.log2(model[tokens[:-1], tokens[1:]])


@misconception(
    of="language_model.bigram_log_probs",
    name="logarithms to base 10",
    why="The log-probabilities are in base 10; the contract asks for natural logarithms.",
)
def logs_to_base_ten(model: Array, tokens: Array) -> Any:
    return np.log10(model[tokens[:-1], tokens[1:]])


@misconception(
    of="language_model.bigram_log_probs",
    name="probabilities in place of logarithms",
    why="What comes back are probabilities; the contract asks for their natural logarithms.",
)
def probabilities(model: Array, tokens: Array) -> Any:
    return model[tokens[:-1], tokens[1:]]


@misconception(
    of="language_model.bigram_log_probs",
    name="sign lost",
    why="These are losses, -ln p; the contract asks for ln p.",
)
def losses(model: Array, tokens: Array) -> Any:
    return -right.bigram_log_probs(model, tokens)


@misconception(
    of="language_model.bigram_log_probs",
    name="rows and columns swapped",
    why="The table is indexed with the word after first: that is the probability of the word before.",
)
def looked_up_backwards(model: Array, tokens: Array) -> Any:
    return np.log(model[tokens[1:], tokens[:-1]])


@misconception(
    of="language_model.bigram_log_probs",
    name="running sum",
    why="Entry t is the log-probability of the whole text up to there; the contract asks for each word's own.",
)
def running_sum(model: Array, tokens: Array) -> Any:
    return np.cumsum(right.bigram_log_probs(model, tokens))


@misconception(
    of="language_model.bigram_log_probs",
    name="mean over the text in every entry",
    why="The log-probabilities are averaged; the contract asks for each word's own.",
)
def averaged(model: Array, tokens: Array) -> Any:
    logs = right.bigram_log_probs(model, tokens)
    return np.full_like(logs, logs.mean() if len(logs) else 0.0)


@misconception(
    of="language_model.bigram_log_probs",
    name="sum in place of the entries",
    why="One number comes back, the log-probability of the text; the contract asks for one per word after the first.",
)
def summed(model: Array, tokens: Array) -> Any:
    return right.bigram_log_probs(model, tokens).sum()


@misconception(
    of="language_model.bigram_log_probs",
    name="first word predicted from the last",
    why="Entry 0 pairs the last word with the first (tokens[i-1] at i = 0), so there is one entry too many.",
)
def first_word_from_the_last(model: Array, tokens: Array) -> Any:
    return np.log(model[np.roll(tokens, 1), tokens])


@misconception(
    of="language_model.bigram_log_probs",
    name="last pair left out",
    why="The loop over pairs stops one too early.",
)
def last_pair_left_out(model: Array, tokens: Array) -> Any:
    return right.bigram_log_probs(model, tokens)[:-1]


@misconception(
    of="language_model.bigram_log_probs",
    name="in reverse order",
    why="The entries come from the end of the text to its start.",
)
def reverse_order(model: Array, tokens: Array) -> Any:
    return right.bigram_log_probs(model, tokens)[::-1]


@misconception(
    of="language_model.bigram_log_probs",
    name="divided by the length",
    why="Every entry is divided by their number; that is for the mean, after summing.",
)
def divided_by_length(model: Array, tokens: Array) -> Any:
    return right.bigram_log_probs(model, tokens) / max(1, len(tokens) - 1)


@misconception(
    of="language_model.bigram_log_probs",
    name="one word raises",
    why="A text of one word has no pair: the result is an empty array, not an error.",
)
def one_word_raises(model: Array, tokens: Array) -> Any:
    return np.stack([np.log(model[a, b]) for a, b in pairwise(tokens)])


# --------------------------------------------------------------------- bigrams, learned


def _trained(
    tokens: Array,
    embeddings: Array,
    hidden: int,
    steps: int,
    seed: int,
    *,
    targets: Array | None = None,
    rate: float = 1.0,
    moved: tuple[str, ...] = ("W1", "b1", "W2", "b2"),
) -> dict[str, Array]:
    """Train by plain gradient descent, with another target, direction, or only some of the parameters."""
    size, width = embeddings.shape
    shares = np.zeros((size, size))
    np.add.at(shares, (tokens[:-1], tokens[1:] if targets is None else targets), 1 / (len(tokens) - 1))
    rng = np.random.default_rng(seed)
    params: dict[str, Array] = {
        "W1": rng.normal(size=(width, hidden)) / np.sqrt(width),
        "b1": np.zeros((1, hidden)),
        "W2": rng.normal(size=(hidden, size)) / np.sqrt(hidden),
        "b2": np.zeros((1, size)),
    }
    for _ in range(steps):
        gradients = right._gradients(shares, embeddings, params)  # noqa: SLF001 - what is right is the reference's
        params = {key: value - rate * gradients[key] * (key in moved) for key, value in params.items()}
    return params  # fmt: skip


@misconception(
    of="language_model.train_neural_bigram",
    name="gradient added",
    why="The parameters move up the loss: the gradient is to be subtracted.",
)
def gradient_added(tokens: Array, embeddings: Array, hidden: int, steps: int, seed: int) -> Any:
    return _trained(tokens, embeddings, hidden, steps, seed, rate=-0.1)


@misconception(
    of="language_model.train_neural_bigram",
    name="parameters never updated",
    why="The gradients are computed and thrown away: the parameters returned are the first ones.",
)
def never_updated(tokens: Array, embeddings: Array, hidden: int, steps: int, seed: int) -> Any:
    return _trained(tokens, embeddings, hidden, 0, seed)


@misconception(
    of="language_model.train_neural_bigram",
    name="target is the word itself",
    why="The network learns to repeat its input: the target of position t is token t+1.",
)
def target_is_the_input(tokens: Array, embeddings: Array, hidden: int, steps: int, seed: int) -> Any:
    return _trained(tokens, embeddings, hidden, steps, seed, targets=tokens[:-1])


@misconception(
    of="language_model.train_neural_bigram",
    name="predicts the word before",
    why="Inputs and targets are exchanged: the word after is read, the word before is predicted.",
)
def predicts_backwards(tokens: Array, embeddings: Array, hidden: int, steps: int, seed: int) -> Any:
    return _trained(tokens[::-1], embeddings, hidden, steps, seed)


@misconception(
    of="language_model.train_neural_bigram",
    name="only the output bias is trained",
    why="The gradient reaches no matrix: what is learned are the frequencies of single words.",
)
def output_bias_only(tokens: Array, embeddings: Array, hidden: int, steps: int, seed: int) -> Any:
    start = _trained(tokens, embeddings, hidden, 0, seed)
    params = _trained(tokens, np.zeros_like(embeddings), hidden, steps, seed, moved=("b2",))
    return {**params, "W1": np.zeros_like(start["W1"])}


@misconception(
    of="language_model.train_neural_bigram",
    name="steps so small that nothing is learned",
    why="A few hundred updates are granted; with this learning rate they hardly move the parameters.",
)
def tiny_steps(tokens: Array, embeddings: Array, hidden: int, steps: int, seed: int) -> Any:
    return _trained(tokens, embeddings, hidden, steps, seed, rate=1e-4)


@misconception(
    of="language_model.train_neural_bigram",
    name="losses returned beside the parameters",
    why="A pair comes back; the contract asks for the dict of parameters alone.",
)
def losses_returned(tokens: Array, embeddings: Array, hidden: int, steps: int, seed: int) -> Any:
    return right.train_neural_bigram(tokens, embeddings, hidden, steps, seed), [0.0] * steps


@misconception(
    of="language_model.train_neural_bigram",
    name="embeddings trained in place",
    why="The update writes into the caller's array of embeddings; later calls see other ones.",
)
def embeddings_in_place(tokens: Array, embeddings: Array, hidden: int, steps: int, seed: int) -> Any:
    params = right.train_neural_bigram(tokens, embeddings, hidden, steps, seed)
    embeddings -= 0.01
    return params


@misconception(
    of="language_model.neural_log_probs",
    name="logarithms to base 2",
    why="The log-probabilities are in base 2; the contract asks for natural logarithms.",
)
def neural_in_bits(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    return right.neural_log_probs(params, embeddings, tokens) / math.log(2)


@misconception(
    of="language_model.neural_log_probs",
    name="probabilities in place of logarithms",
    why="What comes back are probabilities; the contract asks for their natural logarithms.",
)
def neural_probabilities(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    return np.exp(right.neural_log_probs(params, embeddings, tokens))


@misconception(
    of="language_model.neural_log_probs",
    name="sign lost",
    why="These are losses, -ln p; the contract asks for ln p.",
)
def neural_losses(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    return -right.neural_log_probs(params, embeddings, tokens)


def _scores(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    return np.tanh(embeddings[tokens[:-1]] @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"]


@misconception(
    of="language_model.neural_log_probs",
    name="scores in place of log-probabilities",
    why="The softmax is missing: these are the network's scores, which need not be normalised.",
)
def neural_scores(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    return _scores(params, embeddings, tokens)[np.arange(len(tokens) - 1), tokens[1:]]


@misconception(
    of="language_model.neural_log_probs",
    name="softmax over the positions",
    why="The softmax sums over the text's positions; it must sum over the vocabulary.",
)
def neural_wrong_axis(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    weights = np.exp(_scores(params, embeddings, tokens))
    return np.log(weights / weights.sum(axis=0))[np.arange(len(tokens) - 1), tokens[1:]]


@misconception(
    of="language_model.neural_log_probs",
    name="predicts the word before",
    why="The network is given the word after and asked for the word before.",
)
def neural_backwards(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    return right.neural_log_probs(params, embeddings, tokens[::-1])[::-1]


@misconception(
    of="language_model.neural_log_probs",
    name="mean in place of the entries",
    why="One number comes back; the contract asks for one per word after the first.",
)
def neural_mean(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    return right.neural_log_probs(params, embeddings, tokens).sum() / max(1, len(tokens) - 1)


@misconception(
    of="language_model.neural_log_probs",
    name="running sum",
    why="Entry t is the log-probability of the whole text up to there; the contract asks for each word's own.",
)
def neural_running_sum(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    return np.cumsum(right.neural_log_probs(params, embeddings, tokens))


@misconception(
    of="language_model.neural_log_probs",
    name="modifies its input",
    why="The call writes into the caller's embeddings.",
)
def neural_modifies(params: dict[str, Array], embeddings: Array, tokens: Array) -> Any:
    result = right.neural_log_probs(params, embeddings, tokens)
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    return result


# --------------------------------------------------------------------------- characters


def _char(change: Callable[[Any], Any]) -> Any:
    return staticmethod(lambda model, text: change(right.char_log_probs(model, text)))


@misconception(
    of="language_model.char_model",
    name="unseen character raises",
    why="The model looks a character up that its training text does not have; unseen ones need a cell of their own.",
)
class UnseenRaises:
    @staticmethod
    def char_log_probs(model: CharModel, text: str) -> Any:
        absent = sorted(set(text) - set(model.single))
        if absent:
            raise KeyError(absent[0])
        return right.char_log_probs(model, text)


@misconception(
    of="language_model.char_model",
    name="unseen character impossible",
    why="A character that the training text does not have gets the probability 0, whose logarithm is -inf.",
)
class UnseenImpossible:
    @staticmethod
    def char_log_probs(model: CharModel, text: str) -> Any:
        seen = np.array([character in model.single for character in text[1:]])
        return np.where(seen, right.char_log_probs(model, text), -np.inf)


@misconception(
    of="language_model.char_model",
    name="unseen cell not counted",
    why="The characters seen already sum to 1, and the unseen one is given a probability on top.",
)
class UnseenOnTop:
    @staticmethod
    def char_log_probs(model: CharModel, text: str) -> Any:
        size = len(model.single)
        pairs = pairwise(text)
        return np.log([(model.pairs[pair] + 1) / (model.before[pair[0]] + size) for pair in pairs])


@misconception(
    of="language_model.char_model",
    name="unseen character costs nothing",
    why="Unseen characters are skipped with a log-probability of 0: that is certainty.",
)
class UnseenIsCertain:
    @staticmethod
    def char_log_probs(model: CharModel, text: str) -> Any:
        seen = np.array([character in model.single for character in text[1:]])
        return np.where(seen, right.char_log_probs(model, text), 0.0)


@misconception(
    of="language_model.char_model",
    name="logarithms to base 2",
    why="The log-probabilities are in base 2; the contract asks for natural logarithms.",
)
class InBits:
    char_log_probs = _char(lambda logs: logs / math.log(2))


@misconception(
    of="language_model.char_model",
    name="logarithms to base 10",
    why="The log-probabilities are in base 10; the contract asks for natural logarithms.",
)
class ToBaseTen:
    char_log_probs = _char(lambda logs: logs / math.log(10))


@misconception(
    of="language_model.char_model",
    name="probabilities in place of logarithms",
    why="What comes back are probabilities; the contract asks for their natural logarithms.",
)
class Probabilities:
    char_log_probs = _char(np.exp)


@misconception(
    of="language_model.char_model",
    name="sign lost",
    why="These are losses, -ln p; the contract asks for ln p.",
)
class Losses:
    char_log_probs = _char(np.negative)


@misconception(
    of="language_model.char_model",
    name="one entry too many",
    why="The first character gets an entry as well; nothing precedes it, so the contract asks for len-1.",
)
class OneTooMany:
    char_log_probs = _char(lambda logs: np.append(-1.0, logs))


@misconception(
    of="language_model.char_model",
    name="average in place of the entries",
    why="One number comes back; the contract asks for one per character after the first.",
)
class Averaged:
    char_log_probs = _char(np.mean)


@misconception(
    of="language_model.char_model",
    name="uniform over the alphabet",
    why="Every character is equally likely: nothing was learned from the text.",
)
class Uniform:
    @staticmethod
    def char_log_probs(model: CharModel, text: str) -> Any:
        return np.full(len(text) - 1, -math.log(len(model.single) + 1))


@misconception(
    of="language_model.char_model",
    name="no context",
    why="These are the frequencies of single characters: the characters before do not enter.",
)
class NoContext:
    @staticmethod
    def char_log_probs(model: CharModel, text: str) -> Any:
        total = model.single.total() + len(model.single) + 1
        return np.log([(model.single[character] + 1) / total for character in text[1:]])


@misconception(
    of="language_model.char_model",
    name="predicts from the character after",
    why="Each character is predicted from the one that follows it: the future is not known when one predicts.",
)
class FromTheFuture:
    @staticmethod
    def train_char_model(text: str) -> Any:
        return right.train_char_model(text[::-1])

    @staticmethod
    def char_log_probs(model: CharModel, text: str) -> Any:
        return right.char_log_probs(model, (text[1:] + text[:1])[::-1])[::-1]


@misconception(
    of="language_model.char_model",
    name="learns from the text it is asked about",
    why="The counts of the text to predict are added before predicting it: the answer is used to find the answer.",
)
class LearnsFromTheTest:
    @staticmethod
    def char_log_probs(model: CharModel, text: str) -> Any:
        own = right.train_char_model(text)
        counts: list[Any] = [
            Counter({key: 20 * count for key, count in each.items()}) for each in (own.single, own.pairs, own.before)
        ]
        return right.char_log_probs(type(model)(*counts), text)


@misconception(
    of="language_model.char_model",
    name="preprocessing changes nothing",
    why="The text comes back as it was; capitals and curly quotes stay characters the model has never seen.",
)
class ChangesNothing:
    preprocess = staticmethod(str)


@misconception(
    of="language_model.char_model",
    name="preprocessing returns a list",
    why="A list of words or characters comes back; the contract asks for text.",
)
class ReturnsWords:
    preprocess = staticmethod(str.split)


@misconception(
    of="language_model.char_model",
    name="preprocessing returns nothing",
    why="Texts do not change in place: text.lower() makes a new one, which must be returned.",
)
class ReturnsNothing:
    preprocess = staticmethod(lambda text: None)


@misconception(
    of="language_model.char_model",
    name="preprocessing raises on characters outside ASCII",
    why="text.encode('ascii') raises on the first accent or curly quote unless it is told what to do with them.",
)
class AsciiOnly:
    preprocess = staticmethod(lambda text: text.encode("ascii").decode().lower())


@misconception(
    of="language_model.char_model",
    name="preprocessing throws the letters away",
    why="Every letter becomes the same one: perplexity is low because the text says nothing any more.",
)
class ThrowsAway:
    preprocess = staticmethod(lambda text: "".join("a" if character.isalpha() else character for character in text))


@misconception(
    of="language_model.char_model",
    name="preprocessing raises on an empty text",
    why="text[0] does not exist in an empty text.",
)
class EmptyRaises:
    @staticmethod
    def preprocess(text: str) -> str:
        first = text[0].lower()
        return first + right.preprocess(unicodedata.normalize("NFC", text[1:]))
