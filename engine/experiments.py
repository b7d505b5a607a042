"""The shapes at which functions are proved: calls of every function on arguments that are symbols.

Sizes are as small as they can be and as different as they must be: at width one a forgotten scale would be no
mistake, and with two equal sizes a transposed matrix could still fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from checks.contract import SIGNATURES
from formulas.identity import LAST_SHARE, REAL, SHARE
from formulas.identity import POSITIVE_INPUT as ABOVE_ZERO

WHOLE_INPUT = "whole"
Call = tuple[str, tuple[Any, ...]]  # a function and its arguments


class Symbols(NamedTuple):
    """An argument made of symbols; `plain` are entries, counted from zero, that are plain numbers all the same."""

    shape: tuple[int, ...] | None  # None: a number
    kind: str = REAL
    plain: Mapping[int, float] = {}


class Input(NamedTuple):
    """One symbol: its name in messages and its kind."""

    name: str
    kind: str


class Experiment:
    """Calls of functions on arguments that hold symbols; the result of a call is the next one's first argument."""

    def __init__(self, module: str, *calls: Call) -> None:
        self._calls = calls
        self.inputs: list[Input] = []
        self.symbols: list[list[Any]] = []  # for each call, the numbers of the symbols in its arguments
        shown: list[str] = []
        for place, (function, arguments) in enumerate(calls):
            names = list(SIGNATURES[f"{module}.{function}"].parameters)[place > 0 :]
            pairs = list(zip(names, arguments, strict=False))
            self.symbols.append([self._numbered(value, name) for name, value in pairs])
            shown += [text for name, value in pairs for text in _shown(name, value)]
        self.text = ", ".join(shown)

    @property
    def positive(self) -> list[int]:
        """The numbers of the symbols that are positive."""
        return [number for number, (_, kind) in enumerate(self.inputs) if kind != REAL]

    def at(self, point: np.ndarray[Any, Any]) -> list[Call]:
        """Return the calls with the numbers of a point in place of symbols."""
        return [
            (function, tuple(_filled(a, s, point) for a, s in zip(arguments, symbols, strict=True)))
            for (function, arguments), symbols in zip(self._calls, self.symbols, strict=True)
        ]

    def points(self, number: int) -> np.ndarray[Any, Any]:
        """Return points in the inputs' domain, one per column, the same every time; in the last everything is tied."""
        random = np.random.default_rng(len(self.inputs))
        points = random.uniform(0.3, 1.7, size=(len(self.inputs), number))
        points[:, -1] = 0.75
        signs = np.where(random.random(points.shape) < 0.4, -1, 1)
        signs[:, -1] = 1
        first = 0  # of the shares that are being listed
        for place, (_, kind) in enumerate(self.inputs):
            if kind == REAL:
                points[place] *= signs[place]
            elif kind == WHOLE_INPUT:
                points[place] = 3 + (7 * place + 2 * np.arange(number)) % 5
            if kind == LAST_SHARE:
                points[first : place + 1] /= points[first : place + 1].sum(axis=0)
            first = first if kind == SHARE else place + 1
        return points

    def _numbered(self, value: Any, name: str) -> Any:
        """Return the numbers of the symbols in an argument, in its form."""
        if isinstance(value, Symbols):
            return self._numbers_for(value, name)
        if isinstance(value, list | tuple):
            return type(value)(self._numbered(each, f"{name}[{place}]") for place, each in enumerate(value))
        if isinstance(value, dict):
            return {key: self._numbered(each, key) for key, each in value.items()}
        return None

    def _numbers_for(self, value: Symbols, name: str) -> Any:
        if value.shape is None:
            self.inputs.append(Input(name, value.kind))
            return len(self.inputs) - 1
        numbers = np.full(math.prod(value.shape), -1)
        free = [place for place in range(len(numbers)) if place not in value.plain]
        for place in free:
            kind = LAST_SHARE if value.kind == SHARE and place == free[-1] else value.kind
            numbers[place] = len(self.inputs)
            self.inputs.append(Input(f"{name}[{_index(place, value.shape)}]", kind))
        return numbers.reshape(value.shape)


