"""The checks of transformer.py's torch classes accept every right module we can think of, and no wrong one."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import torch
from torch import nn

from checks import transformer_modules
from checks.check import Check, checks_in
from checks.contract import signature_of
from checks.expect import Failure
from checks.misconception import Misconception, functions_of, misconceptions_in
from checks.misconceptions import transformer_modules as wrong
from checks.subject import InProcess
from engine.corpus import Recording, draw
from engine.diagnosis import Answers, _alike
from engine.verify import first_calls, holds
from engine.worker import tools
from reference import transformer as right

CHECKS = checks_in(transformer_modules)
ENCODING = [check for check in CHECKS if check.of.endswith("PositionalEncoding")]
MODEL = [check for check in CHECKS if check.of.endswith("CausalLM")]
MISCONCEPTIONS = misconceptions_in(wrong)
EXAMPLES = 30


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Workers run torch on one thread; so do we, from the same seed each time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


@cache
def recorded(check_id: str) -> Recording:
    """Draw a check's examples once; raises unless the reference holds."""
    (check,) = [check for check in CHECKS if check.id == check_id]
    return draw([check], number=0, examples=EXAMPLES)[0]


def held(check: Check, **classes: Any) -> bool:
    def find(name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = classes.get(name) or getattr(tools, name)
        return found

    return all(holds(check, example, find) for example in recorded(check.id).examples)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_reference_holds_whatever_the_seed(check: Check) -> None:
    for number in range(1, 3):
        assert draw([check], number=number, examples=20)[0].examples


# Right positional encodings


class Tutorial(nn.Module):
    """As torch's tutorial has it, but batch first: angles by exp(log), a table with an axis of one, dropout."""

    def __init__(self, d_model: int, max_len: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.pe: torch.Tensor
        self.register_buffer("pe", pe)

    def forward(self, x: torch.Tensor) -> Any:
        return self.dropout(x + self.pe[:, : x.size(1)].requires_grad_(False))


@pytest.mark.parametrize("check", ENCODING, ids=lambda check: check.id)
def test_the_tutorials_encoding_holds(check: Check) -> None:
    assert held(check, PositionalEncoding=Tutorial)


# Right language models, from different schools


class Encoder(nn.Module):
    """torch.nn.TransformerEncoder with a causal mask: post-norm, ReLU, dropout 0.1."""

    def __init__(self, vocabulary_size: int, d_model: int, heads: int, layers: int, max_len: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, d_model)
        self.positions = Tutorial(d_model, max_len)
        layer = nn.TransformerEncoderLayer(d_model, heads, 4 * d_model, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(d_model, vocabulary_size)

    def forward(self, tokens: torch.Tensor) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.encoder(self.scaled(self.embedding(tokens)), mask=mask, is_causal=True))

    def scaled(self, x: torch.Tensor) -> Any:
        return self.positions(x * math.sqrt(x.shape[-1]))


class SequenceFirst(Encoder):
    """The same with torch's old layout inside, pre-norm and GELU."""

    def __init__(self, vocabulary_size: int, d_model: int, heads: int, layers: int, max_len: int) -> None:
        super().__init__(vocabulary_size, d_model, heads, layers, max_len)
        layer = nn.TransformerEncoderLayer(d_model, heads, 32, activation="gelu", norm_first=True, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(d_model), enable_nested_tensor=False)

    def forward(self, tokens: torch.Tensor) -> Any:
        hidden = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
        x = self.positions(self.embedding(tokens)).transpose(0, 1)
        return self.head(self.encoder(x, mask=hidden)).transpose(0, 1)


class ZeroHead(Encoder):
    """Starts with logits of zero, as some do on purpose."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)


class Learned(Encoder):
    """GPT-2's way: positions learned, small weights, the head tied to the embeddings."""

    def __init__(self, vocabulary_size: int, d_model: int, heads: int, layers: int, max_len: int) -> None:
        super().__init__(vocabulary_size, d_model, heads, layers, max_len)
        self.learned = nn.Embedding(max_len, d_model)
        self.head = nn.Linear(d_model, vocabulary_size, bias=False)
        self.head.weight = self.embedding.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def scaled(self, x: torch.Tensor) -> Any:
        return x + self.learned(torch.arange(x.shape[1]))


class RightNames(nn.Module):
    """A recurrent network is causal, too: the contract says nothing about what is inside."""

    def __init__(self, vocabulary_size: int, d_model: int, heads: int, layers: int, max_len: int) -> None:
        super().__init__()
        del heads, max_len
        self.embedding = nn.Embedding(vocabulary_size, d_model)
        self.network = nn.GRU(d_model, 2 * d_model, layers, batch_first=True)
        self.head = nn.Linear(2 * d_model, vocabulary_size)

    def forward(self, tokens: torch.Tensor) -> Any:
        return self.head(self.network(self.embedding(tokens))[0])


@pytest.mark.parametrize("check", MODEL, ids=lambda check: check.id)
@pytest.mark.parametrize("model", [Encoder, SequenceFirst, ZeroHead, Learned, RightNames])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor:UserWarning")
def test_right_language_models_hold(check: Check, model: Any) -> None:
    assert held(check, CausalLM=model)


# Whatever a student's module returns


class Fixed(nn.Module):
    """Returns one number everywhere, in the shape asked for."""

    def __init__(self, number: float, *sizes: int) -> None:
        super().__init__()
        self.sizes = sizes
        self.number = nn.Parameter(torch.tensor(number))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shape = x.shape if x.is_floating_point() else (*x.shape, self.sizes[0])
        return self.number.expand(shape).clone()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e30, 0.0])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_body_raises_nothing_but_failure_and_leaves_its_inputs_alone(check: Check, number: float) -> None:
    for example in recorded(check.id).examples[:2]:
        before = pickle.dumps(example.drawn)
        handed: dict[str, Any] = {
            name: InProcess(
                getattr(tools, name, lambda *sizes: Fixed(number, *sizes)), signature_of("transformer", name)
            )
            for name in check.functions
        }
        if check.needs_truth:
            handed["truth"] = right
        try:
            check.body(**handed, **example.drawn)
        except Failure as failure:
            assert failure.sentence  # noqa: PT017 -- a failure is one of two right outcomes
        assert pickle.dumps(example.drawn) == before


