"""The rubric: which items there are, what each check is worth, who may see it, what a worker may use.

Points and visibility live here and nowhere else. A rubric that does not fit the checks
is refused before anybody is graded, with all that is wrong with it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from checks.check import Check, checks_in
from checks.contract import FILES, SIGNATURES
from checks.question import PUBLISHED, Question, questions
from engine import cache
from engine.feedback import number
from engine.late import Late
from engine.launching import remember_limits
from engine.policy import Policy, read_entries
from engine.records import RubricError, UsageError
from engine.rubric_keys import KEYS, Problem, RubricFile, near
from engine.sheet import AnswerCheck, checks_of
from engine.workers import Budget

STANDARD = Path(__file__).resolve().parent.parent / "checks" / "rubric.toml"
MOST_TOLD = 20  # of the problems of a rubric that stop a run; `grader rubric` tells all


@dataclass(frozen=True, slots=True)
class Worth:
    """What a check is worth and who sees it."""

    points: Fraction
    visibility: str
    partial: bool = False  # whether a part that holds earns a part of the points
    bonus: bool = False  # counts for the score, not for the maximum


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
        """The points of all its checks but the bonus."""
        return sum((worth.points for worth in self.worth.values() if not worth.bonus), Fraction(0))

    @property
    def bonus(self) -> Fraction:
        """The points that count on top."""
        return sum((worth.points for worth in self.worth.values() if worth.bonus), Fraction(0))


@dataclass(frozen=True, slots=True)
class Rubric:
    """A whole assignment."""

    title: str
    examples: int
    budget: Budget
    items: tuple[Item, ...]
    digest: str
    graded: tuple[str, ...] = ()  # all items of the file, also those that `only` and `public` leave out
    late: Late | None = None
    judging: str = ""  # a digest of what verdicts and points depend on: all of the file but [late]

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

    @property
    def called(self) -> frozenset[str]:
        """The functions of the contract that its checks call."""
        names = {f"{check.of.split('.', 1)[0]}.{name}" for check in self.code_checks for name in check.functions}
        return frozenset(names & SIGNATURES.keys())

    def summary(self) -> str:
        """Return what there is to be had, in a line or two."""
        points = sum((item.points for item in self.items), Fraction(0))
        bonus = sum((item.bonus for item in self.items), Fraction(0))
        on_top = f" and {number(bonus)} bonus" if bonus else ""
        line = f"{self.title}: {len(self.items)} items, {len(self.checks)} checks, {number(points)} points{on_top}"
        return f"{line}\nlate: {self.late.rule(1)}" if self.late else line

    def policy(self) -> Policy:
        """Return what its items forbid."""
        return Policy(
            {item.id: item.forbid for item in self.code_items},
            self.functions(),
            self.graded,
        )

    def functions(self) -> dict[str, list[str]]:
        """Return the functions that each item of code is about."""
        return {item.id: self._functions(item) for item in self.code_items}

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
                close = get_close_matches(name, sorted(known), n=3, cutoff=0.5)
                raise UsageError(
                    f"no module, item or check is called {name!r}"
                    + (f"; did you mean {', '.join(close)}?" if close else "")
                )
        chosen = set(wanted)
        kept = []
        for item in self.items:
            whole = item.id in chosen or item.id.split(".", 1)[0] in chosen
            kept.append(item if whole else _restricted(item, [c for c in item.checks if c.id in chosen]))
        return replace(self, items=tuple(item for item in kept if item.checks))


def _restricted(item: Item, checks: Sequence[Check | AnswerCheck]) -> Item:
    return replace(item, checks=tuple(checks), worth={check.id: item.worth[check.id] for check in checks})


@functools.cache
def all_checks() -> Mapping[str, Check]:
    """Return every check there is, by id, in the order of the files."""
    modules = [importlib.import_module(f"checks.{stem}") for stem in FILES]
    return {check.id: check for module in modules for check in checks_in(module)}


def read_rubric(path: Path = STANDARD) -> Rubric:
    """Read a rubric file, or raise RubricError with everything that is wrong with it.

    One that was found good stays good as long as it and our code do not change: reading it takes every file of checks.
    """
    raw = _bytes_of(path)
    name = _cached_name(path, raw)
    known = cache.load(name)
    if isinstance(known, Rubric):
        return known
    rubric = _accepted(path, *_examined(path, raw))
    if all(entry.split(".", 1)[0] in cache.PACKAGES for item in rubric.items for entry in item.forbid):
        remember_limits(raw, rubric.budget.limits())
        cache.store(name, rubric)  # of others nobody would notice that what is forbidden has another name by now
    return rubric


def _cached_name(path: Path, raw: bytes) -> str:
    is_standard = path.resolve() == STANDARD
    # A file without a title is called by its name.
    told = f"{path.stem}\n{is_standard}\n{hashlib.sha256(raw).hexdigest()}"
    return f"rubric-{hashlib.sha256(told.encode()).hexdigest()[:16]}"


def _accepted(path: Path, rubric: Rubric | None, problems: Sequence[Problem]) -> Rubric:
    if rubric is None:
        errors = [problem for problem in problems if problem.is_error]
        told = [f"{path.name}: {problem}" for problem in errors[:MOST_TOLD]]
        more = [f"and {len(errors) - MOST_TOLD} more: grader rubric {path} tells all"] if errors[MOST_TOLD:] else []
        raise RubricError("\n".join([*told, *more]))
    return rubric


def examined(path: Path = STANDARD) -> tuple[Rubric | None, list[Problem]]:
    """Read a rubric file; return it, if nothing is wrong with it, and all problems in the order of their lines."""
    return _examined(path, _bytes_of(path))


def _examined(path: Path, raw: bytes) -> tuple[Rubric | None, list[Problem]]:
    file = RubricFile(path, raw)
    if file.errors:
        return None, file.problems
    top = file.values("the file", (), file.table)
    limits = file.values("[limits]", ("limits",), dict(file.tables("limits")))
    late = _late(file)
    everywhere = _forbidden(file, ("forbid",), "", top["forbid"])
    items = tuple(filter(None, (_item(file, name, row, everywhere) for name, row in file.tables("item"))))
    _look_over(file, items, limits, standard=path.resolve() == STANDARD)
    problems = sorted(file.problems, key=lambda problem: problem.line)
    if file.errors:
        return None, problems
    rubric = Rubric(
        title=top["title"] or path.stem,
        examples=top["examples"],
        budget=Budget(**limits),
        items=items,
        graded=tuple(item.id for item in items if item.question is None),
        digest=hashlib.sha256(raw).hexdigest()[:16],
        late=late,
        judging=_judging(raw, file.table),
    )
    return rubric, problems


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"the rubric {path} cannot be read: {error.strerror}") from None


def _judging(raw: bytes, table: Mapping[str, Any]) -> str:
    """Return the digest that results are found again by: whom a late policy excuses changes no verdict."""
    if "late" not in table:
        return hashlib.sha256(raw).hexdigest()[:16]
    rest = {name: value for name, value in table.items() if name != "late"}
    return hashlib.sha256(json.dumps(rest, default=str).encode()).hexdigest()[:16]


def _late(file: RubricFile) -> Late | None:
    row = dict(file.tables("late"))
    if "late" not in file.table or not isinstance(file.table["late"], dict):
        return None
    place = ("late",)
    values = file.values("[late]", place, row)
    if ("share" in row) == ("points" in row):
        file.error(place, "[late] takes either share or points: what being late costs")
        return None
    is_share = "share" in row
    if "of" in row and not is_share:
        file.error((*place, "of"), "late.of says what a share is of; points are points")
    if is_share and values["cap"] is not None and values["cap"] > 1:
        file.error((*place, "cap"), f"late.cap is a share, as late.share is: at most 1, not {values['cap']!r}")
    if "deadline" not in row and ("grace_minutes" in row or values["per"] != "submission"):
        file.warn(place, "without late.deadline nobody knows how late something is: one day or hour counts, no grace")
    deduct = values["share"] if is_share else values["points"]
    return Late(
        deduct=_exact(deduct or 0),
        is_share=is_share,
        of=values["of"],
        per=values["per"],
        cap=None if values["cap"] is None else _exact(values["cap"]),
        grace=timedelta(minutes=values["grace_minutes"]),
        deadline=values["deadline"],
        excused=frozenset(values["excused"] or ()),
    )


def _exact(number: float) -> Fraction:
    return Fraction(str(number))


def _forbidden(file: RubricFile, place: tuple[str, ...], about: str, value: Any) -> tuple[str, ...]:
    """Return what must not be used; each entry that means nothing is noted."""
    names: list[str] = []
    for entry in [[one] for one in value] if isinstance(value, list) else [value or []]:
        try:
            names += read_entries(entry, about)
        except RubricError as error:
            file.error(place, str(error).removeprefix(": "))
    return tuple(dict.fromkeys(names))


def _item(file: RubricFile, name: str, row: Any, forbidden_everywhere: tuple[str, ...]) -> Item | None:
    place = ("item", name)
    question = questions().get(name)
    coded = {check.id: check for check in all_checks().values() if check.of == name}
    known: Mapping[str, Check | AnswerCheck] = (
        coded if question is None else {check.id: check for check in checks_of(question)}
    )
    if not isinstance(row, dict):
        file.error(place, f"item {name!r} must be a table, not {row!r}")
        return None
    if not known:
        items = {*questions(), *(check.of for check in all_checks().values())}
        file.error(place, f"there is no item {name!r}{near(name, items)}")
        return None
    own = {key: value for key, value in row.items() if key in KEYS["[item.ID]"]}
    values = file.values("[item.ID]", place, own, name)
    worth = {}
    for key, value in row.items():
        if key in own:
            continue
        if f"{name}.{key}" not in known:
            names = {check.rsplit(".", 1)[1]: check for check in known}
            hint = near(key, {**names, **{own_key: own_key for own_key in KEYS["[item.ID]"]}})
            file.error((*place, key), f"there is no check {name}.{key}{hint}")
        else:
            worth[f"{name}.{key}"] = _worth(file, (*place, key), known[f"{name}.{key}"], value, bonus=values["bonus"])
    if not row.keys() - own.keys():
        file.error(place, f"{name} has no checks; it can have {', '.join(id_[len(name) + 1 :] for id_ in known)}")
    title, source = (question.title, question.source) if question else (name, "")
    if question is not None and "forbid" in row:
        file.error((*place, "forbid"), f"{name} is answered in words; forbid is for code")
    own_forbidden = _forbidden(file, (*place, "forbid"), name, row.get("forbid"))
    forbid = () if question is not None else tuple(dict.fromkeys((*forbidden_everywhere, *own_forbidden)))
    shown = values["title"] or title, source if values["from"] is None else values["from"]
    return Item(name, *shown, tuple(known[check] for check in worth), worth, question, forbid)


def _worth(file: RubricFile, place: tuple[str, ...], check: Check | AnswerCheck, value: Any, *, bonus: bool) -> Worth:
    nothing = Worth(Fraction(0), "hidden")
    if not isinstance(value, dict) or not {"points", "visibility"} <= value.keys():
        example = '{ points = 1, visibility = "public" }'
        file.error(place, f"{check.id} needs points and visibility, as in {example}")
        return nothing
    values = file.values("a check", place, value, check.id)
    if values["partial"] and isinstance(check, Check):
        file.warn(place, f"{check.id} has no parts: partial changes nothing")
    if values.get("visibility") == "public" and isinstance(check, Check) and check.needs_truth:
        file.warn(place, f"{check.id} needs the reference: public, it still cannot run at a student's home")
    if not {"points", "visibility"} <= values.keys():
        return nothing
    return Worth(_exact(values["points"]), values["visibility"], values["partial"], bonus or values["bonus"])


def _look_over(file: RubricFile, items: Sequence[Item], limits: Mapping[str, Any], *, standard: bool) -> None:
    """Note what shows only in the file as a whole."""
    if not file.table.get("item"):
        file.error((), "it has no items")
        return
    if not file.errors and not sum(item.points for item in items):
        file.warn((), "no points can be had: the maximum is 0")
    for name in ("call_seconds", "import_seconds"):
        if limits[name] > limits["submission_seconds"]:
            file.warn(("limits", name), f"limits.{name} is more than limits.submission_seconds, and is never reached")
    if standard and not file.errors:  # a check without points is a mistake of ours there
        named = {check.id for item in items for check in item.checks}
        known = list(all_checks())
        if not PUBLISHED.exists():  # a handout has the public checks of its questions only
            known += [check.id for question in questions().values() for check in checks_of(question)]
        for check in known:
            if check not in named:
                file.error((), f"it gives no points for {check}")
