"""Gradescope's autograder zip: the grader itself, installed and run there on each submission."""

from __future__ import annotations

import io
import shlex
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

from engine.records import UsageError

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("checks", "engine", "formulas", "reference")
FILES = ("constraints.txt", "grader.py")
RUBRIC = "rubric.toml"
LEFT_OUT = {"__pycache__"}

SETUP = """\
#!/usr/bin/env bash
# Run once, when Gradescope builds the image: packages as pinned, and bubblewrap for the lock-down.
set -euo pipefail
home="${AUTOGRADER_HOME:-/autograder}"
source="${AUTOGRADER_SOURCE:-$home/source}"
python=python3

apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap libseccomp2
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    apt-get install -y --no-install-recommends python3.11 python3.11-venv
    python=python3.11
fi
"$python" -m venv "$home/venv"
"$home/venv/bin/python" -m pip install --no-cache-dir \\
    --constraint "$source/constraints.txt" --requirement "$source/requirements.txt"
"""

RUN = """\
#!/usr/bin/env bash
# Grades one submission. The environment may say where things are, so that it can be tried anywhere.
set -euo pipefail
home="${AUTOGRADER_HOME:-/autograder}"
source="${AUTOGRADER_SOURCE:-$home/source}"
python="${AUTOGRADER_PYTHON:-$home/venv/bin/python}"
options=(--rubric "$source/rubric.toml" @OPTIONS@)

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$home/results" "$work/class"
rm -f "$home/results/results.json"
cp -RP "$home/submission" "$work/class/submission" # links stay links: a link to the reference is not an answer

# Nothing of what is printed here is for students.
code=0
# shellcheck disable=SC2086
"$python" "$source/grader.py" grade "$work/class" --out "$work/graded" --jobs 1 \\
    "${options[@]}" ${AUTOGRADER_OPTIONS:-} >/dev/null || code=$?
[ "$code" -le 1 ] || exit "$code" # 1 is a withheld score

# A withheld score leaves no results.json: Gradescope then says that the autograder failed, and gives no score.
"$python" "$source/grader.py" export --format gradescope --out "$work/graded" \\
    --to "$home/results/results.json" "${options[@]}"
"""


def autograder(rubric: Path, options: Sequence[str]) -> bytes:
    """Return the zip; the same grader, rubric and options give the same bytes."""
    missing = [name for name in (*FILES, "pyproject.toml") if not (ROOT / name).is_file()]
    if missing:
        raise UsageError(f"gradescope-zip packs the grader's checkout, and {ROOT} has no {missing[0]}")
    try:
        graded_by = rubric.read_bytes()
    except OSError as error:
        raise UsageError(f"the rubric {rubric} cannot be read: {error.strerror}") from None
    content = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in _own_files()}
    content |= {
        RUBRIC: graded_by,
        "requirements.txt": _requirements().encode(),
        "setup.sh": SETUP.encode(),
        "run_autograder": RUN.replace("@OPTIONS@", shlex.join(options)).encode(),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(content):
            entry = zipfile.ZipInfo(name)  # of 1980, whenever it is made
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name in ("setup.sh", "run_autograder") else 0o100644) << 16
            archive.writestr(entry, content[name])
    return buffer.getvalue()


def _own_files() -> list[Path]:
    packed = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [ROOT / name for name in FILES] + [path for path in packed if not LEFT_OUT & set(path.parts)]


def _requirements() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return "".join(f"{line}\n" for line in project["dependencies"])
