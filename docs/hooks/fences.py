"""MkDocs knows one word after a fence: a file's name goes above its block, what is for our tests is left out."""

import re
from typing import Any

_FENCE = re.compile(r"^```(?P<language>\w+) (?P<more>.+)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page as MkDocs reads it; it calls this for each."""
    return _FENCE.sub(_plain, markdown)


def _plain(fence: re.Match[str]) -> str:
    name = "" if "=" in fence["more"] else f"`{fence['more']}`\n\n"
    return f"{name}```{fence['language']}"
