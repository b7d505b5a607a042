"""How much work a student's functions do: multiply-adds as a polynomial in the sizes, beside the reference's.

No points depend on it. A function that is right and does a higher power of a size than the reference is told so:
usually a product of matrices in the wrong order, or something computed anew for every entry.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from engine.corpus import has_reference, reference_module
from engine.counting import Counted, Experiment, Sizes, counted_all, growing_faster, named, numbers, sizes_for
from engine.proving import namespaces_of
from engine.records import ItemResult, Outcome, Submission, SubmissionResult
from engine.worker import counting
from engine.workers import Budget, Zygotes

SHARE = 4  # counting may take a quarter of the time a submission has
GRU, LSTM = ("_z", "_r", ""), ("_i", "_f", "_o", "_c")


def with_work(result: SubmissionResult, submission: Submission, zygotes: Zygotes, budget: Budget) -> SubmissionResult:
    """Return a result with a sentence on the work of each item that holds; whatever goes wrong costs it alone."""
    asked = {item.id: WORK[item.id] for item in result.items if item.outcome is Outcome.HELD and item.id in WORK}
    if not asked or not has_reference():
        return result
    shorter = replace(budget, submission_seconds=budget.submission_seconds / SHARE)
    try:
        counted = counted_all(submission, asked, zygotes, shorter)
        items = tuple(_told(item, counted.get(item.id)) for item in result.items)
    except Exception:  # noqa: BLE001 - a worker may send what nobody thought of: the run goes on
        print(f"{submission.id}: work\n{traceback.format_exc()}", file=sys.stderr)
        return result
    return replace(result, items=items)


def _told(item: ItemResult, counted: Counted | None) -> ItemResult:
    if counted is None:
        return item
    sizes = f" ({WORK[item.id].sizes})"
    said = f"{counted.function} does {counted.text} multiply-adds{sizes}."
    reference = work_of_reference(item.id)
    faster = growing_faster(counted, reference) if reference is not None else ""
    if reference is not None and faster:
        said += f" The reference does {reference.text}: this grows faster along {faster}."
    return replace(item, work=said)


@cache
def work_of_reference(item: str) -> Counted | None:
    """Count what the reference does."""
    module = reference_module(item)
    function, experiment = item.split(".", 1)[1], WORK[item]
    replies = [
        counting.counted(getattr(module, function), experiment.arguments(sizes), namespaces_of(module))
        for sizes in sizes_for(experiment.variables)
    ]
    return named(experiment, replies)


# ── the sizes ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _cell(gates: Sequence[str], width: int, hidden: int) -> dict[str, Any]:
    weights = {f"W{gate}": numbers(hidden, width) for gate in gates}
    return weights | {f"U{gate}": numbers(hidden, hidden) / hidden for gate in gates}


def _network(inputs: int, hidden: int, outputs: int) -> dict[str, Any]:
    return {
        "W1": numbers(inputs, hidden), "b1": numbers(1, hidden),
        "W2": numbers(hidden, outputs), "b2": numbers(1, outputs),
    }  # fmt: skip


def _layer(width: int, inner: int) -> dict[str, Any]:
    square = {name: numbers(width, width) for name in ("W_q", "W_k", "W_v")}
    norms = {name: numbers(width) for name in ("gamma1", "beta1", "gamma2", "beta2")}
    dense = {"W1": numbers(width, inner), "b1": numbers(inner), "W2": numbers(inner, width), "b2": numbers(width)}
    return square | norms | dense


def _shares(*shape: int) -> Any:
    positive = 1.0 + numbers(*shape) ** 2
    return positive / positive.sum(axis=-1, keepdims=True)


# By item: what the variables are called, what they are, and the arguments at given sizes.
_ROWS: Mapping[str, tuple[str, str, Callable[..., tuple[Any, ...]]]] = {
    "attention.dot_product_attention": (
        "n d v", "n keys of width d, values of width v",
        lambda n, d, v: (numbers(d), numbers(n, d), numbers(n, v)),
    ),
    "attention.scaled_dot_product_attention": (
        "n m d", "n queries, m keys, all of width d",
        lambda n, m, d: (numbers(n, d), numbers(m, d), numbers(m, d)),
    ),
    "attention.self_attention": (
        "n d h", "n words of width d, queries and values of width h",
        lambda n, d, h: (numbers(n, d), numbers(d, h), -numbers(d, h), numbers(d, h)),
    ),
    "attention.multi_head_attention": (
        "n d h", "n words of width d, two heads of width h",
        lambda n, d, h: (numbers(n, d), numbers(2, d, h), -numbers(2, d, h), numbers(2, d, h), numbers(2 * h, d)),
    ),
    "attention.relative_bias_attention": (
        "n d v", "n words of width d, values of width v",
        lambda n, d, v: (numbers(n, d), numbers(n, d), numbers(n, v), numbers(2 * n - 1)),
    ),
    "attention.additive_attention": (
        "n d h", "n states of width d, scores through h units",
        lambda n, d, h: (numbers(d), numbers(n, d), numbers(h, d), numbers(h, d), numbers(h)),
    ),
    "attention.attentive_rnn": (
        "T d h", "T inputs of width d, states of width h",
        lambda T, d, h: (numbers(T, d), numbers(h), numbers(h, d), numbers(h, h) / h),
    ),
    "attention.projection_matrix": ("d m", "m columns of length d", lambda d, m: (numbers(d, m),)),
    "gates.gru_cell": (
        "d h", "input of width d, state of width h",
        lambda d, h: (numbers(d), numbers(h), _cell(GRU, d, h)),
    ),
    "gates.lstm_cell": (
        "d h", "input of width d, state of width h",
        lambda d, h: (numbers(d), numbers(h), numbers(h), _cell(LSTM, d, h)),
    ),
    "gates.lstm_weight_gradient": (
        "T d h", "T inputs of width d, states of width h",
        lambda T, d, h: (numbers(T, d), numbers(h), numbers(h), _cell(LSTM, d, h), numbers(T, h)),
    ),
    "gates.rnn_gradient_norms": (
        "T d h", "T inputs of width d, states of width h",
        lambda T, d, h: (numbers(T, d), numbers(h), numbers(h, d), numbers(h, h) / h, numbers(h)),
    ),
    "network.forward": (
        "B D H", "B samples of width D, H hidden units, 3 classes",
        lambda B, D, H: (numbers(B, D), _network(D, H, 3)),
    ),
    "network.forward_backward": (
        "B D H", "B samples of width D, H hidden units, 3 classes",
        lambda B, D, H: (numbers(B, D), _shares(B, 3), _network(D, H, 3)),
    ),
    "network.input_gradient": (
        "D H C", "an input of width D, H hidden units, C classes",
        lambda D, H, C: (numbers(1, D), _shares(1, C), _network(D, H, C)),
    ),
    "transformer.feed_forward": (
        "n d f", "n words of width d, f units",
        lambda n, d, f: (numbers(n, d), numbers(d, f), numbers(f), numbers(f, d), numbers(d)),
    ),
    "transformer.transformer_layer": (
        "n d f", "n words of width d, f units",
        lambda n, d, f: (numbers(n, d), _layer(d, f)),
    ),
    "averaging.deep_averaging_network": (
        "n d h", "2 texts of n words of width d, h hidden units, 3 classes",
        lambda n, d, h: (
            [[1 + word % 4 for word in range(n)]] * 2, numbers(5, d),
            [(numbers(d, h), numbers(h)), (numbers(h, 3), numbers(3))],
        ),
    ),
}  # fmt: skip


def _experiment(item: str, names: str, sizes: str, arguments: Callable[..., tuple[Any, ...]]) -> Experiment:
    def at(size: Sizes) -> tuple[Any, ...]:
        return arguments(*(size[name] for name in names.split()))

    return Experiment(item, tuple(names.split()), at, sizes=sizes)


WORK: Mapping[str, Experiment] = {item: _experiment(item, *row) for item, row in _ROWS.items()}
