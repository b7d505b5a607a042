"""The tutorial is followed to the letter: its files are put in place, its commands are run, its outputs are there."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>[^\n]+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"\s+# exit code (\d)$")


def test_the_tutorial_works_as_it_is_written(tmp_path):
    clone = cloned(tmp_path / "clone")
    blocks = list(BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8")))
    assert sum(block["kind"] == "sh" for block in blocks) >= 5
    assert sum(block["file"] is not None for block in blocks) >= 8
    for block in blocks:
        if block["file"]:
            put(clone / block["file"], block["body"])
        else:
            for command, outputs in commands(block["body"]):
                follow(command, outputs, clone)
    lint = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "checks", "reference"],
        cwd=clone, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert lint.returncode == 0, lint.stdout


def cloned(folder):
    """Copy what git knows, or would take, but not what students sent to other tests."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    grader = folder / ".venv" / "bin" / "grader"
    grader.parent.mkdir(parents=True)
    grader.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(folder / "grader.py"))} "$@"\n')
    grader.chmod(0o755)
    return folder


def commands(body):
    """Yield each command with the lines below it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, *outputs = part.splitlines()
        yield command, [line.strip() for line in outputs if line.strip()]


def follow(command, outputs, clone):
    wanted = EXIT_CODE.search(command)
    environment = {**os.environ, "PATH": f"{clone / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    done = subprocess.run(
        EXIT_CODE.sub("", command), shell=True, cwd=clone, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    printed = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == (int(wanted[1]) if wanted else 0), f"$ {command}\n{done.stdout}{done.stderr}"
    for line in outputs:
        assert " ".join(line.split()) in printed, f"$ {command}\nis said to print: {line}\n{done.stdout}{done.stderr}"


def put(path, body):
    """Put a block into its file in place of the definitions or tables of the same name, or make a new file of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    without = without_definitions if path.suffix == ".py" else without_tables
    kept, place = without(text, body)
    path.write_text(kept[:place] + body + kept[place:], encoding="utf-8")


def without_definitions(text, body):
    """Return a module without what the block defines, and where the first of it stood."""
    new = {name for node in ast.parse(body).body for name in defined(node)}
    lines = text.splitlines(keepends=True)
    old = [node for node in ast.parse(text).body if set(defined(node)) & new]
    spans = [
        (min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) - 1, node.end_lineno)
        for node in old
    ]
    first = spans[0][0] if spans else len(lines)
    before = "".join(lines[:first])
    drop = {number for start, end in spans for number in range(start, end)}
    after = "".join(line for number, line in enumerate(lines[first:], first) if number not in drop)
    tidy = re.sub(r"\n{4,}", "\n\n\n", after).rstrip("\n")
    return before + (f"\n\n{tidy.lstrip(chr(10))}\n" if tidy.strip() else ""), len(before)


def defined(node):
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    return [target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)]


def without_tables(text, body):
    """Return a TOML file without the table that the block holds, and where it stood."""
    header = next(line for line in body.splitlines() if line.startswith("["))
    found = re.search(rf"^{re.escape(header)}\n(?:[^\[\n].*\n)*", text, re.MULTILINE)
    return (text[: found.start()] + text[found.end() :], found.start()) if found else (text, len(text))
