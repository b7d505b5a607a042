"""What the audit found: for a terminal, for programs, and as docs/power.md."""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.audit.run import OTHER_SEED, Fate, ItemAudit, Kind
from engine.audit.variant import BY_HAND, BY_RULE, BY_TYPE

EXPLAINED = Path(__file__).with_name("explained.toml")
QUESTION = "equivalent, or a hole?"


def read_explained(path: Path = EXPLAINED) -> dict[str, str]:
    """Return the reason for each survivor that has one, by its name."""
    groups = tomllib.loads(path.read_text(encoding="utf-8")).get("explained", [])
    return {name: group["reason"] for group in groups for name in group["mutants"]}


@dataclass(frozen=True, slots=True)
class Report:
    """The audit of some items or of all."""

    items: Sequence[ItemAudit]
    public: frozenset[str]  # ids of the checks students may run at home
    explained: Mapping[str, str]

    # ------------------------------------------------------------------------ figures

    @property
    def single(self) -> list[Fate]:
        """All wrong implementations with one change."""
        return [fate for item in self.items for fate in item.mutants if fate.kind is Kind.WRONG]

    @property
    def pairs(self) -> list[Fate]:
        """All wrong implementations with two changes."""
        return [fate for item in self.items for fate in item.pairs if fate.kind is Kind.WRONG]

    @property
    def named(self) -> list[Fate]:
        """All named mistakes."""
        return [fate for item in self.items for fate in item.named]

    @property
    def mutants(self) -> list[Fate]:
        """All wrong implementations that were generated."""
        return [*self.single, *self.pairs]

    @property
    def survivors(self) -> list[Fate]:
        """The wrong implementations nothing caught."""
        return [fate for fate in [*self.mutants, *self.named] if not fate.caught]

    def of_kind(self, kind: Kind) -> list[Fate]:
        """Return the generated implementations of a kind."""
        return [fate for item in self.items for fate in (*item.mutants, *item.pairs) if fate.kind is kind]

    @property
    def problems(self) -> list[str]:
        """Everything that is not as it must be."""
        names = {fate.name for fate in self.survivors}
        audited = {item.id for item in self.items}
        found = [f"survived: {fate.name}" for fate in self.survivors if fate.name not in self.explained]
        found += [
            f"wrong, but proved: {fate.name}"
            for fate in self.survivors
            if fate.proved and fate.name not in self.explained
        ]
        found += [
            f"explained, but no such survivor: {name}"
            for name in self.explained
            if name.split(" | ", 1)[0] in audited and name not in names
        ]
        for item in self.items:
            found += [f"{fate.name}: {fault}" for fate in _all(item) for fault in fate.faults]
            found += [
                f"right, but rejected: {each.name}: {each.rejected[0]}" for each in item.variants if each.rejected
            ]
            found += [f"equal to the reference: {fate.name}" for fate in item.named if fate.kind is not Kind.WRONG]
        return found

    @property
    def good(self) -> bool:
        """Whether every survivor is explained and every right implementation accepted."""
        return not self.problems

    def inputs(self) -> list[int]:
        """Return how many inputs per check it took to catch each mutant, in order."""
        return sorted(fate.inputs for fate in self.mutants if fate.kills)

    def without_reference(self) -> list[Fate]:
        """Return the mutants that the public laws catch by themselves."""
        return [fate for fate in self.mutants if fate.stopped or self.public & fate.kills.keys()]

    def variants(self, *kinds: str) -> tuple[int, int]:
        """Return how many right implementations of these kinds were accepted, and how many there are."""
        chosen = [each for item in self.items for each in item.variants if not kinds or each.kind in kinds]
        return sum(not each.rejected for each in chosen), len(chosen)

    def checks(self) -> list[CheckFigures]:
        """Return what each check caught."""
        found: dict[str, CheckFigures] = {}
        for item in self.items:
            for check in item.checks:
                found.setdefault(check, CheckFigures(check, check in self.public))
            for fate in _all(item):
                others_public = self.public & fate.kills.keys()
                for check, number in fate.kills.items():
                    found[check].needed.append(number)
                    found[check].alone += len(fate.kills) == 1
                    found[check].alone_at_home += others_public == {check}
        return list(found.values())

    # -------------------------------------------------------------------------- texts

    def as_record(self) -> dict[str, Any]:
        """Return everything for programs."""
        return {
            "good": self.good,
            "figures": dict(self._figures()),
            "items": [
                {
                    "item": item.id,
                    "sample": item.sample,
                    "mutants": [_record(fate) for fate in item.mutants],
                    "pairs": [_record(fate) for fate in item.pairs],
                    "named": [_record(fate) for fate in item.named],
                    "variants": [
                        {"name": each.name, "kind": each.kind, "rejected": list(each.rejected)}
                        for each in item.variants
                    ],
                }
                for item in self.items
            ],
            "checks": [
                {
                    "check": c.id,
                    "public": c.public,
                    "caught": len(c.needed),
                    "alone": c.alone,
                    "median_inputs": c.median,
                }
                for c in self.checks()
            ],
            "problems": self.problems,
        }

    def _figures(self) -> Iterator[tuple[str, str]]:
        """Yield the summary: what it is, and the figure."""
        single, pairs, named, mutants = self.single, self.pairs, self.named, self.mutants
        inputs = self.inputs()
        changed = {fate.name.split(" | ", 1)[1] for fate in single}
        yield "wrong implementations, one change", f"{_share(_caught(single), len(single))} caught"
        yield "distinct changes among them", f"{len(changed)}"
        yield "wrong implementations, two changes", f"{_share(_caught(pairs), len(pairs))} caught"
        yield "named mistakes", f"{_share(_caught(named), len(named))} caught"
        yield (
            "survivors explained by name",
            f"{sum(s.name in self.explained for s in self.survivors)} of {len(self.survivors)}",
        )
        if inputs:
            yield (
                "inputs per check until caught",
                (
                    f"median {statistics.median(inputs):g}, 95 % within {inputs[int(0.95 * (len(inputs) - 1))]}, "
                    f"all within {inputs[-1]}"
                ),
            )
        yield "caught by public laws alone, without the reference", _share(len(self.without_reference()), len(mutants))
        by_examples = [fate for fate in mutants if fate.typical]
        yield "side by side: caught by a typical file of fixed examples", _share(len(by_examples), len(mutants))
        yield "the same file on the named mistakes", _share(sum(fate.typical for fate in named), len(named))
        exactly = sum(fate.diagnosis == (fate.name,) for fate in named)
        yield "named mistakes diagnosed by exactly their name", _share(exactly, len(named))
        yield "mutants that are given a name", _share(sum(bool(fate.diagnosis) for fate in mutants), len(mutants))
        for kind in (BY_HAND, BY_RULE, BY_TYPE):
            yield f"right implementations {kind}", f"{_share(*self.variants(kind))} accepted"
        yield "not counted: raise on everything", f"{len(self.of_kind(Kind.RAISES))}"
        equal = self.of_kind(Kind.EQUAL)
        proved = sum(fate.proved for fate in equal)
        yield "not counted: equal to the reference", f"{proved} proved, {len(equal) - proved} on the sample"
        yield (
            "not counted: right in another way, where the contract leaves values open",
            f"{len(self.of_kind(Kind.OPEN))}",
        )
        unseen = sum(fate.missed and fate.caught for fate in mutants)
        yield "caught, though the sample shows no difference", f"{unseen}"
        yield "wrong implementations proved right", f"{sum(fate.proved for fate in self.survivors)}"
        yield "caught, but right in exact arithmetic", f"{sum(fate.proved and fate.caught for fate in mutants)}"

    def __str__(self) -> str:
        width = max(len(item.id) for item in self.items)
        lines = [f"{'function':<{width}}  {' '.join(f'{column:>9}' for column in COLUMNS)}"]
        lines += [f"{item.id:<{width}}  {' '.join(f'{value:>9}' for value in self._row(item))}" for item in self.items]
        width = max(len(name) for name, _ in self._figures())
        lines += ["", *(f"{name:<{width}}  {figure}" for name, figure in self._figures()), ""]
        for fate in self.survivors:
            reason = self.explained.get(fate.name)
            lines += [f"SURVIVED  {fate.name}", fate.diff, f"    {reason or QUESTION}", ""]
        lines += [f"NOT AS IT MUST BE  {problem}" for problem in self.problems]
        lines.append("all good" if self.good else f"{len(self.problems)} problems")
        return "\n".join(lines)

    def _row(self, item: ItemAudit) -> list[str]:
        wrong = [fate for fate in item.mutants if fate.kind is Kind.WRONG]
        pairs = [fate for fate in item.pairs if fate.kind is Kind.WRONG]
        both = [*wrong, *pairs]
        inputs = [fate.inputs for fate in both if fate.kills]
        return [
            f"{_caught(wrong)}/{len(wrong)}",
            f"{_caught(pairs)}/{len(pairs)}",
            f"{_caught(item.named)}/{len(item.named)}",
            f"{100 * sum(fate.typical for fate in both) / max(1, len(both)):.0f} %",
            f"{statistics.median(inputs) if inputs else 0:g}",
            f"{sum(fate.kind in (Kind.EQUAL, Kind.OPEN) for fate in (*item.mutants, *item.pairs))}",
            f"{sum(fate.kind is Kind.RAISES for fate in (*item.mutants, *item.pairs))}",
            f"{sum(not each.rejected for each in item.variants)}/{len(item.variants)}",
        ]

    def as_page(self) -> str:
        """Return docs/power.md."""
        figures = "\n".join(f"| {name} | {figure} |" for name, figure in self._figures())
        rows = "\n".join(f"| `{item.id}` | {' | '.join(self._row(item))} |" for item in self.items)
        checks = self.checks()
        never = [check for check in checks if not check.alone]
        return PAGE.format(
            figures=figures,
            columns=" | ".join(COLUMNS),
            rule="|".join(["---"] + ["--:"] * len(COLUMNS)),
            rows=rows,
            survivors=self._survivors() or "None.",
            checks="\n".join(
                f"| `{c.id}` | {len(c.needed)} | {c.alone} | {c.alone_at_home if c.public else ''} | {c.median} |"
                for c in checks
            ),
            never=len(never),
            all=len(checks),
            useless="\n".join(f"- `{check.id}`" for check in checks if not check.needed) or "None.",
            seed=OTHER_SEED,
            equal=_listed(self.of_kind(Kind.EQUAL)) or "None.",
            other=_listed(self.of_kind(Kind.OPEN)) or "None.",
        )

    def _survivors(self) -> str:
        by_reason: dict[str, list[Fate]] = {}
        for fate in self.survivors:
            by_reason.setdefault(self.explained.get(fate.name, QUESTION), []).append(fate)
        parts = []
        for reason, fates in by_reason.items():
            parts.append(f"**{reason}**\n")
            parts += [f"`{fate.name}`\n\n```text\n{fate.diff}\n```\n" for fate in fates]
        return "\n".join(parts)


