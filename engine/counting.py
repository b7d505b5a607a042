"""How many multiply-adds a student's function does, as an exact polynomial in the sizes, against what they claim.

A worker counts one call at a time (engine/worker/counting.py). Here the function is asked at as many sizes as a
polynomial has coefficients, the coefficients are found in exact arithmetic, and at further sizes the polynomial must
give the count to the last unit. If it does not, there is no polynomial and nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
import sympy as sp
from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from checks.question import Part, Question
from engine.judge import counts
from engine.records import Submission
from engine.workers import Budget, Zygotes
from formulas.decide import last_part, same
from formulas.growth import NONE, Assumptions, Growth, NotAGrowth, assumptions_of, compare, growth_of, growth_of_tree
from formulas.reader import Unreadable, read, read_comparison
from formulas.tree import Name, Node, nodes_of

MOST_POWER = 3  # of one variable in a monomial
MOST_DEGREE = 4  # of a monomial
MOST_COUNTED = 10**12  # at the sizes below an honest count has five digits
# Further sizes, where the polynomial has to hold; in none of them are two variables equal, as in those of `_grid`.
HELD_OUT = ((7, 4, 9), (4, 9, 6), (9, 7, 5), (6, 10, 7), (12, 8, 3))

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Counted:
    """What a function does at all sizes: `polynomial` multiply-adds, `text` for people.

    `rest` is all other arithmetic (softmax, mostly), None if it is no polynomial: a sum that is computed anew for every
    entry can cost more than the products, so only what is known of both may be called less than a claim.
    """

    function: str
    variables: tuple[str, ...]
    polynomial: sp.Expr
    text: str
    rest: sp.Expr | None = sp.S.Zero


@dataclass(frozen=True, slots=True)
class Experiment:
    """A function of the contract and the arguments it is called with at given sizes."""

    item: str
    variables: tuple[str, ...]
    arguments: Callable[[Sizes], tuple[Any, ...]]
    assuming: Assumptions = NONE  # under which it stands for what the question asks
    sizes: str = ""  # what the variables are, for people


def count(call: Callable[[Sizes], int | None], variables: Sequence[str], function: str = "function") -> Counted | None:
    """Find the polynomial whose values `call` returns; None if there is none, or a call has no count.

    >>> count(lambda size: size["M"] ** 2 * size["k"] * 2 + 3 * size["M"] * size["k"] ** 2, ["M", "k"]).text
    '2 M² k + 3 M k²'
    >>> count(lambda size: 2 ** size["M"], ["M", "k"]) is None
    True
    """
    values: list[int] = []
    for sizes in sizes_for(variables):
        value = call(sizes)
        if value is None:
            return None
        values.append(value)
    return _named(_polynomial(values, variables), variables, function, rest=sp.S.Zero)


def sizes_for(variables: Sequence[str]) -> list[dict[str, int]]:
    """Return the sizes a function is called at: those that determine the polynomial, then those that test it."""
    return [dict(zip(variables, point, strict=True)) for point in _points(len(variables))]


def counted_all(
    submission: Submission, experiments: Mapping[str, Experiment], zygotes: Zygotes, budget: Budget
) -> dict[str, Counted]:
    """Count what a submission's functions do; without those that cannot be called, or counted, or are no polynomial."""
    calls = {each.item: [each.arguments(sizes) for sizes in sizes_for(each.variables)] for each in experiments.values()}
    replies = counts(submission, calls, zygotes, budget)
    found = {key: named(each, replies.get(each.item, [])) for key, each in experiments.items()}
    return {key: counted for key, counted in found.items() if counted is not None}


def named(experiment: Experiment, replies: Sequence[Mapping[str, Any]]) -> Counted | None:
    """Return what was counted at all sizes as a polynomial, if it is one."""
    variables = experiment.variables
    pairs = [pair for reply in replies if (pair := _accepted(reply)) is not None]
    if len(pairs) < len(sizes_for(variables)):
        return None
    products, others = (_polynomial(values, variables) for values in zip(*pairs, strict=True))
    return _named(products, variables, experiment.item.split(".", 1)[1], rest=others)


