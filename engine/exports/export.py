"""From the gradebook to a file of another system."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.exports.autograder import autograder
from engine.exports.canvas import canvas
from engine.exports.github import github
from engine.exports.gradescope import gradescope
from engine.exports.junit import junit
from engine.exports.moodle import moodle
from engine.exports.prairielearn import prairielearn
from engine.exports.record import Asked, Export
from engine.exports.table import table
from engine.pipeline import Options, last_results, texts_of
from engine.records import UsageError

AUTOGRADER = "gradescope-zip"


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is made, and the ending of its files."""

    make: Callable[[Asked], Export]
    ending: str


FORMATS: Mapping[str, Format] = {
    "canvas": Format(canvas, ".csv"),
    "csv": Format(table, ".csv"),
    "github": Format(github, ".txt"),
    "gradescope": Format(gradescope, ".json"),
    "junit": Format(junit, ".xml"),
    "moodle": Format(moodle, ".csv"),
    "prairielearn": Format(prairielearn, ".json"),
}


@dataclass(frozen=True, slots=True)
class How:
    """What was asked for beside the format and the run."""

    to: Path | None = None
    roster: Path | None = None
    column: str = ""
    scale: bool = False
    source: Path | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What an export left behind: files, sentences on what is not in them, and remarks."""

    paths: list[Path]
    left_out: list[str]
    told: list[str]
    printed: str = ""  # what belongs on the terminal, where no file was asked for


def export(name: str, options: Options, how: How) -> Written:
    """Make an export of the last run and write it."""
    if name == AUTOGRADER:
        target = how.to or options.out / "export" / "autograder.zip"
        _write(target, autograder(options.rubric, _words(options)))
        return Written([target], [], [])
    if how.roster is not None and name not in ("canvas", "moodle"):
        raise UsageError(f"--roster is for canvas and moodle; {name} takes none")
    with last_results(options) as (rubric, results):
        asked = Asked(
            results=results,
            texts=texts_of(rubric),
            title=rubric.title,
            rubric=rubric.digest,
            seed=options.seed,
            roster=how.roster,
            column=how.column,
            scale=how.scale,
            source=how.source,
        )
        made = FORMATS[name].make(asked)
    if name == "github" and how.to is None:  # GitHub reads annotations off the output of a step
        return Written([], list(made.left_out), list(made.told), made.files[""] or "")
    target = how.to or options.out / "export" / (name + (FORMATS[name].ending if "" in made.files else ""))
    return Written(_place(made, target), list(made.left_out), list(made.told))


def _words(options: Options) -> list[str]:
    """Return the options that decide a result, as they are said on the command line."""
    words = ["--seed", str(options.seed)]
    if options.examples is not None:
        words += ["--examples", str(options.examples)]
    return words + [word for name in options.only for word in ("--only", name)]


def _place(made: Export, target: Path) -> list[Path]:
    written = []
    for name, text in made.files.items():
        path = target / name if name else target
        if text is None:
            _remove(path)
        else:
            _write(path, text.encode("utf-8", "backslashreplace"))
            written.append(path)
    return written


def _write(path: Path, content: bytes) -> None:
    """Write beside the target, then rename: nobody uploads half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _remove(path: Path) -> None:
    """Take away what an earlier export left: an old score must not pass for a new one."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be removed: {error.strerror}") from None
