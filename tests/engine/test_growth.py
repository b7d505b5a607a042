"""A class of any size: memory stays where it is, what is unchanged is left alone, and larger ones are simulated."""

import gc
import json
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from itertools import count

import pytest

from engine import pipeline
from engine.bench.growth import Asked, Grown, measured, report
from engine.bench.outlook import Figures, Held, compared, page
from engine.bench.simulation import (
    GRADEBOOK,
    JUDGES,
    OUTPUTS,
    SCHEDULER,
    STARTING,
    Cluster,
    Costs,
    scenarios,
    simulate,
)
from engine.intake import taken_in
from engine.pipeline import Options, grade
from engine.records import Source, Submission, SubmissionResult, UsageError
from engine.results import results_json, write_results
from engine.shelf import Shelf, shelf
from tests.browser.classroom import classroom

CLASS = classroom(6)


def write(folder, results):
    write_results(folder, results, rubric="r", seed=0, texts={}, title="Sheet 4")


def copies(number):
    """Yield so many results, of which nobody holds more than the one at hand."""
    for place in range(number):
        yield replace(CLASS[place % len(CLASS)], id=f"student_{place:05}")


# ── outputs ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Watched(SubmissionResult):
    """A result of which one can see whether somebody holds it."""


def test_no_more_than_a_few_results_are_held_at_a_time(tmp_path):
    seen, most = [], 0

    def passing():
        nonlocal most
        for result in copies(15):
            watched = Watched(**{each.name: getattr(result, each.name) for each in fields(result)})
            seen.append(weakref.ref(watched))
            gc.collect()  # what only a cycle of ours holds is nobody's any more
            most = max(most, sum(each() is not None for each in seen))
            yield watched

    write(tmp_path, passing())
    assert len(seen) == 15
    assert most <= 4  # the one before, the one at hand, the one after, and the one that is being made


def test_a_stream_of_results_is_written_as_the_json_module_would(tmp_path):
    write(tmp_path, iter(CLASS))
    text = (tmp_path / "results.json").read_text(encoding="utf-8")
    assert text == results_json(CLASS, rubric="r", seed=0)
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_stream_of_few_is_whole_too(tmp_path, number):
    write(tmp_path, copies(number))
    text = (tmp_path / "results.json").read_text(encoding="utf-8")
    assert len(json.loads(text)["submissions"]) == number
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=1) + "\n"


def test_pages_that_say_it_already_are_left_alone_and_others_written_anew(tmp_path):
    write(tmp_path, CLASS)
    pages = sorted((tmp_path / "report" / "submissions").iterdir())
    before = {page: page.stat().st_ino for page in pages}
    whole = pages[3].read_bytes()
    pages[3].write_bytes(whole[:1000])  # as a power cut may leave it
    write(tmp_path, [replace(CLASS[0], problems=("a.py: not text",)), *CLASS[1:]])
    changed = [page for page in pages if page.stat().st_ino != before[page]]
    assert changed == [pages[0], pages[3]] or changed == [pages[0]]  # a file system may give a number again
    assert pages[3].read_bytes() == whole
    assert b"a.py: not text" in pages[0].read_bytes()


# ── submissions that wait ───────────────────────────────────────────────────────────────────────────────────────


def submission(number):
    return Submission(
        f"student {number}", "", (Source("a.py", ("x = 'é'\n",)),), answers="[a]", problems=("p",), digest="d"
    )


def test_a_shelf_gives_back_what_it_was_given_in_that_order_and_leaves_no_file(tmp_path):
    with shelf(tmp_path) as waiting:
        for number in (2, 0, 1):
            waiting.add(submission(number))
        assert list(waiting.values()) == [submission(2), submission(0), submission(1)]
        assert waiting["student 1"] == submission(1)
        assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_in_a_sentence():
    class Full:
        def seek(self, *_):
            return 0

        def write(self, _):
            raise OSError(28, "No space left on device")

    with pytest.raises(UsageError, match="student 1 cannot be set aside for judging: No space left"):
        Shelf(Full()).add(submission(1))


def test_submissions_are_read_one_by_one_but_a_wrong_path_is_said_first(tmp_path):
    for name in ("alice", "bob"):
        (tmp_path / f"{name}.py").write_text("x = 1\n", encoding="utf-8")
    with taken_in([tmp_path / "alice.py", tmp_path / "bob.py"]) as submissions:
        assert next(submissions).id == "alice"
        (tmp_path / "bob.py").write_text("x = 2\n", encoding="utf-8")
        assert next(submissions).sources[0].cells == ("x = 2\n",)
    with pytest.raises(UsageError, match="does not exist"), taken_in([tmp_path / "carol.py"]):
        pass


def test_only_a_few_submissions_are_under_way_at_a_time(monkeypatch):
    taken = count()
    most = 0

    def waiting():
        for number in range(50):
            next(taken)
            yield submission(number)

    monkeypatch.setattr(pipeline, "_judge_in_pool", lambda each: each.id)
    with ThreadPoolExecutor(2) as pool:
        kept = []
        for each, result in pipeline._by_pool(pool, waiting(), {}, 4):
            kept.append(each.id)
            assert result == each.id
            most = max(most, int(repr(taken)[6:-1]) - len(kept))
    assert sorted(kept) == sorted(f"student {number}" for number in range(50))
    assert most <= 4


