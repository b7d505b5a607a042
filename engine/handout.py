"""What students get: stubs, a template for written answers, and the public checks. No reference, no solution.

The checks and the engine go into a hidden folder, so that a student's folder holds their own
files and one command. A hidden check, and everything that only it needs, is cut out of the
source: what is not in the box cannot be read.
"""

from __future__ import annotations

import ast
import json
import shutil
import textwrap
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

from checks.contract import FILES, MODULES, SIGNATURES
from checks.contract.signature import Signature
from checks.question import ONE_CHOICE, PUBLISHED, Kind, Question, published
from engine.records import UsageError
from engine.rubric import Item, Rubric, read_rubric

ROOT = Path(__file__).resolve().parent.parent
BOX = ".proofmark"
ENGINE_LEFT_OUT = {"audit", "authoring", "exports", "verify.py", "bench", "handout.py", "compare.py", "derive.py"}
CHECKS_LEFT_OUT = {"conftest.py", "claims.py"}

RUNNER = '''"""Run `python grader.py check .` in this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / ".proofmark"))

from engine.commands import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
'''

EXTENSION = '''"""In a notebook in this folder: `%load_ext proofmark`, then `%proofmark attention.softmax`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / ".proofmark"))

from engine.notebook import load_ipython_extension  # noqa: E402, F401
'''

README = """# {title}

Once:

    pip install -r requirements.txt

Then fill in a function, or answer a question in `answers.toml`, and run

    python grader.py check .

It tries laws that every right function obeys on many inputs and shows the smallest input on which one fails, as a call
you can paste into Python. What you have not begun is left alone. The first run of a function draws its inputs, which
takes a few seconds; later ones are faster. No network is needed, and nothing leaves your machine.

| | |
|---|---|
| `python grader.py check . --only attention.softmax` | one function, a module (`attention`), or one check |
| `python grader.py list` | what is asked, and what can be checked here |
| `python grader.py explain attention.softmax` | the laws of one function, with hints |
| `python grader.py check . --seed 1` | the same laws on other inputs |

In a notebook in this folder:

    %load_ext proofmark
    %proofmark attention.softmax

`%%proofmark` as the first line of a cell checks the functions of that cell. Your code is run apart from the notebook,
from the cells you have run.

That all checks held is a good sign, not a proof: more is checked when you hand in. Hand in your own files only: the
modules (or your notebook) and `answers.toml`.
"""


def write_handout(folder: Path, rubric: Rubric | None = None) -> list[Path]:
    """Write the handout into a folder that does not exist yet, or is empty; return what a student sees in it."""
    rubric = rubric or read_rubric()
    asked, called = rubric.questions, rubric.called
    rubric = rubric.public()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder; a handout never overwrites anything")
    box = folder / BOX
    (box / "checks").mkdir(parents=True)
    _copy_engine(box / "engine")
    _copy_checks(box / "checks", rubric)
    (box / "checks" / "rubric.toml").write_text(_rubric_text(rubric), encoding="utf-8")
    shutil.copytree(ROOT / "formulas", box / "formulas", ignore=shutil.ignore_patterns("__pycache__"))
    (box / "checks" / "questions").mkdir()
    shown = [published(question) for question in asked]
    (box / "checks" / "questions" / PUBLISHED.name).write_text(json.dumps(shown, indent=1), encoding="utf-8")
    seen = {
        "grader.py": RUNNER,
        "proofmark.py": EXTENSION,
        "README.md": README.format(title=rubric.title),
        "requirements.txt": _requirements(),
        "answers.toml": answers_template(asked),
        **{f"{module}.py": stubs for module in MODULES if (stubs := _stubs(module, rubric.items, called))},
    }
    for name, text in seen.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in seen]


ANSWERS = """\
# Written answers. Take the # from the lines you answer: what is left out or empty counts as missing.
# Formulas: plain text (2*sigma^2*mu'mu + d*sigma^4), NumPy (h.T @ (yhat - y)) or LaTeX, in single quotes so that
# backslashes stay ('$2\\sigma^2\\mu^\\top\\mu$'). A derivation is a list of lines, each equal to the one before.
# A claim may carry a witness: values at which its premise holds and its conclusion does not; what is left out is zero.
"""


