"""A row of small line plots as SVG: no library to install, and the same bytes for the same figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 300, 220  # of one plot, with its margins
LEFT, RIGHT, TOP, BOTTOM = 48, 14, 30, 42
INK, LINE, PAPER = "#444", "#2a6fb0", "#fff"


@dataclass(frozen=True, slots=True)
class Plot:
    """One line: what is along the axis below, what is measured, and the points."""

    title: str
    below: str
    points: Sequence[tuple[float, float]]
    is_log: bool = False


def drawn(plots: Sequence[Plot]) -> str:
    """Return the plots side by side; all start at zero, so that flat looks flat."""
    width = WIDTH * len(plots)
    parts = [_panel(plot, WIDTH * number) for number, plot in enumerate(plots)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}"'
    style = f'font-family="sans-serif" font-size="11" fill="{INK}"'
    label = escape("; ".join(map(_said, plots)), quote=True)
    paper = f'<rect width="{width}" height="{HEIGHT}" fill="{PAPER}"/>'
    return "\n".join([f'{head} {style} role="img" aria-label="{label}">', paper, *parts, "</svg>", ""])


def _said(plot: Plot) -> str:
    return f"{plot.title}: " + ", ".join(f"{y:.3g} at {x:g} {plot.below}" for x, y in plot.points)


def _panel(plot: Plot, offset: int) -> str:
    places = [math.log10(x) if plot.is_log else x for x, _ in plot.points]
    first, last = min(places), max(places)
    most = _above(max(y for _, y in plot.points))
    inner = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def across(place: float) -> float:
        return LEFT + inner[0] * ((place - first) / (last - first) if last > first else 0.5)

    def down(value: float) -> float:
        return TOP + inner[1] * (1 - value / most)

    dots = [(across(place), down(y)) for place, (_, y) in zip(places, plot.points, strict=True)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
    lines = [
        f'<text x="{LEFT}" y="16" font-weight="bold">{escape(plot.title)}</text>',
        *(_level(value, down(value)) for value in (0.0, most / 2, most)),
        f'<polyline fill="none" stroke="{LINE}" stroke-width="2" points="{line}"/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{LINE}"/>' for x, y in dots),
        *(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{value:,g}</text>'
            for (x, _), (value, _) in zip(dots, plot.points, strict=True)
        ),
        f'<text x="{LEFT + inner[0] / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(plot.below)}</text>',
    ]
    return f'<g transform="translate({offset} 0)">\n' + "\n".join(lines) + "\n</g>"


def _level(value: float, y: float) -> str:
    line = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
    return f'{line}<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'


def _above(value: float) -> float:
    """Return the next round number from a value on.

    >>> _above(0.13), _above(7.0), _above(20.0)
    (0.2, 10.0, 20.0)
    """
    power = 10.0 ** math.floor(math.log10(value))
    return float(f"{power * next(step for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)):.3g}")
