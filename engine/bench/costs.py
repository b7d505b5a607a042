"""What one submission of the whole syllabus costs at each place it passes: the figures a simulation is made of."""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path

from engine import gradebook
from engine.bench.growth import Asked, Grown, build, run_on
from engine.bench.simulation import Costs
from engine.cluster import AHEAD
from engine.intake import take_in
from engine.pipeline import texts_of
from engine.records import Status, Submission, SubmissionResult
from engine.results import write_results
from engine.rubric import read_rubric

SAMPLE = 12  # submissions of the whole syllabus
KEPT = 50
WRITTEN = (20, 80)
TASKS = 300


def whole_syllabus(sample: int = SAMPLE) -> Costs:
    """Grade a few submissions of the whole syllabus, one judge at a time, and measure what a simulation needs."""
    examples = read_rubric().examples
    asked = Asked(sample, jobs=1, examples=examples, only="")
    with tempfile.TemporaryDirectory(prefix="costs-") as name:
        folder = Path(name)
        build(folder / "class", sample, whole=True)
        one = next((folder / "class").iterdir())
        shutil.copytree(one, folder / "one" / one.name)
        cold = run_on(folder / "one", folder / "cold", asked, folder)
        warm = run_on(folder / "class", folder / "warm", asked, folder)
        results = _results(folder / "warm")
        return Costs(
            judging=warm.each[1:],
            taking_in=_taking_in(folder / "class"),
            drawing=max(0.0, cold.judging - warm.each[0]),
            starting=warm.beginning + max(0.0, warm.each[0] - statistics.mean(warm.each[1:])),
            handing_out=handing_out(_size(folder / "class") // sample, warm.kept // sample),
            keeping=_keeping(results, folder / "kept"),
            writing=_writing(results, folder),
            gradebook=warm.kept // sample,
            outputs=warm.written // sample,
        )


def small_item(run: Grown, costs: Costs) -> Costs:
    """Return the costs of a run on one small item by one judge: of the rest only what does not depend on the item."""
    return replace(costs, judging=run.each[1:], drawing=0.0, lost=0.0)


def handing_out(bytes_there: int, bytes_back: int, tasks: int = TASKS) -> float:
    """Return the seconds a scheduler of Dask's takes for one task that does nothing, of this size there and back."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.submit(bytes, 1).result()
        begun = time.perf_counter()
        asked = [
            client.submit(_answered, bytes(bytes_there), bytes_back, number, pure=False) for number in range(tasks)
        ]
        for future in asked:
            future.result()
        return (time.perf_counter() - begun) / tasks


def sleeping(naps: Sequence[float], judges: int, size: int, folder: Path) -> float:
    """Let workers of Dask's sleep in place of judging, keep a result of this size for each, and return the seconds.

    A few tasks are under way for each worker, as in engine/cluster.py: all that is real here is what a simulation has
    to get right beside the judging, and no other program on the machine can slow a nap down.
    """
    from distributed import Client, LocalCluster, as_completed

    result = SubmissionResult("", Status.GRADED, None, Fraction(0), (), output="x" * size)
    with (
        LocalCluster(n_workers=judges, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
        gradebook.opened(folder, rubric="", seed=0) as book,
    ):
        client.wait_for_workers(judges)
        waiting = iter(naps)
        begun = time.perf_counter()
        first = [client.submit(time.sleep, nap, pure=False) for nap in islice(waiting, AHEAD * judges)]
        done = as_completed(first, loop=client.loop)
        for number, _ in enumerate(done):
            book.add(Submission(str(number), ""), result)
            for nap in islice(waiting, 1):
                done.add(client.submit(time.sleep, nap, pure=False))
        return time.perf_counter() - begun


def _answered(_: bytes, size: int, number: int) -> bytes:
    return bytes([number % 256]) * size


def _results(folder: Path) -> list[SubmissionResult]:
    """Return the results of a run, whatever it was graded by."""
    with closing(sqlite3.connect(folder / gradebook.FILE)) as connection:
        return [gradebook.decoded(row) for (row,) in connection.execute("SELECT result FROM results")]


def _under_other_ids(results: Sequence[SubmissionResult], count: int) -> list[SubmissionResult]:
    return [replace(results[number % len(results)], id=f"student_{number:06}") for number in range(count)]


def _taking_in(course: Path) -> float:
    begun = time.perf_counter()
    count = len(take_in([course]))
    return (time.perf_counter() - begun) / count


def _keeping(results: Sequence[SubmissionResult], folder: Path) -> float:
    """Return what the command does for one result: a line of a worker is read, sealed, kept and synced."""
    lines = [gradebook.encoded(result) for result in _under_other_ids(results, KEPT)]
    with gradebook.opened(folder, rubric="", seed=0) as book:
        begun = time.perf_counter()
        for line in lines:
            result = gradebook.decoded(line)
            book.add(Submission(result.id, ""), result)
        return (time.perf_counter() - begun) / KEPT


def _writing(results: Sequence[SubmissionResult], folder: Path) -> float:
    """Return what one submission more adds to the writing of all outputs."""
    rubric = read_rubric()
    seconds = []
    for count in (WRITTEN[0], *WRITTEN):  # the first time is that of compiling templates
        place = Path(tempfile.mkdtemp(dir=folder))
        everybody = _under_other_ids(results, count)
        begun = time.perf_counter()
        write_results(place, everybody, rubric="", seed=0, texts=texts_of(rubric), title=rubric.title)
        seconds.append(time.perf_counter() - begun)
    return max(0.0, seconds[2] - seconds[1]) / (WRITTEN[1] - WRITTEN[0])


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
