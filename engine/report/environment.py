"""What all pages share: escaping, style, script, and the words of the terminal's feedback.

Every page carries its style and script inside, so that one can be mailed by itself. The script is named by its digest
in the page's security policy: no other script runs, whatever a student wrote.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from engine import feedback
from engine.records import Outcome, Status

FOLDER = Path(__file__).parent

# One letter each, so that a map can be read without its colours; its lower case is the class of the colour.
LETTERS = {
    Outcome.HELD: "H",
    Outcome.BROKEN: "B",
    Outcome.RAISED: "R",
    Outcome.TIMED_OUT: "T",
    Outcome.MISSING: "M",
    Outcome.BLOCKED: "K",
    Outcome.MANUAL: "W",
    Outcome.UNJUDGED: "U",
}

STATUS_WORDS = {
    Status.GRADED: "graded",
    Status.WITHHELD: "withheld until staff look at it",
    Status.WAITING: "waits for a person",
}


def environment(**words: Any) -> Environment:
    """Return the environment of the templates of this folder; `words` are what a page uses besides."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    script = (FOLDER / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made.globals.update(
        style=Markup((FOLDER / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        letters=LETTERS,
        points=feedback.points,
        status_words=STATUS_WORDS,
        words=feedback.WORDS,
        **words,
    )
    return made


def _finalized(value: Any) -> Any:
    """Make every string of a page visible, in one place that no expression of a template can forget."""
    if isinstance(value, str) and not isinstance(value, Markup):  # markup is a macro's, and came this way before
        return feedback.visible(value)
    return value