COLUMNS = ("one", "two", "named", "examples", "inputs", "equal", "raise", "right")


@dataclass(slots=True)
class CheckFigures:
    """What one check caught."""

    id: str
    public: bool
    needed: list[int] = field(default_factory=list)  # inputs, for each that it caught
    alone: int = 0  # caught by no other check
    alone_at_home: int = 0  # caught by no other public check

    @property
    def median(self) -> str:
        """The inputs it needs, in the middle."""
        return f"{statistics.median(self.needed):g}" if self.needed else ""


def _all(item: ItemAudit) -> Iterator[Fate]:
    yield from (*item.mutants, *item.pairs, *item.named)


def _caught(fates: Iterable[Fate]) -> int:
    return sum(fate.caught for fate in fates)


def _share(part: int, whole: int) -> str:
    """Return `part of whole (per cent)`, which is 100 only if it is all."""
    if not whole:
        return "0 of 0"
    per_cent = 100 * part / whole
    shown = "100" if part == whole else f"{min(per_cent, 99.9):.1f}"
    return f"{part} of {whole} ({shown} %)"


def _record(fate: Fate) -> dict[str, Any]:
    return {
        "name": fate.name,
        "operator": fate.operator,
        "kind": str(fate.kind),
        "caught": fate.caught,
        "kills": dict(fate.kills),
        "stopped": fate.stopped,
        "typical": fate.typical,
        "missed": fate.missed,
        "proved": fate.proved,
        "diagnosis": list(fate.diagnosis),
        "diff": fate.diff,
    }


