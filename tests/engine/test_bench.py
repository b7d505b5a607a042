"""The benchmark: its peers try the same checks, and a peer that is not there is told, not left out."""

import ast
import importlib
import json
import os
import signal
import threading
import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from checks.check import checks_in
from engine.bench import peer
from engine.bench.by_nbgrader import Nbgrader
from engine.bench.by_otter import Otter
from engine.bench.by_pytest import Pytest
from engine.bench.peer import Assignment, Environment, Graded, NotInstalled, call, cells_of, notebook, run
from engine.bench.peers import DRAWN, TYPICAL, disagreements, laid_over, peers, whole
from engine.records import GraderFault
from engine.rubric import all_checks, read_rubric
from engine.verify import EXAMPLES, FOUNDATION

THREE = (
    "attention.softmax.rows_sum_to_one",
    "attention.scaled_dot_product_attention.agrees_with_definition",
    "attention.scaled_dot_product_attention.scale_is_root_of_key_width",
)
WRONG = "attention_without_scale"


def only_attention(source, folder):
    folder.mkdir()
    (folder / "attention.py").write_text((source / "attention.py").read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def test_pytest_passes_the_right_submission_and_fails_the_wrong_one_for_the_checks_that_see_its_mistake(tmp_path):
    (tmp_path / "laid_over").mkdir()
    right = only_attention(EXAMPLES / FOUNDATION, tmp_path / "right")
    wrong = only_attention(laid_over(WRONG, tmp_path / "laid_over"), tmp_path / "wrong")
    tool = Pytest(tmp_path / "place")
    tool.prepare(THREE, 20)
    graded = tool.grade([right, wrong])
    assert graded.failed == {"right": frozenset(), "wrong": frozenset(THREE[1:])}
    assert graded.scores == {"right": 1, "wrong": pytest.approx(1 / 3)}
    assert graded.seconds > 0
    assert graded.core_seconds > 0
    assert graded.peak_memory_mib > 10


def test_a_submission_that_cannot_be_imported_is_not_measured(tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "attention.py").write_text("def softmax(:\n", encoding="utf-8")
    tool = Pytest(tmp_path / "place")
    tool.prepare(THREE[:1], 1)
    with pytest.raises(GraderFault, match="pytest on broken failed"):
        tool.grade([tmp_path / "broken"])


def test_the_workloads_are_ten_checks_of_a_hundred_examples_and_all_checks_of_code():
    assert len(set(TYPICAL)) == 10
    assert DRAWN == 100
    assert all(all_checks()[check].examples is None for check in TYPICAL)
    assert set(TYPICAL) < set(whole())
    assert len(whole()) == len(read_rubric().code_checks)


def test_every_check_is_looked_for_in_a_file_that_has_it():
    for check in read_rubric().code_checks:
        file = ast.parse(call(check, "names", 1), mode="eval").body.args[0].value
        assert check in checks_in(importlib.import_module(f"checks.{file}"))


def test_every_peer_has_a_name_and_a_version(tmp_path):
    assert [tool.name for tool in peers(tmp_path)] == ["pytest", "otter-grader", "nbgrader"]
    assert all(tool.version[0].isdigit() for tool in peers(tmp_path))


@pytest.mark.parametrize("kind", [Otter, Nbgrader])
def test_a_peer_that_cannot_be_installed_says_why(kind, tmp_path, monkeypatch):
    def without_network(command, **_):
        return CompletedProcess(command, int("pip" in command), "", "WARNING: trying again\nERROR: no network\n")

    monkeypatch.setattr(peer.subprocess, "run", without_network)
    tool = kind(tmp_path)
    with pytest.raises(NotInstalled, match=r"the packages of \w+\.txt cannot be installed: ERROR: no network$"):
        tool.prepare(THREE, 1)
    assert not list(tmp_path.rglob("installed.txt"))


def test_an_environment_with_the_same_pins_is_not_made_again(tmp_path, monkeypatch):
    pins = tmp_path / "pins.txt"
    pins.write_text("one==1.0\n", encoding="utf-8")
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "installed.txt").write_text("one==1.0\n", encoding="utf-8")
    monkeypatch.setattr(peer.subprocess, "run", lambda *_, **__: pytest.fail("it was made again"))
    environment = Environment(tmp_path / "place", pins)
    environment.install()
    assert environment.version("one") == "1.0"


