"""Wrong averaging networks: each function computes exactly what one mistake computes.

What is right in it is the reference's, so that a body shows the mistake and little else.
Ids are looked up as they are, as students do: NumPy reads -1 as the last word.
"""
# A misconception has the contract's signature even where the mistake is to ignore an argument
# (ARG001).
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from checks.misconception import misconception
from reference import attention
from reference import averaging as right

if TYPE_CHECKING:
    from reference.averaging import Array

Layers = list[tuple[Any, Any]]


def _summed(ids: Any, embeddings: Any, padding: int) -> Any:
    """Return the sum of the words' embeddings of each row."""
    return (embeddings[ids] * (ids != padding)[..., np.newaxis]).sum(axis=1)


def _counted(ids: Any, padding: int) -> Any:
    """Return the number of words of each row, at least one."""
    return np.maximum((ids != padding).sum(axis=1, keepdims=True), 1)


def _averaged(ids: Any, embeddings: Any, padding: int) -> Any:
    """Return the mean embedding of each row's words."""
    return _summed(ids, embeddings, padding) / _counted(ids, padding)


def _classified(hidden: Any, layers: Layers, between: Callable[[Any], Any] = np.tanh) -> Any:
    """Return the logits, with another function between the layers perhaps."""
    for depth, (W, b) in enumerate(layers):
        hidden = (between(hidden) if depth else hidden) @ W + b
    return hidden


# the average


