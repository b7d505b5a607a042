"""The handout: runs in an empty folder, knows right from wrong there, and gives nothing away."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from checks.contract import MODULES, SIGNATURES
from checks.question import questions
from engine.handout import BOX, without_hidden, write_handout
from engine.records import UsageError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "submissions" / "examples"


@pytest.fixture(scope="module")
def handout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("student") / "homework"
    write_handout(folder)
    return folder


def check(handout, example, *options):
    """Put an example's files in place of the stubs and run the student's command, far from this repository."""
    folder = handout.parent / example
    shutil.copytree(handout, folder, dirs_exist_ok=True)
    for path in (EXAMPLES / example).iterdir():
        shutil.copy(path, folder / path.name)
    # With -S the packages are there and this repository, which an editable install would bring along, is not.
    environment = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
    return subprocess.run(
        [sys.executable, "-S", "-P", "grader.py", "check", ".", "--examples", "20", *options],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_right_submission_passes_at_home(handout):
    modules = [word for module in MODULES for word in ("--only", module)]
    done = check(handout, "right_numpy", "--examples", "10", *modules)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.parametrize("example", ["softmax_over_the_wrong_axis", "attention_mask_discarded", "argmax_last_on_a_tie"])
def test_a_mistake_is_caught_at_home(handout, example):
    done = check(handout, example)
    assert done.returncode == 1
    assert "Hint: " in done.stdout


def test_a_fresh_handout_is_told_to_be_begun_and_each_command_of_its_page_works(handout):
    commands = re.findall(
        r"^\s*(?:\| `)?python (grader\.py [^`\n]+)", (handout / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(commands) == 5
    for command in commands:
        done = subprocess.run(
            [sys.executable, *command.split()], cwd=handout, capture_output=True, text=True, check=False
        )
        if " check " in command:
            assert done.returncode == 1
            assert done.stdout.endswith("Nothing is begun: fill in a function, or answer a question in answers.toml.\n")
        else:
            assert done.returncode == 0
            assert "softmax" in done.stdout
        assert done.stderr == ""


def test_a_check_at_home_asks_no_network(handout):
    """Every address that is looked up and every connection that is tried would be written down."""
    folder = handout.parent / "offline"
    shutil.copytree(handout, folder)
    shutil.copy(EXAMPLES / "softmax_over_the_wrong_axis" / "attention.py", folder / "attention.py")
    watched = (
        "import runpy, sys; sys.argv = ['grader.py', 'check', '.', '--examples', '5']; "
        "sys.addaudithook(lambda event, args: print(event, args, file=sys.stderr) "
        "if event in ('socket.connect', 'socket.getaddrinfo', 'urllib.Request') else None); "
        "runpy.run_path('grader.py', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", watched], cwd=folder, capture_output=True, text=True, check=False)
    assert "attention.softmax" in done.stdout
    assert done.stderr == ""


def test_no_solution_is_in_the_box(handout):
    files = [path for path in handout.rglob("*") if path.is_file()]
    assert not [path for path in files if "reference" in path.parts or "misconceptions" in path.parts]
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    assert "agrees_with_definition =" not in text
    for path in (ROOT / "reference").glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                for statement in function.body[1:]:  # after the docstring
                    line = ast.unparse(statement)
                    assert len(line) < 45 or line not in text, f"{path.name}: {line}"


def test_every_function_has_a_stub_with_its_signature(handout):
    for row in SIGNATURES.values():
        tree = ast.parse((handout / f"{row.module}.py").read_text(encoding="utf-8"))
        (stub,) = [node for node in tree.body if getattr(node, "name", "") == row.name]
        assert ast.get_docstring(stub)


def test_a_handout_overwrites_nothing(tmp_path):
    (tmp_path / "attention.py").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="not an empty folder"):
        write_handout(tmp_path)
    assert (tmp_path / "attention.py").read_text(encoding="utf-8") == "mine"


def test_hidden_checks_are_cut_out_with_what_only_they_use():
    source = """
LIMIT = 3
OTHER = 4

def for_hidden():
    return LIMIT

def for_public():
    return OTHER

@check(of="m.f", claim="a" "b", hint="")
@given(x=for_hidden())
def hidden(f, x): ...

@check(of="m.f", claim="", hint="")
@given(x=for_public())
def public(f, x): ...

f_agrees = agreement(of="m.f", arguments=for_hidden(), claim="", hint="")
"""
    left = without_hidden(source, {"m.f.public"})
    names = [node.name for node in ast.parse(left).body if isinstance(node, ast.FunctionDef)]
    assert names == ["for_public", "public"]
    assert "LIMIT" not in left
    assert "OTHER = 4" in left


def test_the_box_is_hidden_so_that_it_is_not_taken_for_student_code(handout):
    assert BOX.startswith(".")


def test_lines_of_a_derivation_are_followed_at_home(handout, tmp_path):
    """Whether a line equals the one before needs no truth: a student can find out where they went wrong."""
    folder = tmp_path / "home"
    shutil.copytree(handout, folder)
    lines = """[derivation]
dot_product_variance = ["Var(q'k)", "2*sigma^2*mu'mu + d*sigma^4", "2*d*sigma^2*mu'mu + d*sigma^4"]
"""
    (folder / "answers.toml").write_text(lines, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "grader.py", "check", ".", "--only", "dot_product_variance"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Line 3 does not equal line 2. The first term has an extra factor d." in " ".join(done.stdout.split())


def test_no_answer_to_a_question_is_in_the_box(handout):
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in handout.rglob("*") if path.suffix in (".json", ".toml", ".py")
    )
    for question in questions().values():
        told = [question.explains, *question.marking, *(wrong.why for part in question.parts for wrong in part.wrong)]
        assert not [secret for secret in told if secret and secret in text], question.id
    shown = (handout / BOX / "checks" / "questions" / "published.json").read_text(encoding="utf-8")
    assert not any(f'"{key}"' in shown for key in ("truth", "expected", "answers", "wrong", "accepted", "explains"))
    assert not (handout / BOX / "checks" / "claims.py").exists()
