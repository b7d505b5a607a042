"""Texts with a known source: Markov chains whose entropy rate is known exactly, and a little prose.

Every row of a chain holds the same probabilities in another order. So the surprise
-ln P(x_t+1 | x_t) has the same distribution whatever x_t is: the surprises of a text are
independent, their expectation H is the entropy of one row, and Hoeffding's inequality holds
for their mean. No claim about the text's length being "long enough" is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Tokens = NDArray[np.int64]
Array = NDArray[np.float64]

CHANCE = 1e-9  # how probable it may be that a right model fails by bad luck
LUCK = math.log(1 / CHANCE)  # nats by which a model may beat the source on one text


@dataclass(frozen=True, slots=True)
class Chain:
    """A Markov chain: after a comes (target[a] + k) mod V with probability row[k]."""

    row: tuple[int, ...]  # in sixteenths
    targets: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of words V."""
        return len(self.row)

    @property
    def rate(self) -> float:
        """The entropy rate H in nats."""
        return -sum(count / 16 * math.log(count / 16) for count in self.row)

    @property
    def spread(self) -> float:
        """The width of the interval that a single surprise lies in."""
        return math.log(max(self.row) / min(self.row))

    def log_probs(self, tokens: Tokens) -> Array:
        """Return ln P(x_t+1 | x_t), the best that any model can know."""
        steps = (tokens[1:] - np.array(self.targets)[tokens[:-1]]) % self.size
        logs: Array = np.log(np.array(self.row) / 16)[steps]
        return logs

    def deviation(self, length: int) -> float:
        """Return what the mean surprise of that many words stays within of H, but for CHANCE.

        Hoeffding: P(|mean - H| >= e) <= 2 exp(-2 N e² / spread²).
        """
        return self.spread * math.sqrt(math.log(2 / CHANCE) / (2 * length))


CHAINS = (
    Chain((13, 3), (1, 0)),
    Chain((12, 3, 1), (1, 2, 0)),
    Chain((11, 3, 1, 1), (2, 0, 3, 0)),
    Chain((11, 2, 1, 1, 1), (3, 0, 1, 2, 1)),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """Two independent texts of one chain: one to train on, one held out."""

    chain: Chain
    train: Tokens
    held_out: Tokens


@cache
def sample(chain: Chain, length: int, number: int) -> Sample:
    """Return two texts of a chain; the number alone decides which."""
    rng = np.random.default_rng([number, length, chain.size])
    texts = []
    for _ in range(2):
        steps = rng.choice(chain.size, size=length, p=np.array(chain.row) / 16).tolist()
        word, text = 0, []
        for step in steps:
            word = (chain.targets[word] + step) % chain.size
            text.append(word)
        texts.append(np.array(text, dtype=np.int64))
    return Sample(chain, *texts)


def samples(length: int, chains: tuple[Chain, ...] = CHAINS) -> st.SearchStrategy[Sample]:
    """Draw one of a fixed number of texts: how lucky each of them is can be, and is, tested."""
    return st.builds(sample, st.sampled_from(chains), st.just(length), st.integers(0, 7))


def unigram_surprise(tokens: Tokens) -> float:
    """Return the mean surprise under the best model without context there can be for this very text."""
    counts = np.unique(tokens[1:], return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


# ------------------------------------------------------------------------------- prose

WORDS = (  # noqa: SIM905 - forty literals would be no easier to read
    "the a one every this that old small grey quiet river garden window letter morning winter harbour "
    "road house teacher sailor child neighbour opened closed found lost wrote read carried followed "
    "under over near behind with without and but so then again slowly never always"
).split()
MARKS = (" ",) * 12 + (", ", ". ", " - ", "' ", " '", '" ', ' "')


def prose(words: int, number: int) -> str:
    """Return words in lower case between spaces and plain ASCII marks."""
    rng = np.random.default_rng([number, words])
    chosen, marks = rng.integers(len(WORDS), size=words), rng.integers(len(MARKS), size=words)
    return "".join(WORDS[word] + MARKS[mark] for word, mark in zip(chosen, marks, strict=True))


TYPESET = str.maketrans({"'": "’", '"': "“", "-": "—", " ": " "})


def shouted(text: str) -> str:
    """Return a text as another source would print it: in capitals, with curly quotes and long dashes."""
    return text.upper().translate(TYPESET)


class Written:
    """Stands for a value in a call that is shown: `model`, or how it was made."""

    def __init__(self, text: Any) -> None:
        self._text = str(text)

    def __repr__(self) -> str:
        return self._text