def answers_template(asked: Sequence[Question]) -> str:
    """Return answers.toml as students get it: every question with its symbols, and a line to fill in."""
    parts = [ANSWERS]
    for kind in Kind:
        several = [question for question in asked if question.kind is kind]
        if several and kind is not Kind.CLAIM:
            parts.append(f"[{kind}]\n")
        parts += ["\n".join([*_told(question), *_blank(question), ""]) for question in several]
    return "\n".join(parts)


def _told(question: Question) -> list[str]:
    shown = published(question)
    lines = textwrap.wrap(f"{question.title} ({question.source}). {' '.join(question.ask.split())}", 110)
    if question.statement:
        lines += textwrap.wrap(f"True or false: {' '.join(question.statement.split())}", 110)
    for name, row in shown.get("symbols", {}).items():
        size = "×".join(map(str, row["shape"])) if "shape" in row else "a number"
        facts = [*(word.replace("_", " ") for word in row.get("is", ())), row.get("note", "")]
        meaning = f" = {row['def']}" if "def" in row else ""
        lines.append(f"    {name}: {', '.join(filter(None, [size, *facts]))}{meaning}")
    if shown.get("given"):
        lines.append(f"    given: {', '.join(shown['given'])}")
    for key, options in question.options.items():
        lines.append(f"    {'' if key == ONE_CHOICE else key + ': '}{' | '.join(options)}")
    return [f"# {line}".rstrip() for line in lines]


def _blank(question: Question) -> list[str]:
    if question.kind is Kind.CLAIM:
        return [f"# [claim.{question.id}]", "# answer = true"]
    if question.kind is Kind.CHOICE and ONE_CHOICE not in question.options:
        blanks = ", ".join(f'{key} = ""' for key in question.options)
        return [f"# {question.id} = {{ {blanks} }}"]
    empty = {Kind.DERIVATION: '["", ""]', Kind.NUMBER: "0.0", Kind.TEXT: '""""""'}.get(question.kind, '""')
    if len(question.parts) > 1:
        empty = f"[{', '.join([empty] * len(question.parts))}]"
    return [f"# {question.id} = {empty}"]


def _copy_engine(target: Path) -> None:
    def left_out(_folder: str, names: list[str]) -> set[str]:
        return {name for name in names if name in ENGINE_LEFT_OUT or name == "__pycache__"}

    shutil.copytree(ROOT / "engine", target, ignore=left_out)


def _copy_checks(target: Path, rubric: Rubric) -> None:
    shutil.copytree(ROOT / "checks" / "contract", target / "contract", ignore=shutil.ignore_patterns("__pycache__"))
    public = {check.id for check in rubric.checks}
    for path in sorted((ROOT / "checks").glob("*.py")):
        if path.stem in FILES:
            (target / path.name).write_text(without_hidden(path.read_text(encoding="utf-8"), public), encoding="utf-8")
        elif path.name not in CHECKS_LEFT_OUT:
            shutil.copy(path, target / path.name)


def without_hidden(source: str, public: set[str]) -> str:
    """Return the source of a file of checks without the checks that are not public, nor what only they use."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    kept = [node for node in tree.body if _check_id(node) is None or _check_id(node) in public]
    while True:
        needed = [node for node in kept if _check_id(node) or not _defines(node) or _is_used(node, kept)]
        if len(needed) == len(kept):
            break
        kept = needed
    for node in tree.body:
        if node not in kept:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            for number in range(first - 1, node.end_lineno or node.lineno):
                lines[number] = ""
    return "".join(lines)


def _check_id(node: ast.stmt) -> str | None:
    """Return the id of the check a statement makes, if it makes one."""
    calls = [d for d in getattr(node, "decorator_list", []) if isinstance(d, ast.Call)]
    if isinstance(node, ast.Assign):
        calls = [call for call in ast.walk(node.value) if isinstance(call, ast.Call)]
    for call in calls:
        maker = call.func.id if isinstance(call.func, ast.Name) else ""
        said = {k.arg: str(k.value.value) for k in call.keywords if isinstance(k.value, ast.Constant)}
        if "of" not in said:
            continue
        standard = {"agreement": "agrees_with_definition", "unmodified": "leaves_arguments_alone"}.get(maker)
        return f"{said['of']}.{said.get('name') or standard or getattr(node, 'name', '')}"
    return None


def _defines(node: ast.stmt) -> str | None:
    """Return the name a function, class or simple assignment defines; None for imports and the like."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def _is_used(node: ast.stmt, among: list[ast.stmt]) -> bool:
    """Return whether another statement mentions the name this one defines."""
    name = _defines(node)
    return any(
        isinstance(mention, ast.Name) and mention.id == name and isinstance(mention.ctx, ast.Load)
        for other in among
        if other is not node
        for mention in ast.walk(other)
    )


