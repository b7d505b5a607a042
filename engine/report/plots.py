"""Expected against given as a picture, where a counterexample holds enough numbers for one to say more than they do.

Drawn as inline SVG whose colours are the page's classes; the same numbers give the same bytes. What a picture shows
is also said in its label, for those who do not see it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from engine.records import Counterexample

LONGEST = 20_000  # characters of a value that are read
FEWEST_CELLS = 6  # numbers tell fewer by themselves
FEWEST_POINTS = 4
MOST_CELLS = 1_000
SHADES = 9  # of the colour scale; classes q0 … q8 of the style
CELL = 22  # pixels

_NUMBERS = re.compile(r"(?:[\[\],\s]|-?np\.(?:inf|nan)|True|False|-?\d+(?:\.\d*)?(?:e[+-]?\d+)?)+")
_WORDS = {"np.nan": "NaN", "np.inf": "Infinity", "True": "1", "False": "0"}

Row = list[float]


@dataclass(frozen=True, slots=True)
class Values:
    """A table of numbers; `place` says which part of a larger array it is."""

    rows: list[Row]
    place: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), len(self.rows[0])


def plot(example: Counterexample) -> Markup:
    """Return expected against given as a figure, or nothing where it would say no more than the numbers."""
    given, expected = _array(example.gave), _array(example.expected.partition(", as ")[0])
    shape = _shape(given)
    if not shape or shape != _shape(expected):
        return Markup()
    pair = _tables(given, expected)
    rows, columns = pair[0].shape
    if rows == 1 and columns >= FEWEST_POINTS:
        return _lines(*pair)
    if rows > 1 and FEWEST_CELLS <= rows * columns <= MOST_CELLS:
        return _maps(*pair)
    return Markup()


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _array(text: str) -> Any:
    """Read nested lists of numbers and nothing else; student code had a hand in what stands there."""
    if not text.startswith("[") or len(text) > LONGEST or not _NUMBERS.fullmatch(text):
        return None
    for word, meaning in _WORDS.items():
        text = text.replace(word, meaning)
    try:
        return json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        return None


def _shape(array: Any) -> tuple[int, ...] | None:
    """Return the shape of nested lists; None if they are ragged or empty."""
    if not isinstance(array, list):
        return ()
    shapes = {_shape(entry) for entry in array}
    inner = shapes.pop() if len(shapes) == 1 else None
    return None if inner is None else (len(array), *inner)


def _tables(given: Any, expected: Any) -> tuple[Values, Values]:
    """Return two arrays of one shape as tables: the whole, or the first part in which they differ."""
    if not isinstance(given[0], list):
        return Values([given]), Values([expected])
    place = ""
    while isinstance(given[0][0], list):
        number = next((n for n, (a, b) in enumerate(zip(given, expected, strict=True)) if not _same(a, b)), 0)
        place += f"[{number}]"
        given, expected = given[number], expected[number]
    return Values(given, place), Values(expected, place)


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, list) and isinstance(second, list):
        return all(map(_same, first, second))
    return bool(first == second) or (first != first and second != second)  # noqa: PLR0124 - NaN


# ── drawing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _maps(given: Values, expected: Values) -> Markup:
    """Return two heat maps with one scale; entries that differ are framed."""
    rows, columns = given.shape
    finite = [abs(x) for row in (*given.rows, *expected.rows) for x in row if math.isfinite(x)]
    limit = max(finite, default=0.0)
    apart = [
        (r, c) for r in range(rows) for c in range(columns) if not _close(given.rows[r][c], expected.rows[r][c], limit)
    ]
    if not apart:
        return Markup()
    scale = f"−{_number(limit)} to {_number(limit)}" if _signed(given, expected) else f"0 to {_number(limit)}"
    caption = f"{len(apart)} of {rows * columns} entries differ (framed). Colours: {scale}"
    whole = f" Part {given.place} of the result." if given.place else ""
    return Markup('<figure class="plot"><div class="maps">{}{}</div><figcaption>{}.{}</figcaption></figure>').format(
        _map("Expected", expected, limit, (), signed=_signed(given, expected)),
        _map("Given", given, limit, apart, signed=_signed(given, expected)),
        caption,
        whole,
    )


def _map(label: str, values: Values, limit: float, apart: Sequence[tuple[int, int]], *, signed: bool) -> Markup:
    rows, columns = values.shape
    cells: dict[str, list[str]] = {}
    for r, row in enumerate(values.rows):
        for c, value in enumerate(row):
            cells.setdefault(_shade(value, limit, signed=signed), []).append(
                f"M{c * CELL} {r * CELL}h{CELL}v{CELL}h-{CELL}z"
            )
    paths = [
        Markup('<path class="{}" d="{}"/>').format(shade, "".join(places)) for shade, places in sorted(cells.items())
    ]
    marks = [
        Markup('<text x="{}" y="{}">{}</text>').format(c * CELL + CELL // 2, r * CELL + CELL * 2 // 3, _sign(value))
        for r, row in enumerate(values.rows)
        for c, value in enumerate(row)
        if not math.isfinite(value)
    ]
    frames = "".join(f"M{c * CELL + 1} {r * CELL + 1}h{CELL - 2}v{CELL - 2}h-{CELL - 2}z" for r, c in apart)
    said = "; ".join(f"row {r}: " + ", ".join(map(_number, row)) for r, row in enumerate(values.rows))
    return Markup(
        '<div><p class="note">{}</p><svg role="img" aria-label="{}" viewBox="-1 -1 {} {}" width="{}" height="{}">'
        '{}{}<path class="apart" d="{}"/></svg></div>'
    ).format(
        f"{label}, {rows} × {columns}", f"{label}: {said}", columns * CELL + 2, rows * CELL + 2,
        columns * CELL + 2, rows * CELL + 2, Markup().join(paths), Markup().join(marks), frames,
    )  # fmt: skip


def _lines(given: Values, expected: Values) -> Markup:
    """Return two lines over one axis; the marks differ as well as the colours."""
    width, height, left, top = 420, 150, 52, 10
    (gave,), (want,) = given.rows, expected.rows
    finite = [x for x in (*gave, *want) if math.isfinite(x)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    spread = (high - low) or 1.0

    def points(row: Row) -> list[tuple[str, str]]:
        step = width / (len(row) - 1)
        return [
            (_pixels(left + n * step), _pixels(top + (high - x) / spread * height))
            for n, x in enumerate(row)
            if math.isfinite(x)
        ]

    def path(row: Row) -> str:
        return "M" + "L".join(f"{x} {y}" for x, y in points(row)) if points(row) else ""

    dots = Markup().join(Markup('<circle class="wanted" cx="{}" cy="{}" r="4"/>').format(x, y) for x, y in points(want))
    crosses = Markup().join(
        Markup('<path class="gave" d="M{} {}m-4 -4l8 8m0 -8l-8 8"/>').format(x, y) for x, y in points(gave)
    )
    said = f"Expected: {', '.join(map(_number, want))}. Given: {', '.join(map(_number, gave))}."
    lost = sum(not math.isfinite(x) for x in gave)
    caption = "Expected (circles) and given (crosses), entry by entry." + (
        f" {lost} given entries are not finite numbers." if lost else ""
    )
    caption += f" Part {given.place} of the result." if given.place else ""
    return Markup(
        '<figure class="plot"><svg role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">'
        '<path class="axis" d="M{} {}v{}h{}"/><text class="tick" x="{}" y="{}">{}</text>'
        '<text class="tick" x="{}" y="{}">{}</text><path class="wanted" d="{}"/><path class="gave" d="{}"/>{}{}</svg>'
        "<figcaption>{}</figcaption></figure>"
    ).format(
        said, width + left + 10, height + 2 * top, width + left + 10, height + 2 * top,
        left - 8, top, height, width + 8,
        left - 12, top + 4, _number(high), left - 12, top + height + 4, _number(low),
        path(want), path(gave), dots, crosses, caption,
    )  # fmt: skip


def _signed(*tables: Values) -> bool:
    return any(x < 0 for values in tables for row in values.rows for x in row if math.isfinite(x))


def _shade(value: float, limit: float, *, signed: bool) -> str:
    """Return the class of a colour: d0 … d8 from negative to positive, s0 … s8 from zero up, none for no number."""
    if not math.isfinite(value):
        return "none"
    share = abs(value) / limit if limit else 0.0
    middle = (SHADES - 1) / 2
    if signed:
        return f"d{round(middle + math.copysign(share, value) * middle)}"
    return f"s{round(share * (SHADES - 1))}"


def _close(first: float, second: float, limit: float) -> bool:
    """Return whether two entries look the same at the precision of the text they were read from."""
    return _same(first, second) or abs(first - second) <= 1e-5 * limit


def _sign(value: float) -> str:
    return "nan" if value != value else "∞" if value > 0 else "−∞"  # noqa: PLR0124 - NaN


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−") if math.isfinite(value) else _sign(value)


def _pixels(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
