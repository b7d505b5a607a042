"""A plain table for any spreadsheet: final scores, why there is none, and points by item."""

from __future__ import annotations

import csv
import io
from fractions import Fraction

from engine.exports.record import Asked, Export, unfinished
from engine.exports.roster import guarded
from engine.records import ItemResult, Outcome
from engine.results import encodable


def table(asked: Asked) -> Export:
    """Return one row per submission."""
    items = list(dict.fromkeys(item.id for result in asked.results for item in result.items))
    left_out = [f"{result.id}: {why}" for result in asked.results if (why := unfinished(result))]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(["id", "status", "score", "max_score", "note", *map(guarded, items)])
    for result in asked.results:
        why = unfinished(result)
        scores = {item.id: _known(item) for item in result.items}
        row = [
            guarded(result.id),
            result.status.value,
            "" if why else _plain(result.score),
            _plain(result.max_score),
            guarded(
                "; ".join(filter(None, [why, "late" if result.late else "", *(a.note for a in result.adjustments)]))
            ),
        ]
        writer.writerow(row + [_plain(scores.get(item)) for item in items])
    return Export({"": encodable(buffer.getvalue())}, left_out)


def _known(item: ItemResult) -> Fraction | None:
    """Return an item's points; what waits for a person has none yet."""
    return None if any(check.verdict.outcome is Outcome.MANUAL for check in item.checks) else item.score


def _plain(score: Fraction | None) -> int | float | str:
    if score is None:
        return ""
    return int(score) if score.denominator == 1 else float(score)
