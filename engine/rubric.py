"""The rubric: which items there are, what each check is worth, who may see it, what a worker may use.

Points and visibility live here and nowhere else. A rubric that does not fit the checks
is refused before anybody is graded.
"""

from __future__ import annotations

import hashlib
import importlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from checks.check import Check, checks_in
from checks.contract import FILES, SIGNATURES
from checks.question import PUBLISHED, Question, questions
from engine.answers import AnswerCheck, checks_of
from engine.policy import Policy, read_entries
from engine.records import RubricError, UsageError
from engine.workers import Budget

STANDARD = Path(__file__).resolve().parent.parent / "checks" / "rubric.toml"
VISIBILITIES = ("public", "hidden")
LIMITS = {
    "call_seconds": 4.0,
    "import_seconds": 15.0,
    "submission_seconds": 120.0,
    "cpu_seconds": 120.0,
    "memory_mib": 1024,
    "scratch_mib": 16,
}


@dataclass(frozen=True, slots=True)
class Worth:
    """What a check is worth and who sees it."""

    points: Fraction
    visibility: str
    partial: bool = False  # whether a part that holds earns a part of the points


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the syllabus, with its checks: a function to be written, or a question to be answered."""

    id: str
    title: str
    source: str
    checks: tuple[Check | AnswerCheck, ...]
    worth: Mapping[str, Worth]  # by check id
    question: Question | None = None
    forbid: tuple[str, ...] = ()  # what the code must not use

    @property
    def kind(self) -> str:
        """The kind of answer it takes."""
        return "code" if self.question is None else str(self.question.kind)

    @property
    def points(self) -> Fraction:
        """The points of all its checks."""
        return sum((worth.points for worth in self.worth.values()), Fraction(0))


@dataclass(frozen=True, slots=True)
class Rubric:
    """A whole assignment."""

    title: str
    examples: int
    budget: Budget
    items: tuple[Item, ...]
    digest: str
    graded: tuple[str, ...] = ()  # all items of the file, also those that `only` and `public` leave out

    @property
    def checks(self) -> list[Check | AnswerCheck]:
        """All checks, in the order they are run and reported."""
        return [check for item in self.items for check in item.checks]

    @property
    def code_checks(self) -> list[Check]:
        """The checks of code."""
        return [check for check in self.checks if isinstance(check, Check)]

    @property
    def code_items(self) -> list[Item]:
        """The items that are functions to be written."""
        return [item for item in self.items if item.question is None]

    @property
    def questions(self) -> list[Question]:
        """The questions to be answered."""
        return [item.question for item in self.items if item.question is not None]

    def policy(self) -> Policy:
        """Return what its items forbid."""
        return Policy(
            {item.id: item.forbid for item in self.code_items},
            {item.id: self._functions(item) for item in self.code_items},
            self.graded,
        )

    def _functions(self, item: Item) -> list[str]:
        """Return the functions an item is about: its own, or those of its checks that no other item is about."""
        module = item.id.split(".", 1)[0]
        called = {
            f"{module}.{name}": None for check in item.checks if isinstance(check, Check) for name in check.functions
        }
        return [item.id] if item.id in SIGNATURES else [n for n in called if n in SIGNATURES and n not in self.graded]

    def public(self) -> Rubric:
        """Return the part of it that students may run."""
        kept = [
            _restricted(item, [c for c in item.checks if item.worth[c.id].visibility == "public"])
            for item in self.items
        ]
        return replace(self, items=tuple(item for item in kept if item.checks))

    def only(self, wanted: Sequence[str]) -> Rubric:
        """Return the part of it that the ids (modules, items or checks) name."""
        if not wanted:
            return self
        known = {
            name for item in self.items for name in (item.id.split(".", 1)[0], item.id, *(c.id for c in item.checks))
        }
        for name in wanted:
            if name not in known:
                near = get_close_matches(name, sorted(known), n=3, cutoff=0.5)
                raise UsageError(
                    f"no module, item or check is called {name!r}"
                    + (f"; did you mean {', '.join(near)}?" if near else "")
                )
        chosen = set(wanted)
        kept = []
        for item in self.items:
            whole = item.id in chosen or item.id.split(".", 1)[0] in chosen
            kept.append(item if whole else _restricted(item, [c for c in item.checks if c.id in chosen]))
        return replace(self, items=tuple(item for item in kept if item.checks))


def _restricted(item: Item, checks: Sequence[Check | AnswerCheck]) -> Item:
    return replace(item, checks=tuple(checks), worth={check.id: item.worth[check.id] for check in checks})


@cache
def all_checks() -> Mapping[str, Check]:
    """Return every check there is, by id, in the order of the files."""
    modules = [importlib.import_module(f"checks.{stem}") for stem in FILES]
    return {check.id: check for module in modules for check in checks_in(module)}


def read_rubric(path: Path = STANDARD) -> Rubric:
    """Read a rubric file, or raise RubricError naming the row that is wrong."""
    try:
        raw = path.read_bytes()
        table = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        raise UsageError(f"the rubric {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RubricError(f"{path.name} is not valid TOML: {error}") from None
    everywhere = read_entries(table.get("forbid", []), path.name)
    items = tuple(_item(name, row, path.name, everywhere) for name, row in _table(table, "item", path.name).items())
    _complete(items, path)
    limits = LIMITS | _table(table, "limits", path.name)
    unknown = sorted(set(limits) - set(LIMITS))
    if unknown:
        raise RubricError(f"{path.name}: [limits] has no {unknown[0]!r}; it has {', '.join(LIMITS)}")
    for name, value in limits.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise RubricError(f"{path.name}: limits.{name} must be a positive number, not {value!r}")
    examples = table.get("examples", 100)
    if not isinstance(examples, int) or isinstance(examples, bool) or examples < 1:
        raise RubricError(f"{path.name}: examples must be a whole number of at least 1, not {examples!r}")
    return Rubric(
        title=str(table.get("title", path.stem)),
        examples=examples,
        budget=Budget(**limits),
        items=items,
        graded=tuple(item.id for item in items if item.question is None),
        digest=hashlib.sha256(raw).hexdigest()[:16],
    )


def _table(table: Mapping[str, Any], name: str, file: str) -> dict[str, Any]:
    value = table.get(name, {})
    if not isinstance(value, dict):
        raise RubricError(f"{file}: {name} must be a table, not {value!r}")
    return value


def _item(name: str, row: Any, file: str, forbidden_everywhere: tuple[str, ...]) -> Item:
    if not isinstance(row, dict):
        raise RubricError(f"{file}: item {name!r} must be a table, not {row!r}")
    question = questions().get(name)
    known: Mapping[str, Check | AnswerCheck] = (
        all_checks() if question is None else {check.id: check for check in checks_of(question)}
    )
    checks = []
    worth = {}
    for key, value in row.items():
        if key in ("title", "from", "forbid"):
            continue
        check = known.get(f"{name}.{key}")
        if check is None:
            near = get_close_matches(f"{name}.{key}", list(known), n=1, cutoff=0.6)
            raise RubricError(
                f"{file}: there is no check {name}.{key}" + (f"; did you mean {near[0]}?" if near else "")
            )
        checks.append(check)
        worth[check.id] = _worth(check.id, value, file)
    title, source = (question.title, question.source) if question else (name, "")
    if question is not None and "forbid" in row:
        raise RubricError(f"{file}: {name} is answered in words; forbid is for code")
    own = read_entries(row.get("forbid", []), f"{file}: {name}")
    forbid = () if question is not None else tuple(dict.fromkeys((*forbidden_everywhere, *own)))
    return Item(
        name, str(row.get("title", title)), str(row.get("from", source)), tuple(checks), worth, question, forbid
    )


def _worth(check: str, value: Any, file: str) -> Worth:
    if not isinstance(value, dict) or set(value) - {"partial"} != {"points", "visibility"}:
        raise RubricError(f'{file}: {check} needs points and visibility, as in {{ points = 1, visibility = "public" }}')
    points, visibility, partial = value["points"], value["visibility"], value.get("partial", False)
    if not isinstance(partial, bool):
        raise RubricError(f"{file}: {check}: partial must be true or false, not {partial!r}")
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points < 10**6:
        raise RubricError(f"{file}: {check}: points must be a number of at least 0, not {points!r}")
    if visibility not in VISIBILITIES:
        raise RubricError(f"{file}: {check}: visibility must be one of {', '.join(VISIBILITIES)}, not {visibility!r}")
    return Worth(Fraction(str(points)), visibility, partial)


def _complete(items: Sequence[Item], path: Path) -> None:
    """Refuse a standard rubric that leaves a check without points: that is a mistake of ours."""
    if not items:
        raise RubricError(f"{path.name} has no items")
    if path.resolve() == STANDARD:
        named = {check.id for item in items for check in item.checks}
        known = list(all_checks())
        if not PUBLISHED.exists():  # a handout has the public checks of its questions only
            known += [check.id for question in questions().values() for check in checks_of(question)]
        forgotten = [check for check in known if check not in named]
        if forgotten:
            raise RubricError(f"{path.name} gives no points for {forgotten[0]}")