def growing_faster(first: Counted, second: Counted) -> str:
    """Return a direction in which the first does a higher power of work than the second, "" if there is none."""
    above = compare(_growth(first.polynomial), _growth(second.polynomial)).above
    return "" if above is None else _with_superscripts(str(above))


def against_claim(counted: Counted, claim: Node | Growth, assuming: Assumptions = NONE) -> str:
    """Return "" if the claim is a tight upper bound for the counted code, else a sentence that says where it fails.

    A claim about other variables, or one that has no growth, cannot be compared: nothing is said.

    >>> M, k = sp.symbols("M k")
    >>> code = count(lambda size: 2 * size["M"] ** 2 * size["k"], ["M", "k"], "self_attention")
    >>> against_claim(code, growth_of(M**2, [M, k]))
    'You claim O(M²), your self_attention does 2 M² k multiply-adds: it grows faster along k = t (M fixed).'
    """
    try:
        claimed = claim if isinstance(claim, Growth) else growth_of_tree(claim, counted.variables)
        if not _variables_of(claimed) <= set(counted.variables):
            return ""
        above = compare(_growth(counted.polynomial), claimed, assuming).above
        whole = None if counted.rest is None else compare(_growth(counted.polynomial + counted.rest), claimed, assuming)
    except NotAGrowth:
        return ""
    if above is not None:
        difference = f"it grows faster along {above}"
    elif whole is not None and whole.below is not None:
        difference = f"it grows more slowly along {whole.below}, so a smaller bound holds"
    else:
        return ""
    does = f"your {counted.function} does {counted.text} multiply-adds"
    return _with_superscripts(f"You claim O({claimed}), {does}: {difference}.")


def held_against_code(question: Question, claim: str, submission: Submission, zygotes: Zygotes, budget: Budget) -> str:
    """Compare a claimed cost with what the submission's own code does; nothing is said where that cannot be counted."""
    experiment = EXPERIMENTS.get(question.id)
    if experiment is None or not submission.sources:
        return ""
    (part,) = question.parts
    try:
        tree = last_part(read(claim, part.symbols))
    except Unreadable:
        return ""
    found = counted_all(submission, {question.id: experiment}, zygotes, budget).get(question.id)
    if found is None:
        return ""
    # A question whose answer does not speak of a size takes it for a constant: O(n²) in tokens.
    free = {node.name for node in nodes_of(read(part.expected, part.symbols)) if isinstance(node, Name)}
    given = [text for accepted in part.accepted for text in accepted.given if _is_form(tree, accepted.form, part)]
    assumed = assumptions_of(
        [read_comparison(text, part.symbols) for text in given],
        constants=[name for name in experiment.variables if name not in free],
    )
    return against_claim(found, tree, Assumptions((*experiment.assuming.above_zero, *assumed.above_zero)))


def _is_form(tree: Node, form: str, part: Part) -> bool:
    return same(tree, last_part(read(form, part.symbols)), part.symbols, "theta")


# ── polynomials ───────────────────────────────────────────────────────────────────────────────────────────────────


def _powers(variables: int) -> list[tuple[int, ...]]:
    """Return the exponents of the monomials a count may have."""
    return [powers for powers in product(range(MOST_POWER + 1), repeat=variables) if sum(powers) <= MOST_DEGREE]


def _points(variables: int) -> list[tuple[int, ...]]:
    return [*_grid(variables), *(point[:variables] for point in HELD_OUT)]


def _grid(variables: int) -> list[tuple[int, ...]]:
    """Return a point for each monomial: the n-th size of a variable where its power is n.

    With a monomial come all that divide it, and for such sets these points determine the coefficients.
    """
    return [tuple(2 + place + 3 * power for place, power in enumerate(powers)) for powers in _powers(variables)]


