"""Hostile submissions against the real command: each gets its own outcome, its neighbours never notice, nothing leaks.

The grader is copied beside a class of some three hundred submissions and started as users start it, once by whoever
runs the tests and, if that is root, once more by an ordinary user. tests/hostile/expected.toml says what each must get.
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.hostile import generated

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = ROOT / "tests" / "hostile"
EXPECTED = tomllib.loads((HOSTILE / "expected.toml").read_text(encoding="utf-8"))
OPEN = [name for name in EXPECTED if "open" in EXPECTED[name]]
NEIGHBOURS = ["neighbour", "right_numpy", "right_torch", "softmax_over_the_wrong_axis"]
NOBODY = 65534
PATIENCE = 900  # seconds for one run, on a machine with much else to do
PR_SET_CHILD_SUBREAPER = 36
LONGEST_RECORD = 100_000  # characters about one submission in results.json
QUICK = """
title = "quick"
examples = 12
[limits]
call_seconds = 1.5
import_seconds = 3.0
submission_seconds = 6.0
memory_mib = 600
[item."attention.softmax"]
agrees_with_definition = { points = 2, visibility = "hidden" }
rows_sum_to_one = { points = 1, visibility = "public" }
shift_invariance = { points = 1, visibility = "public" }
[item."transformer.PositionalEncoding"]
agrees_with_definition = { points = 2, visibility = "hidden" }
table_is_a_buffer = { points = 1, visibility = "public" }
[item.dot_product_mean]
reads = { points = 0, visibility = "public" }
right = { points = 2, visibility = "hidden" }
[item.lstm_zero_input]
right = { points = 1, visibility = "hidden" }
[item.die_entropy]
right = { points = 1, visibility = "hidden" }
digits = { points = 0, visibility = "hidden" }
"""


@dataclass(frozen=True)
class Stage:
    """A grader and a class beside each other, with a secret in each of two places nobody may read."""

    folder: Path
    secrets: tuple[str, str] = field(default_factory=lambda: (_secret(), _secret()))

    @property
    def project(self) -> Path:
        return self.folder / "proofmark"

    @property
    def classroom(self) -> Path:
        return self.folder / "class"

    @property
    def alone(self) -> Path:
        """The neighbours without the hostile ones."""
        return self.folder / "alone"

    @property
    def open_cases(self) -> Path:
        """Those we know that we do not get right yet: they must not spoil the others' run."""
        return self.folder / "open"

    @property
    def rubric(self) -> Path:
        return self.folder / "quick.toml"


