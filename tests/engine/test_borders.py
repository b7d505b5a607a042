"""What fuzzing the two borders has found (tests/fuzz), each as a small test: frames from workers, files from students."""

import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from checks.contract import signature_of
from checks.contract.signature import PARAMETERS
from checks.expect import changed
from engine import intake, judge, workers
from engine.answers import judge_answers
from engine.corpus import RecordedCall
from engine.intake import take_in
from engine.records import Outcome, UsageError
from engine.rubric import read_rubric
from engine.sheet import read_sheet
from engine.worker import wire
from tests.fuzz import fuzz_frames, lies

ROOT = Path(__file__).resolve().parents[2]


# ── frames: bytes ─────────────────────────────────────────────────────────────────────────────────────────────────


def nested(depth, around=b"\x90"):
    """Return tuples in tuples, one value in each."""
    for _ in range(depth):
        around = lies.extension(wire.TUPLE, b"\x91" + around)
    return around


UNPACKABLE = {
    "an array as a key": b"\x81" + wire.pack(np.zeros(1)) + b"\x01",
    "a number as a key": b"\x81\x01\x01",
    "lists nested deeper than anything is packed": b"\x91" * 40 + b"\xc0",
    "tuples nested deeper than anything is packed": nested(40),
    "dicts nested deeper than anything is packed": b"\x81\xa1x" * 900 + b"\xc0",
}


@pytest.mark.parametrize("data", UNPACKABLE.values(), ids=UNPACKABLE.keys())
def test_what_is_never_packed_is_not_unpacked(data):
    with pytest.raises(wire.ProtocolFault):
        wire.unpack(data)


