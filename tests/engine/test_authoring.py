"""Scaffolds: what they write runs, is clean, and takes nothing away; what they cannot write is refused whole."""

import subprocess
import sys
from pathlib import Path

import pytest

from checks.contract import SIGNATURES
from checks.question import Kind, QuestionError, read_questions
from engine.authoring.scaffold import new_check, new_item, new_question
from engine.records import UsageError
from tests.engine.test_tutorial import cloned, follow

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ["checks", "reference", "engine/intake.py", "engine/audit/variants"]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    return cloned(tmp_path_factory.mktemp("authors") / "fresh")


@pytest.fixture
def clone(fresh, tmp_path):
    """A clone to write in."""
    subprocess.run(["cp", "-r", str(fresh), str(tmp_path / "clone")], check=True)
    grader = tmp_path / "clone" / ".venv" / "bin" / "grader"
    grader.write_text(grader.read_text(encoding="utf-8").replace(str(fresh), str(tmp_path / "clone")), encoding="utf-8")
    return tmp_path / "clone"


def texts(folder):
    return {
        p.relative_to(folder): p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.suffix in (".py", ".toml")
    }


def lint(clone):
    for command in (["check", "--no-cache", "--output-format", "concise"], ["format", "--no-cache", "--diff"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *WRITTEN], cwd=clone, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def kept(before, after):
    """Assert that every line that was there still is, in its order."""
    for name, text in before.items():
        lines = iter(after[name].splitlines())
        assert all(line in lines for line in text.splitlines()), name


DRAWN = """
from engine.corpus import draw
from engine.rubric import all_checks, read_rubric
begun = [check for check in all_checks().values() if ".begun_" in check.id]
assert {check.id for check in begun} <= {check.id for check in read_rubric().checks}
print(len([recording for recording in draw(begun, number=0, examples=3) if recording.examples]))
"""


def test_a_check_can_be_begun_for_every_function_that_returns_arrays(clone):
    before = texts(clone)
    refused = []
    for item in SIGNATURES:
        try:
            new_check(item, f"begun_{item.replace('.', '_').lower()}", clone)
        except UsageError as error:
            assert "by hand" in str(error)  # noqa: PT017 - which of many were refused is the point
            refused.append(item)
    done = subprocess.run([sys.executable, "-c", DRAWN], cwd=clone, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(len(SIGNATURES) - len(refused)), done.stderr
    assert len(refused) <= 12, refused  # models, modules, texts, and dicts of gradients
    kept(before, texts(clone))
    lint(clone)


NEW = {
    "network.begun": ("y: ... n; epsilon=0.1", "... n"),
    "perplexity.begun": ("base", ""),
    "attention.begun": ("q: d; K: n d; V: n v", "v; n"),
    "gates.begun": ("A: a b; B: c d e; C: f 2", "a f"),
    "smoothing.begun": ("x: n d", "d n; d"),  # a new module
}


def test_functions_that_are_begun_can_be_imported_and_say_what_is_missing(clone):
    before = texts(clone)
    for item, (takes, returns) in NEW.items():
        written = new_item(item, takes, returns, 'said "so"', clone)
        assert all((clone / name).is_file() for name in written.files)
    kept(before, texts(clone))
    lint(clone)
    follow("grader list", [f"{item} 2 checks 2.5 points Fill in: a title" for item in NEW], clone)
    for item in ("network.begun", "smoothing.begun"):
        module = item.split(".", 1)[0]
        follow(f"grader verify --only {item}   # exit code 3", [f"fill in begun in reference/{module}.py"], clone)
    follow("grader new-check smoothing.begun law", ["the check law"], clone)
    lint(clone)


def test_questions_of_every_kind_hold_as_they_are_begun(clone):
    before = texts(clone)
    for kind in Kind:
        new_question(f"begun_{kind}", kind, clone)
    kept(before, texts(clone))
    asked = " ".join(f"--only begun_{kind}" for kind in Kind)
    follow(f"grader verify --jobs 1 {asked}", ["all good"], clone)
    follow("grader explain begun_claim", ["begun_claim.right (1 points, hidden)"], clone)


def test_a_question_of_the_syllabus_is_not_a_courses_own(clone):
    new_question("begun", "number", clone)
    path = clone / "checks" / "questions" / "course.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("[begun]", "[die_entropy]"), encoding="utf-8")
    with pytest.raises(QuestionError, match=r"course.toml: die_entropy is also in S0.toml"):
        read_questions(path.parent)


REFUSED = {
    "a check that is there": (lambda root: new_check("attention.softmax", "shift_invariance", root), "has a check shift_invariance already"),
    "a name that is taken": (lambda root: new_check("attention.softmax", "np", root), "has something called np already"),
    "a test": (lambda root: new_check("attention.softmax", "test_it", root), "is no name for a check"),
    "no such item": (lambda root: new_check("attention.sofmax", "law", root), "did you mean attention.softmax?"),
    "an item over several functions": (lambda root: new_check("language_model.char_model", "law", root), "over several functions"),
    "an item that is there": (lambda root: new_item("attention.softmax", "x: n", "n", "wrong", root), "there is an item attention.softmax already"),
    "no module": (lambda root: new_item("softmax", "x: n", "n", "wrong", root), "is no MODULE.FUNCTION"),
    "a module whose name is taken": (lambda root: new_item("inputs.begun", "x: n", "n", "wrong", root), "checks/inputs.py is already there"),
    "no shape": (lambda root: new_item("network.begun", "x: n-1", "n", "wrong", root), "'n-1' is no shape"),
    "a size from nowhere": (lambda root: new_item("network.begun", "x: n", "m", "wrong", root), "no argument has the size 'm'"),
    "no default after one": (lambda root: new_item("network.begun", "x=1; y: n", "n", "wrong", root), "y has no default"),
    "a default that is no Python": (lambda root: new_item("network.begun", "x: n; y=)", "n", "wrong", root), "nothing was written"),
    "no mistake": (lambda root: new_item("network.begun", "x: n", "n", "!", root), "is no name for a mistake"),
    "no such kind": (lambda root: new_question("begun", "expresion", root), "did you mean expression?"),
    "a question that is there": (lambda root: new_question("die_entropy", "number", root), "there is a question die_entropy already"),
}  # fmt: skip


@pytest.mark.parametrize(("begin", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_begun_is_refused_and_nothing_is_written(fresh, begin, says):
    before = texts(fresh)
    with pytest.raises(UsageError) as caught:
        begin(fresh)
    assert says in str(caught.value)
    assert texts(fresh) == before
