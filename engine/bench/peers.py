"""The peers of the benchmark: the tools courses grade with today, on the same submissions, by the same checks.

Each tries the very Check objects of `checks/`, draws their inputs with Hypothesis from the same seed, and compares with
the same truth (engine/bench/trial.py). So all of them must fail a submission for the same checks, and `disagreements`
says where they do not. All run with one thread per library, as our workers do.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.bench.by_nbgrader import Nbgrader
from engine.bench.by_otter import Otter
from engine.bench.by_pytest import Pytest
from engine.bench.peer import Graded, NotInstalled, Peer
from engine.rubric import read_rubric
from engine.verify import EXAMPLES, FOUNDATION

# Ten checks of an assignment on attention. Each of them draws a hundred examples; none has a smaller number of its own.
TYPICAL = (
    "attention.softmax.agrees_with_definition",
    "attention.softmax.rows_sum_to_one",
    "attention.softmax.shift_invariance",
    "attention.softmax.survives_extreme_logits",
    "attention.scaled_dot_product_attention.agrees_with_definition",
    "attention.scaled_dot_product_attention.scale_is_root_of_key_width",
    "attention.scaled_dot_product_attention.masked_keys_have_no_influence",
    "attention.scaled_dot_product_attention.mask_is_added",
    "attention.self_attention.agrees_with_definition",
    "attention.self_attention.causal_self_attention",
)
DRAWN = 100  # examples of each


def whole() -> tuple[str, ...]:
    """Return all checks of code of the standard rubric."""
    return tuple(check.id for check in read_rubric().code_checks)


def peers(place: Path) -> list[Peer]:
    """Return all peers; what they need is kept in a folder."""
    return [Pytest(place), Otter(place), Nbgrader(place)]


def laid_over(example: str, folder: Path) -> Path:
    """Write the right submission with the functions of an example of a mistake in place of its own."""
    for path in sorted((EXAMPLES / FOUNDATION).glob("*.py")):
        mistaken = EXAMPLES / example / path.name
        sources = [
            path.read_text(encoding="utf-8"),
            *([mistaken.read_text(encoding="utf-8")] if mistaken.is_file() else []),
        ]
        (folder / path.name).write_text("\n\n".join(sources), encoding="utf-8")  # what is defined last, is called
    return folder


def disagreements(graded: Mapping[str, Graded]) -> list[str]:
    """Return where peers, by their names, failed a submission for different checks: there must be none."""
    (first, wanted), *others = graded.items()
    return [
        f"{submission}: {first} and {name} differ on {', '.join(sorted(failed ^ wanted.failed[submission]))}"
        for name, each in others
        for submission, failed in each.failed.items()
        if failed != wanted.failed[submission]
    ]


__all__ = ["DRAWN", "TYPICAL", "Graded", "NotInstalled", "Peer", "disagreements", "laid_over", "peers", "whole"]