def test_a_large_content_in_nested_tuples_is_not_copied_at_every_level():
    data = nested(30, lies.string(b"x" * 2**20))
    tracemalloc.start()
    wire.unpack(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 2**20


@pytest.mark.parametrize("unit", lies.SMALL, ids=bytes.hex)
def test_the_memory_of_a_frame_is_known_before_it_is_read(unit):
    data = lies.array_header(20_000) + unit * 20_000
    tracemalloc.start()
    kept = wire.unpack(data)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == 20_000
    assert taken <= wire.memory_of(data)


def test_counting_the_values_of_a_frame_ends_at_the_limit():
    frame = lies.array_header(10**6) + b"\x90" * 10**6
    assert wire.memory_of(frame, most=2**20) < 3 * 2**20  # the frame itself, and a little more than was allowed
    with pytest.raises(wire.ProtocolFault, match="64 MiB in a row"):
        workers._checked(frame, wire.memory_of(frame, workers.BATCH_LIMIT))


def test_dripping_bytes_buys_no_time():
    ours, theirs = socket.socketpair()

    def drip():
        with theirs, suppress(BrokenPipeError):
            for byte in itertools.chain((2**20).to_bytes(4, "little"), itertools.repeat(0)):
                theirs.send(bytes([byte]))
                time.sleep(0.001)

    thread = threading.Thread(target=drip)
    thread.start()
    started = time.monotonic()
    channel = wire.Channel(ours)
    with pytest.raises(wire.Hung):
        channel.receive(started + 0.05)
    assert time.monotonic() - started < 5
    channel.close()
    thread.join()


class Ended:
    """A zygote whose worker has ended."""

    def end_worker(self):
        return {"code": 0, "overfull": False}


def answered(frames, known):
    """Return what a judge makes of these frames of a worker, where it knows these."""
    ours, theirs = socket.socketpair()
    with theirs:
        worker = workers.Worker(Ended(), wire.Channel(ours), os.open(os.devnull, os.O_RDWR), read_rubric().budget)
        theirs.sendall(b"".join(wire.LENGTH.pack(len(frame)) + frame for frame in frames))
        try:
            return worker.requests([b""] * len(frames), seconds=1.0, doing="softmax", known=known)
        finally:
            worker.close()


def test_a_frame_that_is_known_is_not_read_again_and_any_other_is():
    frame, other = wire.pack({"returned": 1.0}), wire.pack({"returned": 2.0})
    first, second = answered([frame, other], [frame, frame])
    assert first is workers.AS_RECORDED
    assert second == {"returned": 2.0}


def test_a_worker_cannot_say_that_an_answer_is_as_recorded():
    (said,) = answered([wire.pack(workers.AS_RECORDED)], [wire.pack({"returned": 1.0})])
    assert said == workers.AS_RECORDED
    assert said is not workers.AS_RECORDED


def test_an_empty_frame_is_never_a_known_one():
    with pytest.raises(workers.WorkerLost, match="no result"):
        answered([b""], [b""])


# ── frames: replies of the right form with the wrong content ──────────────────────────────────────────────────────

ARRAY = wire.pack(np.zeros(2))
WRONG_FIELDS = {
    "an exception that is a list": {"raised": [1]},
    "a message that is an array": {"raised": "ValueError", "message": np.zeros(2)},
    "a traceback that is a number": {"raised": "ValueError", "trace": 3},
    "arguments that are a number": {"returned": 1.0, "arguments": 0.5},
    "arguments that are an array": {"returned": 1.0, "arguments": np.zeros((2, 2))},
    "a file that is an array": {"absent": np.zeros(2), "near": None},
    "a name that is a dict": {"absent": None, "near": {}},
    "a reason that is an array": {"multiply_adds": 1, "elementwise": 1, "lost": np.zeros(2)},
    "a count that is half": {"multiply_adds": 0.5, "elementwise": 1, "lost": ""},
    "a field nobody knows": {"score": 100},
}


@pytest.mark.parametrize("reply", WRONG_FIELDS.values(), ids=WRONG_FIELDS.keys())
def test_a_reply_has_the_fields_and_types_of_a_reply(reply):
    with pytest.raises(wire.ProtocolFault):
        workers._checked(wire.pack(reply), 0)


@pytest.fixture(scope="module")
def frames(own_cache):
    return fuzz_frames.Frames(["attention.softmax"], call_seconds=30)


def told(fields):
    """Return a lie that says these fields, given as MessagePack, and of arguments beside the genuine result."""
    said = {wire.pack(key): data for key, data in fields.items()}

    def lie(chance, payload, genuine):
        return [["send", lies.frame(lies.mapping({**genuine, **said} if "arguments" in fields else said))]]

    return lie


SAID = {
    "a traceback of arrays": ("call", {"raised": b"\xa1E", "trace": b"\x91\x94" + ARRAY * 4}, Outcome.RAISED),
    "a message of a mebibyte": ("call", {"raised": b"\xa1E", "message": wire.pack("x" * 2**20)}, Outcome.RAISED),
    "a name of a mebibyte": ("find", {"absent": b"\xc0", "near": wire.pack("x" * 2**20)}, Outcome.MISSING),
    "an import that failed at great length": (
        "find", {"import_failed": wire.pack("y" * 2**20), "raised": b"\xa1E"}, Outcome.RAISED,
    ),
    "arguments that are ragged": ("call", {"arguments": b"\x91\x92\x01\x91\x01"}, Outcome.BROKEN),
    "arguments that are texts": ("call", {"arguments": b"\x92\xa1x\xa1y"}, Outcome.BROKEN),
    "one long text among many short ones": (  # as an array of texts this would be four gibibytes
        "call", {"returned": lies.array_header(1001) + wire.pack("x" * 2**20) + b"\xa0" * 1000}, Outcome.BROKEN,
    ),
    "two million empty lists": (
        "call", {"returned": lies.array_header(2**21) + b"\x90" * 2**21}, Outcome.RAISED,
    ),
    "nothing at all": ("call", {}, Outcome.RAISED),
}  # fmt: skip


@pytest.mark.parametrize(("verb", "fields", "outcome"), SAID.values(), ids=SAID.keys())
def test_whatever_a_worker_says_becomes_a_verdict_with_a_sentence(frames, monkeypatch, verb, fields, outcome):
    monkeypatch.setattr(lies, "LIES", (told(fields),))
    monkeypatch.setattr(lies, "WEIGHTS", (1,))
    plan = fuzz_frames.Plan("attention.softmax", verb, 0, 1.0, "", 0)
    forger = frames.forger(plan)
    result, rubric = frames.judged(plan, forger)
    forger.close()
    fuzz_frames._inspect(result, rubric)
    assert result.items[0].outcome is outcome
    assert result.score < result.max_score


def test_replies_are_kept_only_as_long_as_there_is_room():
    call = RecordedCall("softmax", False, None, b"", (), b"", [((), None)])
    judgement = judge.Judgement(room=2**20)
    large, small = {"returned": np.zeros(2**16)}, {"returned": np.zeros(2)}
    judgement.keep("first", [call] * 4, [large] * 4)
    judgement.keep("second", [call], [small])
    assert [reply is large for _, reply in judgement.replies["first"]] == [True, False, False, False]
    assert judgement.replies["first"][1][1] == {"raised": "ResultTooLarge"}
    assert judgement.replies["second"] == [(call, small)]


def test_truth_values_among_parameters_are_numbers():
    """A right submission may keep a mask among its parameters; NumPy cannot round it."""
    assert judge._values({"mask": np.array([True, False])}, decimals=6)


@pytest.mark.parametrize("after", [None, 1.0, [[1.0], [1.0, 2.0]], ["x"], {"a": 1}, wire.Opaque("x")], ids=repr)
def test_an_array_that_comes_back_as_something_else_was_changed(after):
    assert changed(np.zeros(2), after)


@pytest.mark.parametrize("returned", [["x" * 100, 1.0], [[b"x"]], [None], ({},)], ids=repr)
def test_texts_in_a_list_are_no_numbers(returned):
    with pytest.raises(judge.Failure, match="expected an array"):
        signature_of("attention", "softmax").accept(returned, (np.zeros(2),))


def test_an_array_in_place_of_parameters_is_told_as_such():
    """Comparing it with an empty dict gives an array, which is neither true nor false."""
    with pytest.raises(judge.Failure, match="returned an array of shape \\(2,\\); expected a dict of arrays"):
        signature_of("language_model", "train_neural_bigram").accept(np.zeros(2), (), (PARAMETERS,))


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def only(path):
    (submission,) = take_in([path])
    return submission


def test_no_submission_has_more_code_than_a_worker_can_be_handed(tmp_path):
    """Seventeen files of a mebibyte would not fit the frame, and their author's score would be withheld."""
    for number in range(17):
        (tmp_path / f"m{number:02}.py").write_bytes(b"#" * intake.TEXT_LIMIT)
    (tmp_path / "attention.py").write_bytes(b"x = 1\n")
    submission = only(tmp_path)
    assert [source.name for source in submission.sources] == ["attention.py", "m00.py", "m01.py", "m02.py"]
    assert submission.problems[0] == "m03.py: not read, the submission has more than 4 MiB of code"
    assert len(submission.problems) == 14
    cells = [[source.name, list(source.cells), source.is_notebook] for source in submission.sources]
    assert len(wire.pack(["load", cells, []])) < wire.FRAME_LIMIT


def test_code_grows_when_it_is_decoded(tmp_path):
    """A byte of cp437 may become three: what counts is what the worker gets."""
    text = b"# coding: cp437\n" + b"\xdb" * (intake.TEXT_LIMIT - 16)
    for name in ("attention.py", "gates.py"):
        (tmp_path / name).write_bytes(text)
    submission = only(tmp_path)
    assert [source.name for source in submission.sources] == ["attention.py"]
    assert submission.problems == ("gates.py: not read, the submission has more than 4 MiB of code",)


def test_problems_are_as_many_as_a_person_reads(tmp_path):
    """A notebook of twenty megabytes can have ten million cells that are none."""
    (tmp_path / "attention.ipynb").write_text(json.dumps({"cells": [0] * 100_000}), encoding="utf-8")
    problems = only(tmp_path).problems
    assert len(problems) == intake.PROBLEMS_LIMIT + 1
    assert problems[0] == "attention.ipynb: cell 1 is not a readable code cell"
    assert problems[-1] == "99,950 more problems of this kind"


def test_a_long_name_is_shortened_in_a_sentence(tmp_path):
    with zipfile.ZipFile(tmp_path / "alice.zip", "w") as archive:
        archive.writestr("../" + "x" * 60_000 + ".py", "")
        archive.writestr("attention.py", "")
    (problem,) = only(tmp_path / "alice.zip").problems
    assert len(problem) < 300
    assert problem.endswith("…: paths that lead out of the archive are not read")


@pytest.mark.parametrize("name", [" .py", "   .zip", "\t.ipynb"])
def test_a_name_of_blanks_is_no_id(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    (tmp_path / "alice.py").write_bytes(b"")
    assert [submission.id for submission in take_in([tmp_path])] == ["alice", "unnamed"]


def test_a_refusal_is_one_line_whatever_the_path_is_called(tmp_path):
    with pytest.raises(UsageError) as refusal:
        take_in([tmp_path / "a\nb\x1b[31m"])
    assert str(refusal.value).isprintable()


def test_blocks_that_hold_nothing_are_not_unpacked(tmp_path):
    """Packed, they are as long as one likes; unpacked, nothing comes of them, for a long time."""
    path = tmp_path / "alice.zip"
    blocks = b"\x00\x00\x00\xff\xff" * 10**6 + b"\x03\x00"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("attention.py", blocks)  # stored as it is
        archive.writestr("gates.py", "x = 1\n")
    data = bytearray(path.read_bytes())
    for place in (8, data.find(b"PK\x01\x02") + 10):  # and called deflated
        data[place] = zipfile.ZIP_DEFLATED
    path.write_bytes(data)
    submission = only(path)
    assert [source.name for source in submission.sources] == ["gates.py"]
    assert submission.problems == ("attention.py: larger packed than it may be unpacked",)


@pytest.mark.parametrize("number", ["1e999999999", "1e-999999999", "-1e400"])
def test_a_number_is_not_written_out_for_ever(number):
    question = read_rubric().only(["die_entropy"]).questions
    verdicts = judge_answers(question, read_sheet(f"[number]\ndie_entropy = {number}\n"))["die_entropy"].verdicts
    assert verdicts[0].outcome is Outcome.BROKEN
    assert verdicts[0].message == "A number has at most 300 zeros."


# ── the fuzzers themselves ────────────────────────────────────────────────────────────────────────────────────────


def test_a_case_follows_from_its_name():
    drawn = [fuzz_frames.Plan.drawn(["attention.softmax"], "frames-1-7") for _ in range(2)]
    assert drawn[0] == drawn[1] != fuzz_frames.Plan.drawn(["attention.softmax"], "frames-1-8")


def fuzzed(fuzzer, out, *options):
    command = [sys.executable, "-m", f"tests.fuzz.{fuzzer}", "--seconds", "3", "--out", str(out), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(("fuzzer", "options"), [("fuzz_intake", []), ("fuzz_frames", ["--only", "attention.softmax"])])
def test_a_few_seconds_of_fuzzing_find_nothing(tmp_path, fuzzer, options):
    done = fuzzed(fuzzer, tmp_path, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "0 findings"


def test_a_fuzzer_finds_what_is_put_in_its_way_and_finds_it_again(tmp_path, frames, monkeypatch):
    """A judge that takes the word of a worker for a list's: the finding is kept, and replayed from its bytes alone."""
    monkeypatch.setattr(workers, "FIELDS", dict.fromkeys(workers.FIELDS, object))
    monkeypatch.setattr(lies, "LIES", (told({"import_failed": b"\xa1x", "raised": b"\x91\x01"}),))
    monkeypatch.setattr(lies, "WEIGHTS", (1,))
    plan = fuzz_frames.Plan("attention.softmax", "find", 0, 1.0, "", 0)
    tally = fuzz_frames.Tally(tmp_path, seconds=60, mebibytes=1000)
    fuzz_frames._case("planted", frames, plan, tally)
    assert sum(tally.findings.values()) == 1
    kept = json.loads((tmp_path / "planted.json").read_text(encoding="utf-8"))
    assert "unhashable type" in kept["finding"]
    monkeypatch.setattr(lies, "LIES", ())
    fuzz_frames._case("again", frames, fuzz_frames.Plan(**kept["plan"]), tally, kept["told"])
    assert sum(tally.findings.values()) == 2