def test_results_of_a_class_are_returned_without_their_items(tmp_path, root):
    paths = [root / "submissions" / "examples" / name for name in ("right_numpy", "softmax_forgets_keepdims")]
    options = Options(out=tmp_path, only=("attention.softmax",), examples=5, closer=False)
    told = []
    several = grade(paths, options, told.append, lambda _: None)
    assert [(result.id, result.items) for result in several] == [("right_numpy", ()), ("softmax_forgets_keepdims", ())]
    assert [result.score for result in several] == [result.score for result in sorted(told, key=lambda each: each.id)]
    (alone,) = grade(paths[:1], options, told.append, lambda _: None)
    assert alone == next(result for result in told if result.id == "right_numpy")


# ── simulation ──────────────────────────────────────────────────────────────────────────────────────────────────

COSTS = Costs(
    judging=(10.0,), taking_in=0.0, drawing=0.0, starting=0.0, handing_out=0.0, keeping=0.0, writing=0.0,
    gradebook=166_000, outputs=430_000, lost=0.0,
)  # fmt: skip


@pytest.mark.parametrize(("machines", "cores", "seconds"), [(1, 1, 1000), (1, 8, 130), (4, 5, 50), (64, 8, 10)])
def test_without_anything_in_the_way_a_class_takes_as_many_rounds_as_it_must(machines, cores, seconds):
    found = simulate(COSTS, 100, Cluster(machines, cores))
    assert found.seconds == found.judged == seconds
    assert found.bottleneck == JUDGES
    assert found.busy == pytest.approx(1000 / (machines * cores * seconds))


def test_everything_the_command_does_alone_is_added():
    costs = replace(COSTS, taking_in=0.5, writing=1.5, drawing=7.0, starting=2.0)
    found = simulate(costs, 100, Cluster(1, 1))
    assert found.judged == 7 + 2 + 1000
    assert found.seconds == found.judged + 200


@pytest.mark.parametrize(
    ("changes", "slowest"),
    [
        ({"keeping": 2.0}, GRADEBOOK),
        ({"handing_out": 2.0}, SCHEDULER),
        ({"drawing": 500.0}, STARTING),
        ({"writing": 10.0}, OUTPUTS),
    ],
)
def test_the_bottleneck_is_told(changes, slowest):
    found = simulate(replace(COSTS, **changes), 1000, Cluster(16, 8))
    assert found.bottleneck == slowest
    assert found.judged >= 1000 * max(changes.get("keeping", 0), changes.get("handing_out", 0))


def test_what_a_lost_judge_was_doing_is_done_by_another():
    costs = replace(COSTS, lost=36.0, starting=3.0)  # every hundred seconds
    found = simulate(costs, 500, Cluster(2, 4))
    whole = simulate(replace(costs, lost=0.0), 500, Cluster(2, 4))
    assert 20 < found.lost < 100
    assert found.judged > whole.judged
    assert found == simulate(costs, 500, Cluster(2, 4)), "the same seed, the same run"


def test_judges_that_are_forked_start_at_once():
    costs = replace(COSTS, starting=50.0, handing_out=1.0)
    assert simulate(costs, 10, Cluster(1, 2, is_local=True)).judged == 50


# ── the page ────────────────────────────────────────────────────────────────────────────────────────────────────


def run(submissions, jobs=2, each=0.25):
    return Grown(
        Asked(submissions, jobs), seconds=9.0, beginning=1.0, judging=each * submissions, writing=1.0,
        each=(each,) * submissions, main=110.0, tree=700.0, written=10**6, kept=10**6,
    )  # fmt: skip


def test_a_run_of_two_judges_is_simulated_from_a_run_of_one():
    held = compared(run(40, jobs=1), run(40, each=0.125), COSTS)
    assert held.simulated == pytest.approx(5.0)
    assert held.error == pytest.approx(0.0, abs=0.03)


def test_the_page_has_a_row_for_everything_that_was_measured_and_simulated():
    costs = replace(COSTS, taking_in=0.001, handing_out=0.003, keeping=0.01, writing=0.05)
    simulated = scenarios(costs, (1_000, 2_000), (1, 64))
    held = Held("100 submissions", 10.0, 11.0)
    text = page(Figures((run(10), run(5_000)), costs, (held,), tuple(simulated)))
    for row in ("| 5,000 | 2 | 25 | 250 | 0 | 110 | 700 |", "| 2,000 | 0.3 | 0.9 |", "| 10.0 s | 11.0 s | +10% |"):
        assert row in text
    assert sum(line.startswith(("| 1,000 |", "| 2,000 |")) for line in text.splitlines()) == 4 + 2
    assert all(len(line) <= 160 for line in text.splitlines())


@pytest.mark.slow
def test_a_real_run_is_measured_from_outside(tmp_path):
    found = measured(Asked(3, examples=5), tmp_path)
    assert len(found.each) == 3
    assert found.judging == pytest.approx(sum(found.each))
    assert found.seconds == pytest.approx(found.beginning + found.judging + found.writing)
    assert min(found.tree, found.main) > 20
    assert min(found.written, found.kept) > 1000
    assert "attention" not in report([found])
    assert not list(tmp_path.glob("class*"))