def test_peers_pin_what_checks_depend_on_to_our_own_versions():
    ours = dict(line.split("==") for line in (peer.ROOT / "constraints.txt").read_text(encoding="utf-8").split())
    for name in ("otter.txt", "nbgrader.txt"):
        environment = Environment(peer.ROOT, peer.PINS / name)
        assert {package: environment.version(package) for package in ("numpy", "hypothesis", "torch")} == {
            package: ours[package] for package in ("numpy", "hypothesis", "torch")
        }


def test_a_check_that_was_not_tried_is_no_pass(tmp_path):
    assignment = Assignment.of(tmp_path / "assignment", THREE, 1)
    with pytest.raises(GraderFault, match="alice: 2 checks were tried, not 3"):
        assignment.failures("alice", dict.fromkeys(THREE[:2], True))


def test_peers_that_differ_are_told():
    same, other = frozenset(THREE[:1]), frozenset(THREE[:2])
    graded = {
        "one": Graded(1.0, 1.0, 1.0, THREE, {"alice": same, "bob": same}),
        "two": Graded(1.0, 1.0, 1.0, THREE, {"alice": same, "bob": other}),
    }
    assert disagreements(graded) == [f"bob: one and two differ on {THREE[1]}"]
    assert disagreements({"one": graded["one"], "three": graded["one"]}) == []


def test_a_command_has_one_thread_per_library_and_nothing_of_our_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("OF_OURS", "1")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    ran = run([peer.sys.executable, "-c", code], cwd=tmp_path, home=tmp_path / "home")
    told = json.loads(ran.said)
    assert {told[name] for name in peer.THREADS} == {"1"}
    assert "OF_OURS" not in told
    assert ran.exit_code == 0


def test_a_command_that_cannot_be_started_is_told(tmp_path):
    with pytest.raises(GraderFault, match="no-such-program cannot be started"):
        run([str(tmp_path / "no-such-program")], cwd=tmp_path, home=tmp_path / "home")


def test_a_bench_that_is_interrupted_leaves_no_command_behind(tmp_path):
    sleeper = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(600)"

    def interrupt(*_):
        raise KeyboardInterrupt

    def when_it_sleeps():
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text(encoding="utf-8").endswith("\n"):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    watch = threading.Thread(target=when_it_sleeps, daemon=True)
    try:
        watch.start()
        with pytest.raises(KeyboardInterrupt):
            run([peer.sys.executable, "-c", sleeper], cwd=tmp_path, home=tmp_path / "home")
    finally:
        signal.signal(signal.SIGUSR1, before)
        watch.join()
    for _ in range(6000):  # a killed process goes in its own time, but it sleeps ten times as long if it was spared
        if not alive((tmp_path / "pid").read_text(encoding="utf-8").strip()):
            return
        time.sleep(0.01)
    pytest.fail("the command lives on")


def alive(process):
    try:
        return Path("/proc", process, "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_the_peak_is_the_commands_own_not_that_of_the_process_that_started_it(tmp_path):
    ballast = bytearray(b"\1") * (200 * 2**20)
    ran = run([peer.sys.executable, "-S", "-c", "pass"], cwd=tmp_path, home=tmp_path / "home")
    assert ran.peak_memory_mib < len(ballast) / 2**20 / 2


def test_files_become_cells_unless_two_define_the_same_name(tmp_path):
    (tmp_path / "attention.py").write_text("def softmax(x): ...\n", encoding="utf-8")
    (tmp_path / "gates.py").write_text("def sigmoid(x): ...\n", encoding="utf-8")
    assert cells_of(tmp_path) == ["def softmax(x): ...\n", "def sigmoid(x): ...\n"]
    (tmp_path / "gates.py").write_text("def softmax(x): ...\n", encoding="utf-8")
    with pytest.raises(GraderFault, match=r"softmax is in attention\.py and gates\.py"):
        cells_of(tmp_path)


def test_a_notebook_is_one_that_jupyter_reads():
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.reads(notebook([{"id": "one", "source": "x = 1", "metadata": {}}]), as_version=4))
