"""Files into intake, and on to results.json without running any code.

    python -m tests.fuzz.fuzz_intake --seconds 600 --seed 1

Each case is a class folder with a good neighbour and one to three submissions of the worst kind (files.py). Taking in
must return, or refuse the whole path with one sentence; what is wrong with a file is a sentence among its submission's
problems; time and memory are bounded; nothing is written anywhere; the good neighbour is taken in byte for byte. What
was taken in then goes on to the reading of its code and answers, the score, the gradebook and results.json, and must fit
the frame that hands it to a worker. Every case follows from the seed and its number; a finding is kept with its files.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import encodings.aliases
import json
import os
import resource
import stat
import sys
import tempfile
import time
import unicodedata
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from engine import gradebook, results
from engine.answers import judge_answers
from engine.intake import take_in
from engine.pipeline import withheld
from engine.policy import Policy
from engine.records import Outcome, Submission, SubmissionResult, UsageError, Verdict
from engine.rubric import read_rubric
from engine.score import score
from engine.sheet import Sheet, read_sheet
from engine.worker import wire
from tests.fuzz import files
from tests.fuzz.watch import MEBIBYTE, Finding, Tally

SECONDS = 15.0  # of processor time for one case
MEBIBYTES = 700.0  # a case may take: a notebook of 20 MiB that is all empty cells takes 600
GUARD = 3 * 2**30  # of address space: what asks for more than this is stopped by the kernel
LONGEST_SENTENCE = 1_000
MOST_PROBLEMS = 100
LONGEST_RESULT = 2 * MEBIBYTE
NOBODY = 65_534
WRITES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.chmod", "os.chown", "os.truncate", "os.utime", "shutil.copyfile",
          "shutil.move", "shutil.rmtree", "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.connect", "tempfile.mkstemp",
          "tempfile.mkdtemp", "os.putenv", "os.setxattr", "os.chdir"}  # fmt: skip
GOOD = "good_neighbour"
QUESTIONS = ("dot_product_mean", "lstm_zero_input", "attention_cost", "die_entropy", "encoder_or_seq2seq", "why_positions",
             "dot_product_variance")  # fmt: skip


class Witness:
    """Hears of everything the interpreter opens or changes, and objects while a case is watched."""

    def __init__(self) -> None:
        self.watching = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.watching:
            return
        if event == "open":
            path, mode, flags = arguments
            if (isinstance(mode, str) and set(mode) & set("wax+")) or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                raise Finding(f"{path!r} was opened for writing")
        elif event in WRITES:
            raise Finding(f"{event} {arguments!r}"[:300])

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        self.watching = True
        try:
            yield
        finally:
            self.watching = False


class Intake:
    """One class after the other."""

    def __init__(self) -> None:
        self._witness = Witness()
        self._rubric = read_rubric().only(["attention.softmax", *QUESTIONS])
        self._policy = Policy(
            {"attention.softmax": ("numpy.exp", "json")},
            {"attention.softmax": ["attention.softmax"]},
            ["attention.softmax"],
        )
        self._judged: dict[str | None, list[Verdict]] = {}

    def build(self, folder: Path, chance: Random) -> None:
        """Fill a class folder."""
        files.put(folder, b"good_neighbour/attention.py", files.SCRIPT)
        files.put(folder, b"good_neighbour/answers.toml", files.ANSWERS)
        for _ in range(chance.choice((1, 1, 2, 3))):
            files.submission(folder, chance)

    def run(self, folder: Path, *, as_nobody: bool) -> list[str]:
        """Take a class in, then each submission alone, and go on with what was taken in."""
        told: list[str] = []
        with self._witness.watch(), _rights(as_nobody=as_nobody):
            together = take_in([folder])
            alone = [each for path in sorted(folder.iterdir()) for each in self._alone_or_refused(path, told)]
        neighbours = [each for each in together if each.id == GOOD and each.origin.endswith(f"/{GOOD}")]
        if len(neighbours) != 1 or not _is_good(neighbours[0]):
            raise Finding(f"the good neighbour was not taken in as it is: {[each.id for each in together]}")
        if len({each.id for each in together}) != len(together):
            raise Finding("two submissions have one id")
        graded = [self._graded(each) for each in [*together, *alone] if each.id != GOOD or not self._judged]
        self._written([*graded, withheld(together[0], self._rubric, "it was tried")])
        return told + ["with problems" if each.problems else "with nothing wrong" for each in [*together, *alone]]

    def _alone_or_refused(self, path: Path, told: list[str]) -> list[Submission]:
        try:
            return take_in([path])
        except UsageError as refused:
            _sentence(str(refused), "refusal")
            told.append("refused as a whole")
            return []

    def _graded(self, submission: Submission) -> SubmissionResult:
        """Go on with a submission as the pipeline does, without running its code."""
        _sentence(submission.id, "id") if submission.id else None
        for problem in submission.problems:
            _sentence(problem, "problem")
        if len(submission.problems) > MOST_PROBLEMS:
            raise Finding(f"{len(submission.problems)} problems")
        for source in submission.sources:
            "".join(source.cells).encode("utf-8")
            if source.name.startswith("/") or ".." in source.name.split("/"):
                raise Finding(f"a source called {source.name!r}")
        cells = [[source.name, list(source.cells), source.is_notebook] for source in submission.sources]
        if len(wire.pack(["load", cells, []])) > wire.FRAME_LIMIT - MEBIBYTE:
            raise Finding("more code than the frame that hands it over")
        self._policy.rules(submission.sources)
        verdicts = [Verdict(check.id, Outcome.MISSING, message="Not run.") for check in self._rubric.code_checks]
        verdicts += self._verdicts_on(submission.answers)
        return score(submission, self._rubric, verdicts, {}, "")

    def _verdicts_on(self, answers: str | None) -> list[Verdict]:
        """Judge the answers; the good neighbour's are the same every time."""
        if answers not in self._judged:
            sheet = read_sheet(answers) if answers is not None else Sheet()
            for problem in sheet.problems:
                _sentence(problem, "problem of the answers")
            marked = judge_answers(self._rubric.questions, sheet).values()
            verdicts = [verdict for each in marked for verdict in each.verdicts]
            if answers not in (None, files.ANSWERS.decode()):
                return verdicts
            self._judged[answers] = verdicts
        return self._judged[answers]

    def _written(self, graded: list[SubmissionResult]) -> None:
        text = results.results_json(graded, rubric="0", seed=0)
        if len(text.encode("utf-8")) > LONGEST_RESULT:
            raise Finding(f"a results.json of {len(text):,} characters")
        json.loads(text, parse_constant=_refuse)
        results.gradebook_csv(graded).encode("utf-8")
        for each in graded:
            stored = msgspec.json.encode(each, enc_hook=gradebook._encode)
            if msgspec.json.decode(stored, type=SubmissionResult, dec_hook=gradebook._decode) != each:
                raise Finding("the gradebook gives back another result")


