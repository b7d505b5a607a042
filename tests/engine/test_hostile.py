"""Hostile submissions against the real sandbox: each gets its own outcome, and its neighbours never notice."""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from engine.pipeline import Options, grade

HOSTILE = Path(__file__).resolve().parents[1] / "hostile"
EXPECTED = tomllib.loads((HOSTILE / "expected.toml").read_text(encoding="utf-8"))
PR_SET_CHILD_SUBREAPER = 36
QUICK = """
title = "quick"
examples = 12
[limits]
call_seconds = 3.0
import_seconds = 3.0
memory_mib = 600
[item."attention.softmax"]
agrees_with_definition = { points = 2, visibility = "hidden" }
rows_sum_to_one = { points = 1, visibility = "public" }
shift_invariance = { points = 1, visibility = "public" }
"""


def run(paths, out, rubric, **options):
    results = grade(paths, Options(out=out, rubric=rubric, **options), lambda _: None, lambda _: None)
    return {result.id: result for result in results}


@pytest.fixture(scope="module")
def rubric(tmp_path_factory):
    path = tmp_path_factory.mktemp("rubric") / "quick.toml"
    path.write_text(QUICK, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def neighbours():
    examples = HOSTILE.parents[1] / "submissions" / "examples"
    return [examples / "right_numpy", examples / "softmax_over_the_wrong_axis"]


@pytest.fixture(scope="module")
def graded(rubric, neighbours, tmp_path_factory):
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # whoever outlives its parent becomes our child, and is seen
    before = set(_living_children())
    out = tmp_path_factory.mktemp("hostile")
    results = run([HOSTILE, *neighbours], out, rubric, jobs=2)
    left = set(_living_children()) - before
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    return results, out, left


@pytest.mark.parametrize("name", EXPECTED)
def test_each_hostile_submission_gets_its_outcome_and_a_sentence(graded, name):
    item = graded[0][name].items[0]
    messages = [check.verdict.message for check in item.checks]
    assert item.outcome == EXPECTED[name]["outcome"], messages
    assert any(EXPECTED[name]["says"] in message for message in messages), messages
    assert item.score == 0


def test_every_hostile_submission_has_an_expectation():
    assert {path.name for path in HOSTILE.iterdir() if path.is_dir()} == set(EXPECTED)


def test_neighbours_get_what_they_get_alone(graded, rubric, neighbours, tmp_path):
    alone = run(neighbours, tmp_path, rubric, jobs=1)
    assert {name: graded[0][name] for name in alone} == alone


def test_no_process_is_left(graded):
    assert graded[2] == set()


def test_the_reference_is_in_no_output(graded):
    secret = (HOSTILE.parents[1] / "reference" / "attention.py").read_text(encoding="utf-8").splitlines()[0]
    for path in graded[1].rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


def test_an_ordinary_user_is_just_as_safe(rubric):
    """The same submissions, graded by uid 65534 in a process of its own."""
    if os.getuid() != 0:
        pytest.skip("already an ordinary user: the tests above are this test")
    python = _interpreter_for_everybody()
    if python is None:
        pytest.skip("no interpreter that an ordinary user can start")
    script = (
        "import os, sys; os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534);"
        "from engine.commands import main; sys.exit(main(sys.argv[1:]))"
    )
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others whenever another pytest starts
        _graded_by_nobody(Path(folder), rubric, python, script)


def _graded_by_nobody(folder, rubric, python, script):
    out = folder / "out"
    out.mkdir()
    for place in (folder, out):
        place.chmod(0o777)
    rubric = shutil.copy(rubric, folder / "quick.toml")
    packages = [path for path in sys.path if path.endswith("site-packages")]
    environment = {"PYTHONPATH": os.pathsep.join([str(HOSTILE.parents[1]), *packages]), "PATH": os.environ["PATH"],
                   "XDG_CACHE_HOME": str(out), "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    names = ["exits_quietly", "reads_the_reference", "opens_a_socket", "forks_a_bomb", "writes_results"]
    paths = [str(HOSTILE / name) for name in names] + [str(HOSTILE.parents[1] / "submissions/examples/right_numpy")]
    done = subprocess.run(
        [python, "-c", script, "grade", *paths, "--out", str(out), "--rubric", str(rubric), "--json", "--jobs", "2"],
        env=environment, capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "landlock+seccomp" in done.stderr
    results = {row["id"]: row for row in json.loads(done.stdout)["submissions"]}
    assert results["right_numpy"]["score"] == results["right_numpy"]["max_score"]
    for name in names:
        assert results[name]["items"][0]["outcome"] == EXPECTED[name]["outcome"]


def _interpreter_for_everybody():
    """Return an interpreter of our version outside anybody's private folder."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (Path(sys.executable).resolve(), Path("/usr/bin") / version, Path("/usr/local/bin") / version):
        real = candidate.resolve()
        if real.exists() and all(parent.stat().st_mode & 0o001 for parent in real.parents):
            return str(candidate)
    return None


def _living_children():
    """Yield the processes whose parent we are, unless they are dead and only wait to be noticed."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == os.getpid() and state != "Z":
            yield folder.name
