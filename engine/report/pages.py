"""All pages of a report, one after the other: a class of a thousand is never held as text at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote

from engine.records import CheckText, SubmissionResult
from engine.report import overview, submission
from engine.report.submission import Neighbour

INDEX = "index.html"
FOLDER = "submissions"


def pages(  # noqa: PLR0913 - everything the pages say is handed in by name
    results: Iterable[SubmissionResult],
    *,
    rubric: str,
    seed: int,
    texts: Mapping[str, CheckText],
    title: str,
    behind: Mapping[str, Iterable[tuple[str, str]]],
    file_name: Callable[[str], str],
) -> Iterator[tuple[str, str]]:
    """Yield place and text of every page, submissions in the order of their ids; `behind` are the proofs of an item."""
    ordered = sorted(results, key=lambda result: result.id)

    def page_of(name: str) -> str:
        return f"{file_name(name)}.html"

    # A file's name may hold percent signs, and an address spells those out.
    yield (
        INDEX,
        overview.render(
            ordered, rubric=rubric, seed=seed, title=title, href=lambda name: f"{FOLDER}/{quote(page_of(name))}"
        ),
    )
    neighbours = [None, *(Neighbour(result.id, quote(page_of(result.id))) for result in ordered), None]
    for place, result in enumerate(ordered):
        text = submission.render(
            result, texts=texts, title=title, behind=behind, neighbours=(neighbours[place], neighbours[place + 2])
        )
        yield f"{FOLDER}/{page_of(result.id)}", text
