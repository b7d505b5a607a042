"""Language models as the sheets ask for them: bigrams counted, bigrams learned, characters.

Word models take token ids 0 … V-1. A character model has one cell more than its training
text has characters: whatever it has never seen falls into that one, so every text has a
finite perplexity.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

# --------------------------------------------------------------------- bigrams, counted


def bigram_table(tokens: npt.ArrayLike, vocabulary_size: int, smoothing: float = 1.0) -> Array:
    """Return p(b|a) = (n_ab + s) / (n_a + s V) at [a, b]; n_a counts a as a predecessor.

    The last token of the text precedes nothing, so it is not counted: n_a is the sum of
    n_ab over b, and every row sums to one.

    >>> bigram_table([0, 1, 0, 1, 1], 3)
    array([[0.2       , 0.6       , 0.2       ],
           [0.4       , 0.4       , 0.2       ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    ids = np.asarray(tokens, dtype=np.int64)  # (N,)
    counts = np.zeros((vocabulary_size, vocabulary_size))  # (V, V): n_ab
    np.add.at(counts, (ids[:-1], ids[1:]), 1.0)
    totals = counts.sum(axis=1, keepdims=True)  # (V, 1): n_a
    return cast("Array", (counts + smoothing) / (totals + smoothing * vocabulary_size))  # (V, V)


def train_bigram(tokens: npt.ArrayLike, vocabulary_size: int, smoothing: float = 1.0) -> Array:
    """Return a model: here the table of probabilities itself.

    >>> train_bigram([0, 1, 0], 2)[0].round(3)
    array([0.333, 0.667])
    """
    return bigram_table(tokens, vocabulary_size, smoothing)  # (V, V)


def bigram_log_probs(model: Array, tokens: npt.ArrayLike) -> Array:
    """Return ln p(x_t+1 | x_t) for every token but the first, which nothing precedes.

    >>> bigram_log_probs(np.array([[0.25, 0.75], [0.5, 0.5]]), [0, 1, 1]).round(4)
    array([-0.2877, -0.6931])
    """
    ids = np.asarray(tokens, dtype=np.int64)  # (N,)
    log_probs: Array = np.log(model[ids[:-1], ids[1:]])  # (N-1,)
    return log_probs


# --------------------------------------------------------------------- bigrams, learned


def train_neural_bigram(
    tokens: npt.ArrayLike, embeddings: npt.ArrayLike, hidden: int, steps: int, seed: int
) -> dict[str, Array]:
    """Fit softmax(tanh(E[a] W1 + b1) W2 + b2) to the successors of a by Adam on the whole text.

    The text enters through its counts n_ab alone: the mean cross-entropy over all pairs is a sum
    over the V² kinds of pair, so that a step costs the same however long the text is.

    >>> params = train_neural_bigram([0, 1] * 20, np.eye(2), hidden=3, steps=200, seed=0)
    >>> sorted(params)
    ['W1', 'W2', 'b1', 'b2']
    >>> bool(np.exp(neural_log_probs(params, np.eye(2), [0, 1, 0])).min() > 0.9)
    True
    """
    ids = np.asarray(tokens, dtype=np.int64)  # (N,)
    E = np.asarray(embeddings, dtype=np.float64)  # (V, e)
    V, e = E.shape
    shares = np.zeros((V, V))  # (V, V): n_ab / (N-1)
    np.add.at(shares, (ids[:-1], ids[1:]), 1 / max(1, len(ids) - 1))
    rng = np.random.default_rng(seed)
    params = {
        "W1": rng.normal(size=(e, hidden)) / np.sqrt(e), "b1": np.zeros((1, hidden)),
        "W2": rng.normal(size=(hidden, V)) / np.sqrt(hidden), "b2": np.zeros((1, V)),
    }  # fmt: skip
    mean = {name: np.zeros_like(value) for name, value in params.items()}
    square = {name: np.zeros_like(value) for name, value in params.items()}
    for step in range(1, steps + 1):
        for name, gradient in _gradients(shares, E, params).items():
            mean[name] = 0.9 * mean[name] + 0.1 * gradient
            square[name] = 0.99 * square[name] + 0.01 * gradient * gradient
            size = np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8
            params[name] = params[name] - 0.05 * mean[name] / (1 - 0.9**step) / size
    return params


def _gradients(shares: Array, E: Array, params: Mapping[str, Array]) -> dict[str, Array]:
    """Return the gradients of -sum_ab shares_ab ln p(b|a)."""
    h = np.tanh(E @ params["W1"] + params["b1"])  # (V, H)
    scores = h @ params["W2"] + params["b2"]  # (V, V)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))  # (V, V)
    predicted = weights / weights.sum(axis=1, keepdims=True)  # (V, V)
    d_scores = shares.sum(axis=1, keepdims=True) * predicted - shares  # (V, V)
    d_h = d_scores @ params["W2"].T * (1 - h * h)  # (V, H)
    return {
        "W1": E.T @ d_h, "b1": d_h.sum(axis=0, keepdims=True),
        "W2": h.T @ d_scores, "b2": d_scores.sum(axis=0, keepdims=True),
    }  # fmt: skip


def neural_log_probs(params: Mapping[str, Array], embeddings: npt.ArrayLike, tokens: npt.ArrayLike) -> Array:
    """Return ln p(x_t+1 | x_t) of the network for every token but the first.

    >>> params = {"W1": np.eye(2), "b1": np.zeros((1, 2)), "W2": np.zeros((2, 2)), "b2": np.zeros((1, 2))}
    >>> neural_log_probs(params, np.eye(2), [0, 1, 1]).round(4)
    array([-0.6931, -0.6931])
    """
    ids = np.asarray(tokens, dtype=np.int64)  # (N,)
    E = np.asarray(embeddings)  # (V, e)
    h = np.tanh(E[ids[:-1]] @ params["W1"] + params["b1"])  # (N-1, H)
    scores = h @ params["W2"] + params["b2"]  # (N-1, V)
    shifted = scores - scores.max(axis=1, keepdims=True)  # (N-1, V), at most 0
    log_sums = np.log(np.exp(shifted).sum(axis=1))  # (N-1,)
    return cast("Array", shifted[np.arange(len(ids) - 1), ids[1:]] - log_sums)  # (N-1,)


# --------------------------------------------------------------------------- characters


@dataclass(frozen=True, slots=True)
class CharModel:
    """The counts of a text's characters and of their pairs."""

    single: Counter[str]
    pairs: Counter[tuple[str, str]]
    before: Counter[str]  # n_a: a as a predecessor


BACKOFF = 4.0  # how many observed characters the characters' plain frequencies are worth


def train_char_model(text: str) -> CharModel:
    """Count characters and pairs of characters.

    >>> train_char_model("abab").pairs["a", "b"]
    2
    """
    return CharModel(Counter(text), Counter(pairwise(text)), Counter(text[:-1]))


def char_log_probs(model: CharModel, text: str) -> Array:
    """Return ln p(c_t+1 | c_t) = ln (n_ab + k u_b) / (n_a + k), where u_b = (n_b + 1) / (N + K + 1).

    K is the number of characters in the training text. The unseen ones share one cell with
    u = 1 / (N + K + 1), so that the K + 1 cells sum to one after every character.

    >>> char_log_probs(train_char_model("abab"), "aba€").round(3)
    array([-0.48 , -0.611, -2.351])
    """
    total = model.single.total() + len(model.single) + 1  # N + K + 1
    plain = np.array([(model.single[b] + 1) / total for b in text[1:]])  # (len-1,): u_b
    seen = np.array([model.pairs[pair] for pair in pairwise(text)])  # (len-1,): n_ab
    before = np.array([model.before[a] for a in text[:-1]])  # (len-1,): n_a
    return np.log((seen + BACKOFF * plain) / (before + BACKOFF))  # (len-1,)


TYPOGRAPHY = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
    "–": "-", "—": "-", "−": "-", "…": "...",
})  # fmt: skip


def preprocess(text: str) -> str:
    r"""Return the text in lower case, with plain quotes and dashes, without accents, one space for any white space.

    >>> preprocess("“Café”  —  THE\nEND…")
    '"cafe" - the end...'
    """
    plain = unicodedata.normalize("NFKD", text.translate(TYPOGRAPHY)).lower()
    bare = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(bare.split())