# Mistakes


@cache
def caught_by(mistake: Misconception) -> frozenset[str]:
    find = functions_of(mistake, right, tools)
    found = [recorded(check.id) for check in CHECKS if check.of == mistake.of]
    return frozenset(
        recording.check.id
        for recording in found
        if any(not holds(recording.check, example, find) for example in recording.examples)
    )


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISCONCEPTIONS, ids=lambda each: f"{each.of}: {each.name}")
def test_every_misconception_is_caught(mistake: Misconception) -> None:
    assert caught_by(mistake)


@pytest.mark.slow
def test_every_check_catches_a_misconception() -> None:
    caught = frozenset().union(*(caught_by(mistake) for mistake in MISCONCEPTIONS))
    # Layers in a plain list are drawn anew in every instance: a mistake that cannot agree with itself has no name.
    assert {check.id for check in CHECKS} - caught <= {"transformer.CausalLM.model_survives_a_checkpoint"}


@cache
def answers(mistake: Misconception) -> list[list[Any]]:
    found = []
    for check in CHECKS:
        if check.of == mistake.of:
            own = Answers(mistake)
            calls = first_calls(recorded(check.id))
            found.append([own.answer(call, position) for position, call in enumerate(calls)])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("item", ["transformer.PositionalEncoding", "transformer.CausalLM"])
def test_no_two_misconceptions_agree_on_what_a_diagnosis_looks_at(item: str) -> None:
    named = [each for each in MISCONCEPTIONS if each.of == item]
    assert len({each.name for each in named}) == len(named) >= 12
    for position, one in enumerate(named):
        for other in named[position + 1 :]:
            pairs = zip(answers(one), answers(other), strict=True)
            same = all(_alike(a, b) for first, second in pairs for a, b in zip(first, second, strict=True))
            assert not same, f"{one.name!r} and {other.name!r}"


def test_layers_in_a_plain_list_do_not_survive_a_checkpoint() -> None:
    class Listed(Encoder):
        def __init__(self, *sizes: int) -> None:
            super().__init__(*sizes)
            self.listed = [self.encoder]
            del self.encoder

        def forward(self, tokens: torch.Tensor) -> Any:
            mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
            self.listed[0].train(self.training)
            return self.head(self.listed[0](self.scaled(self.embedding(tokens)), mask=mask, is_causal=True))

    (check,) = [check for check in MODEL if check.id.endswith("survives_a_checkpoint")]
    assert not held(check, CausalLM=Listed)