@dataclass(frozen=True)
class Run:
    """What a run of the grader said, wrote, and left behind."""

    code: int
    stdout: bytes
    stderr: bytes
    out: Path
    submissions: list[dict[str, Any]]  # of results.json
    processes: list[str]  # still alive
    litter: list[str]  # files where none should be
    changed: list[str]  # files that are not what they were

    def record(self, submission: str) -> dict[str, Any]:
        return next(record for record in self.submissions if record["id"] == submission)

    def said(self) -> dict[str, bytes]:
        """Return every byte the run gave away, by where it did."""
        files = {str(path.relative_to(self.out)): path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        return {"stdout": self.stdout, "stderr": self.stderr, **files}


def _secret() -> str:
    return f"planted-secret-{secrets.token_hex(8)}"


# --- the stage --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stage():
    with tempfile.TemporaryDirectory(prefix="proofmark-stage-") as folder:  # pytest's own is closed to other users
        Path(folder).chmod(0o755)
        made = Stage(Path(folder))
        _copy_project(made)
        _seat_neighbours(made, made.classroom)
        _seat_neighbours(made, made.alone)
        for name in _kept_as_files():
            shutil.copytree(HOSTILE / name, made.classroom / name)
        generated.build(made.classroom)
        made.open_cases.mkdir()
        for name in OPEN:
            shutil.move(made.classroom / name, made.open_cases)
        made.rubric.write_text(QUICK, encoding="utf-8")
        yield made


def _kept_as_files() -> list[str]:
    return sorted(path.name for path in HOSTILE.iterdir() if path.is_dir() and path.name != "__pycache__")


def _copy_project(stage: Stage) -> None:
    """Copy the grader and plant a secret in the reference: beside every result, where a traceback would show it."""
    for name in ("engine", "checks", "reference", "formulas"):
        shutil.copytree(ROOT / name, stage.project / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "grader.py", stage.project)
    planted = 0
    for path in (stage.project / "reference").glob("*.py"):
        marked, number = re.subn(r"(?m)^( +return .*)$", rf"\1  # {stage.secrets[0]}", path.read_text(encoding="utf-8"))
        path.write_text(f'{marked}\n\nPLANTED = "{stage.secrets[0]}"\n', encoding="utf-8")
        planted += number
    assert planted > 50


def _seat_neighbours(stage: Stage, folder: Path) -> None:
    """Put honest submissions into a class, one of them with a secret."""
    examples = ROOT / "submissions" / "examples"
    for name in NEIGHBOURS:
        source = "right_numpy" if name == "neighbour" else name
        shutil.copytree(examples / source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "neighbour" / "attention.py").open("a", encoding="utf-8") as file:
        file.write(f'\n\nDIARY = "{stage.secrets[1]}"\n')


# --- the runs ---------------------------------------------------------------------------------------------------------


@pytest.fixture(
    scope="module", params=["own user", pytest.param("ordinary user without bubblewrap", marks=pytest.mark.deep)]
)
def run(request, stage):
    """Two users, and with the second the weaker of the two sets of walls."""
    if request.param == "own user":
        return _graded(stage, "out", stage.classroom, sys.executable)
    return _graded_as_nobody(stage, "out_of_nobody", stage.classroom)


@pytest.fixture(scope="module")
def some_as_nobody(stage):
    """Every eighth case in the weaker walls; `make deep` has them all there."""
    some = stage.folder / "some"
    some.mkdir()
    chosen = {*sorted(stage.classroom.iterdir())[::8], *(stage.classroom / name for name in NEIGHBOURS)}
    subprocess.run(["cp", "--archive", *sorted(chosen), some], check=True)  # as they are: links, pipes, odd names
    return _graded_as_nobody(stage, "out_of_some", some)


def _graded_as_nobody(stage: Stage, name: str, submissions: Path) -> Run:
    if os.getuid() != 0:
        pytest.skip("already an ordinary user: the other run is this one")
    python = _interpreter_for_everybody()
    if python is None:
        pytest.skip("no interpreter that an ordinary user can start")
    return _graded(stage, name, submissions, python, user=NOBODY, path="/nowhere")


@pytest.fixture(scope="module")
def undisturbed(stage):
    return _graded(stage, "out_alone", stage.alone, sys.executable)


@pytest.fixture(scope="module")
def open_run(stage):
    return _graded(stage, "out_open", stage.open_cases, sys.executable)


def _graded(
    stage: Stage, name: str, submissions: Path, python: str, *, user: int | None = None, path: str = os.environ["PATH"]
) -> Run:
    """Run `grader.py grade` as a user does, in folders of its own, and look at what it leaves behind."""
    out, home = stage.folder / name, stage.folder / f"home_of_{name}"
    cache = stage.folder / f"cache_of_{user}"  # one for all runs of a user: the same inputs are not drawn again
    for place in (out, home, home / "tmp", cache):
        place.mkdir(mode=0o700, exist_ok=True)
        if user is not None:
            os.chown(place, user, user)
    before = _fingerprints(stage)
    command = [python, str(stage.project / "grader.py"), "grade", str(submissions), "--jobs", "2",
               "--out", str(out), "--rubric", str(stage.rubric)]  # fmt: skip
    environment = {
        "PATH": path,
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "XDG_CACHE_HOME": str(cache),
        "PYTHONPATH": os.pathsep.join(folder for folder in sys.path if folder.endswith("site-packages")),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    privileges: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    with _orphans_are_ours() as processes:
        done = subprocess.run(
            command, env=environment, cwd=home, capture_output=True, check=False, timeout=PATIENCE, **privileges
        )
        left = sorted(processes())
    after = _fingerprints(stage)
    changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    assert (out / "results.json").exists(), done.stderr.decode(errors="replace")
    submissions = json.loads((out / "results.json").read_text(encoding="utf-8"))["submissions"]
    return Run(done.returncode, done.stdout, done.stderr, out, submissions, left, _litter(home), changed)


def _litter(home: Path) -> list[str]:
    """Return what lies about: in the grader's home and temp folder, and where hostile ones leave their notes."""
    ours = [path for path in (*home.iterdir(), *(home / "tmp").iterdir()) if path != home / "tmp"]
    public = (Path(place) for place in ("/", "/tmp", "/var/tmp", "/dev/shm"))
    return [str(path) for path in (*ours, *(path for place in public for path in place.glob("proofmark-hostile*")))]


def _interpreter_for_everybody() -> str | None:
    """Return an interpreter of our version outside anybody's private folder."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (Path(sys.executable).resolve(), Path("/usr/bin") / version, Path("/usr/local/bin") / version):
        real = candidate.resolve()
        if real.exists() and all(parent.stat().st_mode & 0o001 for parent in real.parents):
            return str(candidate)
    return None


def _fingerprints(stage: Stage) -> dict[str, Any]:
    """Return what lies in the grader's folder and the class: kind, times and content, nothing followed or opened."""
    found: dict[str, Any] = {}
    for path in (*stage.project.rglob("*"), *stage.classroom.rglob("*"), stage.rubric):
        status = path.lstat()
        plain = path.is_file() and not path.is_symlink()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if plain else None
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, content)
    return found


@contextlib.contextmanager
def _orphans_are_ours():
    """Become the parent of whoever outlives its own, and yield a way to ask who does."""
    libc = ctypes.CDLL(None)
    before = set(_living_children())
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield lambda: set(_living_children()) - before
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _living_children():
    """Yield the processes whose parent we are, unless they are dead and only wait to be noticed."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == os.getpid() and state != "Z":
            yield folder.name


# --- each gets its outcome --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in OPEN])
def test_each_gets_its_outcome_and_a_sentence(run, name):
    _meets_its_expectation(run, name)


def test_some_are_contained_for_an_ordinary_user_too(some_as_nobody, undisturbed, stage):
    ids = {record["id"] for record in some_as_nobody.submissions}
    tried = [name for name in EXPECTED if name not in OPEN and EXPECTED[name].get("id", name) in ids]
    assert len(tried) > 25
    for name in tried:
        _meets_its_expectation(some_as_nobody, name)
    for name in NEIGHBOURS:
        assert some_as_nobody.record(name) == undisturbed.record(name)
    assert (some_as_nobody.code, some_as_nobody.processes, some_as_nobody.litter) == (0, [], [])
    assert not [
        secret for secret in stage.secrets for said in some_as_nobody.said().values() if secret.encode() in said
    ]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xfail(reason=EXPECTED[name]["open"])) for name in OPEN]
)
def test_what_is_still_open(open_run, name):
    _meets_its_expectation(open_run, name)


def _meets_its_expectation(run: Run, name: str) -> None:
    expected = EXPECTED[name]
    record = run.record(expected.get("id", name))
    item = next(item for item in record["items"] if item["id"] == expected.get("item", "attention.softmax"))
    messages = [*record.get("problems", []), *(check["message"] for check in item["checks"])]
    assert record["status"] in ("graded", "waiting"), messages
    assert item["outcome"] in expected["outcome"].split(" or "), messages
    assert any(expected.get("says", "") in message for message in [*messages, ""]), messages
    assert item["score"] == (item["max_score"] if expected["outcome"] == "held" else 0), messages
    assert len(json.dumps(record)) < LONGEST_RECORD


def test_every_hostile_submission_has_an_expectation():
    made = [*_kept_as_files(), *generated.names()]
    assert sorted(made) == sorted(EXPECTED)
    assert len(made) >= 120


@pytest.mark.parametrize("name", _kept_as_files())
def test_every_file_says_what_it_tries(name):
    for path in (HOSTILE / name).rglob("*.py"):
        assert path.read_text(encoding="utf-8").startswith('"""'), path


def test_nobody_is_lost_or_counted_twice(run, stage):
    ids = [record["id"] for record in run.submissions]
    assert len(ids) == len(set(ids)) == len(list(stage.classroom.iterdir()))


def test_the_run_ends_well_behind_real_walls(run):
    assert run.code == 0, run.stderr.decode(errors="replace")
    assert b"landlock+seccomp" in run.stderr
    assert b"bubblewrap" not in run.stderr or run.out.name == "out"
    assert b"Traceback" not in run.stderr, run.stderr.decode(errors="replace")


# --- and nobody else notices ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_get_what_they_get_alone(run, undisturbed, name):
    """The same keys in the same order with the same values: written out, the same bytes."""
    record = run.record(name)
    assert json.dumps(record) == json.dumps(undisturbed.record(name))
    assert record["status"] == "graded"
    assert record["score"] == (0 if name == "softmax_over_the_wrong_axis" else record["max_score"])


def test_their_rows_and_prints_are_the_same(run, undisturbed):
    rows, alone = (graded.said()["gradebook.csv"].splitlines() for graded in (run, undisturbed))
    assert set(alone) <= set(rows)
    prints, printed_alone = (
        {p: b for p, b in each.said().items() if p.startswith("output/")} for each in (run, undisturbed)
    )
    assert {path: content for path, content in prints.items() if Path(path).stem in NEIGHBOURS} == printed_alone


# --- nothing leaks, nothing stays -------------------------------------------------------------------------------------


def test_no_secret_is_in_any_byte_that_was_said(run, stage):
    for place, content in run.said().items():
        for secret in stage.secrets:
            assert secret.encode() not in content, place


def test_the_secrets_could_have_been_found(stage):
    assert stage.secrets[0] in (stage.project / "reference" / "attention.py").read_text(encoding="utf-8")
    assert stage.secrets[1] in (stage.classroom / "neighbour" / "attention.py").read_text(encoding="utf-8")


def test_no_process_is_left(run):
    assert run.processes == []


def test_no_file_is_left_or_changed(run):
    assert run.litter == []
    assert run.changed == []


def test_only_what_a_run_writes_is_in_its_folder(run):
    files = {path.relative_to(run.out) for path in run.out.rglob("*") if not path.is_dir()}
    pages = {path for path in files if path.parts[:2] == ("report", "submissions")}
    others = {str(path) for path in files - pages if path.parts[0] != "output"}
    assert others <= {"results.json", "gradebook.csv", "gradebook.sqlite", "gradebook.lock",
                      "report/index.html", "report/proofs.html"}, others  # fmt: skip
    assert all(len(path.parts) == 2 and path.suffix == ".txt" for path in files if path.parts[0] == "output")


def test_what_people_read_is_neither_commands_nor_code(run):
    """Neither a terminal, nor a browser, nor a spreadsheet is given orders."""
    said = run.said()
    assert b"\x1b" not in said["stdout"] + said["stderr"]
    pages = [content for place, content in said.items() if place.endswith(".html")]
    assert len(pages) > len(run.submissions)
    assert not [page for page in pages if b"<script>alert" in page or b"<img src=x" in page]
    rows = csv.reader(io.StringIO(said["gradebook.csv"].decode(), newline=""))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    assert len(said["stdout"].splitlines()) < len(run.submissions) + 10  # no name forges a line


def test_no_print_is_kept_beyond_its_limit(run):
    assert max(len(content) for place, content in run.said().items() if place.startswith("output/")) <= 2**16 + 100
