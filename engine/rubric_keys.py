"""What a rubric may say: every key with its type and default, and how a file's problems are gathered.

docs/rubric.md is this table in words; a test holds the two together.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from engine.late import OF, PER
from engine.toml_lines import lines_of

VISIBILITIES = ("public", "hidden")
REQUIRED = object()


@dataclass(frozen=True, slots=True)
class Key:
    """What a key takes, in words and as a test, and what it is where it is not written."""

    takes: str
    fits: Callable[[Any], bool]
    default: Any = None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**6


def _positive(default: float) -> Key:
    return Key("a positive number", lambda value: _is_number(value) and value > 0, default)


def _one_of(names: Collection[str], default: Any) -> Key:
    return Key(f"one of {', '.join(names)}", lambda value: value in names, default)


TEXT = Key("a text", lambda value: isinstance(value, str) and bool(value.strip()))
SWITCH = Key("true or false", lambda value: isinstance(value, bool), default=False)
TABLE = Key("a table", lambda value: isinstance(value, dict))
NAMES = Key("a list of names", lambda _: True)  # engine/policy.py looks at each
AMOUNT = Key("a number of at least 0", lambda value: _is_number(value) and value >= 0)
SHARE = Key("a share above 0, at most 1", lambda value: _is_number(value) and 0 < value <= 1)

KEYS: Mapping[str, Mapping[str, Key]] = {
    "the file": {
        "title": TEXT,
        "examples": Key(
            "a whole number of at least 1",
            lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1,
            100,
        ),
        "forbid": NAMES,
        "limits": TABLE,
        "late": TABLE,
        "item": TABLE,
    },
    "[limits]": {
        "call_seconds": _positive(4.0),
        "import_seconds": _positive(15.0),
        "submission_seconds": _positive(120.0),
        "cpu_seconds": _positive(120.0),
        "memory_mib": _positive(1024),
        "scratch_mib": _positive(16),
    },
    "[late]": {
        "share": SHARE,
        "points": AMOUNT,
        "of": _one_of(OF, OF[0]),
        "per": _one_of(PER, PER[0]),
        "cap": AMOUNT,
        "grace_minutes": Key(AMOUNT.takes, AMOUNT.fits, 0),
        "deadline": Key(
            "a time with its zone, as in 2026-11-01T23:59:00+01:00",
            lambda value: isinstance(value, datetime) and value.tzinfo is not None,
        ),
        "excused": Key(
            "a list of ids", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value)
        ),
    },
    "[item.ID]": {"title": TEXT, "from": Key("a text", lambda value: isinstance(value, str)), "forbid": NAMES,
                  "bonus": SWITCH},
    "a check": {
        "points": Key(AMOUNT.takes, AMOUNT.fits, REQUIRED),
        "visibility": _one_of(VISIBILITIES, REQUIRED),
        "partial": SWITCH,
        "bonus": SWITCH,
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a rubric, or worth a second look, and where."""

    line: int  # 0: nowhere in particular
    text: str
    is_error: bool = True

    def __str__(self) -> str:
        return f"{self.text} (line {self.line})" if self.line else self.text


class RubricFile:
    """A file that is being read: its tables, and the problems found so far, all of them."""

    def __init__(self, path: Path, raw: bytes) -> None:
        self.name = path.name
        self.problems: list[Problem] = []
        self.table: dict[str, Any] = {}
        self._lines: dict[tuple[str, ...], int] = {}
        try:
            text = raw.decode("utf-8")
            self.table = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            self.problems.append(Problem(0, f"it is not valid TOML: {error}"))
        else:
            self._lines = lines_of(text)

    @property
    def errors(self) -> list[Problem]:
        """The problems for which it is refused."""
        return [problem for problem in self.problems if problem.is_error]

    def error(self, place: tuple[str, ...], text: str) -> None:
        """Note a mistake at a key."""
        self.problems.append(Problem(self._line(place), text))

    def warn(self, place: tuple[str, ...], text: str) -> None:
        """Note what may not be meant at a key."""
        self.problems.append(Problem(self._line(place), text, is_error=False))

    def _line(self, place: tuple[str, ...]) -> int:
        return next((self._lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in self._lines), 0)

    def values(self, kind: str, place: tuple[str, ...], table: Mapping[str, Any], label: str = "") -> dict[str, Any]:
        """Return the known keys of a table with their values or defaults; what does not fit is noted, and left out."""
        keys = KEYS[kind]
        values = {name: key.default for name, key in keys.items() if key.default is not REQUIRED}
        for name, value in table.items():
            if name not in keys:
                hint = near(name, list(keys)) or f"; it has {', '.join(keys)}"
                self.error((*place, name), f"{label or kind} has no {name!r}{hint}")
            elif not keys[name].fits(value):
                about = ".".join(filter(None, [label or kind.strip("[]") if place else "", name]))
                self.error((*place, name), f"{about} must be {keys[name].takes}, not {value!r}")
            else:
                values[name] = value
        return values

    def tables(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield what a table of the file holds; nothing where it is no table, which is noted elsewhere."""
        found = self.table.get(name, {})
        yield from found.items() if isinstance(found, dict) else ()


def near(word: str, known: Collection[str]) -> str:
    """Return the nearest of the names there are, as the end of a sentence; a mapping tells how each is shown."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    shown = known[close[0]] if close and isinstance(known, Mapping) else "".join(close)
    return f"; did you mean {shown}?" if close else ""
