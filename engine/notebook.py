"""Checks inside a notebook: `%load_ext proofmark`, then `%proofmark attention.softmax`, or `%%proofmark` above a cell.

Two sides. In the kernel a magic takes the cells that were run, as text, and shows what comes back. The checks run in a
process of their own, which reads those cells as it reads any notebook that is handed in and has them run in a
locked-down worker: the grader never runs in the student's kernel, nor the student's code in the grader.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.records import CheckText, RubricError, UsageError

if TYPE_CHECKING:
    from engine.launching import Launched
    from engine.records import Submission, SubmissionResult

ROOT = Path(__file__).resolve().parent.parent
MAGIC = "proofmark"

# ── in the kernel ───────────────────────────────────────────────────────────────────────────────────────────────


def load_ipython_extension(shell: Any) -> None:
    """Teach a notebook the magic; IPython calls this."""

    def proofmark(line: str, cell: str | None = None) -> None:
        """Check the functions defined in this notebook: those that are named, those of the cell below, or all."""
        names = line.split()
        if cell is not None:
            if not shell.run_cell(cell).success:
                return  # the notebook shows what was raised
            names = names or [f".{name}" for name in _defined_in(cell)]
        _show(_asked(cells_of(shell.history_manager.input_hist_raw), names))

    shell.register_magic_function(proofmark, "line_cell", MAGIC)


def cells_of(history: Sequence[str]) -> list[str]:
    r"""Return the cells that were run and define something, each where its number says, the last of equal ones.

    >>> cells_of(["", "import math", "print(1)", "def f():\n    return 1", "import math"])
    ['', '', '', 'def f():\n    return 1', 'import math']
    """
    last = {cell: place for place, cell in enumerate(history)}
    return [cell if last[cell] == place and _defined_in(cell) else "" for place, cell in enumerate(history)]


def _defined_in(cell: str) -> list[str]:
    """Return the names a cell defines or imports; magics are left out line by line, as when it is handed in."""
    python = "\n".join("" if line.lstrip().startswith(("%", "!", "?")) else line for line in cell.split("\n"))
    try:
        tree = ast.parse(python)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names += [
                each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            ]
    return names


def _asked(cells: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Have cells checked in another process; return what it has to say, as text and as HTML."""
    from IPython.core.error import UsageError as Refused

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notebook.ipynb"
        # The first entry of a notebook's history is always empty: cell 1 is the one numbered 1.
        code = [{"cell_type": "code", "source": cell} for cell in cells[1:]]
        path.write_text(json.dumps({"cells": code, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
        done = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-m", "engine.notebook", str(path), *names],
            env={**os.environ, "PYTHONPATH": str(ROOT), "HYPOTHESIS_NO_PLUGINS": "1"}, cwd=ROOT,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
    if not done.stdout:
        raise Refused(f"the checks could not be run: {done.stderr.strip()[-2000:]}")
    told: dict[str, str] = json.loads(done.stdout)
    if "refused" in told:
        raise Refused(told["refused"])
    return told


def _show(told: Mapping[str, str]) -> None:
    from IPython.display import display

    display({"text/plain": told["text"], "text/html": told["html"]}, raw=True)  # type: ignore[no-untyped-call]


# ── in a process of its own ─────────────────────────────────────────────────────────────────────────────────────

PAGE = """\
<div style="max-width: 60em; line-height: 1.4">
<table style="width: 100%; border-collapse: collapse">
{%- for item in there %}
<tr style="border-bottom: 1px solid #8886"><td style="text-align: left"><code>{{ item.id }}</code></td>
<td style="text-align: left; color: {{ colours.get(item.outcome.value, '#a60') }}">{{ item_words(item) }}</td>
<td style="text-align: right">{{ item_points(item) }}</td></tr>
{%- endfor %}
</table>
{%- for item in there %}
{%- for checks in failures(item) %}
{%- set check = checks[0] %}
<details open style="margin: 0.8em 0"><summary>
{%- for each in checks %} <code>{{ each.verdict.check }}</code>{% endfor %}</summary>
{%- if checks | length == 1 %}
<p>{{ texts[check.verdict.check].claim }}</p>
{%- endif %}
{%- if check.verdict.counterexample %}
<pre style="padding: 0.6em; border-left: 3px solid #c33">{{ evidence(check.verdict.counterexample) | join("\n") }}</pre>
{%- endif %}
{%- if check_message(check) %}
<p style="white-space: pre-wrap">{{ visible(check_message(check)) }}</p>
{%- endif %}
{%- if checks | length == 1 and check.verdict.outcome in hinted and texts[check.verdict.check].hint %}
<p><b>Hint:</b> {{ texts[check.verdict.check].hint }}</p>
{%- endif %}
</details>
{%- endfor %}
{%- if item.diagnosis %}
<p><b>This looks like:</b> {{ visible(item.diagnosis) }}. {{ visible(item.explanation) }}</p>
{%- endif %}
{%- endfor %}
{%- for line in absent %}
<p>{{ line }}</p>
{%- endfor %}
{%- if printed %}
<details><summary>What your code printed</summary><pre>{{ printed | join("\n") }}</pre></details>
{%- endif %}
<p><b>{{ summary }}</b></p>
</div>
"""


def as_html(result: SubmissionResult, texts: Mapping[str, CheckText]) -> str:
    """Return a result as a notebook shows it; everything a student wrote is escaped."""
    from jinja2 import Environment, StrictUndefined

    from engine import feedback
    from engine.records import Outcome

    shown = {
        name: getattr(feedback, name)
        for name in ("item_words", "item_points", "failures", "check_message", "evidence", "visible")
    }
    page = Environment(autoescape=True, undefined=StrictUndefined).from_string(PAGE)
    return page.render(
        shown,
        there=[item for item in result.items if item.outcome is not Outcome.MISSING],
        absent=feedback.absences([item for item in result.items if item.outcome is Outcome.MISSING]),
        texts=texts,
        colours={"held": "#080", "broken": "#c33", "raised": "#c33", "timed_out": "#c33"},
        hinted=feedback.HINTED,
        printed=feedback.bounded(result.output) if result.output.strip() else [],
        summary=feedback.summary(result).split("\n", 1)[0],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a notebook and print, as JSON, what is to be shown in it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args(arguments)
    try:
        told = _told(given.path, given.names)
    except (UsageError, RubricError) as error:
        told = {"refused": str(error)}
    print(json.dumps(told))
    return 0


def _told(path: Path, names: Sequence[str]) -> dict[str, str]:
    from engine.cache import ROOT
    from engine.intake import take_in
    from engine.launching import ahead

    (submission,) = take_in([path])
    with ahead(submission, ROOT / "checks" / "rubric.toml") as zygote:  # it imports while we do
        return _judged(submission, names, zygote)


def _judged(submission: Submission, names: Sequence[str], zygote: Launched | None) -> dict[str, str]:
    from engine.checking import checked
    from engine.feedback import submission_feedback, summary
    from engine.pipeline import Options, texts_of
    from engine.rubric import read_rubric

    public = read_rubric().public()
    wanted = [name for name in names if not name.startswith(".")]
    defined = [name for name in names if name.startswith(".")]  # functions of whichever module
    functions = public.functions()
    wanted += [item for item, several in functions.items() if any(each.endswith(tuple(defined)) for each in several)]
    if names and not wanted:
        raise UsageError("this cell defines no function that is asked for; `python grader.py list` shows which are")
    rubric = public.only(wanted)
    result = checked(submission, rubric, Options(closer=False), zygote)
    texts = texts_of(rubric)
    text = f"{submission_feedback(result, texts)}\n{summary(result)}"
    return {"text": text, "html": as_html(result, texts)}


if __name__ == "__main__":
    sys.exit(main())