def _refuse(constant: str) -> None:
    raise Finding(f"{constant} in results.json")


def _is_good(submission: Submission) -> bool:
    return (
        [(source.name, source.cells) for source in submission.sources] == [("attention.py", (files.SCRIPT.decode(),))]
        and submission.answers == files.ANSWERS.decode()
        and not submission.problems
    )


def _sentence(text: str, kind: str) -> None:
    hidden = [letter for letter in text if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")]
    if not text.strip() or len(text) > LONGEST_SENTENCE or hidden:
        raise Finding(f"a {kind} that is no sentence: {len(text)} characters, {text[:200]!r}")


@contextlib.contextmanager
def _rights(*, as_nobody: bool) -> Iterator[None]:
    """Be nobody for a while: root can read what has no rights at all."""
    if os.getuid() or not as_nobody:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def snapshot(folder: Path) -> list[list[Any]]:
    """Write a tree down: names in hex, contents packed and in hex."""
    rows: list[list[Any]] = []
    for where, folders, others in os.walk(folder):
        for place in (Path(where) / name for name in [*folders, *others]):
            status = place.lstat()
            kind = stat.S_IFMT(status.st_mode)
            row = [os.fsencode(place.relative_to(folder)).hex(), kind, stat.S_IMODE(status.st_mode)]
            if kind == stat.S_IFLNK:
                row.append(os.fsencode(place.readlink()).hex())
            elif kind == stat.S_IFREG and status.st_size > 100 * MEBIBYTE:  # nothing but a hole
                row.append(status.st_size)
            elif kind == stat.S_IFREG:
                row.append(zlib.compress(place.read_bytes()).hex())
            rows.append(row)
    return rows


def rebuild(folder: Path, rows: list[list[Any]]) -> None:
    """Make a tree again from what was written down."""
    for name, kind, _, *rest in rows:
        place = folder / os.fsdecode(bytes.fromhex(name))
        if kind == stat.S_IFDIR:
            place.mkdir(parents=True, exist_ok=True)
        elif kind == stat.S_IFLNK:
            place.symlink_to(os.fsdecode(bytes.fromhex(rest[0])))
        elif kind == stat.S_IFIFO:
            os.mkfifo(place)
        elif kind == stat.S_IFSOCK:
            files._socket(place, Random())
        elif isinstance(rest[0], int):
            place.touch()
            os.truncate(place, rest[0])
        else:
            place.write_bytes(zlib.decompress(bytes.fromhex(rest[0])))
    for name, kind, mode, *_ in rows:
        if kind != stat.S_IFLNK:
            (folder / os.fsdecode(bytes.fromhex(name))).chmod(mode)


def _load_codecs() -> None:
    """Import every codec now: somebody with fewer rights may not be able to read the interpreter's own files."""
    for name in {*encodings.aliases.aliases.values(), "idna", "punycode", "undefined", "raw_unicode_escape"}:
        with contextlib.suppress(LookupError, ImportError):  # some are for other systems
            codecs.lookup(name)


def _case(name: str, intake: Intake, tally: Tally, kept: dict[str, Any] | None = None) -> None:
    """Make a class, or one that was kept, and take it in."""
    chance = Random(name)
    as_nobody = kept["as_nobody"] if kept else chance.random() < 0.5
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        folder = Path(base) / "class"
        folder.mkdir()
        Path(base).chmod(0o755)
        rebuild(folder, kept["files"]) if kept else intake.build(folder, chance)
        tally.case(
            name,
            lambda: intake.run(folder, as_nobody=as_nobody),
            lambda: {"as_nobody": as_nobody, "files": snapshot(folder)},
        )


def main() -> int:
    """Run and report; the exit code is 1 if there are findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--replay", type=Path, help="a finding's file: the same files again")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (GUARD, GUARD))
    os.umask(0o022)
    _load_codecs()
    intake, tally = Intake(), Tally(given.out.resolve(), seconds=SECONDS, mebibytes=MEBIBYTES)
    if given.replay:
        _case(f"{given.replay.stem}-again", intake, tally, json.loads(given.replay.read_text(encoding="utf-8")))
        return tally.report()
    number = given.first
    while time.monotonic() < tally.started + given.seconds:
        _case(f"intake-{given.seed}-{number}", intake, tally)
        number += 1
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
