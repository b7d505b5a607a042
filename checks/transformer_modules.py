"""What the torch classes of every right transformer.py do.

Modules stay in the worker; our tools (checks/contract/tools.py) run them there, in eval mode
unless they train, and return numbers. A CausalLM starts from random weights, so its laws compare
it with itself, mostly after a few steps of training: before, a head that starts at zero
would hide everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from checks import inputs
from checks.check import check, given
from checks.corpora import Tokens, Written
from checks.expect import ROUNDING, Call, call, expect, expect_close, expect_finite
from checks.inputs import Array, Draw

# ----------------------------------------------------------------- positional encoding

Encoding = tuple[tuple[int, int], Array]


@st.composite
def encodings(draw: Draw) -> Encoding:
    """Draw d_model and max_len, and a batch (B, n, d); all sizes differ, n may be all of max_len."""
    d = draw(st.sampled_from([8, 2, 4, 10, 12]))
    max_len = draw(st.sampled_from([7, 3, 5, 9, 11, 13]))
    n = draw(st.sampled_from([n for n in (1, 2, 3, 5, 6, max_len) if n <= max_len and n != d]))
    batch = draw(st.sampled_from([b for b in (1, 2, 3, 4) if b not in (n, d)]))
    return (d, max_len), draw(inputs.grid((batch, n, d)))


def encoded(arguments: tuple[int, int], x: Any, then: str = "") -> Call:
    return Call("PositionalEncoding", arguments, f".eval()({_tensor(x)}){then}")


def _tensor(x: Any) -> str:
    return f"torch.tensor({str(call('', x))[10:-2]})" if x.size <= 120 else f"a tensor of shape {x.shape}"


@check(
    of="transformer.PositionalEncoding",
    claim="Its output is x + PE: column 2i of PE holds sin(k / 10000^(2i/d)), column 2i+1 the cosine, k from 0.",
    hint="Give it zeros and look at rows 0 and 1. Nothing is scaled, nothing left out at random.",
)
@given(case=encodings())
def agrees_with_definition(PositionalEncoding: Any, module_output: Any, truth: Any, case: Encoding) -> None:
    (d, max_len), x = case
    got = module_output(PositionalEncoding(d, max_len), x)
    table = truth.sinusoidal_encoding(max_len, d)
    expect_close(encoded(case[0], x), got=got, want=x + table[: x.shape[1]], scale=4.0)


@check(
    of="transformer.PositionalEncoding",
    claim="What it adds does not depend on x: its output less x is its output for zeros.",
    hint="x comes through as it is: not scaled, not replaced, not normalised.",
)
@given(case=encodings())
def adds_the_same_to_every_input(PositionalEncoding: Any, module_output: Any, case: Encoding) -> None:
    arguments, x = case
    module = PositionalEncoding(*arguments)
    got, plain = module_output(module, x), module_output(module, np.zeros_like(x))
    with np.errstate(all="ignore"):
        rest = got - x
    same_as = encoded(arguments, np.zeros_like(x))
    expect_close(encoded(arguments, x, " - x"), got=rest, want=plain, scale=4.0, same_as=same_as)


@check(
    of="transformer.PositionalEncoding",
    claim="A shorter sequence gets the first rows of the table: positions count from the start.",
    hint="The table has max_len rows; x has n of them, along its second axis.",
)
@given(case=encodings())
def shorter_sequences_get_the_first_rows(PositionalEncoding: Any, module_output: Any, case: Encoding) -> None:
    (d, max_len), x = case
    module = PositionalEncoding(d, max_len)
    whole, part = np.zeros((1, max_len, d)), np.zeros((1, x.shape[1], d))
    want, got = module_output(module, whole)[:, : x.shape[1]], module_output(module, part)
    same_as = encoded(case[0], whole, f"[:, :{x.shape[1]}]")
    expect_close(encoded(case[0], part), got=got, want=want, scale=2.0, same_as=same_as)


@check(
    of="transformer.PositionalEncoding",
    claim="Every sequence of a batch gets the same encoding.",
    hint="The contract's x is (B, n, d), batch first. Positions are its second axis.",
)
@given(case=encodings())
def sequences_of_a_batch_are_treated_alike(PositionalEncoding: Any, module_output: Any, case: Encoding) -> None:
    arguments, x = case
    module = PositionalEncoding(*arguments)
    together, alone = module_output(module, x), module_output(module, x[-1:])
    same_as = encoded(arguments, x[-1:])
    expect_close(encoded(arguments, x, "[-1:]"), got=together[-1:], want=alone, scale=4.0, same_as=same_as)


@check(
    of="transformer.PositionalEncoding",
    claim="In eval mode the same input gives the same output.",
    hint="Dropout must know that training is over: a module nn.Dropout does, F.dropout(x) does not.",
    examples=20,
)
@given(case=encodings())
def eval_is_deterministic(PositionalEncoding: Any, module_output: Any, case: Encoding) -> None:
    arguments, x = case
    module = PositionalEncoding(*arguments)
    first, second = module_output(module, x), module_output(module, x)
    about = encoded(arguments, x)
    expect_close(about, got=second, want=first, scale=4.0, same_as=Call("the same call", (), " before"))


@check(
    of="transformer.PositionalEncoding",
    claim="The table is a buffer: part of state_dict, not of parameters().",
    hint="An attribute that is a plain tensor is not saved, an nn.Parameter is trained. There is a third way.",
    examples=20,
)
@given(case=encodings())
def table_is_a_buffer(
    PositionalEncoding: Any, module_output: Any, module_holds: Any, module_sizes: Any, case: Encoding
) -> None:
    """Look for what the module itself adds, right or wrong, so that only its place is judged."""
    (d, max_len), _ = case
    module = PositionalEncoding(d, max_len)
    table = module_output(module, np.zeros((1, max_len, d)))[0]
    parameter, buffer, saved = module_holds(module, table)
    trainable = module_sizes(module)[0]
    about = Call("PositionalEncoding", case[0], ", its table")
    expect(about, holds=parameter == 0 and trainable == 0, gave=Written("a parameter"), expected="no parameter",
           sentence="The table is among parameters(): training would change it.")  # fmt: skip
    expect(about, holds=buffer == 1, gave=Written("not among buffers()"), expected="a buffer",
           sentence="No buffer holds what the module adds.")  # fmt: skip
    expect(about, holds=saved == 1, gave=Written("not in state_dict()"), expected="an entry of state_dict()",
           sentence="state_dict() does not hold what the module adds.")  # fmt: skip


@check(
    of="transformer.PositionalEncoding",
    claim="A fresh module that loads a checkpoint does what the saved one does.",
    hint="Everything that is saved must exist as soon as the module is made, with the same shape.",
    examples=20,
)
@given(case=encodings())
def survives_a_checkpoint(PositionalEncoding: Any, module_output: Any, module_reloaded: Any, case: Encoding) -> None:
    arguments, x = case
    module = PositionalEncoding(*arguments)
    want = module_output(module, x)
    got = module_reloaded(module, x, arguments)
    about = encoded(arguments, x, " after load_state_dict")
    expect_close(about, got=got, want=want, scale=4.0, same_as=encoded(arguments, x))


@check(
    of="transformer.PositionalEncoding",
    claim="The table moves with the module: after .to(dtype) the output has that dtype.",
    hint="A buffer is moved by .to(), .double() and .half(); another attribute stays behind as it is.",
    examples=20,
)
@given(case=encodings())
def moves_with_the_module(PositionalEncoding: Any, module_dtypes: Any, case: Encoding) -> None:
    arguments, x = case
    in_double, in_half = module_dtypes(PositionalEncoding(*arguments), x)
    about = Call("PositionalEncoding", arguments, ".to(dtype)(x.to(dtype)).dtype")
    expect(about, holds=in_double == 1, gave=Written("another dtype"), expected="float64 for dtype float64")
    expect(about, holds=in_half == 1, gave=Written("another dtype"), expected="float16 for dtype float16")


@check(
    of="transformer.PositionalEncoding",
    claim="The call does not write into x.",
    hint="`x += …` and `x.add_(…)` change the caller's tensor. Make a new one instead.",
    examples=20,
)
@given(case=encodings())
def leaves_arguments_alone(PositionalEncoding: Any, module_input_after: Any, case: Encoding) -> None:
    arguments, x = case
    after = module_input_after(PositionalEncoding(*arguments), x)
    about = encoded(arguments, x, ", x afterwards")
    expect_close(about, got=after, want=x, scale=0.01, sentence="The call changed its argument x.")


# ---------------------------------------------------------------- causal language model

Model = tuple[int, int, int, int, int]  # vocabulary_size, d_model, heads, layers, max_len


@st.composite
def models(draw: Draw, layers: tuple[int, ...] = (1, 2)) -> Model:
    """Draw the sizes of a small model."""
    size = draw(st.sampled_from([5, 3, 7]))
    d, heads = draw(st.sampled_from([(8, 2), (16, 4), (12, 3), (8, 1)]))
    return size, d, heads, draw(st.sampled_from(layers)), draw(st.sampled_from([6, 9, 12]))


@st.composite
def models_and_tokens(draw: Draw, *, layers: tuple[int, ...] = (1, 2), shortest: int = 1) -> tuple[Model, Tokens]:
    """Draw a model and a batch of sequences, at times as long as it takes."""
    model = draw(models(layers=layers))
    n = draw(st.sampled_from([n for n in (shortest, 4, 5, model[4]) if n >= shortest]))
    batch = draw(st.sampled_from([b for b in (1, 2, 3) if b != n]))
    raw = draw(st.binary(min_size=batch * n, max_size=batch * n))
    return model, (np.frombuffer(raw, dtype=np.uint8).astype(np.int64) % model[0]).reshape(batch, n)


@st.composite
def models_and_changes(draw: Draw) -> tuple[Model, Tokens, int]:
    """Draw a model, sequences of four tokens or more, and a position to change a token at."""
    model, tokens = draw(models_and_tokens(shortest=4))
    return model, tokens, draw(st.integers(1, tokens.shape[1] - 2))


def language(size: int, length: int, *, batch: int = 8, back: int = 1) -> Tokens:
    """Return sequences in which a token is mostly the one `back` places before plus one; one in eight is any token."""
    rng = np.random.default_rng([size, length, batch, back])
    tokens = rng.integers(size, size=(batch, length))
    for t in range(back, length):
        follows = rng.random(batch) < 7 / 8
        tokens[:, t] = np.where(follows, (tokens[:, t - back] + 1) % size, tokens[:, t])
    return tokens.astype(np.int64)


def logits_of(model: Model, tokens: Any, then: str = "") -> Call:
    return Call("CausalLM", model, f".eval()(torch.tensor({tokens.tolist()})){then}")


def size_of(logits: Array) -> float:
    """Return the largest logit, or 1 if all are smaller: rounding is relative to it."""
    with np.errstate(all="ignore"):
        return max(1.0, float(np.abs(np.nan_to_num(logits, posinf=0.0, neginf=0.0)).max(initial=0.0)))


WARM_UP, RATE = 12, 0.01


@check(
    of="transformer.CausalLM",
    claim="For tokens (B, n) it returns finite numbers of shape (B, n, V), for every n up to max_len.",
    hint="One row of V logits for every position of every sequence. Which axis is the batch?",
    examples=12,
)
@given(case=models_and_tokens())
def one_row_of_logits_per_position(CausalLM: Any, module_logits: Any, case: tuple[Model, Tokens]) -> None:
    model, tokens = case
    got = module_logits(CausalLM(*model), tokens, model[0])
    expect_finite(logits_of(model, tokens), got=got)


@check(
    of="transformer.CausalLM",
    claim="It is causal: changing token t changes no logit before position t.",
    hint="Position i may look at j <= i only, in every layer. Change the last token and see which rows move.",
    examples=10,
)
@given(case=models_and_changes())
def no_logit_looks_ahead(
    CausalLM: Any, module_losses: Any, module_logits: Any, case: tuple[Model, Tokens, int]
) -> None:
    model, tokens, place = case
    module = CausalLM(*model)
    module_losses(module, language(model[0], model[4], batch=4), 4, RATE)
    changed = tokens.copy()
    changed[:, place] = (tokens[:, place] + 1) % model[0]
    before, after = module_logits(module, tokens, model[0]), module_logits(module, changed, model[0])
    about, same_as = logits_of(model, changed, f"[:, :{place}]"), logits_of(model, tokens, f"[:, :{place}]")
    expect_close(about, got=after[:, :place], want=before[:, :place], scale=size_of(before), same_as=same_as)


@check(
    of="transformer.CausalLM",
    claim="Earlier tokens count: changing token t changes logits at t and at the last position.",
    hint="Does the mask hide the past in place of the future? Are the layers' results used?",
    examples=5,
)
@given(case=models_and_changes())
def the_past_counts(CausalLM: Any, module_losses: Any, module_logits: Any, case: tuple[Model, Tokens, int]) -> None:
    model, tokens, place = case
    module = CausalLM(*model)
    module_losses(module, language(model[0], model[4], back=2), WARM_UP, RATE)
    changed = tokens.copy()
    changed[:, place] = (tokens[:, place] + 1) % model[0]
    before, after = module_logits(module, tokens, model[0]), module_logits(module, changed, model[0])
    for position in (place, tokens.shape[1] - 1):
        with np.errstate(all="ignore"):
            moved = np.abs(after - before)[:, position].max(axis=-1)
        about = logits_of(model, changed, f"[:, {position}]")
        expect(about, holds=bool((moved > ROUNDING / 4 * size_of(before)).all()), gave=after[:, position],
               expected=f"other logits than for token {place} as it was")  # fmt: skip


@check(
    of="transformer.CausalLM",
    claim="Positions count: exchanging two earlier tokens changes the last position's logits, even with one layer.",
    hint="Attention alone sees a set of tokens, not their order. Where are the positions added?",
    examples=5,
)
@given(model=models(layers=(1,)))
def positions_count(CausalLM: Any, module_losses: Any, module_logits: Any, model: Model) -> None:
    module = CausalLM(*model)
    module_losses(module, language(model[0], model[4], back=2), 2 * WARM_UP, RATE)
    tokens = np.array([[0, 1, 2, 1, 0]], dtype=np.int64)
    exchanged = tokens[:, [1, 0, 2, 3, 4]]
    before, after = module_logits(module, tokens, model[0])[:, -1], module_logits(module, exchanged, model[0])[:, -1]
    with np.errstate(all="ignore"):
        moved = float(np.abs(after - before).max())
    expect(logits_of(model, exchanged, "[:, -1]"), holds=moved > ROUNDING / 4 * size_of(before), gave=after,
           expected="other logits than before tokens 0 and 1 changed places")  # fmt: skip


@check(
    of="transformer.CausalLM",
    claim="In eval mode the same tokens give the same logits.",
    hint="Dropout must know that training is over: a module nn.Dropout does, F.dropout(x) does not.",
    examples=8,
)
@given(case=models_and_tokens(shortest=4))
def model_eval_is_deterministic(CausalLM: Any, module_logits: Any, case: tuple[Model, Tokens]) -> None:
    model, tokens = case
    module = CausalLM(*model)
    first, second = module_logits(module, tokens, model[0]), module_logits(module, tokens, model[0])
    same_as = Call("the same call", (), " before")
    expect_close(logits_of(model, tokens), got=second, want=first, scale=size_of(first), same_as=same_as)


@check(
    of="transformer.CausalLM",
    claim="The sequences of a batch do not see each other.",
    hint="nn.Transformer's layers want (n, B, d) unless batch_first=True. Over which axis does attention run?",
    examples=8,
)
@given(case=models_and_tokens(shortest=4))
def sequences_do_not_see_each_other(
    CausalLM: Any, module_losses: Any, module_logits: Any, case: tuple[Model, Tokens]
) -> None:
    model, tokens = case
    module = CausalLM(*model)
    module_losses(module, language(model[0], model[4], batch=4), 4, RATE)
    pair = np.concatenate([tokens[:1], (tokens[:1] + 1) % model[0]])
    together, alone = module_logits(module, pair, model[0]), module_logits(module, pair[1:], model[0])
    about, same_as = logits_of(model, pair, "[1:]"), logits_of(model, pair[1:])
    expect_close(about, got=together[1:], want=alone, scale=2 * size_of(alone), same_as=same_as)


@check(
    of="transformer.CausalLM",
    claim="It returns logits: neither probabilities nor their logarithms, the softmax belongs to the loss.",
    hint="cross_entropy applies log_softmax itself. What is the last thing your forward does?",
    examples=4,
)
@given(model=models())
def returns_logits(CausalLM: Any, module_losses: Any, module_logits: Any, model: Model) -> None:
    """Look at rows after some training: that the exponentials of unnormalised logits sum to 1 in all is no accident."""
    module = CausalLM(*model)
    tokens = language(model[0], model[4], batch=4)
    module_losses(module, tokens, WARM_UP, RATE)
    got = module_logits(module, tokens, model[0])
    with np.errstate(all="ignore"):
        sums, exponentials = got.sum(axis=-1), np.exp(got).sum(axis=-1)
        are_probabilities = bool((np.abs(sums - 1) < 1e-3).all() and (got > -1e-6).all())
        are_logarithms = bool((np.abs(exponentials - 1) < 1e-3).all())
    about = Call("CausalLM", model, ", trained a little, its output")
    expect(about, holds=not are_probabilities, gave=Written("rows that sum to 1"), expected="logits",
           sentence="The output is softmaxed already: every row sums to 1.")  # fmt: skip
    expect(about, holds=not are_logarithms, gave=Written("rows whose exponentials sum to 1"), expected="logits",
           sentence="The output is log-softmaxed already: the exponentials of every row sum to 1.")  # fmt: skip


LESSONS = 40


@check(
    of="transformer.CausalLM",
    claim="Forty steps of Adam on a toy language bring its loss below that of the best model without context.",
    hint="Do all layers' parameters reach the optimiser? Layers in a plain list do not. Do gradients reach them?",
    examples=3,
)
@given(model=models())
def learns_a_toy_language(CausalLM: Any, module_losses: Any, model: Model) -> None:
    """Compare the mean of the last five losses with the entropy of the tokens' frequencies, less a tenth."""
    tokens = language(model[0], model[4], batch=16)
    losses = module_losses(CausalLM(*model), tokens, LESSONS, RATE)
    counts = np.unique(tokens[:, 1:], return_counts=True)[1]
    unigram = float(-(counts / counts.sum() * np.log(counts / counts.sum())).sum())
    with np.errstate(all="ignore"):
        got = float(losses[-5:].mean())
    about = Call("CausalLM", model, f", its loss after {LESSONS} steps of Adam at {RATE}")
    expect(about, holds=got < 0.9 * unigram, gave=got,
           expected=f"less than {0.9 * unigram:.4f}, nine tenths of the frequencies' entropy")  # fmt: skip


@check(
    of="transformer.CausalLM",
    claim="A fresh model that loads a checkpoint gives the logits of the saved one.",
    hint="Layers in a plain Python list are not registered: state_dict does not hold them. nn.ModuleList does that.",
    examples=5,
)
@given(case=models_and_tokens(shortest=4))
def model_survives_a_checkpoint(
    CausalLM: Any, module_losses: Any, module_logits: Any, module_reloaded_logits: Any, case: tuple[Model, Tokens]
) -> None:
    model, tokens = case
    module = CausalLM(*model)
    module_losses(module, language(model[0], model[4], batch=4), 4, RATE)
    want = module_logits(module, tokens, model[0])
    got = module_reloaded_logits(module, tokens, model[0], model)
    about = logits_of(model, tokens, " after load_state_dict")
    expect_close(about, got=got, want=want, scale=size_of(want), same_as=logits_of(model, tokens))
