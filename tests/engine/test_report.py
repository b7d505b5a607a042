"""The page: well-formed, self-contained, and deaf to whatever students put into their names and messages."""

from __future__ import annotations

from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from engine.records import (
    CheckResult,
    CheckText,
    Counterexample,
    ItemResult,
    Outcome,
    Status,
    SubmissionResult,
    Verdict,
)
from engine.report.page import LETTERS, render

VOID = {"meta", "br", "wbr", "hr", "img", "input", "link"}
HOSTILE = "</pre></details><script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}\x1b[2J\u202e\udce9"
TEXTS = {
    "attention.softmax.sums": CheckText("Every row sums to 1 & stays < 2.", "Subtract the maximum."),
    "attention.softmax.shift": CheckText("A shift changes nothing.", "Which axis?"),
}


class Page(HTMLParser):
    """A parser that insists on balanced tags and keeps what it saw."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def item(outcome: Outcome, *, text: str = "", diagnosis: str = "", name: str = "attention.softmax") -> ItemResult:
    example = Counterexample(text or "softmax([1000.0])", "[nan]", "[1.0]") if outcome is Outcome.BROKEN else None
    score = {Outcome.HELD: Fraction(3, 2), Outcome.MANUAL: None, Outcome.UNJUDGED: None}.get(outcome, Fraction(0))
    checks = tuple(
        CheckResult(Verdict(f"{name}.{stem}", outcome, 100, text, example), score, Fraction(3, 2), "public")
        for stem in ("sums", "shift")
    )
    total = None if score is None else 2 * score
    return ItemResult(name, "code", outcome, total, Fraction(3), checks, diagnosis)


def submission(
    name: str, *items: ItemResult, status: Status = Status.GRADED, output: str = "", problems: tuple[str, ...] = ()
) -> SubmissionResult:
    scores = [one.score or Fraction(0) for one in items]
    score = None if status is Status.WITHHELD else sum(scores, Fraction(0))
    return SubmissionResult(name, status, score, Fraction(3 * len(items)), items, problems, output)


def show(*results: SubmissionResult, title: str = "Sheet 4") -> str:
    return render(results, rubric="rubric.toml", seed=7, texts=TEXTS, title=title, behind={})


CLASS = (
    submission("alice", item(Outcome.HELD)),
    submission("bob", item(Outcome.BROKEN, diagnosis="softmax over the wrong axis"), output="loss 1\n" * 500),
    submission("carol", item(Outcome.BROKEN, diagnosis="softmax over the wrong axis"), item(Outcome.HELD, name="b.c")),
    submission("dan", item(Outcome.UNJUDGED, text="worker 7 vanished"), status=Status.WITHHELD),
    submission("eve", item(Outcome.MISSING, text="Found soft_max."), problems=("notes.ipynb is not JSON.",)),
)


def test_the_page_is_balanced_and_has_no_script_and_no_address() -> None:
    text = show(*CLASS)
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert page.count("script") == page.count("link") == page.count("img") == 0
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    assert all(href.startswith("#") for _, values in page.tags if (href := values.get("href")))
    assert not any(name.startswith("on") for _, values in page.tags for name in values)


def test_every_link_has_its_target_inside_the_folded_part() -> None:
    """A browser unfolds `details` for a target in its content, not for `details` itself."""
    page = Page(show(*CLASS))
    links = {values["href"] for tag, values in page.tags if tag == "a"}
    targets = {f"#{values['id']}" for tag, values in page.tags if tag == "div" and "id" in values}
    assert len(links) == len(CLASS)
    assert links == targets


def test_the_page_says_what_was_found() -> None:
    text = Page(show(*CLASS)).text
    for words in (
        "Sheet 4",
        "5 (4 graded, 1 withheld)",
        "rubric.toml",
        "held for 200 inputs",
        "Every row sums to 1 & stays < 2.",
        "softmax([1000.0])\ngave      [nan]\nexpected  [1.0]",
        "Hint: Subtract the maximum.",
        "This looks like: softmax over the wrong axis.",
        "The grader failed on this check. Your score is withheld until staff look at it.",
        "worker 7 vanished",
        "notes.ipynb is not JSON.",
        "… 400 more lines",
        "1.5 of 1.5",
        "– of 3",
    ):
        assert words in text
    assert text.count("Found soft_max.") == 1
    assert "correct" not in text


def test_outcomes_are_told_by_letters_and_words_not_by_colour_alone() -> None:
    assert len(set(LETTERS.values())) == len(Outcome)
    page = Page(show(*(submission(outcome.value, item(outcome)) for outcome in Outcome)))
    marks = [values for tag, values in page.tags if tag == "span" and values.get("role") == "img"]
    assert len(marks) == len(Outcome)
    assert all(values["aria-label"] and values["title"] for values in marks)


def test_tables_and_headings_can_be_followed_by_ear() -> None:
    page = Page(show(*CLASS))
    assert all(values.get("scope") for tag, values in page.tags if tag == "th")
    levels = [int(tag[1]) for tag, _ in page.tags if tag in {"h1", "h2", "h3", "h4"}]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_mistakes_are_counted_per_submission() -> None:
    twice = submission(
        "zoe", item(Outcome.BROKEN, diagnosis="wrong axis"), item(Outcome.BROKEN, diagnosis="wrong axis", name="b.c")
    )
    once = submission("yan", item(Outcome.BROKEN, diagnosis="wrong axis"))
    text = "".join(Page(show(twice, once)).text.split("Most common mistakes")[1].split())
    assert text.startswith("LookslikeSubmissionswrongaxisattention.softmax,b.c2")


def test_an_item_that_was_not_asked_is_no_failure() -> None:
    page = Page(show(*CLASS))
    assert sum(values.get("aria-label") == "not asked" for _, values in page.tags) == len(CLASS) - 1


def test_same_results_same_bytes() -> None:
    assert show(*CLASS) == show(*reversed(CLASS))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_hostile_strings_stay_text(outcome: Outcome) -> None:
    hostile = submission(
        HOSTILE, item(outcome, text=HOSTILE, diagnosis=HOSTILE, name=HOSTILE), output=HOSTILE, problems=(HOSTILE,)
    )
    harmless = submission("x", item(outcome, text="x", diagnosis="x", name="x"), output="x", problems=("x",))
    text = show(hostile, title=HOSTILE)
    page = Page(text)
    # The same elements with the same attribute names as for harmless strings: nothing became markup.
    assert [(tag, sorted(values)) for tag, values in page.tags] == [
        (tag, sorted(values)) for tag, values in Page(show(harmless)).tags
    ]
    assert "{{ 7 * 7 }}" in page.text
    assert "\\x1b[2J\\u202e\\udce9" in page.text
    assert "\x1b" not in text
    text.encode("utf-8")


def test_an_empty_class_is_a_page_too() -> None:
    page = Page(show())
    assert "No item lost points." in page.text
    assert "Median–" in "".join(page.text.split())