def _filled(value: Any, symbols: Any, point: np.ndarray[Any, Any]) -> Any:
    """Return an argument with numbers in place of its symbols."""
    if isinstance(value, Symbols):
        if value.shape is None:
            return int(point[symbols]) if value.kind == WHOLE_INPUT else float(point[symbols])
        entries = np.where(symbols < 0, 0.0, point[symbols])
        for place, plain in value.plain.items():
            entries.flat[place] = plain
        return entries
    if isinstance(value, list | tuple):
        return type(value)(_filled(v, s, point) for v, s in zip(value, symbols, strict=True))
    if isinstance(value, dict):
        return {key: _filled(each, symbols[key], point) for key, each in value.items()}
    return value


def _shown(name: str, value: Any) -> Iterator[str]:
    """Say of what shape and kind an argument is, or which number."""
    if isinstance(value, Symbols):
        if value.shape is None:
            yield name + {ABOVE_ZERO: " > 0", WHOLE_INPUT: " whole"}.get(value.kind, "")
            return
        kind = {ABOVE_ZERO: " > 0", SHARE: " > 0 with sum 1"}.get(value.kind, "")
        yield f"{name} ({','.join(map(str, value.shape))}){kind}"
        for place, plain in value.plain.items():
            yield f"{name}[{_index(place, value.shape)}] = {plain:g}"
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _shown(key, each)
    elif isinstance(value, list | tuple) and value and isinstance(value[0], Symbols | tuple):
        for place, each in enumerate(value):
            yield from _shown(f"{name}[{place}]", each)
    elif value is not None:
        yield f"{name} = {value.tolist() if isinstance(value, np.ndarray) else value}"


def _index(place: int, shape: tuple[int, ...]) -> str:
    return ",".join(map(str, np.unravel_index(place, shape)))


# ── the table ─────────────────────────────────────────────────────────────────────────────────────────────────────

HIDDEN = -math.inf
NUMBER, POSITIVE, WHOLE = Symbols(None), Symbols(None, ABOVE_ZERO), Symbols(None, WHOLE_INPUT)


def _reals(*shape: int, plain: Mapping[int, float] | None = None) -> Symbols:
    return Symbols(shape, plain=plain or {})


def _shares(*shape: int, plain: Mapping[int, float] | None = None) -> Symbols:
    """Return positive symbols whose sum is one."""
    return Symbols(shape, SHARE, plain or {})


def _named(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Symbols]:
    return {name: Symbols(shape) for name, shape in shapes.items()}


def _cell(gates: Sequence[str], width: int, hidden: int) -> dict[str, Symbols]:
    """Return W… and U… of a recurrent cell."""
    return _named({f"{m}{g}": (hidden, width if m == "W" else hidden) for g in gates for m in "WU"})


def _network(inputs: int, hidden: int, outputs: int) -> dict[str, Symbols]:
    return _named({"W1": (inputs, hidden), "b1": (1, hidden), "W2": (hidden, outputs), "b2": (1, outputs)})


def _layer(width: int, inner: int) -> dict[str, Symbols]:
    square, row = (width, width), (width,)
    return _named({
        "W_q": square, "W_k": square, "W_v": square, "W1": (width, inner), "b1": (inner,), "W2": (inner, width),
        "b2": row, "gamma1": row, "beta1": row, "gamma2": row, "beta2": row,
    })  # fmt: skip


TEXT = np.array([0, 1, 1, 2, 1, 0, 1])
QUESTION = np.array([1, 0, 0, 3, 1, 1])
NO_FEEDBACK = {name: np.zeros((2, 2)) for name in ("U_i", "U_f", "U_o")}  # of states into gates: proved without hurry
IDS = np.array([[1, 2, 2], [0, 0, 0], [0, 1, 0]])

