"""Every command and snippet in the documentation is run, and the output shown beside it is what it printed.

The word after a fence says what a block is:

- `console`: lines that begin with `$ ` are commands, those below one are its output, as a terminal shows both streams.
  A line `…` stands for any lines, an `…` in a line for anything in it; seconds are not compared.
  `console skip="reason"` is not run;
- `python` is run, `toml` is read; `text` is neither.

A folder is prepared for each page: a course with alice and bob, or a student's homework.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from engine.handout import write_handout

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "submissions" / "examples"
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if path.name != "CHANGELOG.md"
)
ELSEWHERE = {"docs/tutorial.md": "tests/engine/test_tutorial.py"}  # followed from beginning to end, in a clone
FENCE = re.compile(r"```(?P<kind>\w*)(?: skip=\"(?P<reason>[^\"]+)\")?")
SECONDS = re.compile(r"\d+(\.\d+)? s\b")


def blocks(page):
    """Yield the kind, the reason to skip it, the text and the line of every block of a page."""
    kind, begun, lines = None, 0, []
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), start=1):
        if kind is None and line.startswith("```"):
            kind, begun, lines = FENCE.fullmatch(line), number, []
            assert kind, f"{page}, line {number}: {line} is not of the form this test knows"
        elif line == "```":
            yield kind["kind"], kind["reason"], "\n".join(lines), begun
            kind = None
        elif kind is not None:
            lines.append(line)
    assert kind is None, f"{page}: the block of line {begun} has no end"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_every_block_says_what_it_is(page):
    """A command in a block that nobody runs would be a way round this file."""
    for kind, reason, text, line in blocks(page):
        assert kind in {"console", "python", "toml", "text"}, f"{page}, line {line}: what is {kind or 'a bare fence'}?"
        assert reason is None or kind in {"console", "python"}, f"{page}, line {line}"
        is_command = re.search(r"^(\$ )?(grader|python|pytest|pip|make) \S", text, re.MULTILINE)
        assert kind == "console" or not is_command, f"{page}, line {line}: a command in a block of {kind}"
        assert kind != "console" or text.startswith("$ "), f"{page}, line {line}: no command"
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    inside = False
    for number, line in enumerate(lines, start=1):
        inside ^= line.startswith("```")
        previous = lines[number - 2] if number > 1 else ""
        assert inside or previous or not re.match(r"    \S", line), f"{page}, line {number}: indented, so not run"


@pytest.mark.parametrize("page", ELSEWHERE)
def test_a_page_tested_elsewhere_is(page):
    assert Path(page).name in (ROOT / ELSEWHERE[page]).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_a_page_does_what_it_says(page, tmp_path):
    todo = [block for block in blocks(page) if block[0] != "text" and block[1] is None]
    if not todo:
        return
    folder = FOLDERS.get(page, course)(tmp_path)
    for command in BEFORE.get(page, ()):
        assert run(command, folder).returncode == 0
    known = {}
    for kind, _, text, line in todo:
        if kind == "toml":
            tomllib.loads(text)
            if page in WRITTEN:
                (folder / WRITTEN[page]).write_text(text, encoding="utf-8")
        elif kind == "python":
            exec(compile(text, f"{page}:{line}", "exec"), known)
        else:
            for command, shown in commands(text):
                done = run(command, folder)
                assert done.returncode in {0, 1}, f"{page}, line {line}: {command}\n{done.stdout}"
                assert matches(shown, done.stdout), f"{page}, line {line}: {command}\n\n{done.stdout}"


def commands(text):
    """Yield each command of a block with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def matches(shown, printed):
    """Return whether an output is as it is shown; nothing shown, nothing claimed."""
    if not shown.strip():
        return True
    pattern = ""
    for line in SECONDS.sub("N s", shown.rstrip()).split("\n"):
        within = ".*".join(re.escape(part.rstrip()) + " *" for part in line.split("…"))
        pattern += r"(?:.*\n)*?" if line.strip() == "…" else rf"{within}\n"
    return re.fullmatch(pattern, SECONDS.sub("N s", printed.rstrip()) + "\n") is not None


def run(command, folder):
    """Run a command as a shell does, both streams together, with this interpreter and this grader."""
    environment = {**os.environ, "PATH": f"{folder.parent / 'bin'}:{os.environ['PATH']}", "NO_COLOR": "1"}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip


# ── the folders the commands run in ─────────────────────────────────────────────────────────────────────────────


