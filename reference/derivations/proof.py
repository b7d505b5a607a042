"""What a derivation is: premises, and chains of steps each proved by a named rule.

A chain begins with an expression; each link names the next one, the reason a reader is given, and the rule that must
prove it. A rule either proves its step exactly or refuses it: there is no third answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import sympy as sp

from formulas.calculus import Definition, Gaussian
from formulas.normal import Facts
from formulas.polynomial import Polynomial


class Refused(Exception):
    """A step is not proved by its rule. The message says what was tried."""


@dataclass(frozen=True)
class Premise:
    """What is taken as given: a statement for the reader, and what the rules may make of it."""

    statement: sp.Basic | str
    meaning: str = ""
    definition: Definition | None = None
    facts: Facts | None = None
    gaussian: Gaussian | None = None


def defines(head: sp.Expr, body: sp.Expr, meaning: str = "") -> Premise:
    """Return the premise that `head` stands for `body`, for all of its indices."""
    return Premise(sp.Eq(head, body, evaluate=False), meaning, definition=Definition(head, body))


@dataclass(frozen=True)
class Context:
    """What the premises of one derivation allow."""

    definitions: Mapping[str, Definition]
    facts: Facts
    randoms: Mapping[str, Gaussian]
    equations: frozenset[sp.Basic] = frozenset()  # those premises that are equations
    forms: dict[object, Polynomial] = field(default_factory=dict)  # normal forms already found, by rule and expression


class Rule(Protocol):
    """Proves steps of one kind. `relation` is what it proves between left and right: =, ≤, ≥, Θ."""

    @property
    def name(self) -> str:
        """Return what the reader is told."""

    @property
    def relation(self) -> str:
        """Return the sign between left and right."""

    def prove(self, left: sp.Basic, right: sp.Basic, context: Context) -> None:
        """Return if the relation is proved, raise Refused otherwise."""


@dataclass(frozen=True)
class Step:
    """One line of a proof."""

    left: sp.Basic
    right: sp.Basic
    reason: str
    rule: Rule

    def prove(self, context: Context) -> None:
        """Return if the step is proved, raise Refused otherwise."""
        self.rule.prove(self.left, self.right, context)


@dataclass(frozen=True)
class Chain:
    """Steps one after another: each begins where the one before ended."""

    start: sp.Basic
    links: tuple[tuple[sp.Basic, str, Rule], ...]
    title: str = ""

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps of the chain."""
        lefts = [self.start, *(right for right, _, _ in self.links)]
        return tuple(
            Step(left, right, reason, rule) for left, (right, reason, rule) in zip(lefts, self.links, strict=False)
        )

    @property
    def relation(self) -> str:
        """Return what the chain proves between its two ends."""
        relations = {step.rule.relation for step in self.steps} - {"="}
        if len(relations) > 1:
            raise ValueError(f"a chain cannot mix {' and '.join(sorted(relations))}")
        return relations.pop() if relations else "="


def chain(start: sp.Basic, *links: tuple[sp.Basic, str, Rule], title: str = "") -> Chain:
    """Return a chain of steps."""
    return Chain(start, links, title)


@dataclass(frozen=True)
class Derivation:
    """One result with its proof. `shows` says it in words, `source` where the sheets ask for it."""

    id: str
    title: str
    source: str
    shows: str
    premises: tuple[Premise, ...]
    chains: tuple[Chain, ...]
    explains: tuple[str, ...] = field(default=())  # items of the rubric this is the proof behind

    @property
    def steps(self) -> Iterator[Step]:
        """Return all steps, chain after chain."""
        for each in self.chains:
            yield from each.steps

    @cached_property
    def context(self) -> Context:
        """Return what the premises allow, put together."""
        definitions = [premise.definition for premise in self.premises if premise.definition]
        gaussians = [premise.gaussian for premise in self.premises if premise.gaussian]
        stated = [premise.statement for premise in self.premises if isinstance(premise.statement, sp.Eq)]
        return Context(
            {definition.name: definition for definition in definitions},
            merged([premise.facts for premise in self.premises if premise.facts]),
            {gaussian.name: gaussian for gaussian in gaussians},
            frozenset(stated),
        )


def merged(several: list[Facts]) -> Facts:
    """Return all facts in one."""
    return Facts(
        orthonormal={name: size for facts in several for name, size in facts.orthonormal.items()},
        orthogonal={pair: size for facts in several for pair, size in facts.orthogonal.items()},
        totals={name: size for facts in several for name, size in facts.totals.items()},
        one_hot=frozenset().union(*(facts.one_hot for facts in several)),
        distinct=frozenset().union(*(facts.distinct for facts in several)),
        ranges={index: bounds for facts in several for index, bounds in facts.ranges.items()},
    )
