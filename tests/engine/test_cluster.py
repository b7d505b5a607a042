"""Many machines, played by processes of this one: a real scheduler, real workers, and what is lost is really killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from engine import cluster, remote
from engine.pipeline import Options, grade
from engine.records import UsageError
from engine.rubric import read_rubric
from tests.engine.kill_runs import results

pytest.importorskip("distributed")
from distributed import Client

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "submissions" / "examples"
QUICK = [
    "right_numpy",
    "softmax_forgets_keepdims",
    "softmax_modifies_its_input",
    "softmax_over_the_wrong_axis",
    "softmax_without_the_maximum",
    "softmax_clips_its_logits",
    "softmax_flattens_a_batch_of_one",
    "softmax_maximum_of_everything",
]
RUBRIC = """
title = "small"
examples = 10
[limits]
call_seconds = {seconds}
submission_seconds = 300.0
[item."attention.softmax"]
rows_sum_to_one = {{ points = 1, visibility = "public" }}
"""


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder, **environment):
        self.folder, self.processes = folder, []
        file = folder / "scheduler.json"
        self.scheduler = self._started("scheduler", "--port", "0", "--scheduler-file", str(file), **environment)
        wait_until(lambda: file.exists() and file.read_text().endswith("}"))
        self.address = json.loads(file.read_text())["address"]

    def worker(self, *options, **environment):
        before = len(self.asked(Client.nthreads))
        process = self._started("worker", self.address, "--nthreads", "1", *options, **environment)
        wait_until(lambda: len(self.asked(Client.nthreads)) > before)
        return process

    def asked(self, question, *arguments):
        with Client(self.address, set_as_default=False) as client:
            return question(client, *arguments)

    def busy(self):
        """Return the processes of the workers that have something to do."""
        pids = self.asked(Client.run, os.getpid)
        return [pids[address] for address, tasks in self.asked(Client.processing).items() if tasks]

    def _started(self, *arguments, **environment):
        with (self.folder / f"log-{len(self.processes)}").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"],
                env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_until(happens, seconds=120):
    end = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)
    return found


@pytest.fixture
def machines(tmp_path):
    """Start clusters that do not outlive the test."""
    begun = []

    def begin(**environment):
        folder = tmp_path / f"cluster-{len(begun)}"
        folder.mkdir()
        begun.append(Cluster(folder, **environment))
        return begun[-1]

    yield begin
    for each in begun:
        each.close()


@pytest.fixture
def course(tmp_path):
    return course_in(tmp_path)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one machine writes of the same class."""
    course = course_in(tmp_path_factory.mktemp("alone"))
    assert ended(started(course))[0] == 0
    return (course.parent / "out" / "results.json").read_bytes()


def course_in(place):
    """Write a class of which one is never done, unless the rubric loses its patience."""
    folder = place / "class"
    for name in QUICK:
        (folder / name).mkdir(parents=True)
        shutil.copy(EXAMPLES / name / "attention.py", folder / name)
    (folder / "a_loop").mkdir()
    (folder / "a_loop" / "attention.py").write_text("def softmax(x, axis=-1):\n    while True: pass\n")
    (place / "patient.toml").write_text(RUBRIC.format(seconds=250.0))
    (place / "rubric.toml").write_text(RUBRIC.format(seconds=2.0))
    return folder


def started(course, *options, rubric="rubric.toml"):
    command = [sys.executable, str(ROOT / "grader.py"), "grade", str(course), "--out", str(course.parent / "out"),
               "--rubric", str(course.parent / rubric), *options]  # fmt: skip

    def as_from_a_terminal():
        signal.signal(signal.SIGINT, signal.default_int_handler)

    return subprocess.Popen(
        command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=as_from_a_terminal,  # noqa: PLW1509 - it does nothing but that
    )  # fmt: skip


def ended(process):
    _, said = process.communicate(timeout=200)
    assert "Traceback" not in said, said
    return process.returncode, said.splitlines()[-1]


def wait_for_results(course, count, process):
    wait_until(lambda: process.poll() is not None or len(results(course.parent / "out")) >= count)
    assert process.poll() is None, process.communicate()


def statuses(course):
    rows = json.loads((course.parent / "out" / "results.json").read_text())["submissions"]
    return {row["id"]: row["status"] for row in rows}


# ── lost ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_worker_that_is_lost_costs_a_retry_and_nothing_else(machines, course, alone):
    here = machines()
    for _ in range(3):
        here.worker("--no-nanny")
    process = started(course, "--cluster", here.address)
    wait_for_results(course, 2, process)
    os.kill(wait_until(here.busy)[0], signal.SIGKILL)
    assert ended(process)[0] == 0
    assert len(here.asked(Client.nthreads)) == 2
    assert (course.parent / "out" / "results.json").read_bytes() == alone


@pytest.mark.deep
def test_without_its_scheduler_a_run_ends_and_is_resumed_on_another(machines, course, alone):
    here = machines()
    here.worker("--no-nanny")
    process = started(course, "--cluster", here.address)
    wait_for_results(course, 1, process)
    here.scheduler.kill()
    code, said = ended(process)
    assert code == 2
    assert said == f"grader: the scheduler at {here.address} is gone; {cluster.KEPT}"
    kept = results(course.parent / "out")
    there = machines()
    there.worker("--no-nanny")
    assert ended(started(course, "--cluster", there.address))[0] == 0
    assert kept.items() <= results(course.parent / "out").items()
    assert (course.parent / "out" / "results.json").read_bytes() == alone