def _polynomial(values: Sequence[int], variables: Sequence[str]) -> sp.Expr | None:
    """Return the polynomial with these values at the points, if there is one."""
    powers = _powers(len(variables))
    rows = [[prod(map(pow, point, each)) for each in powers] for point in _points(len(variables))]
    known = len(powers)
    system = DomainMatrix([list(map(QQ, row)) for row in rows[:known]], (known, known), QQ)
    right = DomainMatrix([[QQ(value)] for value in values[:known]], (known, 1), QQ)
    coefficients = [entry for (entry,) in system.lu_solve(right).to_list()]
    for row, value in zip(rows[known:], values[known:], strict=True):
        if sum(a * x for a, x in zip(coefficients, row, strict=True)) != value:
            return None
    symbols = [sp.Symbol(name) for name in variables]
    terms = zip(coefficients, powers, strict=True)
    return sp.Add(*(QQ.to_sympy(a) * prod(map(pow, symbols, each)) for a, each in terms if a))


def _named(
    polynomial: sp.Expr | None, variables: Sequence[str], function: str, *, rest: sp.Expr | None
) -> Counted | None:
    if polynomial is None:
        return None
    try:
        _growth(polynomial)
    except NotAGrowth:  # nothing was counted, or a worker lies
        return None
    return Counted(function, tuple(variables), polynomial, _text(polynomial, variables), rest)


def _text(polynomial: sp.Expr, variables: Sequence[str]) -> str:
    terms = sp.Poly(polynomial, *map(sp.Symbol, variables)).terms()
    text = ""
    for powers, value in sorted(terms, key=lambda term: (sum(term[0]), term[0]), reverse=True):
        names = [_with_superscripts(f"{name}^{power}") for name, power in zip(variables, powers, strict=True) if power]
        number = [] if abs(value) == 1 and names else [str(abs(value))]
        sign = (" - " if text else "-") if value < 0 else " + " if text else ""
        text += sign + " ".join(number + names)
    return text


def _with_superscripts(text: str) -> str:
    """Write M^2 as M²."""
    return re.sub(r"\^(\d)(?!\d)", lambda found: "⁰ ²³⁴⁵⁶⁷⁸⁹"[int(found[1])].strip(), text)


def _growth(polynomial: sp.Expr) -> Growth:
    return growth_of(polynomial, sorted(polynomial.free_symbols, key=str))


def _variables_of(growth: Growth) -> set[str]:
    return {name for monomial in growth.above | growth.below for name, _, _ in monomial.factors}


# ── what is counted ───────────────────────────────────────────────────────────────────────────────────────────────


def _accepted(reply: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return what a worker says it counted, if that is two numbers of a believable size and nothing was lost."""
    products, others = reply.get("multiply_adds"), reply.get("elementwise")
    if type(products) is not int or type(others) is not int or reply.get("lost") != "":
        return None
    return (products, others) if 0 <= products <= MOST_COUNTED and 0 <= others <= MOST_COUNTED else None


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    """Return the same numbers every time, all different."""
    numbers: np.ndarray[Any, Any] = np.sin((1.0 + np.arange(prod(shape))) ** 2)
    return numbers.reshape(shape)


def _self_attention(tokens: str, width: str, *, causal: bool = False) -> Experiment:
    def arguments(size: Sizes) -> tuple[Any, ...]:
        n, d = size[tokens], size[width]
        mask = (np.triu(np.full((n, n), -np.inf), k=1),) if causal else ()
        return (numbers(n, d), numbers(d, d), -numbers(d, d), numbers(d, d) / 2, *mask)

    return Experiment("attention.self_attention", (tokens, width), arguments)


def _cross_attention(size: Sizes) -> tuple[Any, ...]:
    keys = numbers(size["M"], size["k"])
    return numbers(size["N"], size["k"]), -keys, keys / 2


# By question. Cross-attention is counted without its projections, so only while these cost no more than the rest.
EXPERIMENTS: Mapping[str, Experiment] = {
    "attention_cost": _self_attention("n", "d"),
    "encoder_self_attention": _self_attention("M", "k"),
    "decoder_self_attention": _self_attention("N", "k", causal=True),
    "cross_attention": Experiment(
        "attention.scaled_dot_product_attention",
        ("M", "N", "k"),
        _cross_attention,
        assumptions_of([sp.Symbol("k") <= sp.Symbol("M"), sp.Symbol("k") <= sp.Symbol("N")]),
    ),
}