@misconception(
    of="averaging.deep_averaging_network",
    name="padding averaged in",
    why="The mean runs over all positions of a row, padding included; padding is no word.",
)
def average_of_everything(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(embeddings[ids].mean(axis=1), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="divided by the padded length",
    why="Padding adds nothing to the sum, but the sum is divided by the length of the padded row;"
    " divide by the number of words.",
)
def average_over_padded_length(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_summed(ids, embeddings, padding) / ids.shape[1], layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="embedding of padding assumed zero",
    why="The words are counted right, but the padding's embedding is added to the sum; it need not be zero.",
)
def average_with_padding_summed(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(embeddings[ids].sum(axis=1) / _counted(ids, padding), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="padding argument ignored",
    why="Ids are compared with 0 whatever `padding` says; where padding is another id, 0 is a word.",
)
def average_zero_is_padding(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_averaged(ids, embeddings, 0), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="words taken to be ids above the padding",
    why="`ids > padding` drops every word with a smaller id; only the padding id itself is no word.",
)
def average_above_padding(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    is_word = ids > padding
    counts = np.maximum(is_word.sum(axis=1, keepdims=True), 1)
    return _classified((embeddings[ids] * is_word[..., np.newaxis]).sum(axis=1) / counts, layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="padding assumed at the end",
    why="The first positions are averaged, as many as there are words; padding may stand between words as well.",
)
def average_of_first_words(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    counts = _counted(ids, padding)
    first = np.arange(ids.shape[1]) < (ids != padding).sum(axis=1, keepdims=True)
    return _classified((embeddings[ids] * first[..., np.newaxis]).sum(axis=1) / counts, layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="stops at the first padding",
    why="The row is cut where the first padding stands; words after it count too.",
)
def average_up_to_padding(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    before = np.logical_and.accumulate(ids != padding, axis=1)
    counts = np.maximum(before.sum(axis=1, keepdims=True), 1)
    return _classified((embeddings[ids] * before[..., np.newaxis]).sum(axis=1) / counts, layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="row of padding only gives nan",
    why="A row without words has the count 0, and 0/0 is nan; such a row averages to zero.",
)
def average_of_nothing(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    counts = (ids != padding).sum(axis=1, keepdims=True)
    return _classified(_summed(ids, embeddings, padding) / counts, layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="sum in place of the average",
    why="The embeddings are added and not divided by the number of words, so long texts get large numbers.",
)
def average_not_divided(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_summed(ids, embeddings, padding), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="divided by the root of the count",
    why="The sum is divided by sqrt(number of words), as torch's EmbeddingBag users do for variance;"
    " an average divides by the number itself.",
)
def average_over_root(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_summed(ids, embeddings, padding) / _counted(ids, padding) ** 0.5, layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="count off by one",
    why="One is added to the count to avoid 0/0, which makes every average too small; use at least one instead.",
)
def average_over_one_more(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    counts = (ids != padding).sum(axis=1, keepdims=True) + 1
    return _classified(_summed(ids, embeddings, padding) / counts, layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="one count for the whole batch",
    why="Every row is divided by the number of words of the whole batch over the number of rows;"
    " each row has its own count.",
)
def average_over_batch_count(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    mean_count = (ids != padding).sum() / len(ids)
    return _classified(_summed(ids, embeddings, padding) / mean_count, layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="averaged over the batch",
    why="The mean is taken over the rows in place of the words, so the result has a row per position.",
)
def average_over_rows(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    is_word = (ids != padding)[..., np.newaxis]
    totals = (embeddings[ids] * is_word).sum(axis=0)
    return _classified(totals / np.maximum(is_word.sum(axis=0), 1), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="every word counted once",
    why="Repeated words are dropped (a set of words); the average counts a word as often as it occurs.",
)
def average_of_distinct(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    rows = []
    for row in ids:
        words = np.unique(row[row != padding])
        rows.append(embeddings[words].sum(axis=0) / max(len(words), 1))
    return _classified(np.stack(rows), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="maximum in place of the average",
    why="The largest value of each feature is taken (max pooling); the network averages.",
)
def average_by_maximum(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    is_word = (ids != padding)[..., np.newaxis]
    largest = np.where(is_word, embeddings[ids], -np.inf).max(axis=1)
    return _classified(np.where(np.isfinite(largest), largest, 0), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="embedding of padding zeroed in place",
    why="`embeddings[padding] = 0` writes into the caller's table, and with padding = -1 it wipes out the last word.",
)
def average_zeroes_padding(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    embeddings[padding] = 0
    return _classified(embeddings[ids].sum(axis=1) / _counted(ids, padding), layers)


# the layers


@misconception(
    of="averaging.deep_averaging_network",
    name="tanh after the last layer",
    why="The last layer is squashed too; there is a tanh between layers only, and the result is logits.",
)
def layers_end_in_tanh(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return np.tanh(right.deep_averaging_network(ids, embeddings, layers, padding))


@misconception(
    of="averaging.deep_averaging_network",
    name="tanh before the first layer",
    why="The average itself is squashed; the first tanh stands after the first layer.",
)
def layers_start_with_tanh(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(np.tanh(_averaged(ids, embeddings, padding)), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="tanh of the embeddings before averaging",
    why="Every word is squashed on its own and then averaged; the average comes first, tanh between layers.",
)
def layers_squash_words(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_averaged(ids, np.tanh(embeddings), padding), layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="no tanh between the layers",
    why="Without a nonlinearity the layers are one linear map, however many there are.",
)
def layers_without_tanh(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_averaged(ids, embeddings, padding), layers, lambda hidden: hidden)


@misconception(
    of="averaging.deep_averaging_network",
    name="ReLU in place of tanh",
    why="max(0, x) stands between the layers, as in many later implementations; this network uses tanh.",
)
def layers_with_relu(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_averaged(ids, embeddings, padding), layers, lambda hidden: np.maximum(hidden, 0))


@misconception(
    of="averaging.deep_averaging_network",
    name="sigmoid in place of tanh",
    why="The sigmoid stands between the layers; this network uses tanh, which is odd and centred at zero.",
)
def layers_with_sigmoid(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_averaged(ids, embeddings, padding), layers, lambda hidden: (1 + np.tanh(hidden / 2)) / 2)


@misconception(
    of="averaging.deep_averaging_network",
    name="words classified one by one, logits averaged",
    why="Each word runs through the network alone and the logits are averaged; with a tanh in between that is"
    " something else than averaging first.",
)
def layers_before_average(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    per_word = _classified(embeddings[ids], layers) * (ids != padding)[..., np.newaxis]
    empty = (ids == padding).all(axis=1, keepdims=True)
    return per_word.sum(axis=1) / _counted(ids, padding) + empty * _classified(0 * embeddings[:1], layers)


@misconception(
    of="averaging.deep_averaging_network",
    name="tanh overflows",
    why="(e^x - e^-x) / (e^x + e^-x) is inf/inf = nan for large x; np.tanh is not.",
)
def layers_overflowing(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    def by_hand(hidden: Any) -> Any:
        up, down = np.exp(np.asarray(hidden, dtype=np.float64)), np.exp(np.asarray(-hidden, dtype=np.float64))
        return (up - down) / (up + down)

    return _classified(_averaged(ids, embeddings, padding), layers, by_hand)


@misconception(
    of="averaging.deep_averaging_network",
    name="biases forgotten",
    why="Each layer is x W + b; the b is missing.",
)
def layers_without_biases(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return right.deep_averaging_network(ids, embeddings, [(W, 0 * b) for W, b in layers], padding)


@misconception(
    of="averaging.deep_averaging_network",
    name="bias of the last layer forgotten",
    why="The last layer is x W + b like the others; its b is missing.",
)
def layers_without_last_bias(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    *below, (W, b) = layers
    return right.deep_averaging_network(ids, embeddings, [*below, (W, 0 * b)], padding)


@misconception(
    of="averaging.deep_averaging_network",
    name="bias added after tanh",
    why="The layers compute tanh(x W) + b; the bias belongs inside the tanh.",
)
def layers_bias_outside(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    hidden = _averaged(ids, embeddings, padding)
    for W, b in layers[:-1]:
        hidden = np.tanh(hidden @ W) + b
    W, b = layers[-1]
    return hidden @ W + b


@misconception(
    of="averaging.deep_averaging_network",
    name="last layer left out",
    why="The loop ends one layer early, so what comes back is the last hidden layer and no logits.",
)
def layers_one_too_few(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    hidden = _averaged(ids, embeddings, padding)
    for W, b in layers[:-1]:
        hidden = np.tanh(hidden @ W + b)
    return hidden


@misconception(
    of="averaging.deep_averaging_network",
    name="two layers assumed",
    why="The list is unpacked into exactly two layers; it may hold one, or three.",
)
def layers_two_only(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    (W1, b1), (W2, b2) = layers
    return np.tanh(_averaged(ids, embeddings, padding) @ W1 + b1) @ W2 + b2


@misconception(
    of="averaging.deep_averaging_network",
    name="weights transposed",
    why="x W^T is torch's Linear, which keeps its weights as (out, in); here W is (in, out) and acts as x W.",
)
def layers_transposed(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return _classified(_averaged(ids, embeddings, padding), [(W.T, b) for W, b in layers])


# the result


@misconception(
    of="averaging.deep_averaging_network",
    name="softmax before the loss",
    why="Probabilities come back; the contract asks for logits, and torch's cross entropy would apply softmax again.",
)
def result_as_probabilities(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return attention.softmax(right.deep_averaging_network(ids, embeddings, layers, padding))


@misconception(
    of="averaging.deep_averaging_network",
    name="log-softmax before the loss",
    why="Log-probabilities come back, as torch's NLLLoss wants them; the contract asks for the logits.",
)
def result_as_log_probabilities(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return np.log(result_as_probabilities.function(ids, embeddings, layers, padding))


@misconception(
    of="averaging.deep_averaging_network",
    name="sigmoid before the loss",
    why="Each logit is squashed to a probability; the contract asks for the logits.",
)
def result_as_sigmoid(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return (1 + np.tanh(right.deep_averaging_network(ids, embeddings, layers, padding) / 2)) / 2


@misconception(
    of="averaging.deep_averaging_network",
    name="classes in place of logits",
    why="The position of the largest logit comes back; the contract asks for the logits themselves.",
)
def result_as_classes(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return right.deep_averaging_network(ids, embeddings, layers, padding).argmax(axis=-1)


@misconception(
    of="averaging.deep_averaging_network",
    name="axes of size one squeezed",
    why="A squeeze removes the axis of a single text or a single logit; the result is (B, classes) always.",
)
def result_squeezed(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    return np.squeeze(right.deep_averaging_network(ids, embeddings, layers, padding))


@misconception(
    of="averaging.deep_averaging_network",
    name="single logit squeezed",
    why="The last axis is dropped where there is one class, as a binary loss wants it; the result is (B, 1) then.",
)
def result_without_last_axis(ids: Any, embeddings: Array, layers: Layers, padding: int = 0) -> Any:
    logits = right.deep_averaging_network(ids, embeddings, layers, padding)
    return logits[:, 0] if logits.shape[1] == 1 else logits