def _rubric_text(rubric: Rubric) -> str:
    lines = [f"title = {_quoted(rubric.title)}", f"examples = {rubric.examples}", ""]
    for item in rubric.items:
        lines += [f'[item."{item.id}"]', f"title = {_quoted(item.title)}", f"from = {_quoted(item.source)}"]
        if item.forbid:
            lines.append(f"forbid = {json.dumps(item.forbid)}")
        for check in item.checks:
            worth = item.worth[check.id]
            switches = (", partial = true" if worth.partial else "") + (", bonus = true" if worth.bonus else "")
            points = f"points = {float(worth.points):g}"
            lines.append(f'{check.id.rsplit(".", 1)[1]} = {{ {points}, visibility = "public"{switches} }}')
        lines.append("")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text of TOML, which quotes as JSON does."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _requirements() -> str:
    wanted = ("hypothesis", "jinja2", "msgspec", "numpy", "pyseccomp", "python-flint", "rich", "sympy", "torch")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    return "\n".join(line for line in declared if line.split(">", 1)[0] in wanted) + "\n"


def _stubs(module: str, items: tuple[Item, ...], called: Collection[str]) -> str:
    """Return the file a student fills in: what this assignment calls of a module, "" if that is nothing."""
    rows = [row for row in SIGNATURES.values() if row.module == module and row.id in called]
    if not rows:
        return ""
    taken = {item.id: item for item in items}
    parts = ['"""Your ' + module + '.py: NumPy or PyTorch, as you like."""\n']
    if any(row.makes_object and row.name[:1].isupper() for row in rows):
        parts.append("import torch\n")
    parts += [_class_stub(row, taken) if row.name[:1].isupper() else _function_stub(row, taken) for row in rows]
    return "\n\n".join(parts)


def _function_stub(row: Signature, taken: dict[str, Item]) -> str:
    return f'def {row}:\n    """{_described(row, taken)}\n    """\n    raise NotImplementedError\n'


def _class_stub(row: Signature, taken: dict[str, Item]) -> str:
    arguments = str(row)[len(row.name) + 1 : -1]
    return (
        f'class {row.name}(torch.nn.Module):\n    """{_described(row, taken)}\n    """\n\n'
        f"    def __init__(self, {arguments}):\n        super().__init__()\n        raise NotImplementedError\n"
    )


def _described(row: Signature, taken: dict[str, Item]) -> str:
    item = taken.get(row.id)
    title, source = (item.title, item.source) if item else (row.name, "")
    lines = [f"{title}{f' ({source})' if source else ''}.", ""]
    if item and item.forbid:
        lines += [
            *textwrap.wrap(
                f"Write it without {', '.join(item.forbid)}.", 100, initial_indent="    ", subsequent_indent="    "
            ),
            "",
        ]
    lines += [f"    {name}: {_shape(pattern)}" for name, pattern in row.parameters.items() if pattern is not None]
    lines.append(f"    returns {', '.join(_shape(result) for result in row.returns)}")
    return "\n".join(lines)


def _shape(pattern: object) -> str:
    if isinstance(pattern, dict):
        return "a dict of " + ", ".join(f"{key} ({value.replace(' ', ', ')})" for key, value in pattern.items())
    if not isinstance(pattern, str):
        return "an array"
    if pattern in ("", "object", "text", "parameters"):
        return {"": "a number", "object": "an object of your own", "text": "a text", "parameters": "a dict of arrays"}[
            pattern
        ]
    if pattern.startswith("="):
        return "a whole number"
    return f"({pattern.replace(' ', ', ')})"
