"""What every right averaging.py does.

Inputs are designed for the mistakes they must expose: all sizes pairwise different, one to
three layers, biases that are not zero, a padding id that is a word like any other with an
embedding that is not zero, padding in the middle of a row, words that occur twice.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from checks import inputs
from checks.check import check, given
from checks.expect import call, expect, expect_close, expect_finite
from checks.inputs import Array, Draw
from checks.standard import agreement, unmodified

Ids = NDArray[np.int64]
Layers = list[tuple[Array, Array]]
PADDED = 170  # bytes from here on are padding: a third of the cells


@cache
def rows_of_ids(shape: tuple[int, int], words: int, padding: int) -> st.SearchStrategy[Ids]:
    """Draw rows of ids below `words`, a third of them padding; no row is padding only."""
    some_word = 1 if padding == 0 else 0

    def build(raw: bytes) -> Ids:
        drawn = np.frombuffer(raw, dtype=np.uint8)
        ids = np.where(drawn < PADDED, drawn % words, padding).astype(np.int64).reshape(shape)
        empty = (ids == padding).all(axis=1)
        ids[empty, -1] = some_word
        return ids

    size = shape[0] * shape[1]
    return st.binary(min_size=size, max_size=size).map(build)


@st.composite
def stacks(draw: Draw, e: int, out: int, depths: tuple[int, ...] = (1, 2, 3)) -> Layers:
    """Draw layers from width e to width out, weights of both signs and biases that are not zero."""
    hidden = (7, 8)[: draw(st.sampled_from(depths)) - 1]
    ends = [e, *hidden, out]
    return [
        (draw(inputs.grid((below, above), limit=1)), draw(inputs.grid((above,), limit=1)))
        for below, above in pairwise(ends)
    ]


@st.composite
def networks(
    draw: Draw, *, depths: tuple[int, ...] = (1, 2, 3), paddings: tuple[int, ...] = (0, 1, 3)
) -> tuple[Any, ...]:
    """Draw ids, embeddings, layers and a padding id; batch, length and both widths pairwise different."""
    batch, n, e, out = draw(inputs.sizes(4))
    words = draw(st.sampled_from([6, 9]))
    padding = draw(st.sampled_from(paddings))
    ids = draw(rows_of_ids((batch, n), words, padding))
    embeddings = draw(inputs.grid((words, e)))
    return ids, embeddings, draw(stacks(e, out, depths)), padding


@st.composite
def calls(draw: Draw) -> tuple[Any, ...]:
    """Draw a network; the padding id is left out at times where it is 0."""
    ids, embeddings, layers, padding = draw(networks())
    if padding == 0 and draw(st.booleans()):
        return ids, embeddings, layers
    return ids, embeddings, layers, padding


@st.composite
def networks_and_orders(draw: Draw) -> tuple[Any, ...]:
    """Draw a network and an order of the words of each row."""
    network = draw(networks())
    batch, n = network[0].shape
    return *network, np.stack([draw(inputs.orders(n)) for _ in range(batch)])


@st.composite
def networks_and_gaps(draw: Draw) -> tuple[Any, ...]:
    """Draw a network and places for more padding: in front, in between or behind."""
    network = draw(networks())
    n = network[0].shape[1]
    gaps = draw(st.lists(st.integers(0, n), min_size=1, max_size=4))
    return *network, gaps


@st.composite
def networks_and_other_embedding(draw: Draw) -> tuple[Any, ...]:
    """Draw a network and another embedding for its padding id."""
    network = draw(networks())
    return *network, draw(inputs.grid((network[1].shape[1],)))


deep_averaging_network_agrees = agreement(
    of="averaging.deep_averaging_network",
    arguments=calls(),
    claim="The embeddings of a row's words, padding left out, are averaged; then layer after layer x W + b,"
    " with tanh between layers and none after the last.",
    hint="Take one row of two words and one padding by hand. What do you divide by, and where is there a tanh?",
)

deep_averaging_network_leaves_arguments_alone = unmodified(of="averaging.deep_averaging_network", arguments=calls())


@check(
    of="averaging.deep_averaging_network",
    claim="The order of the words does not matter.",
    hint="An average has no order. Padding may stand between words: do you assume that it comes last?",
)
@given(case=networks_and_orders())
def order_does_not_matter(deep_averaging_network: Any, case: tuple[Any, ...]) -> None:
    ids, *rest, orders = case
    moved = np.take_along_axis(ids, orders, axis=1)
    about = call("deep_averaging_network", moved, *rest)
    expect_close(about, got=deep_averaging_network(moved, *rest), want=deep_averaging_network(ids, *rest), scale=4.0)


@check(
    of="averaging.deep_averaging_network",
    claim="Padding does not matter: more of it, anywhere in a row, changes nothing.",
    hint="Padding adds nothing to the sum and nothing to the count. Divide by the number of words of each row.",
)
@given(case=networks_and_gaps())
def padding_does_not_matter(deep_averaging_network: Any, case: tuple[Any, ...]) -> None:
    ids, embeddings, layers, padding, gaps = case
    padded = np.insert(ids, gaps, padding, axis=1)
    about = call("deep_averaging_network", padded, embeddings, layers, padding)
    wanted = deep_averaging_network(ids, embeddings, layers, padding)
    expect_close(about, got=deep_averaging_network(padded, embeddings, layers, padding), want=wanted, scale=4.0)


@check(
    of="averaging.deep_averaging_network",
    claim="The embedding of the padding id has no influence, whatever it holds.",
    hint="The row of the padding id need not be zero, and the padding id need not be 0. Leave those positions out.",
)
@given(case=networks_and_other_embedding())
def embedding_of_padding_is_not_used(deep_averaging_network: Any, case: tuple[Any, ...]) -> None:
    ids, embeddings, layers, padding, other = case
    changed = embeddings.copy()
    changed[padding] = other
    about = call("deep_averaging_network", ids, changed, layers, padding)
    wanted = deep_averaging_network(ids, embeddings, layers, padding)
    expect_close(about, got=deep_averaging_network(ids, changed, layers, padding), want=wanted, scale=4.0)


@check(
    of="averaging.deep_averaging_network",
    claim="The padding id may lie outside the vocabulary: with -1 in its place the result is the same.",
    hint="Compare with `padding`, not with 0, and do not look -1 up as if it were a word.",
)
@given(network=networks(paddings=(5,)))
def padding_may_be_minus_one(deep_averaging_network: Any, network: tuple[Any, ...]) -> None:
    ids, embeddings, layers, padding = network
    renamed = np.where(ids == padding, -1, ids)
    about = call("deep_averaging_network", renamed, embeddings, layers, -1)
    wanted = deep_averaging_network(*network)
    expect_close(about, got=deep_averaging_network(renamed, embeddings, layers, -1), want=wanted, scale=4.0)


@check(
    of="averaging.deep_averaging_network",
    claim="A row of padding only averages to zero, as a word does whose embedding is zero.",
    hint="Such a row has no words, and 0/0 is nan. What should its average be, and which count do you divide by?",
)
@given(network=networks())
def padding_only_averages_to_zero(deep_averaging_network: Any, network: tuple[Any, ...]) -> None:
    ids, embeddings, layers, padding = network
    empty, silent = ids.copy(), ids.copy()
    empty[0], silent[0] = padding, 4  # 4 is a word, and never the padding id
    quiet = embeddings.copy()
    quiet[4] = 0.0
    about = call("deep_averaging_network", empty, quiet, layers, padding)
    wanted = deep_averaging_network(silent, quiet, layers, padding)
    expect_close(about, got=deep_averaging_network(empty, quiet, layers, padding), want=wanted, scale=4.0)


@check(
    of="averaging.deep_averaging_network",
    claim="Saying every word twice changes nothing: it is an average, not a sum.",
    hint="Divide by the number of words. A sum, or a division by the root of their number, grows with the text.",
)
@given(network=networks())
def repeating_the_text_changes_nothing(deep_averaging_network: Any, network: tuple[Any, ...]) -> None:
    ids, *rest = network
    twice = np.concatenate([ids, ids], axis=1)
    about = call("deep_averaging_network", twice, *rest)
    expect_close(about, got=deep_averaging_network(twice, *rest), want=deep_averaging_network(ids, *rest), scale=4.0)


@check(
    of="averaging.deep_averaging_network",
    claim="A single layer is linear: its logits for a text are the average of its logits for each word,"
    " a word counted as often as it occurs.",
    hint="With one layer there is no tanh at all. Are repeated words counted, and is the sum divided by all of them?",
)
@given(network=networks(depths=(1,)))
def one_layer_averages_its_words(deep_averaging_network: Any, network: tuple[Any, ...]) -> None:
    ids, embeddings, layers, padding = network
    words = np.flatnonzero(np.arange(len(embeddings)) != padding)
    each = np.zeros((len(embeddings), len(layers[0][1])))
    each[words] = deep_averaging_network(words[:, np.newaxis], embeddings, layers, padding)
    is_word = ids != padding
    with np.errstate(all="ignore"):
        wanted = (each[ids] * is_word[..., np.newaxis]).sum(axis=1) / is_word.sum(axis=1, keepdims=True)
    about = call("deep_averaging_network", *network)
    expect_close(about, got=deep_averaging_network(*network), want=wanted, scale=4.0,
                 sentence="The logits of a text are not the average of those of its words.")  # fmt: skip


@check(
    of="averaging.deep_averaging_network",
    claim="Each text of the batch is classified alone: row b of the logits is the result for row b of the ids.",
    hint="Average over the words of a row (axis 1), each row by its own count. Does a batch of one keep its axis?",
)
@given(network=networks())
def texts_are_independent(deep_averaging_network: Any, network: tuple[Any, ...]) -> None:
    ids, *rest = network
    last = len(ids) - 1
    together, alone = deep_averaging_network(*network), deep_averaging_network(ids[last:], *rest)
    expect_close(
        call("deep_averaging_network", *network, then=f"[{last}]"), got=together[last], want=alone[0], scale=4.0
    )


@check(
    of="averaging.deep_averaging_network",
    claim="The result is logits, linear in the last layer: doubling its W and b doubles them.",
    hint="No tanh, softmax or sigmoid follows the last layer; the loss takes care of that.",
)
@given(network=networks())
def logits_are_linear_in_the_last_layer(deep_averaging_network: Any, network: tuple[Any, ...]) -> None:
    ids, embeddings, layers, padding = network
    W, b = layers[-1]
    doubled = [*layers[:-1], (2 * W, 2 * b)]
    about = call("deep_averaging_network", ids, embeddings, doubled, padding)
    with np.errstate(all="ignore"):
        wanted = 2 * deep_averaging_network(*network)
    expect_close(about, got=deep_averaging_network(ids, embeddings, doubled, padding), want=wanted, scale=8.0)


@check(
    of="averaging.deep_averaging_network",
    claim="tanh is odd: with all biases zero, turning the sign of every embedding turns the sign of the logits.",
    hint="Between the layers stands tanh. ReLU and the sigmoid treat negative numbers differently.",
)
@given(network=networks(depths=(2, 3)))
def signs_pass_through(deep_averaging_network: Any, network: tuple[Any, ...]) -> None:
    ids, embeddings, layers, padding = network
    unbiased = [(W, np.zeros_like(b)) for W, b in layers]
    turned = 0.0 - embeddings  # not -embeddings: a minus sign before a zero only confuses
    about = call("deep_averaging_network", ids, turned, unbiased, padding)
    with np.errstate(all="ignore"):
        wanted = 0.0 - deep_averaging_network(ids, embeddings, unbiased, padding)
    expect_close(about, got=deep_averaging_network(ids, turned, unbiased, padding), want=wanted, scale=8.0)


@check(
    of="averaging.deep_averaging_network",
    claim="Embeddings in the thousands saturate tanh: no logit is farther from its bias than its weights add up to.",
    hint="|tanh| <= 1, so |logit - b| <= sum |W|. If you see nan, exp overflowed: np.tanh does not.",
)
@given(network=networks(depths=(2, 3)))
def survives_extreme_embeddings(deep_averaging_network: Any, network: tuple[Any, ...]) -> None:
    ids, embeddings, layers, padding = network
    large = 4096 * embeddings
    logits = deep_averaging_network(ids, large, layers, padding)
    about = call("deep_averaging_network", ids, large, layers, padding)
    expect_finite(about, got=logits)
    W, b = layers[-1]
    within = np.abs(logits - b) <= np.abs(W).sum(axis=0) + 1e-3
    expect(about, holds=bool(within.all()), gave=logits, expected="|logit - b| <= the sum of |W| over its column",
           sentence="A logit is farther from its bias than tanh allows.")  # fmt: skip
