"""Grade a class on three local workers, kill one midway, and compare with one machine's results: `make cluster`, or

    python -m tests.fuzz.cluster_run --submissions 1000

The class is that of soak.py without its hostile ones: a few of those answer from two places at once, and which answer is
first is chance. The command, the scheduler and each worker with its judges are watched in /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from engine.bench.processes import below, kibibytes
from tests.fuzz.soak import INTERVAL, ROOT, _graded_so_far, build


def started(*command: str | Path, log: Path) -> subprocess.Popen[bytes]:
    """Start a program of this interpreter's in a session of its own."""
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, *map(str, command)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            start_new_session=True,
        )  # fmt: skip


def address_in(file: Path) -> str:
    """Wait for a scheduler to say where it is."""
    for _ in range(600):
        if file.exists() and (text := file.read_text(encoding="utf-8")).endswith("}"):
            return str(json.loads(text)["address"])
        time.sleep(0.1)
    sys.exit("the scheduler did not start")


def graded(command: list[str | Path], watched: dict[str, subprocess.Popen[bytes]], peaks: Counter[str]) -> float:
    """Run the command, note the largest memory of everybody, and kill the first worker when half the class is done."""
    out, count = Path(command[command.index("--out") + 1]), int(command.pop())
    begun = time.monotonic()
    process = started(ROOT / "grader.py", "grade", *command, log=out.with_suffix(".log"))
    victim = watched.get("worker 1")
    while process.poll() is None:
        for name, each in {"command": process, **watched}.items():
            memory = sum(kibibytes(pid, "smaps_rollup", "Pss") for pid in below(each.pid)) // 1024
            peaks[name] = max(peaks[name], memory)
        if victim is not None and victim.poll() is None and _graded_so_far(out) >= count // 2:
            print(f"killed a worker after {_graded_so_far(out)} submissions", file=sys.stderr, flush=True)
            os.killpg(victim.pid, signal.SIGKILL)
            victim.wait()
        time.sleep(INTERVAL)
    if process.returncode:
        sys.exit(f"exit code {process.returncode}:\n{out.with_suffix('.log').read_text(encoding='utf-8')[-2000:]}")
    return time.monotonic() - begun


def main() -> int:
    """Run and report; the exit code is 1 if the results differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--only", default="attention")
    parser.add_argument("--examples", default="25")
    parser.add_argument("--hostile", type=float, default=0.0, help="their share; some race with the judge, by design")
    given = parser.parse_args()
    peaks: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="cluster-") as name:
        folder = Path(name)
        (folder / "class").mkdir()
        build(folder / "class", given.submissions, hostile_share=given.hostile)
        judging = [folder / "class", "--only", given.only, "--examples", given.examples]
        scheduler = started(
            "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", folder / "address", log=folder / "scheduler.log",
        )  # fmt: skip
        watched = {"scheduler": scheduler}
        try:
            address = address_in(folder / "address")
            for number in (1, 2, 3):
                watched[f"worker {number}"] = started(
                    "-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                    log=folder / f"worker-{number}.log",
                )  # fmt: skip
            time.sleep(10)  # a worker that comes later would do; the first figures should be about three
            there = [*judging, "--out", folder / "there", "--cluster", address, given.submissions]
            seconds = graded(there, watched, peaks)
        finally:
            for process in watched.values():
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        alone: Counter[str] = Counter()
        seconds_alone = graded([*judging, "--out", folder / "alone", given.submissions], {}, alone)
        same = (folder / "there" / "results.json").read_bytes() == (folder / "alone" / "results.json").read_bytes()
    print(f"{given.submissions} submissions: {seconds:.0f} s on the cluster, {seconds_alone:.0f} s on one machine")
    for who, memory in (*peaks.items(), ("one machine", alone["command"])):
        print(f"peak memory, {who}: {memory} MiB")
    print("results.json is the same" if same else "results.json DIFFERS")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
