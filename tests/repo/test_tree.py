"""Rules about the repository: who may import whom, what no file may hold, that everything has its counterpart."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from checks.contract import MODULES, SIGNATURES
from engine.rubric import all_checks, read_rubric

ROOT = Path(__file__).resolve().parents[2]
TRACKED = [ROOT / name for name in subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.splitlines() if (ROOT / name).is_file()]  # fmt: skip
SOURCES = [
    path
    for path in TRACKED
    if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in ("engine", "checks", "formulas", "reference")
]


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


MAY_NOT = {
    "formulas": ("engine", "checks", "reference"),
    "reference": ("engine", "checks"),
    "checks": ("engine",),
    "engine/worker": ("checks", "formulas", "reference", "hypothesis"),
}


@pytest.mark.parametrize(("folder", "forbidden"), MAY_NOT.items(), ids=MAY_NOT.keys())
def test_imports_point_one_way(folder, forbidden):
    plugin = ROOT / "checks" / "conftest.py"  # pytest's entry, not a check: it starts the engine
    for path in SOURCES:
        if path.is_relative_to(ROOT / folder) and path != plugin:
            offenders = [name for name in imports_of(path) if name.split(".")[0] in forbidden]
            assert not offenders, f"{path.relative_to(ROOT)} imports {offenders}"


def test_the_worker_imports_nothing_of_the_judge():
    for path in (ROOT / "engine" / "worker").glob("*.py"):
        offenders = [
            name
            for name in imports_of(path)
            if name.startswith("engine") and not name.startswith("engine.worker") and name != "engine"
        ]
        assert not offenders, f"{path.name} imports {offenders}"


def test_there_are_no_import_cycles():
    graph = {}
    for path in SOURCES:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        graph[module] = set(imports_of(path))
    state = {}

    def visit(module, trail):
        assert state.get(module) != "open", " -> ".join([*trail, module])
        if module in state:
            return
        state[module] = "open"
        for other in graph[module] & graph.keys():
            if other != module:
                visit(other, [*trail, module])
        state[module] = "done"

    for module in graph:
        visit(module, [])


def test_no_module_is_called_utils():
    assert not [path for path in SOURCES if path.stem in ("utils", "helpers", "common", "misc")]


def test_no_file_holds_a_path_of_a_machine_or_a_registry():
    # Built from parts, so that this file does not hold them.
    forbidden = [re.compile(rf"/{word}/") for word in ("work" + "/main", "farm", "root")] + [
        re.compile("py" + r"pi\.org"),
        re.compile("npm" + r"js\."),
    ]
    for path in TRACKED:
        if path.suffix in (".py", ".toml", ".md", ".txt", ".html", "") and "hostile" not in path.parts:
            text = path.read_text(encoding="utf-8", errors="replace")
            found = [pattern.pattern for pattern in forbidden if pattern.search(text)]
            assert not found, f"{path.relative_to(ROOT)} holds {found}"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_its_reference_checks_misconceptions_and_tests(module):
    for place in (f"reference/{module}.py", f"checks/{module}.py", f"checks/misconceptions/{module}.py",
                  f"tests/reference/test_{module}.py", f"submissions/examples/right_numpy/{module}.py"):  # fmt: skip
        assert (ROOT / place).is_file(), place


def test_every_function_of_the_contract_is_worth_points():
    items = {item.id for item in read_rubric().items}
    judged = {f"{check.of.split('.')[0]}.{name}" for check in all_checks().values() for name in check.functions}
    for name in SIGNATURES:
        assert name in items or name in judged, f"{name} is judged by nobody"


def test_every_check_has_a_claim_and_a_hint_and_a_unique_name():
    for check in all_checks().values():
        assert check.claim.endswith("."), check.id
        assert check.hint[-1] in ".?", check.id
        assert not re.search(r"\b(simply|obviously|just|trivial)\b", f"{check.claim} {check.hint}"), check.id


def test_every_package_is_installed():
    """An editable install finds them all the same, so only an ordinary one would show what is missing."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    tops = {name.split(".")[0] for name in listed}
    found = {
        ".".join(path.parent.relative_to(ROOT).parts) for top in tops for path in (ROOT / top).rglob("__init__.py")
    }
    assert set(listed) == found