_ARGUMENTS: Mapping[str, Sequence[tuple[Any, ...]]] = {
    "attention.softmax": [(_reals(2, 3),), (_reals(2, 2), 0), (_reals(1, 2),), (_reals(3),)],
    "attention.dot_product_attention": [(_reals(2), _reals(3, 2), _reals(3, 1))],
    "attention.scaled_dot_product_attention": [
        (_reals(1, 2), _reals(3, 2), _reals(3, 1)),
        (_reals(2, 1, 2), _reals(2, 2, 2), _reals(2, 2, 1), _reals(1, 2)),
        (_reals(2, 2), _reals(3, 2), _reals(3, 1), _reals(2, 3, plain={1: HIDDEN, 5: HIDDEN})),
    ],
    "attention.causal_mask": [(1,), (2,), (3,), (4,)],
    "attention.self_attention": [
        (_reals(2, 2), _reals(2, 3), _reals(2, 3), _reals(2, 3)),
        (_reals(2, 1), _reals(1, 2), _reals(1, 2), _reals(1, 2), _reals(2, 2, plain={1: HIDDEN})),
        (_reals(3, 2, 1), _reals(1, 2), _reals(1, 2), _reals(1, 2)),
    ],
    "attention.multi_head_attention": [
        (_reals(2, 2), *[_reals(2, 2, 2)] * 3, _reals(4, 2)),
        (_reals(2, 2, 1), *[_reals(2, 1, 2)] * 3, _reals(4, 1), _reals(2, 2, 2, plain={1: HIDDEN})),
    ],
    "attention.relative_bias_attention": [(_reals(2, 3), _reals(2, 3), _reals(2, 1), _reals(3))],
    "attention.argmax_attention": [(_reals(2, 2), _reals(3, 2), _reals(3, 1))],
    "attention.receptive_field": [(WHOLE, 0), (WHOLE, 1), (WHOLE, 3)],
    "attention.additive_attention": [(_reals(1), _reals(3, 2), _reals(2, 1), _reals(2, 2), _reals(2))],
    "attention.attentive_rnn": [
        (_reals(3, 1), _reals(2), _reals(2, 1), _reals(2, 2)), (_reals(2, 2), _reals(1), _reals(1, 2), _reals(1, 1)),
    ],
    "attention.projection_matrix": [(_reals(3, 2),)],
    "attention.averaging_query": [(_reals(2), _reals(2), NUMBER)],
    "attention.head_queries": [(_reals(2), _reals(2), NUMBER)],
    "positional.sinusoidal_encoding": [(3, 4, POSITIVE), (2, 6, POSITIVE), (3, 4)],
    "positional.wavelengths": [(2, POSITIVE), (6, POSITIVE), (4,)],
    "positional.added_score": [(_reals(2),) * 4],
    "positional.concatenated_score": [(_reals(2), _reals(1), _reals(2), _reals(1))],
    "positional.relative_bias_matrix": [(_reals(3), 2), (_reals(5), 3)],
    "positional.relative_parameter_count": [(WHOLE, WHOLE)],
    "gates.sigmoid": [(_reals(2),), (_reals(1, 2),)],
    "gates.gru_cell": [
        (_reals(1), _reals(2), _cell(["_z", "_r", ""], 1, 2)), (_reals(2), _reals(1), _cell(["_z", "_r", ""], 2, 1)),
    ],
    "gates.lstm_cell": [
        (_reals(1), _reals(2), _reals(2), _cell(["_i", "_f", "_o", "_c"], 1, 2)),
        (_reals(2), _reals(1), _reals(1), _cell(["_i", "_f", "_o", "_c"], 2, 1)),
    ],
    "gates.lstm_weight_gradient": [
        (_reals(1, 2), _reals(2), _reals(2), _cell(["_i", "_f", "_o", "_c"], 2, 2), _reals(1, 2)),
        (_reals(2, 1), _reals(1), _reals(1), _cell(["_i", "_f", "_o", "_c"], 1, 1), _reals(2, 1)),
        (_reals(2, 1), _reals(2), _reals(2), _cell(["_i", "_f", "_o", "_c"], 1, 2) | NO_FEEDBACK, _reals(2, 2)),
    ],
    "gates.rnn_gradient_norms": [
        (_reals(2, 1), _reals(2), _reals(2, 1), _reals(2, 2), _reals(2)),
        (_reals(3, 1), _reals(1), _reals(1, 1), _reals(1, 1), _reals(1)),
        (_reals(1, 1), _reals(1), _reals(1, 1), _reals(1, 1), _reals(1)),
    ],
    "network.softmax_cross_entropy": [(_reals(3), _shares(3))],
    "network.softmax_cross_entropy_gradient": [(_reals(3), _shares(3))],
    "network.forward": [(_reals(2, 1), _network(1, 2, 3)), (_reals(2, 3), _network(3, 1, 2))],
    "network.forward_backward": [
        (_reals(2, 1), _reals(2, 2), _network(1, 2, 2)), (_reals(2, 3), _reals(2, 2), _network(3, 1, 2)),
    ],
    "network.input_gradient": [
        (_reals(1, 2), _shares(1, 3), _network(2, 1, 3)), (_reals(1, 1), _shares(1, 2), _network(1, 2, 2)),
    ],
    "perplexity.entropy": [(_shares(3), POSITIVE), (_shares(3, plain={1: 0.0}),)],
    "perplexity.cross_entropy": [
        (_shares(3), _shares(3), POSITIVE), (_shares(3, plain={0: 0.0}), _shares(3, plain={0: 0.0})),
        (_shares(3), _shares(3, plain={2: 0.0})),
    ],
    "perplexity.entropy_rate": [(_shares(2, 2), 2, POSITIVE), (_shares(4, plain={1: 0.0}), 3)],
    "perplexity.perplexity": [(_reals(3), POSITIVE), (_reals(3, plain={1: 0.0}),)],
    "perplexity.sequence_perplexity": [(Symbols((3,), ABOVE_ZERO),)],
    "transformer.layer_norm": [
        (_reals(2, 3), _reals(3), _reals(3)), (_reals(2), _reals(2), _reals(2), 0.5),
        (_reals(1, 2), _reals(2), _reals(2)),
    ],
    "transformer.feed_forward": [
        (_reals(2, 2), _reals(2, 3), _reals(3), _reals(3, 2), _reals(2)),
        (_reals(1, 2), _reals(2, 1), _reals(1), _reals(1, 2), _reals(2)),
    ],
    "transformer.transformer_layer": [
        (_reals(3, 2), _layer(2, 1)), (_reals(3, 2), _layer(2, 1), True), (_reals(1, 1, 2), _layer(2, 1)),
    ],
    "averaging.deep_averaging_network": [
        (IDS, _reals(3, 2), [(_reals(2, 1), _reals(1)), (_reals(1, 2), _reals(2))]),
        (IDS, _reals(3, 1), [(_reals(1, 1), _reals(1))], 2),
        (IDS[:1], _reals(3, 1), [(_reals(1, 2), _reals(2))]),
        (np.array([[1, 7], [7, 7]]), _reals(3, 1), [(_reals(1, 2), _reals(2))], 7),
    ],
}  # fmt: skip

_BIGRAM = [
    Experiment("language_model", ("train_bigram", (TEXT, 4, *more)), ("bigram_log_probs", (asked,)))
    for more, asked in (((POSITIVE,), QUESTION), ((POSITIVE,), QUESTION[:1]), ((), QUESTION))
]

EXPERIMENTS: Mapping[str, Sequence[Experiment]] = {
    **{
        item: [Experiment(module, (function, arguments)) for arguments in rows]
        for item, rows in _ARGUMENTS.items()
        for module, function in [item.split(".", 1)]
    },
    "language_model.train_bigram": _BIGRAM,
    "language_model.bigram_log_probs": _BIGRAM,
}