def course(tmp_path):
    """Prepare an instructor's folder: two submissions, rubrics, and what course platforms have to say."""
    folder = tmp_path / "course"
    programs(tmp_path)
    for name, example in (("alice", "softmax_without_the_maximum"), ("bob", "right_numpy")):
        for place in (folder / name, folder / "class" / name):
            place.mkdir(parents=True)
            shutil.copy(EXAMPLES / example / "attention.py", place)
    answers = '[text]\nwhy_positions = "Without them the order is lost."\n'
    (folder / "alice" / "answers.toml").write_text(answers, encoding="utf-8")
    shutil.copytree(EXAMPLES / "sheet_S3", folder / "submissions" / "examples" / "sheet_S3")
    (folder / "rubrics").mkdir()
    for name in ("sheet4.toml", "rubrics/sheet4.toml", "rubrics/sheet5.toml"):
        (folder / name).write_text(sheet4(), encoding="utf-8")
    for name in ("class", "class4", "class5"):
        shutil.make_archive(str(folder / name), "zip", folder / "class")
    mark = "submission,item,score,comment\nalice,why_positions,2.5,No example given.\n"
    canvas = "Student,ID,SIS Login ID,Section,Sheet 4 (71)\n    Points Possible,,,,5\nAlice,1,alice,A,\nBob,2,bob,A,\n"
    moodle = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments\n"
    for name in ("alice", "bob"):
        moodle += f"Participant {len(name)},{name.title()},{name}@uni.example,Submitted,,5.00,\n"
    for name, text in (("marks.csv", mark), ("export.csv", canvas), ("Grades.csv", moodle)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@cache
def sheet4():
    """Return the rubric that the page on rubrics shows."""
    return next(text for kind, _, text, _ in blocks("docs/rubric.md") if kind == "toml")


def homework(tmp_path):
    """Prepare a student's folder: a handout with one function written."""
    programs(tmp_path)
    folder = tmp_path / "homework"
    write_handout(folder)
    stubs = (folder / "attention.py").read_text(encoding="utf-8").split("\n\n\n")
    own = (EXAMPLES / "softmax_without_the_maximum" / "attention.py").read_text(encoding="utf-8")
    rest = [part for part in stubs[1:] if not part.startswith("def softmax")]
    (folder / "attention.py").write_text("\n\n\n".join([own.rstrip(), *rest]), encoding="utf-8")
    return folder


def programs(tmp_path):
    """Put `grader` and `python` on the path: this checkout; an interpreter that, like a student's, does not know it."""
    place = tmp_path / "bin"
    place.mkdir()
    stranger = place / "stranger.py"
    stranger.write_text(STRANGER, encoding="utf-8")
    for name, words in (
        ("grader", f'"{sys.executable}" "{ROOT / "grader.py"}"'),
        ("python", f'"{sys.executable}" "{stranger}"'),
    ):
        (place / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        (place / name).chmod(0o755)


# Installed for development, our packages are found from everywhere; a student's are those of the handout.
STRANGER = """import runpy, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(getattr(finder, "__module__", ""))]
sys.path[0] = ""
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
FOLDERS = {"docs/students.md": homework}
WRITTEN = {"docs/students.md": "answers.toml"}  # what its blocks of TOML are
BEFORE = {
    "docs/answers.md": ["grader grade alice --only why_positions"],
    "docs/exports.md": ["grader grade class --rubric sheet4.toml"],
}


# ── the site ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr  # a link that leads nowhere is a warning, and so an error
    return folder


def test_every_page_of_the_docs_is_in_the_site_and_no_fence_is_left_over(site):
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix().replace("README", "index")
        text = (site / name).read_text(encoding="utf-8")
        assert "```" not in text, name
        assert 'class="nav' in text


def test_the_site_fetches_nothing_from_elsewhere(site):
    fetched = []

    class Requests(HTMLParser):
        def handle_starttag(self, tag, attrs):
            fetched.extend(value for name, value in attrs if name in ("src", "srcset", "data") and value)
            fetched.extend(value for name, value in attrs if tag == "link" and name == "href" and value)

    for path in site.rglob("*.html"):
        Requests().feed(path.read_text(encoding="utf-8"))
    for path in site.rglob("*.css"):
        fetched += re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", path.read_text(encoding="utf-8"))
    assert fetched
    assert not [place for place in fetched if re.match(r"(\w+:)?//", place)]


# ── what a start costs ──────────────────────────────────────────────────────────────────────────────────────────

HEAVY = ("sympy", "torch", "jinja2", "rich", "IPython")


@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        (["--help"], ("numpy", "hypothesis")),
        (["list"], ("numpy", "hypothesis")),
        (["check", str(EXAMPLES / "softmax_without_the_maximum"), "--examples", "5"], ()),
    ],
    ids=["help", "list", "check"],
)
def test_a_command_imports_only_what_it_needs(arguments, others, tmp_path):
    """Time is not measured here: what is not imported costs none."""
    told = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=open(sys.argv.pop(1), 'w')))"
    program = f"{told}; from engine.commands import main; main(sys.argv[2:])"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}  # in the usual one others make room
    for _ in range(2):  # the second time, what is listed was listed before
        subprocess.run(
            [sys.executable, "-c", program, tmp_path / "modules", *arguments], cwd=ROOT, check=True,
            stdout=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
    imported = {name.split(".")[0] for name in (tmp_path / "modules").read_text(encoding="utf-8").split()}
    assert not imported & {*HEAVY, *others}
