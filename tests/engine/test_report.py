"""The pages: well-formed, self-contained, and deaf to whatever students put into their names and messages."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import unquote

import pytest

from engine.feedback import check_words
from engine.records import (
    Adjustment,
    CheckResult,
    CheckText,
    Counterexample,
    Excerpt,
    ItemResult,
    Outcome,
    Status,
    Student,
    SubmissionResult,
    Verdict,
)
from engine.report.environment import LETTERS
from engine.report.formula import as_read
from engine.report.pages import Report
from engine.report.plots import plot
from engine.results import file_name

VOID = {"meta", "br", "wbr", "hr", "img", "input", "link", "path", "rect", "circle", "col", "mspace"}
HOSTILE = "</pre></details><script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}\x1b[2J\u202e\udce9"
TEXTS = {
    "attention.softmax.sums": CheckText("Every row sums to 1 & stays < 2.", "Subtract the maximum."),
    "attention.softmax.shift": CheckText("A shift changes nothing.", "Which axis?"),
}
SOURCE = "def softmax(x):\n    return x < 1 & 2"


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

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name)) is not None]


def item(outcome: Outcome, *, text: str = "", diagnosis: str = "", name: str = "attention.softmax") -> ItemResult:
    example = Counterexample(text or "softmax([1000.0])", "[nan]", "[1.0]") if outcome is Outcome.BROKEN else None
    score = {Outcome.HELD: Fraction(3, 2), Outcome.MANUAL: None, Outcome.UNJUDGED: None}.get(outcome, Fraction(0))
    checks = tuple(
        CheckResult(Verdict(f"{name}.{stem}", outcome, 100, text, example), score, Fraction(3, 2), "public")
        for stem in ("sums", "shift")
    )
    total = None if score is None else 2 * score
    return ItemResult(
        name, "code", outcome, total, Fraction(3), checks, diagnosis, written=(Excerpt("a.py", 7, SOURCE),)
    )


def submission(
    name: str, *items: ItemResult, status: Status = Status.GRADED, output: str = "", problems: tuple[str, ...] = ()
) -> SubmissionResult:
    scores = [one.score or Fraction(0) for one in items]
    score = None if status is Status.WITHHELD else sum(scores, Fraction(0))
    return SubmissionResult(name, status, score, Fraction(3 * len(items)), items, problems, output)


def show(*results: SubmissionResult, title: str = "Sheet 4") -> dict[str, str]:
    behind = {"attention.softmax": [("softmax_jacobian", "The Jacobian of softmax")]}
    report = Report(rubric="rubric.toml", seed=7, texts=TEXTS, title=title, behind=behind, file_name=file_name)
    results = tuple(sorted(results, key=lambda result: result.id))  # as they come from the gradebook
    ids = [None, *(result.id for result in results), None]
    pages = [report.page(result, ids[place], ids[place + 2]) for place, result in enumerate(results)]
    return {"index.html": "".join(report.overview()), **dict(pages)}


def overview(*results: SubmissionResult) -> Page:
    return Page(show(*results)["index.html"])


def page_of(result: SubmissionResult) -> Page:
    return Page(show(result)[f"submissions/{file_name(result.id)}.html"])


CLASS = (
    submission("alice", item(Outcome.HELD)),
    submission("bob", item(Outcome.BROKEN, diagnosis="softmax over the wrong axis"), output="loss 1\n" * 500),
    submission("carol", item(Outcome.BROKEN, diagnosis="softmax over the wrong axis"), item(Outcome.HELD, name="b.c")),
    submission("dan", item(Outcome.UNJUDGED, text="worker 7 vanished"), status=Status.WITHHELD),
    submission("eve", item(Outcome.MISSING, text="Found soft_max."), problems=("notes.ipynb is not JSON.",)),
    submission("../fay", item(Outcome.MANUAL), status=Status.WAITING),
)


# ── every page ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_there_is_an_overview_and_a_page_for_each_submission() -> None:
    names = ["alice", "bob", "carol", "dan", "eve", "%2E.%2Ffay"]
    assert set(show(*CLASS)) == {"index.html", *(f"submissions/{name}.html" for name in names)}


def test_pages_are_balanced_and_ask_for_nothing_outside() -> None:
    for text in show(*CLASS).values():
        page = Page(text)
        assert text.startswith("<!DOCTYPE html>")
        assert page.count("link") == page.count("img") == page.count("iframe") == 0
        assert "http://" not in text.replace("http://www.w3.org/1998/Math/MathML", "")
        assert "https://" not in text
        assert "url(" not in text
        assert not page.values("src")
        assert not any(name.startswith("on") for _, values in page.tags for name in values)


def test_the_one_script_of_a_page_is_the_one_its_policy_names() -> None:
    text = show(*CLASS)["index.html"]
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = Page(text).values("content")[-1]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_every_link_leads_to_a_page_and_a_place_there() -> None:
    written = show(*CLASS)
    parsed = {place: Page(text) for place, text in written.items()}
    ids = {place: set(page.values("id")) for place, page in parsed.items()}
    followed = 0
    for place, page in parsed.items():
        for href in page.values("href"):
            target, _, fragment = href.partition("#")
            folder = place.rpartition("/")[0]
            where = place if not target else unquote(f"{folder}/{target}".lstrip("/"))
            where = re.sub(r"^submissions/\.\./", "", where)
            if where == "proofs.html":
                continue
            assert where in parsed, href
            assert not fragment or unquote(fragment) in ids[where], href
            followed += 1
    assert followed > 4 * len(CLASS)


def test_tables_and_headings_can_be_followed_by_ear() -> None:
    for text in show(*CLASS).values():
        page = Page(text)
        assert all(values.get("scope") for tag, values in page.tags if tag == "th")
        levels = [int(tag[1]) for tag, _ in page.tags if tag in {"h1", "h2", "h3", "h4"}]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert page.count("main") == page.count("header") == 1
        labelled = [values["aria-labelledby"] for _, values in page.tags if "aria-labelledby" in values]
        assert set(labelled) <= set(page.values("id"))
        assert len(page.values("id")) == len(set(page.values("id")))


def test_same_results_same_bytes() -> None:
    assert show(*CLASS) == show(*reversed(CLASS))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_hostile_strings_stay_text(outcome: Outcome) -> None:
    def made(text: str) -> SubmissionResult:
        broken = replace(
            item(outcome, text=text, diagnosis=text, name=text), written=(Excerpt(text, 1, text, 1),), work=text
        )
        result = submission(text, broken, output=text, problems=(text,))
        return replace(
            result, students=(Student(f"1{text}", text),), adjustments=(Adjustment(text, Fraction(1), text),)
        )

    hostile, harmless = made(HOSTILE), made("x")
    for text, plain in zip(show(hostile, title=HOSTILE).values(), show(harmless).values(), strict=True):
        page = Page(text)
        # The same elements with the same attribute names as for harmless strings: nothing became markup.
        assert [(tag, sorted(values)) for tag, values in page.tags] == [
            (tag, sorted(values)) for tag, values in Page(plain).tags
        ]
        assert "{{ 7 * 7 }}" in page.text
        assert "\\x1b[2J\\u202e\\udce9" in page.text
        assert "\x1b" not in text
        text.encode("utf-8")


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(theme: int) -> None:
    """As WCAG 2 asks for at level AA: 4.5 to 1."""
    style = show()["index.html"]
    colours = {name: both for name, *both in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", style)}
    pairs = [(ink, "paper") for ink in ("ink", "soft", "link")] + [(ink, "panel") for ink in ("ink", "soft", "link")]
    pairs += [(f"{letter}-ink", letter) for letter in "hbrtmwu"]
    for ink, behind in pairs:
        dark, bright = sorted((luminance(colours[ink][theme]), luminance(colours[behind][theme])))
        assert (bright + 0.05) / (dark + 0.05) >= 4.5, (ink, behind)


# ── the overview ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_overview_says_how_the_class_did() -> None:
    text = " ".join(overview(*CLASS).text.split())
    for words in (
        "Sheet 4",
        "Submissions6",
        "Waiting1",
        "rubric.toml",
        "1 withheld. The grader failed on something of this submission",
        "1 waiting for a person.",
        "5 scores: median 0 %, the middle half between 0 % and 50 %. 1 (outlined) not final",
        "1 withheld and not counted.",
        "0 to 10 %: 3; ",
        "90 to 100 %: 1.",
        "softmax over the wrong axis attention.softmax2bob, carol",
    ):
        assert words in text


def test_outcomes_are_told_by_letters_not_by_colour_alone() -> None:
    assert len(set(LETTERS.values())) == len(Outcome)
    page = overview(*(submission(outcome.value, item(outcome)) for outcome in Outcome))
    cells = [
        values["class"].split()[0]
        for tag, values in page.tags
        if tag == "td" and "starts" in (values.get("class") or "")
    ]
    assert sorted(cells) == sorted(letter.lower() for letter in LETTERS.values())
    assert all(f"{letter} " in " ".join(page.text.split()) for letter in LETTERS.values())


def test_mistakes_are_counted_per_submission() -> None:
    twice = submission(
        "zoe", item(Outcome.BROKEN, diagnosis="wrong axis"), item(Outcome.BROKEN, diagnosis="wrong axis", name="b.c")
    )
    once = submission("yan", item(Outcome.BROKEN, diagnosis="wrong axis"))
    text = "".join(overview(twice, once).text.split("Most common mistakes")[1].split())
    assert text.startswith("LookslikeSubmissionsWhowrongaxisattention.softmax,b.c2yan,zoe")


def test_names_and_lateness_are_told_where_a_platform_told_them() -> None:
    late = replace(submission("1001", item(Outcome.HELD)), students=(Student("1001", "Alice A."),), late=True)
    text = " ".join(overview(late, *CLASS).text.split())
    assert "Late1" in text
    assert "1001Alice A.3 of 3100graded late" in text


def test_an_item_that_was_not_asked_is_no_failure() -> None:
    text = show(*CLASS)["index.html"]
    assert text.count('<td class="· starts">·</td>') == len(CLASS) - 1


def test_an_empty_class_is_a_page_too() -> None:
    page = overview()
    assert "No item lost points." in page.text
    assert "There is no score yet." in page.text
    assert "Median–" in "".join(page.text.split())


# ── one submission ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_submissions_page_says_what_was_found() -> None:
    shown = show(*CLASS)
    text = "\n".join(Page(shown[f"submissions/{name}.html"]).text for name in ("alice", "bob", "dan", "eve"))
    for words in (
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
        "a.py, line 7",
        "7\n8def softmax(x):\n    return x < 1 & 2",
        "The Jacobian of softmax",
    ):
        assert words in text
    assert text.count("Found soft_max.") == 1
    assert "correct" not in text


def test_what_was_proved_is_said_as_proved_and_only_that() -> None:
    verdict = Verdict("a.f.sums", Outcome.HELD, 100, "Proved for all real inputs at shape (2, 3).", proved=True)
    checks = (CheckResult(verdict, Fraction(1), Fraction(1), "public"),)
    proved = ItemResult("a.f", "code", Outcome.HELD, Fraction(1), Fraction(1), checks, work="It does n² multiply-adds.")
    text = page_of(submission("alice", proved)).text
    assert "Proved for all real inputs at shape (2, 3)." in text
    assert "It does n² multiply-adds." in text
    assert check_words(checks[0]) in text
    assert page_of(CLASS[0]).text.count("proved") == page_of(CLASS[0]).text.count("Proved") == 0


def test_an_item_unfolds_when_it_is_linked_to() -> None:
    """A browser unfolds `details` for a target in its content, not for `details` itself."""
    page = page_of(CLASS[2])
    targets = {values["id"] for tag, values in page.tags if tag == "div" and "id" in values}
    assert targets == {"attention.softmax", "b.c"}


def test_a_formula_is_shown_as_it_was_typed_and_as_it_was_read() -> None:
    checks = (CheckResult(Verdict("dot_product_mean.right", Outcome.HELD), Fraction(1), Fraction(1), "hidden"),)
    answer = ItemResult("dot_product_mean", "expression", Outcome.HELD, Fraction(1), Fraction(1), checks,
                        written=(Excerpt("answers.toml", 1, r"\mu^\top \mu"),))  # fmt: skip
    page = page_of(submission("alice", answer))
    assert r"\mu^\top \mu" in page.text
    assert page.count("math") == 1
    unread = page_of(submission("bob", replace(answer, written=(Excerpt("answers.toml", 1, "mu mu mu)"),))))
    assert unread.count("math") == 0
    assert "not read" in unread.text


def test_lines_of_a_derivation_may_begin_with_an_equals_sign() -> None:
    shown = as_read("sigmoid_symmetry", 1, r"$= \frac{1}{1 + \exp(x)}$")
    assert shown is not None
    assert shown.startswith("= <math")
    assert as_read("no_such_question", 0, "x") is None
    assert as_read("dot_product_mean", 1, "x") is None


# ── plots ───────────────────────────────────────────────────────────────────────────────────────────────────────


def drawn(gave: str, expected: str) -> Page:
    return Page(str(plot(Counterexample("f()", gave, expected))))


def test_arrays_of_one_shape_are_drawn_side_by_side_with_what_differs_framed() -> None:
    page = drawn("[[0.0, 1.0, 0.5], [1.0, 0.0, np.nan]]", "[[0.0, 1.0, 0.5], [0.0, 1.0, -np.inf]]")
    labels = [values["aria-label"] for tag, values in page.tags if tag == "svg"]
    assert labels == ["Expected: row 0: 0, 1, 0.5; row 1: 0, 1, −∞", "Given: row 0: 0, 1, 0.5; row 1: 1, 0, nan"]
    assert "3 of 6 entries differ" in page.text
    assert [values["d"].count("M") for tag, values in page.tags if values.get("class") == "apart"] == [0, 3]


def test_a_row_of_numbers_is_drawn_as_lines_with_marks_of_two_kinds() -> None:
    page = drawn("[4.0, 3.0, 2.0, np.inf]", "[4.0, 2.0, 1.0, 0.5], as f(np.array([1.0])) gives")
    assert page.count("circle") == 4
    assert sum(values.get("class") == "gave" for _, values in page.tags) == 1 + 3
    assert "1 given entries are not finite numbers." in page.text


def test_of_a_batch_the_first_part_that_differs_is_drawn() -> None:
    same = "[[1, 2, 3], [4, 5, 6]]"
    page = drawn(f"[{same}, [[1, 2, 3], [4, 5, 7]]]", f"[{same}, {same}]")
    assert "1 of 6 entries differ" in page.text
    assert "Part [1] of the result." in page.text


@pytest.mark.parametrize(
    ("gave", "expected"),
    [
        ("[[0.0, 1.0]]", "[[1.0, 0.0]]"),  # two numbers speak for themselves
        ("[1.0, 2.0, 3.0, 4.0]", "finite numbers"),
        ("shape (2, 3)", "shape (3, 2)"),
        ("[[1, 2, 3], [4, 5, 6]]", "[[1, 2], [3, 4], [5, 6]]"),
        ("[[1, 2, 3], [4, 5]]", "[[1, 2, 3], [4, 5]]"),
        ("[[], [], [], [], [], []]", "[[], [], [], [], [], []]"),
        ("[[1, 2, 3], [4, 5, 6]]", "[[1, 2, 3], [4, 5, 6]]"),  # nothing to see
        ("[__import__('os'), 1, 2, 3]", "[1, 2, 3, 4]"),
        ("[" * 9_000 + "]" * 9_000, "[1, 2, 3, 4]"),
        ("[" + "1, " * 9_000 + "1]", "[" + "1, " * 9_000 + "1]"),
        ("[1, 2, 3, 4", "[1, 2, 3, 4]"),
        ("[1,, 2, 3, 4]", "[1, 2, 3, 4]"),
        ("[1e999999, 2, 3, 4]" * 2, "[1, 2, 3, 4]"),
    ],
)
def test_where_a_picture_says_no_more_there_is_none(gave: str, expected: str) -> None:
    assert plot(Counterexample("f()", gave, expected)) == ""