def _listed(fates: Sequence[Fate]) -> str:
    by_item: dict[str, list[str]] = {}
    for fate in fates:
        item, change = fate.name.split(" | ", 1)
        by_item.setdefault(item, []).append(f"`{change}`" + (" (proved)" if fate.proved else ""))
    return "\n".join(
        f"- `{item}`\n" + "\n".join(f"  - {change}" for change in changes) for item, changes in by_item.items()
    )


PAGE = """\
# Power

How many wrong implementations the checks let through, and how many right ones they turn away. This page is
written by `make audit` (`grader audit --write docs/power.md`); it depends on the code and its seeds alone.

| what | figure |
|---|---|
{figures}

## What was done

- **Wrong implementations** are the reference with one change of its syntax tree, or two (`engine/audit/mutate.py`):
  another axis, a transpose too many or too few, another width under the root, a sign, an exponent, an index off by one,
  a term or factor left out, operands, names, gates or keys exchanged, a mask or a shift left out, another reduction,
  activation or logarithm, a constant, a default, a bracket in the wrong place, too few digits, an argument written
  over. A change in a function that an item calls makes a wrong implementation of that item, too; of functions
  that are items themselves a fixed sample of changes is taken there, and so it is of an item with more than 80.
- **Not counted** are those that raise on everything, and those that agree with the reference within the tolerance on
  a sample no check has seen: the checks' own inputs under seed {seed}, and thousands of larger ones drawn from the
  contract's shapes alone (`engine/audit/sample.py`). They are listed at the end, and so are other right models.
- **Every check** that calls the function runs on every wrong implementation until its first failing input, with the
  standard rubric and seed. An implementation is caught if any of them fails, or if it does not end.
- **Fixed examples** are a test file of the kind courses ship, two to four assertions for each function
  (`engine/audit/typical.py`).
- **Right implementations** must be accepted by every check under two seeds: written by hand (`engine/audit/variants/`),
  rewritten by rules that change no value (`engine/audit/rewrite.py`), in single precision, returning lists or tensors.

## By function

One change, two changes and named mistakes: caught of all. Examples: share of the mutants that the fixed examples
catch. Inputs: median number per check until caught. Equal and raise: not counted. Right: accepted of all.

| function | {columns} |
|{rule}|
{rows}

## Survivors

{survivors}

## By check

Caught: wrong implementations this check catches. Alone: those no other check catches; at home: those no other public
check catches. {never} of {all} checks never catch anything alone: agreement with the definition catches nearly
everything by itself, and the laws are what students can run without the reference.

| check | caught | alone | alone at home | median inputs |
|---|--:|--:|--:|--:|
{checks}

Checks that caught nothing at all:

{useless}

## Equal to the reference

On the whole sample; where it says so, proved equal as well (docs/proofs.md).

{equal}

## Right in another way

Changes of models whose values the contract leaves open (the networks, the character model): no longer the reference,
but every check holds under two seeds.

{other}
"""
