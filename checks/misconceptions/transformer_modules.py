"""Wrong torch modules: each class does exactly what one mistake does.

Classes are made when they are first asked for: torch takes seconds to import, and most runs
need none of them. A CausalLM starts from random weights, so two of them never give the same
numbers; here they are drawn from a fixed seed, so that a mistake at least agrees with itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from checks.misconception import misconception
from reference.positional import sinusoidal_encoding

# ------------------------------------------------------------------- positional encoding

Table = Callable[[int, int], Any]
Forward = Callable[[Any, Any], Any]


def _right_table(max_len: int, d_model: int) -> Any:
    return sinusoidal_encoding(max_len, d_model)


def _right_forward(self: Any, x: Any) -> Any:
    return x + self.table[: x.shape[1]]


@cache
def _encoding(table: Table = _right_table, forward: Forward = _right_forward, held: str = "buffer") -> Any:
    """Return a class with this table, this forward, and the table held as a buffer, parameter or attribute."""
    import torch
    from torch import nn

    class Wrong(nn.Module):
        def __init__(self, d_model: int, max_len: int) -> None:
            super().__init__()
            self.table: Any
            values = torch.as_tensor(np.asarray(table(max_len, d_model), dtype=np.float32))
            if held == "parameter":
                self.table = nn.Parameter(values)
            elif held == "attribute":
                self.table = values
            elif held == "frozen parameter":
                self.table = nn.Parameter(values, requires_grad=False)
            else:
                self.register_buffer("table", values, persistent=held != "unsaved buffer")

        def forward(self, x: Any) -> Any:
            return forward(self, x)

    return Wrong


def _mistaken_encoding(
    name: str, why: str, table: Table = _right_table, forward: Forward = _right_forward, held: str = "buffer"
) -> Any:
    def make(d_model: int, max_len: int) -> Any:
        return _encoding(table, forward, held)(d_model, max_len)

    return misconception(of="transformer.PositionalEncoding", name=name, why=why)(make)


table_is_a_parameter = _mistaken_encoding(
    "table registered as a parameter",
    "An nn.Parameter is trained: the optimiser changes the table. register_buffer keeps it as it is.",
    held="parameter",
)

table_is_a_frozen_parameter = _mistaken_encoding(
    "table registered as a parameter without gradient",
    "With requires_grad=False it is not trained, but parameters() still lists it; register_buffer is meant for this.",
    held="frozen parameter",
)

table_is_an_attribute = _mistaken_encoding(
    "table not registered",
    "A tensor that is a plain attribute is not saved in state_dict and stays behind when the module is moved.",
    held="attribute",
)

table_is_not_saved = _mistaken_encoding(
    "buffer not saved",
    "With persistent=False the buffer moves with the module but is no part of state_dict.",
    held="unsaved buffer",
)


def _table_on_first_call(self: Any, x: Any) -> Any:
    if "table_made" not in dict(self.named_buffers()):
        self.register_buffer("table_made", self.table.clone())
    return x + self.table_made[: x.shape[1]]


table_made_on_first_call = _mistaken_encoding(
    "table made on the first call",
    "A buffer that is registered in forward does not exist in a fresh module, which then cannot load a checkpoint.",
    forward=_table_on_first_call,
)


def _swapped(max_len: int, d_model: int) -> Any:
    return sinusoidal_encoding(max_len, d_model).reshape(max_len, -1, 2)[..., ::-1].reshape(max_len, d_model)


sine_and_cosine_swapped = _mistaken_encoding(
    "sine and cosine swapped",
    "Even columns hold cosines here; the sheet has sines in even columns, cosines in odd ones.",
    table=_swapped,
)


def _halves(max_len: int, d_model: int) -> Any:
    pairs = sinusoidal_encoding(max_len, d_model).reshape(max_len, -1, 2)
    return np.concatenate([pairs[..., 0], pairs[..., 1]], axis=1)


halves = _mistaken_encoding(
    "halves in place of interleaved",
    "All sines come first, then all cosines (as in Tensor2Tensor); the sheet interleaves them.",
    table=_halves,
)

positions_from_one = _mistaken_encoding(
    "positions from 1",
    "The first row belongs to position 1; the sheet counts positions from 0.",
    table=lambda max_len, d_model: sinusoidal_encoding(max_len + 1, d_model)[1:],
)


def _angles(max_len: int, d_model: int, exponents: Any, base: float = 10000.0) -> Any:
    """Return a table whose columns have their own exponents of the base."""
    angles = np.arange(max_len)[:, np.newaxis] / base**exponents
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))


exponent_i_over_d = _mistaken_encoding(
    "exponent i/d",
    "The exponent is 2i/d for the pair i of columns; with i/d every wavelength but the first is too short.",
    table=lambda max_len, d_model: _angles(max_len, d_model, np.arange(d_model) // 2 / d_model),
)

every_column_its_own_frequency = _mistaken_encoding(
    "every column its own frequency",
    "The exponent runs with the column; a sine and the cosine beside it share one frequency.",
    table=lambda max_len, d_model: _angles(max_len, d_model, np.arange(d_model) / d_model),
)

base_of_a_thousand = _mistaken_encoding(
    "base of 1000",
    "The base is 1000, as in the worked example of the sheet; the contract has 10000.",
    table=lambda max_len, d_model: sinusoidal_encoding(max_len, d_model, 1000.0),
)

x_replaced = _mistaken_encoding(
    "x replaced by the encoding",
    "The table is returned in place of x + table.",
    forward=lambda self, x: self.table[: x.shape[1]].expand_as(x).clone(),
)

x_scaled = _mistaken_encoding(
    "x scaled by sqrt(d_model)",
    "x is multiplied by sqrt(d_model) first, as the original transformer does with its embeddings; here it is not.",
    forward=lambda self, x: x * math.sqrt(x.shape[-1]) + self.table[: x.shape[1]],
)

sequence_first = _mistaken_encoding(
    "positions along the first axis",
    "This is the layout (n, B, d) of torch's tutorial; the contract's x is (B, n, d).",
    forward=lambda self, x: x + self.table[: x.shape[0], None],
)

last_rows = _mistaken_encoding(
    "last rows of the table",
    "A shorter sequence gets the last rows of the table; positions count from the start.",
    forward=lambda self, x: x + self.table[-x.shape[1] :],
)

first_row_for_all = _mistaken_encoding(
    "one position for all",
    "Every position gets the encoding of the first.",
    forward=lambda self, x: x + self.table[0],
)

multiplied = _mistaken_encoding(
    "multiplied in place of added",
    "x is multiplied by the encoding; it is added.",
    forward=lambda self, x: x * self.table[: x.shape[1]],
)

subtracted = _mistaken_encoding(
    "subtracted",
    "The encoding is taken from x; it is added.",
    forward=lambda self, x: x - self.table[: x.shape[1]],
)


def _in_place(self: Any, x: Any) -> Any:
    x += self.table[: x.shape[1]]
    return x


writes_into_x = _mistaken_encoding(
    "modifies its input",
    "x += … writes into the caller's tensor, which a residual connection may still need.",
    forward=_in_place,
)


def _only_whole_sequences(self: Any, x: Any) -> Any:
    return x + self.table


whole_sequences_only = _mistaken_encoding(
    "table not cut to the length of x",
    "The whole table is added; a sequence shorter than max_len needs its first n rows.",
    forward=_only_whole_sequences,
)


def _drop(self: Any, x: Any) -> Any:
    """Drop entries as dropout does, at places that depend on a count of calls so that it repeats."""
    import torch

    self.calls = getattr(self, "calls", 0) + 1
    kept = torch.rand(x.shape, generator=torch.Generator().manual_seed(self.calls)) >= 0.1
    return x * kept / 0.9


def _dropped(self: Any, x: Any) -> Any:
    return _drop(self, x + self.table[: x.shape[1]])


dropout_in_eval = _mistaken_encoding(
    "dropout active in eval",
    "F.dropout(x) drops entries in eval mode, too, unless it is told training=self.training; nn.Dropout knows.",
    forward=_dropped,
)

# ---------------------------------------------------------------- causal language model


MASKS: dict[str, Callable[[Any], Any]] = {  # from a matrix of True: which scores (i, j) are hidden
    "mask absent": lambda ones: ~ones,
    "leaks one position": lambda ones: ones.triu(2),
    "mask of the past": lambda ones: ones.tril(-1),
    "hides the position itself": lambda ones: ones.triu(0),
}


@cache
def _attention(mistake: str) -> Any:
    """Return an attention that hides other scores than the future's."""
    import torch

    from reference.transformer_modules import CausalSelfAttention

    class Attention(CausalSelfAttention):
        def forward(self, x: Any) -> Any:
            batch, n, d = x.shape
            q, k, v = self.project_in(x).view(batch, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
            hidden = MASKS[mistake](torch.ones(n, n, dtype=torch.bool))
            weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
            return self.project_out((weights @ v).transpose(1, 2).reshape(batch, n, d))

    return Attention


def _embedded(self: Any, tokens: Any) -> Any:
    return self.positions(self.embedding(tokens))


def _logits(self: Any, tokens: Any) -> Any:
    return self.head(self.norm(self.layers(_embedded(self, tokens))))


def _over_the_batch(self: Any, tokens: Any) -> Any:
    return self.head(self.norm(self.layers(_embedded(self, tokens).transpose(0, 1)).transpose(0, 1)))


def _with_dropout(self: Any, tokens: Any) -> Any:
    return self.head(self.norm(_drop(self, self.layers(_embedded(self, tokens)))))


FORWARDS: dict[str, Forward] = {
    "softmaxed": lambda self, tokens: _logits(self, tokens).softmax(dim=-1),
    "log-softmaxed": lambda self, tokens: _logits(self, tokens).log_softmax(dim=-1),
    "softmax over positions": lambda self, tokens: _logits(self, tokens).softmax(dim=1),
    "last position only": lambda self, tokens: _logits(self, tokens)[:, -1],
    "sequence first": lambda self, tokens: _logits(self, tokens).transpose(0, 1),
    "vocabulary second": lambda self, tokens: _logits(self, tokens).transpose(1, 2),
    "positions left out": lambda self, tokens: self.head(self.norm(self.layers(self.embedding(tokens)))),
    "layers left out": lambda self, tokens: self.head(self.norm(_embedded(self, tokens))),
    "gradient cut": lambda self, tokens: _logits(self, tokens).detach(),
    "attention over the batch": _over_the_batch,
    "dropout": _with_dropout,
}


@cache
def _model(mistake: str) -> Any:
    """Return the class of a language model with one mistake."""
    import torch

    from reference.transformer_modules import CausalLM

    class Wrong(CausalLM):
        def __init__(self, *sizes: int) -> None:
            with torch.random.fork_rng():
                torch.manual_seed(0)
                super().__init__(*sizes)
            layers: Any = self.layers if mistake in MASKS else ()
            for layer in layers:
                attention = _attention(mistake)(*sizes[1:3])
                attention.load_state_dict(layer.attention.state_dict())
                layer.attention = attention

        def forward(self, tokens: Any) -> Any:
            return FORWARDS.get(mistake, _logits)(self, tokens)

    return Wrong


def _mistaken_model(mistake: str, name: str, why: str) -> Any:
    def make(vocabulary_size: int, d_model: int, heads: int, layers: int, max_len: int) -> Any:
        return _model(mistake)(vocabulary_size, d_model, heads, layers, max_len)

    return misconception(of="transformer.CausalLM", name=name, why=why)(make)


mask_absent = _mistaken_model(
    "mask absent", "mask absent",
    "Every position attends to all others, so the model reads the token it should predict.",
)  # fmt: skip

mask_leaks = _mistaken_model(
    "leaks one position", "future leaks by one position",
    "The mask hides j > i + 1 only: position i sees token i+1, the one it should predict.",
)  # fmt: skip

mask_of_the_past = _mistaken_model(
    "mask of the past", "mask hides the past",
    "The mask is transposed: positions see themselves and the future in place of the past.",
)  # fmt: skip

mask_hides_itself = _mistaken_model(
    "hides the position itself", "mask hides the position itself",
    "The first position may then look at nothing at all, and the softmax of nothing is nan.",
)  # fmt: skip

softmaxed = _mistaken_model(
    "softmaxed", "logits already softmaxed",
    "cross_entropy applies log_softmax itself; on probabilities it can hardly learn.",
)  # fmt: skip

log_softmaxed = _mistaken_model(
    "log-softmaxed", "logits already log-softmaxed",
    "The output holds log-probabilities, as nll_loss wants them; the contract asks for logits.",
)  # fmt: skip

softmax_over_positions = _mistaken_model(
    "softmax over positions", "softmax over the positions",
    "A softmax over the sequence makes every logit depend on all positions, later ones included.",
)  # fmt: skip

last_position_only = _mistaken_model(
    "last position only", "last position only",
    "Only the logits of the last position are returned, as for generating; the contract asks for all of them.",
)  # fmt: skip

sequence_first_model = _mistaken_model(
    "sequence first", "result with the sequence first",
    "This is the layout (n, B, V) of torch's tutorial; the contract asks for (B, n, V).",
)  # fmt: skip

vocabulary_second = _mistaken_model(
    "vocabulary second", "result with the vocabulary second",
    "This is the layout (B, V, n) that cross_entropy takes; the contract asks for (B, n, V).",
)  # fmt: skip

attends_over_the_batch = _mistaken_model(
    "attention over the batch", "attention over the batch",
    "The layers take the first axis for the sequence (batch_first=False): the sequences of a batch see each other.",
)  # fmt: skip

positions_left_out = _mistaken_model(
    "positions left out", "no positional encoding",
    "Attention alone cannot tell in which order the tokens came.",
)  # fmt: skip

dropout_in_eval_model = _mistaken_model(
    "dropout", "dropout active in eval",
    "F.dropout(x) drops entries in eval mode, too, unless it is told training=self.training; nn.Dropout knows.",
)  # fmt: skip

layers_left_out = _mistaken_model(
    "layers left out", "layers not applied",
    "The output does not depend on earlier tokens: the layers' results are not used.",
)  # fmt: skip

gradient_cut = _mistaken_model(
    "gradient cut", "gradient cut off",
    "The logits come out of no_grad() or detach(): there is nothing that a loss could be propagated back through.",
)  # fmt: skip
