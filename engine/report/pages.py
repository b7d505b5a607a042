"""A report, page by page: of a class of thousands one page is held at a time, and a row of each for the overview."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote

from engine.records import CheckText, SubmissionResult
from engine.report import submission
from engine.report.overview import Overview
from engine.report.submission import Neighbour

INDEX = "index.html"
FOLDER = "submissions"


class Report:
    """The pages of submissions, made one after the other in the order of their ids, and then the overview."""

    def __init__(  # noqa: PLR0913 - everything the pages say is handed in by name
        self,
        *,
        rubric: str,
        seed: int,
        texts: Mapping[str, CheckText],
        title: str,
        behind: Mapping[str, Iterable[tuple[str, str]]],  # the proofs of an item
        file_name: Callable[[str], str],
    ) -> None:
        self._rubric = rubric
        self._seed = seed
        self._texts = texts
        self._title = title
        self._behind = behind
        self._file_name = file_name
        self._overview = Overview()

    def page(self, result: SubmissionResult, before: str | None, after: str | None) -> tuple[str, str]:
        """Return place and text of a submission's page, which leads to the ones before and after it."""
        self._overview.add(result)
        text = submission.render(
            result,
            texts=self._texts,
            title=self._title,
            behind=self._behind,
            neighbours=(self._neighbour(before), self._neighbour(after)),
        )
        return self._place(result.id), text

    def overview(self) -> Iterator[str]:
        """Yield the overview of all submissions that have a page, piece by piece."""
        return self._overview.pieces(
            rubric=self._rubric,
            seed=self._seed,
            title=self._title,
            # A file's name may hold percent signs, and an address spells those out.
            href=lambda name: quote(self._place(name)),
        )

    def _place(self, name: str) -> str:
        return f"{FOLDER}/{self._file_name(name)}.html"

    def _neighbour(self, name: str | None) -> Neighbour | None:
        return None if name is None else Neighbour(name, quote(f"{self._file_name(name)}.html"))