@pytest.mark.deep
def test_a_submission_that_loses_every_worker_is_withheld_and_no_other(machines, course):
    """A nanny replaces the worker; this scheduler gives no task to a second one."""
    here = machines(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    here.worker("--nworkers", "2")
    process = started(course, "--cluster", here.address, rubric="patient.toml")
    wait_for_results(course, len(QUICK), process)
    (loser,) = here.busy()
    os.kill(loser, signal.SIGKILL)
    assert ended(process)[0] == 1
    assert statuses(course) == {"a_loop": "withheld", **dict.fromkeys(QUICK, "graded")}


@pytest.mark.deep
def test_a_judge_that_dies_is_replaced_once(machines, course):
    here = machines()
    worker = here.worker("--no-nanny")
    process = started(course, "--cluster", here.address, rubric="patient.toml")
    first = wait_until(lambda: judges_below(worker.pid))
    os.kill(first[0], signal.SIGKILL)
    second = wait_until(lambda: [pid for pid in judges_below(worker.pid) if pid not in first])
    os.kill(second[0], signal.SIGKILL)
    assert ended(process)[0] == 1
    assert statuses(course) == {"a_loop": "withheld", **dict.fromkeys(QUICK, "graded")}
    assert worker.poll() is None


def judges_below(worker):
    children = Path(f"/proc/{worker}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    return [pid for pid in pids if b"engine.remote" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_without_workers_nobody_waits_for_ever(machines, course, monkeypatch):
    here = machines()
    worker = here.worker("--no-nanny")
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.2)
    options = Options(out=course.parent / "out", rubric=course.parent / "patient.toml")
    with (
        cluster.connected(here.address, options, patience=1.0) as judges,
        pytest.raises(UsageError, match="has lost all its workers; what is graded is kept"),
    ):
        grade([course], options, lambda _: None, lambda _: worker.kill(), judges.judged)


def test_a_stopped_run_has_handed_out_no_more_than_is_being_done(machines, course):
    here = machines()
    here.worker("--no-nanny")
    process = started(course, "--cluster", here.address, rubric="patient.toml")
    wait_until(here.busy)
    held = here.asked(Client.run_on_scheduler, lambda dask_scheduler: len(dask_scheduler.tasks))
    assert held == cluster.AHEAD < len(QUICK)
    process.send_signal(signal.SIGINT)
    code, said = ended(process)
    assert code == 130
    assert said.startswith(f"grader: stopped; 0 of {len(QUICK) + 1} submissions are graded and kept")


# ── refused ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_worker_of_another_version_is_refused_before_anything_is_graded(machines, course):
    other = course.parent / "other"
    for name in ("engine", "checks", "formulas", "reference"):
        shutil.copytree(ROOT / name, other / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "engine" / "judge.py").open("a", encoding="utf-8") as file:
        file.write("# another version\n")
    here = machines()
    here.worker("--no-nanny")
    here.worker("--no-nanny", PYTHONPATH=str(other))
    versions = here.asked(Client.run, remote.version)
    (stranger,) = [address for address, version in versions.items() if version != remote.version()]
    code, said = ended(started(course, "--cluster", here.address))
    assert code == 2
    sentence = remote.another_version(versions[stranger], remote.version())
    assert said == f"grader: the worker {stranger} cannot judge: {sentence}"
    assert not (course.parent / "out").exists()


def test_a_worker_without_a_grader_is_refused(machines, course):
    nothing = course.parent / "nothing"
    nothing.mkdir()
    (nothing / "engine.py").touch()  # in the way of ours
    here = machines()
    assert ended(started(course, "--cluster", here.address)) == (
        2, f"grader: the scheduler at {here.address} has no workers: start some with dask worker {here.address}"
    )  # fmt: skip
    here.worker("--no-nanny", PYTHONPATH=str(nothing))
    code, said = ended(started(course, "--cluster", here.address))
    assert code == 2
    assert "cannot judge: " in said
    assert said.endswith("is the same grader installed on every machine, the scheduler's too?")


@pytest.mark.parametrize("address", ["nowhere", "8786", "foo://nowhere:8786", "tcp://nowhere", ""])
def test_what_is_no_address_is_said_at_once(address):
    with pytest.raises(UsageError, match="is no address of a scheduler"), cluster.connected(address, Options()):
        pass


def test_where_nobody_answers_nothing_is_touched(course, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(UsageError, match=r"no scheduler answers at 127\.0\.0\.1:1 "):
        cluster.connected("127.0.0.1:1", Options()).__enter__()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": "older on Python 3.0"}, "another version of the grader"),
        ({"digest": "0123"}, "reads the rubric as"),
        ({"rubric": b"title = 1"}, "title"),
        ({"only": ("nothing",)}, "no module, item or check is called 'nothing'"),
    ],
)
def test_a_worker_that_comes_later_is_asked_again_by_every_job(course, changes, says):
    """The judge's process, without Dask round it."""
    path = course.parent / "rubric.toml"
    job = remote.Job(
        remote.version(),
        path.name,
        path.read_bytes(),
        read_rubric(path).digest,
        (),
        None,
        0,
        trusted=False,
        closer=True,
    )
    judge = remote._JudgeProcess(msgspec.json.encode(replace(job, **changes)))
    word, _, sentence = judge.greeting.partition(b" ")
    judge.close()
    assert word == remote.REFUSED
    assert says in msgspec.json.decode(sentence)
